/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sums, minima and maxima, also within segments.
 *
 * Two ways. Look-back (scan_lookback): one launch, every element read once and written once; groups wait, bounded, for
 * groups that have started. Reduce-then-scan (scan_sums, scan_ranges): each group folds its own range of tiles; then
 * each adds up the folds of the ranges before its own and scans its range: two launches, elements read twice, nobody
 * waits. What one group can do at once is scan_ranges alone.
 *
 *   ORDO_KEY, FOLD_OP, FOLD_SEGMENTED   what is scanned (group/fold.cl)
 *   FOLD_GROUP, TILE_ITEMS              tuning: work-items per group, keys per work-item
 *   SCAN_LOOKBACK                       tuning: which way
 *
 * With FOLD_GROUP 1 (CPUs) a tile is TILE_ITEMS neighbours that one work-item reads from its cache twice.
 */
#pragma once
#include "device/compiler.cl"
#include "group/fold.cl"
#if FOLD_GROUP > 1
#include "group/tile.cl"
#endif

#ifndef SCAN_LOOKBACK
#define SCAN_LOOKBACK 0
#endif

/* The arrays of a call; `shift` is that of group/tile.cl. */
typedef struct {
    __global const ordo_key *in;
    __global const uchar    *heads; /* FOLD_SEGMENTED */
    __global ordo_key       *out;
    uint                     count, shift;
    bool                     inclusive;
} scan_arrays;

#define LOOKBACK_INPUT scan_arrays

ORDO_FN scan_arrays scan_arrays_at(__global const ordo_key *in, ulong in_at, __global const uchar *heads,
                                   ulong heads_at, __global ordo_key *out, ulong out_at, uint count, uint shift,
                                   uint inclusive)
{
    scan_arrays a;
    a.in = in + in_at;
    a.heads = heads + heads_at;
    a.out = out + out_at;
    a.count = count;
    a.shift = shift;
    a.inclusive = inclusive != 0;
    return a;
}

ORDO_FN fold_item scan_item(__private const scan_arrays *a, uint i)
{
#if FOLD_SEGMENTED
    return fold_make(fold_value_of(a->in[i]), a->heads[i] != 0);
#else
    return fold_make(fold_value_of(a->in[i]), 0);
#endif
}

/* The fold of items first .. end - 1 by one work-item. */
ORDO_FN fold_item scan_fold(__private const scan_arrays *a, uint first, uint end)
{
    fold_item sum = fold_identity();

    for (uint i = first; i < end; i++)
        sum = fold(sum, scan_item(a, i));
    return sum;
}

/* ---- tiles ----------------------------------------------------------------------------------------------------- */

#if FOLD_GROUP == 1

#ifndef TILE_ITEMS
#define TILE_ITEMS 4096
#endif
#define TILE_SIZE ((uint) TILE_ITEMS)

/* One work-item's tile: items first .. end - 1. */
typedef struct {
    uint first, end;
} scan_tile;

ORDO_FN scan_tile scan_tile_at(__private const scan_arrays *a, uint tile)
{
    scan_tile t;
    t.first = tile * TILE_SIZE;
    t.end = t.first + min(TILE_SIZE, a->count - t.first);
    return t;
}

ORDO_FN fold_item scan_tile_fold(__private const scan_arrays *a, uint tile, __private scan_tile *t,
                                 __local fold_scratch *scratch)
{
    *t = scan_tile_at(a, tile);
    return scan_fold(a, t->first, t->end);
}

/* Writes items; `before`: the fold of all that precedes them. Returns the fold up to their end. */
ORDO_FN fold_item scan_write(__private const scan_arrays *a, __private const scan_tile *t, fold_item before)
{
    if (a->inclusive) {
        for (uint i = t->first; i < t->end; i++) {
            before = fold(before, scan_item(a, i));
            a->out[i] = fold_key_of(fold_value(before));
        }
        return before;
    }
    for (uint i = t->first; i < t->end; i++) {
        const fold_item x = scan_item(a, i);
        a->out[i] = fold_key_of(fold_head(x) ? FOLD_IDENTITY : fold_value(before));
        before = fold(before, x);
    }
    return before;
}

ORDO_FN void scan_tile_write(__private const scan_arrays *a, uint tile, __private const scan_tile *t, fold_item before)
{
    (void) scan_write(a, t, before);
}

ORDO_FN fold_item scan_whole_tile(__private const scan_arrays *a, uint tile, fold_item before,
                                  __local fold_scratch *scratch)
{
    const scan_tile t = scan_tile_at(a, tile);

    return scan_write(a, &t, before);
}

ORDO_FN fold_item lookback_refold(__private const scan_arrays *a, uint tile)
{
    return scan_fold(a, tile * TILE_SIZE, tile * TILE_SIZE + TILE_SIZE);
}

#else

/* A group's tile in registers. row[r]: the fold of what lies in the tile before this lane's keys of row r. */
typedef struct {
    tile_keys keys;
    uint heads; /* a bit per key */
    fold_item row[TILE_ROWS];
} scan_tile;

ORDO_FN fold_item scan_tile_item(__private const scan_tile *t, uint k)
{
    return fold_make(fold_value_of(t->keys.key[k]), t->heads >> k & 1);
}

/* Fills t->row with folds within the team's part of the tile; returns the fold of that part. */
ORDO_FN fold_item scan_rows(__private scan_tile *t)
{
    fold_item before = fold_identity();

    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        fold_item mine = scan_tile_item(t, r * TILE_VECTOR);
        ORDO_UNROLL
        for (uint v = 1; v < TILE_VECTOR; v++)
            mine = fold(mine, scan_tile_item(t, r * TILE_VECTOR + v));
        const fold_item upto = team_fold_upto(mine);
        t->row[r] = fold(before, team_fold_before(upto));
        before = fold(before, team_item(upto, TEAM_WIDTH - 1));
    }
    return before;
}

/* Loads a tile and folds it; the tile's fold, in all work-items. By the whole group, from uniform control flow;
 * barriers as group_fold_before. */
ORDO_FN fold_item scan_tile_fold(__private const scan_arrays *a, uint tile, __private scan_tile *t,
                                 __local fold_scratch *scratch)
{
    fold_item total;

    tile_load(a->in, a->count, a->shift, tile, fold_key_of(FOLD_IDENTITY), &t->keys);
#if FOLD_SEGMENTED
    t->heads = tile_load_flags(a->heads, a->count, a->shift, tile);
#else
    t->heads = 0;
#endif
    const fold_item teams = group_fold_before(scan_rows(t), scratch, &total);
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++)
        t->row[r] = fold(teams, t->row[r]);
    return total;
}

/* What is written for item x, where `before` is the fold of what precedes it and `upto` that with x. */
ORDO_FN ordo_key scan_result(__private const scan_arrays *a, fold_item before, fold_item x, fold_item upto)
{
    const ordo_key exclusive = fold_head(x) ? FOLD_IDENTITY : fold_value(before);

    return fold_key_of(a->inclusive ? fold_value(upto) : exclusive);
}

/* Writes a tile; `before`: the fold of all that precedes it. By the whole group, from uniform control flow. */
ORDO_FN void scan_tile_write(__private const scan_arrays *a, uint tile, __private const scan_tile *t, fold_item before)
{
    tile_keys out;

    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        fold_item left = fold(before, t->row[r]);
        ORDO_UNROLL
        for (uint v = 0; v < TILE_VECTOR; v++) {
            const fold_item x = scan_tile_item(t, r * TILE_VECTOR + v);
            const fold_item upto = fold(left, x);
            out.key[r * TILE_VECTOR + v] = scan_result(a, left, x, upto);
            left = upto;
        }
    }
    tile_store(a->out, a->count, a->shift, tile, &out);
}

/* Scans a tile; `before`: the fold of all that precedes it. Returns the fold up to the tile's end. By the whole group,
 * from uniform control flow; barriers before and after scratch is written. */
ORDO_FN fold_item scan_whole_tile(__private const scan_arrays *a, uint tile, fold_item before,
                                  __local fold_scratch *scratch)
{
    scan_tile t;

    barrier(CLK_LOCAL_MEM_FENCE);
    const fold_item own = scan_tile_fold(a, tile, &t, scratch);
    scan_tile_write(a, tile, &t, before);
    return fold(before, own);
}

ORDO_FN fold_item lookback_refold(__private const scan_arrays *a, uint tile)
{
    const uint part = TILE_SIZE / TEAM_WIDTH;
    const uint first = tile * TILE_SIZE + team_lane() * part;
    fold_item sum = fold_identity();

    for (uint p = first; p < first + part; p++)
        if (p - a->shift < a->count)
            sum = fold(sum, scan_item(a, p - a->shift));
    return team_fold(sum);
}

#endif

/* ---- kernels --------------------------------------------------------------------------------------------------- */

/* Scans each group's range, given the folds of all ranges. */
ORDO_KERNEL(FOLD_GROUP)
void scan_ranges(__global const ordo_key *in, ulong in_at, __global const uchar *heads, ulong heads_at,
                 __global ordo_key *out, ulong out_at, uint count, uint shift, uint inclusive, uint tiles, uint range,
                 __global const fold_item *sums)
{
    __local fold_scratch scratch;
    const scan_arrays    a = scan_arrays_at(in, in_at, heads, heads_at, out, out_at, count, shift, inclusive);
    const uint           group = (uint) get_group_id(0);
    const uint           end = group * range + min(range, tiles - group * range);
    fold_item            before = group_fold_items(sums, group, &scratch);

    for (uint tile = group * range; tile < end; tile++)
        before = scan_whole_tile(&a, tile, before, &scratch);
}

#if SCAN_LOOKBACK
#include "group/lookback.cl"

typedef struct {
    fold_scratch scratch;
    fold_item    before;
    uint         ticket;
} scan_local;

/* Scans one tile per group. `state`, `stamp`: see lookback_state. */
ORDO_KERNEL(FOLD_GROUP)
void scan_lookback(__global const ordo_key *in, ulong in_at, __global const uchar *heads, ulong heads_at,
                   __global ordo_key *out, ulong out_at, uint count, uint shift, uint inclusive, uint in_place,
                   __global uint *state, uint stamp)
{
    __local scan_local   local_memory;
    const scan_arrays    a = scan_arrays_at(in, in_at, heads, heads_at, out, out_at, count, shift, inclusive);
    const lookback_state s = lookback_state_at(state, stamp);
    const uint           tile = lookback_ticket(s, &local_memory.ticket);
    scan_tile            t;

    const fold_item own = scan_tile_fold(&a, tile, &t, &local_memory.scratch);
    if (get_local_id(0) == 0)
        lookback_announce(s, tile, own, in_place != 0);
    const fold_item before = lookback_prefix(&a, s, tile, own, in_place != 0, &local_memory.before);
    scan_tile_write(&a, tile, &t, before);
}

#else

/* sums[g] = the fold of group g's range: tiles g * range .. g * range + range - 1 of `tiles`. */
ORDO_KERNEL(FOLD_GROUP)
void scan_sums(__global const ordo_key *in, ulong in_at, __global const uchar *heads, ulong heads_at, uint count,
               uint shift, uint tiles, uint range, __global fold_item *sums)
{
    __local fold_scratch scratch;
    const scan_arrays a = scan_arrays_at(in, in_at, heads, heads_at, 0, 0, count, shift, 0);
    const uint group = (uint) get_group_id(0);
    const uint end = group * range + min(range, tiles - group * range);
    fold_item sum = fold_identity();
    scan_tile t;

    for (uint tile = group * range; tile < end; tile++) {
        sum = fold(sum, scan_tile_fold(&a, tile, &t, &scratch));
#if FOLD_GROUP > 1
        barrier(CLK_LOCAL_MEM_FENCE); /* before scratch is written again */
#endif
    }
    if (get_local_id(0) == 0)
        sums[group] = sum;
}

#endif
