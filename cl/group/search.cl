/* SPDX-License-Identifier: Apache-2.0 */
/* Searches sorted keys. The *rank* of a query is the number of lesser keys. With SEARCH_UPPER, equal keys count, too.
 * Queries are in ordered form (shared/key.h). */
#pragma once
#include "device/team.cl"
#include "shared/key.h"
#include "shared/search.h"

#ifndef SEARCH_UPPER
#define SEARCH_UPPER 0
#endif
#ifndef SEARCH_NODE
#define SEARCH_NODE 16
#endif
#ifndef SEARCH_GROUP
#define SEARCH_GROUP 64
#endif
#ifndef SEARCH_ITEMS
#define SEARCH_ITEMS 1
#endif
/* Unrolls the next loop. On CPUs, unrolls it by four only, because more takes seconds to compile. */
#if ORDO_CPU
#define SEARCH_EACH _Pragma("unroll 4")
#else
#define SEARCH_EACH ORDO_UNROLL
#endif

ORDO_FN bool search_before(ordo_key_form key, ordo_key_form query)
{
#if SEARCH_UPPER
    return key_upto(key, query);
#else
    return key_before(key, query);
#endif
}

/* ---- a node, by a team ----------------------------------------------------------------------------------------- */

/* A *piece* is PIECE_KEYS keys that a lane loads at once: a vector on CPUs, 16 bytes on GPUs. */
#if ORDO_CPU && KEY_BITS <= 64
#define PIECE_KEYS (SEARCH_NODE < 16 ? SEARCH_NODE : 16)
#else
#define PIECE_KEYS (128 / KEY_BITS)
#endif
#define LANE_PIECES (SEARCH_NODE / (PIECE_KEYS * TEAM_WIDTH))
#if LANE_PIECES < 1
#error "TEAM_WIDTH is too wide for SEARCH_NODE: each lane must have 16 bytes of the node"
#endif

ORDO_FN uint piece_first(uint r)
{
    return (r * TEAM_WIDTH + team_lane()) * PIECE_KEYS;
}

#if ORDO_CPU
#if KEY_BITS > 64
typedef ordo_key key_piece;
#define piece_load(from)           (*(from))
#define piece_bits(piece)          key_bits(piece)
#define piece_before(piece, query) search_before(piece, query)
#else
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#if KEY_BITS == 32 && SEARCH_NODE < 16
typedef uint8 key_piece;
#define piece_filled(piece) as_uint8(as_int8(piece) >> 31)
#elif KEY_BITS == 32
typedef uint16 key_piece;
#define piece_filled(piece) as_uint16(as_int16(piece) >> 31)
#elif SEARCH_NODE < 16
typedef ulong8 key_piece;
#define piece_filled(piece) as_ulong8(as_long8(piece) >> 63)
#else
typedef ulong16 key_piece;
#define piece_filled(piece) as_ulong16(as_long16(piece) >> 63)
#endif
#if SEARCH_NODE < 16
#define piece_load(from) vload8(0, from)
#define piece_halves(v)  (v)
#else
#define piece_load(from) vload16(0, from)
#define piece_halves(v)  ((v).lo + (v).hi)
#endif

ORDO_FN key_piece piece_bits(key_piece piece)
{
#if ORDO_KEY == KEY_U32 || ORDO_KEY == KEY_U64
    return piece;
#elif ORDO_KEY == KEY_I32 || ORDO_KEY == KEY_I64
    return piece ^ KEY_SIGN_;
#else
    return piece ^ (piece_filled(piece) | KEY_SIGN_);
#endif
}

#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_builtin(__builtin_reduce_add)
#define piece_sum(v) __builtin_reduce_add(v)
#endif
#endif
#ifndef piece_sum
ORDO_FN int piece_sum8(int8 eight)
{
    const int4 four = eight.lo + eight.hi;
    const int2 two = four.lo + four.hi;

    return two.x + two.y;
}
#define piece_sum(v) piece_sum8(convert_int8(piece_halves(v)))
#endif

ORDO_FN uint piece_before(key_piece piece, ordo_key_form query)
{
#if SEARCH_UPPER
    return (uint) -piece_sum(piece <= query);
#else
    return (uint) -piece_sum(piece < query);
#endif
}
#endif

ORDO_FN uint node_before(__global const ordo_key_form *node, ordo_key_form query)
{
    uint before = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LANE_PIECES; r++)
        before += piece_before(piece_load(node + piece_first(r)), query);
    return before;
}
#else
/* `from` must be aligned to 16 bytes. */
ORDO_FN void piece_load(__global const ordo_key *from, __private ordo_key piece[PIECE_KEYS])
{
#if KEY_BITS == 32
    const uint4 four = *(__global const uint4 *) from;
    piece[0] = four.x;
    piece[1] = four.y;
    piece[2] = four.z;
    piece[3] = four.w;
#elif KEY_BITS == 128
    piece[0] = *from;
#else
    const ulong2 two = *(__global const ulong2 *) from;
    piece[0] = two.x;
    piece[1] = two.y;
#endif
}

#if SEARCH_ONCE
ORDO_FN void piece_load_once(__global const ordo_key *from, __private ordo_key piece[PIECE_KEYS])
{
    const uint4 four = ordo_read128_once((__global const uint4 *) from);
#if KEY_BITS == 32
    piece[0] = four.x;
    piece[1] = four.y;
    piece[2] = four.z;
    piece[3] = four.w;
#elif KEY_BITS == 128
    piece[0] = as_ulong2(four);
#else
    const ulong2 two = as_ulong2(four);
    piece[0] = two.x;
    piece[1] = two.y;
#endif
}
#else
#define piece_load_once piece_load
#endif

ORDO_FN void piece_bits(__private ordo_key piece[PIECE_KEYS])
{
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        piece[i] = key_bits(piece[i]);
}

ORDO_FN uint piece_before(__private const ordo_key_form piece[PIECE_KEYS], ordo_key_form query)
{
    uint before = 0;
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        before += search_before(piece[i], query);
    return before;
}

ORDO_FN uint node_before(__global const ordo_key_form *node, ordo_key_form query)
{
    uint before = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LANE_PIECES; r++) {
        ordo_key_form piece[PIECE_KEYS];
        piece_load(node + piece_first(r), piece);
        before += piece_before(piece, query);
    }
    return before;
}
#endif

/* ---- trees in local memory ------------------------------------------------------------------------------------- */

/* A tree has 2^depth - 1 keys in breadth-first order: tree[1] is the root, node k has the children 2k and 2k + 1.
 * Khuong and Morin, Array Layouts for Comparison-Based Searching (JEA 2017). */

/* Returns the index in `tree` of key number i in ascending order, from 0 to 2^depth - 2. */
ORDO_FN uint tree_place(uint depth, uint i)
{
    const uint above_leaf = 31 - clz((i + 1) & (0 - (i + 1)));

    return (1u << (depth - 1 - above_leaf)) + ((i + 1) >> (above_leaf + 1));
}

/* Sets rank[r] to the rank of query[r] in a tree whose entries have the key forms `form_of(tree[i])`. */
#define TREE_RANKS(tree, form_of, depth, query, rank)                                                                  \
    do {                                                                                                               \
        SEARCH_EACH                                                                                                    \
        for (uint r = 0; r < SEARCH_ITEMS; r++)                                                                        \
            (rank)[r] = 1;                                                                                             \
        for (uint d = 0; d < (depth); d++) {                                                                           \
            SEARCH_EACH                                                                                                \
            for (uint r = 0; r < SEARCH_ITEMS; r++)                                                                    \
                (rank)[r] = 2 * (rank)[r] + search_before(form_of((tree)[(rank)[r]]), (query)[r]);                     \
        }                                                                                                              \
        SEARCH_EACH                                                                                                    \
        for (uint r = 0; r < SEARCH_ITEMS; r++)                                                                        \
            (rank)[r] -= 1u << (depth);                                                                                \
    } while (0)

/* ---- intervals of an array --------------------------------------------------------------------------------------- */

typedef struct {
    uint first, count;
} span;

/* Searches `count` keys for each query[r], from index rank[r] on. rank[r] becomes the rank of query[r]. */
ORDO_FN void span_ranks(__global const ordo_key *keys, uint count, __private const ordo_key_form query[SEARCH_ITEMS],
                        __private uint rank[SEARCH_ITEMS])
{
    for (; count > 1; count -= count / 2) {
        const uint step = count / 2;
        SEARCH_EACH
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            rank[r] += search_before(key_bits(keys[rank[r] + step - 1]), query[r]) ? step : 0;
    }
    if (count == 0)
        return;
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] += search_before(key_bits(keys[rank[r]]), query[r]);
}

/* Returns an interval that contains the ranks of all queries from `low` to `high`. The whole group must call. Begins
 * and ends with a barrier. */
#if SEARCH_GROUP > 1
#define NARROW_PROBES (SEARCH_GROUP / 2)
typedef struct {
    uint before[2][NARROW_PROBES];
    uint count[2];
} narrow_scratch;
ORDO_STATIC_ASSERT(sizeof(narrow_scratch) == SEARCH_NARROW_BYTES(SEARCH_GROUP), "the host counts these bytes");

ORDO_FN span group_narrow(__global const ordo_key *keys, uint count, ordo_key_form low, ordo_key_form high,
                          __local narrow_scratch *scratch)
{
    const uint          side = get_local_id(0) / NARROW_PROBES;
    const uint          probe = get_local_id(0) % NARROW_PROBES;
    const ordo_key_form query = side ? high : low;
    uint                first = 0;

    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint left = count; left > 0;) {
        const uint  step = left / (NARROW_PROBES + 1) + 1;
        const ulong at = first + (probe + 1ul) * step - 1;
        const bool  before = at < count && search_before(key_bits(keys[at]), query);

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
    const span narrowed = { min(low_rank, high_rank), max(low_rank, high_rank) - min(low_rank, high_rank) };
    return narrowed;
}
#endif
