/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the values of a batch with the values in the dictionary, by COMBINE_OP (sum, minimum or maximum). */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "group/merge.cl"
#include "group/value.cl"

/* Built together: combine_heads combine_brought combine_made */

#if ORDO_CPU
#define COMBINE_ITEMS 1
#else
#define COMBINE_ITEMS 4
#endif

/* heads[j] becomes 1 if key j is the first of equal keys, else 0. If it is 1 and found[j] is true, combines the key's
 * old value before[j] into values[j]. */
ORDO_KERNEL(RUN_GROUP)
void combine_heads(__global const ordo_key *restrict keys, ulong     keys_at, __global const uchar *restrict found,
                   __global const merge_value *restrict before, uint n, __global uchar *restrict heads,
                   __global merge_value *restrict values, ulong      values_at)
{
    const uint apart = (n + COMBINE_ITEMS - 1) / COMBINE_ITEMS;
    keys += keys_at;
    values += values_at;
    RUN_EACH (uint, first, apart) {
        bool        head[COMBINE_ITEMS], adds[COMBINE_ITEMS];
        merge_value value[COMBINE_ITEMS], was[COMBINE_ITEMS];
        for (uint k = 0; k < COMBINE_ITEMS; k++) {
            const uint j = min(first + k * apart, n - 1);
            head[k] = j == 0 || !key_same(keys[j], keys[j - 1]);
            adds[k] = found[j];
            value[k] = values[j];
            was[k] = before[j];
        }
        for (uint k = 0; k < COMBINE_ITEMS && first + k * apart < n; k++) {
            heads[first + k * apart] = head[k];
            if (head[k] && adds[k])
                values[first + k * apart] = value_combine(was[k], value[k]);
        }
    }
}

/* brought[j] becomes the value that operation j stores or combines. Other operations get VALUE_NONE, the identity of
 * COMBINE_OP. An insert of a present key also gets VALUE_NONE. */
ORDO_KERNEL(RUN_GROUP)
void combine_brought(__global const uchar *codes, ulong codes_at, __global const merge_value *values, ulong values_at,
                     __global const uint *index, __global const uint *start, __global const uint *insert,
                     __global const uchar *there, uint n, __global merge_value *brought)
{
    RUN_EACH (uint, j, n) {
        const uint code = codes[codes_at + index[j]], head = codes[codes_at + index[start[j]]];
        const bool absent = head == CODE_ERASE || (head != CODE_UPSERT && !there[j]);
        const bool adds =
            code == CODE_UPSERT || code == CODE_COMBINE || (code == CODE_INSERT && absent && insert[j] == j);
        brought[j] = adds ? values[values_at + index[j]] : VALUE_NONE;
    }
}

/* made[j] must be the combined value of operations start[j] to j, in key order, which have the same key. Combines the
 * key's value before the batch, before[j], into made[j], unless the key was absent, or operation start[j] is an upsert
 * or erasure. */
ORDO_KERNEL(RUN_GROUP)
void combine_made(__global const uchar *codes, ulong codes_at, __global const uint *index, __global const uint *start,
                  __global const uchar *there, __global const merge_value *before, uint n, __global merge_value *made)
{
    RUN_EACH (uint, j, n) {
        const uint head = codes[codes_at + index[start[j]]];
        if (head != CODE_UPSERT && head != CODE_ERASE && there[j])
            made[j] = value_combine(before[j], made[j]);
    }
}
