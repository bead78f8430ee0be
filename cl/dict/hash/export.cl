/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/hash/batch.cl"

/* Returns the sum of x over the work-items with lower local ids. *total becomes the sum over the work-group. The whole
 * group must call. */
ORDO_FN uint hash_sum_before(uint x, __local uint *sums, uint *total)
{
    const uint lid = (uint) get_local_id(0);
    uint       upto = x;
    hash_barrier();
    sums[lid] = upto;
    hash_barrier();
    for (uint distance = 1; distance < HASH_GROUP; distance *= 2) {
        if (lid >= distance)
            upto += sums[lid - distance];
        hash_barrier();
        sums[lid] = upto;
        hash_barrier();
    }
    *total = sums[HASH_GROUP - 1];
    return upto - x;
}

/* before[p] must be the number of elements in partitions below p. */
ORDO_KERNEL(HASH_GROUP)
void hash_export(HASH_TABLE, __global const uint *before, __global ordo_key *keys_out, ulong keys_out_at,
                 __global hash_value *values_out, ulong values_out_at)
{
    __local uint     sums[HASH_GROUP];
    const hash_table table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint start = table.starts[p], slots = (table.starts[p + 1] - start) * HASH_SLOTS;
        uint       at = before[p];
        for (uint first = 0; first < slots; first += HASH_GROUP) {
            const uint s = first + (uint) get_local_id(0);
            ordo_key   mixed = hash_empty(p, table.bits);
            uint       total = 0;
            if (s < slots)
                mixed = hash_keys(&table, start + s / HASH_SLOTS)[s % HASH_SLOTS];
            const bool is_there = hash_partition(mixed, table.bits) == p;
            const uint to = at + hash_sum_before(is_there, sums, &total);
            if (is_there && keys_out)
                keys_out[keys_out_at + to] = hash_unmix(mixed, table.seed);
#if ORDO_VALUE_BYTES
            if (is_there && values_out)
                values_out[values_out_at + to] = hash_values(&table, start + s / HASH_SLOTS)[s % HASH_SLOTS];
#endif
            at += total;
        }
    }
}
