/* SPDX-License-Identifier: Apache-2.0 */
/* The memory layout of a linked tree: levels of nodes, each with a link to its right neighbour. B-link trees and
 * skiplists are linked trees.
 *
 * A node has LTREE_SLOTS sorted entries without gaps. Its keys are in a line, its values or children elsewhere. A line
 * has 32 words and 28 entries, or 16 words and 12 entries in a skiplist of small chunks:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LTREE_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LTREE_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LTREE_SLOTS numbers of nodes below
 *
 * A line of 4-byte keys has 128 bytes. A search reads the line, and one more word. Keys, low and high are ordered forms
 * (shared/key.h). Leaves and inner nodes are numbered separately, from 0, in the arrays leaf_keys, leaf_values,
 * inner_keys and children.
 *
 * A leaf covers the keys from low, exclusive, to high, inclusive; the first leaf every key up to high. Entry j of an
 * inner node is a node of the level below, whose low is the entry's key. Level 0 is the leaves.
 *
 * Invariants of a tree that no launch is changing (host/dict/ltree/check.c):
 *   B1 order    keys of a node ascend strictly; unused slots hold LTREE_UNUSED. Every key value is legal, because the
 *               header has the number of used slots.
 *   B2 bounds   keys of a leaf lie in (low, high], keys of an inner node in [low, high), the first being low. The first
 *               node of a level has low 0 and covers lesser keys, too; the last has high all ones and right LTREE_NONE.
 *   B3 links    right is the next node of the level; its low is this node's high.
 *   B4 cover    the entries of a level, in order, are the nodes of the level below, in order: each once, with its low.
 *               Unused slots hold numbers of such nodes, or LTREE_NONE.
 *   B5 root     the root is the only node of its level.
 *   B6 free     nodes from the next free one on are in no level, and their headers are LTREE_FREE.
 *   B7 latch    no header has LTREE_LATCHED or LTREE_DIRTY set.
 *   B8 counts   leaf_counts[] repeats the counts of the leaves' headers, if the host says so (`counted`), for batches
 *               that count their updates there.
 *   B9 dead     a taken node in no level has no entries, and its low is its high. No other node but the first leaf has
 *               equal low and high. Only skiplists have dead nodes: merged leaves, and inner nodes that lost all
 *               children (dict/ltree/reclaim.cl).
 *
 * During concurrent operations B4 and B5 may lag: searches find a new node by its left neighbour's link. Lehman and
 * Yao, Efficient Locking for Concurrent Operations on B-Trees (TODS 1981). */
#pragma once
#include "shared/types.h"

/* Words of a line by default. A kernel is compiled for one number. */
#define LTREE_WORDS_USUAL 32

/* Offsets of the words after the slots. */
#define LTREE_AT_LOW    0
#define LTREE_AT_RIGHT  1
#define LTREE_AT_HEADER 2
#define LTREE_AT_HIGH   3
#define LTREE_TAIL      4

/* Maximum slots of a leaf's bucket (bucket.cl). */
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

/* A header: the number of entries, and a version that each change replaces. Free nodes look latched. */
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

enum ltree_word {
    LTREE_ROOT,
    LTREE_LEAVES,   /* taken, so the next free leaf */
    LTREE_INNER,    /* likewise, of inner nodes */
    LTREE_ELEMENTS, /* of all leaves */
    /* The plan of a batch: */
    LTREE_GROUPS,  /* leaves that change */
    LTREE_WANTED,  /* maximum of new leaves */
    LTREE_LARGEST, /* maximum of one leaf's updates */
    /* Concurrent batches: */
    LTREE_PENDING,        /* operations that gave up */
    LTREE_STARVED,        /* of these, without a free leaf */
    LTREE_MOVED,          /* not 0 if one of them has passed leaves */
    LTREE_RESTARTS,       /* failed steps of operations */
    LTREE_TICK,           /* the clock of recorded histories */
    LTREE_SPLITS_PENDING, /* not 0 if the level above lacks entries of splits */
    LTREE_ZOMBIES,        /* merged leaves with entries above */
    LTREE_DEAD,           /* leaves in no level */
    LTREE_DIRTY_NODES,    /* nodes on each level's list */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

/* Maximum steps of a work-item in a launch. */
#define LTREE_STEPS 16384

/* Bytes of a listed operation: a uint4 of number, count and query. */
#define LTREE_PENDING_BYTES 16

/* Operations of a batch by kind. */
enum ltree_tally { TALLY_STORES, TALLY_SCANS /* counts, ranges */, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

/* Kinds of operations that gave up, each then done as a batch without concurrent updates. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FORWARD,  /* the first element from the query on */
    LEFT_BACKWARD, /* the last element up to the query */
    LEFT_COUNTS,   /* also ranges without capacity */
    LEFT_RANGES,   /* not done as a batch */
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* The checker's result: for each finding the first node with it, or LTREE_NONE. Leaves and inner nodes have the same
 * order. */
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
    /* Numbers, not findings: */
    CHECKED_ELEMENTS = N_FINDINGS,
    CHECKED_DEAD,
    N_CHECKED
};
