/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a draft: the hash table in which one launch of a concurrent batch on a trie gathers its
 * updates. The host then merges the updates with the trie. The table uses linear probing, and is at least half empty.
 *
 * An unused slot is 0, as all slots before the launch. A used slot describes the last update of one key. Its lowest
 * bit, DRAFT_ERASED, is 1 if the update erased the key. Its other bits are the update's index in the launch, plus 1. */
#pragma once
#include "shared/types.h"

#define DRAFT_ERASED 1u

/* Number of slots per operation of a launch. */
#define DRAFT_SLOTS_EACH 2
/* Maximum number of slots that a search for a key reads. */
#define DRAFT_PROBES 256

/* Number of slots that one work-item reads when the draft is listed. */
#define DRAFT_BLOCK 32

/* Counters of a launch. A structure may have more counters, up to DRAFT_WORDS_MAX in all. */
enum draft_word {
    DRAFT_TICK,     /* logical clock, with which tests time operations */
    DRAFT_PENDING,  /* number of operations that gave up */
    DRAFT_RESTARTS, /* number of repeated attempts */
    DRAFT_WORDS
};
#define DRAFT_WORDS_MAX 32
