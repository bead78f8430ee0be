/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a linked tree, the common form of B-link trees and skiplists: levels of nodes, in which
 * each node has a link to its right neighbour. Level 0 has the leaves. */

/* A node has up to LTREE_SLOTS sorted entries. Its keys, in ordered form (shared/key.h), lie in an array of words, the
 * *line*. Its values, or the numbers of its children, lie in other arrays. The line below has 32 words. Lines of
 * skiplists with small nodes have 16 words:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LTREE_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LTREE_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LTREE_SLOTS numbers of children
 *
 * A leaf covers the keys k with low < k <= high. The key of an inner node's entry is the `low` of the child. */

/* Invariants of a tree while no kernel changes it (host/dict/ltree/check.c checks them). low, right, header and high
 * are the last words of a node's line:
 *  B1 order    The keys of a node ascend strictly. Unused slots hold LTREE_UNUSED, which may also be a valid key.
 *  B2 bounds   A leaf's keys lie in (low, high]. An inner node's keys lie in [low, high), and its first key is low. The
 *              first node of a level has low 0. The last node has right LTREE_NONE, and all bits of its high are 1.
 *  B3 links    right is the number of the next node of the level. The next node's low is this node's high.
 *  B4 cover    The entries of a level hold the numbers of all nodes of the level below, in order. An unused slot holds
 *              any such number, or LTREE_NONE.
 *  B5 root     The root is the only node of its level.
 *  B6 free     Nodes that were never allocated have the header LTREE_FREE.
 *  B7 latch    No header has LTREE_LATCHED or LTREE_DIRTY set.
 *  B8 counts   If the host has set `counted`, leaf_counts[i] is the number of entries of leaf i.
 *  B9 dead     A dead node is allocated, but in no level. It has no entries, and low equals high. Only skiplists have
 *              dead nodes: leaves whose elements moved to a neighbour, inner nodes without children (reclaim.cl).
 *
 * During concurrent operations B4 and B5 may not hold. Searches then find a new node by its left neighbour's link
 * (Lehman and Yao, Efficient Locking for Concurrent Operations on B-Trees, TODS 1981). */
#pragma once
#include "shared/types.h"

#define LTREE_WORDS_USUAL 32

/* Offsets of the words low, right, header and high, which follow the keys in a node's line. */
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

/* Fields of a node's header: the number of entries, a version that each change of the node increments, and two flags.
 * All bits of a free node's header are set. */
#define LTREE_COUNT_MASK   0x1fu
#define LTREE_VERSION_ONE  0x20u
#define LTREE_VERSION_BITS 25
#define LTREE_VERSION_MASK 0x3fffffe0u
#define LTREE_DIRTY        0x40000000u /* The node needs repair because a child has split. */
#define LTREE_LATCHED      0x80000000u
#define LTREE_FREE         0xffffffffu

/* Fields of the word LTREE_ROOT: a latch, the level of the root, and the root's node number. */
#define LTREE_ROOT_LATCHED 0x80000000u
#define LTREE_LEVEL_SHIFT  27
#define LTREE_LEVELS_MAX   13
#define LTREE_NODE_MASK    0x07ffffffu

/* Kinds of operations, which the host counts before a concurrent batch. */
enum ltree_tally { TALLY_STORES, TALLY_SCANS, TALLY_RANGES, TALLY_ERASES, TALLY_FINDS, N_TALLIES };

enum ltree_word {
    LTREE_ROOT,
    LTREE_LEAVES, /* number of allocated leaves */
    LTREE_INNER,  /* number of allocated inner nodes */
    LTREE_ELEMENTS,
    /* Results of planning a batch: */
    LTREE_GROUPS,  /* number of leaves that the batch changes */
    LTREE_WANTED,  /* upper bound of the number of new leaves */
    LTREE_LARGEST, /* largest number of updates of one leaf */
    /* Counters of concurrent batches, LTREE_COUNTERS words: */
    LTREE_PENDING,  /* number of operations that gave up: the host runs them again */
    LTREE_STARVED,  /* number of operations that gave up because no leaf was free */
    LTREE_MOVED,    /* 1 if an operation that gave up has come nearer to its end: it had visited a leaf */
    LTREE_RESTARTS, /* number of failed attempts of all operations */
    LTREE_TALLY,    /* the first of N_TALLIES words: the number of operations of each kind (enum ltree_tally) */
    LTREE_COUNTERS_END = LTREE_TALLY + N_TALLIES,
    LTREE_COUNTERS = LTREE_COUNTERS_END - LTREE_PENDING,
    /* Other words: */
    LTREE_TICK = LTREE_COUNTERS_END, /* logical clock, with which tests record operations */
    LTREE_SPLITS_PENDING,            /* 1 if a new node has no entry in the level above */
    LTREE_ZOMBIES,                   /* number of empty leaves with an entry in the level above */
    LTREE_DEAD,                      /* number of allocated leaves that belong to no level */
    LTREE_DIRTY_NODES,               /* the first of LTREE_LEVELS_MAX counters of dirty nodes, one per level */
    LTREE_STATE_WORDS = LTREE_DIRTY_NODES + LTREE_LEVELS_MAX + 1
};

/* ---- concurrent batches ------------------------------------------------------------------------------------------ */

#define LTREE_STEPS 16384

/* Size in bytes of the record (a uint4) of an operation that gave up. */
#define LTREE_PENDING_BYTES 16

/* Classes of operations that gave up. The host runs each class again as one batch, while no concurrent kernel runs. */
enum ltree_left {
    LEFT_UPDATES,
    LEFT_FINDS,
    LEFT_FORWARD,  /* searches for the first element at or after the query */
    LEFT_BACKWARD, /* searches for the last element at or before the query */
    LEFT_COUNTS,   /* operations `count`, and operations `range` without space for a key: only the count is left */
    LEFT_RANGES,   /* all other operations `range` */
};

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* Results of the checker: for each invariant, the first node that violates it, or LTREE_NONE. */
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
    /* Two counts follow the findings. */
    CHECKED_ELEMENTS = N_FINDINGS,
    CHECKED_DEAD,
    N_CHECKED
};
