/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort for CPUs: one work-item, alone in its group, per chunk of consecutive elements. Count the chunk's
 * digits, scan, scatter; no barrier anywhere.
 *
 * The scatter collects each digit's elements in a buffer of a cache line before it writes them: 256 streams of single
 * words would miss the TLB and the first-level cache at nearly every store. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/sort.h"

#ifndef RANK_BITS
#define RANK_BITS 8
#endif
#define RANK_RADIX (1 << RANK_BITS)

/* Elements of one digit that are written together. */
#define CHUNK_LINE 16

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
    __local ordo_key line_keys[RANK_RADIX * CHUNK_LINE];
#if ORDO_VALUE_BYTES
    __local ordo_value line_values[RANK_RADIX * CHUNK_LINE];
#endif
    uint       next[RANK_RADIX]; /* where the digit's next line goes */
    uint       held[RANK_RADIX]; /* elements in its buffer */
    const uint chunk = (uint) get_group_id(0), first = chunk * c.chunk, here = min(c.count - first, c.chunk);

    keys_in += c.keys_in_at + first;
    keys_out += c.keys_out_at;
#if ORDO_VALUE_BYTES
    values_in += c.values_in_at + first;
    values_out += c.values_out_at;
#endif
    for (uint digit = 0; digit < RANK_RADIX; digit++) {
        next[digit] = counts[digit * c.chunks + chunk];
        held[digit] = 0;
    }
    for (uint e = 0; e < here; e++) {
        const ordo_key key = keys_in[e];
        const uint     digit = chunk_digit(key, c), line = digit * CHUNK_LINE, at = held[digit];
        line_keys[line + at] = key;
#if ORDO_VALUE_BYTES
        line_values[line + at] = values_in[e];
#endif
        held[digit] = at + 1;
        if (at + 1 == CHUNK_LINE) {
            const uint to = next[digit];
            for (uint i = 0; i < CHUNK_LINE; i++)
                keys_out[to + i] = line_keys[line + i];
#if ORDO_VALUE_BYTES
            for (uint i = 0; i < CHUNK_LINE; i++)
                values_out[to + i] = line_values[line + i];
#endif
            next[digit] = to + CHUNK_LINE;
            held[digit] = 0;
        }
    }
    for (uint digit = 0; digit < RANK_RADIX; digit++)
        for (uint i = 0; i < held[digit]; i++) {
            keys_out[next[digit] + i] = line_keys[digit * CHUNK_LINE + i];
#if ORDO_VALUE_BYTES
            values_out[next[digit] + i] = line_values[digit * CHUNK_LINE + i];
#endif
        }
}
