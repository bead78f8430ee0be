/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a sorted batch of updates into a sorted array of distinct keys, for CPUs. Only the last update of each key
 * counts. If its bit in `hidden` is 1, it erases the key. Otherwise it stores the key. With COMBINE_OP, all values of a
 * key are combined, and all bits of `hidden` must be 0. */

/* Each work-item merges one tile: a slice of the merged elements. An array element comes before batch elements with the
 * same key. */
#pragma once
#include "group/hidden.cl"
#include "group/merge.cl"
#include "group/value.cl"

/* Built together: batch_place batch_write */

#define BATCH_WIDTH 8

ORDO_FN uint batch_path(__global const ordo_key *array, uint n, __global const ordo_key *batch, uint b, uint diagonal)
{
    uint low = diagonal - min(diagonal, b), high = min(diagonal, n);
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        const bool is_before = key_upto(key_bits(array[middle]), key_bits(batch[diagonal - 1 - middle]));
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

typedef struct {
    uint array, array_end, batch, batch_end;
} batch_tile;

ORDO_FN batch_tile batch_tile_of(__global const ordo_key *array, uint n, __global const ordo_key *batch, uint b,
                                 uint tile, uint length)
{
    const uint begin = tile * length, end = n + b - begin > length ? begin + length : n + b;
    batch_tile t;
    t.array = batch_path(array, n, batch, b, begin);
    t.array_end = batch_path(array, n, batch, b, end);
    t.batch = begin - t.array;
    t.batch_end = end - t.array_end;
    return t;
}

ORDO_FN uint batch_skip(__global const ordo_key *array, uint at, uint end, ordo_key_form x)
{
    uint step = BATCH_WIDTH, less = 0;
    if (end - at >= BATCH_WIDTH) {
        __global const ordo_key *next = array + at;
        ORDO_UNROLL
        for (uint i = 0; i < BATCH_WIDTH; i++)
            less += key_before(key_bits(next[i]), x);
        if (less < BATCH_WIDTH)
            return at + less;
        at += BATCH_WIDTH;
    }
    while (step <= end - at && key_before(key_bits(array[at + step - 1]), x)) {
        at += step;
        step *= 2;
    }
    end = min(end - at, step) + at;
    while (at < end) {
        const uint middle = at + (end - at) / 2;
        const bool is_less = key_before(key_bits(array[middle]), x);
        at = is_less ? middle + 1 : at;
        end = is_less ? end : middle;
    }
    return at;
}

ORDO_FN bool batch_stays(__global const ordo_key *batch, uint b, __global const uint *hidden, uint j)
{
    return (j + 1 == b || !key_same(batch[j + 1], batch[j])) && !run_is_hidden(hidden, j);
}

/* Returns true if the next tile's first batch element replaces this tile's last array element. `at` must be the number
 * of array elements not greater than this tile's last batch element. */
ORDO_FN bool batch_goes_on(__global const ordo_key *array, __global const ordo_key *batch, uint b,
                           __private const batch_tile *t, uint at)
{
    return at < t->array_end && t->batch_end < b && key_same(array[t->array_end - 1], batch[t->batch_end]);
}

/* Sets places[j] to the index of the array element that batch element j replaces. If it replaces none, places[j] is the
 * index of the next array element in key order. Sets kept[tile] to the number of elements that the tile outputs.
 * `hidden` may be NULL. */
ORDO_KERNEL(1)
void batch_place(__global const ordo_key *restrict array, ulong array_at, uint n,
                 __global const ordo_key *restrict batch, ulong batch_at, uint b, __global const uint *restrict hidden,
                 ulong hidden_at, uint length, __global uint *restrict places, __global uint *restrict kept)
{
    array += array_at;
    batch += batch_at;
    hidden += hidden ? hidden_at : 0;

    const uint       tile = (uint) get_global_id(0);
    const batch_tile t = batch_tile_of(array, n, batch, b, tile, length);
    uint             at = t.array, stay = t.array_end - t.array;
    for (uint j = t.batch; j < t.batch_end; j++) {
        at = batch_skip(array, at, t.array_end, key_bits(batch[j]));
        places[j] = at;
        const uint replaced = at < t.array_end && key_same(array[at], batch[j]);
        stay += (uint) batch_stays(batch, b, hidden, j) - replaced;
        at += replaced;
    }
    kept[tile] = stay - (uint) batch_goes_on(array, batch, b, &t, at);
}

typedef struct {
    __global ordo_key    *keys;
    __global merge_value *values;
    uint                  to, end;
} batch_output;

ORDO_FN void batch_copy_keys(__global const ordo_key *from, __global ordo_key *to)
{
#if KEY_BITS == 128
    vstore16(vload16(0, (__global const ulong *) from), 0, (__global ulong *) to);
#else
    vstore8(vload8(0, from), 0, to);
#endif
}

#if ORDO_VALUE_BYTES
ORDO_FN void batch_copy_values(__global const merge_value *from, __global merge_value *to)
{
#if ORDO_VALUE_BYTES == 16
    vstore16(vload16(0, (__global const ulong *) from), 0, (__global ulong *) to);
#else
    vstore8(vload8(0, from), 0, to);
#endif
}
#endif

/* Appends the array elements with indices `at` to end - 1 to the output, with their values. Copies whole vectors, so
 * may write extra elements, which later writes replace. */
ORDO_FN void batch_copy(__global const ordo_key *array, __global const merge_value *values, uint n, uint at, uint end,
                        __private batch_output *out)
{
    const uint count = end - at, room = min(out->end - out->to, n - at);
    const uint wide = min((count | 1) + BATCH_WIDTH - 1, room) / BATCH_WIDTH * BATCH_WIDTH;
    uint       k = 0;
    for (; k < wide; k += BATCH_WIDTH) {
        batch_copy_keys(array + at + k, out->keys + out->to + k);
#if ORDO_VALUE_BYTES
        batch_copy_values(values + at + k, out->values + out->to + k);
#endif
    }
    for (; k < count; k++) {
        out->keys[out->to + k] = array[at + k];
#if ORDO_VALUE_BYTES
        out->values[out->to + k] = values[at + k];
#endif
    }
    out->to += count;
}

#if VALUE_COMBINES
/* Returns the combination of all values of a key. Batch element j must be the last one with this key. `at` must be the
 * number of array elements not greater than this key. */
ORDO_FN merge_value batch_combined(__global const ordo_key *array, __global const merge_value *values, uint at,
                                   __global const ordo_key *batch, __global const merge_value *batch_values, uint j)
{
    merge_value sum = batch_values[j];
    for (uint i = j; i > 0 && key_same(batch[i - 1], batch[j]); i--)
        sum = value_combine(batch_values[i - 1], sum);
    return at > 0 && key_same(array[at - 1], batch[j]) ? value_combine(values[at - 1], sum) : sum;
}
#endif

/* Writes the merged elements, and their number to *all. batch_place must have written `places` and `kept`. */
ORDO_KERNEL(1)
/* clang-format off */
void batch_write(__global const ordo_key *restrict array, ulong array_at, __global const merge_value *restrict values,
                 ulong values_at, uint n, __global const ordo_key *restrict batch, ulong batch_at,
                 __global const merge_value *restrict batch_values, ulong batch_values_at, uint b,
                 __global const uint *restrict hidden, ulong hidden_at, uint length,
                 __global const uint *restrict places, __global const uint *restrict kept,
                 __global ordo_key *restrict keys_out, ulong keys_out_at, __global merge_value *restrict values_out,
                 ulong values_out_at, __global uint *restrict all)
/* clang-format on */
{
    array += array_at;
    values += values_at;
    batch += batch_at;
    batch_values += batch_values_at;
    hidden += hidden ? hidden_at : 0;

    const uint       tile = (uint) get_global_id(0);
    const batch_tile t = batch_tile_of(array, n, batch, b, tile, length);
    batch_output     out = { keys_out + keys_out_at, values_out + values_out_at, 0, 0 };
    for (uint before = 0; before < tile; before++)
        out.to += kept[before];
    out.end = out.to + kept[tile];

    uint at = t.array;
    for (uint j = t.batch; j < t.batch_end; j++) {
        const uint place = places[j];
        batch_copy(array, values, n, at, place, &out);
        at = place + (uint) (place < t.array_end && key_same(array[place], batch[j]));
        if (!batch_stays(batch, b, hidden, j))
            continue;
        out.keys[out.to] = batch[j];
#if VALUE_COMBINES
        out.values[out.to] = batch_combined(array, values, at, batch, batch_values, j);
#elif ORDO_VALUE_BYTES
        out.values[out.to] = batch_values[j];
#endif
        out.to++;
    }
    batch_copy(array, values, n, at, t.array_end - (uint) batch_goes_on(array, batch, b, &t, at), &out);
    if (tile == get_global_size(0) - 1)
        *all = out.to;
}
