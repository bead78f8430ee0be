/* SPDX-License-Identifier: Apache-2.0 */
/* Batched search in a sorted array: lower and upper bounds, and the values of keys.
 *
 *   search_indexed   queries in any order, through a static index (shared/index.h)
 *   search_array     queries in any order, without an index
 *   search_sorted    queries that ascend: each work-group looks only at the part of the array that its queries span
 *   search_gallop    the same for one work-item at a time, on CPUs
 *
 * All take (keys, queries, answers), then what is their own. The host gives ORDO_KEY, ORDO_VALUE_BYTES, SEARCH_UPPER,
 * SEARCH_NODE, SEARCH_GROUP, SEARCH_ITEMS, TEAM_WIDTH (lanes per query), and
 *   SEARCH_LOOKUP   1: answers are values and whether the key was found; 0: ranks
 *   SEARCH_RANGES   1: of ranks both bounds
 *   SEARCH_RUN      1: a lookup in one run of several (host/dict/run.h), newest first: takes the last of equal keys, and
 *                   passes over queries that a newer run has answered. Has SEARCH_UPPER.
 *   SEARCH_MARK     1: answers nothing, but hides what is found, in an older run whose hidden bits are there: the last of
 *                   equal keys. Has SEARCH_UPPER and SEARCH_LOOKUP.
 *   SEARCH_LOCAL    1: the group keeps separators in local memory, which takes barriers; 0: it does without
 */
#pragma once
#include "device/atomic.cl"
#include "group/search.cl"
#include "shared/index.h"
#include "shared/runs.h"

#ifndef SEARCH_LOOKUP
#define SEARCH_LOOKUP 0
#endif
#ifndef SEARCH_RANGES
#define SEARCH_RANGES 0
#endif
#ifndef SEARCH_RUN
#define SEARCH_RUN 0
#endif
#ifndef SEARCH_MARK
#define SEARCH_MARK 0
#endif
#define SEARCH_LAST (SEARCH_RUN || SEARCH_MARK)
#ifndef SEARCH_LOCAL
#define SEARCH_LOCAL (!ORDO_CPU)
#endif

#if SEARCH_NODE == 8
#define NODE_LOG2 3
#elif SEARCH_NODE == 16
#define NODE_LOG2 4
#elif SEARCH_NODE == 32
#define NODE_LOG2 5
#else
#error "SEARCH_NODE must be 8, 16 or 32"
#endif

/* Queries that a work-group has in flight: a tile. */
#define SEARCH_TILE (SEARCH_GROUP * SEARCH_ITEMS)

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/* An array of keys or of queries. */
typedef struct {
    __global const ordo_key *key;
    uint                     count;
} key_array;

#define KEYS_AND_QUERIES                                                                                               \
    __global const ordo_key *restrict keys_mem, ulong keys_at, uint keys_count,                                        \
        __global const ordo_key *restrict queries_mem, ulong queries_at, uint queries_count
#define KEYS                                                                                                           \
    {                                                                                                                  \
        keys_mem + keys_at, keys_count                                                                                 \
    }
#define QUERIES                                                                                                        \
    {                                                                                                                  \
        queries_mem + queries_at, queries_count                                                                        \
    }

#if SEARCH_RANGES
typedef struct {
    __global uint *rank, *upper;
} answers;
#define ANSWERS_ARGS                                                                                                   \
    __global uint *restrict ranks_mem, ulong ranks_at, __global uint *restrict uppers_mem, ulong uppers_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        ranks_mem + ranks_at, uppers_mem + uppers_at                                                                   \
    }
#elif !SEARCH_LOOKUP
typedef struct {
    __global uint *rank;
} answers;
#define ANSWERS_ARGS __global uint *restrict ranks_mem, ulong ranks_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        ranks_mem + ranks_at                                                                                           \
    }
#elif SEARCH_MARK
typedef struct {
    __global uint *hidden;
} answers;
#define ANSWERS_ARGS __global uint *restrict hidden_mem, ulong hidden_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        hidden_mem + hidden_at                                                                                         \
    }
#else
typedef struct {
#if ORDO_VALUE_BYTES
    __global const ordo_value *from;
    __global ordo_value       *value;  /* NULL: not wanted */
#endif
    __global uchar            *found;  /* NULL: not wanted */
#if SEARCH_RUN
    __global const uint       *hidden; /* bits; NULL: none is */
    uint                       stage;  /* sum of 1: the first run looked into, 2: the last */
#endif
} answers;
#if ORDO_VALUE_BYTES
#define VALUES_ARGS                                                                                                    \
    __global const ordo_value *restrict values_mem, ulong values_at, __global ordo_value *restrict values_out_mem,     \
        ulong values_out_at,
#define VALUES values_mem + values_at, values_out_mem ? values_out_mem + values_out_at : 0,
#else
#define VALUES_ARGS
#define VALUES
#endif
#if SEARCH_RUN
#define RUN_ARGS , __global const uint *restrict hidden_mem, ulong hidden_at, uint stage
#define RUN      , hidden_mem ? hidden_mem + hidden_at : 0, stage
#else
#define RUN_ARGS
#define RUN
#endif
#define ANSWERS_ARGS VALUES_ARGS __global uchar *restrict found_mem, ulong found_at RUN_ARGS
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        VALUES found_mem ? found_mem + found_at : 0 RUN                                                                \
    }
#endif

#if SEARCH_RUN
/* found[i] between the runs. */
#define SEARCH_STATE_OPEN   0
#define SEARCH_STATE_FOUND  1
#define SEARCH_STATE_ERASED 2

/* Answers query i, before which are `rank` keys of this run, as no newer run has; `equal`: the last of them is the query. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
    uint state = to.stage & 1 ? SEARCH_STATE_OPEN : to.found[i];

    if (state == SEARCH_STATE_OPEN && equal) {
        state = run_is_hidden(to.hidden, rank - 1) ? SEARCH_STATE_ERASED : SEARCH_STATE_FOUND;
#if ORDO_VALUE_BYTES
        if (state == SEARCH_STATE_FOUND && to.value)
            to.value[i] = to.from[rank - 1];
#endif
    }
    to.found[i] = to.stage & 2 ? state == SEARCH_STATE_FOUND : state;
}
#elif SEARCH_MARK
/* Hides the query's element, before which and itself are `rank` keys, if `equal`: if it is there. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
    if (!equal)
        return;
    __global uint *word = to.hidden + ((rank - 1) >> 5);
    const uint     bit = 1u << ((rank - 1) & 31);
    if (!(ordo_load_relaxed(word) & bit))
        ordo_or(word, bit);
}
#else
/* Answers query i, whose lower bound is `rank`; `equal` tells whether the key there is the query. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
#if !SEARCH_LOOKUP
    to.rank[i] = rank;
#else
#if ORDO_VALUE_BYTES
    if (equal && to.value)
        to.value[i] = to.from[rank];
#endif
    if (to.found)
        to.found[i] = equal;
#endif
}
#endif

#if SEARCH_RANGES
/* The number of keys not greater than the query, of which the first `from` are less: steps of doubling length from there on,
 * as most keys are there a few times, then a search in the last one. */
ORDO_FN uint upper_from(key_array keys, uint from, ordo_key_form query)
{
    uint step = 1;

    while (step <= keys.count - from && key_bits(keys.key[from + step - 1]) <= query) {
        from += step;
        step *= 2;
    }
    for (uint left = min(step - 1, keys.count - from); left > 0;) {
        const uint middle = left / 2;
        const bool before = key_bits(keys.key[from + middle]) <= query;
        from += before ? middle + 1 : 0;
        left = before ? left - middle - 1 : middle;
    }
    return from;
}
#endif

/* Answers query i, known by its rank. */
ORDO_FN void answer_query(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
    answer(to, i, rank, equal);
#if SEARCH_RANGES
    to.upper[i] = upper_from(keys, rank, query);
#endif
}

ORDO_FN bool key_at_is(key_array keys, uint rank, ordo_key_form query)
{
#if SEARCH_LAST
    return rank > 0 && rank <= keys.count && key_bits(keys.key[rank - 1]) == query;
#elif SEARCH_LOOKUP
    return rank < keys.count && key_bits(keys.key[rank]) == query;
#else
    return false;
#endif
}

/* ---- a tile's queries ------------------------------------------------------------------------------------------ */

/* The r-th query of this work-item, in a tile that begins at query `first`: neighbours read neighbours; on a CPU a
 * work-item reads its own in a row. May lie past the last query. */
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

/* This work-item's queries in ordered form; in place of those past the last one, the last one. */
ORDO_FN void tile_load(key_array queries, uint first, __private ordo_key_form query[SEARCH_ITEMS])
{
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

/* ---- through an index ------------------------------------------------------------------------------------------ */

/* A team serves the queries of its lanes: all of them are in flight at once, each lane counting in its part of each
 * node. A query's descent: the unit that it has come to. */
#define TEAM_QUERIES (SEARCH_ITEMS * TEAM_WIDTH)
typedef struct {
    ordo_key_form query;
    uint          unit;
} descent;

/* The queries of the team's lanes, each with the unit it starts from, of `units`. Called by whole sub-groups. */
ORDO_FN void team_share(__private const ordo_key_form query[SEARCH_ITEMS], __private const uint unit[SEARCH_ITEMS],
                        uint units, __private descent way[TEAM_QUERIES])
{
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
#if KEY_BITS == 32
        way[m].query = team_bcast(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
#else
        way[m].query = team_bcast64(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
#endif
        way[m].unit = min(team_bcast(unit[m / TEAM_WIDTH], m % TEAM_WIDTH), units - 1);
    }
}

/* Goes down from units of `level`, which begin at `nodes`, to blocks, reading a node per level and query.
 * Called by whole sub-groups. */
ORDO_FN void descend(__global const ordo_key_form *nodes, uint blocks, uint level, __private descent way[TEAM_QUERIES])
{
    for (; level > 0; level--) {
        const uint last = index_units(blocks, NODE_LOG2, level - 1) - 1;
        uint       before[TEAM_QUERIES];

        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++)
            before[m] = node_before(nodes + way[m].unit * SEARCH_NODE, way[m].query);
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++) /* min: I3 */
            way[m].unit = min(way[m].unit * SEARCH_NODE + team_reduce_add(before[m]), last);
        nodes += index_units(blocks, NODE_LOG2, level) * SEARCH_NODE;
#if ORDO_CPU
        if (level > 1) {
            SEARCH_EACH
            for (uint m = 0; m < TEAM_QUERIES; m++)
                ORDO_PREFETCH(nodes + way[m].unit * SEARCH_NODE);
        }
#endif
    }
}

/* What is counted in a block: keys before the query and, for a lookup on a GPU, COUNT_EQUAL for each that is the query.
 * A CPU rather reads the one key at the query's rank again. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

ORDO_FN uint count_piece(__private ordo_key piece[PIECE_KEYS], ordo_key_form query)
{
    piece_bits(piece);
    uint count = piece_before(piece, query);
#if COUNT_FINDS
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        count += piece[i] == query ? COUNT_EQUAL : 0;
#endif
    return count;
}

/* The same of a piece that begins at element `at`, wrapped round 2^32, and does not lie in the array as a whole. What
 * precedes the array counts as before the query. */
ORDO_FN uint count_edge(key_array keys, uint at, ordo_key_form query)
{
    uint count = 0;

#if ORDO_CPU
    _Pragma("unroll 1")
#endif
        for (uint i = at; i != at + PIECE_KEYS; i++)
    {
        if (i < keys.count) {
            const ordo_key_form key = key_bits(keys.key[i]);
            count += search_before(key, query) + (COUNT_FINDS && key == query ? COUNT_EQUAL : 0);
        } else {
            count += i >= 0u - SEARCH_NODE;
        }
    }
    return count;
}

/* Where this lane's r-th piece of a query's block begins. `shift`: I1. */
ORDO_FN uint block_piece(descent way, uint shift, uint r)
{
    return way.unit * SEARCH_NODE - shift + piece_first(r);
}

/* This lane's part of the count of each query's block. Called by whole sub-groups. */
#if ORDO_CPU
ORDO_FN void count_blocks(key_array keys, uint shift, __private const descent way[TEAM_QUERIES],
                          __private uint count[TEAM_QUERIES])
{
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        count[m] = 0;
        ORDO_UNROLL
        for (uint r = 0; r < LANE_PIECES; r++) {
            const uint at = block_piece(way[m], shift, r);
            if (at < keys.count && keys.count - at >= PIECE_KEYS) {
                ordo_key piece[PIECE_KEYS];
                piece_load(keys.key + at, piece);
                count[m] += count_piece(piece, way[m].query);
            } else {
                count[m] += count_edge(keys, at, way[m].query);
            }
        }
    }
}
#else
ORDO_FN void count_blocks(key_array keys, uint shift, __private const descent way[TEAM_QUERIES],
                          __private uint count[TEAM_QUERIES])
{
    /* Pieces are on the grid of 16 bytes if the buffer is, which OpenCL promises except where the caller's own memory
     * is behind it. All reads are under way before the first count; one of an edge piece reads elsewhere. */
    const uint inside = (0u - shift) % PIECE_KEYS;
    const bool whole = keys.count >= 2 * PIECE_KEYS && ((ulong) (keys.key + inside) & 15) == 0;
    ordo_key   part[TEAM_QUERIES][LANE_PIECES][PIECE_KEYS];

    if (whole) {
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            ORDO_UNROLL
            for (uint r = 0; r < LANE_PIECES; r++) {
                const uint at = block_piece(way[m], shift, r);
                piece_load(keys.key + (at <= keys.count - PIECE_KEYS ? at : inside), part[m][r]);
            }
        }
    }
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        count[m] = 0;
        ORDO_UNROLL
        for (uint r = 0; r < LANE_PIECES; r++) {
            const uint at = block_piece(way[m], shift, r);
            if (whole && at <= keys.count - PIECE_KEYS)
                count[m] += count_piece(part[m][r], way[m].query);
            else
                count[m] += count_edge(keys, at, way[m].query);
        }
    }
}
#endif

#if ORDO_CPU
/* Asks for the blocks, and for the values beside their keys, which a lookup reads next. */
ORDO_FN void prefetch_blocks(key_array keys, answers to, uint shift, __private const descent way[TEAM_QUERIES])
{
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint at = min(way[m].unit * SEARCH_NODE - shift, keys.count - 1);
        ORDO_PREFETCH(keys.key + at);
#if SEARCH_LOOKUP && !SEARCH_MARK && ORDO_VALUE_BYTES
        ORDO_PREFETCH(to.from + at);
#endif
    }
}
#endif

/* Answers this work-item's queries from what was counted in the team's blocks. Called by whole sub-groups. */
ORDO_FN void team_answer(key_array keys, key_array queries, answers to, uint first, uint shift,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private const descent way[TEAM_QUERIES],
                         __private const uint count[TEAM_QUERIES])
{
    uint rank[SEARCH_ITEMS] = { 0 }, equal[SEARCH_ITEMS] = { 0 };
#if SEARCH_LAST
    bool none_before[SEARCH_ITEMS] = { false }; /* in the block: the query may end the block before */
#endif

    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint total = team_reduce_add(count[m]), r = m / TEAM_WIDTH;
        const bool own = m % TEAM_WIDTH == team_lane();
        rank[r] = own ? way[m].unit * SEARCH_NODE - shift + total % COUNT_EQUAL : rank[r];
        equal[r] = own ? total / COUNT_EQUAL : equal[r];
#if SEARCH_LAST
        none_before[r] = own ? total % COUNT_EQUAL == 0 : none_before[r];
#endif
    }
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint i = tile_query(first, r);
        if (i >= queries.count)
            continue;
#if SEARCH_LAST
        const bool again = !COUNT_FINDS || none_before[r];
#else
        const bool again = !COUNT_FINDS;
#endif
        answer_query(keys, to, i, rank[r], query[r], again ? key_at_is(keys, rank[r], query[r]) : equal[r] != 0);
    }
}

/* Fills a tree with the separators of an index's level, which has `units`: in place of more, the last one. */
ORDO_FN void stage_separators(__global const ordo_key_form *separators, uint units, uint depth,
                              __local ordo_key_form *tree)
{
    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = separators[min(i, units - 1)];
}

/* Nodes are read from level `level` down, which begins with node `first_node`; at level 0 only blocks are. With
 * SEARCH_LOCAL a tree, made of the separators of the level's units, all 2^depth >= units of them, from node `above` on,
 * finds the first one; without, `level` is the root's. */
ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const ordo_key_form *restrict nodes, uint shift,
                    uint level, uint first_node, uint above, uint depth, __local ordo_key_form *tree)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      blocks = index_blocks(keys.count, shift, NODE_LOG2);
    const uint      units = index_units(blocks, NODE_LOG2, level);
    const uint      tiles = tiles_of(queries);

#if SEARCH_LOCAL
    stage_separators(nodes + above * SEARCH_NODE, units, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint    first = tile * SEARCH_TILE;
        ordo_key_form query[SEARCH_ITEMS];
        uint          unit[SEARCH_ITEMS], count[TEAM_QUERIES];
        descent       way[TEAM_QUERIES];

        tile_load(queries, first, query);
        tree_ranks(tree, SEARCH_LOCAL ? depth : 0, query, unit);
        team_share(query, unit, units, way);
        descend(nodes + first_node * SEARCH_NODE, blocks, level, way);
#if ORDO_CPU
        prefetch_blocks(keys, to, shift, way);
#endif
        count_blocks(keys, shift, way, count);
        team_answer(keys, queries, to, first, shift, query, way, count);
    }
}

/* ---- without an index ------------------------------------------------------------------------------------------ */

/* A tree of `depth` over a span: it cuts the span into 2^depth runs. */
ORDO_FN uint span_run(span s, uint depth)
{
    return (s.count + (1u << depth) - 1) >> depth;
}

#if SEARCH_LOCAL
/* The depth of a tree that holds each key of the span, or that much of it as `depth_max` allows. */
ORDO_FN uint span_depth(span s, uint depth_max)
{
    return min(32 - clz(s.count), depth_max);
}

/* Fills a tree with the last key of each run but the last one; in place of what lies past the span, its last key. */
ORDO_FN void stage_span(key_array keys, span s, uint depth, __local ordo_key_form *tree)
{
    const uint run = span_run(s, depth);

    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = key_bits(keys.key[s.first + min((i + 1) * run, s.count) - 1]);
}
#endif

/* Searches the span for this work-item's queries: first in the tree, then in the run that it names. */
ORDO_FN void span_search(key_array keys, span s, uint depth, __local const ordo_key_form *tree,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private uint rank[SEARCH_ITEMS])
{
    const uint run = span_run(s, depth);
    const bool all = s.count < 1u << depth; /* the tree holds every key */

    tree_ranks(tree, depth, query, rank);
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] = s.first + min(rank[r] * run, all ? s.count : s.count - run);
    span_ranks(keys.key, all ? 0 : run, query, rank);
}

/* With SEARCH_LOCAL a tree of `depth` in local memory holds separators of the whole array. */
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

/* ---- queries that ascend --------------------------------------------------------------------------------------- */

#if SEARCH_LOCAL
/* Whether any query of the tile is not between the tile's first and last one. Called by the whole group.
 * Barriers: one before scratch is first written, one after it is last read. */
ORDO_FN bool tile_unsorted(__private const ordo_key_form query[SEARCH_ITEMS], ordo_key_form low, ordo_key_form high,
                           __local uint *scratch)
{
    bool outside = false;

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        outside |= query[r] < low || query[r] > high;
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

/* One tile per group. The part of the array that the tile's queries span goes into a tree of at most `depth_max` in
 * local memory: all of it if it fits. Queries that do not ascend are searched for in the whole array. */
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
/* The rank of a query that is known to be `from` at least: steps of doubling length from there on, then a search in the
 * last one. Bentley and Yao, An Almost Optimal Algorithm for Unbounded Searching (IPL 1976). */
ORDO_FN uint gallop(key_array keys, uint from, ordo_key_form query)
{
    uint step = 1;

    while (step <= keys.count - from && search_before(key_bits(keys.key[from + step - 1]), query)) {
        from += step;
        step *= 2;
    }
    span_ranks(keys.key, min(step - 1, keys.count - from), &query, &from);
    return from;
}

/* Each work-item takes `chunk` queries in a row and starts from the last one's rank. */
ORDO_KERNEL(SEARCH_GROUP)
void search_gallop(KEYS_AND_QUERIES, ANSWERS_ARGS, uint chunk)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const ulong     first = (ulong) get_global_id(0) * chunk;
    ordo_key_form   last = 0;
    uint            rank = 0;

    for (ulong i = first; i < min(first + chunk, (ulong) queries.count); i++) {
        const ordo_key_form query = key_bits(queries.key[i]);
        if (i == first || query < last) { /* the query starts anew */
            rank = 0;
            span_ranks(keys.key, keys.count, &query, &rank);
        } else {
            rank = gallop(keys, rank, query);
        }
        last = query;
        answer_query(keys, to, (uint) i, rank, query, key_at_is(keys, rank, query));
    }
}
#endif
