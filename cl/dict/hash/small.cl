/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory of kernel hash_small_plan, and the list of changes that this kernel writes. */
#pragma once
#include "dict/hash/table.cl"
#include "shared/hash_small.h"

/* The array `where` (in hash_small) has the slot of each update's key, or one of these values. */
#define SMALL_NEW  0xffffffffu /* The table does not have the key. */
#define SMALL_DEAD 0xfffffffeu /* A later update has the same key. */

typedef struct {
    uint     buckets[HASH_SMALL_BUCKETS]; /* a hash table: index of a bucket plus 1, or 0 if unused */
    uint     partitions[HASH_SMALL_BUCKETS];
    uint     words[HASH_SMALL_BUCKETS * HASH_SLOTS]; /* 8 words (hash_word) per bucket */
    ordo_key mixed[HASH_SMALL_UPDATES];
    uint     index[HASH_SMALL_UPDATES]; /* index of the update in the batch */
    uint     where[HASH_SMALL_UPDATES];
    uchar    order[HASH_SMALL_UPDATES];
    ushort   changed[HASH_SMALL_MOVES]; /* Indices of slots in words[] that change, and in `was` their old words. */
    uint     was[HASH_SMALL_MOVES];
    uint     n, declined, counts, changes, spills, renewals;
} hash_small;
ORDO_STATIC_ASSERT(sizeof(hash_small) <= HASH_LOCAL_MAX, "small devices have the local memory");
ORDO_STATIC_ASSERT(HASH_SMALL_UPDATES <= 256, "a byte of `order` holds a position");

enum { SMALL_HEAD_COUNTS, SMALL_HEAD_MOVES, SMALL_HEAD_SPILLS, SMALL_HEAD_RENEWALS };

/* Changes that a work-group records in the plan:
 *
 *     heads      number of changes of each kind
 *     counts     (partition, number of new keys)
 *     renewals   (slot of a present key, index of the update with the new value)
 *     spills     2 * bucket if the bucket's spill count grows, 2 * bucket + 1 if it shrinks
 *     slots      slots[i] is the slot for the element with keys[i] and values[i] */
typedef struct {
    __global uint             *heads;
    __global uint2            *counts, *renewals;
    __global uint             *spills, *slots;
    __global ordo_key         *keys;
    __global hash_value       *values;
    __global const hash_value *batch_values;
} small_plan;

ORDO_FN small_plan small_plan_of(__global uint *words, __global ordo_key *keys, __global hash_value *values,
                                 __global const hash_value *batch_values)
{
    const ulong group = get_group_id(0);
    small_plan  plan;
    plan.heads = words + group * HASH_SMALL_PLAN_WORDS;
    plan.counts = (__global uint2 *) (plan.heads + HASH_SMALL_HEADS);
    plan.renewals = plan.counts + HASH_SMALL_UPDATES;
    plan.spills = (__global uint *) (plan.renewals + HASH_SMALL_UPDATES);
    plan.slots = plan.spills + HASH_SMALL_SPILLS;
    plan.keys = keys + group * HASH_SMALL_MOVES;
    plan.values = values ? values + group * HASH_SMALL_MOVES : values;
    plan.batch_values = batch_values;
    return plan;
}
