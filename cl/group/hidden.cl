/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and finds the visible elements of a sorted run. An element is hidden if a newer run replaces or erases its
 * key, else visible. Bit i of hidden[] is 1 if element i is hidden. If `hidden` is NULL, all elements are visible.
 * visible[b] is the number of visible elements before element b * RUN_BLOCK. Both arrays begin at multiples of 256
 * bytes. */
#pragma once
#include "device/compiler.cl"
#include "shared/runs.h"

ORDO_FN bool run_is_hidden(__global const uint *hidden, uint i)
{
    return hidden && (hidden[i >> 5] >> (i & 31) & 1);
}

ORDO_FN uint run_words(uint count)
{
    return (count >> 5) + ((count & 31) != 0);
}

ORDO_FN uint run_low_bits(uint n)
{
    return n >= 32 ? 0xffffffffu : (1u << n) - 1;
}

ORDO_FN uint run_visible_before(__global const uint *hidden, __global const uint *visible, uint i)
{
    const uint block = i / RUN_BLOCK, k = i % RUN_BLOCK, before = visible[block];
    if (k == 0 || visible[block + 1] - before == RUN_BLOCK)
        return before + k;
    const uint4 words = ~((__global const uint4 *) hidden)[block];
    return before + popcount(words.s0 & run_low_bits(k)) + popcount(words.s1 & run_low_bits(max((int) k - 32, 0))) +
           popcount(words.s2 & run_low_bits(max((int) k - 64, 0))) +
           popcount(words.s3 & run_low_bits(max((int) k - 96, 0)));
}

ORDO_FN uint run_visible_between(__global const uint *hidden, __global const uint *visible, uint first, uint end)
{
    if (!hidden || end <= first)
        return end - first;
    if (end - first > RUN_BLOCK / 2)
        return run_visible_before(hidden, visible, end) - run_visible_before(hidden, visible, first);
    uint n = end - first;
    for (uint word = first >> 5; word <= (end - 1) >> 5; word++) {
        uint bits = hidden[word];
        bits &= word == first >> 5 ? 0xffffffffu << (first & 31) : 0xffffffffu;
        bits &= word == (end - 1) >> 5 ? 0xffffffffu >> (31 - ((end - 1) & 31)) : 0xffffffffu;
        n -= popcount(bits);
    }
    return n;
}

/* Returns the index of the first visible element from index i on, or `count` if there is none. */
ORDO_FN uint run_next_visible(__global const uint *hidden, __global const uint *visible, uint i, uint count)
{
    if (!hidden || i >= count)
        return i;
    const uint blocks = (count - 1) / RUN_BLOCK + 1, block_end = (i / RUN_BLOCK + 1) * (RUN_BLOCK / 32);
    uint       bits = ~hidden[i >> 5] & (0xffffffffu << (i & 31));
    uint       word = i >> 5;
    while (bits == 0 && ++word < block_end && word * 32 < count)
        bits = ~hidden[word];
    if (bits == 0) {
        const uint before = visible[min(i / RUN_BLOCK + 1, blocks)];
        uint       low = i / RUN_BLOCK + 1, high = blocks;
        if (visible[blocks] == before)
            return count;
        while (low + 1 < high) {
            const uint middle = (low + high) / 2;
            low = visible[middle] > before ? low : middle;
            high = visible[middle] > before ? middle : high;
        }
        for (word = (high - 1) * (RUN_BLOCK / 32); bits == 0; word++)
            bits = ~hidden[word];
        word--;
    }
    const uint found = word * 32 + (31 - clz(bits & (0 - bits)));
    return min(found, count);
}

/* Returns 1 + the index of the last visible element before element i, or 0 if there is none. */
ORDO_FN uint run_last_visible(__global const uint *hidden, __global const uint *visible, uint i)
{
    if (!hidden || i == 0)
        return i;
    const uint block = (i - 1) / RUN_BLOCK, block_first = block * (RUN_BLOCK / 32);
    uint       word = (i - 1) >> 5;
    uint       bits = ~hidden[word] & (0xffffffffu >> (31 - ((i - 1) & 31)));
    while (bits == 0 && word > block_first)
        bits = ~hidden[--word];
    if (bits == 0) {
        const uint before = visible[block];
        uint       low = 0, high = block;
        if (before == 0)
            return 0;
        while (low + 1 < high) {
            const uint middle = (low + high) / 2;
            low = visible[middle] >= before ? low : middle;
            high = visible[middle] >= before ? middle : high;
        }
        for (word = high * (RUN_BLOCK / 32); bits == 0;)
            bits = ~hidden[--word];
    }
    return word * 32 + 32 - clz(bits);
}
