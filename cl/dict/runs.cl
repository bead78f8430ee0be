/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of sorted runs and queries of order; host/dict/runs.h draws a run and has the invariants.
 *
 *   run_erased     hidden bits from bytes
 *   run_repeats    hides each element that an equal one follows in its run
 *   run_replaced   hides the elements of an older run that a newer one has, given their ranks
 *   run_visible    counts the visible elements of each block
 *   run_count, run_seek        one run's part of the answers, given the ranks
 *   run_candidates, run_range  ranges over all runs
 *   run_none       the answer when there is no run
 *   run_check      looks for what must not be
 *
 * All are loops over elements in which no work-item needs another's. The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP.
 */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "group/runs.cl"

/* The bits of word `word` that stand for elements. */
ORDO_FN uint run_word_mask(uint word, uint count)
{
    return count - word * 32 >= 32 ? 0xffffffffu : (1u << (count - word * 32)) - 1;
}

ORDO_FN uint run_words(uint count)
{
    return (count >> 5) + ((count & 31) != 0);
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

ORDO_KERNEL(RUN_GROUP)
void run_erased(__global const uchar *erased, ulong erased_at, uint count, __global uint *hidden, ulong hidden_at)
{
    erased += erased_at;
    RUN_EACH (uint, word, run_words(count)) {
        const uint here = min(count - word * 32, 32u);
        uint       bits = 0;
        for (uint i = 0; i < here; i++)
            bits |= (uint) (erased[(ulong) word * 32 + i] != 0) << i;
        hidden[hidden_at + word] = bits;
    }
}

/* `fresh`: the words hold nothing yet. */
ORDO_KERNEL(RUN_GROUP)
void run_repeats(__global const ordo_key *keys, ulong keys_at, uint count, __global uint *hidden, ulong hidden_at,
                 uint fresh)
{
    keys += keys_at;
    RUN_EACH (uint, word, run_words(count)) {
        const uint first = word * 32, here = min(count - first, 32u);
        uint       bits = fresh ? 0 : hidden[hidden_at + word];
        ordo_key   key = keys[first];
        for (uint i = 0; i < here; i++) {
            const ordo_key next = first + i + 1 < count ? keys[first + i + 1] : 0;
            bits |= (uint) (first + i + 1 < count && next == key) << i;
            key = next;
        }
        hidden[hidden_at + word] = bits;
    }
}

/* ranks[i]: how many keys of the older run are not after newer[i]. */
ORDO_KERNEL(RUN_GROUP)
void run_replaced(__global const ordo_key *newer, ulong newer_at, __global const uint *ranks, uint count,
                  __global const ordo_key *older, ulong older_at, __global uint *hidden, ulong hidden_at)
{
    RUN_EACH (uint, i, count) {
        const uint rank = ranks[i];
        if (rank == 0 || older[older_at + rank - 1] != newer[newer_at + i])
            continue;
        __global uint *word = hidden + hidden_at + ((rank - 1) >> 5);
        const uint     bit = 1u << ((rank - 1) & 31);
        if (!(ordo_load_relaxed(word) & bit))
            ordo_or(word, bit);
    }
}

/* visible[b] = visible elements of block b; of the block past the last: 0. */
ORDO_KERNEL(RUN_GROUP)
void run_visible(__global const uint *hidden, ulong hidden_at, uint count, __global uint *visible, ulong visible_at)
{
    const uint blocks = (count - 1) / RUN_BLOCK + 1;
    RUN_EACH (uint, block, blocks + 1) {
        uint n = 0;
        for (uint i = 0; i < RUN_BLOCK / 32; i++) {
            const uint word = block * (RUN_BLOCK / 32) + i;
            if (word < run_words(count))
                n += popcount(~hidden[hidden_at + word] & run_word_mask(word, count));
        }
        visible[visible_at + block] = n;
    }
}

/* ---- one run's part ---------------------------------------------------------------------------------------------- */

/* counts[i] (+)= visible elements between the ranks of lo[i] and hi[i], which are ranks[i] and ranks[n + i]. */
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
        const bool some = key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i]);
        uint       count = first ? 0 : counts[i];
        if (some)
            count += run_visible_between(hidden, visible, ranks[i], ranks[n + i]);
        counts[i] = count;
    }
}

/* The nearest visible element of this run at or after its rank (`forward`), or before it, if it is nearer than what the
 * runs before have found. */
ORDO_KERNEL(RUN_GROUP)
void run_seek(__global const ordo_key *keys, ulong keys_at, __global const merge_value *values, ulong values_at,
              uint count, __global const uint *hidden, ulong hidden_at, __global const uint *visible, ulong visible_at,
              __global const uint *ranks, uint n, uint forward, uint first, __global ordo_key *keys_out,
              ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global uchar *found,
              ulong found_at)
{
    keys += keys_at;
    if (hidden)
        hidden += hidden_at;
    visible += visible_at;
    RUN_EACH (uint, i, n) {
        const uint place = forward ? run_next_visible(hidden, visible, ranks[i], count)
                                   : run_last_visible(hidden, visible, ranks[i]) - 1;
        const bool before = !first && found[found_at + i];
        if (place < count) {
            const ordo_key_form mine = key_bits(keys[place]);
            const ordo_key_form other = before ? key_bits(keys_out[keys_out_at + i]) : 0;
            if (!before || (forward ? mine < other : mine > other)) {
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

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Elements of all runs between the ranks of each query's bounds, visible or not; of query n: 0. Ranks of run r are
 * lows[r * n ..]. */
ORDO_KERNEL(RUN_GROUP)
void run_candidates(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                    uint n_runs, __global const uint *lows, __global const uint *highs, __global ulong *candidates)
{
    RUN_EACH (uint, i, n + 1) {
        ulong sum = 0;
        if (i < n && key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i]))
            for (uint r = 0; r < n_runs; r++)
                sum += highs[(ulong) r * n + i] - lows[(ulong) r * n + i];
        candidates[i] = sum;
    }
}

/* The last query from `low` to `high` whose first candidate is not after c. */
ORDO_FN uint run_query_of(__global const ulong *starts, uint low, uint high, ulong c)
{
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (starts[middle] <= c)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* How many of keys[first .. end - 1] are less than x. */
ORDO_FN uint run_less(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    uint low = first;
    while (low < end) {
        const uint middle = low + (end - low) / 2;
        if (key_bits(keys[middle]) < x)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

#define RANGE_ITEMS 4 /* candidates per work-item and tile */

typedef struct {
    runs_keys   key_of[RUN_TABLE_MAX];
    runs_values value_of[RUN_TABLE_MAX];
    runs_words  hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
    uint        count[RUN_TABLE_MAX];
} range_runs;

/* Writes the candidate that is the i-th of its query to its place, if it is visible: before it stand the visible elements
 * of all runs that are in the range and less. (No other visible element has its key: R2.) */
ORDO_FN void run_write(__local const range_runs *runs, uint n_runs, uint n, uint query, ulong i, ulong place,
                       __global const uint *lows, __global const uint *highs, __global ordo_key *keys_out,
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
    if (run_is_hidden(runs->hidden_of[run], at))
        return;
    const ordo_key key = runs->key_of[run][at];
    for (uint r = 0; r < n_runs; r++) {
        const uint first = lows[(ulong) r * n + query];
        const uint end = r == run ? at : run_less(runs->key_of[r], first, highs[(ulong) r * n + query], key_bits(key));
        place += run_visible_between(runs->hidden_of[r], runs->visible_of[r], first, end);
    }
    if (keys_out)
        keys_out[place] = key;
#if ORDO_VALUE_BYTES
    if (values_out)
        values_out[place] = runs->value_of[run][at];
#endif
}

/* A group takes tiles of candidates, however many of them a query has. offsets: where each query's results begin; nothing
 * is written if offsets[last], their end, is past the capacity. */
ORDO_KERNEL(RUN_GROUP)
void run_range(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *lows, __global const uint *highs, uint n,
               __global const ulong *candidates, __global const ulong *offsets, ulong offsets_at, ulong last,
               ulong capacity, __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out,
               ulong values_out_at)
{
    __local range_runs mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_KEY, mem.key_of)
        RUNS_EACH(RUNS_POINT_VALUE, mem.value_of)
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
#if RUN_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (offsets[last] > capacity)
        return;
    offsets += offsets_at;
    if (keys_out)
        keys_out += keys_out_at;
    if (values_out)
        values_out += values_out_at;

    const ulong tile = RUN_GROUP * RANGE_ITEMS, total = candidates[n];
    for (ulong first = get_group_id(0) * tile; first < total; first += get_num_groups(0) * tile) {
        const uint low = run_query_of(candidates, 0, n - 1, first);
        const uint high = run_query_of(candidates, low, n - 1, min(first + tile, total) - 1);
        for (uint i = 0; i < RANGE_ITEMS; i++) {
            const ulong c = first + i * RUN_GROUP + get_local_id(0);
            if (c >= total)
                break;
            const uint query = run_query_of(candidates, low, high, c);
            run_write(&mem, runs.n_runs, n, query, c - candidates[query], offsets[query], lows, highs, keys_out,
                      values_out);
        }
    }
}

/* Nothing is found. */
ORDO_KERNEL(RUN_GROUP)
void run_none(__global uchar *found, ulong found_at, uint n)
{
    RUN_EACH (uint, i, n)
        found[found_at + i] = 0;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* wrong[0]: the first element that the next one is less than; [1]: that the next one equals; [2]: the first of 32 of which
 * one is stale (a bit of `stale`) and not hidden; [3]: the first entry of the directory that is not what `words` from
 * counted_at on say (`counted`: they do); [4]: stale elements. Where there is none: what the host has put there. */
ORDO_KERNEL(RUN_GROUP)
void run_check(__global const ordo_key *keys, ulong keys_at, uint count, __global const uint *hidden, ulong hidden_at,
               __global const uint *visible, ulong visible_at, __global const uint *words, ulong stale_at,
               ulong counted_at, uint counted, __global uint *wrong)
{
    keys += keys_at;
    RUN_EACH (uint, i, count - 1) {
        const ordo_key_form key = key_bits(keys[i]), next = key_bits(keys[i + 1]);
        if (next < key)
            ordo_min(&wrong[0], i);
        if (next == key)
            ordo_min(&wrong[1], i);
    }
    RUN_EACH (uint, word, run_words(count)) {
        const uint bits = words[stale_at + word] & run_word_mask(word, count);
        if (bits & ~(hidden ? hidden[hidden_at + word] : 0u))
            ordo_min(&wrong[2], word * 32);
        if (bits)
            ordo_add(&wrong[4], popcount(bits));
    }
    if (!counted)
        return;
    RUN_EACH (uint, entry, (count - 1) / RUN_BLOCK + 2)
        if (visible[visible_at + entry] != words[counted_at + entry])
            ordo_min(&wrong[3], entry);
}
