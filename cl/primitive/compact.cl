/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the elements whose flag is not 0 to the output, in their order. */
#pragma once
#include "device/compiler.cl"
#include "group/fold.cl"

#ifndef COMPACT_KEY_BYTES
#define COMPACT_KEY_BYTES 4
#endif
#ifndef COMPACT_VALUE_BYTES
#define COMPACT_VALUE_BYTES 0
#endif
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#ifndef SCAN_LOOKBACK
#define SCAN_LOOKBACK 0
#endif
#if FOLD_GROUP > 1 && TILE_ITEMS > TILE_ITEMS_MAX
#error "TILE_ITEMS must be at most TILE_ITEMS_MAX: a work-item holds its flags in one word"
#endif

#if COMPACT_KEY_BYTES == 4
typedef uint compact_key;
#elif COMPACT_KEY_BYTES == 8
typedef ulong  compact_key;
#else
typedef ulong2 compact_key;
#endif
#if COMPACT_VALUE_BYTES == 8
typedef ulong compact_value;
#elif COMPACT_VALUE_BYTES == 16
typedef ulong2 compact_value;
#else
typedef uint   compact_value;
#endif

#define TILE_SIZE ((uint) (FOLD_GROUP * TILE_ITEMS))

typedef struct {
    __global const compact_key   *keys;
    __global const compact_value *values;
    __global const uchar         *flags;
    __global compact_key         *keys_out;
    __global compact_value       *values_out;
    uint                          count;
    __global uint                *kept;
} compact_arrays;

#define LOOKBACK_INPUT compact_arrays

#define COMPACT_ARGS                                                                                                   \
    __global const compact_key *keys, ulong keys_at, __global const compact_value *values, ulong values_at,            \
        __global const uchar *flags, ulong flags_at, __global compact_key *keys_out, ulong keys_out_at,                \
        __global compact_value *values_out, ulong values_out_at, uint count, __global uint *kept, ulong kept_at
#define COMPACT_ARRAYS                                                                                                 \
    {                                                                                                                  \
        keys + keys_at, values + values_at, flags + flags_at, keys_out + keys_out_at, values_out + values_out_at,      \
            count, kept + kept_at                                                                                      \
    }

#if FOLD_GROUP == 1

typedef struct {
    uint first, end, own;
} input_tile;

ORDO_FN void compact_load_flags(__private const compact_arrays *a, uint tile, __private input_tile *t)
{
    t->first = tile * TILE_SIZE;
    t->end = t->first + min(TILE_SIZE, a->count - t->first);
}

ORDO_FN uint compact_share(__private const compact_arrays *a, __private const input_tile *t)
{
    uint kept = 0;
    for (uint i = t->first; i < t->end; i++)
        kept += a->flags[i] != 0;
    return kept;
}

ORDO_FN fold_item tile_fold(__private const compact_arrays *a, uint tile, __private input_tile *t,
                            __local fold_scratch *scratch)
{
    compact_load_flags(a, tile, t);
    t->own = compact_share(a, t);
    return t->own;
}

/* To avoid a branch, also writes elements whose flag is 0. The next element overwrites them. The loop must stop at
 * `end`, where the output of the next tile begins. */
ORDO_FN void tile_write(__private const compact_arrays *a, uint tile, __private const input_tile *t, fold_item at)
{
    const uint end = at + t->own;
    for (uint i = t->first; at < end; i++) {
        a->keys_out[at] = a->keys[i];
        if (COMPACT_VALUE_BYTES)
            a->values_out[at] = a->values[i];
        at += a->flags[i] != 0;
    }
    if (t->end == a->count)
        *a->kept = end;
}

#else

/* The elements of one work-item. If bit r of `flags` is 1, element r is copied. `own` is the number of elements that
 * the whole work-group copies. `before` is the number that the group's earlier teams copy. */
typedef struct {
    compact_key   key[TILE_ITEMS];
    compact_value value[TILE_ITEMS];
    uint          flags;
    uint          before;
    uint          own;
} input_tile;

ORDO_FN uint compact_element(uint tile, uint row)
{
    return tile * TILE_SIZE + (team_index() * TILE_ITEMS + row) * TEAM_WIDTH + team_lane();
}

ORDO_FN void compact_load_flags(__private const compact_arrays *a, uint tile, __private input_tile *t)
{
    t->flags = 0;
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        const uint i = compact_element(tile, r);
        if (i < a->count)
            t->flags |= (uint) (a->flags[i] != 0) << r;
    }
}

ORDO_FN uint compact_share(__private const compact_arrays *a, __private const input_tile *t)
{
    return popcount(t->flags);
}

ORDO_FN fold_item tile_fold(__private const compact_arrays *a, uint tile, __private input_tile *t,
                            __local fold_scratch *scratch)
{
    compact_load_flags(a, tile, t);
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        if (t->flags >> r & 1) {
            t->key[r] = a->keys[compact_element(tile, r)];
            if (COMPACT_VALUE_BYTES)
                t->value[r] = a->values[compact_element(tile, r)];
        }
    }
    fold_item own;
    t->before = (uint) group_fold_before(team_reduce_add(compact_share(a, t)), scratch, &own);
    t->own = (uint) own;
    return own;
}

ORDO_FN void tile_write(__private const compact_arrays *a, uint tile, __private const input_tile *t, fold_item at)
{
    uint row_at = at + t->before;
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        const bool      kept = t->flags >> r & 1;
        const team_mask lanes = team_ballot(kept);
        const uint      to = row_at + mask_count(lanes & team_lanes_below());
        if (kept) {
            a->keys_out[to] = t->key[r];
            if (COMPACT_VALUE_BYTES)
                a->values_out[to] = t->value[r];
        }
        row_at += mask_count(lanes);
    }
    if (get_local_id(0) == 0 && a->count - tile * TILE_SIZE <= TILE_SIZE)
        *a->kept = at + t->own;
}

#endif

ORDO_FN fold_item tile_whole(__private const compact_arrays *a, uint tile, fold_item before,
                             __local fold_scratch *scratch)
{
    input_tile t;
#if FOLD_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    const fold_item own = tile_fold(a, tile, &t, scratch);
    tile_write(a, tile, &t, before);
    return before + own;
}

ORDO_FN fold_item lookback_refold(__private const compact_arrays *a, uint tile)
{
    uint kept = 0;
    for (uint i = team_lane(); i < TILE_SIZE; i += TEAM_WIDTH)
        kept += a->flags[tile * TILE_SIZE + i] != 0;
    return team_reduce_add(kept);
}

#include "group/tiles.cl"

ORDO_KERNEL(FOLD_GROUP)
void compact_ranges(COMPACT_ARGS, uint tiles, uint range, __global const fold_item *counts)
{
    __local fold_scratch scratch;
    const compact_arrays a = COMPACT_ARRAYS;
    tiles_ranges(&a, tiles, range, counts, &scratch);
}

#if SCAN_LOOKBACK

ORDO_KERNEL(FOLD_GROUP)
void compact_lookback(COMPACT_ARGS, __global uint *state, uint stamp)
{
    __local tiles_local  l;
    const compact_arrays a = COMPACT_ARRAYS;
    tiles_look_back(&a, false, state, stamp, &l);
}

#else

/* Sets counts[g] to the number of elements to copy from range g of the tiles. With FOLD_GROUP 1 (CPUs), this launch
 * already copies range 0. */
ORDO_KERNEL(FOLD_GROUP)
void compact_counts(COMPACT_ARGS, uint tiles, uint range, __global fold_item *counts)
{
    __local fold_scratch scratch;
    const compact_arrays a = COMPACT_ARRAYS;
#if FOLD_GROUP == 1
    tiles_sums(&a, tiles, range, counts, &scratch);
#else
    const uint group = (uint) get_group_id(0), end = tiles_end(tiles, range, group);
    uint       mine = 0;
    input_tile t;
    for (uint tile = group * range; tile < end; tile++) {
        compact_load_flags(&a, tile, &t);
        mine += compact_share(&a, &t);
    }
    const fold_item sum = group_fold(mine, &scratch);
    if (get_local_id(0) == 0)
        counts[group] = sum;
#endif
}

#endif
