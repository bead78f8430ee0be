/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort of each tile by one work-group, in one launch. Kernel sort_merge merges several tiles. */
#pragma once
#include "device/team.cl"
#include "group/rank.cl"
#include "shared/key.h"
#include "shared/sort.h"

typedef union {
    uint       counts[RANK_WORDS];
    ordo_key   keys[RANK_TILE];
    ordo_value values[ORDO_VALUE_BYTES ? RANK_TILE : 1];
} small_exchange;

typedef struct {
    small_exchange exchange;
    uint           scratch[GROUP_SCAN_WORDS];
} small_local;

#ifndef LOCAL_BYTES
#define LOCAL_BYTES                                                                                                    \
    SORT_LOCAL_BYTES(GROUP_SIZE, TEAM_WIDTH, RANK_ITEMS, RANK_BITS, SHARED_MAX(KEY_BITS / 8, ORDO_VALUE_BYTES))
#endif
ORDO_STATIC_ASSERT(sizeof(small_local) <= LOCAL_BYTES, "the host reserves less local memory than the sort needs");

/* Sets `places` to the indices that this work-item's keys have after a sort by one digit. The whole group must call. A
 * barrier must separate the call from earlier uses of l->exchange. */
ORDO_FN void small_rank(__local small_local *l, const ordo_key_form *bits, uint shift, uint mask, rank_places *places)
{
    uint total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM];
    rank_clear(l->exchange.counts);
    rank_within_team(bits, shift, mask, l->exchange.counts, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_totals(l->exchange.counts, total);
    rank_starts(l->exchange.counts, total, l->scratch, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_to_places(bits, shift, mask, l->exchange.counts, places);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Moves the values `reg` of all work-items to their `places`, through local memory. Ends with a barrier. */
#define SMALL_EXCHANGE(array, reg, first, places)                                                                      \
    do {                                                                                                               \
        ORDO_UNROLL                                                                                                    \
        for (int i = 0; i < RANK_ITEMS; i++)                                                                           \
            (array)[rank_place_of(&(places), i)] = (reg)[i];                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (int i = 0; i < RANK_ITEMS; i++)                                                                           \
            (reg)[i] = (array)[(first) + i * TEAM_WIDTH];                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    } while (0)

/* The output may be the input, because all reads precede the writes. */
ORDO_KERNEL(GROUP_SIZE)
void sort_small(PAIRS_IN(in), PAIRS_OUT(out), struct sort_small s)
{
    __local small_local        l;
    __global const ordo_value *from_values = PAIR_VALUES(in, s.values_in_at);
    __global ordo_value       *to_values = PAIR_VALUES(out, s.values_out_at);
    const uint                 first = rank_first_element(), tile_at = (uint) get_group_id(0) * RANK_TILE;
    ordo_key_form              bits[RANK_ITEMS];
    ordo_value                 value[RANK_ITEMS];
    rank_places                places;
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++) {
        const uint e = tile_at + first + i * TEAM_WIDTH;
        bits[i] = e < s.count ? key_bits(keys_in[s.keys_in_at + e]) : KEY_GREATEST;
        if (ORDO_VALUE_BYTES)
            value[i] = e < s.count ? from_values[e] : (ordo_value) 0;
    }
    for (uint pass = 0; pass < s.passes; pass++) {
        const uint below = SORT_BITS_BELOW(s.bits, s.passes, pass);
        const uint width = SORT_BITS_BELOW(s.bits, s.passes, pass + 1) - below;
        small_rank(&l, bits, s.first_bit + below, (1u << width) - 1, &places);
        SMALL_EXCHANGE(l.exchange.keys, bits, first, places);
        if (ORDO_VALUE_BYTES)
            SMALL_EXCHANGE(l.exchange.values, value, first, places);
    }
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++) {
        const uint e = tile_at + first + i * TEAM_WIDTH;
        if (e < s.count) {
            keys_out[s.keys_out_at + e] = key_from_bits(bits[i]);
            if (ORDO_VALUE_BYTES)
                to_values[e] = value[i];
        }
    }
}
