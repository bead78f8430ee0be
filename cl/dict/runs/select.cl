/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by their ranks over all runs.
 *
 *   run_select   the elements of ranks
 *   run_ends     the first or last elements
 *
 * In a file without run_key_of_rank PoCL 3.1 compiled run_ends wrong.
 */
#pragma once
#include "dict/runs/runs.cl"

/* Blocks to either side of a guess that are looked at first: together 64 bytes. */
#define RANK_NEAR 8

/* The last of blocks 0 .. last with at most `rank` visible elements before it. Without what is hidden it would be rank / RUN_BLOCK,
 * and it is no further from there than what is hidden takes blocks. Mostly what is hidden is spread out: a guess in proportion
 * is then near. (selections from 2^24 elements on an H100: 10.6 G/s by halves of all blocks.) */
ORDO_FN uint run_block_of_rank(__global const uint *visible, uint last, uint count, uint rank)
{
    const uint total = visible[last + 1];
    const uint guess = (uint) ((float) rank / (float) total * (float) (last + 1));
    uint       low = rank / RUN_BLOCK, high = min(last, (uint) (((ulong) rank + (count - total)) / RUN_BLOCK));
    const uint near_low = (uint) clamp((int) guess - RANK_NEAR, (int) low, (int) high);
    const uint near_high = clamp(guess + RANK_NEAR, low, high);
    const bool after_low = visible[near_low] <= rank, after_high = visible[near_high] <= rank;
    low = after_high ? near_high : after_low ? near_low : low;
    high = after_high ? high : after_low ? near_high : near_low;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (visible[middle] <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Where the visible element stands that `rank` visible ones are before; there is one. */
ORDO_FN uint run_place_of_rank(__global const uint *hidden, __global const uint *visible, uint count, uint rank)
{
    if (!hidden)
        return rank;
    const uint block = run_block_of_rank(visible, (count - 1) / RUN_BLOCK, count, rank), before = visible[block];
    if (visible[block + 1] - before == RUN_BLOCK)
        return block * RUN_BLOCK + rank - before;
    uint word = block * (RUN_BLOCK / 32), left = rank - before, bits = ~hidden[word];
    for (; popcount(bits) <= left; bits = ~hidden[++word])
        left -= popcount(bits);
    for (; left > 0; left--)
        bits &= bits - 1;
    return word * 32 + (31 - clz(bits & (0 - bits)));
}

/* The least key that more than `rank` visible elements of all runs are not greater than: each bit of it in turn is looked for
 * in what is left of the runs. past[r]: where it ends in run r. There is one. */
ORDO_FN ordo_key_form run_key_of_rank(__local const range_runs *runs, const run_table *table, uint rank,
                                      __private uint past[RUN_TABLE_MAX])
{
    uint          low[RUN_TABLE_MAX], middle_of[RUN_TABLE_MAX];
    ordo_key_form least = 0, greatest = ~(ordo_key_form) 0;
    for (uint r = 0; r < table->n_runs; r++) {
        low[r] = 0;
        past[r] = table->count[r];
    }
    while (least < greatest) {
        const ordo_key_form middle = least + (greatest - least) / 2;
        uint                before = 0;
        for (uint r = 0; r < table->n_runs; r++) {
            middle_of[r] = keys_not_greater(runs->key_of[r], low[r], past[r], middle);
            before += range_visible(runs, r, middle_of[r]);
        }
        const bool enough = before > rank;
        least = enough ? least : middle + 1;
        greatest = enough ? middle : greatest;
        for (uint r = 0; r < table->n_runs; r++) {
            low[r] = enough ? low[r] : middle_of[r];
            past[r] = enough ? middle_of[r] : past[r];
        }
    }
    return least;
}

/* The elements of ranks, where there are so many. Outputs may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void run_select(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *ranks, ulong ranks_at, uint n,
                __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    uint total = 0;
    for (uint r = 0; r < runs.n_runs; r++)
        total += range_visible(&mem, r, runs.count[r]);
    RUN_EACH (uint, i, n) {
        const uint rank = ranks[ranks_at + i];
        uint       run = 0, place = 0, past[RUN_TABLE_MAX];
        if (found)
            found[found_at + i] = rank < total;
        if (rank >= total)
            continue;
        if (runs.n_runs == 1) {
            place = run_place_of_rank(mem.hidden_of[0], mem.visible_of[0], runs.count[0], rank);
        } else {
            const ordo_key_form key = run_key_of_rank(&mem, &runs, rank, past);
            for (uint r = 0; r < runs.n_runs; r++) /* the one run in which it is visible: R2 */
                if (past[r] > 0 && key_bits(mem.key_of[r][past[r] - 1]) == key &&
                    !run_is_hidden(mem.hidden_of[r], past[r] - 1)) {
                    run = r;
                    place = past[r] - 1;
                }
        }
        if (keys_out)
            keys_out[keys_out_at + i] = mem.key_of[run][place];
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_out_at + i] = mem.value_of[run][place];
#endif
    }
}

/* ---- the first or last elements ---------------------------------------------------------------------------------- */

/* Where the results go; the arrays may be NULL. */
typedef struct {
    __global ordo_key    *keys;
    __global merge_value *values;
} ends_out;

ORDO_FN void ends_write(__local const range_runs *runs, uint run, uint place, ends_out out, uint to)
{
    if (out.keys)
        out.keys[to] = runs->key_of[run][place];
#if ORDO_VALUE_BYTES
    if (out.values)
        out.values[to] = runs->value_of[run][place];
#endif
}

#if ORDO_CPU
/* The next visible element of a run upwards, from element i on, or downwards, the last before i: where it stands, plus 1; 0:
 * there is none. */
ORDO_FN uint ends_next(__local const range_runs *runs, uint r, uint count, uint i, bool down)
{
    if (down)
        return run_last_visible(runs->hidden_of[r], runs->visible_of[r], i);
    const uint next = run_next_visible(runs->hidden_of[r], runs->visible_of[r], i, count);
    return next < count ? next + 1 : 0;
}

/* The run whose next element comes first; there is one. next[r]: where it stands, plus 1. */
ORDO_FN uint ends_best(uint n_runs, __private const uint next[RUN_TABLE_MAX],
                       __private const ordo_key_form key[RUN_TABLE_MAX], bool down)
{
    uint best = n_runs;
    for (uint r = 0; r < n_runs; r++) {
        const bool before = best < n_runs && (down ? key[r] > key[best] : key[r] < key[best]);
        best = next[r] > 0 && (best == n_runs || before) ? r : best;
    }
    return best;
}

/* The runs merged from one end by one work-item: elements are looked at just once. */
ORDO_FN void ends_merge(__local const range_runs *runs, const run_table *table, uint wanted, bool last, ends_out out,
                        __global run_interval *spans)
{
    uint          next[RUN_TABLE_MAX], gone[RUN_TABLE_MAX];
    ordo_key_form key[RUN_TABLE_MAX];

    for (uint r = 0; r < table->n_runs; r++) {
        const uint count = table->count[r];
        next[r] = ends_next(runs, r, count, last ? count : 0, last);
        key[r] = key_bits(runs->key_of[r][max(next[r], 1u) - 1]);
        gone[r] = 0;
    }
    for (uint to = 0; to < wanted; to++) {
        const uint r = ends_best(table->n_runs, next, key, last), place = next[r] - 1;
        ends_write(runs, r, place, out, to);
        next[r] = ends_next(runs, r, table->count[r], last ? place : place + 1, last);
        key[r] = key_bits(runs->key_of[r][max(next[r], 1u) - 1]);
        gone[r]++;
    }
    for (uint r = 0; r < table->n_runs; r++) {
        const uint   count = table->count[r], upto = next[r] == 0 ? count : next[r] - 1;
        run_interval span = { last ? next[r] : 0, last ? count : upto, 0, gone[r] };
        span.before = last ? range_visible(runs, r, count) - gone[r] : 0;
        spans[r] = span;
    }
}
#else
/* spans[r]: what the elements up to this one, or (`last`) from it on, are in run r. */
ORDO_FN void ends_bound(__local const range_runs *runs, const run_table *table, uint run, uint place, bool last,
                        __global run_interval *spans)
{
    const ordo_key_form key = key_bits(runs->key_of[run][place]);
    for (uint r = 0; r < table->n_runs; r++) {
        const uint   count = table->count[r];
        const uint   at = r == run ? place + !last : keys_less(runs->key_of[r], 0, count, key);
        const uint   before = range_visible(runs, r, at);
        run_interval span = { last ? at : 0, last ? count : at, last ? before : 0, before };
        span.gone = last ? range_visible(runs, r, count) - before : before;
        spans[r] = span;
    }
}

/* How many visible elements of all runs are before that visible one of run `run` which `before` are before there. */
ORDO_FN uint ends_rank(__local const range_runs *runs, const run_table *table, uint run, uint place, uint before)
{
    const ordo_key_form key = key_bits(runs->key_of[run][place]);
    for (uint r = 0; r < table->n_runs; r++)
        before += r == run ? 0 : range_visible(runs, r, keys_less(runs->key_of[r], 0, table->count[r], key));
    return before;
}

/* Of each run the first or last, each of which finds its place by itself: no two visible elements have one key. */
ORDO_FN void ends_each(__local const range_runs *runs, const run_table *table, uint most, uint all, bool last,
                       ends_out out, __global run_interval *spans)
{
    const uint wanted = min(most, all);
    RUN_EACH (uint, i, table->n_runs * most) {
        const uint r = i / most, visible = range_visible(runs, r, table->count[r]);
        const uint here = min(most, visible), before = i % most + (last ? visible - here : 0);
        if (i % most >= here)
            continue;
        const uint place = run_place_of_rank(runs->hidden_of[r], runs->visible_of[r], table->count[r], before);
        const uint rank = ends_rank(runs, table, r, place, before), to = last ? all - 1 - rank : rank;
        if (to < wanted)
            ends_write(runs, r, place, out, to);
        if (to + 1 == wanted)
            ends_bound(runs, table, r, place, last, spans);
    }
}
#endif

/* The first, or (`last`) last, `most` visible elements of all runs, which are resolved; the greatest of the last first. Outputs
 * may be NULL. *total: how many are visible, so how many these can be; spans: where they lie, if there are any. */
ORDO_KERNEL(RUN_GROUP)
void run_ends(RUNS_KEYS RUNS_VALUES run_table runs, uint most, uint last, __global ordo_key *keys_out,
              ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global run_interval *spans,
              __global uint *total)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    ends_out out;
    uint     all = 0;
    out.keys = keys_out ? keys_out + keys_out_at : 0;
    out.values = values_out ? values_out + values_out_at : 0;
    for (uint r = 0; r < runs.n_runs; r++)
        all += range_visible(&mem, r, runs.count[r]);
    if (get_global_id(0) == 0)
        *total = all;
#if ORDO_CPU
    if (get_global_id(0) == 0)
        ends_merge(&mem, &runs, min(most, all), last, out, spans);
#else
    ends_each(&mem, &runs, most, all, last, out, spans);
#endif
}
