/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a linked tree (B-link tree or skiplist): levels of nodes, each with a link to its right neighbour.
 * Level 0 has the leaves. */

/* A node has up to LTREE_SLOTS sorted entries. Its keys, in ordered form (shared/key.h), lie in an array of words, the
 * *line*. A line has 32 words, or 16 in skiplists with small nodes:
 *
 *     keys       [ k0 | k1 | ... | k27 | low | right | header | high ]      words of the keys' size
 *     leaf       [ v0 | v1 | ... | v27 ]                                    values, in another array
 *     inner node [ c0 | c1 | ... | c27 ]                                    indices of children, in another array
 *
 * A leaf covers the keys k with low < k <= high. An inner node's key is the `low` of the child. */

/* Invariants of a tree while no kernel changes it (host/dict/ltree/check.c checks them).
 *  B1 order    A node's keys ascend strictly. Unused slots hold LTREE_UNUSED, which may also be a valid key.
 *  B2 bounds   A leaf's keys lie in (`low`, `high`]. An inner node's keys lie in [`low`, `high`), and the first is
 *              `low`. `low` of a level's first node is 0. All bits in `high` of a level's last node are 1.
 *  B3 links    `right` is the index of the level's next node, or LTREE_NONE in the last node. The next node's `low`
 *              is this node's `high`.
 *  B4 cover    A level's entries hold the indices of all nodes of the level below, in order. Unused slots hold
 *              LTREE_NONE, or the index of any node of the level below.
 *  B5 root     The root is the only node of its level.
 *  B6 free     Never allocated nodes have the header LTREE_FREE.
 *  B7 latch    No header has LTREE_LATCHED or LTREE_DIRTY set.
 *  B8 counts   If the host has set `counted`, leaf_counts[i] is the number of entries of leaf i.
 *  B9 dead     A dead node is allocated, but in no level. It has no entries, and `low` equals `high`.
 *
 * During concurrent operations B4 and B5 may not hold. */
#pragma once
#include "shared/types.h"

#define LTREE_WORDS_USUAL 32

#define LTREE_AT_LOW    0
#define LTREE_AT_RIGHT  1
#define LTREE_AT_HEADER 2
#define LTREE_AT_HIGH   3
#define LTREE_TAIL      4

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

/* The header of a node has fields: the number of entries, a version that each change increments, and two flags. */
#define LTREE_COUNT_MASK   0x1fu
#define LTREE_VERSION_ONE  0x20u
#define LTREE_VERSION_BITS 25
#define LTREE_VERSION_MASK 0x3fffffe0u
#define LTREE_DIRTY        0x40000000u
#define LTREE_LATCHED      0x80000000u
#define LTREE_FREE         0xffffffffu

/* The word LTREE_ROOT has fields: a latch, the root's level, and the root's index. */
#define LTREE_ROOT_LATCHED 0x80000000u
#define LTREE_LEVEL_SHIFT  27
#define LTREE_LEVELS_MAX   13
#define LTREE_NODE_MASK    0x07ffffffu

enum ltree_tally { TALLY_STORES, TALLY_SCANS, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

/* A small concurrent batch starts before the host has read the tally. The kernel does nothing if the batch needs
 * something that the host does not offer: upper bounds, rooms, or a faster kernel for finds without changes.
 * LTREE_NEEDS is the set of bits that a batch needs. */
#define LTREE_NEEDS_HI          1u
#define LTREE_NEEDS_ROOMS       2u
#define LTREE_NEEDS_FINDS_ALONE 4u
#define LTREE_OFFERS_ALL        7u
#define LTREE_NEEDS(stores, scans, ranges, erases, finds)                                                              \
    (((scans) ? LTREE_NEEDS_HI : 0) | ((ranges) ? LTREE_NEEDS_ROOMS : 0) |                                             \
     ((finds) && !(stores) && !(erases) ? LTREE_NEEDS_FINDS_ALONE : 0))

enum ltree_word {
    LTREE_ROOT,
    LTREE_LEAVES,
    LTREE_INNER,
    LTREE_ELEMENTS,
    LTREE_GROUPS,  /* number of leaves that a batch changes */
    LTREE_WANTED,  /* maximum number of new leaves of a batch */
    LTREE_LARGEST, /* largest number of updates of one leaf */
    LTREE_PENDING, /* number of operations that gave up, which the host runs again */
    LTREE_STARVED, /* number of operations that gave up because no leaf was free */
    LTREE_MOVED,   /* 1 if an operation visited a leaf before it gave up */
    LTREE_RESTARTS,
    LTREE_TALLY,
    LTREE_COUNTERS_END = LTREE_TALLY + N_TALLIES,
    LTREE_COUNTERS = LTREE_COUNTERS_END - LTREE_PENDING,
    LTREE_TICK = LTREE_COUNTERS_END,
    LTREE_SPLITS_PENDING, /* 1 if a new node has no entry in the level above */
    LTREE_ZOMBIES,        /* number of empty leaves that have an entry in the level above */
    LTREE_DEAD,
    LTREE_LAST_WANTED, /* LTREE_WANTED and LTREE_LARGEST before update_top set them to 0 */
    LTREE_LAST_LARGEST,
    LTREE_EMPTIED,     /* maximum number of leaves that ordered batches have emptied since the last build */
    LTREE_DIRTY_NODES, /* Word LTREE_DIRTY_NODES + l counts the nodes of level l with LTREE_DIRTY. */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

#define LTREE_STEPS 16384

/* An operation that meets a latched node looks again at once, after a pause that doubles with each try, or from the
 * root. */
#define RETRY_NOW         0
#define RETRY_LATER       1
#define RETRY_AT_ROOT     2
#define RETRY_PAUSES_LOG2 8u

#define LTREE_LIST_ITEMS 8

/* Size of a ltree_pended (cl/dict/ltree/node.cl). */
#define LTREE_PENDED_BYTES(key_bytes) ((size_t) ((key_bytes) > 8 ? 32 : 16))

/* Kinds of operations that gave up. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FINDS,
    LEFT_FORWARD,  /* seeks of the next greater key */
    LEFT_BACKWARD, /* seeks of the next lesser key */
    LEFT_COUNTS,   /* counts, and ranges whose output is full */
    LEFT_RANGES,
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* Results of the kernels that check a tree. A WRONG_... word is the first node with this error, or LTREE_NONE. */
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
    CHECKED_ELEMENTS = N_FINDINGS,
    CHECKED_DEAD,
    N_CHECKED
};
