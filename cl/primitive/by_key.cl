/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces segments. A segment consists of neighbours with equal keys. Its result is the key, the number of elements,
 * and the sum, minimum or maximum of the values. */
#pragma once
#include "group/by_key.cl"

#ifndef SCAN_LOOKBACK
#define SCAN_LOOKBACK 0
#endif
#ifndef TILE_ITEMS
#define TILE_ITEMS 8
#endif
#if FOLD_GROUP > 1
#define TILE_VECTOR 4
#include "group/tile.cl"
#else
#define TILE_SIZE ((uint) TILE_ITEMS)
#endif
#define LOOKBACK_INPUT by_key_arrays

ORDO_FN bool by_key_is_head(__private const by_key_arrays *a, uint i)
{
    return i == 0 || by_key_differ(a->keys[i], a->keys[i - 1]);
}

ORDO_FN fold_item by_key_item(__private const by_key_arrays *a, uint i)
{
    return fold_make(by_key_value(a, i), fold_mark_of(by_key_is_head(a, i), i));
}

/* Writes the results of the segment whose last element is end - 1. `all` must be the result of the segmented scan for
 * this element. */
ORDO_FN void by_key_end(__private const by_key_arrays *a, fold_item all, uint end)
{
    const uint number = fold_heads(all) - 1;
    if (number >= a->room)
        return;
#if BY_KEY_VALUES
    a->values_out[number] = fold_key_of(fold_value(all));
#endif
    if (a->counts)
        a->counts[number] = end - fold_last_head(all);
}

ORDO_FN void by_key_finish(__private const by_key_arrays *a, fold_item all)
{
    by_key_end(a, all, a->count);
    *a->groups = fold_heads(all);
}

#if FOLD_GROUP == 1

typedef struct {
    uint first, end;
} input_tile;

ORDO_FN fold_item by_key_fold(__private const by_key_arrays *a, uint first, uint end)
{
    uint      heads = first == 0, i = end;
    fold_word value = FOLD_IDENTITY;
    for (uint k = max(first, 1u); k < end; k++)
        heads += by_key_differ(a->keys[k], a->keys[k - 1]);
    while (i > first) {
        i--;
        value = fold_values(by_key_value(a, i), value);
        if (by_key_is_head(a, i))
            break;
    }
    return fold_make(value, heads ? (ulong) heads << 32 | i : 0);
}

ORDO_FN fold_item tile_fold(__private const by_key_arrays *a, uint tile, __private input_tile *t,
                            __local fold_scratch *scratch)
{
    t->first = tile * TILE_SIZE;
    t->end = t->first + min(TILE_SIZE, a->count - t->first);
    return by_key_fold(a, t->first, t->end);
}

ORDO_FN fold_item by_key_write(__private const by_key_arrays *a, __private const input_tile *t, fold_item before)
{
    uint      heads = fold_heads(before), last = fold_last_head(before);
    fold_word value = fold_value(before);
    for (uint i = t->first; i < t->end; i++) {
        if (by_key_is_head(a, i)) {
            if (heads > 0)
                by_key_end(a, fold_make(value, (ulong) heads << 32 | last), i);
            by_key_begin(a, heads, a->keys[i]);
            heads++;
            last = i;
            value = FOLD_IDENTITY;
        }
        value = fold_values(value, by_key_value(a, i));
    }
    const fold_item upto = fold_make(value, (ulong) heads << 32 | last);
    if (t->end == a->count)
        by_key_finish(a, upto);
    return upto;
}

ORDO_FN void tile_write(__private const by_key_arrays *a, uint tile, __private const input_tile *t, fold_item before)
{
    (void) by_key_write(a, t, before);
}

ORDO_FN fold_item tile_whole(__private const by_key_arrays *a, uint tile, fold_item before,
                             __local fold_scratch *scratch)
{
    input_tile t;
    t.first = tile * TILE_SIZE;
    t.end = t.first + min(TILE_SIZE, a->count - t.first);
    return by_key_write(a, &t, before);
}

ORDO_FN fold_item lookback_refold(__private const by_key_arrays *a, uint tile)
{
    return by_key_fold(a, tile * TILE_SIZE, tile * TILE_SIZE + TILE_SIZE);
}

#else

typedef struct {
    by_key_word key[TILE_ITEMS];
#if BY_KEY_VALUES
    fold_word   value[TILE_ITEMS];
#endif
    uint        heads;
    fold_item   row[TILE_ROWS];
} input_tile;

ORDO_FN void by_key_load(__private const by_key_arrays *a, uint tile, __private input_tile *t)
{
    const bool whole = tile_is_whole(tile, a->count, 0);
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        const uint first = tile_position(tile, r);
#if BY_KEY_BYTES < 16
        if (whole && ((ulong) a->keys & (sizeof(by_key_four) - 1)) == 0) {
            const by_key_four four = *(__global const by_key_four *) (a->keys + first);
            t->key[r * 4] = four.s0;
            t->key[r * 4 + 1] = four.s1;
            t->key[r * 4 + 2] = four.s2;
            t->key[r * 4 + 3] = four.s3;
            continue;
        }
#endif
        ORDO_UNROLL
        for (uint v = 0; v < 4; v++)
            t->key[r * 4 + v] = whole || first + v < a->count ? a->keys[first + v] : (by_key_word) 0;
    }
#if BY_KEY_VALUES
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        const uint first = tile_position(tile, r);
        if (whole && ((ulong) a->values & (sizeof(by_key_in_four) - 1)) == 0) {
            const by_key_in_four four = *(__global const by_key_in_four *) (a->values + first);
            t->value[r * 4] = by_key_value_of(four.s0);
            t->value[r * 4 + 1] = by_key_value_of(four.s1);
            t->value[r * 4 + 2] = by_key_value_of(four.s2);
            t->value[r * 4 + 3] = by_key_value_of(four.s3);
            continue;
        }
        ORDO_UNROLL
        for (uint v = 0; v < 4; v++)
            t->value[r * 4 + v] = whole || first + v < a->count ? by_key_value_of(a->values[first + v]) : FOLD_IDENTITY;
    }
#endif
}

/* Returns the key before element `first`. This lane must hold elements `first` to first + 3. `last` must be the key of
 * element first + 3. The whole sub-group must call. */
ORDO_FN by_key_word by_key_left(__private const by_key_arrays *a, by_key_word last, uint first)
{
#if TEAM_WIDTH == 1
    by_key_word left = 0;
#elif BY_KEY_BYTES == 4
    by_key_word left = team_shuffle_up(last, 1);
#elif BY_KEY_BYTES == 16
    by_key_word left = (by_key_word) (team_shuffle_up64(last.x, 1), team_shuffle_up64(last.y, 1));
#else
    by_key_word left = team_shuffle_up64(last, 1);
#endif
    if (team_lane() == 0 && first > 0 && first < a->count)
        left = a->keys[first - 1];
    return left;
}

ORDO_FN void by_key_mark(__private const by_key_arrays *a, uint tile, __private input_tile *t)
{
    t->heads = 0;
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        const uint  first = tile_position(tile, r);
        by_key_word left = by_key_left(a, t->key[r * 4 + 3], first);
        ORDO_UNROLL
        for (uint v = 0; v < 4; v++) {
            const bool head = first + v < a->count && (first + v == 0 || by_key_differ(t->key[r * 4 + v], left));
            t->heads |= (uint) head << (r * 4 + v);
            left = t->key[r * 4 + v];
        }
    }
}

ORDO_FN fold_item tile_item(__private const input_tile *t, uint k, uint at)
{
#if BY_KEY_VALUES
    return fold_make(t->value[k], fold_mark_of(t->heads >> k & 1, at));
#else
    return fold_make(0, fold_mark_of(t->heads >> k & 1, at));
#endif
}

ORDO_FN void tile_load_input(__private const by_key_arrays *a, uint tile, __private input_tile *t)
{
    by_key_load(a, tile, t);
    by_key_mark(a, tile, t);
}

ORDO_FN void tile_write(__private const by_key_arrays *a, uint tile, __private const input_tile *t, fold_item before)
{
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        const uint first = tile_position(tile, r);
        fold_item  left = fold(before, t->row[r]);
        ORDO_UNROLL
        for (uint v = 0; v < 4; v++) {
            if (t->heads >> (r * 4 + v) & 1) {
                if (first + v > 0)
                    by_key_end(a, left, first + v);
                by_key_begin(a, fold_heads(left), t->key[r * 4 + v]);
            }
            left = fold(left, tile_item(t, r * 4 + v, first + v));
            if (first + v == a->count - 1)
                by_key_finish(a, left);
        }
    }
}

ORDO_FN fold_item lookback_refold(__private const by_key_arrays *a, uint tile)
{
    const uint part = TILE_SIZE / TEAM_WIDTH;
    const uint first = tile * TILE_SIZE + team_lane() * part;
    fold_item  sum = fold_identity();
    for (uint i = first; i < first + part; i++)
        if (i < a->count)
            sum = fold(sum, by_key_item(a, i));
    return team_fold(sum);
}

#endif

#include "group/tiles.cl"

ORDO_KERNEL(FOLD_GROUP)
void by_key_ranges(BY_KEY_ARGS, uint tiles, uint range, __global const fold_item *sums)
{
    __local fold_scratch scratch;
    const by_key_arrays  a = BY_KEY_ARRAYS;
    tiles_ranges(&a, tiles, range, sums, &scratch);
}

#if SCAN_LOOKBACK

ORDO_KERNEL(FOLD_GROUP)
void by_key_lookback(BY_KEY_ARGS, __global uint *state, uint stamp)
{
    __local tiles_local l;
    const by_key_arrays a = BY_KEY_ARRAYS;
    tiles_look_back(&a, false, state, stamp, &l);
}

#else

ORDO_KERNEL(FOLD_GROUP)
void by_key_sums(BY_KEY_ARGS, uint tiles, uint range, __global fold_item *sums)
{
    __local fold_scratch scratch;
    const by_key_arrays  a = BY_KEY_ARRAYS;
    tiles_sums(&a, tiles, range, sums, &scratch);
}

#endif
