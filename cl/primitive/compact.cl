/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the keys and values whose flag is not 0, in order: a scan over the flags says where each goes.
 *
 * The two ways of primitive/scan.cl: look-back (compact_lookback), or counts of ranges first (compact_counts,
 * compact_ranges).
 *
 *   COMPACT_KEY_BYTES, COMPACT_VALUE_BYTES   4 or 8; 0, 4 or 8: raw words
 *   FOLD_GROUP, TILE_ITEMS                   tuning: work-items per group, elements per work-item
 *   SCAN_LOOKBACK                            tuning: which way
 *
 * Counts are 32-bit sums of group/fold.cl, whatever the keys.
 *
 * Order in registers, "rows of lanes": a team's part of a tile is TILE_ITEMS rows of TEAM_WIDTH elements, and lane l
 * has element l of each. One ballot per row ranks its elements, and what is kept of a row is written side by side.
 */
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
#if FOLD_GROUP > 1 && TILE_ITEMS > 32
#error "TILE_ITEMS must be at most 32: a work-item holds its flags in one word"
#endif

#if COMPACT_KEY_BYTES == 4
typedef uint compact_key;
#else
typedef ulong compact_key;
#endif
#if COMPACT_VALUE_BYTES == 8
typedef ulong compact_value;
#else
typedef uint  compact_value; /* with COMPACT_VALUE_BYTES 0 there are none */
#endif

#define TILE_SIZE ((uint) (FOLD_GROUP * TILE_ITEMS))

typedef struct {
    __global const compact_key   *keys;
    __global const compact_value *values;
    __global const uchar         *flags;
    __global compact_key         *keys_out;
    __global compact_value       *values_out;
    uint                          count;
} compact_arrays;

#define LOOKBACK_INPUT compact_arrays

ORDO_FN compact_arrays compact_arrays_at(__global const compact_key *keys, ulong keys_at,
                                         __global const compact_value *values, ulong values_at,
                                         __global const uchar *flags, ulong flags_at, __global compact_key *keys_out,
                                         ulong keys_out_at, __global compact_value *values_out, ulong values_out_at,
                                         uint count)
{
    compact_arrays a;
    a.keys = keys + keys_at;
    a.values = values + values_at;
    a.flags = flags + flags_at;
    a.keys_out = keys_out + keys_out_at;
    a.values_out = values_out + values_out_at;
    a.count = count;
    return a;
}

/* ---- tiles ----------------------------------------------------------------------------------------------------- */

#if FOLD_GROUP == 1

/* One work-item's tile: elements first .. end - 1. */
typedef struct {
    uint first, end;
} compact_tile;

ORDO_FN void compact_tile_load(__private const compact_arrays *a, uint tile, __private compact_tile *t)
{
    t->first = tile * TILE_SIZE;
    t->end = t->first + min(TILE_SIZE, a->count - t->first);
}

/* Nothing to do: what is kept is read when it is written. */
ORDO_FN void compact_tile_load_kept(__private const compact_arrays *a, uint tile, __private compact_tile *t)
{
}

/* The number that this work-item's share of the tile keeps; that the tile keeps. */
ORDO_FN uint compact_tile_share(__private const compact_arrays *a, __private const compact_tile *t)
{
    uint kept = 0;

    for (uint i = t->first; i < t->end; i++)
        kept += a->flags[i] != 0;
    return kept;
}

ORDO_FN uint compact_tile_count(__private const compact_arrays *a, __private compact_tile *t,
                                __local fold_scratch *scratch)
{
    return compact_tile_share(a, t);
}

/* Writes what the tile keeps, `own` elements, from element `at` on. Each element is written where the next kept one
 * goes, kept or not: what is not is overwritten by what is, and there is no branch to guess. Nothing is written behind
 * the last kept one, where another tile's elements may be. */
ORDO_FN void compact_tile_write(__private const compact_arrays *a, __private const compact_tile *t, uint at, uint own)
{
    const uint end = at + own;

    for (uint i = t->first; at < end; i++) {
        a->keys_out[at] = a->keys[i];
#if COMPACT_VALUE_BYTES
        a->values_out[at] = a->values[i];
#endif
        at += a->flags[i] != 0;
    }
}

#else

/* A group's tile in registers; what is not kept is not loaded. */
typedef struct {
    compact_key   key[TILE_ITEMS];
#if COMPACT_VALUE_BYTES
    compact_value value[TILE_ITEMS];
#endif
    uint          flags;  /* a bit per element */
    uint          before; /* kept by the tile's teams before this one */
} compact_tile;

/* The element of this lane in a row of a tile. */
ORDO_FN uint compact_element(uint tile, uint row)
{
    return tile * TILE_SIZE + (team_index() * TILE_ITEMS + row) * TEAM_WIDTH + team_lane();
}

/* Loads this lane's flags of a tile. */
ORDO_FN void compact_tile_load(__private const compact_arrays *a, uint tile, __private compact_tile *t)
{
    t->flags = 0;
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        const uint i = compact_element(tile, r);
        if (i < a->count)
            t->flags |= (uint) (a->flags[i] != 0) << r;
    }
}

/* Loads what is kept. */
ORDO_FN void compact_tile_load_kept(__private const compact_arrays *a, uint tile, __private compact_tile *t)
{
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        if (t->flags >> r & 1) {
            t->key[r] = a->keys[compact_element(tile, r)];
#if COMPACT_VALUE_BYTES
            t->value[r] = a->values[compact_element(tile, r)];
#endif
        }
    }
}

/* The number that this work-item's share of the tile keeps. */
ORDO_FN uint compact_tile_share(__private const compact_arrays *a, __private const compact_tile *t)
{
    return popcount(t->flags);
}

/* The number that the tile keeps, in all work-items. By the whole group, from uniform control flow; barriers as
 * group_fold_before. */
ORDO_FN uint compact_tile_count(__private const compact_arrays *a, __private compact_tile *t,
                                __local fold_scratch *scratch)
{
    fold_item total;

    t->before = group_fold_before(team_reduce_add(compact_tile_share(a, t)), scratch, &total);
    return total;
}

/* Writes what a tile keeps, `own` elements, from element `at` on. By the whole group, from uniform control flow. */
ORDO_FN void compact_tile_write(__private const compact_arrays *a, __private const compact_tile *t, uint at, uint own)
{
    uint row_at = at + t->before;

    ORDO_UNROLL
    for (uint r = 0; r < TILE_ITEMS; r++) {
        const bool      kept = t->flags >> r & 1;
        const team_mask lanes = team_ballot(kept);
        const uint      to = row_at + mask_count(lanes & team_lanes_below());
        if (kept) {
            a->keys_out[to] = t->key[r];
#if COMPACT_VALUE_BYTES
            a->values_out[to] = t->value[r];
#endif
        }
        row_at += mask_count(lanes);
    }
}

#endif

/* ---- kernels --------------------------------------------------------------------------------------------------- */

#if SCAN_LOOKBACK

ORDO_FN fold_item lookback_refold(__private const compact_arrays *a, uint tile)
{
    uint kept = 0;

    for (uint i = team_lane(); i < TILE_SIZE; i += TEAM_WIDTH)
        kept += a->flags[tile * TILE_SIZE + i] != 0;
    return team_reduce_add(kept);
}

#include "group/lookback.cl"

typedef struct {
    fold_scratch scratch;
    fold_item    before;
    uint         ticket;
} compact_local;

/* Compacts one tile per group. `state`, `stamp`: see lookback_state. */
ORDO_KERNEL(FOLD_GROUP)
void compact_lookback(__global const compact_key *keys, ulong keys_at, __global const compact_value *values,
                      ulong values_at, __global const uchar *flags, ulong flags_at, __global compact_key *keys_out,
                      ulong keys_out_at, __global compact_value *values_out, ulong values_out_at, uint count,
                      uint tiles, __global uint *kept, ulong kept_at, __global uint *state, uint stamp)
{
    __local compact_local local_memory;
    const compact_arrays a = compact_arrays_at(keys, keys_at, values, values_at, flags, flags_at, keys_out, keys_out_at,
                                               values_out, values_out_at, count);
    const lookback_state s = lookback_state_at(state, stamp);
    const uint           tile = lookback_ticket(s, &local_memory.ticket);
    compact_tile         t;

    compact_tile_load(&a, tile, &t);
    compact_tile_load_kept(&a, tile, &t);
    const fold_item own = compact_tile_count(&a, &t, &local_memory.scratch);
    if (get_local_id(0) == 0)
        lookback_announce(s, tile, own, false);
    const fold_item before = lookback_prefix(&a, s, tile, own, false, &local_memory.before);
    compact_tile_write(&a, &t, before, own);
    if (tile == tiles - 1 && get_local_id(0) == 0)
        kept[kept_at] = before + own;
}

#else

/* counts[g] = what group g's range keeps: tiles g * range .. g * range + range - 1 of `tiles`. */
ORDO_KERNEL(FOLD_GROUP)
void compact_counts(__global const uchar *flags, ulong flags_at, uint count, uint tiles, uint range,
                    __global fold_item *counts)
{
    __local fold_scratch scratch;
    const compact_arrays a = compact_arrays_at(0, 0, 0, 0, flags, flags_at, 0, 0, 0, 0, count);
    const uint           first = (uint) get_group_id(0) * range;
    const uint           end = first + min(range, tiles - first);
    uint                 kept = 0;
    compact_tile         t;

    for (uint tile = first; tile < end; tile++) {
        compact_tile_load(&a, tile, &t);
        kept += compact_tile_share(&a, &t);
    }
    const fold_item sum = group_fold(kept, &scratch);
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = sum;
}

#endif

/* Compacts each group's range, given the counts of all ranges. */
ORDO_KERNEL(FOLD_GROUP)
void compact_ranges(__global const compact_key *keys, ulong keys_at, __global const compact_value *values,
                    ulong values_at, __global const uchar *flags, ulong flags_at, __global compact_key *keys_out,
                    ulong keys_out_at, __global compact_value *values_out, ulong values_out_at, uint count, uint tiles,
                    uint range, __global const fold_item *counts, __global uint *kept, ulong kept_at)
{
    __local fold_scratch scratch;
    const compact_arrays a = compact_arrays_at(keys, keys_at, values, values_at, flags, flags_at, keys_out, keys_out_at,
                                               values_out, values_out_at, count);
    const uint           group = (uint) get_group_id(0);
    const uint           end = group * range + min(range, tiles - group * range);
    uint                 at = group_fold_items(counts, group, &scratch);
    compact_tile         t;

    for (uint tile = group * range; tile < end; tile++) {
        compact_tile_load(&a, tile, &t);
        compact_tile_load_kept(&a, tile, &t);
#if FOLD_GROUP > 1
        barrier(CLK_LOCAL_MEM_FENCE); /* before scratch is written again */
#endif
        const uint own = compact_tile_count(&a, &t, &scratch);
        compact_tile_write(&a, &t, at, own);
        at += own;
    }
    if (end == tiles && get_local_id(0) == 0)
        kept[kept_at] = at;
}
