/* SPDX-License-Identifier: Apache-2.0 */
/* Searches through an index, for GPUs. The lanes of a team compare different separators with the same query. */
#pragma once
#include "primitive/search_edge.cl"
#include "primitive/search_line.cl"

/* A search that has reached node or block number `unit` of its level. The whole sub-group must call the functions
 * below, because each lane compares a part of a node. */
#define TEAM_QUERIES (SEARCH_ITEMS * TEAM_WIDTH)
typedef struct {
    ordo_key_form form; /* the query in the form of separators */
    uint          unit;
} descent;

ORDO_FN ordo_key_form team_form(ordo_key_form form, uint lane)
{
#if KEY_BITS == 32
    return team_bcast(form, lane);
#elif KEY_BITS == 128
    return (ordo_key_form) (team_bcast64(form.x, lane), team_bcast64(form.y, lane));
#else
    return team_bcast64(form, lane);
#endif
}

/* Gives every lane of a team the team's searches. `form` has the queries in the form of separators. */
ORDO_FN void team_share(__private const ordo_key_form form[SEARCH_ITEMS], __private const uint unit[SEARCH_ITEMS],
                        uint units, __private descent way[TEAM_QUERIES])
{
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        way[m].form = team_form(form[m / TEAM_WIDTH], m % TEAM_WIDTH);
        way[m].unit = min(team_bcast(unit[m / TEAM_WIDTH], m % TEAM_WIDTH), units - 1);
    }
}

ORDO_FN void descend(__global const separator *nodes, uint blocks, index_place at, __private descent way[TEAM_QUERIES])
{
    for (uint level = at.level; level > 0; level--) {
        const uint last = index_units(blocks, SEARCH_LINE, level - 1) - 1;
        uint       child[TEAM_QUERIES] = { 0 };

        ORDO_UNROLL
        for (uint step = 0; step < LINE_STEPS; step++) {
            uint before[TEAM_QUERIES];
            SEARCH_EACH
            for (uint m = 0; m < TEAM_QUERIES; m++)
                before[m] = line_before(line_of(nodes, at, way[m].unit), step, child[m], way[m].form);
            SEARCH_EACH
            for (uint m = 0; m < TEAM_QUERIES; m++)
                child[m] = line_child(step, child[m], team_reduce_add(before[m]));
        }
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++)
            way[m].unit = min(way[m].unit * LINE_ENTRIES + child[m], last);
        at = index_below(at, blocks, search_form());
    }
}

ORDO_FN uint count_piece(__private ordo_key piece[PIECE_KEYS], ordo_key_form query)
{
    piece_bits(piece);
    uint count = piece_before(piece, query);
#if COUNT_FINDS
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        count += key_same(piece[i], query) ? COUNT_EQUAL : 0;
#endif
    return count;
}

/* Returns the query of search m. `query` has the queries of this work-item. */
ORDO_FN ordo_key_form query_of(__private const ordo_key_form query[SEARCH_ITEMS], descent way, uint m)
{
    return SEPARATOR_BITS == KEY_BITS ? way.form : team_form(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
}

ORDO_FN uint block_piece(descent way, uint shift, uint r)
{
    return way.unit * SEARCH_NODE - shift + piece_first(r);
}

#if SEARCH_PACKED
ORDO_FN uint pack_one(ordo_key_form difference, ordo_key_form d)
{
    return search_before(difference, d) + (COUNT_FINDS && difference == d ? COUNT_EQUAL : 0);
}

/* Compares the query with the keys in 16 bytes of a compressed block. Each key is stored in `width` bytes, as its
 * difference from the block's base. `d` is the query's difference from this base. */
ORDO_FN uint pack_count(uint4 piece, uint width, ordo_key_form d)
{
    const uint word[4] = { piece.x, piece.y, piece.z, piece.w };
    uint       count = 0;

    if (width < sizeof(ordo_key_form) && d >> (8 * width - 1) >> 1)
        return 16 / width;
    if (width == 1) {
        ORDO_UNROLL
        for (uint i = 0; i < 16; i++)
            count += pack_one(word[i / 4] >> (i % 4 * 8) & 0xff, d);
    } else if (width == 2) {
        ORDO_UNROLL
        for (uint i = 0; i < 8; i++)
            count += pack_one(word[i / 2] >> (i % 2 * 16) & 0xffff, d);
    } else if (width == 4) {
        ORDO_UNROLL
        for (uint i = 0; i < 4; i++)
            count += pack_one(word[i], d);
    } else {
#if KEY_BITS == 64
        count += pack_one(upsample(word[1], word[0]), d) + pack_one(upsample(word[3], word[2]), d);
#endif
    }
    return count;
}

/* way[m].unit is the block that the search for query m has reached. The lower 16 bits of count[m] count the keys before
 * the query. With COUNT_FINDS, the upper 16 bits count the keys equal to the query. */
ORDO_FN void count_blocks(key_array keys, uint shift, __private const ordo_key_form query[SEARCH_ITEMS],
                          __private const descent way[TEAM_QUERIES], __private uint count[TEAM_QUERIES])
{
    pack_block block[TEAM_QUERIES];
    uint4      part[TEAM_QUERIES];

    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        block[m] = pack_block_of(keys, way[m].unit);
        part[m] = 0;
        if (team_lane() < block[m].width)
            part[m] = ((__global const uint4 *) block[m].at)[team_lane()];
    }
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const ordo_key_form d = way[m].form - block[m].base;
        count[m] = team_lane() < block[m].width ? pack_count(part[m], block[m].width, d) : 0;
        for (uint p = team_lane() + TEAM_WIDTH; p < block[m].width; p += TEAM_WIDTH)
            count[m] += pack_count(((__global const uint4 *) block[m].at)[p], block[m].width, d);
    }
}
#else
ORDO_FN void count_blocks(key_array keys, uint shift, __private const ordo_key_form query[SEARCH_ITEMS],
                          __private const descent way[TEAM_QUERIES], __private uint count[TEAM_QUERIES])
{
    const uint inside = (0u - shift) % PIECE_KEYS;
    const bool whole = keys.count >= 2 * PIECE_KEYS && ((ulong) (keys.key + inside) & 15) == 0;
    ordo_key part[TEAM_QUERIES][LANE_PIECES][PIECE_KEYS];

    if (whole) {
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            ORDO_UNROLL
            for (uint r = 0; r < LANE_PIECES; r++) {
                const uint at = block_piece(way[m], shift, r);
                piece_load_once(keys.key + (at <= keys.count - PIECE_KEYS ? at : inside), part[m][r]);
            }
        }
    }
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const ordo_key_form own = query_of(query, way[m], m);
        count[m] = 0;
        ORDO_UNROLL
        for (uint r = 0; r < LANE_PIECES; r++) {
            const uint at = block_piece(way[m], shift, r);
            if (whole && at <= keys.count - PIECE_KEYS)
                count[m] += count_piece(part[m][r], own);
            else
                count[m] += count_edge(keys, at, own);
        }
    }
}
#endif

ORDO_FN void team_answer(key_array keys, key_array queries, answers to, uint first, uint shift,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private const descent way[TEAM_QUERIES],
                         __private const uint count[TEAM_QUERIES])
{
    /* before[r] keys of the query's block come before the query. */
    uint rank[SEARCH_ITEMS] = { 0 }, before[SEARCH_ITEMS] = { 0 }, equal[SEARCH_ITEMS] = { 0 };

    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint total = team_reduce_add(count[m]), r = m / TEAM_WIDTH;
        const bool own = m % TEAM_WIDTH == team_lane();
        rank[r] = own ? min(way[m].unit * SEARCH_NODE - shift + total % COUNT_EQUAL, keys.count) : rank[r];
        before[r] = own ? total % COUNT_EQUAL : before[r];
        equal[r] = own ? total / COUNT_EQUAL : equal[r];
    }
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint i = tile_query(first, r);
        if (i >= queries.count)
            continue;
        const uint at = rank_in_array(keys, rank[r], before[r], query[r]);
        bool       again = !COUNT_FINDS || ends_block(before[r]);
        if (SEARCH_LAST)
            again = again || before[r] == 0;
        answer_query(keys, to, i, at, query[r], again ? key_at_is(keys, at, query[r]) : equal[r] != 0);
    }
}

ORDO_FN void stage_separators(__global const separator *nodes, index_place at, uint units, uint depth,
                              __local separator *tree)
{
    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = nodes[index_position(at, search_form(), min(i, units - 1))];
}

/* Searches begin in level `start` of the index. If SEARCH_LOCAL is 0, it must be the root's level. If SEARCH_LOCAL is
 * 1, a tree of `depth` levels in local memory selects the node to begin with. So level `start` must have at most
 * 2^depth nodes (blocks, if it is level 0). `above` must be the next level towards the root. */
ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const separator *restrict nodes, ulong nodes_at,
                    uint shift, index_place start, index_place above, uint depth, __local separator *tree PACK_ARGS)
{
    key_array       keys = KEYS;
    const key_array queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      blocks = index_blocks(keys.count, shift, NODE_LOG2);
    const uint      units = index_units(blocks, SEARCH_LINE, start.level);
    const uint      tiles = tiles_of(queries);

    const index_window window = index_window_of(keys.key, keys.count);
    nodes += nodes_at;
    PACK_TAKE(keys, nodes);
#if SEARCH_LOCAL
    stage_separators(nodes, above, units, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint    first = tile * SEARCH_TILE;
        ordo_key_form query[SEARCH_ITEMS], form[SEARCH_ITEMS];
        uint          unit[SEARCH_ITEMS], count[TEAM_QUERIES];
        descent       way[TEAM_QUERIES];

        tile_load(queries, first, query);
        SEARCH_EACH
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            form[r] = separator_query(window, query[r]);
        TREE_RANKS(tree, separator_form, SEARCH_LOCAL ? depth : 0, form, unit);
        team_share(form, unit, units, way);
        descend(nodes, blocks, start, way);
        count_blocks(keys, shift, query, way, count);
        team_answer(keys, queries, to, first, shift, query, way, count);
    }
}
