/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/each.cl"
#include "group/merge.cl"

/* Built together: batch_number batch_heads insert_resolve batch_widen batch_keep */

ORDO_KERNEL(RUN_GROUP)
void batch_number(__global uint *out, uint n)
{
    RUN_EACH (uint, i, n)
        out[i] = i;
}

/* Sets heads[j] to j if key j is the first of equal keys, else 0. A maximum scan then sets heads[j] to the index of the
 * first key equal to key j. */
ORDO_KERNEL(RUN_GROUP)
void batch_heads(__global const ordo_key *keys, uint n, __global uint *heads)
{
    RUN_EACH (uint, j, n)
        heads[j] = j > 0 && key_same(keys[j], keys[j - 1]) ? 0 : j;
}

/* Inserts of equal keys all store the first one's value. heads[j] must be the index of the first key equal to key j. */
ORDO_KERNEL(RUN_GROUP)
void insert_resolve(__global const uint *heads, __global const uint *index, __global const uchar *found,
                    __global const merge_value *values, ulong values_at, uint n, __global merge_value *stored,
                    __global uchar *inserted, ulong inserted_at)
{
    RUN_EACH (uint, j, n) {
        const uint head = heads[j];
#if ORDO_VALUE_BYTES
        if (!found[head])
            stored[j] = values[values_at + index[head]];
#endif
        if (inserted)
            inserted[inserted_at + index[j]] = head == j && !found[head];
    }
}

ORDO_KERNEL(RUN_GROUP)
void batch_widen(__global const uint *from, ulong from_at, uint n, __global ulong *to, ulong to_at)
{
    RUN_EACH (uint, i, n + 1)
        to[to_at + i] = i < n ? from[from_at + i] : 0;
}

/* Copies the updates whose flag is 1 without gaps. places[] must hold the exclusive prefix sums of the flags. */
ORDO_KERNEL(RUN_GROUP)
void batch_keep(__global const uint *places, uint n, __global const ordo_key *keys, ulong keys_at,
                __global const merge_value *values, ulong values_at, __global const uchar *erased, ulong erased_at,
                __global ordo_key *keys_out, __global merge_value *values_out, __global uchar *erased_out)
{
    RUN_EACH (uint, j, n) {
        const uint to = places[j];
        if (places[j + 1] == to)
            continue;
        keys_out[to] = keys[keys_at + j];
#if ORDO_VALUE_BYTES
        if (values)
            values_out[to] = values[values_at + j];
#endif
        if (erased)
            erased_out[to] = erased[erased_at + j];
    }
}
