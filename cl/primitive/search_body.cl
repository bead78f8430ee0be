/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a batched search in a sorted array. search_indexed needs an index, search_array needs none.
 * search_sorted and, for CPUs, search_gallop need ascending queries to be fast. */

/* The including file first includes search_keys.cl, and defines:
 *  answers        struct with the result arrays. It begins with PLACES_OF
 *  ANSWERS_ARGS   kernel parameters for these arrays
 *  ANSWERS        initializer of the struct
 *  answer(keys, to, i, rank, query, equal)   stores the result of query i
 *  answer_prefetch(to, rank)                 prefetches the memory that answer() reads
 *  SEARCH_LAST    0: `equal` is true if the key at index `rank` equals the query
 *                 1: `equal` is true if the key before index `rank` equals it. Needs SEARCH_UPPER */
#pragma once
#include "device/atomic.cl"
#include "primitive/search_keys.cl"

ORDO_FN void answer_query(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
#if SEARCH_PLACES
    i = to.places[i];
#endif
    answer(keys, to, i, rank, query, equal);
}

ORDO_FN bool key_at_is(key_array keys, uint rank, ordo_key_form query)
{
    if (SEARCH_LAST)
        return rank > 0 && rank <= keys.count && key_same(key_form(keys, rank - 1), query);
    return SEARCH_LOOKUP && rank < keys.count && key_same(key_form(keys, rank), query);
}

/* Returns the index of this work-item's r-th query. The result may be past the last query. */
ORDO_FN uint tile_query(uint first, uint r)
{
#if ORDO_CPU
    return first + get_local_id(0) * SEARCH_ITEMS + r;
#else
    return first + r * SEARCH_GROUP + get_local_id(0);
#endif
}

ORDO_FN uint tiles_of(key_array queries)
{
    return (queries.count - 1) / SEARCH_TILE + 1;
}

ORDO_FN void tile_load(key_array queries, uint first, __private ordo_key_form query[SEARCH_ITEMS])
{
#if ORDO_CPU
    const uint at = tile_query(first, 0);
    if (at < queries.count && SEARCH_ITEMS <= queries.count - at) {
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            query[r] = key_bits(queries.key[at + r]);
        return;
    }
#endif
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        query[r] = key_bits(queries.key[min(tile_query(first, r), queries.count - 1)]);
}

ORDO_FN void tile_answer(key_array keys, key_array queries, answers to, uint first,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private const uint rank[SEARCH_ITEMS])
{
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint i = tile_query(first, r);
        if (i < queries.count)
            answer_query(keys, to, i, rank[r], query[r], key_at_is(keys, rank[r], query[r]));
    }
}

#if ORDO_CPU
#include "primitive/search_index_step.cl"
#else
#include "primitive/search_index_team.cl"
#endif

ORDO_FN uint span_run(span s, uint depth)
{
    return (s.count + (1u << depth) - 1) >> depth;
}

#if SEARCH_LOCAL
ORDO_FN uint span_depth(span s, uint depth_max)
{
    return min(32 - clz(s.count), depth_max);
}

/* Divides interval `s` into 2^depth sections of equal length. Copies the last key of each section to a search tree in
 * local memory, but omits the last section. The whole group must call. */
ORDO_FN void stage_span(key_array keys, span s, uint depth, __local ordo_key_form *tree)
{
    const uint run = span_run(s, depth);

    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = key_bits(keys.key[s.first + min((i + 1) * run, s.count) - 1]);
}
#endif

ORDO_FN void span_search(key_array keys, span s, uint depth, __local const ordo_key_form *tree,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private uint rank[SEARCH_ITEMS])
{
    const uint run = span_run(s, depth);
    const bool all = s.count < 1u << depth;

    TREE_RANKS(tree, , depth, query, rank);
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] = s.first + min(rank[r] * run, all ? s.count : s.count - run);
    span_ranks(keys.key, all ? 0 : run, query, rank);
}

ORDO_KERNEL(SEARCH_GROUP)
void search_array(KEYS_AND_QUERIES, ANSWERS_ARGS, uint depth, __local ordo_key_form *tree)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const span      whole = { 0, keys.count };
    const uint      tiles = tiles_of(queries);

#if SEARCH_LOCAL
    stage_span(keys, whole, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint    first = tile * SEARCH_TILE;
        ordo_key_form query[SEARCH_ITEMS];
        uint          rank[SEARCH_ITEMS];

        tile_load(queries, first, query);
        span_search(keys, whole, SEARCH_LOCAL ? depth : 0, tree, query, rank);
        tile_answer(keys, queries, to, first, query, rank);
    }
}

#if SEARCH_LOCAL
/* Returns whether any query of the group is less than `low` or greater than `high`. The whole group must call. Begins
 * and ends with a barrier. */
ORDO_FN bool tile_unsorted(__private const ordo_key_form query[SEARCH_ITEMS], ordo_key_form low, ordo_key_form high,
                           __local uint *scratch)
{
    bool outside = false;

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        outside |= key_before(query[r], low) || key_before(high, query[r]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *scratch = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (outside)
        *scratch = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool unsorted = *scratch != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    return unsorted;
}

/* Each group searches for SEARCH_TILE queries. If they ascend, the group searches only the part of the array between
 * the first and the last query. */
ORDO_KERNEL(SEARCH_GROUP)
void search_sorted(KEYS_AND_QUERIES, ANSWERS_ARGS, uint depth_max, __local ordo_key_form *tree)
{
    __local union {
        narrow_scratch narrow;
        uint           unsorted;
    } scratch;
    const key_array     keys = KEYS, queries = QUERIES;
    const answers       to = ANSWERS;
    const uint          first = get_group_id(0) * SEARCH_TILE;
    const ordo_key_form low = key_bits(queries.key[first]);
    const ordo_key_form high = key_bits(queries.key[first + min((uint) SEARCH_TILE, queries.count - first) - 1]);
    span                s = { 0, keys.count };
    ordo_key_form       query[SEARCH_ITEMS];
    uint                rank[SEARCH_ITEMS];

    tile_load(queries, first, query);
    if (!tile_unsorted(query, low, high, &scratch.unsorted))
        s = group_narrow(keys.key, keys.count, low, high, &scratch.narrow);

    const uint depth = span_depth(s, depth_max);
    stage_span(keys, s, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
    span_search(keys, s, depth, tree, query, rank);
    tile_answer(keys, queries, to, first, query, rank);
}
#endif

#if SEARCH_ITEMS == 1
ORDO_KERNEL(SEARCH_GROUP)
void search_gallop(KEYS_AND_QUERIES, ANSWERS_ARGS, uint chunk)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const ulong     first = (ulong) get_global_id(0) * chunk;
    ordo_key_form   last = KEY_LEAST;
    uint            rank = 0;

    for (ulong i = first; i < min(first + chunk, (ulong) queries.count); i++) {
        const ordo_key_form query = key_bits(queries.key[i]);
        if (i == first || key_before(query, last)) {
            rank = 0;
            span_ranks(keys.key, keys.count, &query, &rank);
        } else {
            rank = rank_from(keys, rank, query, SEARCH_UPPER);
        }
        last = query;
        answer_query(keys, to, (uint) i, rank, query, key_at_is(keys, rank, query));
    }
}
#endif

ORDO_KERNEL(SEARCH_GROUP)
void search_number(__global uint *places, ulong places_at, uint n)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        places[places_at + i] = (uint) i;
}
