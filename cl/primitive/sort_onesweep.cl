/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort, least significant digit first, in one launch per pass. Each work-group sorts a tile: it publishes
 * the tile's digit counts, and adds up the counts of earlier tiles (look-back). Adinets and Merrill, Onesweep
 * (2022). */
#pragma once
#include "group/sort_tile.cl"
#include "primitive/sort_histogram.cl"

/* Built together: sort_histogram sort_onesweep */

/* If a tile's counts are missing after SORT_LOOKS polls, the group that waits counts the tile's keys itself. */
#ifndef SORT_LOOKS
#define SORT_LOOKS 4096
#endif

typedef struct {
    uint sum;
    int  at;
} sort_look;

#define SORT_LOOK_AHEAD 4

ORDO_FN bool sort_look_back(__global uint *status, uint digit, int first_tile, uint upto, sort_look *look)
{
    for (uint looks = 0; look->at >= first_tile && looks < SORT_LOOKS; looks++) {
        uint word[SORT_LOOK_AHEAD];
        ORDO_UNROLL
        for (int i = 0; i < SORT_LOOK_AHEAD; i++)
            word[i] = ordo_load_relaxed(&status[(uint) max(look->at - i, first_tile) * RANK_RADIX + digit]);
        bool silent = false;
        ORDO_UNROLL
        for (int i = 0; i < SORT_LOOK_AHEAD; i++) {
            const uint code = word[i] >> SORT_COUNT_BITS;
            const bool known = code == upto || code == SORT_CODE_OWN;
            silent = silent || !known;
            if (silent || look->at < first_tile)
                continue;
            look->sum += word[i] & SORT_COUNT_MASK;
            look->at = code == upto ? first_tile - 1 : look->at - 1;
            looks = 0;
        }
        if (looks)
            ordo_pause();
    }
    return look->at < first_tile;
}

/* Sets before[j] to the number of elements with this work-item's j-th digit in earlier tiles of the launch. l->missing
 * must be 0 before. */
ORDO_FN void sort_elements_before(__local sort_local_memory *l, __global uint *status, __global const ordo_key *keys,
                                  struct sort_pass p, sort_digit d, uint *before)
{
    const int first_tile = (int) p.first_tile;
    sort_look look[RANK_DIGITS_PER_ITEM];
    bool      silent = false;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        look[j].sum = 0;
        look[j].at = (int) l->tile - 1;
        if (!sort_look_back(status, digit, first_tile, SORT_CODE_UPTO(p.pass), &look[j]))
            silent = true;
    }
    for (;;) {
        if (silent) {
            RANK_FOR_MY_DIGITS(digit, j)
            {
                if (look[j].at >= first_tile)
                    ordo_local_max(&l->missing, (uint) look[j].at + 1);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint missing = l->missing;
        if (missing == 0)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            l->missing = 0;
        sort_count_tile(keys + (ulong) (missing - 1) * RANK_TILE, sort_tile_count(p.count, missing - 1), d.shift,
                        d.mask, l->base);
        silent = false;
        RANK_FOR_MY_DIGITS(digit, j)
        {
            if (look[j].at == (int) missing - 1) {
                look[j].sum += l->base[digit];
                look[j].at--;
            }
            if (!sort_look_back(status, digit, first_tile, SORT_CODE_UPTO(p.pass), &look[j]))
                silent = true;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] = look[j].sum;
    }
}

ORDO_FN void sort_publish(__global uint *status, uint tile, const uint *count, uint code)
{
    RANK_FOR_MY_DIGITS(digit, j)
    {
        ordo_store_relaxed(&status[tile * RANK_RADIX + digit], code << SORT_COUNT_BITS | count[j]);
    }
}

/* Takes the launch's next tile from a counter. Groups take tiles when they start, so the groups of all earlier tiles
 * have started. */
ORDO_FN sort_digit sort_draw_tile(__local sort_local_memory *l, __global uint *control,
                                  SORT_PLAN_PARAMS struct sort_pass p)
{
    if (get_local_id(0) == 0) {
        l->tile = p.first_tile + ordo_add(&control[p.ticket_word], 1);
        l->missing = 0;
        if (SORT_PLANNED)
            l->digit = sort_pass_digit(SORT_PLAN p);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return SORT_PLANNED ? l->digit : sort_pass_digit(SORT_PLAN p);
}

ORDO_KERNEL(GROUP_SIZE)
void sort_onesweep(PAIRS_IN(in), PAIRS_OUT(out), __global uint *control, SORT_PLAN_PARAMS struct sort_pass p)
{
    __local sort_local_memory l;
    const sort_digit          d = sort_draw_tile(&l, control, SORT_PLAN p);
    if (d.number == SORT_IDLE)
        return;
    __global uint *status = control + p.status_word, *bases = control + 2 * d.number * RANK_RADIX;
    ordo_key_form  bits[RANK_ITEMS];
    ordo_value     value[RANK_ITEMS];
    rank_places    places;
    uint           total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM], before[RANK_DIGITS_PER_ITEM];
    const uint     tile = l.tile, here = sort_tile_count(p.count, tile);
    const ulong    tile_at = (ulong) tile * RANK_TILE;
    keys_in += p.keys_in_at;
    sort_load_keys(keys_in + tile_at, here, bits);

    /* Counts the digits before ranking, so that later tiles get the counts earlier. On an H200, 2^26 keys of 4 bytes
     * then take 1.75 instead of 2.10 ms. */
    rank_clear(l.exchange.counts);
    rank_count(bits, d.shift, d.mask, l.exchange.counts);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_totals(l.exchange.counts, total);
    /* The unused elements of an incomplete last tile have the greatest digit. So the tile's count of this digit is too
     * great, but no later tile reads it. */
    sort_publish(status, tile, total, tile == p.first_tile ? SORT_CODE_UPTO(p.pass) : SORT_CODE_OWN);
    rank_starts(l.exchange.counts, total, l.scratch, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_within_team(bits, d.shift, d.mask, l.exchange.counts, &places);
    sort_exchange_keys(&l, bits, &places);
    sort_load_values(PAIR_VALUES(in, p.values_in_at + tile_at), here, value);

    sort_elements_before(&l, status, keys_in, p, d, before);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        const uint base = bases[p.bases_in_word + digit] + before[j];
        l.base[digit] = base - start[j];
        before[j] += total[j];
        if (tile == p.end_tile - 1)
            bases[p.bases_out_word + digit] = base + total[j];
    }
    if (tile != p.first_tile)
        sort_publish(status, tile, before, SORT_CODE_UPTO(p.pass));
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_store_tile(&l, here, d, &places, value, keys_out + p.keys_out_at, PAIR_VALUES(out, p.values_out_at));
}
