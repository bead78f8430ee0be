/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of the trie that the draft of a HAMT's concurrent batch has besides its slots
 * (shared/draft.h). All nodes and leaves are 0 before the launch:
 *
 *     nodes   | root | node | node | ...           64 words each, one per child
 *     leaves  | bitmap | bitmap | ...              1024 bits each, for 1024 successive keys
 *
 * Each word of a node is for one child. It is 0 without a child, HAMT_ELECTED while a work-item allocates the child,
 * and then the child's index plus 1. The root is node 0, on the topmost level. The children of nodes on level 0 are
 * leaves. A bit of a leaf is 1 if its key has a slot. */
#pragma once
#include "shared/draft.h"
#include "shared/hamt_node.h"

#define HAMT_ELECTED 0xffffffffu

/* Counters of a HAMT's launch, besides enum draft_word. */
enum hamt_draft_word {
    HAMT_DRAFT_LEAVES = DRAFT_WORDS,
    HAMT_DRAFT_NODES,
    HAMT_DRAFT_LEVELS, /* word HAMT_DRAFT_LEVELS + l is the number of nodes on level l */
    HAMT_DRAFT_WORDS = HAMT_DRAFT_LEVELS + HAMT_LEVELS(64)
};

ORDO_STATIC_ASSERT(HAMT_DRAFT_WORDS <= DRAFT_WORDS_MAX, "the counters fit");
