/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a linked tree: levels of nodes, each with a link to its right neighbour. B-link trees
 * and skiplists are linked trees.
 *
 * A node has up to LTREE_SLOTS sorted entries without gaps. Its keys lie in a *line*, its values or children elsewhere.
 * A line has 28 slots and 32 words, in a skiplist of small chunks 12 slots and 16 words:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LTREE_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LTREE_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LTREE_SLOTS numbers of nodes below
 *
 * A line of 4-byte keys has 128 bytes. A search reads the line, and one value or child. Keys, low and high are ordered
 * forms (shared/key.h). Leaves have numbers from 0 in the arrays leaf_keys and leaf_values. Inner nodes have numbers
 * from 0 in inner_keys and children.
 *
 * A leaf covers the keys from low, exclusive, to high, inclusive. The first leaf covers all keys up to high. Entry j of
 * an inner node names a node of the level below, and its key is that node's low. Level 0 is the leaves.
 *
 * Invariants of a tree that no launch is changing (host/dict/ltree/check.c):
 *   B1 order    keys of a node ascend strictly; unused slots hold LTREE_UNUSED. A key may equal LTREE_UNUSED, because
 *               the header has the number of used slots.
 *   B2 bounds   keys of a leaf lie in (low, high], keys of an inner node in [low, high); its first key is low. The
 *               first node of a level has low 0 and covers lesser keys, too. The last has high all ones and right
 *               LTREE_NONE.
 *   B3 links    right is the next node of the level; its low is this node's high.
 *   B4 cover    the entries of a level name the nodes of the level below in order, each node once, by its low.
 *               Unused slots hold numbers of such nodes, or LTREE_NONE.
 *   B5 root     the root is the only node of its level.
 *   B6 free     nodes from the next free node on are in no level, and their headers are LTREE_FREE.
 *   B7 latch    no header has LTREE_LATCHED or LTREE_DIRTY set.
 *   B8 counts   if the host sets `counted`, leaf_counts[] repeats the counts of the leaves' headers.
 *   B9 dead     a dead node is in no level, though not free. It has no entries, and low = high, as only the first leaf
 *               may have otherwise. Only skiplists have dead nodes: merged leaves, and inner nodes that lost all
 *               children (dict/ltree/reclaim.cl).
 *
 * During concurrent operations B4 and B5 may lag: searches then reach a new node by its left neighbour's link. Lehman
 * and Yao, Efficient Locking for Concurrent Operations on B-Trees (TODS 1981). */
#pragma once
#include "shared/types.h"

/* The default words of a line. */
#define LTREE_WORDS_USUAL 32

/* Offsets of the words after the slots. */
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

/* A header has the number of entries, a version that each change replaces, and two flags. Free nodes look latched. */
#define LTREE_COUNT_MASK   0x1fu
#define LTREE_VERSION_ONE  0x20u
#define LTREE_VERSION_BITS 25
#define LTREE_VERSION_MASK 0x3fffffe0u
#define LTREE_DIRTY        0x40000000u /* the node is listed because a child has split */
#define LTREE_LATCHED      0x80000000u
#define LTREE_FREE         0xffffffffu

/* The word LTREE_ROOT has the root's level above its number. */
#define LTREE_ROOT_LATCHED 0x80000000u
#define LTREE_LEVEL_SHIFT  27
#define LTREE_LEVELS_MAX   13
#define LTREE_NODE_MASK    0x07ffffffu

enum ltree_word {
    LTREE_ROOT,
    LTREE_LEAVES, /* number of taken leaves; the next free leaf */
    LTREE_INNER,  /* number of taken inner nodes; the next free inner node */
    LTREE_ELEMENTS,
    /* The plan of a batch: */
    LTREE_GROUPS,  /* leaves that change */
    LTREE_WANTED,  /* maximum of new leaves */
    LTREE_LARGEST, /* maximum of one leaf's updates */
    /* Concurrent batches: */
    LTREE_PENDING,        /* operations that gave up */
    LTREE_STARVED,        /* operations that gave up because no leaf was free */
    LTREE_MOVED,          /* not 0 if an operation that gave up had progressed over leaves */
    LTREE_RESTARTS,       /* failed steps of operations */
    LTREE_TICK,           /* the time for recorded histories */
    LTREE_SPLITS_PENDING, /* not 0 if a split has no entry in the level above */
    LTREE_ZOMBIES,        /* merged leaves that still have an entry above */
    LTREE_DEAD,           /* leaves in no level */
    LTREE_DIRTY_NODES,    /* one word per level: its listed dirty nodes */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

#define LTREE_STEPS 16384

/* An operation that gave up is listed as a uint4: number, count and query. */
#define LTREE_PENDING_BYTES 16

enum ltree_tally { TALLY_STORES, TALLY_SCANS /* counts, ranges */, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

/* Operations that gave up, by kind. The host runs each kind as one batch, without concurrent updates. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FORWARD,  /* the first element from the query on */
    LEFT_BACKWARD, /* the last element up to the query */
    LEFT_COUNTS,   /* counts, and ranges that lack capacity */
    LEFT_RANGES,   /* other ranges, for which there is no such batch */
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* The checker's result: for each finding the first node that has it, or LTREE_NONE. */
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
