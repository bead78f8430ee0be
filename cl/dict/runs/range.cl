/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges over all runs.
 *
 *   run_bounds     ranks of few bounds in all runs
 *   run_measure    where the candidates of each range are, and how many of them are visible
 *   run_range      writes the visible ones
 */
#pragma once
#include "dict/runs/runs.cl"

/* Ranks of few bounds in all runs at once, each by a plain search: of run r's keys lows[r * n + i] are less than lo[i],
 * highs[r * n + i] not greater than hi[i]. */
ORDO_KERNEL(RUN_GROUP)
void run_bounds(RUNS_KEYS run_table runs, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi,
                ulong hi_at, uint n, __global uint *lows, __global uint *highs)
{
    __local runs_keys key_of[RUN_TABLE_MAX];
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, key_of)
    }
    range_barrier();
    const uint n_ranks = runs.n_runs * n;
    RUN_EACH (uint, i, 2 * n_ranks) {
        const uint at = i < n_ranks ? i : i - n_ranks, r = at / n, query = at % n;
        if (i < n_ranks)
            lows[at] = keys_less(key_of[r], 0, runs.count[r], key_bits(lo[lo_at + query]));
        else
            highs[at] = keys_not_greater(key_of[r], 0, runs.count[r], key_bits(hi[hi_at + query]));
    }
}

/* Of a range with more candidates than this, places are counted from the runs' first elements, not from the range's. */
#define RANGE_WIDE RUN_BLOCK

/* Of each query: candidates[i], the elements of all runs between the ranks of its bounds, and (offsets, if not NULL)
 * how many of them are visible; of query n: 0. Of a wide one before[i]: the visible elements that are before it in the
 * runs. Ranks of run r are lows[r * n ..]. */
ORDO_KERNEL(RUN_GROUP)
void run_measure(RUNS_KEYS run_table runs, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi,
                 ulong hi_at, uint n, __global const uint *lows, __global const uint *highs, __global ulong *candidates,
                 __global uint *before, __global ulong *offsets, ulong offsets_at)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    RUN_EACH (uint, i, n + 1) {
        ulong all = 0, visible = 0;
        if (i < n && key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i]))
            for (uint r = 0; r < runs.n_runs; r++) {
                const uint low = lows[(ulong) r * n + i], high = highs[(ulong) r * n + i];
                all += high - low;
                visible += offsets ? run_visible_between(mem.hidden_of[r], mem.visible_of[r], low, high) : 0;
            }
        if (all > RANGE_WIDE) {
            uint first = 0;
            for (uint r = 0; r < runs.n_runs; r++)
                first += range_visible(&mem, r, lows[(ulong) r * n + i]);
            before[i] = first;
        }
        candidates[i] = all;
        if (offsets)
            offsets[offsets_at + i] = visible;
    }
}

#define RANGE_ITEMS 4 /* candidates per work-item and tile; a work-item alone looks so far ahead for their queries */

/* Writes the candidate that is the i-th of its query to its place, if it is visible: before it stand the visible
 * elements of all runs that are in the range and less. (No other visible element has its key: R2.) `all`: all candidates
 * of the query are visible, which saves looking. `wide`: `place` is that of the runs' first visible element. */
ORDO_FN void run_write(__local const range_runs *runs, uint n_runs, uint n, uint query, ulong i, ulong place, bool all,
                       bool wide, __global const uint *lows, __global const uint *highs, __global ordo_key *keys_out,
                       __global merge_value *values_out)
{
    uint run = 0;
    for (; run + 1 < n_runs; run++) {
        const uint here = highs[(ulong) run * n + query] - lows[(ulong) run * n + query];
        if (i < here)
            break;
        i -= here;
    }
    const uint at = lows[(ulong) run * n + query] + (uint) i;
    if (!all && run_is_hidden(runs->hidden_of[run], at))
        return;
    const ordo_key key = runs->key_of[run][at];
    for (uint r = 0; r < n_runs; r++) {
        const uint first = lows[(ulong) r * n + query];
        const uint end = r == run ? at : keys_less(runs->key_of[r], first, highs[(ulong) r * n + query], key_bits(key));
        if (wide)
            place += range_visible(runs, r, end);
        else
            place += all ? end - first : run_visible_between(runs->hidden_of[r], runs->visible_of[r], first, end);
    }
    if (keys_out)
        keys_out[place] = key;
#if ORDO_VALUE_BYTES
    if (values_out)
        values_out[place] = runs->value_of[run][at];
#endif
}

/* Each group takes a share of the candidates, tile by tile, however many of them a query has. offsets: where each
 * query's results begin; nothing is written if offsets[last], their end, is past the capacity. */
ORDO_KERNEL(RUN_GROUP)
void run_range(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *lows, __global const uint *highs, uint n,
               __global const ulong *candidates, __global const uint *before, __global const ulong *offsets,
               ulong offsets_at, ulong last, ulong capacity, __global ordo_key *keys_out, ulong keys_out_at,
               __global merge_value *values_out, ulong values_out_at)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    if (offsets[last] > capacity || candidates[n] == 0)
        return;
    offsets += offsets_at;
    if (keys_out)
        keys_out += keys_out_at;
    if (values_out)
        values_out += values_out_at;

    const ulong tile = RUN_GROUP * RANGE_ITEMS, total = candidates[n];
    const ulong share = ((total - 1) / tile / get_num_groups(0) + 1) * tile;
    const ulong begin = min(get_group_id(0) * share, total), end = min(begin + share, total);
    uint        low = begin < end ? each_owner(candidates, 0, n - 1, begin) : 0;
    for (ulong first = begin; first < end; first += tile) {
        const ulong past = min(first + tile, end);
        const uint  high = each_owner_from(candidates, low, n, past - 1);
        for (ulong c = first + get_local_id(0); c < past; c += RUN_GROUP) {
            const uint query = each_owner(candidates, low, high, c);
            low = RUN_GROUP == 1 ? query : low;
            const ulong here = candidates[query + 1] - candidates[query], place = offsets[query];
            const bool  all = offsets[query + 1] - place == here, wide = !all && here > RANGE_WIDE;
            run_write(&mem, runs.n_runs, n, query, c - candidates[query], wide ? place - before[query] : place, all,
                      wide, lows, highs, keys_out, values_out);
        }
        low = high;
    }
}
