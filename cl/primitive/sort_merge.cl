/* SPDX-License-Identifier: Apache-2.0 */
/* Merges sorted tiles by rank. An element's output index is the number of elements before it in all tiles. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/sort.h"

/* A work-item searches this number of tiles at once, because a load takes long. */
#define MERGE_AHEAD 8

typedef struct {
    __global const ordo_key *keys;
    ordo_key_form            mask; /* the bits to sort by */
    uint                     count, tile, longest_step;
} merge_tiles;

ORDO_FN merge_tiles merge_tiles_of(__global const ordo_key *keys, struct sort_merge m)
{
    const ordo_key_form low = key_above(KEY_GREATEST, KEY_BITS - m.bits - m.first_bit);
    return (merge_tiles) { keys, low & ~key_low_bits(m.first_bit), m.count, m.tile, 1u << (31 - clz(m.tile)) };
}

ORDO_FN ordo_key_form merge_form(merge_tiles t, uint i)
{
    return key_bits(t.keys[i]) & t.mask;
}

/* Returns the number of elements before element `form` of tile `own` in MERGE_AHEAD tiles from `first` on, except in
 * tile `own`. Equal keys of earlier tiles are before it. */
ORDO_FN uint merge_count(merge_tiles t, uint first, uint own, ordo_key_form form)
{
    uint at[MERGE_AHEAD], end[MERGE_AHEAD], before = 0;
    ORDO_UNROLL
    for (int i = 0; i < MERGE_AHEAD; i++) {
        at[i] = min((first + i) * t.tile, t.count);
        end[i] = first + i == own ? at[i] : min(at[i] + t.tile, t.count);
        before -= at[i];
    }
    for (uint step = t.longest_step; step > 0; step /= 2) {
        ordo_key_form other[MERGE_AHEAD];
        ORDO_UNROLL
        for (int i = 0; i < MERGE_AHEAD; i++)
            other[i] = merge_form(t, min(at[i] + step, t.count) - 1);
        ORDO_UNROLL
        for (int i = 0; i < MERGE_AHEAD; i++) {
            const bool is_before = first + i < own ? key_upto(other[i], form) : key_before(other[i], form);
            at[i] += is_before && at[i] + step <= end[i] ? step : 0;
        }
    }
    ORDO_UNROLL
    for (int i = 0; i < MERGE_AHEAD; i++)
        before += at[i];
    return before;
}

ORDO_KERNEL(GROUP_SIZE)
void sort_merge(PAIRS_IN(in), PAIRS_OUT(out), struct sort_merge m)
{
    __global const ordo_value *from_values = PAIR_VALUES(in, m.values_in_at);
    __global ordo_value       *to_values = PAIR_VALUES(out, m.values_out_at);
    const uint                 e = (uint) get_global_id(0), own = e / m.tile;
    if (e >= m.count)
        return;
    const merge_tiles   t = merge_tiles_of(keys_in + m.keys_in_at, m);
    const ordo_key_form form = merge_form(t, e);
    uint                place = e - own * m.tile;
    const uint          tiles = (m.count - 1) / m.tile + 1;
    for (uint first = 0; first < tiles; first += MERGE_AHEAD)
        place += merge_count(t, first, own, form);
    keys_out[m.keys_out_at + place] = t.keys[e];
    if (ORDO_VALUE_BYTES)
        to_values[place] = from_values[e];
}
