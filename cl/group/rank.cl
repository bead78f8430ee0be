/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts a tile, that is the keys of one work-group, by a digit. A key's *rank* is the number of earlier keys with the
 * same digit. Its *place* is its index after a stable sort. The whole group must call each function. */

/* Each work-item has RANK_ITEMS keys in registers. A team (device/team.cl) has consecutive keys: the first key of each
 * lane, then the second key of each lane, and so on. Each team counts digits in its own row of local memory. Merrill
 * and Grimshaw, Revisiting Sorting for GPGPU Stream Architectures (PACT 2010). Ashkiani et al., GPU Multisplit (PPoPP
 * 2016). */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "group/scan.cl"
#include "shared/key.h"

#ifndef RANK_BITS
#define RANK_BITS 4
#endif
#ifndef RANK_ITEMS
#define RANK_ITEMS 4
#endif
#define RANK_RADIX (1 << RANK_BITS)
#define RANK_TEAMS (GROUP_SIZE / TEAM_WIDTH)
#define RANK_TILE  (GROUP_SIZE * RANK_ITEMS)
#define RANK_WORDS (RANK_TEAMS * RANK_RADIX)

#define RANK_DIGITS_PER_ITEM ((RANK_RADIX + GROUP_SIZE - 1) / GROUP_SIZE)

#define RANK_FOR_MY_DIGITS(digit, j)                                                                                   \
    ORDO_UNROLL                                                                                                        \
    for (uint j = 0, digit = get_local_id(0) * RANK_DIGITS_PER_ITEM; j < RANK_DIGITS_PER_ITEM && digit < RANK_RADIX;   \
         j++, digit++)

#if RANK_TILE > 65536
#error "RANK_TILE must be at most 65536: a rank has 16 bits"
#endif

typedef struct {
    uint two[(RANK_ITEMS + 1) / 2];
} rank_places;

ORDO_FN uint rank_place_of(const rank_places *places, int i)
{
    return i % 2 == 0 ? places->two[i / 2] & 0xffff : places->two[i / 2] >> 16;
}

/* Must be called with ascending i. A call with an even i clears place i + 1. */
ORDO_FN void rank_set_place(rank_places *places, int i, uint place)
{
    places->two[i / 2] = i % 2 == 0 ? place : places->two[i / 2] | place << 16;
}

ORDO_FN uint rank_digit(ordo_key_form bits, uint shift, uint mask)
{
    return key_digit(bits, shift, mask);
}

/* Returns the index in the tile of this work-item's first key. Its other keys follow, TEAM_WIDTH apart. */
ORDO_FN uint rank_first_element(void)
{
    return team_index() * (TEAM_WIDTH * RANK_ITEMS) + team_lane();
}

ORDO_FN void rank_clear(__local uint *counts)
{
    __local uint *mine = counts + team_index() * RANK_RADIX;
    for (uint digit = team_lane(); digit < RANK_RADIX; digit += TEAM_WIDTH)
        mine[digit] = 0;
    team_sync();
}

ORDO_FN void rank_count(const ordo_key_form *bits, uint shift, uint mask, __local uint *counts)
{
    __local uint *mine = counts + team_index() * RANK_RADIX;
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        ordo_local_add(&mine[rank_digit(bits[i], shift, mask)], 1);
}

/* Adds the team's keys, in order, to the counters of their digits. Rank i becomes the counter's value before key i is
 * added. */
ORDO_FN void rank_within_team(const ordo_key_form *bits, uint shift, uint mask, __local uint *counts,
                              rank_places *ranks)
{
    __local uint *mine = counts + team_index() * RANK_RADIX;
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++) {
        const uint      digit = rank_digit(bits[i], shift, mask);
        const team_mask peers = team_match(digit, RANK_BITS);
        const uint      before = mine[digit];
        const uint      below = mask_count(peers & team_lanes_below());
        team_sync();
        if (below == 0)
            mine[digit] = before + mask_count(peers);
        team_sync();
        rank_set_place(ranks, i, before + below);
    }
}

#define RANK_TEAMS_AHEAD (RANK_TEAMS < 8 ? RANK_TEAMS : 8)

/* total[j] becomes the number of keys in the tile with this work-item's j-th digit value. A barrier must precede. */
ORDO_FN void rank_totals(__local const uint *counts, uint *total)
{
    RANK_FOR_MY_DIGITS(digit, j)
    {
        uint sum = 0;
        for (uint first = 0; first < RANK_TEAMS; first += RANK_TEAMS_AHEAD) {
            ORDO_UNROLL
            for (uint i = 0; i < RANK_TEAMS_AHEAD; i++)
                sum += first + i < RANK_TEAMS ? counts[(first + i) * RANK_RADIX + digit] : 0;
        }
        total[j] = sum;
    }
}

ORDO_FN void rank_team_starts(__local uint *counts, uint digit, uint next)
{
    for (uint first = 0; first < RANK_TEAMS; first += RANK_TEAMS_AHEAD) {
        uint here[RANK_TEAMS_AHEAD];
        ORDO_UNROLL
        for (uint i = 0; i < RANK_TEAMS_AHEAD; i++)
            here[i] = first + i < RANK_TEAMS ? counts[(first + i) * RANK_RADIX + digit] : 0;
        ORDO_UNROLL
        for (uint i = 0; i < RANK_TEAMS_AHEAD; i++) {
            if (first + i < RANK_TEAMS)
                counts[(first + i) * RANK_RADIX + digit] = next;
            next += here[i];
        }
    }
}

/* Each work-item handles RANK_DIGITS_PER_ITEM consecutive digit values. For the work-item's j-th value, start[j]
 * becomes the place of the first key with this value. Replaces the number of keys of each team and value in `counts` by
 * the place of the team's first key with this value. A barrier must follow. */
ORDO_FN void rank_starts(__local uint *counts, const uint *total, __local uint *scratch, uint *start)
{
    uint sum = 0, all;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        sum += total[j];
    }
    uint before = group_scan_add(sum, scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        start[j] = before;
        rank_team_starts(counts, digit, before);
        before += total[j];
    }
}

/* Replaces each key's rank within the team by the key's index in the sorted tile. rank_starts must have set `counts`. A
 * barrier must separate the two calls. */
ORDO_FN void rank_to_places(const ordo_key_form *bits, uint shift, uint mask, __local const uint *counts,
                            rank_places *ranks)
{
    __local const uint *mine = counts + team_index() * RANK_RADIX;
    rank_places         places;
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        rank_set_place(&places, i, mine[rank_digit(bits[i], shift, mask)] + rank_place_of(ranks, i));
    *ranks = places;
}
