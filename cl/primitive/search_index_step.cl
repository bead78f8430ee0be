/* SPDX-License-Identifier: Apache-2.0 */
/* Searches through an index, for CPUs. Each work-item searches for several queries. */
#pragma once
#include "primitive/search_edge.cl"
#include "primitive/search_line.cl"

/* Search r has reached a node or block. unit[r] is the number of this node or block in its level of the index. If it is
 * a node, it begins at nodes[line[r] << SEARCH_LINE]. */
typedef struct {
    ordo_key_form query[SEARCH_ITEMS];
    uint          unit[SEARCH_ITEMS];
    uint          line[SEARCH_ITEMS];
} descent;

/* Prefetches block b of the keys. If blocks differ in size, prefetches the block's offset instead, because the address
 * depends on it. */
ORDO_FN void prefetch_block(key_array keys, uint shift, uint b)
{
#if SEARCH_PACKED == PACK_MIXED
    ORDO_PREFETCH(keys.offsets + b);
#elif SEARCH_PACKED
    ORDO_PREFETCH(keys.packed + (ulong) b * SEARCH_PACKED * 16);
#else
    ORDO_PREFETCH(keys.key - shift + b * SEARCH_NODE);
#endif
}

#if SEARCH_PACKED
/* Counts the keys of a block that come before the query. `d` is the query's difference from block.base. */
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

ORDO_FN void descend(key_array keys, __global const separator *nodes, uint shift, index_place at,
                     __private descent *way)
{
    const uint         blocks = index_blocks(keys.count, shift, NODE_LOG2);
    const index_window window = index_window_of(keys.key, keys.count);
    ordo_key_form      query[SEARCH_ITEMS];

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        query[r] = separator_query(window, way->query[r]);
        way->unit[r] = way->line[r] = 0;
    }
    for (uint level = at.level; level > 0; level--) {
        const uint last = index_units(blocks, SEARCH_LINE, level - 1) - 1;
        at = index_below(at, blocks, search_form());

        SEARCH_EACH
        for (uint r = 0; r < SEARCH_ITEMS; r++) {
            const uint unit = line_next(line_at(nodes, way->line[r]), last, way->unit[r], query[r]);
            way->unit[r] = unit;
            if (level > 1) {
                way->line[r] = index_line(at, search_form(), unit);
                ORDO_PREFETCH(line_at(nodes, way->line[r]));
            } else {
                prefetch_block(keys, shift, unit);
            }
        }
    }
}

/* Returns the number of a block's elements that come before the query. `first` is the index of the block's first
 * element. Block 0 may begin before the array. Its indices before the array count, too. */
ORDO_FN uint block_before(key_array keys, uint first, ordo_key_form query)
{
    uint before = 0;

#if SEARCH_SIMD == 1
    ORDO_KEEP_LOOP
    for (uint step = SEARCH_NODE / 2; step > 0; step /= 2) {
        const uint at = first + before + step - 1;
        const bool outside = at >= keys.count;
        before += (outside ? at >= 0u - SEARCH_NODE : search_before(key_bits(keys.key[at]), query)) ? step : 0;
    }
    const uint at = first + before;
    return before + (at >= keys.count ? at >= 0u - SEARCH_NODE : search_before(key_bits(keys.key[at]), query));
#else
    ORDO_UNROLL
    for (uint at = first; at != first + SEARCH_NODE; at += PIECE_KEYS) {
        if (at < keys.count && keys.count - at >= PIECE_KEYS)
            before += piece_before(piece_bits(piece_load(keys.key + at)), query);
        else
            before += count_edge(keys, at, query);
    }
    return before;
#endif
}

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
        const uint before = block_before(keys, first, way->query[r]);
#endif
        rank[r] = rank_in_array(keys, first + before, before, way->query[r]);
        answer_prefetch(to, rank[r]);
    }
}

ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const separator *restrict nodes, ulong nodes_at,
                    uint shift, index_place start, index_place above, uint depth, __local separator *tree PACK_ARGS)
{
    key_array       keys = KEYS;
    const key_array queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      tiles = tiles_of(queries);

    nodes += nodes_at;
    PACK_TAKE(keys, nodes);
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint first = tile * SEARCH_TILE;
        descent    way;
        uint       rank[SEARCH_ITEMS];

        tile_load(queries, first, way.query);
        descend(keys, nodes, shift, start, &way);
        count_blocks(keys, to, shift, &way, rank);
        tile_answer(keys, queries, to, first, way.query, rank);
    }
}
