/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a draft: the trie in which one launch of a concurrent HAMT batch gathers its updates. */

/* The arrays of a draft. All slots, nodes and leaves are 0 before the launch:
 *
 *     slots   | word | word | ...                  a hash table of keys, with linear probing, at least half empty
 *     nodes   | root | node | node | ...           64 words each, one per child
 *     leaves  | bitmap | bitmap | ...              1024 bits each, for 1024 successive keys
 *     state   | enum hamt_draft_word               counters */

/* An unused slot is 0. A used slot describes the last update of one key. Its lowest bit, HAMT_ERASED, is 1 if the
 * update erased the key. Its other bits are the update's index in the launch, plus 1. */

/* A word of a node is 0 without a child, HAMT_ELECTED while a work-item allocates the child, and later the child's
 * index plus 1. The root is node 0, on the topmost level. The children of nodes on level 0 are leaves. A bit of a leaf
 * is 1 if its key has a slot in the hash table. */
#pragma once
#include "shared/hamt_node.h"

#define HAMT_ERASED  1u
#define HAMT_ELECTED 0xffffffffu

/* Number of slots of the hash table per operation of a launch. */
#define HAMT_SLOTS_EACH 2
/* Maximum number of slots that a search for a key reads. */
#define HAMT_PROBES 256

enum hamt_draft_word {
    HAMT_PENDING,  /* number of operations that gave up */
    HAMT_RESTARTS, /* number of repeated attempts */
    HAMT_DRAFT_LEAVES,
    HAMT_DRAFT_NODES,
    HAMT_DRAFT_LEVELS,                               /* word HAMT_DRAFT_LEVELS + l is the number of nodes on level l */
    HAMT_TICK = HAMT_DRAFT_LEVELS + HAMT_LEVELS(64), /* logical clock, with which tests time operations */
    HAMT_DRAFT_WORDS
};
