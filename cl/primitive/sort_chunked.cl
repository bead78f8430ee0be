/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort for CPUs. A work-item handles a chunk of consecutive elements. sort_chunk_few sorts a small array
 * in one launch. */

#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/sort.h"

#ifndef RANK_BITS
#define RANK_BITS 8
#endif
#define RANK_RADIX (1 << RANK_BITS)

ORDO_FN uint chunk_digit(ordo_key key, struct sort_chunks c)
{
    return key_digit(key_bits(key), c.shift, c.digit_mask);
}

ORDO_FN bool chunks_are_idle(__global const uint *plan)
{
    return plan && plan[SORT_BUCKET_STATE] != SORT_BUCKET_NONE;
}

ORDO_KERNEL(1)
void sort_chunk_count(__global const ordo_key *keys, __global const uint *plan, __global uint *counts,
                      struct sort_chunks c)
{
    uint       count[RANK_RADIX];
    const uint chunk = (uint) get_group_id(0), first = chunk * c.chunk, here = min(c.count - first, c.chunk);
    if (chunks_are_idle(plan))
        return;
    keys += c.keys_in_at + first;
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        count[digit] = 0;
    for (uint e = 0; e < here; e++)
        count[chunk_digit(keys[e], c)]++;
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        counts[digit * c.chunks + chunk] = count[digit];
}

/* Before the kernel, counts[digit * c.chunks + chunk] counts the chunk's elements with this digit. After the kernel, it
 * is the output index of the first of these elements. */
ORDO_KERNEL(1)
void sort_chunk_scan(__global const uint *plan, __global uint *counts, struct sort_chunks c)
{
    uint before = 0;
    if (chunks_are_idle(plan))
        return;
    for (uint i = 0; i < RANK_RADIX * c.chunks; i++) {
        const uint count = counts[i];
        counts[i] = before;
        before += count;
    }
}

ORDO_KERNEL(1)
void sort_chunk_scatter(PAIRS_IN(in), PAIRS_OUT(out), __global const uint *plan, __global const uint *counts,
                        struct sort_chunks c)
{
    uint       next[RANK_RADIX];
    const uint chunk = (uint) get_group_id(0), first = chunk * c.chunk, here = min(c.count - first, c.chunk);
    if (chunks_are_idle(plan))
        return;
    __global const ordo_value *from_values = PAIR_VALUES(in, c.values_in_at + first);
    __global ordo_value       *to_values = PAIR_VALUES(out, c.values_out_at);
    keys_in += c.keys_in_at + first;
    keys_out += c.keys_out_at;
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        next[digit] = counts[digit * c.chunks + chunk];
    for (uint e = 0; e < here; e++) {
        const ordo_key key = keys_in[e];
        const uint     to = next[chunk_digit(key, c)]++;
        keys_out[to] = key;
        if (ORDO_VALUE_BYTES)
            to_values[to] = from_values[e];
    }
}

#define FEW_PASSES ((KEY_BITS + RANK_BITS - 1) / RANK_BITS)

typedef struct {
    uint          shift;
    ordo_key_form mask;
} few_field;

ORDO_FN uint few_digit(ordo_key key, few_field field, uint pass)
{
    return key_digit(key_above(key_bits(key), field.shift) & field.mask, pass * RANK_BITS, RANK_RADIX - 1);
}

typedef struct {
    __global ordo_key   *keys;
    __global ordo_value *values;
} few_pairs;

/* Sorts by one digit. next[digit] must be the output index of the digit's first element. */
ORDO_FN void few_scatter(few_pairs from, few_pairs to, uint count, few_field field, uint pass,
                         __private uint next[RANK_RADIX])
{
    for (uint e = 0; e < count; e++) {
        const ordo_key key = from.keys[e];
        const uint     place = next[few_digit(key, field, pass)]++;
        to.keys[place] = key;
        if (ORDO_VALUE_BYTES)
            to.values[place] = from.values[e];
    }
}

ORDO_FN void few_copy(few_pairs from, few_pairs to, uint count)
{
    for (uint e = 0; e < count; e++) {
        to.keys[e] = from.keys[e];
        if (ORDO_VALUE_BYTES)
            to.values[e] = from.values[e];
    }
}

ORDO_FN void few_count(few_pairs in, uint count, few_field field, __private uint counts[FEW_PASSES][RANK_RADIX])
{
    for (uint pass = 0; pass < FEW_PASSES; pass++)
        for (uint digit = 0; digit < RANK_RADIX; digit++)
            counts[pass][digit] = 0;
    for (uint e = 0; e < count; e++) {
        const ordo_key key = in.keys[e];
        ORDO_UNROLL
        for (uint pass = 0; pass < FEW_PASSES; pass++)
            counts[pass][few_digit(key, field, pass)]++;
    }
}

ORDO_FN void few_begins(__private uint counts[RANK_RADIX])
{
    uint before = 0;
    for (uint digit = 0; digit < RANK_RADIX; digit++) {
        const uint count = counts[digit];
        counts[digit] = before;
        before += count;
    }
}

/* Skips a pass if all keys have the same digit. in_place must be 1 if the output is the input. */
ORDO_KERNEL(1)
void sort_chunk_few(PAIRS_OUT(in), PAIRS_OUT(out), PAIRS_OUT(spare), uint in_place, struct sort_small s)
{
    const few_field field = { s.first_bit, key_above(KEY_GREATEST, KEY_BITS - s.bits) };
    const few_pairs in = { keys_in + s.keys_in_at, PAIR_VALUES(in, s.values_in_at) };
    const few_pairs out = { keys_out + s.keys_out_at, PAIR_VALUES(out, s.values_out_at) };
    const few_pairs spare = { keys_spare, PAIR_VALUES(spare, 0) };
    uint            counts[FEW_PASSES][RANK_RADIX], moves = 0;
    few_count(in, s.count, field, counts);
    for (uint pass = 0; pass < FEW_PASSES; pass++)
        moves += counts[pass][few_digit(in.keys[0], field, pass)] != s.count;

    few_pairs from = in;
    bool      to_out = moves % 2 == 1;
    if (to_out && in_place) { /* The first pass must not overwrite its input. */
        few_copy(in, spare, s.count);
        from = spare;
    }
    for (uint pass = 0; pass < FEW_PASSES; pass++) {
        if (counts[pass][few_digit(from.keys[0], field, pass)] == s.count)
            continue;
        few_begins(counts[pass]);
        few_scatter(from, to_out ? out : spare, s.count, field, pass, counts[pass]);
        from = to_out ? out : spare;
        to_out = !to_out;
    }
    if (moves == 0 && !in_place)
        few_copy(in, out, s.count);
}
