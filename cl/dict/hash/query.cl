/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in a hash table.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP.
 */
#pragma once
#include "dict/each.cl"
#include "dict/hash/table.cl"

/* Two queries never share an output; found and values_out may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void hash_find(HASH_TABLE, __global const ordo_key *keys, ulong keys_at, uint n, __global hash_value *values_out,
               ulong values_out_at, __global uchar *found, ulong found_at)
{
    const hash_table table = HASH_TABLE_HERE;
    RUN_EACH (uint, i, n) {
        hash_place place = { 0, HASH_NONE };
        if (table.starts)
            place = hash_lookup(&table, hash_mix(keys[keys_at + i], table.seed));
#if ORDO_VALUE_BYTES
        if (values_out && place.slot != HASH_NONE)
            values_out[values_out_at + i] = hash_values(&table, place.bucket)[place.slot];
#endif
        if (found)
            found[found_at + i] = place.slot != HASH_NONE;
    }
}
