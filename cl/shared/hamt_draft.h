/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a draft: the trie in which a concurrent batch of a HAMT gathers its updates. The draft
 * has the form of the original paper. All its memory is 0 before the batch, and lives for one launch:
 *
 *     slots   | word | word | ...                  a hash table with linear probing, at least half empty
 *     nodes   | root | node | node | ...           64 words each, one per child
 *     leaves  | bitmap | bitmap | ...              1024 bits each, for 1024 successive keys
 *     state   | enum hamt_draft_word               counters
 *
 * A slot is 0, or describes the last update of one key: the update's index in the launch plus 1, shifted left by 1, and
 * HAMT_ERASED if the update erased the key. The batch has the key itself.
 *
 * A node's word is 0 if there is no child, HAMT_ELECTED while a work-item allocates the child, else the child's index
 * plus 1. The children of level 0 are leaves. The root is node 0 on the topmost level. A bit of a leaf is 1 if its key
 * has a slot. */
#pragma once
#include "shared/hamt_node.h"

#define HAMT_ERASED  1u
#define HAMT_ELECTED 0xffffffffu

/* Number of slots per operation of a launch. */
#define HAMT_SLOTS_EACH 2
/* Maximum number of slots that a search for a key reads. */
#define HAMT_PROBES 256

/* HAMT_PENDING: number of listed operations that gave up. HAMT_RESTARTS: number of repeated attempts. HAMT_TICK:
 * logical clock, with which tests time operations. HAMT_DRAFT_LEVELS: first of one word per level, the level's number
 * of nodes. */
enum hamt_draft_word {
    HAMT_PENDING,
    HAMT_RESTARTS,
    HAMT_DRAFT_LEAVES,
    HAMT_DRAFT_NODES,
    HAMT_DRAFT_LEVELS,
    HAMT_TICK = HAMT_DRAFT_LEVELS + HAMT_LEVELS(64),
    HAMT_DRAFT_WORDS
};
