/* SPDX-License-Identifier: Apache-2.0 */
/* Searching sorted keys: by a team in one node, by a work-group in a tree in local memory, by a work-item alone.
 *
 * A *rank* is the number of keys before the query: less than it (lower bound), or with SEARCH_UPPER not greater (upper
 * bound). All functions take a query in ordered form and are right for every value of keys and queries. Over keys that
 * are not sorted ranks are arbitrary but lie within what was searched.
 */
#pragma once
#include "device/team.cl"
#include "shared/key.h"

#ifndef SEARCH_UPPER
#define SEARCH_UPPER 0
#endif
#ifndef SEARCH_NODE
#define SEARCH_NODE 16
#endif
#ifndef SEARCH_GROUP
#define SEARCH_GROUP 64
#endif
/* Queries that a work-item has in flight: the latency of one read hides behind the others'. */
#ifndef SEARCH_ITEMS
#define SEARCH_ITEMS 1
#endif

ORDO_FN bool search_before(ordo_key_form key, ordo_key_form query)
{
#if SEARCH_UPPER
    return key <= query;
#else
    return key < query;
#endif
}

/* ---- a node, by a team ----------------------------------------------------------------------------------------- */

/* A node is read in pieces of 16 bytes, neighbouring lanes reading neighbouring pieces; on a CPU in vectors of its
 * compiler's. */
#if ORDO_CPU
#define PIECE_KEYS (SEARCH_NODE < 16 ? SEARCH_NODE : 16)
#else
#define PIECE_KEYS (128 / KEY_BITS)
#endif
#define LANE_PIECES (SEARCH_NODE / (PIECE_KEYS * TEAM_WIDTH))
#if LANE_PIECES < 1
#error "TEAM_WIDTH is too wide for SEARCH_NODE: each lane must have 16 bytes of the node"
#endif

typedef struct {
    ordo_key key[PIECE_KEYS];
} piece;

/* `from` is a multiple of 16 bytes, except on a CPU. */
ORDO_FN piece piece_load(__global const ordo_key *from)
{
    piece p;
#if ORDO_CPU
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        p.key[i] = from[i];
#elif KEY_BITS == 32
    const uint4 four = *(__global const uint4 *) from;
    p.key[0] = four.x;
    p.key[1] = four.y;
    p.key[2] = four.z;
    p.key[3] = four.w;
#else
    const ulong2 two = *(__global const ulong2 *) from;
    p.key[0] = two.x;
    p.key[1] = two.y;
#endif
    return p;
}

ORDO_FN piece piece_bits(piece p)
{
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        p.key[i] = key_bits(p.key[i]);
    return p;
}

/* A count of keys: before the query, and SEARCH_EQUAL for each that is the query. */
#define SEARCH_EQUAL 0x10000u

#if !ORDO_CPU
ORDO_FN uint piece_before(piece p, ordo_key_form query)
{
    uint before = 0;
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        before += search_before(p.key[i], query);
    return before;
}

ORDO_FN uint piece_count(piece p, ordo_key_form query)
{
    uint count = piece_before(p, query);
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        count += p.key[i] == query ? SEARCH_EQUAL : 0;
    return count;
}
#else
/* Spelled with vectors: of a sum of comparisons the compiler would make bits, and take these apart one by one. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi" /* vectors that the processor lacks: no call passes them */
#endif
#if SEARCH_NODE < 16
#define PIECE_VECTOR_(type) type##8
#define piece_vector(p)     vload8(0, (p).key)
#define piece_halves(v)     (v)
#else
#define PIECE_VECTOR_(type) type##16
#define piece_vector(p)     vload16(0, (p).key)
#define piece_halves(v)     ((v).lo + (v).hi)
#endif
#if KEY_BITS == 32
#define PIECE_INT PIECE_VECTOR_(int)
#else
#define PIECE_INT PIECE_VECTOR_(long)
#endif

#if SEARCH_UPPER
#define piece_compare(p, query) (piece_vector(p) <= (query))
#else
#define piece_compare(p, query) (piece_vector(p) < (query))
#endif

/* The sum over a vector's words. */
#define piece_sum(v) vector_sum(convert_int8(piece_halves(v)))
ORDO_FN int vector_sum(int8 v)
{
    const int4 four = v.lo + v.hi;
    const int2 two = four.lo + four.hi;

    return two.x + two.y;
}

ORDO_FN uint piece_before(piece p, ordo_key_form query)
{
    return (uint) -piece_sum(piece_compare(p, query));
}

ORDO_FN uint piece_count(piece p, ordo_key_form query)
{
    const PIECE_INT equal = (piece_vector(p) == query) & (int) SEARCH_EQUAL;

    return (uint) piece_sum(equal - piece_compare(p, query));
}
#endif

/* The first key of this lane's r-th piece, counted in the node. */
ORDO_FN uint piece_first(uint r)
{
    return (r * TEAM_WIDTH + team_lane()) * PIECE_KEYS;
}

/* How many of this lane's keys of a node of separators are before the query; team_reduce_add makes it the rank.
 * `node` is SEARCH_NODE ordered forms. */
ORDO_FN uint node_before(__global const ordo_key_form *node, ordo_key_form query)
{
    uint before = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LANE_PIECES; r++)
        before += piece_before(piece_load(node + piece_first(r)), query);
    return before;
}

/* ---- a tree in local memory, by a work-group ------------------------------------------------------------------- */

/* 2^depth - 1 separators in breadth-first order: tree[1] is the root, tree[2k] and tree[2k + 1] are the children of
 * tree[k], tree[0] is not used. Lanes that are at one depth of it read different banks, as they would not in a plain
 * binary search. Khuong and Morin, Array Layouts for Comparison-Based Searching (JEA 2017). */

/* Where the i-th separator in ascending order lies; i < 2^depth - 1. */
ORDO_FN uint tree_place(uint depth, uint i)
{
    const uint above_leaf = 31 - clz((i + 1) & (0 - (i + 1)));

    return (1u << (depth - 1 - above_leaf)) + ((i + 1) >> (above_leaf + 1));
}

/* The ranks of a work-item's queries among the separators: 0 to 2^depth - 1. */
ORDO_FN void tree_ranks(__local const ordo_key_form *tree, uint depth, const ordo_key_form query[SEARCH_ITEMS],
                        uint rank[SEARCH_ITEMS])
{
    ORDO_UNROLL
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] = 1;
    for (uint d = 0; d < depth; d++) {
        ORDO_UNROLL
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            rank[r] = 2 * rank[r] + search_before(tree[rank[r]], query[r]);
    }
    ORDO_UNROLL
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] -= 1u << depth;
}

/* ---- a span of an array ---------------------------------------------------------------------------------------- */

/* keys[first .. first + count - 1]: the rank searched for is known to be first .. first + count. */
typedef struct {
    uint first, count;
} span;

/* The ranks in the array of a work-item's queries, each within a span of its own, which begins at rank[r] on entry; all
 * spans have `count` keys, so that no work-item takes another way than its neighbours. */
ORDO_FN void span_ranks(__global const ordo_key *keys, uint count, const ordo_key_form query[SEARCH_ITEMS],
                        uint rank[SEARCH_ITEMS])
{
    for (; count > 1; count -= count / 2) {
        const uint step = count / 2;
        ORDO_UNROLL
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            rank[r] += search_before(key_bits(keys[rank[r] + step - 1]), query[r]) ? step : 0;
    }
    if (count == 0)
        return;
    ORDO_UNROLL
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] += search_before(key_bits(keys[rank[r]]), query[r]);
}

/* Narrows the array to a span that holds the ranks of every query from `low` to `high`.
 *
 * Called by   every work-item of the group, from uniform control flow, with the same arguments.
 * Barriers    one before scratch is first written, one after it is last read; two per round. Half of the group searches
 *             for each end, a probe per work-item: log(count) / log(SEARCH_GROUP / 2) rounds. */
#if SEARCH_GROUP > 1
#define NARROW_PROBES (SEARCH_GROUP / 2)
typedef struct {
    uint before[2][NARROW_PROBES]; /* whether a side's probe is before its end's query */
    uint count[2];                 /* how many of a side's probes are */
} narrow_scratch;

ORDO_FN span group_narrow(__global const ordo_key *keys, uint count, ordo_key_form low, ordo_key_form high,
                          __local narrow_scratch *scratch)
{
    const uint          side = get_local_id(0) / NARROW_PROBES;
    const uint          probe = get_local_id(0) % NARROW_PROBES;
    const ordo_key_form query = side ? high : low;
    uint                first = 0; /* of this side's span; `left` is the most keys that either side's span has left */

    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint left = count; left > 0;) {
        const uint step = left / (NARROW_PROBES + 1) + 1;
        const ulong at = first + (probe + 1ul) * step - 1;
        const bool before = at < count && search_before(key_bits(keys[at]), query);

        scratch->before[side][probe] = before;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (probe == 0 && !before)
            scratch->count[side] = 0;
        if (before && (probe == NARROW_PROBES - 1 || !scratch->before[side][probe + 1]))
            scratch->count[side] = probe + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        first += scratch->count[side] * step;
        left = step - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (probe == 0)
        scratch->count[side] = first;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint low_rank = scratch->count[0], high_rank = scratch->count[1];
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Of keys that are not sorted the ranks may lie the other way round. */
    const span narrowed = { min(low_rank, high_rank), max(low_rank, high_rank) - min(low_rank, high_rank) };
    return narrowed;
}
#endif
