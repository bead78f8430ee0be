/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of a radix sort. A work-group loads a tile of the keys, ranks the keys by a digit, and writes the elements
 * to the output. The whole group must call each function.
 *
 * A digit has at most RANK_BITS bits. */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "group/rank.cl"
#include "group/scan.cl"
#include "shared/key.h"
#include "shared/sort.h"

#ifndef SORT_PLANNED
#define SORT_PLANNED 0
#endif
#if RANK_BITS > 8
#error "RANK_BITS must be at most 8: the control buffer has SORT_RADIX_MAX counters a tile"
#endif

/* ---- digits ---------------------------------------------------------------------------------------------------- */

/* A digit is a few adjacent bits of a key's ordered form (shared/key.h). Digit 0 is the least significant. */
typedef struct {
    uint number, shift, mask;
} sort_digit;

ORDO_FN sort_digit sort_digit_of(uint number, uint first_bit, uint bits, uint passes)
{
    const uint below = SORT_BITS_BELOW(bits, passes, number);
    const uint width = SORT_BITS_BELOW(bits, passes, number + 1) - below;
    return (sort_digit) { number, first_bit + below, (1u << width) - 1 };
}

/* Kernels without a plan lack its parameters, because unused parameters cost up to 4 % of speed. */
#if SORT_PLANNED
#define SORT_PLAN_PARAMS __global const uint *plan, struct sort_planned planned,
#define SORT_PLAN        plan, planned,
#else
#define SORT_PLAN_PARAMS
#define SORT_PLAN
#endif

ORDO_FN sort_digit sort_pass_digit(SORT_PLAN_PARAMS struct sort_pass p)
{
#if SORT_PLANNED
    const uint number = plan[SORT_PLAN_DIGITS + p.pass];
    if (number == SORT_IDLE)
        return (sort_digit) { SORT_IDLE, 0, 0 };
    return sort_digit_of(number, planned.first_bit, planned.bits, planned.passes);
#else
    return (sort_digit) { 0, p.shift, p.digit_mask };
#endif
}

/* ---- a tile ---------------------------------------------------------------------------------------------------- */

/* Holds the digit counts of all teams first, then the keys in digit order, then the values in digit order. */
typedef union {
    uint       counts[RANK_WORDS];
    ordo_key   keys[RANK_TILE];
    ordo_value values[ORDO_VALUE_BYTES ? RANK_TILE : 1];
} sort_exchange;

typedef struct {
    sort_exchange exchange;
    uint          scratch[GROUP_SCAN_WORDS];
    uint          base[RANK_RADIX]; /* An element's output index is base[digit] plus its index in the sorted tile. */
    uint          tile;
    sort_digit    digit;
    uint          missing;
} sort_local_memory;

#ifndef LOCAL_BYTES
#define LOCAL_BYTES                                                                                                    \
    SORT_LOCAL_BYTES(GROUP_SIZE, TEAM_WIDTH, RANK_ITEMS, RANK_BITS, SHARED_MAX(KEY_BITS / 8, ORDO_VALUE_BYTES))
#endif
ORDO_STATIC_ASSERT(sizeof(sort_local_memory) <= LOCAL_BYTES, "the host reserves less local memory than a tile needs");

ORDO_FN uint sort_tile_count(uint count, uint tile)
{
    return min(count - tile * RANK_TILE, (uint) RANK_TILE);
}

ORDO_FN void sort_load_keys(__global const ordo_key *tile_keys, uint here, ordo_key_form *bits)
{
    const uint first = rank_first_element();
    if (here == RANK_TILE) {
        ORDO_UNROLL
        for (int i = 0; i < RANK_ITEMS; i++)
            bits[i] = key_bits(tile_keys[first + i * TEAM_WIDTH]);
    } else {
        ORDO_UNROLL
        for (int i = 0; i < RANK_ITEMS; i++) {
            const uint e = first + i * TEAM_WIDTH;
            bits[i] = e < here ? key_bits(tile_keys[e]) : KEY_GREATEST;
        }
    }
}

typedef struct {
    uint four[(RANK_ITEMS + 3) / 4];
} sort_digits;

ORDO_FN void sort_store_keys(__local const sort_local_memory *l, uint here, uint shift, uint mask,
                             __global ordo_key *out, sort_digits *digits)
{
    ORDO_UNROLL
    for (int k = 0; k < RANK_ITEMS; k++) {
        const uint     place = get_local_id(0) + k * GROUP_SIZE;
        const ordo_key key = l->exchange.keys[place];
        const uint     digit = rank_digit(key_bits(key), shift, mask);
        digits->four[k / 4] = k % 4 == 0 ? digit : digits->four[k / 4] | digit << k % 4 * 8;
        if (place < here)
            out[l->base[digit] + place] = key;
    }
}

ORDO_FN void sort_load_values(__global const ordo_value *tile_values, uint here, ordo_value *value)
{
    const uint first = rank_first_element();
    if (!ORDO_VALUE_BYTES)
        return;
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++) {
        const uint e = first + i * TEAM_WIDTH;
        value[i] = e < here ? tile_values[e] : (ordo_value) 0;
    }
}

ORDO_FN void sort_move_values(__local sort_local_memory *l, const ordo_value *value, uint here,
                              const rank_places *places, const sort_digits *digits, __global ordo_value *out)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        l->exchange.values[rank_place_of(places, i)] = value[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int k = 0; k < RANK_ITEMS; k++) {
        const uint at = get_local_id(0) + k * GROUP_SIZE;
        const uint digit = digits->four[k / 4] >> k % 4 * 8 & 255;
        if (at < here)
            out[l->base[digit] + at] = l->exchange.values[at];
    }
}

/* Writes a ranked tile to the output. The caller must set l->base and pass a barrier first. */
ORDO_FN void sort_store_tile(__local sort_local_memory *l, uint here, sort_digit d, const rank_places *places,
                             const ordo_value *value, __global ordo_key *keys_out, __global ordo_value *values_out)
{
    sort_digits digits;
    sort_store_keys(l, here, d.shift, d.mask, keys_out, &digits);
    if (ORDO_VALUE_BYTES)
        sort_move_values(l, value, here, places, &digits, values_out);
}

/* Writes the keys in digit order to l->exchange.keys, over l->exchange.counts. Begins with a barrier. A barrier must
 * follow. */
ORDO_FN void sort_exchange_keys(__local sort_local_memory *l, const ordo_key_form *bits, const rank_places *places)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        l->exchange.keys[rank_place_of(places, i)] = key_from_bits(bits[i]);
}

/* Sorts the keys of a tile by a digit into l->exchange. Each work-item handles RANK_DIGITS_PER_ITEM consecutive digit
 * values. For its j-th value, total[j] becomes the number of keys with this value. start[j] becomes the index of the
 * first such key. A barrier must follow. */
ORDO_FN void sort_rank_tile(__local sort_local_memory *l, const ordo_key_form *bits, sort_digit d, rank_places *places,
                            uint *total, uint *start)
{
    rank_clear(l->exchange.counts);
    rank_within_team(bits, d.shift, d.mask, l->exchange.counts, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_totals(l->exchange.counts, total);
    rank_starts(l->exchange.counts, total, l->scratch, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_to_places(bits, d.shift, d.mask, l->exchange.counts, places);
    sort_exchange_keys(l, bits, places);
}

/* Ends with a barrier. */
ORDO_FN void sort_count_tile(__global const ordo_key *tile_keys, uint here, uint shift, uint mask, __local uint *counts)
{
    for (uint digit = get_local_id(0); digit < RANK_RADIX; digit += GROUP_SIZE)
        counts[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = get_local_id(0); e < here; e += GROUP_SIZE)
        ordo_local_add(&counts[rank_digit(key_bits(tile_keys[e]), shift, mask)], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
}
