/* SPDX-License-Identifier: Apache-2.0 */
/* A linked tree in memory, for kernels and for the host: levels of nodes with links to the right. The B-link tree and
 * the skiplist are such trees.
 *
 * A node has LTREE_SLOTS sorted entries without gaps. A line has the keys, apart from values or children. Usually a
 * line has 32 words and 28 entries; in a skiplist of small chunks 16 words and 12 entries:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LTREE_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LTREE_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LTREE_SLOTS numbers of nodes below
 *
 * With keys of 4 bytes a line is 128 bytes. A search reads the line, and one more word. Keys, low and high are ordered
 * forms (shared/key.h). Leaves and inner nodes are numbered apart, each from 0, and lie in four arrays:
 *
 *     leaf_keys, leaf_values, inner_keys, children
 *
 * A fifth, leaf_counts, has each leaf's count once more (B8), for batches that count their updates there.
 *
 * A leaf covers the keys from low, exclusive, to high, inclusive; the first leaf covers every key up to high. Entry j
 * of an inner node stands for a node of the level below, whose low is the entry's key. Level 0 is the leaves.
 *
 * Invariants, for a tree at rest, that is while no launch changes it (host/dict/ltree/check.c):
 *   B1 order    the keys of a node ascend strictly; unused slots hold LTREE_UNUSED. No key value is special, because
 *               the header has the number of used slots.
 *   B2 bounds   keys of a leaf lie in (low, high]; those of an inner node in [low, high), the first being low. The
 *               first node of a level has low 0 and covers lesser keys, too; the last one has high all ones and right
 *               LTREE_NONE.
 *   B3 links    right is the next node of the level; its low is this node's high.
 *   B4 cover    the entries of a level, in order, are the nodes of the level below, in order: each once, with its low.
 *               Unused slots hold numbers of such nodes, or LTREE_NONE.
 *   B5 root     the root is the only node of its level.
 *   B6 free     nodes from the next free one on are in no level, and their headers are LTREE_FREE.
 *   B7 latch    no header has LTREE_LATCHED or LTREE_DIRTY set.
 *   B8 counts   leaf_counts[] are the counts in the leaves' headers, if the host says so (`counted`).
 *   B9 dead     a taken node in no level covers nothing: its high is its low, and it has no entries. No other node but
 *               the first leaf has equal low and high. Only a skiplist has dead nodes: leaves that merged into their
 *               neighbours, and inner nodes that lost all children (dict/ltree/reclaim.cl).
 *
 * During concurrent operations B4 and B5 may lag behind: a search finds a new node by its left neighbour's link. Lehman
 * and Yao, Efficient Locking for Concurrent Operations on B-Trees (TODS 1981). */
#pragma once
#include "shared/types.h"

/* Words of a line by default. Kernels are compiled for one number; the host has it from the tree. */
#define LTREE_WORDS_USUAL 32

/* The last words, after the slots. */
#define LTREE_AT_LOW    0
#define LTREE_AT_RIGHT  1
#define LTREE_AT_HEADER 2
#define LTREE_AT_HIGH   3
#define LTREE_TAIL      4

/* Slots of a leaf's bucket at most (bucket.cl). */
#define LTREE_BUCKET_OF(words) ((words) < LTREE_WORDS_USUAL ? 15 : 23)

#ifdef __OPENCL_C_VERSION__
#ifndef LTREE_WORDS
#define LTREE_WORDS LTREE_WORDS_USUAL
#endif
#define LTREE_SLOTS        (LTREE_WORDS - LTREE_TAIL)
#define LTREE_LOW          (LTREE_SLOTS + LTREE_AT_LOW)
#define LTREE_RIGHT        (LTREE_SLOTS + LTREE_AT_RIGHT)
#define LTREE_HEADER       (LTREE_SLOTS + LTREE_AT_HEADER)
#define LTREE_HIGH         (LTREE_SLOTS + LTREE_AT_HIGH)
#define LTREE_BUCKET_SLOTS LTREE_BUCKET_OF(LTREE_WORDS)
#endif

#define LTREE_NONE 0xffffffffu

/* A header: the number of entries, and a version that each change replaces. Words of free nodes are all ones, so they
 * look latched. */
#define LTREE_COUNT_MASK   0x1fu
#define LTREE_VERSION_ONE  0x20u
#define LTREE_VERSION_BITS 25
#define LTREE_VERSION_MASK 0x3fffffe0u
#define LTREE_DIRTY        0x40000000u /* on a list of nodes whose children have split */
#define LTREE_LATCHED      0x80000000u
#define LTREE_FREE         0xffffffffu

/* The root: its level and its number among that level's nodes. */
#define LTREE_ROOT_LATCHED 0x80000000u
#define LTREE_LEVEL_SHIFT  27
#define LTREE_LEVELS_MAX   13
#define LTREE_NODE_MASK    0x07ffffffu

/* Words of the tree's state. */
enum ltree_word {
    LTREE_ROOT,
    LTREE_LEAVES,   /* taken: the next free one */
    LTREE_INNER,    /* likewise */
    LTREE_ELEMENTS, /* of all leaves */
    /* Plan of a batch, before it changes anything. */
    LTREE_GROUPS,  /* leaves that it touches */
    LTREE_WANTED,  /* new leaves, at most */
    LTREE_LARGEST, /* updates of one leaf, at most */
    /* For concurrent batches. */
    LTREE_PENDING,        /* operations that gave up */
    LTREE_STARVED,        /* of these, for lack of leaves */
    LTREE_MOVED,          /* not 0: one of them has passed leaves */
    LTREE_RESTARTS,       /* failed steps of operations */
    LTREE_TICK,           /* the clock of recorded histories */
    LTREE_SPLITS_PENDING, /* not 0: nodes have split, and the level above lacks their entries */
    LTREE_ZOMBIES,        /* leaves that have merged and still have entries */
    LTREE_DEAD,           /* leaves in no level */
    LTREE_DIRTY_NODES,    /* for each level: nodes on its list */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

/* Steps of a work-item in a launch, at most. */
#define LTREE_STEPS 16384

/* Bytes of a listed operation: a uint4 of its number, its count and its query. */
#define LTREE_PENDING_BYTES 16

/* Operations of a batch by kind. */
enum ltree_tally { TALLY_STORES, TALLY_SCANS /* counts, ranges */, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

/* Kinds of operations that gave up. Each kind is done at rest as one batch. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FORWARD,  /* the first element from the query on */
    LEFT_BACKWARD, /* the last element up to the query */
    LEFT_COUNTS,   /* also ranges without capacity left */
    LEFT_RANGES,   /* not done at rest */
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* Words of the checker's result: for each finding the first node with it, or LTREE_NONE. Findings of leaves and of
 * inner nodes have the same order. */
enum ltree_finding {
    WRONG_LEAF_ORDER,
    WRONG_LEAF_BOUNDS,
    WRONG_LEAF_LINK,
    WRONG_LEAF_LATCH,
    WRONG_LEAF_COVER,
    WRONG_LEAF_FREE,
    WRONG_INNER_ORDER,
    WRONG_INNER_BOUNDS,
    WRONG_INNER_LINK,
    WRONG_INNER_LATCH,
    WRONG_INNER_COVER,
    WRONG_INNER_FREE,
    WRONG_ENTRY,
    WRONG_COUNT,
    WRONG_NEXT,
    WRONG_DIRTY,
    WRONG_DEAD,
    N_FINDINGS,
    /* Numbers of elements and of dead leaves. */
    CHECKED_ELEMENTS = N_FINDINGS,
    CHECKED_DEAD,
    N_CHECKED
};
