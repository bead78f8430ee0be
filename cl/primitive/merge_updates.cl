/* SPDX-License-Identifier: Apache-2.0 */
/* Merges sorted updates into a much larger sorted array of distinct keys, on GPUs. Only the last update of each key
 * counts. If its bit in `hidden` is 1, it erases the key. Otherwise it stores the key.
 *
 *  updates_place   finds each update's place in the array, and the updates of each tile
 *  updates_write   writes each element, moved by the number of elements that earlier updates add or remove */
#pragma once
#include "device/atomic.cl"
#include "group/hidden.cl"
#include "group/last_group.cl"
#include "group/merge.cl"
#include "group/scan.cl"

/* Built together: updates_place updates_write */

#ifndef UPDATES_ITEMS
#define UPDATES_ITEMS 8
#endif
#define UPDATES_TILE     (GROUP_SIZE * UPDATES_ITEMS)
#define UPDATES_SEGMENT  32
#define UPDATES_SEGMENTS ((UPDATES_TILE - 1) / UPDATES_SEGMENT + 1)

/* places[j] is (i, sum << 2 | UPDATE_FOUND | UPDATE_STAYS) for update j. Array elements 0 to i - 1 are less. The sum
 * counts the elements that update j and earlier updates of its group add, less the elements that they remove. sums[g]
 * is the sum of all groups before g. starts[t] is the number of updates up to the first key of tile t. */
#define UPDATE_FOUND 2u /* Element i has the update's key. */
#define UPDATE_STAYS 1u /* The update is written. */

/* Returns how many of `count` keys are less than x, or with `ties` at most x. Each step divides the keys in four,
 * because three independent loads take as long as one. */
ORDO_FN uint updates_rank(__global const ordo_key *keys, uint count, ordo_key_form x, bool ties)
{
    uint low = 0, high = count;
    while (low < high) {
        const uint quarter = (high - low) / 4, middle = low + (high - low) / 2;
        const uint at[3] = { low + quarter, middle, middle + quarter };
        uint       before[3];
        ORDO_UNROLL
        for (int i = 0; i < 3; i++) {
            const ordo_key_form form = key_bits(keys[at[i]]);
            before[i] = key_before(form, x) || (ties && key_same(form, x));
        }
        high = !before[0] ? at[0] : !before[1] ? at[1] : !before[2] ? at[2] : high;
        low = before[2] ? at[2] + 1 : before[1] ? at[1] + 1 : before[0] ? at[0] + 1 : low;
    }
    return low;
}

/* Replaces sums[] by exclusive prefix sums. Returns the total. The whole group must call. */
ORDO_FN uint updates_scan(volatile __global uint *sums, uint groups, __local uint *scratch)
{
    uint before = 0;
    for (uint first = 0; first < groups; first += GROUP_SIZE) {
        const uint g = first + (uint) get_local_id(0), sum = g < groups ? ordo_load_relaxed(&sums[g]) : 0;
        uint       all;
        const uint earlier = before + group_scan_add(sum, scratch, &all);
        if (g < groups)
            ordo_store_relaxed(&sums[g], earlier);
        before += all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return before;
}

/* Sets *place and *marks of places[j] for update j. Returns the number of elements that it adds, less the number that
 * it removes. */
ORDO_FN uint updates_look(__global const ordo_key *array, uint n, __global const ordo_key *batch, uint b,
                          __global const uint *hidden, uint j, __private uint *place, __private uint *marks)
{
    const ordo_key key = batch[j];
    const bool     is_last = j + 1 == b || !key_same(batch[j + 1], key);
    const bool     stays = is_last && !run_is_hidden(hidden, j);
    *place = updates_rank(array, n, key_bits(key), false);
    const bool found = *place < n && key_same(array[*place], key);
    *marks = (found ? UPDATE_FOUND : 0) | (stays ? UPDATE_STAYS : 0);
    return (uint) stays - (uint) (found && is_last);
}

/* The first groups handle the updates, the others the tiles. *finished must be 0 before, and is 0 after. Sets *kept to
 * the number of elements after the merge. */
ORDO_KERNEL(GROUP_SIZE)
/* clang-format off */
void updates_place(__global const ordo_key *restrict array, ulong array_at, uint n,
                   __global const ordo_key *restrict batch, ulong batch_at, uint b,
                   __global const uint *restrict hidden, ulong hidden_at, uint tiles, __global uint2 *restrict places,
                   volatile __global uint *sums, __global uint *restrict starts, volatile __global uint *finished,
                   __global uint *restrict kept)
/* clang-format on */
{
    __local uint scratch[GROUP_SCAN_WORDS], is_last;
    const uint   groups = (b + GROUP_SIZE - 1) / GROUP_SIZE, lid = (uint) get_local_id(0);
    const uint   j = (uint) get_global_id(0), tile = j - groups * GROUP_SIZE;
    uint         adds = 0, place = 0, marks = 0, all;
    array += array_at;
    batch += batch_at;
    hidden += hidden ? hidden_at : 0;
    if (get_group_id(0) < groups) {
        if (j < b)
            adds = updates_look(array, n, batch, b, hidden, j, &place, &marks);
        const uint earlier = group_scan_add(adds, scratch, &all);
        if (j < b)
            places[j] = (uint2) (place, (earlier + adds) << 2 | marks);
        if (lid == 0)
            ordo_store_relaxed(&sums[get_group_id(0)], all);
        if (group_is_last(finished, groups, &is_last)) {
            all = updates_scan(sums, groups, scratch);
            if (lid == 0)
                *kept = n + all;
        }
    } else if (tile < tiles) {
        starts[tile] = updates_rank(batch, b, key_bits(array[tile * UPDATES_TILE]), true);
    }
}

typedef struct {
    __global const uint2 *places;
    __global const uint  *sums;
} updates_places;

/* Returns the number of elements that updates 0 to j add, less the number that they remove. `marked` is the second word
 * of places[j]. */
ORDO_FN uint updates_sum(updates_places u, uint j, uint marked)
{
    return (uint) ((int) marked >> 2) + u.sums[j / GROUP_SIZE];
}

/* Updates up to the key of an element: their number, how far they move the element, and 1 if the last of them replaces
 * or erases it. */
typedef struct {
    uint n, moved, is_replaced;
} updates_upto;

/* The number of updates up to the key of element `at` must be at least `begin`, and at most `end`. */
ORDO_FN updates_upto updates_find(updates_places u, uint at, uint begin, uint end)
{
    updates_upto upto = { begin, 0, 0 };
    while (upto.n < end) {
        const uint middle = upto.n + (end - upto.n) / 2;
        const bool is_upto = u.places[middle].x <= at;
        upto.n = is_upto ? middle + 1 : upto.n;
        end = is_upto ? end : middle;
    }
    if (upto.n > 0) {
        const uint2 place = u.places[upto.n - 1];
        upto.moved = updates_sum(u, upto.n - 1, place.y);
        upto.is_replaced = place.x == at && (place.y & UPDATE_FOUND);
    }
    return upto;
}

/* Sets segments[s] to the updates up to the first element of segment s. The tile's first element is `at`, and `begin`
 * to `end` are bounds as above. The whole group must call. Ends with a barrier. */
ORDO_FN void updates_segments(updates_places u, uint at, uint begin, uint end, __local updates_upto *segments)
{
    for (uint s = (uint) get_local_id(0); s < UPDATES_SEGMENTS; s += GROUP_SIZE)
        segments[s] = updates_find(u, at + s * UPDATES_SEGMENT, begin, end);
    if (get_local_id(0) == 0)
        segments[UPDATES_SEGMENTS].n = end;
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Returns the updates up to element number `offset` of the tile, which is element `at` of the array. */
ORDO_FN updates_upto updates_of(updates_places u, __local const updates_upto *segments, uint offset, uint at)
{
    __local const updates_upto *segment = &segments[offset / UPDATES_SEGMENT];
    updates_upto                upto = *segment;
    if (offset % UPDATES_SEGMENT == 0)
        return upto;
    if (upto.n < segment[1].n)
        return updates_find(u, at, upto.n, segment[1].n);
    upto.is_replaced = 0;
    return upto;
}

/* Writes update j, if it stays. */
ORDO_FN void updates_put(updates_places u, uint j, __global const ordo_key *batch,
                         __global const merge_value *batch_values, __global ordo_key *keys_out,
                         __global merge_value *values_out)
{
    const uint2 place = u.places[j];
    const uint  to = place.x + updates_sum(u, j, place.y) - (place.y & UPDATE_FOUND ? 0 : 1);
    if (!(place.y & UPDATE_STAYS))
        return;
    keys_out[to] = batch[j];
#if ORDO_VALUE_BYTES
    values_out[to] = batch_values[j];
#endif
}

/* Writes the tile of the array whose first element is `begin`, without the elements that updates replace or erase. The
 * whole group must call. `upto` and `end` are the updates up to the first key of this tile and of the next one. */
ORDO_FN void updates_move(updates_places u, uint begin, uint upto, uint end, uint n, __global const ordo_key *array,
                          __global const merge_value *values, __global ordo_key *keys_out,
                          __global merge_value *values_out, __local updates_upto *segments)
{
    const uint first = begin + (uint) get_local_id(0);
    ordo_key   key[UPDATES_ITEMS];
#if ORDO_VALUE_BYTES
    merge_value value[UPDATES_ITEMS];
#endif
    ORDO_UNROLL
    for (int i = 0; i < UPDATES_ITEMS; i++) {
        const uint at = first + i * GROUP_SIZE;
        key[i] = at < n ? array[at] : KEY_LEAST;
#if ORDO_VALUE_BYTES
        value[i] = at < n ? values[at] : (merge_value) 0;
#endif
    }
    updates_segments(u, begin, upto, end, segments);
    ORDO_UNROLL
    for (int i = 0; i < UPDATES_ITEMS; i++) {
        const uint         at = first + i * GROUP_SIZE;
        const updates_upto here = updates_of(u, segments, at - begin, at);
        if (at < n && !here.is_replaced) {
            keys_out[at + here.moved] = key[i];
#if ORDO_VALUE_BYTES
            values_out[at + here.moved] = value[i];
#endif
        }
    }
}

/* The first `tiles` groups handle the array, the others the updates. */
ORDO_KERNEL(GROUP_SIZE)
/* clang-format off */
void updates_write(__global const ordo_key *restrict array, ulong array_at, __global const merge_value *restrict values,
                   ulong values_at, uint n, __global const ordo_key *restrict batch, ulong batch_at,
                   __global const merge_value *restrict batch_values, ulong batch_values_at, uint b, uint tiles,
                   __global const uint2 *restrict places, __global const uint *restrict sums,
                   __global const uint *restrict starts, __global ordo_key *restrict keys_out, ulong keys_out_at,
                   __global merge_value *restrict values_out, ulong values_out_at)
/* clang-format on */
{
    __local updates_upto segments[UPDATES_SEGMENTS + 1];
    const updates_places u = { places, sums };
    const uint           tile = (uint) get_group_id(0), j = (uint) get_global_id(0) - tiles * GROUP_SIZE;
    if (tile < tiles)
        updates_move(u, tile * UPDATES_TILE, starts[tile], tile + 1 < tiles ? starts[tile + 1] : b, n, array + array_at,
                     values + values_at, keys_out + keys_out_at, values_out + values_out_at, segments);
    else if (j < b)
        updates_put(u, j, batch + batch_at, batch_values + batch_values_at, keys_out + keys_out_at,
                    values_out + values_out_at);
}
