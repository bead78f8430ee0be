/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a draft, which lists the updates that one launch of a concurrent batch makes on a trie. It is a hash
 * table with linear probing.
 *
 * An unused slot is 0. A used slot describes the last update of a key. Bit 0, DRAFT_ERASED, is 1 if the update erased
 * the key. The other bits are the update's index in the launch, plus 1. */
#pragma once
#include "shared/types.h"

#define DRAFT_ERASED 1u

/* Slots per operation of a launch. */
#define DRAFT_SLOTS_EACH 2
/* Maximum slots that a search reads. */
#define DRAFT_PROBES 256

/* Slots that a work-item reads to list the updates. */
#define DRAFT_BLOCK 32

/* Counters of a launch. A structure may add others, up to DRAFT_WORDS_MAX. */
enum draft_word {
    DRAFT_TICK,    /* event counter of tests */
    DRAFT_PENDING, /* operations that gave up */
    DRAFT_RESTARTS,
    DRAFT_WORDS
};
#define DRAFT_WORDS_MAX 32
