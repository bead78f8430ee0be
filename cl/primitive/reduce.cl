/* SPDX-License-Identifier: Apache-2.0 */
/* The sum, minimum or maximum of an array: each group folds a range of tiles, then one group folds the results. Every
 * fold here is of an associative and commutative operation on integers, so the grouping does not show in the result.
 *
 *   ORDO_KEY, FOLD_OP        what is folded (group/fold.cl)
 *   FOLD_GROUP, TILE_ITEMS   tuning: work-items per group, keys per work-item
 */
#pragma once
#include "device/compiler.cl"
#include "group/fold.cl"

#if FOLD_GROUP == 1

#ifndef TILE_ITEMS
#define TILE_ITEMS 4096
#endif

/* This work-item's share of tiles first_tile .. end_tile - 1: all of them. */
ORDO_FN fold_item reduce_tiles(__global const ordo_key *in, uint count, uint shift, uint first_tile, uint end_tile)
{
    const uint end = (uint) min((ulong) end_tile * TILE_ITEMS, (ulong) count);
    fold_item  sum = fold_identity();

    for (uint i = first_tile * TILE_ITEMS; i < end; i++)
        sum = fold(sum, fold_make(fold_value_of(in[i]), 0));
    return sum;
}

#else
#include "group/tile.cl"

/* Built together: reduce_keys reduce_sums */

/* This work-item's share of tiles first_tile .. end_tile - 1. From uniform control flow of the group. */
ORDO_FN fold_item reduce_tiles(__global const ordo_key *in, uint count, uint shift, uint first_tile, uint end_tile)
{
    fold_item sum = fold_identity();

    for (uint tile = first_tile; tile < end_tile; tile++) {
        tile_keys keys;
        tile_load(in, count, shift, tile, fold_key_of(FOLD_IDENTITY), &keys);
        ORDO_UNROLL
        for (uint k = 0; k < TILE_ITEMS; k++)
            sum = fold(sum, fold_make(fold_value_of(keys.key[k]), 0));
    }
    return sum;
}

#endif

/* Group g folds tiles g * range .. g * range + range - 1 of `tiles`, into sums[g], or, being the only one, into *out
 * (if `last`). */
ORDO_KERNEL(FOLD_GROUP)
void reduce_keys(__global const ordo_key *in, ulong in_at, uint count, uint shift, uint tiles, uint range,
                 __global fold_item *sums, __global ordo_key *out, ulong out_at, uint last)
{
    __local fold_scratch scratch;
    const uint           group = (uint) get_group_id(0);
    const uint           first = group * range;
    const fold_item      mine = reduce_tiles(in + in_at, count, shift, first, first + min(range, tiles - first));
    const fold_item      sum = group_fold(mine, &scratch);

    if (get_local_id(0) == 0 && last)
        out[out_at] = fold_key_of(fold_value(sum));
    if (get_local_id(0) == 0 && !last)
        sums[group] = sum;
}

/* *out = the fold of sums[0 .. count - 1]; of none, the identity. */
ORDO_KERNEL(FOLD_GROUP)
void reduce_sums(__global const fold_item *sums, uint count, __global ordo_key *out, ulong out_at)
{
    __local fold_scratch scratch;
    const fold_item      sum = group_fold_items(sums, count, &scratch);

    if (get_local_id(0) == 0)
        out[out_at] = fold_key_of(fold_value(sum));
}
