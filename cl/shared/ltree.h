/* SPDX-License-Identifier: Apache-2.0 */
/* A linked tree: levels of nodes that are linked to the right. How it lies in memory, for the kernels and for the host.
 * The B-link tree and the skiplist are such trees.
 *
 * A node has LTREE_SLOTS entries, sorted, without gaps, and a line of keys apart from what goes with them. Most often these
 * are 28, of 32 words; in a skiplist of small chunks 12, of 16:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LTREE_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LTREE_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LTREE_SLOTS numbers of nodes below
 *
 * With keys of 4 bytes a line is 128 bytes: a search reads it, and of the rest one word. Keys, low and high are ordered
 * forms (shared/key.h). Leaves and inner nodes are numbered apart, each from 0, and lie in four arrays:
 *
 *     leaf_keys, leaf_values, inner_keys, children
 *
 * A fifth, leaf_counts, has each leaf's count once more (B8), for batches that count their updates there.
 *
 * A leaf covers the keys from low, exclusive, to high, inclusive; the first one of its level every key up to high.
 * Entry j of an inner node stands for a node of the level below whose low is its key. Level 0 is the leaves.
 *
 * Invariants (checked by host/dict/ltree/check.c when the tree is at rest: no launch that changes it is under way):
 *   B1 order    the keys of a node ascend, all different; unused slots hold LTREE_UNUSED. No key value is special: how many
 *               are used the header says.
 *   B2 bounds   keys of a leaf lie in (low, high]; those of an inner node in [low, high), the first being low. The
 *               first node of a level has low 0 and covers what is below, too; the last one has high all ones and right
 *               LTREE_NONE.
 *   B3 links    right is the next node of the level; its low is this node's high.
 *   B4 cover    the entries of a level, in order, are the nodes of the level below, in order: each once, with its low.
 *               Unused slots hold numbers of such nodes, or LTREE_NONE.
 *   B5 root     the root is the only node of its level.
 *   B6 free     nodes from the next free one on are in no level, and their headers are LTREE_FREE.
 *   B9 dead     of those before, a node is in no level if it covers nothing: its high is its low, which is so of no other but
 *               the first leaf, and it has no entries. Only a skiplist has such: leaves that merged into their neighbours, and
 *               inner nodes that were left without children (dict/ltree/reclaim.cl).
 *   B7 latch    no header has LTREE_LATCHED or LTREE_DIRTY set.
 *   B8 counts   leaf_counts[] are the counts in the leaves' headers, where the host takes them to be (`counted`).
 *
 * While operations run side by side B4 and B5 may lag behind: a node that has split is found by its left neighbour's
 * link. Lehman and Yao, Efficient Locking for Concurrent Operations on B-Trees (TODS 1981). */
#pragma once
#include "shared/types.h"

/* Words of a line, if nothing else is said: kernels are compiled for one number, the host has it from the tree. */
#define LTREE_WORDS_USUAL 32

/* The last ones, behind the slots. */
#define LTREE_AT_LOW    0
#define LTREE_AT_RIGHT  1
#define LTREE_AT_HEADER 2
#define LTREE_AT_HIGH   3
#define LTREE_TAIL      4

/* Updates of a leaf that a batch by buckets can hold beside the first, at most. */
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

/* A header: the number of entries, and a version that each change of the node makes another. Words of nodes that
 * nobody has taken yet are all ones, so that they look latched. */
#define LTREE_COUNT_MASK   0x1fu
#define LTREE_VERSION_ONE  0x20u
#define LTREE_VERSION_BITS 25
#define LTREE_VERSION_MASK 0x3fffffe0u
#define LTREE_DIRTY        0x40000000u /* on a list of nodes that have children without entries */
#define LTREE_LATCHED      0x80000000u
#define LTREE_FREE         0xffffffffu

/* The root: its level and its number among the nodes of that level's kind. */
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
    /* What a batch needs, found before it changes anything. */
    LTREE_GROUPS,  /* leaves that it touches */
    LTREE_WANTED,  /* new leaves, at most */
    LTREE_LARGEST, /* updates that fall into one leaf, at most */
    /* Of concurrent batches. */
    LTREE_PENDING,        /* operations that gave up */
    LTREE_STARVED,        /* of these, for want of leaves */
    LTREE_MOVED,          /* not 0: one that gave up has gone through leaves */
    LTREE_RESTARTS,       /* steps of operations that came to nothing */
    LTREE_TICK,           /* the clock of recorded histories */
    LTREE_SPLITS_PENDING, /* not 0: nodes have split and the level above has no entry for it yet */
    LTREE_ZOMBIES,        /* leaves that have merged into their neighbours and still have entries */
    LTREE_DEAD,           /* leaves that are in no level */
    LTREE_DIRTY_NODES,    /* for each level: nodes on its list */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

/* Steps of a work-item in a launch, at most. */
#define LTREE_STEPS 16384

/* Bytes of an operation that gave up, on a list: a uint4 of its number, its count, and its query. */
#define LTREE_PENDING_BYTES 16

/* Operations of a batch, counted. */
enum ltree_tally { TALLY_STORES, TALLY_SCANS /* counts, ranges */, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

/* Operations that gave up, by how they are done with the tree at rest: each kind as one batch. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FORWARD,  /* the first element from the query on */
    LEFT_BACKWARD, /* the last one up to it */
    LEFT_COUNTS,   /* also ranges that have no room left */
    LEFT_RANGES,   /* not done at rest */
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* Words of its result. Each is the first node with that finding, or LTREE_NONE. Those of leaves and those of inner nodes
 * are in the same order. */
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
    /* Then numbers of elements and of dead leaves. */
    CHECKED_ELEMENTS = N_FINDINGS,
    CHECKED_DEAD,
    N_CHECKED
};
