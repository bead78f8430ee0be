/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a batched search: keys and queries. */

/* The host defines SEARCH_NODE (keys per node), SEARCH_ITEMS (queries per work-item), TEAM_WIDTH (lanes per query),
 * and:
 *
 *  SEARCH_UPPER    1: a rank counts the keys not greater than the query. 0: the keys less than the query
 *  SEARCH_PACKED   bytes per key of a compressed index, PACK_MIXED if blocks differ in this number, 0 if not compressed
 *  SEARCH_PLACES   1: the result of query i is stored at index places[i]. 0: at index i
 *  SEARCH_LOCAL    1: each group copies some keys to local memory
 *  SEARCH_LINE, SEARCH_SIMD, SEARCH_PAGE   line_depth, simd_depth and page_levels of the index (shared/index.h) */
#pragma once
#include "group/search.cl"
#include "shared/index.h"
#include "shared/search.h"

#ifndef SEARCH_LOOKUP
#define SEARCH_LOOKUP 0
#endif
#ifndef SEARCH_PLACES
#define SEARCH_PLACES 0
#endif
#ifndef SEARCH_PACKED
#define SEARCH_PACKED 0
#endif
#ifndef SEARCH_LOCAL
#define SEARCH_LOCAL (!ORDO_CPU)
#endif

#define NODE_LOG2 (SEARCH_NODE == 8 ? 3 : SEARCH_NODE == 16 ? 4 : 5)
ORDO_STATIC_ASSERT(1 << NODE_LOG2 == SEARCH_NODE, "SEARCH_NODE must be 8, 16 or 32");

#ifndef SEARCH_LINE
#define SEARCH_LINE NODE_LOG2
#endif
#ifndef SEARCH_SIMD
#define SEARCH_SIMD SEARCH_LINE
#endif
#ifndef SEARCH_PAGE
#define SEARCH_PAGE 0
#endif

#define SEARCH_TILE (SEARCH_GROUP * SEARCH_ITEMS)

typedef struct {
    __global const ordo_key *key;
    uint                     count;
#if SEARCH_PACKED
    __global const uchar         *packed;
    __global const uint          *offsets;
    __global const ordo_key_form *separators; /* Last key of each block. Not set if there is only one block. */
#endif
} key_array;

#if SEARCH_PACKED
/* A block of a compressed index. Each key is stored as its difference from `base`, in `width` bytes. `at` points to the
 * first difference. */
typedef struct {
    __global const uchar *at;
    uint                  width;
    ordo_key_form         base;
} pack_block;

ORDO_FN pack_block pack_block_of(key_array keys, uint b)
{
    pack_block block;

#if SEARCH_PACKED == PACK_MIXED
    const ulong unit = keys.offsets[b];
    block.width = keys.offsets[b + 1] - (uint) unit;
#else
    const ulong unit = (ulong) b * SEARCH_PACKED;
    block.width = SEARCH_PACKED;
#endif
    block.at = keys.packed + unit * 16;
    block.base = b > 0 ? keys.separators[b - 1] : 0;
    return block;
}

ORDO_FN ordo_key_form key_form(key_array keys, uint i)
{
    const pack_block      block = pack_block_of(keys, i / PACK_KEYS);
    __global const uchar *at = block.at + i % PACK_KEYS * block.width;

    switch (block.width) {
    case 1:
        return block.base + *at;
    case 2:
        return block.base + *(__global const ushort *) at;
    case 4:
        return block.base + *(__global const uint *) at;
    default:
        return block.base + *(__global const ordo_key_form *) at;
    }
}

#define PACK_ARGS , __global const uchar *restrict packed, __global const uint *restrict offsets, uint first_of_level_1
#define PACK_TAKE(keys, nodes)                                                                                         \
    (keys).packed = packed, (keys).offsets = offsets, (keys).separators = (nodes) + first_of_level_1 * SEARCH_NODE
#else
ORDO_FN ordo_key_form key_form(key_array keys, uint i)
{
    return key_bits(keys.key[i]);
}

#define PACK_ARGS
#define PACK_TAKE(keys, nodes)
#endif

/* Returns the number of keys that are less than the query, and with `upper` also counts equal keys. The result must be
 * at least `from`. Bentley and Yao (Information Processing Letters, 1976). */
ORDO_FN uint rank_from(key_array keys, uint from, ordo_key_form query, bool upper)
{
#define RANK_BEFORE(key) (upper ? key_upto(key, query) : key_before(key, query))
    uint step = 1;

    while (step <= keys.count - from && RANK_BEFORE(key_form(keys, from + step - 1))) {
        from += step;
        step *= 2;
    }
    for (uint left = min(step - 1, keys.count - from); left > 0;) {
        const uint middle = left / 2;
        const bool before = RANK_BEFORE(key_form(keys, from + middle));
        from += before ? middle + 1 : 0;
        left = before ? left - middle - 1 : middle;
    }
    return from;
#undef RANK_BEFORE
}

#if SEARCH_PLACES
#define PLACES_ARGS , __global const uint *restrict places
#define PLACES      places,
#define PLACES_OF   __global const uint *places;
#else
#define PLACES_ARGS
#define PLACES
#define PLACES_OF
#endif

#define KEYS_AND_QUERIES                                                                                               \
    __global const ordo_key *restrict keys_mem, ulong keys_at, uint keys_count,                                        \
        __global const ordo_key *restrict queries_mem, ulong queries_at, uint queries_count PLACES_ARGS
#if SEARCH_PACKED
#define PLAIN , NULL, NULL, NULL
#else
#define PLAIN
#endif
#define KEYS                                                                                                           \
    {                                                                                                                  \
        keys_mem + keys_at, keys_count PLAIN                                                                           \
    }
#define QUERIES                                                                                                        \
    {                                                                                                                  \
        queries_mem + queries_at, queries_count PLAIN                                                                  \
    }
