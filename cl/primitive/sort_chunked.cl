/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort for CPUs: one work-item, alone in its group, per chunk of consecutive elements. Count the chunk's
 * digits, scan, scatter; no barrier anywhere.
 *
 * The scatter writes element by element to 256 streams. Collecting each digit's elements in a cache line first was slower: 28
 * against 34 million pairs a second and core at 2^22, 41 against 69 at 2^18. */
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
    return (uint) (key_bits(key) >> c.shift) & c.digit_mask;
}

/* counts[digit * chunks + chunk]. One group of one work-item per chunk. */
ORDO_KERNEL(1)
void sort_chunk_count(__global const ordo_key *keys, __global uint *counts, struct sort_chunks c)
{
    uint       count[RANK_RADIX];
    const uint chunk = (uint) get_group_id(0), first = chunk * c.chunk, here = min(c.count - first, c.chunk);

    keys += c.keys_in_at + first;
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        count[digit] = 0;
    for (uint e = 0; e < here; e++)
        count[chunk_digit(keys[e], c)]++;
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        counts[digit * c.chunks + chunk] = count[digit];
}

/* The counts become where each chunk's elements of each digit begin. One work-item in all. */
ORDO_KERNEL(1)
void sort_chunk_scan(__global uint *counts, struct sort_chunks c)
{
    uint before = 0;
    for (uint i = 0; i < RANK_RADIX * c.chunks; i++) {
        const uint count = counts[i];
        counts[i] = before;
        before += count;
    }
}

/* One group of one work-item per chunk. */
ORDO_KERNEL(1)
void sort_chunk_scatter(__global const ordo_key *keys_in, __global ordo_key *keys_out,
#if ORDO_VALUE_BYTES
                        __global const ordo_value *values_in, __global ordo_value *values_out,
#endif
                        __global const uint *counts, struct sort_chunks c)
{
    uint       next[RANK_RADIX]; /* where the digit's next element goes */
    const uint chunk = (uint) get_group_id(0), first = chunk * c.chunk, here = min(c.count - first, c.chunk);

    keys_in += c.keys_in_at + first;
    keys_out += c.keys_out_at;
#if ORDO_VALUE_BYTES
    values_in += c.values_in_at + first;
    values_out += c.values_out_at;
#endif
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        next[digit] = counts[digit * c.chunks + chunk];
    for (uint e = 0; e < here; e++) {
        const ordo_key key = keys_in[e];
        const uint     to = next[chunk_digit(key, c)]++;
        keys_out[to] = key;
#if ORDO_VALUE_BYTES
        values_out[to] = values_in[e];
#endif
    }
}
