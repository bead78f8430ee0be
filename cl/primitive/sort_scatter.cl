/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort, least significant digit first, in three launches per pass: count, scan, scatter. No group waits
 * for another, but a pass reads the keys twice. */
#pragma once
#include "group/sort_tile.cl"

/* Built together: sort_count sort_scan sort_scatter */

ORDO_KERNEL(GROUP_SIZE)
void sort_count(__global const ordo_key *keys_in, __global uint *control, SORT_PLAN_PARAMS struct sort_pass p)
{
    __local uint     counts[RANK_RADIX];
    const uint       tile = (uint) get_group_id(0);
    const sort_digit d = sort_pass_digit(SORT_PLAN p);
    if (d.number == SORT_IDLE)
        return;
    sort_count_tile(keys_in + p.keys_in_at + (ulong) tile * RANK_TILE, sort_tile_count(p.count, tile), d.shift, d.mask,
                    counts);
    for (uint digit = get_local_id(0); digit < RANK_RADIX; digit += GROUP_SIZE)
        control[RANK_RADIX + digit * p.tiles + tile] = counts[digit];
}

/* Replaces a digit's count in each tile by the sum of its counts in earlier tiles. Sets control[digit] to the digit's
 * total. */
ORDO_KERNEL(GROUP_SIZE)
void sort_scan(__global uint *control, SORT_PLAN_PARAMS struct sort_pass p)
{
    __local uint scratch[GROUP_SCAN_WORDS];
    const uint   digit = (uint) get_group_id(0);
    if (sort_pass_digit(SORT_PLAN p).number == SORT_IDLE)
        return;
    __global uint *counts = control + RANK_RADIX + digit * p.tiles;
    uint           before = 0;
    for (uint first = 0; first < p.tiles; first += GROUP_SIZE) {
        const uint tile = first + get_local_id(0);
        const uint count = tile < p.tiles ? counts[tile] : 0;
        uint       all;
        const uint upto = before + group_scan_add(count, scratch, &all);
        if (tile < p.tiles)
            counts[tile] = upto;
        before += all;
    }
    if (get_local_id(0) == 0)
        control[digit] = before;
}

ORDO_KERNEL(GROUP_SIZE)
void sort_scatter(PAIRS_IN(in), PAIRS_OUT(out), __global const uint *control, SORT_PLAN_PARAMS struct sort_pass p)
{
    __local sort_local_memory l;
    const sort_digit          d = sort_pass_digit(SORT_PLAN p);
    if (d.number == SORT_IDLE)
        return;
    ordo_key_form bits[RANK_ITEMS];
    ordo_value    value[RANK_ITEMS];
    rank_places   places;
    uint          total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM];
    const uint    tile = (uint) get_group_id(0), here = sort_tile_count(p.count, tile);
    const ulong   tile_at = (ulong) tile * RANK_TILE;
    sort_load_keys(keys_in + p.keys_in_at + tile_at, here, bits);
    sort_rank_tile(&l, bits, d, &places, total, start);
    sort_load_values(PAIR_VALUES(in, p.values_in_at + tile_at), here, value);

    uint all, sum = 0;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        sum += control[digit];
    }
    uint digit_at = group_scan_add(sum, l.scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        l.base[digit] = digit_at + control[RANK_RADIX + digit * p.tiles + tile] - start[j];
        digit_at += control[digit];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_store_tile(&l, here, d, &places, value, keys_out + p.keys_out_at, PAIR_VALUES(out, p.values_out_at));
}
