/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a trie that holds the keys of a HAMT's draft (shared/draft.h). Before the launch, all nodes and
 * leaves are 0:
 *
 *     nodes   | root | node | ...           64 words each, one per child
 *     leaves  | bitmap | ...                1024 bits each, one per key
 *
 * A node's word is 0 without a child. It is HAMT_ELECTED while a work-item allocates the child, afterwards the child's
 * index plus 1. The root is node 0, on the topmost level. The children of level 0 are leaves. A leaf's bit is 1 if its
 * key has a slot in the draft. */
#pragma once
#include "shared/draft.h"
#include "shared/hamt_node.h"

#define HAMT_ELECTED 0xffffffffu

/* Counters after enum draft_word. */
enum hamt_draft_word {
    HAMT_DRAFT_LEAVES = DRAFT_WORDS,
    HAMT_DRAFT_NODES,
    HAMT_DRAFT_LEVELS, /* word HAMT_DRAFT_LEVELS + l counts the nodes on level l */
    HAMT_DRAFT_WORDS = HAMT_DRAFT_LEVELS + HAMT_LEVELS(64)
};

ORDO_STATIC_ASSERT(HAMT_DRAFT_WORDS <= DRAFT_WORDS_MAX, "the counters fit");
