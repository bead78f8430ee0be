/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of small batches of upserts to a hash table (dict/hash/update_small.cl). */
#pragma once
#include "shared/hash_table.h"

/* Work-items of a work-group. On many GPUs this is a sub-group, whose barriers cost little. */
#define HASH_SMALL_GROUP 32
/* A work-group has up to HASH_SMALL_MEAN updates on average, and never more than HASH_SMALL_UPDATES. */
#define HASH_SMALL_MEAN    32
#define HASH_SMALL_UPDATES 80
/* The updates of a work-group can look at or change at most HASH_SMALL_BUCKETS buckets. */
#define HASH_SMALL_BUCKETS 192
/* Maximum numbers of elements that a work-group stores or moves, and of spill counts that it changes. */
#define HASH_SMALL_MOVES  224
#define HASH_SMALL_SPILLS 112
/* If a spill count has reached this limit, a work-group does not change it, but declines the batch. */
#define HASH_SMALL_SPILL_MAX (HASH_SCAN - HASH_SMALL_SPILLS - 1)

/* A work-group of kernel hash_small_plan writes a plan. The first HASH_SMALL_HEADS words are the lengths of four lists
 * of changes (dict/hash/small.cl), which follow. Entries of the first three lists have 2 words. */
#define HASH_SMALL_HEADS      4
#define HASH_SMALL_PLAN_WORDS (HASH_SMALL_HEADS + 4 * HASH_SMALL_UPDATES + 2 * HASH_SMALL_MOVES + HASH_SMALL_SPILLS)

/* Work-items of a work-group of kernel hash_small_write. */
#define HASH_SMALL_WRITERS 64

/* Up to this number of updates, each work-group reads the keys of the whole batch. */
#define HASH_SMALL_SCAN   2048
#define HASH_SMALL_MAX    (1 << 18)
#define HASH_SMALL_GROUPS (HASH_SMALL_MAX / HASH_SMALL_MEAN)
/* Keys per work-item of kernel hash_small_bin. */
#define HASH_SMALL_BIN_KEYS 2

/* Words of kernels' `state`: whether a kernel declines the batch, and the number of updates of each work-group. All
 * must be 0 before and after a batch. */
enum hash_small_state {
    HASH_SMALL_DECLINED,
    HASH_SMALL_COUNTS,
    HASH_SMALL_STATE_WORDS = HASH_SMALL_COUNTS + HASH_SMALL_GROUPS
};
