/* SPDX-License-Identifier: Apache-2.0 */
/* Elements hidden where they lie.
 *
 *   run_span   where an interval of keys lies in each run
 *   run_gone   how many visible elements it has
 *   run_hide   hides them
 */
#pragma once
#include "dict/runs/runs.cl"

/* Built together: run_gone run_hide */

/* spans[r]: where the keys from *lo to *hi are in run r, of which lows[r] are less than *lo and highs[r] not greater than *hi (run_bounds);
 * all runs are resolved, with bits and counts. With the searches in it, a compiler for CPUs left out where the second ends. */
ORDO_KERNEL(RUN_GROUP)
void run_span(RUNS_KEYS run_table runs, __global const uint *lows, __global const uint *highs,
              __global run_interval *spans)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    RUN_EACH (uint, r, runs.n_runs) {
        run_interval span = { lows[r], max(lows[r], highs[r]), 0, 0 };
        span.before = range_visible(&mem, r, span.first);
        span.gone = range_visible(&mem, r, span.end) - span.before;
        spans[r] = span;
    }
}

/* *erased, if not NULL, and totals[0]: visible elements of all spans; totals[1]: of all runs. */
ORDO_KERNEL(RUN_GROUP)
void run_gone(RUNS_KEYS run_table runs, __global const run_interval *spans, __global uint *erased, ulong erased_at,
              __global uint *totals)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    RUN_EACH (uint, i, 2) {
        uint sum = 0;
        for (uint r = 0; r < runs.n_runs; r++)
            sum += i == 0 ? spans[r].gone : range_visible(&mem, r, runs.count[r]);
        totals[i] = sum;
        if (i == 0 && erased)
            erased[erased_at] = sum;
    }
}

/* What entry `entry` of a run's directory is without a span's elements. */
ORDO_FN uint run_entry_without(run_interval span, uint entry, uint visible)
{
    const ulong at = (ulong) entry * RUN_BLOCK;
    return at >= span.end ? visible - span.gone : at > span.first ? span.before : visible;
}

#define RUNS_BLOCK_ARG(r, more) __global uint *keys##r,

/* On a CPU each work-item takes words in a row. */
#if ORDO_CPU
#define HIDE_EACH(i, n)                                                                                                \
    for (ulong i##_share = (ulong) (n) / get_global_size(0) + 1, i = get_global_id(0) * i##_share,                     \
               i##_end = min(i + i##_share, (ulong) (n));                                                              \
         i < i##_end; i++)
#else
#define HIDE_EACH(i, n) RUN_EACH (uint, i, n)
#endif

/* Hides what lies in the spans, and takes it out of the directories. */
ORDO_KERNEL(RUN_GROUP)
void run_hide(RUNS_EACH(RUNS_BLOCK_ARG, ) run_table runs, __global const run_interval *spans)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    range_barrier();
    for (uint r = 0; r < runs.n_runs; r++) {
        const run_interval span = spans[r];
        if (span.end <= span.first)
            continue;
        __global uint *hidden = (__global uint *) mem.hidden_of[r], *visible = (__global uint *) mem.visible_of[r];
        const uint     word = span.first / 32, last = (span.end - 1) / 32;
        HIDE_EACH(i, last - word + 1)
        {
            uint bits = 0xffffffffu;
            bits &= i == 0 ? ~run_low_bits(span.first % 32) : 0xffffffffu;
            bits &= word + i == last ? run_low_bits((span.end - 1) % 32 + 1) : 0xffffffffu;
            hidden[word + i] |= bits;
        }
        const uint entry = span.first / RUN_BLOCK + 1, entries = (runs.count[r] - 1) / RUN_BLOCK + 2;
        HIDE_EACH(i, entries - entry)
        visible[entry + i] = run_entry_without(span, (uint) (entry + i), visible[entry + i]);
    }
}
