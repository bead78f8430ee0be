/* SPDX-License-Identifier: Apache-2.0 */
/* Searches through an index on CPUs, for several queries per work-item. */
#pragma once
#include "primitive/search_edge.cl"

/* The queries of a work-item. While the next node of one query is prefetched, the work-item continues with the other
 * queries. Kim et al., FAST (ACM TODS 36(4), 2011), section 5.1.3. */
typedef struct {
    ordo_key_form query[SEARCH_ITEMS];
    uint          unit[SEARCH_ITEMS]; /* The node or block that each query has reached. */
} descent;

#if SEARCH_PACKED
/* Prefetches block b of a compressed index, or the block's offset if blocks differ in size. */
ORDO_FN void prefetch_pack(key_array keys, uint b)
{
#if SEARCH_PACKED == PACK_MIXED
    ORDO_PREFETCH(keys.offsets + b);
#else
    ORDO_PREFETCH(keys.packed + (ulong) b * SEARCH_PACKED * 16);
#endif
}

/* Returns how many keys of a compressed block, which stores keys as differences from a base, come before the query.
 * d is the query minus the base. If d has more bytes than a stored difference, all keys come before the query. */
#if SEARCH_UPPER
#define PACK_BEFORE(v, bytes, type, d) (d >> (8 * bytes - 1) >> 1 ? PACK_KEYS : (uint) -piece_sum((v) <= (type) d))
#else
#define PACK_BEFORE(v, bytes, type, d) (d >> (8 * bytes - 1) >> 1 ? PACK_KEYS : (uint) -piece_sum((v) < (type) d))
#endif
ORDO_FN uint pack_before(pack_block block, ordo_key_form query)
{
    const ordo_key_form d = query - block.base;

    switch (block.width) {
    case 1:
        return PACK_BEFORE(vload16(0, block.at), 1, uchar, d);
    case 2:
        return PACK_BEFORE(vload16(0, (__global const ushort *) block.at), 2, ushort, d);
#if KEY_BITS == 64
    case 4:
        return PACK_BEFORE(vload16(0, (__global const uint *) block.at), 4, uint, d);
#endif
    default:
        return piece_before(vload16(0, (__global const ordo_key_form *) block.at), d);
    }
}
#endif

/* For each query, descends from the root node to a block of the array, and prefetches the block. `level` is the
 * root's level. */
ORDO_FN void descend(key_array keys, __global const ordo_key_form *nodes, uint shift, uint level,
                     __private descent *way)
{
    const uint blocks = index_blocks(keys.count, shift, NODE_LOG2);

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        way->unit[r] = 0;
    for (; level > 0; level--) {
        const uint                    last = index_units(blocks, NODE_LOG2, level - 1) - 1;
        __global const ordo_key_form *below = nodes + index_units(blocks, NODE_LOG2, level) * SEARCH_NODE;
#if SEARCH_PACKED
        __global const ordo_key_form *next = level > 1 ? below : 0;
#else
        __global const ordo_key_form *next = level > 1 ? below : keys.key - shift;
#endif

        SEARCH_EACH
        for (uint r = 0; r < SEARCH_ITEMS; r++) {
            const uint first = way->unit[r] * SEARCH_NODE;
            /* Padding entries of a node repeat the last key. For them, min() selects the last node or block. */
            const uint unit = min(first + node_before(nodes + first, way->query[r]), last);
            way->unit[r] = unit;
#if SEARCH_PACKED
            if (!next) {
                prefetch_pack(keys, unit);
                continue;
            }
#endif
            ORDO_PREFETCH(next + unit * SEARCH_NODE);
        }
        nodes = below;
    }
}

/* Finds the rank of each query in its block, and prefetches the values. */
ORDO_FN void count_blocks(key_array keys, answers to, uint shift, __private const descent *way,
                          __private uint rank[SEARCH_ITEMS])
{
#if SEARCH_PACKED == PACK_MIXED
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        ORDO_PREFETCH(pack_block_of(keys, way->unit[r]).at);
#endif
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint first = way->unit[r] * SEARCH_NODE - shift;
#if SEARCH_PACKED
        const uint before = min(pack_before(pack_block_of(keys, way->unit[r]), way->query[r]), keys.count - first);
#else
        uint                          before = 0;
        ORDO_UNROLL
        for (uint at = first; at != first + SEARCH_NODE; at += PIECE_KEYS) {
            if (at < keys.count && keys.count - at >= PIECE_KEYS)
                before += piece_before(piece_bits(piece_load(keys.key + at)), way->query[r]);
            else
                before += count_edge(keys, at, way->query[r]);
        }
#endif
        rank[r] = first + before;
        answer_prefetch(to, rank[r]);
    }
}

ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const ordo_key_form *restrict nodes, uint shift,
                    uint level, uint first_node, uint above, uint depth, __local ordo_key_form *tree PACK_ARGS)
{
    key_array       keys = KEYS;
    const key_array queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      tiles = tiles_of(queries);

    PACK_TAKE(keys, nodes);
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint first = tile * SEARCH_TILE;
        descent    way;
        uint       rank[SEARCH_ITEMS];

        tile_load(queries, first, way.query);
        descend(keys, nodes + first_node * SEARCH_NODE, shift, level, &way);
        count_blocks(keys, to, shift, &way, rank);
        tile_answer(keys, queries, to, first, way.query, rank);
    }
}
