/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent batch on a HAMT lists its updates in a hash table, the draft (shared/draft.h). A trie next to it holds
 * the same keys in order:
 *
 *     nodes   | root | node | ...           64 words each, one per child
 *     leaves  | bitmap | ...                1024 bits each, one per key
 *
 * All nodes and leaves are 0 before the launch. Node 0 is the root. The children of nodes on level 0 are leaves. A
 * leaf's bit is 1 if the draft has its key.
 *
 * A node's word describes a child. Value 0 means no child. HAMT_ELECTED means that a work-item allocates the child.
 * Other values are the child's index plus 1. */
#pragma once
#include "shared/draft.h"
#include "shared/hamt_node.h"

#define HAMT_ELECTED 0xffffffffu

enum hamt_draft_word {
    HAMT_DRAFT_LEAVES = DRAFT_WORDS,
    HAMT_DRAFT_NODES,
    HAMT_DRAFT_LEVELS, /* word HAMT_DRAFT_LEVELS + l counts the nodes on level l */
    HAMT_DRAFT_WORDS = HAMT_DRAFT_LEVELS + HAMT_LEVELS(64)
};

ORDO_STATIC_ASSERT(HAMT_DRAFT_WORDS <= DRAFT_WORDS_MAX, "the counters fit");
