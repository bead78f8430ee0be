/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a batch of operations on single keys in its own order, without a sort. This is the fastest way on CPUs. Each
 * work-group has one work-item, and executes the operations on the keys of its share of the partitions. */
#pragma once
#include "device/atomic.cl"
#include "dict/codes.cl"
#include "dict/hash/update_serial.cl"

/* Kernel parameters of the batch. If `codes` is NULL, operation i erases its key if erased[i] is not 0, and otherwise
 * is an upsert. */
#define DIRECT_BATCH                                                                                                   \
    __global const ordo_key *keys, ulong keys_at, uint n, __global const uchar *codes, ulong codes_at,                 \
        __global const uchar *erased, ulong erased_at, __global uint *reserved
#define DIRECT_HERE                                                                                                    \
    {                                                                                                                  \
        keys + keys_at, codes ? codes + codes_at : 0, erased ? erased + erased_at : 0, reserved, n,                    \
            hash_share_begin(table_bits, get_group_id(0)), hash_share_begin(table_bits, get_group_id(0) + 1)           \
    }

/* The work-group owns partitions `begin` to end - 1. */
typedef struct {
    __global const ordo_key *keys;
    __global const uchar    *codes, *erased;
    __global uint           *reserved;
    uint                     n, begin, end;
} direct_batch;

ORDO_FN uint direct_code(const direct_batch *batch, uint i)
{
    if (batch->codes)
        return batch->codes[i];
    return batch->erased && batch->erased[i] ? CODE_ERASE : CODE_UPSERT;
}

/* Counts in reserved[p] the updates that store into partition p. Sets found[HASH_FULL] if the new keys may not fit into
 * a partition, sets found[HASH_CODES], and adds the elements of the table to found[HASH_TOTAL]. All words of `found`
 * must be 0. */
ORDO_KERNEL(HASH_GROUP)
void hash_direct_reserve(HASH_TABLE, DIRECT_BATCH, __global uint *found)
{
    const hash_table   table = HASH_TABLE_HERE;
    const direct_batch batch = DIRECT_HERE;
    const uint         begin = batch.begin, owned = batch.end - begin;
    uint               seen = 0, full = 0, total = 0;
    for (uint p = begin; p < begin + owned; p++)
        reserved[p] = 0;
    for (uint i = 0; i < batch.n; i++) {
        const uint code = direct_code(&batch, i), p = hash_partition(hash_mix(batch.keys[i], table.seed), table.bits);
        const bool mine = p - begin < owned, stores = code == CODE_UPSERT || code == CODE_INSERT;
        seen |= 1u << min(code, (uint) HASH_CODE_OTHER);
        reserved[mine ? p : begin] += mine & stores;
    }
    for (uint p = begin; p < begin + owned; p++) {
        total += table.counts[p];
        full |= reserved[p] && table.counts[p] + reserved[p] > HASH_LIMIT(table.starts[p + 1] - table.starts[p]);
    }
    ordo_or(&found[HASH_CODES], seen);
    ordo_add(&found[HASH_TOTAL], total);
    if (full)
        ordo_or(&found[HASH_FULL], 1u);
}

#define DIRECT_LIST 16

typedef struct {
    uint     n;
    uint     index[DIRECT_LIST + 1];
    ordo_key mixed[DIRECT_LIST + 1];
} direct_list;

/* Lists the next operations of this work-group, from operation i on, and prefetches their home buckets. Returns the
 * index of the operation after them. Chooses the operations without branches, which would be mispredicted. */
ORDO_FN uint direct_collect(__local direct_list *list, const hash_table *table, const direct_batch *batch, uint i)
{
    uint listed = 0;
    for (; i < batch->n && listed < DIRECT_LIST; i++) {
        const ordo_key mixed = hash_mix(batch->keys[i], table->seed);
        list->index[listed] = i;
        list->mixed[listed] = mixed;
        listed += hash_partition(mixed, table->bits) - batch->begin < batch->end - batch->begin;
    }
    list->n = listed;
    for (uint k = 0; k < listed; k++)
        hash_prefetch_home(table, list->mixed[k]);
    return i;
}

/* Executes an operation on a key that lies in `place`, or is absent. */
ORDO_FN void direct_update(const hash_table *table, const hash_part *part, uint code, ordo_key mixed, uint home,
                           hash_place place, hash_value value, __private hash_tally *tally)
{
    const bool there = place.slot != HASH_NONE;
    if (there && code == CODE_ERASE)
        hash_remove(table, part, home, place, tally);
    else if (!there && (code == CODE_UPSERT || code == CODE_INSERT))
        hash_insert(table, part, home, mixed, value, tally);
#if ORDO_VALUE_BYTES
    else if (there && code == CODE_UPSERT)
        hash_values(table, place.bucket)[place.slot] = value;
#endif
}

/* Results of the batch, and the values that it stores. Arrays may be NULL. */
typedef struct {
    __global const hash_value *values;
    __global uchar            *found_out;
    __global hash_value       *values_out;
} direct_values;

/* Executes operation i. Marks its partition in `reserved` if the spills of the partition must be counted again. */
ORDO_FN void direct_do(const hash_table *table, const direct_batch *batch, const direct_values *values, uint i,
                       ordo_key mixed)
{
    const uint      code = direct_code(batch, i), p = hash_partition(mixed, table->bits);
    const hash_part part = hash_part_at(table, p);
    const uint      home = hash_home_in(table, &part, mixed);
    hash_place      place = { 0, HASH_NONE };
    hash_tally      tally = { 0, false };
    hash_value      value = 0;
    if (part.buckets)
        place = hash_look_from(table, &part, home, mixed);
    if (values->found_out)
        values->found_out[i] = place.slot != HASH_NONE;
#if ORDO_VALUE_BYTES
    if (values->values_out && code == CODE_FIND && place.slot != HASH_NONE)
        values->values_out[i] = hash_values(table, place.bucket)[place.slot];
    if (values->values)
        value = values->values[i];
#endif
    direct_update(table, &part, code, mixed, home, place, value, &tally);
    table->counts[p] += tally.count;
    if (tally.recounts)
        batch->reserved[p] = HASH_RECOUNT;
}

ORDO_FN void direct_recount(const hash_table *table, const direct_batch *batch, __local hash_local *mem)
{
    for (uint p = batch->begin; p < batch->end; p++) {
        const hash_part part = hash_part_at(table, p);
        if (batch->reserved[p] == HASH_RECOUNT)
            hash_recount_part(table, &part, mem);
    }
}

/* Executes the batch after hash_direct_reserve. New keys must fit into their partitions. */
ORDO_KERNEL(HASH_GROUP)
void hash_direct(HASH_TABLE, DIRECT_BATCH, __global const hash_value *values, ulong values_at,
                 __global uchar *found_out, ulong found_out_at, __global hash_value *values_out, ulong values_out_at)
{
    __local hash_local  mem;
    __local direct_list lists[2];
    const hash_table    table = HASH_TABLE_HERE;
    const direct_batch  batch = DIRECT_HERE;
    const direct_values rows = { values ? values + values_at : 0, found_out ? found_out + found_out_at : 0,
                                 values_out ? values_out + values_out_at : 0 };
    uint next = direct_collect(&lists[0], &table, &batch, 0);
    for (uint turn = 0; turn < n && lists[turn & 1].n; turn++) {
        __local const direct_list *list = &lists[turn & 1], *ahead = &lists[~turn & 1];
        next = direct_collect(&lists[~turn & 1], &table, &batch, next);
        for (uint k = 0; k < list->n; k++)
            direct_do(&table, &batch, &rows, list->index[k], list->mixed[k]);
        for (uint k = 0; k < ahead->n; k++)
            hash_prefetch_second(&table, ahead->mixed[k]);
    }
    direct_recount(&table, &batch, &mem);
}
