/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of a radix sort of a small array, in one launch. Each work-group sorts a tile, but counts the digits of all
 * keys, so no group waits for another. */
#pragma once
#include "group/sort_tile.cl"

#define DIRECT_COPIES (RANK_TILE * sizeof(ordo_key) >= 2 * 8 * RANK_RADIX * sizeof(uint) ? 8 : 1)
#define DIRECT_AHEAD  4

ORDO_FN void direct_count(__global const ordo_key *keys, uint first, uint end, sort_digit d, __local uint *counts)
{
    const uint copy = get_local_id(0) % DIRECT_COPIES;
    for (uint at = first + get_local_id(0); at < end; at += DIRECT_AHEAD * GROUP_SIZE) {
        ordo_key key[DIRECT_AHEAD];
        ORDO_UNROLL
        for (int i = 0; i < DIRECT_AHEAD; i++)
            key[i] = keys[min(at + i * GROUP_SIZE, end - 1)];
        ORDO_UNROLL
        for (int i = 0; i < DIRECT_AHEAD; i++) {
            const uint digit = rank_digit(key_bits(key[i]), d.shift, d.mask);
            if (at + i * GROUP_SIZE < end)
                ordo_local_add(&counts[digit * DIRECT_COPIES + copy], 1);
        }
    }
}

ORDO_FN uint direct_sum(__local const uint *counts, uint digit)
{
    uint sum = 0;
    for (uint copy = 0; copy < DIRECT_COPIES; copy++)
        sum += counts[digit * DIRECT_COPIES + copy];
    return sum;
}

ORDO_KERNEL(GROUP_SIZE)
void sort_direct(PAIRS_IN(in), PAIRS_OUT(out), struct sort_pass p)
{
    __local sort_local_memory l;
    __local uint             *earlier = l.exchange.counts, *later = earlier + RANK_RADIX * DIRECT_COPIES;
    ordo_key_form             bits[RANK_ITEMS];
    ordo_value                value[RANK_ITEMS];
    rank_places               places;
    uint                      total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM], before[RANK_DIGITS_PER_ITEM];
    const uint                tile = (uint) get_group_id(0), here = sort_tile_count(p.count, tile);
    const uint                tile_at = tile * RANK_TILE;
    const sort_digit          d = { p.pass, p.shift, p.digit_mask };
    keys_in += p.keys_in_at;
    sort_load_keys(keys_in + tile_at, here, bits);

    for (uint i = get_local_id(0); i < 2 * RANK_RADIX * DIRECT_COPIES; i += GROUP_SIZE)
        earlier[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    direct_count(keys_in, 0, tile_at, d, earlier);
    direct_count(keys_in, tile_at, p.count, d, later);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0, all;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] = direct_sum(earlier, digit);
        total[j] = before[j] + direct_sum(later, digit);
        sum += total[j];
    }
    uint digit_at = group_scan_add(sum, l.scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] += digit_at;
        digit_at += total[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    sort_rank_tile(&l, bits, d, &places, total, start);
    sort_load_values(PAIR_VALUES(in, p.values_in_at + tile_at), here, value);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        l.base[digit] = before[j] - start[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_store_tile(&l, here, d, &places, value, keys_out + p.keys_out_at, PAIR_VALUES(out, p.values_out_at));
}
