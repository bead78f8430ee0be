/* SPDX-License-Identifier: Apache-2.0 */
/* Computes prefix sums (or minima or maxima) of an array, or of each of its segments (group/tiles.cl). The host defines
 * ORDO_KEY, FOLD_OP and FOLD_SEGMENTED (group/fold.cl). */
#pragma once
#include "device/compiler.cl"
#include "group/fold.cl"
#if FOLD_GROUP > 1
#include "group/tile.cl"
#endif

#ifndef SCAN_LOOKBACK
#define SCAN_LOOKBACK 0
#endif

typedef struct {
    __global const ordo_key *in;
    __global const uchar    *heads;
    __global ordo_key       *out;
    uint                     count, shift;
    bool                     inclusive;
} scan_arrays;

#define LOOKBACK_INPUT scan_arrays

#define SCAN_ARGS                                                                                                      \
    __global const ordo_key *in, ulong in_at, __global const uchar *heads, ulong heads_at, __global ordo_key *out,     \
        ulong out_at, uint count, uint shift, uint inclusive, uint in_place
#define SCAN_ARRAYS                                                                                                    \
    {                                                                                                                  \
        in + in_at, heads + heads_at, out + out_at, count, shift, inclusive != 0                                       \
    }

ORDO_FN fold_item scan_item(__private const scan_arrays *a, uint i)
{
#if FOLD_SEGMENTED
    return fold_make(fold_value_of(a->in[i]), a->heads[i] != 0);
#else
    return fold_make(fold_value_of(a->in[i]), 0);
#endif
}

ORDO_FN fold_item scan_fold(__private const scan_arrays *a, uint first, uint end)
{
    fold_item sum = fold_identity();
    for (uint i = first; i < end; i++)
        sum = fold(sum, scan_item(a, i));
    return sum;
}

#if FOLD_GROUP == 1

#ifndef TILE_ITEMS
#define TILE_ITEMS 4096
#endif
#define TILE_SIZE ((uint) TILE_ITEMS)

typedef struct {
    uint first, end;
} input_tile;

ORDO_FN input_tile scan_tile_at(__private const scan_arrays *a, uint tile)
{
    input_tile t;
    t.first = tile * TILE_SIZE;
    t.end = t.first + min(TILE_SIZE, a->count - t.first);
    return t;
}

ORDO_FN fold_item tile_fold(__private const scan_arrays *a, uint tile, __private input_tile *t,
                            __local fold_scratch *scratch)
{
    *t = scan_tile_at(a, tile);
    return scan_fold(a, t->first, t->end);
}

#if FOLD_OP == FOLD_SUM && !FOLD_SEGMENTED

#define SCAN_VECTOR 8
#if KEY_BITS == 32
typedef uint8 scan_vector;
typedef uint4 scan_half;
#else
typedef ulong8 scan_vector;
typedef ulong4 scan_half;
#endif

ORDO_FN scan_vector scan_sums_upto(scan_vector x)
{
    x += (scan_vector) (0, x.s012, x.s3456);
    x += (scan_vector) (0, 0, x.s012, x.s345);
    x += (scan_vector) ((scan_half) (0), x.lo);
    return x;
}

ORDO_FN fold_item scan_write_vectors(__private const scan_arrays *a, __private input_tile *t, fold_item before)
{
    for (; t->end - t->first >= SCAN_VECTOR; t->first += SCAN_VECTOR) {
        const scan_vector x = vload8(0, a->in + t->first), upto = scan_sums_upto(x);
        vstore8((a->inclusive ? upto : upto - x) + before, 0, a->out + t->first);
        before += upto.s7;
    }
    return before;
}

#endif

ORDO_FN fold_item scan_write(__private const scan_arrays *a, input_tile t, fold_item before)
{
#if FOLD_OP == FOLD_SUM && !FOLD_SEGMENTED
    before = scan_write_vectors(a, &t, before);
#endif
    if (a->inclusive) {
        for (uint i = t.first; i < t.end; i++) {
            before = fold(before, scan_item(a, i));
            a->out[i] = fold_key_of(fold_value(before));
        }
        return before;
    }
    for (uint i = t.first; i < t.end; i++) {
        const fold_item x = scan_item(a, i);
        a->out[i] = fold_key_of(fold_head(x) ? FOLD_IDENTITY : fold_value(before));
        before = fold(before, x);
    }
    return before;
}

ORDO_FN void tile_write(__private const scan_arrays *a, uint tile, __private const input_tile *t, fold_item before)
{
    (void) scan_write(a, *t, before);
}

ORDO_FN fold_item tile_whole(__private const scan_arrays *a, uint tile, fold_item before, __local fold_scratch *scratch)
{
    return scan_write(a, scan_tile_at(a, tile), before);
}

ORDO_FN fold_item lookback_refold(__private const scan_arrays *a, uint tile)
{
    return scan_fold(a, tile * TILE_SIZE, tile * TILE_SIZE + TILE_SIZE);
}

#else

typedef struct {
    tile_keys keys;
    uint heads;
    fold_item row[TILE_ROWS];
} input_tile;

ORDO_FN fold_item tile_item(__private const input_tile *t, uint k, uint at)
{
    return fold_make(fold_value_of(t->keys.key[k]), t->heads >> k & 1);
}

ORDO_FN void tile_load_input(__private const scan_arrays *a, uint tile, __private input_tile *t)
{
    tile_load(a->in, a->count, a->shift, tile, fold_key_of(FOLD_IDENTITY), &t->keys);
    t->heads = FOLD_SEGMENTED ? tile_load_flags(a->heads, a->count, a->shift, tile) : 0;
}

ORDO_FN ordo_key scan_result(__private const scan_arrays *a, fold_item before, fold_item x, fold_item upto)
{
    const ordo_key exclusive = fold_head(x) ? FOLD_IDENTITY : fold_value(before);
    return fold_key_of(a->inclusive ? fold_value(upto) : exclusive);
}

ORDO_FN void tile_write(__private const scan_arrays *a, uint tile, __private const input_tile *t, fold_item before)
{
    tile_keys out;
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        fold_item left = fold(before, t->row[r]);
        ORDO_UNROLL
        for (uint v = 0; v < TILE_VECTOR; v++) {
            const fold_item x = tile_item(t, r * TILE_VECTOR + v, 0);
            const fold_item upto = fold(left, x);
            out.key[r * TILE_VECTOR + v] = scan_result(a, left, x, upto);
            left = upto;
        }
    }
    tile_store(a->out, a->count, a->shift, tile, &out);
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

#include "group/tiles.cl"

ORDO_KERNEL(FOLD_GROUP)
void scan_ranges(SCAN_ARGS, uint tiles, uint range, __global const fold_item *sums)
{
    __local fold_scratch scratch;
    const scan_arrays    a = SCAN_ARRAYS;
    tiles_ranges(&a, tiles, range, sums, &scratch);
}

#if SCAN_LOOKBACK

ORDO_KERNEL(FOLD_GROUP)
void scan_lookback(SCAN_ARGS, __global uint *state, uint stamp)
{
    __local tiles_local l;
    const scan_arrays   a = SCAN_ARRAYS;
    tiles_look_back(&a, in_place != 0, state, stamp, &l);
}

#else

ORDO_KERNEL(FOLD_GROUP)
void scan_sums(SCAN_ARGS, uint tiles, uint range, __global fold_item *sums)
{
    __local fold_scratch scratch;
    const scan_arrays a = SCAN_ARRAYS;
    tiles_sums(&a, tiles, range, sums, &scratch);
}

#endif
