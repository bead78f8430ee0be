/* SPDX-License-Identifier: Apache-2.0 */
/* The stable merge of up to RUN_TABLE_MAX sorted runs in one pass over the data. Elements are ordered by key, then by
 * run, then by place: no two are equal, so every cut below is exact whatever the keys.
 *
 *   runs_sample    copies the samples, every stride-th element of each run, into one array
 *   runs_select    finds each sample's rank among all samples; every window-th is a splitter and ends a tile
 *   runs_split     finds how many elements of each run do not come after each splitter
 *   runs_tiles     one group per tile loads its part of each run, merges them pair by pair in local memory, stores them
 *   runs_dedup      the same, and leaves out what is not the newest element of its key
 *   runs_heads     tells which keys of a run are the first of equal ones, for a scan of values that are combined
 *   runs_chunks    RUNS_GROUP == 1, for CPUs: one work-item per tile, with a tournament over the runs
 *
 * Runs lie in buffers of their own or in one; the host passes each run's. With RUNS_HIDDEN 1 an element has a hidden bit,
 * which goes where it goes; with 2 only elements whose bit is 0 are written, where the runs' visible counts say; with 3 of
 * each key only the last element, if its bit is 0, where look-back says: so runs need not be resolved before.
 *
 * Where the host gives COMBINE_OP and COMBINE_TYPE (group/value.cl), besides RUNS_HIDDEN 3, there are two runs, and the keys of the
 * first are distinct: the value that is written is that of the last element combined with the first run's, if that has the key.
 * What else the second run has of it is in the last one's value by then.
 *
 * Between two splitters lie `window` samples (the later splitter among them), and in each run fewer than `stride`
 * elements between two samples: a tile holds at most window * stride + n_runs * (stride - 1) elements.
 */
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
/* Work-items per group of the kernels that search. */
#ifndef RUNS_SEARCH_GROUP
#define RUNS_SEARCH_GROUP 64
#endif

#ifndef RUNS_HIDDEN
#define RUNS_HIDDEN RUNS_PLAIN
#endif
/* Whether it matters where in a tile's input an element stood. */
#define RUNS_FROM        (ORDO_VALUE_BYTES || RUNS_HIDDEN)
#define RUNS_FROM_HIDDEN 0x8000
/* Whether only visible elements are written, by groups. */
#define RUNS_CLOSES_GAPS (RUNS_GROUP > 1 && (RUNS_HIDDEN == RUNS_FILTER || RUNS_HIDDEN == RUNS_DEDUP))
#if VALUE_COMBINES && !(RUNS_GROUP > 1 && RUNS_HIDDEN == RUNS_DEDUP && ORDO_VALUE_BYTES)
#error "COMBINE_OP is for RUNS_HIDDEN 3, with values, by groups"
#endif
#if RUNS_CLOSES_GAPS
#define FOLD_GROUP  RUNS_GROUP
#define FOLD_COUNTS 1
#include "group/fold.cl"
#endif

/* ---- the table and searches in it ------------------------------------------------------------------------------ */

/* Copies the table to local memory, where it can be indexed: indexing an argument would put it into private memory.
 * Called by the whole group of RUNS_SEARCH_GROUP or RUNS_GROUP work-items; ends with a barrier if there are several. */
ORDO_FN void runs_load_table(__private const run_table *from, __local run_table *to)
{
    if (get_local_id(0) == 0) {
        ORDO_UNROLL
        for (uint r = 0; r < RUN_TABLE_MAX; r++) {
            to->count[r] = from->count[r];
            to->n_samples_before[r] = from->n_samples_before[r];
        }
        to->n_samples_before[RUN_TABLE_MAX] = from->n_samples_before[RUN_TABLE_MAX];
        to->n_runs = from->n_runs;
        to->stride = from->stride;
        to->window = from->window;
    }
#if RUNS_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* The last of n places (a power of two) that starts at or before x; starts ascend, the first is at or before x. */
ORDO_FN uint runs_last_start(__local const uint *starts, uint n, uint x)
{
    uint found = 0;
    for (uint step = n / 2; step > 0; step /= 2)
        if (starts[found + step] <= x)
            found += step;
    return found;
}

/* How many of keys[0 .. high - 1], of which the first `low` are known to, come before an element with key x of another
 * run; equal keys do if `ties`, that is, if theirs is the earlier run. */
ORDO_FN uint runs_count_before(__global const ordo_key *keys, uint low, uint high, ordo_key_form x, bool ties)
{
    while (low < high) {
        const uint          middle = low + (high - low) / 2;
        const ordo_key_form key = key_bits(keys[middle]);
        const bool          is_before = key < x || (ties && key == x);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* How many samples of run r come before a sample with key x of run `own`, itself not counted. */
ORDO_FN uint runs_samples_before(__local const run_table *table, __global const ordo_key *samples, uint r,
                                 ordo_key_form x, uint own)
{
    const uint first = table->n_samples_before[r], count = table->n_samples_before[r + 1] - first;
    return runs_count_before(samples + first, 0, count, x, r < own);
}

/* ---- where tiles end ------------------------------------------------------------------------------------------- */

/* One work-item per sample. */
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

/* One work-item per sample. Neighbouring work-items hold neighbouring samples, so their searches take nearly the same
 * steps and read nearly the same places. splitters[i] = the sample of rank (i + 1) * window - 1; where a run is not in
 * order, some splitters may stay unwritten. */
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

/* One work-item per run and splitter, neighbouring ones for neighbouring splitters of one run.
 * splits[i * n_runs + r] = how many elements of run r come before splitter i or are it. */
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
        /* The last sample known to come before x, and the next, known not to, leave less than a stride to search. */
        const uint low = runs_samples_before(&table, samples, r, x, own) * table.stride;
        const uint high = min(table.count[r] - low, table.stride - 1) + low;
        split = runs_count_before(key_of[r], low, high, x, r < own);
    }
    splits[splitter * table.n_runs + r] = split;
}

/* The part of a run that belongs to a tile: elements begin to end - 1. In bounds whatever the splits say. */
typedef struct {
    uint begin, end;
} runs_part;

ORDO_FN runs_part runs_part_of(__local const run_table *table, __global const uint *splits, uint tile, uint n_tiles,
                               uint r)
{
    const uint count = table->count[r];
    runs_part  part = { 0, count };
    if (tile > 0)
        part.begin = min(splits[(tile - 1) * table->n_runs + r], count);
    if (tile + 1 < n_tiles)
        part.end = clamp(splits[tile * table->n_runs + r], part.begin, count);
    return part;
}

#if RUNS_GROUP > 1

/* ---- a tile by a work-group ------------------------------------------------------------------------------------ */

#define RUNS_SLOTS (RUNS_GROUP * RUNS_ITEMS)
#if RUNS_SLOTS + RUNS_ITEMS > 0xffff
#error "RUNS_GROUP * RUNS_ITEMS must be below 65536: a place in a tile is 16 bits"
#endif
#if RUNS_GROUP < RUN_TABLE_MAX
#error "RUNS_GROUP must be at least RUN_TABLE_MAX: one work-item finds a run's part of the tile"
#endif

MERGE_DEFINE_SERIAL(runs_serial, RUNS_ITEMS)

/* A tile is merged in rounds. In round l, *regions* of 2^l runs each are made from two of the round before; all rounds'
 * regions together are the 31 nodes of a binary tree over 16 runs. Within local memory the regions of a round lie one
 * after another, from round 1 on each beginning at a multiple of RUNS_ITEMS: so each work-item's slots are of one. */
#define RUNS_REGIONS    (2 * RUN_TABLE_MAX - 1)
#define RUNS_ROUNDS_MAX 4
ORDO_FN uint runs_first_region(uint round)
{
    return 2 * RUN_TABLE_MAX - ((2 * RUN_TABLE_MAX) >> round);
}

typedef struct {
    ordo_key_form keys[RUNS_SLOTS + RUNS_ITEMS + 1];
#if RUNS_FROM
    ushort from[RUNS_SLOTS + RUNS_ITEMS]; /* where in the tile's input (round 0) the element of a slot stood; with
                                             RUNS_FROM_HIDDEN if it is hidden */
#endif
#if VALUE_COMBINES
    /* Of an element of the second run, by where in the tile's input it stood: how many of the first run's in the tile come
     * before it. */
    ushort upto[RUNS_SLOTS + RUNS_ITEMS];
#endif
    run_table table;
    runs_part part[RUN_TABLE_MAX];
    uint      before[RUN_TABLE_MAX]; /* of a run's elements before its part, those in the output */
    /* Element `at` of the tile's input, if of run r, is key_of[r][at], once runs_lay_out is done; before, each points to
     * its run's first element. */
    runs_keys   key_of[RUN_TABLE_MAX];
    runs_values value_of[RUN_TABLE_MAX];
#if RUNS_HIDDEN
    runs_words hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
    uint       shift[RUN_TABLE_MAX];       /* which element of its run element `at` of the tile's input is, less `at` */
    uint       marks[RUNS_SLOTS / 32 + 2]; /* keep: bits of hidden slots, as words of the whole output */
#endif
#if RUNS_CLOSES_GAPS
    fold_scratch visible; /* slots */
#endif
#if RUNS_HIDDEN == RUNS_DEDUP
    ordo_key_form next[RUN_TABLE_MAX]; /* the key that follows a run's part of the tile */
    uint          has_next[RUN_TABLE_MAX];
    uint          ticket, tiles_before; /* look-back's */
#endif
    uint start[RUNS_REGIONS];       /* a region's first slot */
    uint count[RUNS_REGIONS];       /* a region's elements */
    uint used[RUNS_ROUNDS_MAX + 1]; /* slots that a round's regions span */
    uint begin;                     /* the tile's first element of the output */
} runs_local;

/* Lays out the regions of one round. `capacity` bounds the tile where runs are not in order; in order it never does. */
ORDO_FN void runs_lay_out_round(__local runs_local *mem, uint round, uint n, uint capacity)
{
    const uint first = runs_first_region(round);
    uint       slot = 0, in_region = 0, left = capacity;
    for (uint r = 0; r < n; r++) {
        const uint count = min(mem->part[r].end - mem->part[r].begin, left);
        left -= count;
        in_region += count;
        if ((r + 1) % (1u << round) == 0) {
            mem->start[first + (r >> round)] = slot;
            mem->count[first + (r >> round)] = in_region;
            slot += round == 0 ? in_region : (in_region + RUNS_ITEMS - 1) / RUNS_ITEMS * RUNS_ITEMS;
            in_region = 0;
        }
    }
    mem->used[round] = slot;
}

/* How many elements of run r that come before its element i are in the output. */
ORDO_FN uint runs_output_before(__local const runs_local *mem, uint r, uint i)
{
#if RUNS_HIDDEN == RUNS_FILTER
    if (mem->hidden_of[r])
        return run_visible_before(mem->hidden_of[r], mem->visible_of[r], i);
#endif
    return i;
}

/* One of four work-items that set up what a group needs, side by side. (With the pointers of keys and of values by two of
 * them plain merges took 86 registers on sm_90, for 48.) */
#define RUNS_SETTER(i) (get_local_id(0) == (i) * (RUNS_GROUP / 4))

/* Where the tile's input lies and which slots each round uses. Called by the whole group; ends with a barrier. */
ORDO_FN void runs_lay_out(__local runs_local *mem, __global const uint *splits, uint tile, uint n_tiles, uint n_rounds,
                          uint capacity)
{
    const uint lid = (uint) get_local_id(0);
    if (lid < RUN_TABLE_MAX) {
        const runs_part none = { 0, 0 };
        const bool      is = lid < mem->table.n_runs;
        mem->part[lid] = is ? runs_part_of(&mem->table, splits, tile, n_tiles, lid) : none;
        mem->before[lid] = is ? runs_output_before(mem, lid, mem->part[lid].begin) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid <= n_rounds)
        runs_lay_out_round(mem, lid, 1u << n_rounds, capacity);
    if (lid == RUNS_GROUP - 1) {
        mem->begin = 0;
        for (uint r = 0; r < 1u << n_rounds; r++)
            mem->begin += mem->before[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < RUN_TABLE_MAX) {
        const long shift = (long) mem->part[lid].begin - (long) mem->start[lid];
        mem->key_of[lid] += shift;
        mem->value_of[lid] += shift;
#if RUNS_HIDDEN
        mem->shift[lid] = (uint) shift;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Which run element `at` of the tile's input is of, the first n. Mostly the first one, which is mostly the largest. */
ORDO_FN uint runs_run_of(__local const runs_local *mem, uint n, uint at)
{
    return at < mem->start[1] ? 0 : runs_last_start(mem->start, n, at);
}

/* Run r from its first element on, once runs_lay_out is done. */
ORDO_FN runs_keys runs_whole(__local const runs_local *mem, uint r)
{
    return mem->key_of[r] + mem->start[r] - mem->part[r].begin;
}

/* Loads the tile's keys, run by run, and hidden bits. The tile has `count` elements, at least one; past its end the last is
 * read again: loads without a condition are in flight all at once. The runs are among the first n.
 * Called by the whole group; ends with a barrier. */
ORDO_FN void runs_load_keys(__local runs_local *mem, uint n, uint count)
{
    const uint lid = (uint) get_local_id(0);
    ordo_key   key[RUNS_ITEMS];
#if RUNS_HIDDEN
    uint hidden = 0; /* a bit each */
#endif
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++) {
        const uint at = min(i * RUNS_GROUP + lid, count - 1);
        const uint r = runs_run_of(mem, n, at);
        key[i] = mem->key_of[r][at];
#if RUNS_HIDDEN
        hidden |= (uint) run_is_hidden(mem->hidden_of[r], mem->shift[r] + at) << i;
#endif
    }
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++) {
        mem->keys[i * RUNS_GROUP + lid] = key_bits(key[i]);
#if RUNS_HIDDEN
        mem->from[i * RUNS_GROUP + lid] = (ushort) (i * RUNS_GROUP + lid) | (hidden >> i & 1 ? RUNS_FROM_HIDDEN : 0);
#elif RUNS_FROM
        mem->from[i * RUNS_GROUP + lid] = (ushort) (i * RUNS_GROUP + lid);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Whether a round has something to do for the region at `slot`: not for the first one if its right half is empty, as it
 * begins where its left half does. */
ORDO_FN bool runs_merges(__local const runs_local *mem, uint round, uint slot)
{
    const uint right = runs_first_region(round - 1) + 1;
    return slot < mem->used[round] && (slot >= mem->count[right - 1] || mem->count[right] > 0);
}

/* Makes the regions of a round, each from two of the round before, in place; at first there are n runs. Each work-item makes
 * RUNS_ITEMS slots; those past a region's end get elements without meaning. Called by the whole group; needs a barrier before,
 * ends with one. */
ORDO_FN void runs_merge_round(__local runs_local *mem, uint round, uint n)
{
    const uint    slot = (uint) get_local_id(0) * RUNS_ITEMS;
    const bool    works = runs_merges(mem, round, slot);
    ordo_key_form merged[RUNS_ITEMS];
    uint          from[RUNS_ITEMS];

    if (works) {
        __local const uint *starts = mem->start + runs_first_region(round);
        const uint          region = runs_last_start(starts, n >> round, slot);
        const uint          left = runs_first_region(round - 1) + 2 * region;
        const uint          a_at = mem->start[left], a_count = mem->count[left];
        const uint          b_at = mem->start[left + 1], b_count = mem->count[left + 1];
        const uint          diagonal = min(slot - starts[region], a_count + b_count);
        const uint          a = merge_path(mem->keys + a_at, a_count, mem->keys + b_at, b_count, diagonal);
        const merge_cursor  at = { a_at + a, a_at + a_count, b_at + diagonal - a, b_at + b_count };
        runs_serial(mem->keys, at, merged, from);
#if RUNS_FROM
        ORDO_UNROLL
        for (uint i = 0; i < RUNS_ITEMS; i++)
            from[i] = mem->from[from[i]];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (works) {
        ORDO_UNROLL
        for (uint i = 0; i < RUNS_ITEMS; i++) {
            mem->keys[slot + i] = merged[i];
#if RUNS_FROM
            mem->from[slot + i] = (ushort) from[i];
#endif
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* ---- a tile's hidden bits -------------------------------------------------------------------------------------- */

#if RUNS_HIDDEN == RUNS_KEEP
/* Sets bit (shift + slot) of mem->marks for each slot that is hidden, of which there are few: many of one word would queue
 * for it. By the whole group; ends with a barrier. */
ORDO_FN void runs_mark_slots(__local runs_local *mem, uint count, uint shift)
{
    const uint lid = (uint) get_local_id(0);
    for (uint word = lid; word < RUNS_SLOTS / 32 + 2; word += RUNS_GROUP)
        mem->marks[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++) {
        const uint slot = i * RUNS_GROUP + lid;
        if (slot < count && mem->from[slot] & RUNS_FROM_HIDDEN)
            ordo_local_or(&mem->marks[(shift + slot) / 32], 1u << ((shift + slot) & 31));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Writes the tile's bits. The first and the last word may be shared with the tiles beside; all are 0 before the launch. */
ORDO_FN void runs_store_hidden(__local runs_local *mem, uint count, __global uint *hidden_out)
{
    const uint shift = mem->begin & 31, words = (shift + count + 31) / 32;
    runs_mark_slots(mem, count, shift);
    for (uint word = get_local_id(0); word < words; word += RUNS_GROUP) {
        __global uint *to = hidden_out + mem->begin / 32 + word;
        if (word > 0 && word + 1 < words)
            *to = mem->marks[word];
        else if (mem->marks[word])
            ordo_or(to, mem->marks[word]);
    }
}
#endif

#if RUNS_CLOSES_GAPS
#if RUNS_HIDDEN == RUNS_DEDUP
/* The key that follows the part of the tile of this work-item's run, if it has one: it is known long before it is needed. */
typedef struct {
    ordo_key_form key;
    bool          is;
} runs_key;

ORDO_FN runs_key runs_read_next(__local const runs_local *mem)
{
    const uint r = min((uint) get_local_id(0), (uint) RUN_TABLE_MAX - 1);
    runs_key   next = { 0, get_local_id(0) < mem->table.n_runs && mem->part[r].end < mem->table.count[r] };
    if (next.is)
        next.key = key_bits(runs_whole(mem, r)[mem->part[r].end]);
    return next;
}

/* By the whole group; ends with a barrier. */
ORDO_FN void runs_keep_next(__local runs_local *mem, runs_key next)
{
    if (get_local_id(0) < RUN_TABLE_MAX) {
        mem->next[get_local_id(0)] = next.key;
        mem->has_next[get_local_id(0)] = next.is;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Whether an element of key x follows the tile, which has one and nothing greater. */
ORDO_FN bool runs_goes_on(__local const runs_local *mem, ordo_key_form x)
{
    bool does = false;
    for (uint r = 0; r < mem->table.n_runs; r++)
        does = does || (mem->has_next[r] && mem->next[r] == x);
    return does;
}

/* Whether the element of a slot is the newest of its key. */
ORDO_FN bool runs_is_newest(__local const runs_local *mem, uint slot, uint count)
{
    const ordo_key_form x = mem->keys[slot];
    return slot + 1 < count ? mem->keys[slot + 1] != x : !runs_goes_on(mem, x);
}
#else
ORDO_FN bool runs_is_newest(__local const runs_local *mem, uint slot, uint count)
{
    return true;
}
#endif

/* Of this work-item's slots of the merged tile, which has `count`, those that are visible: a bit each. */
ORDO_FN uint runs_visible_slots(__local const runs_local *mem, uint count)
{
    const uint first = (uint) get_local_id(0) * RUNS_ITEMS;
    uint       visible = 0;
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        visible |= (uint) (first + i < count && !(mem->from[first + i] & RUNS_FROM_HIDDEN) &&
                           runs_is_newest(mem, first + i, count))
                   << i;
    return visible;
}

#if VALUE_COMBINES
/* Notes for the elements of this work-item's slots where what the first run has of their keys would be. By the whole group; the
 * next barrier makes it known. */
ORDO_FN void runs_note_first(__local runs_local *mem, uint count)
{
    const uint first = (uint) get_local_id(0) * RUNS_ITEMS, second_run = mem->start[1];
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++) {
        const uint from = mem->from[first + i] & ~RUNS_FROM_HIDDEN;
        if (first + i < count && from >= second_run && from < count)
            mem->upto[from] = (ushort) (first + i - (from - second_run));
    }
}

/* What becomes of `value`, of a slot's element, which is element `at` of the tile's input: with that of the last element of the first
 * run that is not greater, if it has the slot's key. It may be the last one before the tile. */
ORDO_FN merge_value runs_combined(__local const runs_local *mem, uint slot, uint at, merge_value value)
{
    const uint second_run = mem->start[1];
    if (at < second_run)
        return value;
    const uint before = mem->part[0].begin + min((uint) mem->upto[at], second_run);
    if (before == 0 || key_bits(runs_whole(mem, 0)[before - 1]) != mem->keys[slot])
        return value;
    return value_combine((mem->value_of[0] - mem->part[0].begin)[before - 1], value);
}
#endif

/* Visible slots of the work-items before this one, and of all. By the whole group, from uniform control flow; a barrier
 * inside. */
ORDO_FN uint runs_rank_visible(__local runs_local *mem, uint visible, __private uint *total)
{
    const uint upto = team_fold_upto(visible);
    return group_fold_before(team_item(upto, TEAM_WIDTH - 1), &mem->visible, total) + upto - visible;
}

/* Closes the gaps in the merged tile: moves this work-item's visible slots to slot `begin` and on; first keys, then `from`,
 * as both at once are too many registers for some. By the whole group; ends with a barrier. */
ORDO_FN void runs_close_gaps(__local runs_local *mem, uint visible, uint begin)
{
    const uint    first = (uint) get_local_id(0) * RUNS_ITEMS;
    ordo_key_form key[RUNS_ITEMS];
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        key[i] = mem->keys[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint to = begin;
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        if (visible >> i & 1)
            mem->keys[to++] = key[i];
#if ORDO_VALUE_BYTES
    ushort from[RUNS_ITEMS];
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        from[i] = mem->from[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    to = begin;
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        if (visible >> i & 1)
            mem->from[to++] = from[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* Writes the keys of the first `left` slots of the merged tile, if keys_out is not NULL. By the whole group, after a
 * barrier. */
ORDO_FN void runs_store_keys(__local const runs_local *mem, uint left, __global ordo_key *keys_out)
{
    const uint lid = (uint) get_local_id(0);
    if (!keys_out)
        return;
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        if (i * RUNS_GROUP + lid < left)
            keys_out[i * RUNS_GROUP + lid] = key_from_bits(mem->keys[i * RUNS_GROUP + lid]);
}

/* Writes the values of the first `left` slots, from where they are, if values_out is not NULL; the tile's input has `count`
 * elements, at least one, of n runs. By the whole group, after a barrier. */
ORDO_FN void runs_copy_values(__local const runs_local *mem, uint n, uint count, uint left,
                              __global merge_value *values_out)
{
#if ORDO_VALUE_BYTES
    const uint  lid = (uint) get_local_id(0);
    merge_value value[RUNS_ITEMS];
    if (!values_out)
        return;
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++) {
        const uint from = mem->from[min(i * RUNS_GROUP + lid, count - 1)] & ~RUNS_FROM_HIDDEN;
        const uint at = min(from, count - 1); /* of runs that are not in order it may be anything */
        value[i] = mem->value_of[runs_run_of(mem, n, at)][at];
#if VALUE_COMBINES
        value[i] = runs_combined(mem, min(i * RUNS_GROUP + lid, count - 1), at, value[i]);
#endif
    }
    ORDO_UNROLL
    for (uint i = 0; i < RUNS_ITEMS; i++)
        if (i * RUNS_GROUP + lid < left)
            values_out[i * RUNS_GROUP + lid] = value[i];
#endif
}

/* Loads a tile and merges it. It has `count` elements, at least one. By the whole group; ends with a barrier. */
ORDO_FN void runs_make_tile(__local runs_local *mem, uint n_rounds, uint count)
{
    runs_load_keys(mem, 1u << n_rounds, count);
    for (uint round = 1; round <= n_rounds; round++)
        runs_merge_round(mem, round, 1u << n_rounds);
}

#if RUNS_HIDDEN != RUNS_DEDUP
/* One group per tile. n_rounds: runs fit in 2^n_rounds, 1 to RUNS_ROUNDS_MAX. capacity: the most elements of a tile, such
 * that they fit in RUNS_SLOTS with the gaps between the regions of round 1. */
ORDO_KERNEL(RUNS_GROUP)
void runs_tiles(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *restrict splits, uint n_tiles, uint n_rounds,
                uint capacity, __global ordo_key *restrict keys_out, ulong keys_out_at,
                __global merge_value *restrict values_out, ulong values_out_at, __global uint *restrict hidden_out,
                ulong hidden_out_at)
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
    __global const uint *splits;
    uint n_tiles;
} runs_input;
#define LOOKBACK_INPUT runs_input

/* Whether element i of run r, in its part of a tile, is visible. Elements of its key in newer runs, if any, are in their
 * parts of the tile or next after them. */
ORDO_FN bool runs_is_visible(__private const runs_input *in, uint tile, uint r, uint i)
{
    __local const runs_local *mem = in->mem;
    const runs_keys keys = runs_whole(mem, r);
    const ordo_key_form x = key_bits(keys[i]);
    bool visible = !run_is_hidden(mem->hidden_of[r], i);
    if (i + 1 < mem->table.count[r])
        visible = visible && key_bits(keys[i + 1]) != x;
    for (uint s = r + 1; s < mem->table.n_runs; s++) {
        const runs_keys newer = runs_whole(mem, s);
        const runs_part part = runs_part_of(&mem->table, in->splits, tile, in->n_tiles, s);
        const uint at = runs_count_before(newer, part.begin, part.end, x, false);
        if (at < mem->table.count[s])
            visible = visible && key_bits(newer[at]) != x;
    }
    return visible;
}

/* Visible elements of a tile, from the runs themselves. */
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
/* heads[i]: whether key i, of n in order, is the first of equal ones. One work-item per MERGE_RUNS_HEADS. */
ORDO_KERNEL(RUNS_SEARCH_GROUP)
void runs_heads(__global const ordo_key *restrict keys, ulong keys_at, uint n, __global uchar *restrict heads)
{
    const uint apart = (n + MERGE_RUNS_HEADS - 1) / MERGE_RUNS_HEADS, first = (uint) get_global_id(0);
    bool head[MERGE_RUNS_HEADS];
    if (first >= apart)
        return;
    keys += keys_at;
    ORDO_UNROLL
    for (uint k = 0; k < MERGE_RUNS_HEADS; k++) {
        const uint i = min(first + k * apart, n - 1);
        head[k] = i == 0 || keys[i] != keys[i - 1];
    }
    ORDO_UNROLL
    for (uint k = 0; k < MERGE_RUNS_HEADS; k++)
        if (first + k * apart < n)
            heads[first + k * apart] = head[k];
}
#endif

/* Built together: runs_sample runs_select runs_split */

/* As runs_tiles, for tiles in the order in which groups start. `state`, `stamp`: see lookback_state. *kept = how many
 * elements are written. */
ORDO_KERNEL(RUNS_GROUP)
void runs_dedup(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *restrict splits, uint n_tiles, uint n_rounds,
                uint capacity, __global ordo_key *restrict keys_out, ulong keys_out_at,
                __global merge_value *restrict values_out, ulong values_out_at, __global uint *state, uint stamp,
                __global uint *restrict kept)
{
    __local runs_local mem;
    const lookback_state s = lookback_state_at(state, stamp);
    const runs_input input = { &mem, splits, n_tiles };
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

    const uint count = mem.used[0];
    const runs_key next = runs_read_next(&mem);
    uint visible = 0, left = 0;
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

/* ---- a tile by one work-item ----------------------------------------------------------------------------------- */

/* The next element of a run, ordered as elements are: by key, then by run. An exhausted run's comes after all.
 * runs_play orders two of them; field by field and without a branch, which on CPUs is twice as fast as whole structs. */
#if KEY_BITS == 32
typedef ulong     runs_head;
ORDO_FN runs_head runs_head_of(ordo_key_form key, uint r)
{
    return upsample(key, r);
}
ORDO_FN runs_head runs_exhausted(void)
{
    return ~0UL;
}
ORDO_FN ordo_key_form runs_head_key(runs_head head)
{
    return (uint) (head >> 32);
}
ORDO_FN uint runs_head_run(runs_head head)
{
    return (uint) head;
}
ORDO_FN void runs_play(__private runs_head *winner, __private runs_head *loser)
{
    const runs_head a = *winner, b = *loser;
    *winner = min(a, b);
    *loser = max(a, b);
}
#else
typedef struct {
    ordo_key_form key;
    uint          run;
} runs_head;
ORDO_FN runs_head runs_head_of(ordo_key_form key, uint r)
{
    const runs_head head = { key, r };
    return head;
}
ORDO_FN runs_head runs_exhausted(void)
{
    return runs_head_of(~0UL, RUN_TABLE_MAX);
}
ORDO_FN ordo_key_form runs_head_key(runs_head head)
{
    return head.key;
}
ORDO_FN uint runs_head_run(runs_head head)
{
    return head.run;
}
ORDO_FN void runs_play(__private runs_head *winner, __private runs_head *loser)
{
    const ordo_key_form a_key = winner->key, b_key = loser->key;
    const uint          a_run = winner->run, b_run = loser->run;
    const bool          stays = (a_key < b_key) | ((a_key == b_key) & (a_run < b_run));
    winner->key = stays ? a_key : b_key;
    winner->run = stays ? a_run : b_run;
    loser->key = stays ? b_key : a_key;
    loser->run = stays ? b_run : a_run;
}
#endif

/* A tournament over 2^n_rounds runs: node n's children are 2n and 2n + 1, the runs are the leaves, every inner node keeps
 * the loser of its match, and `winner` has won them all. Knuth, The Art of Computer Programming 3, 5.4.1. */
typedef struct {
    runs_head winner, loser[RUN_TABLE_MAX];
    uint      at[RUN_TABLE_MAX], end[RUN_TABLE_MAX]; /* what is left of each run */
    runs_keys key_of[RUN_TABLE_MAX];
} runs_tournament;

ORDO_FN runs_head runs_next(__private const runs_tournament *t, uint r)
{
    return t->at[r] < t->end[r] ? runs_head_of(key_bits(t->key_of[r][t->at[r]]), r) : runs_exhausted();
}

ORDO_FN void runs_begin_tournament(__private runs_tournament *t, uint n_leaves)
{
    runs_head winner[2 * RUN_TABLE_MAX];
    for (uint r = 0; r < n_leaves; r++)
        winner[n_leaves + r] = runs_next(t, r);
    for (uint node = n_leaves - 1; node > 0; node--) {
        winner[node] = winner[2 * node];
        t->loser[node] = winner[2 * node + 1];
        runs_play(&winner[node], &t->loser[node]);
    }
    t->winner = winner[1];
}

/* Hidden bits on their way out: a word at a time. All words are 0 before the launch; neighbours share the outer ones. */
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

/* One work-item per tile; arguments as for runs_tiles, `capacity` not used. */
ORDO_KERNEL(1)
void runs_chunks(RUNS_KEYS RUNS_VALUES run_table runs, __global const uint *restrict splits, uint n_tiles,
                 uint n_rounds, uint capacity, __global ordo_key *restrict keys_out, ulong keys_out_at,
                 __global merge_value *restrict values_out, ulong values_out_at, __global uint *restrict hidden_out,
                 ulong hidden_out_at)
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
