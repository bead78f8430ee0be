/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that combine with what is there: host/dict/generic/combine.c. The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP,
 * COMBINE_TYPE (an ordo_type as wide as the values) and COMBINE_OP (an ordo_op).
 *
 *   combine_heads    where groups of equal keys begin
 *   combine_stored   what is there combined with what the batch brings
 */
#pragma once
#include "dict/each.cl"
#include "dict/generic/value.cl"
#include "group/merge.cl"

ORDO_KERNEL(RUN_GROUP)
void combine_heads(__global const ordo_key *keys, uint n, __global uchar *heads)
{
    RUN_EACH (uint, j, n)
        heads[j] = j == 0 || keys[j] != keys[j - 1];
}

/* values[j]: in, all that the batch brings for key j up to here; out, combined with before[j] where the key was found. Of
 * equal keys the last is complete. */
ORDO_KERNEL(RUN_GROUP)
void combine_stored(__global const uchar *found, __global const merge_value *before, uint n,
                    __global merge_value *values)
{
    RUN_EACH (uint, j, n)
        if (found[j])
            values[j] = value_combine(before[j], values[j]);
}
