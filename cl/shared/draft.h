/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a draft, a hash table with linear probing. It lists the updates that one launch of a concurrent
 * batch makes on a trie.
 *
 * An empty slot is 0. Other slots describe the last update of a key: Bit 0, DRAFT_ERASED, is 1 if the update erased the
 * key. The higher bits are the update's index in the launch, plus 1. */
#pragma once
#include "shared/types.h"

#define DRAFT_ERASED 1u

/* A draft has DRAFT_SLOTS_EACH slots per operation of the launch. */
#define DRAFT_SLOTS_EACH 2
#define DRAFT_PROBES     256

#define DRAFT_BLOCK 32

/* Counters of a launch. */
enum draft_word { DRAFT_TICK, DRAFT_PENDING, DRAFT_RESTARTS, DRAFT_WORDS };
#define DRAFT_WORDS_MAX 32
