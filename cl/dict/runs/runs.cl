/* SPDX-License-Identifier: Apache-2.0 */
/* Answers order queries in sorted runs, and erases intervals of keys. An element is visible if its bit in hidden[] is
 * 0. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/less.cl"
#include "group/runs.cl"

/* Built together: run_gone run_hide */

/* Counts one run's visible elements with keys from lo[i] to hi[i]. Adds this count to counts[i], or overwrites
 * counts[i] if `first`. ranks[i] must be the number of this run's keys that are less than lo[i]. ranks[n + i] must be
 * the number of its keys that are at most hi[i]. */
ORDO_KERNEL(RUN_GROUP)
void run_count(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
               __global const uint *ranks, __global const uint *hidden, ulong hidden_at, __global const uint *visible,
               ulong visible_at, uint first, __global uint *counts, ulong counts_at)
{
    if (hidden)
        hidden += hidden_at;
    visible += visible_at;
    counts += counts_at;
    RUN_EACH (uint, i, n) {
        const bool some = key_upto(key_bits(lo[lo_at + i]), key_bits(hi[hi_at + i]));
        uint       count = first ? 0 : counts[i];
        if (some)
            count += run_visible_between(hidden, visible, ranks[i], ranks[n + i]);
        counts[i] = count;
    }
}

/* Searches one run. The first n_forward queries find the first visible element from index ranks[i] on. The other
 * queries find the last one before index ranks[i]. Keeps a nearer key that an earlier launch found in another run. */
ORDO_KERNEL(RUN_GROUP)
void run_seek(__global const ordo_key *keys, __global const merge_value *values, ulong values_at, uint count,
              __global const uint *hidden, ulong hidden_at, __global const uint *visible, ulong visible_at,
              __global const uint *ranks, uint n, uint n_forward, uint first, __global ordo_key *keys_out,
              ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global uchar *found,
              ulong found_at)
{
    if (hidden)
        hidden += hidden_at;
    visible += visible_at;
    RUN_EACH (uint, i, n) {
        const bool forward = i < n_forward;
        const uint place = forward ? run_next_visible(hidden, visible, ranks[i], count)
                                   : run_last_visible(hidden, visible, ranks[i]) - 1;
        const bool before = !first && found[found_at + i];
        if (place < count) {
            const ordo_key_form mine = key_bits(keys[place]);
            const ordo_key_form other = before ? key_bits(keys_out[keys_out_at + i]) : KEY_LEAST;
            if (!before || (forward ? key_before(mine, other) : !key_upto(mine, other))) {
                keys_out[keys_out_at + i] = key_from_bits(mine);
#if ORDO_VALUE_BYTES
                if (values_out)
                    values_out[values_out_at + i] = values[values_at + place];
#endif
            }
        }
        found[found_at + i] = before || place < count;
    }
}

typedef struct {
    runs_keys   key_of[RUN_TABLE_MAX];
    runs_values value_of[RUN_TABLE_MAX];
    runs_words  hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
} range_runs;

ORDO_FN void range_barrier(void)
{
#if RUN_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

#define RANGE_RUNS(mem, points)                                                                                        \
    __local range_runs mem;                                                                                            \
    if (get_local_id(0) == 0) {                                                                                        \
        points                                                                                                         \
    }                                                                                                                  \
    range_barrier();

ORDO_FN uint range_visible(__local const range_runs *runs, uint r, uint i)
{
    return runs->hidden_of[r] ? run_visible_before(runs->hidden_of[r], runs->visible_of[r], i) : i;
}

/* Sets lows[] and highs[]: run r has lows[r * n + i] keys less than lo[i], and highs[r * n + i] keys at most hi[i]. */
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

#define RANGE_WIDE RUN_BLOCK

/* Measures each range i. lows[] and highs[] are from run_bounds.
 *
 *  candidates[i]   number of elements in all runs, visible or hidden
 *  offsets[i]      number of visible elements
 *  before[i]       number of visible elements with keys less than lo[i], if candidates[i] > RANGE_WIDE */
ORDO_KERNEL(RUN_GROUP)
void run_measure(RUNS_KEYS run_table runs, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi,
                 ulong hi_at, uint n, __global const uint *lows, __global const uint *highs, __global ulong *candidates,
                 __global uint *before, __global ulong *offsets, ulong offsets_at)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_MARKS, &mem))
    RUN_EACH (uint, i, n + 1) {
        ulong all = 0, visible = 0;
        if (i < n && key_upto(key_bits(lo[lo_at + i]), key_bits(hi[hi_at + i])))
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

#define RANGE_ITEMS 4

/* Writes element i of a range if it is visible. The index i counts the range's elements run after run. The output index
 * is `place` plus the number of visible elements with lesser keys. If `wide`, counts these elements in whole runs, else
 * only in the range. If `all`, the range has no hidden element. */
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

/* Writes the visible elements of all ranges, or nothing if there are more than `capacity`. offsets[last] is their
 * number. candidates[] and offsets[] must hold the exclusive prefix sums of run_measure's results. */
ORDO_KERNEL(RUN_GROUP)
void run_range(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *lows, __global const uint *highs, uint n,
               __global const ulong *candidates, __global const uint *before, __global const ulong *offsets,
               ulong offsets_at, ulong last, ulong capacity, __global ordo_key *keys_out, ulong keys_out_at,
               __global merge_value *values_out, ulong values_out_at)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_KEY, mem.key_of) RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
                        RUNS_EACH(RUNS_POINT_MARKS, &mem))
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

ORDO_KERNEL(RUN_GROUP)
void run_rank(__global const uint *local_ranks, uint n, __global const uint *hidden, ulong hidden_at,
              __global const uint *visible, ulong visible_at, uint first, __global uint *ranks, ulong ranks_at)
{
    RUN_EACH (uint, i, n) {
        const uint here =
            hidden ? run_visible_before(hidden + hidden_at, visible + visible_at, local_ranks[i]) : local_ranks[i];
        ranks[ranks_at + i] = (first ? 0 : ranks[ranks_at + i]) + here;
    }
}

#define RANK_NEAR 8

/* Returns the last block with at most `rank` visible elements before it. */
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

/* Returns the index of the visible element that has `rank` visible elements before it. The element must exist. */
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

/* Returns the key that has `rank` lesser visible elements in all runs. The key must exist. past[r] becomes the number
 * of run r's keys that are at most this key. */
ORDO_FN ordo_key_form run_key_of_rank(__local const range_runs *runs, const run_table *table, uint rank,
                                      __private uint past[RUN_TABLE_MAX])
{
    uint          low[RUN_TABLE_MAX], middle_of[RUN_TABLE_MAX];
    ordo_key_form least = KEY_LEAST, greatest = KEY_GREATEST;
    for (uint r = 0; r < table->n_runs; r++) {
        low[r] = 0;
        past[r] = table->count[r];
    }
    while (key_before(least, greatest)) {
        const ordo_key_form middle = key_plus(least, key_above(key_minus(greatest, least), 1));
        uint                before = 0;
        for (uint r = 0; r < table->n_runs; r++) {
            middle_of[r] = keys_not_greater(runs->key_of[r], low[r], past[r], middle);
            before += range_visible(runs, r, middle_of[r]);
        }
        const bool enough = before > rank;
        least = enough ? least : key_plus(middle, key_of_digit(1, 0));
        greatest = enough ? middle : greatest;
        for (uint r = 0; r < table->n_runs; r++) {
            low[r] = enough ? low[r] : middle_of[r];
            past[r] = enough ? middle_of[r] : past[r];
        }
    }
    return least;
}

ORDO_KERNEL(RUN_GROUP)
void run_select(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *ranks, ulong ranks_at, uint n,
                __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_KEY, mem.key_of) RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
                        RUNS_EACH(RUNS_POINT_MARKS, &mem))
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
            for (uint r = 0; r < runs.n_runs; r++)
                if (past[r] > 0 && key_same(key_bits(mem.key_of[r][past[r] - 1]), key) &&
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
/* Finds the first visible element of run r from index i on. If `down`, finds the last one before index i. Returns 1 +
 * its index, or 0 if there is none. */
ORDO_FN uint ends_next(__local const range_runs *runs, uint r, uint count, uint i, bool down)
{
    if (down)
        return run_last_visible(runs->hidden_of[r], runs->visible_of[r], i);
    const uint next = run_next_visible(runs->hidden_of[r], runs->visible_of[r], i, count);
    return next < count ? next + 1 : 0;
}

ORDO_FN uint ends_best(uint n_runs, __private const uint next[RUN_TABLE_MAX],
                       __private const ordo_key_form key[RUN_TABLE_MAX], bool down)
{
    uint best = n_runs;
    for (uint r = 0; r < n_runs; r++) {
        const bool before = best < n_runs && (down ? !key_upto(key[r], key[best]) : key_before(key[r], key[best]));
        best = next[r] > 0 && (best == n_runs || before) ? r : best;
    }
    return best;
}

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
/* Let x be the key at index `place` of run number `run`. Sets spans[r] to the elements of run r from its start up to x.
 * If `last`, sets spans[r] to the elements from x to the end of run r. */
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

ORDO_FN uint ends_rank(__local const range_runs *runs, const run_table *table, uint run, uint place, uint before)
{
    const ordo_key_form key = key_bits(runs->key_of[run][place]);
    for (uint r = 0; r < table->n_runs; r++)
        before += r == run ? 0 : range_visible(runs, r, keys_less(runs->key_of[r], 0, table->count[r], key));
    return before;
}

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

/* Writes the `most` visible elements with the least keys, in key order. If `last`, writes those with the greatest keys,
 * in reverse order. *total becomes the number of visible elements in all runs. spans[r] becomes the interval of run r
 * that contains its written elements. Elements that a newer run replaces must be hidden. */
ORDO_KERNEL(RUN_GROUP)
void run_ends(RUNS_KEYS RUNS_VALUES run_table runs, uint most, uint last, __global ordo_key *keys_out,
              ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global run_interval *spans,
              __global uint *total)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_KEY, mem.key_of) RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
                        RUNS_EACH(RUNS_POINT_MARKS, &mem))
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

/* Sets spans[r] to run r's elements lows[r] .. highs[r] - 1. The kernel run_bounds finds lows[] and highs[], because a
 * CPU compiler miscompiled searches in this kernel. Elements that a newer run replaces must be hidden, and visible[]
 * must be complete. */
ORDO_KERNEL(RUN_GROUP)
void run_span(RUNS_KEYS run_table runs, __global const uint *lows, __global const uint *highs,
              __global run_interval *spans)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_KEY, mem.key_of) RUNS_EACH(RUNS_POINT_MARKS, &mem))
    RUN_EACH (uint, r, runs.n_runs) {
        run_interval span = { lows[r], max(lows[r], highs[r]), 0, 0 };
        span.before = range_visible(&mem, r, span.first);
        span.gone = range_visible(&mem, r, span.end) - span.before;
        spans[r] = span;
    }
}

/* Sets totals[0] and erased[erased_at] to the number of visible elements in all spans. totals[1] becomes the number in
 * all runs. */
ORDO_KERNEL(RUN_GROUP)
void run_gone(RUNS_KEYS run_table runs, __global const run_interval *spans, __global uint *erased, ulong erased_at,
              __global uint *totals)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_KEY, mem.key_of) RUNS_EACH(RUNS_POINT_MARKS, &mem))
    RUN_EACH (uint, i, 2) {
        uint sum = 0;
        for (uint r = 0; r < runs.n_runs; r++)
            sum += i == 0 ? spans[r].gone : range_visible(&mem, r, runs.count[r]);
        totals[i] = sum;
        if (i == 0 && erased)
            erased[erased_at] = sum;
    }
}

ORDO_FN uint run_entry_without(run_interval span, uint entry, uint visible)
{
    const ulong at = (ulong) entry * RUN_BLOCK;
    return at >= span.end ? visible - span.gone : at > span.first ? span.before : visible;
}

#define RUNS_BLOCK_ARG(r, more) __global uint *keys##r,

#if ORDO_CPU
#define HIDE_EACH(i, n)                                                                                                \
    for (ulong i##_share = (ulong) (n) / get_global_size(0) + 1, i = get_global_id(0) * i##_share,                     \
               i##_end = min(i + i##_share, (ulong) (n));                                                              \
         i < i##_end; i++)
#else
#define HIDE_EACH(i, n) RUN_EACH (uint, i, n)
#endif

/* Hides the elements of spans[r] in each run r, and corrects visible[]. PoCL 3.1 miscompiles run_hide and run_ends if
 * they are in separate files. */
ORDO_KERNEL(RUN_GROUP)
void run_hide(RUNS_EACH(RUNS_BLOCK_ARG, ) run_table runs, __global const run_interval *spans)
{
    RANGE_RUNS(mem, RUNS_EACH(RUNS_POINT_MARKS, &mem))
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
