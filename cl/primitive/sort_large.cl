/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the ranges that sort_local.cl left unsorted: ranges that are too long, or have a bin (similar keys) with too
 * many elements. */
#pragma once
#include "group/sort_tile.cl"

typedef struct {
    __global ordo_key   *keys;
    __global ordo_value *values;
} sort_array;

/* Sorts by one digit, tile after tile. Ends with a barrier that makes the result visible. */
ORDO_FN void large_pass(__local sort_local_memory *l, sort_array from, sort_array to, uint count, sort_digit d)
{
    uint next[RANK_DIGITS_PER_ITEM], sum = 0, all;
    sort_count_tile(from.keys, count, d.shift, d.mask, l->base);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        next[j] = l->base[digit];
        sum += next[j];
    }
    uint before = group_scan_add(sum, l->scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        const uint here = next[j];
        next[j] = before;
        before += here;
    }
    for (uint at = 0; at < count; at += RANK_TILE) {
        const uint    here = min(count - at, (uint) RANK_TILE);
        ordo_key_form bits[RANK_ITEMS];
        rank_places   places;
        ordo_value    value[RANK_ITEMS];
        uint          total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM];

        sort_load_keys(from.keys + at, here, bits);
        barrier(CLK_LOCAL_MEM_FENCE);
        sort_rank_tile(l, bits, d, &places, total, start);
        RANK_FOR_MY_DIGITS(digit, j)
        {
            l->base[digit] = next[j] - start[j];
            next[j] += total[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sort_load_values(from.values + at, here, value);
        sort_store_tile(l, here, d, &places, value, to.keys, to.values);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Sorts one range by the key bits from `first_bit` to the highest bit in which `least` and `greatest` differ. Reads
 * `out` if from_out, else `spare`. Writes `out`, and overwrites `spare`. */
ORDO_FN void large_range(__local sort_local_memory *l, sort_array out, sort_array spare, bool from_out, uint count,
                         uint first_bit, ordo_key_form least, ordo_key_form greatest)
{
    const uint bits = KEY_BITS - first_bit, above = KEY_BITS - key_width((least ^ greatest) | key_low_bits(1));
    const uint differing = above < bits ? bits - above : 1, wanted = (differing + RANK_BITS - 1) / RANK_BITS;
    const uint passes = wanted + (wanted % 2 == (from_out ? 0 : 1) ? 0 : 1);
    for (uint pass = 0; pass < passes; pass++) {
        const bool reads_out = (passes - pass) % 2 == 0;
        large_pass(l, reads_out ? out : spare, reads_out ? spare : out, count,
                   sort_digit_of(pass, first_bit, differing, passes));
    }
}

ORDO_KERNEL(GROUP_SIZE)
void sort_large(PAIRS_OUT(out), PAIRS_OUT(spare), __global const uint *plan, __global const uint *bounds,
                struct sort_local s)
{
    __local sort_local_memory l;
    const uint                local_bit = plan[SORT_PLAN_LOCAL];
    if (local_bit == SORT_NO_LOCAL)
        return;
    const uint range = (uint) get_group_id(0), first = bounds[range], count = bounds[range + 1] - first;
    if (count == 0 || (count <= s.range_max && !bounds[s.ranges + 1 + range]))
        return;
    const bool               from_out = (s.passes - plan[SORT_PLAN_PASSES]) % 2 == 0;
    const sort_array         out = { keys_out + s.keys_out_at + first, PAIR_VALUES(out, s.values_out_at + first) };
    const sort_array         spare = { keys_spare + first, PAIR_VALUES(spare, first) };
    __global const ordo_key *keys = from_out ? out.keys : spare.keys;
    const ordo_key_form      below = key_low_bits(local_bit);
    const ordo_key_form      least = key_bits(keys[0]) & ~below, greatest = key_bits(keys[count - 1]) | below;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    large_range(&l, out, spare, from_out, count, s.first_bit, least, greatest);
}
