/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory of kernel hash_small_plan, and the list of changes that this kernel writes. */
#pragma once
#include "dict/hash/table.cl"
#include "shared/hash_small.h"

/* The array `where` (in hash_small) has the slot of each update's key, or one of these values. */
#define SMALL_NEW  0xffffffffu /* The table does not have the key. */
#define SMALL_DEAD 0xfffffffeu /* A later update has the same key. */

/* The distance between the words of two buckets is odd, so that they lie in different banks of local memory. */
#define SMALL_STRIDE (HASH_SLOTS + 1)

typedef struct {
    uint     buckets[HASH_SMALL_BUCKETS]; /* a hash table: index of a bucket plus 1, or 0 if unused */
    uint     partitions[HASH_SMALL_BUCKETS];
    uint     words[HASH_SMALL_BUCKETS * SMALL_STRIDE]; /* 8 words (hash_word) per bucket */
    ordo_key mixed[HASH_SMALL_UPDATES];
    uint     index[HASH_SMALL_UPDATES]; /* index of the update in the batch */
    uint     where[HASH_SMALL_UPDATES];
    uchar    order[HASH_SMALL_UPDATES];
    uchar    used[HASH_SMALL_BUCKETS];  /* indices of the used entries of buckets[] */
    ushort   changed[HASH_SMALL_MOVES]; /* at * HASH_SLOTS + k, if slot k of the bucket in entry `at` changes */
    uint     n, declined, counts, buckets_used, changes, spills, renewals;
} hash_small;
ORDO_STATIC_ASSERT(sizeof(hash_small) <= HASH_LOCAL_MAX, "small devices have the local memory");
ORDO_STATIC_ASSERT(HASH_SMALL_UPDATES <= 256, "a byte of `order` holds a position");
ORDO_STATIC_ASSERT(HASH_SMALL_BUCKETS <= 256, "a byte of `used` holds an index");
ORDO_STATIC_ASSERT(HASH_SMALL_PLAN_WORDS % 2 == 0, "pairs of words are aligned");

enum { SMALL_HEAD_COUNTS, SMALL_HEAD_MOVES, SMALL_HEAD_SPILLS, SMALL_HEAD_RENEWALS };

/* Changes that a work-group records in the plan:
 *
 *     heads      number of changes of each kind
 *     counts     (partition, number of new keys)
 *     renewals   (slot of a present key, index of the update with the new value)
 *     moves      (slot, where its new element is: a slot, or SMALL_OF_BATCH plus the index of an update)
 *     spills     2 * bucket if the bucket's spill count grows, 2 * bucket + 1 if it shrinks */
typedef struct {
    __global uint  *heads;
    __global uint2 *counts, *renewals, *moves;
    __global uint  *spills;
} small_plan;

#define SMALL_OF_BATCH 0x80000000u

ORDO_FN small_plan small_plan_of(__global uint *words)
{
    small_plan plan;
    plan.heads = words + get_group_id(0) * HASH_SMALL_PLAN_WORDS;
    plan.counts = (__global uint2 *) (plan.heads + HASH_SMALL_HEADS);
    plan.renewals = plan.counts + HASH_SMALL_UPDATES;
    plan.moves = plan.renewals + HASH_SMALL_UPDATES;
    plan.spills = (__global uint *) (plan.moves + HASH_SMALL_MOVES);
    return plan;
}
