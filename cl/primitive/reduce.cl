/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the sum, minimum or maximum of an array. Each work-group reduces a range of tiles. If SCAN_LOOKBACK is 1,
 * the group that finishes last combines the results of all groups. Otherwise kernel reduce_sums does. */
#pragma once
#include "device/compiler.cl"
#include "group/fold.cl"

#ifndef SCAN_LOOKBACK
#define SCAN_LOOKBACK 0
#endif

#if FOLD_GROUP == 1

#ifndef TILE_ITEMS
#define TILE_ITEMS 4096
#endif

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

/* The whole group must call. */
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

/* Only work-item 0 gets the result. The whole group must call. */
ORDO_FN fold_item reduce_range(__global const ordo_key *in, uint count, uint shift, uint tiles, uint range,
                               __local fold_scratch *scratch)
{
    const uint      first = (uint) get_group_id(0) * range;
    const fold_item mine = reduce_tiles(in, count, shift, first, first + min(range, tiles - first));
    return group_fold(mine, scratch);
}

#if SCAN_LOOKBACK
#define GROUP_SIZE FOLD_GROUP
#include "device/atomic.cl"
#include "group/last_group.cl"

typedef struct {
    fold_scratch scratch;
    uint         is_last;
} reduce_local;

#if FOLD_BITS == 64
typedef volatile __global ulong *reduce_left;
#define reduce_store_uncached ordo_store_uncached64
#define reduce_load_uncached  ordo_load_uncached64
#else
typedef volatile __global uint *reduce_left;
#define reduce_store_uncached ordo_store_uncached
#define reduce_load_uncached  ordo_load_uncached
#endif

/* The whole group that finishes last must call. */
ORDO_FN fold_item reduce_all(reduce_left left, uint count, __local fold_scratch *scratch)
{
    fold_item sum = fold_identity();
    for (uint i = get_local_id(0); i < count; i += FOLD_GROUP)
        sum = fold(sum, fold_make(reduce_load_uncached(&left[i]), 0));
    return group_fold(sum, scratch);
}

/* *ticket must be 0 before, and is 0 after. */
ORDO_KERNEL(FOLD_GROUP)
void reduce_once(__global const ordo_key *in, ulong in_at, uint count, uint shift, uint tiles, uint range,
                 reduce_left left, __global ordo_key *out, ulong out_at, volatile __global uint *ticket)
{
    __local reduce_local local_memory;
    const uint           groups = (uint) get_num_groups(0);
    fold_item            sum = reduce_range(in + in_at, count, shift, tiles, range, &local_memory.scratch);
    bool                 is_last = true;
    if (groups > 1) {
        if (get_local_id(0) == 0)
            reduce_store_uncached(&left[get_group_id(0)], fold_value(sum));
        is_last = group_is_last(ticket, groups, &local_memory.is_last);
        if (is_last)
            sum = reduce_all(left, groups, &local_memory.scratch);
    }
    if (get_local_id(0) == 0 && is_last)
        out[out_at] = fold_key_of(fold_value(sum));
}

#else

/* Built together: reduce_keys reduce_sums */

/* Reduces each group's tiles. If `last` is 0, sums[g] gets the result of group g. If `last` is 1, out[out_at] gets the
 * result, and there must be only one group. */
ORDO_KERNEL(FOLD_GROUP)
void reduce_keys(__global const ordo_key *in, ulong in_at, uint count, uint shift, uint tiles, uint range,
                 __global fold_item *sums, __global ordo_key *out, ulong out_at, uint last)
{
    __local fold_scratch scratch;
    const fold_item      sum = reduce_range(in + in_at, count, shift, tiles, range, &scratch);
    if (get_local_id(0) == 0 && last)
        out[out_at] = fold_key_of(fold_value(sum));
    if (get_local_id(0) == 0 && !last)
        sums[get_group_id(0)] = sum;
}

ORDO_KERNEL(FOLD_GROUP)
void reduce_sums(__global const fold_item *sums, uint count, __global ordo_key *out, ulong out_at)
{
    __local fold_scratch scratch;
    const fold_item      sum = group_fold_items(sums, count, &scratch);
    if (get_local_id(0) == 0)
        out[out_at] = fold_key_of(fold_value(sum));
}

#endif
