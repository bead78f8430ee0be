/* SPDX-License-Identifier: Apache-2.0 */
/* A *tile* is the part of a merge's output that one work-group writes. These functions merge a tile in local memory. A
 * *slot* is an index in the tile. An element is *hidden* if a newer run replaces or erases its key. The whole group
 * must call functions with barriers. */
#pragma once
#include "group/run_cuts.cl"
#include "group/value.cl"

#define RUNS_SLOTS (RUNS_GROUP * RUNS_ITEMS)
#if RUNS_SLOTS + RUNS_ITEMS > 0xffff
#error "RUNS_GROUP * RUNS_ITEMS must be below 65536: a place in a tile is 16 bits"
#endif
#if RUNS_GROUP < RUN_TABLE_MAX
#error "RUNS_GROUP must be at least RUN_TABLE_MAX: one work-item finds a run's part of the tile"
#endif

MERGE_DEFINE_SERIAL(runs_serial, RUNS_ITEMS)

/* Each round of the merge merges *regions* of the tile in pairs. In round l, a region has the elements of 2^l runs.
 * From round 1 on, regions begin at multiples of RUNS_ITEMS. */
#define RUNS_REGIONS    (2 * RUN_TABLE_MAX - 1)
#define RUNS_ROUNDS_MAX 4
ORDO_FN uint runs_first_region(uint round)
{
    return 2 * RUN_TABLE_MAX - ((2 * RUN_TABLE_MAX) >> round);
}

typedef struct {
    ordo_key_form keys[RUNS_SLOTS + RUNS_ITEMS + 1];
#if RUNS_FROM
    /* The element in slot s was in slot from[s] before the merge. RUNS_FROM_HIDDEN is added if it is hidden. */
    ushort from[RUNS_SLOTS + RUNS_ITEMS];
#endif
#if VALUE_COMBINES
    /* Set only for elements of run 1. Such an element is in some slot s before the merge. upto[s] is the number of run
     * 0's elements that the merge puts before it. */
    ushort upto[RUNS_SLOTS + RUNS_ITEMS];
#endif
    run_table table;
    runs_part part[RUN_TABLE_MAX];
    uint      before[RUN_TABLE_MAX];
    /* If slot s has an element of run r before the merge, its key is key_of[r][s]. Its value is value_of[r][s]. */
    runs_keys   key_of[RUN_TABLE_MAX];
    runs_values value_of[RUN_TABLE_MAX];
#if RUNS_HIDDEN
    runs_words hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
    uint       shift[RUN_TABLE_MAX];
    uint       marks[RUNS_SLOTS / 32 + 2];
#endif
#if RUNS_CLOSES_GAPS
    fold_scratch visible;
#endif
#if RUNS_HIDDEN == RUNS_DEDUP
    ordo_key_form next[RUN_TABLE_MAX];
    uint          has_next[RUN_TABLE_MAX];
    uint          ticket, tiles_before;
#endif
    uint start[RUNS_REGIONS];
    uint count[RUNS_REGIONS];
    uint used[RUNS_ROUNDS_MAX + 1];
    uint begin;
} runs_local;
#ifdef RUNS_LOCAL_BYTES
ORDO_STATIC_ASSERT(sizeof(runs_local) <= RUNS_LOCAL_BYTES, "the host counts as many bytes");
#endif

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

ORDO_FN uint runs_output_before(__local const runs_local *mem, uint r, uint i)
{
#if RUNS_HIDDEN == RUNS_FILTER
    if (mem->hidden_of[r])
        return run_visible_before(mem->hidden_of[r], mem->visible_of[r], i);
#endif
    return i;
}

#define RUNS_SETTER(i) (get_local_id(0) == (i) * (RUNS_GROUP / 4))

/* Computes which elements of each run belong to the tile (mem->part). Sets mem->start and mem->count to the first slot
 * and the size of each region. The tile has at most `capacity` elements. Ends with a barrier. */
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

/* Returns the run whose element is in slot `at` before the merge. n is a power of two, at least the number of runs. */
ORDO_FN uint runs_run_of(__local const runs_local *mem, uint n, uint at)
{
    return at < mem->start[1] ? 0 : runs_last_start(mem->start, n, at);
}

ORDO_FN runs_keys runs_whole(__local const runs_local *mem, uint r)
{
    return mem->key_of[r] + mem->start[r] - mem->part[r].begin;
}

/* Loads keys and hidden bits of a tile of `count` elements, at least 1. Copies the last element to all later slots.
 * Ends with a barrier. */
ORDO_FN void runs_load_keys(__local runs_local *mem, uint n, uint count)
{
    const uint lid = (uint) get_local_id(0);
    ordo_key   key[RUNS_ITEMS];
#if RUNS_HIDDEN
    uint hidden = 0;
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

ORDO_FN bool runs_merges(__local const runs_local *mem, uint round, uint slot)
{
    const uint right = runs_first_region(round - 1) + 1;
    return slot < mem->used[round] && (slot >= mem->count[right - 1] || mem->count[right] > 0);
}

/* Merges pairs of regions of the previous round, in place. n is the number of regions in round 0. A barrier must
 * precede. Ends with a barrier. */
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

/* Writes the tile's hidden bits to hidden_out, which must be 0 before the launch. Two tiles may share a word, so atomic
 * OR writes the first and the last word. */
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
typedef struct {
    ordo_key_form key;
    bool          is;
} runs_key;

ORDO_FN runs_key runs_read_next(__local const runs_local *mem)
{
    const uint r = min((uint) get_local_id(0), (uint) RUN_TABLE_MAX - 1);
    runs_key   next = { KEY_LEAST, get_local_id(0) < mem->table.n_runs && mem->part[r].end < mem->table.count[r] };
    if (next.is)
        next.key = key_bits(runs_whole(mem, r)[mem->part[r].end]);
    return next;
}

ORDO_FN void runs_keep_next(__local runs_local *mem, runs_key next)
{
    if (get_local_id(0) < RUN_TABLE_MAX) {
        mem->next[get_local_id(0)] = next.key;
        mem->has_next[get_local_id(0)] = next.is;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Returns whether a run has an element with key x after this tile. x is the tile's greatest key. */
ORDO_FN bool runs_goes_on(__local const runs_local *mem, ordo_key_form x)
{
    bool does = false;
    for (uint r = 0; r < mem->table.n_runs; r++)
        does = does || (mem->has_next[r] && key_same(mem->next[r], x));
    return does;
}

ORDO_FN bool runs_is_newest(__local const runs_local *mem, uint slot, uint count)
{
    const ordo_key_form x = mem->keys[slot];
    return slot + 1 < count ? !key_same(mem->keys[slot + 1], x) : !runs_goes_on(mem, x);
}
#else
ORDO_FN bool runs_is_newest(__local const runs_local *mem, uint slot, uint count)
{
    return true;
}
#endif

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
/* Handles the elements of run 1 that are in this work-item's slots after the merge. Counts the elements of run 0 that
 * the merge put before each of them. A barrier must follow. */
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

/* Combines `value` with run 0's value of the same key, if there is one. The value's element was in slot `at` before the
 * merge, and is now in `slot`. */
ORDO_FN merge_value runs_combined(__local const runs_local *mem, uint slot, uint at, merge_value value)
{
    const uint second_run = mem->start[1];
    if (at < second_run)
        return value;
    const uint before = mem->part[0].begin + min((uint) mem->upto[at], second_run);
    if (before == 0 || !key_same(key_bits(runs_whole(mem, 0)[before - 1]), mem->keys[slot]))
        return value;
    return value_combine((mem->value_of[0] - mem->part[0].begin)[before - 1], value);
}
#endif

/* Returns the sum of `visible` over all work-items before this one. Contains a barrier. */
ORDO_FN uint runs_rank_visible(__local runs_local *mem, uint visible, __private uint *total)
{
    const uint upto = team_fold_upto(visible);
    return group_fold_before(team_item(upto, TEAM_WIDTH - 1), &mem->visible, total) + upto - visible;
}

/* Moves this work-item's elements whose bit in `visible` is 1 to successive slots from `begin` on. Ends with a
 * barrier. */
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

/* A barrier must precede. */
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

/* Copies the values of slots 0 to left - 1 from their runs. The tile had `count` elements, and has `left` elements
 * without the hidden ones. A barrier must precede. */
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
        const uint at = min(from, count - 1);
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

/* `count` must be at least 1. Ends with a barrier. */
ORDO_FN void runs_make_tile(__local runs_local *mem, uint n_rounds, uint count)
{
    runs_load_keys(mem, 1u << n_rounds, count);
    for (uint round = 1; round <= n_rounds; round++)
        runs_merge_round(mem, round, 1u << n_rounds);
}
