/* SPDX-License-Identifier: Apache-2.0 */
/* Merges up to RUN_TABLE_MAX sorted arrays (runs) stably: equal keys stay in the order of their runs. Each work-group
 * merges a tile (slice) of the output. Samples of the keys determine the tiles:
 *
 *  runs_sample    copies every stride-th element of each run as a sample
 *  runs_select    selects every window-th sample in key order. These are the *splitters*: each ends a tile
 *  runs_split     counts the elements of each run up to each splitter
 *  runs_tiles     merges a tile in local memory
 *  runs_dedup     merges a tile, but writes only the newest element of each key, unless it is hidden
 *  runs_heads     sets a flag for each key of a run that differs from the previous key
 *  runs_chunks    merges a tile by one work-item, for CPUs (RUNS_GROUP == 1) */

/* An element is *hidden* if a newer run replaces or erases it. RUNS_HIDDEN (shared/runs.h) selects whether a merge
 * writes hidden elements. With RUNS_FILTER, the hidden bits of all runs must be correct.
 *
 * With COMBINE_OP (group/value.cl), a key's value in the first run is combined with its last value in the second run.
 * This needs RUNS_DEDUP, two runs, and distinct keys in the first run. */
#pragma once
#include "device/atomic.cl"
#include "group/merge.cl"
#include "group/runs.cl"
#include "group/value.cl"

#ifndef RUNS_GROUP
#define RUNS_GROUP 64
#endif
#ifndef RUNS_ITEMS
#define RUNS_ITEMS 9
#endif
#ifndef RUNS_SEARCH_GROUP
#define RUNS_SEARCH_GROUP 64
#endif

#ifndef RUNS_HIDDEN
#define RUNS_HIDDEN RUNS_PLAIN
#endif
#define RUNS_FROM        (ORDO_VALUE_BYTES || RUNS_HIDDEN)
#define RUNS_FROM_HIDDEN 0x8000
#define RUNS_CLOSES_GAPS (RUNS_GROUP > 1 && (RUNS_HIDDEN == RUNS_FILTER || RUNS_HIDDEN == RUNS_DEDUP))
#if VALUE_COMBINES && !(RUNS_GROUP > 1 && RUNS_HIDDEN == RUNS_DEDUP && ORDO_VALUE_BYTES)
#error "COMBINE_OP is for RUNS_HIDDEN 3, with values, by groups"
#endif
#if RUNS_CLOSES_GAPS
#define FOLD_GROUP  RUNS_GROUP
#define FOLD_COUNTS 1
#include "group/fold.cl"
#endif

#include "group/run_cuts.cl"

ORDO_KERNEL(RUNS_SEARCH_GROUP)
void runs_sample(RUNS_KEYS run_table runs, __global ordo_key *restrict samples)
{
    __local run_table table;
    __local runs_keys key_of[RUN_TABLE_MAX];
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, key_of)
    }
    runs_load_table(&runs, &table);

    const uint sample = (uint) get_global_id(0);
    if (sample >= table.n_samples_before[RUN_TABLE_MAX])
        return;
    const uint r = runs_last_start(table.n_samples_before, RUN_TABLE_MAX, sample);
    const uint end = (sample - table.n_samples_before[r] + 1) * table.stride;
    samples[sample] = key_of[r][end - 1];
}

/* If a run is not sorted, some words of `splitters` keep their old values. */
ORDO_KERNEL(RUNS_SEARCH_GROUP)
void runs_select(__global const ordo_key *restrict samples, run_table runs, __global uint *restrict splitters)
{
    __local run_table table;
    runs_load_table(&runs, &table);

    const uint sample = (uint) get_global_id(0);
    if (sample >= table.n_samples_before[RUN_TABLE_MAX])
        return;
    const uint          own = runs_last_start(table.n_samples_before, RUN_TABLE_MAX, sample);
    const ordo_key_form x = key_bits(samples[sample]);

    uint rank = sample - table.n_samples_before[own];
    for (uint r = 0; r < table.n_runs; r++)
        if (r != own)
            rank += runs_samples_before(&table, samples, r, x, own);
    if ((rank + 1) % table.window == 0)
        splitters[rank / table.window] = sample;
}

/* Sets splits[i * n_runs + r] to the number of elements of run r in tiles 0 to i. Splitter i is the last element of
 * tile i. */
ORDO_KERNEL(RUNS_SEARCH_GROUP)
/* clang-format off */
void runs_split(RUNS_KEYS run_table runs,
                __global const ordo_key *restrict samples, __global const uint *restrict splitters, uint n_splitters,
                __global uint *restrict splits)
/* clang-format on */
{
    __local run_table table;
    __local runs_keys key_of[RUN_TABLE_MAX];
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, key_of)
    }
    runs_load_table(&runs, &table);

    const uint r = (uint) get_global_id(0) / n_splitters, splitter = (uint) get_global_id(0) % n_splitters;
    if (r >= table.n_runs)
        return;
    const uint          sample = min(splitters[splitter], table.n_samples_before[RUN_TABLE_MAX] - 1);
    const uint          own = runs_last_start(table.n_samples_before, RUN_TABLE_MAX, sample);
    const ordo_key_form x = key_bits(samples[sample]);

    uint split;
    if (r == own) {
        split = (sample - table.n_samples_before[own] + 1) * table.stride;
    } else {
        const uint low = runs_samples_before(&table, samples, r, x, own) * table.stride;
        const uint high = min(table.count[r] - low, table.stride - 1) + low;
        split = runs_count_before(key_of[r], low, high, x, r < own);
    }
    splits[splitter * table.n_runs + r] = split;
}

#define RUNS_TILE_ARGS                                                                                                 \
    RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *restrict splits, uint n_tiles, uint n_rounds,           \
        uint capacity, __global ordo_key *restrict keys_out, ulong keys_out_at,                                        \
        __global merge_value *restrict values_out, ulong values_out_at

#if RUNS_GROUP > 1

#include "group/run_tile.cl"

#if RUNS_HIDDEN != RUNS_DEDUP
ORDO_KERNEL(RUNS_GROUP)
void runs_tiles(RUNS_TILE_ARGS, __global uint *restrict hidden_out, ulong hidden_out_at)
{
    __local runs_local mem;
    if (RUNS_SETTER(1)) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
#if RUNS_HIDDEN
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
#endif
    }
    runs_load_table(&runs, &mem.table);
    runs_lay_out(&mem, splits, (uint) get_group_id(0), n_tiles, n_rounds, capacity);

    const uint count = mem.used[0];
    if (count == 0)
        return;
    runs_make_tile(&mem, n_rounds, count);
    uint left = count;
#if RUNS_HIDDEN == RUNS_KEEP
    runs_store_hidden(&mem, count, hidden_out + hidden_out_at);
#elif RUNS_HIDDEN == RUNS_FILTER
    const uint visible = runs_visible_slots(&mem, count);
    const uint begin = runs_rank_visible(&mem, popcount(visible), &left);
    runs_close_gaps(&mem, visible, begin);
#endif
    runs_store_keys(&mem, left, keys_out ? keys_out + keys_out_at + mem.begin : 0);
    runs_copy_values(&mem, 1u << n_rounds, count, left, values_out ? values_out + values_out_at + mem.begin : 0);
}

#else

typedef struct {
    __local const runs_local *mem;
    __global const uint      *splits;
    uint                      n_tiles;
} runs_input;
#define LOOKBACK_INPUT runs_input

/* Returns whether element i of run r is not hidden, and is the newest element with its key. The element must be in the
 * tile. Later elements of run r, and all elements of later runs, are newer. */
ORDO_FN bool runs_is_visible(__private const runs_input *in, uint tile, uint r, uint i)
{
    __local const runs_local *mem = in->mem;
    const runs_keys           keys = runs_whole(mem, r);
    const ordo_key_form       x = key_bits(keys[i]);
    bool                      visible = !run_is_hidden(mem->hidden_of[r], i);
    if (i + 1 < mem->table.count[r])
        visible = visible && !key_same(key_bits(keys[i + 1]), x);
    for (uint s = r + 1; s < mem->table.n_runs; s++) {
        const runs_keys newer = runs_whole(mem, s);
        const runs_part part = runs_part_of(&mem->table, in->splits, tile, in->n_tiles, s);
        const uint      at = runs_count_before(newer, part.begin, part.end, x, false);
        if (at < mem->table.count[s])
            visible = visible && !key_same(key_bits(newer[at]), x);
    }
    return visible;
}

ORDO_FN uint lookback_refold(__private const runs_input *in, uint tile)
{
    uint visible = 0;
    for (uint r = 0; r < in->mem->table.n_runs; r++) {
        const runs_part part = runs_part_of(&in->mem->table, in->splits, tile, in->n_tiles, r);
        for (uint i = part.begin + team_lane(); i < part.end; i += TEAM_WIDTH)
            visible += runs_is_visible(in, tile, r, i);
    }
    return team_reduce_add(visible);
}

#include "group/lookback.cl"

#if ORDO_VALUE_BYTES && !VALUE_COMBINES
ORDO_KERNEL(RUNS_SEARCH_GROUP)
void runs_heads(__global const ordo_key *restrict keys, ulong keys_at, uint n, __global uchar *restrict heads)
{
    const uint apart = (n + MERGE_RUNS_HEADS - 1) / MERGE_RUNS_HEADS, first = (uint) get_global_id(0);
    bool       head[MERGE_RUNS_HEADS];
    if (first >= apart)
        return;
    keys += keys_at;
    ORDO_UNROLL
    for (uint k = 0; k < MERGE_RUNS_HEADS; k++) {
        const uint i = min(first + k * apart, n - 1);
        head[k] = i == 0 || !key_same(keys[i], keys[i - 1]);
    }
    ORDO_UNROLL
    for (uint k = 0; k < MERGE_RUNS_HEADS; k++)
        if (first + k * apart < n)
            heads[first + k * apart] = head[k];
}
#endif

/* Built together: runs_sample runs_select runs_split */

ORDO_KERNEL(RUNS_GROUP)
void runs_dedup(RUNS_TILE_ARGS, __global uint *state, uint stamp, __global uint *restrict kept)
{
    __local runs_local   mem;
    const lookback_state s = lookback_state_at(state, stamp);
    const runs_input     input = { &mem, splits, n_tiles };
    if (RUNS_SETTER(3))
        mem.ticket = lookback_take(s);
    if (RUNS_SETTER(1)) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
    }
    if (RUNS_SETTER(2)) {
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    runs_load_table(&runs, &mem.table);
    const uint tile = mem.ticket;
    runs_lay_out(&mem, splits, tile, n_tiles, n_rounds, capacity);

    const uint     count = mem.used[0];
    const runs_key next = runs_read_next(&mem);
    uint           visible = 0, left = 0;
    if (count > 0) {
        runs_make_tile(&mem, n_rounds, count);
        runs_keep_next(&mem, next);
        visible = runs_visible_slots(&mem, count);
#if VALUE_COMBINES
        runs_note_first(&mem, count);
#endif
    }
    const uint begin = runs_rank_visible(&mem, popcount(visible), &left);
    if (get_local_id(0) == 0)
        lookback_announce(s, tile, left, false);
    runs_close_gaps(&mem, visible, begin);
    const uint before = lookback_prefix(&input, s, tile, left, false, &mem.tiles_before);
    runs_store_keys(&mem, left, keys_out + keys_out_at + before);
    if (count > 0)
        runs_copy_values(&mem, 1u << n_rounds, count, left, values_out ? values_out + values_out_at + before : 0);
    if (tile == n_tiles - 1 && get_local_id(0) == 0)
        *kept = before + left;
}

#endif

#else

#include "group/run_tournament.cl"

/* Writes hidden bits to the array `to`. Two tiles may have bits in the same word, so writes are atomic OR operations.
 * The array must be 0 before. */
typedef struct {
    __global uint *to;
    uint           bits;
} runs_hidden_writer;

ORDO_FN void runs_write_hidden(__private runs_hidden_writer *w, uint at, bool hidden, bool last)
{
    w->bits |= (uint) hidden << (at & 31);
    if ((at & 31) == 31 || last) {
        if (w->bits)
            ordo_or(w->to + at / 32, w->bits);
        w->bits = 0;
    }
}

ORDO_KERNEL(1)
void runs_chunks(RUNS_TILE_ARGS, __global uint *restrict hidden_out, ulong hidden_out_at)
{
    __local run_table table;
    runs_values       value_of[RUN_TABLE_MAX];
    runs_tournament   t;
#if RUNS_HIDDEN
    struct {
        runs_words hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
    } marks;
    RUNS_EACH(RUNS_POINT_MARKS, &marks)
#endif
#if RUNS_HIDDEN == RUNS_KEEP
    runs_hidden_writer writer = { hidden_out + hidden_out_at, 0 };
#endif
    RUNS_EACH(RUNS_POINT_KEY, t.key_of)
    RUNS_EACH(RUNS_POINT_VALUE, value_of)
    runs_load_table(&runs, &table);
    keys_out += keys_out ? keys_out_at : 0;
    values_out += values_out ? values_out_at : 0;

    const uint tile = (uint) get_global_id(0), n_leaves = 1u << n_rounds;
    uint       to = 0, left = 0;
    for (uint r = 0; r < n_leaves; r++) {
        const runs_part none = { 0, 0 };
        const runs_part part = r < table.n_runs ? runs_part_of(&table, splits, tile, n_tiles, r) : none;
#if RUNS_HIDDEN == RUNS_FILTER
        to += r < table.n_runs && marks.hidden_of[r]
                  ? run_visible_before(marks.hidden_of[r], marks.visible_of[r], part.begin)
                  : part.begin;
#else
        to += part.begin;
#endif
        left += part.end - part.begin;
        t.at[r] = part.begin;
        t.end[r] = part.end;
    }

    runs_begin_tournament(&t, n_leaves);
    for (; left > 0; left--) {
        const uint r = runs_head_run(t.winner);
        bool       written = true;
#if RUNS_HIDDEN
        const bool hidden = run_is_hidden(marks.hidden_of[r], t.at[r]);
#if RUNS_HIDDEN == RUNS_KEEP
        runs_write_hidden(&writer, to, hidden, left == 1);
#else
        written = !hidden;
#endif
#endif
        if (written && keys_out)
            keys_out[to] = key_from_bits(runs_head_key(t.winner));
#if ORDO_VALUE_BYTES
        if (written && values_out)
            values_out[to] = value_of[r][t.at[r]];
#endif
        to += written;
        t.at[r]++;
        t.winner = runs_next(&t, r);
        for (uint node = (n_leaves + r) / 2; node > 0; node /= 2)
            runs_play(&t.winner, &t.loser[node]);
    }
}

#endif
