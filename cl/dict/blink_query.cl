/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a B-link tree at rest: no launch that changes it is under way, so loads may come from any cache.
 *
 *   blink_find, blink_locate     by teams, from the root down
 *   blink_counts, blink_seek     from where their keys are located, over the list of leaves
 *   blink_measure, blink_range   ranges: the part of a range that lies in one leaf is a piece
 *
 * `order`, `place` and `before` are the list (struct ordo_blink_list of host/dict/blink.h).
 */
#pragma once
#include "dict/blink_node.cl"
#include "dict/each.cl"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The places of a team's queries in their leaves. Called by whole sub-groups. */
ORDO_FN void blink_places(const blink_tree *tree, __private const blink_way way[TEAM_QUERIES],
                          __private uint place[TEAM_QUERIES])
{
    ORDO_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
#if ORDO_CPU && TEAM_WIDTH == 1
        place[m] = blink_compare(blink_leaf(tree, way[m].node), way[m].query);
#else
        place[m] = blink_count_lane(blink_leaf(tree, way[m].node), way[m].query, true);
#endif
    }
    ORDO_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint count = team_reduce_add(place[m]), slot = COUNT_LESS(count);
        const bool hit = count >= COUNT_EQUAL && /* unused slots are equal to all ones */
                         (way[m].query != BLINK_UNUSED || slot < blink_count(blink_leaf(tree, way[m].node)));
        place[m] = slot | (hit ? PLACE_HIT : 0);
    }
}

/* Takes a tile of queries to their leaves and places, for each work-item its own. Called by the whole group. */
ORDO_FN void blink_find_tile(const blink_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private blink_spot spot[BLINK_ITEMS])
{
    blink_way way[TEAM_QUERIES];
    uint      place[TEAM_QUERIES];

    blink_take_tile(tree, keys, n, first, way);
    blink_places(tree, way, place);
    blink_own(way, spot);
    ORDO_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        spot[m / TEAM_WIDTH].place = m % TEAM_WIDTH == team_lane() ? place[m] : spot[m / TEAM_WIDTH].place;
}

ORDO_KERNEL(BLINK_GROUP)
void blink_find(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global blink_value *values_out,
                ulong values_at, __global uchar *found, ulong found_at)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint first = (uint) tile * BLINK_TILE;
        blink_spot spot[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_find_tile(&tree, keys + keys_at, n, first, spot);
        ORDO_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            const bool hit = (spot[r].place & PLACE_HIT) != 0;
            if (i >= n)
                continue;
#if ORDO_VALUE_BYTES
            if (values_out && hit)
                values_out[values_at + i] = blink_values(&tree, spot[r].leaf)[spot[r].place & PLACE_SLOT];
#endif
            if (found)
                found[found_at + i] = hit;
        }
    }
}

/* Writes leaves and places from `to` on. parents may be NULL. */
ORDO_KERNEL(BLINK_GROUP)
void blink_locate(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global uint *leaves,
                  __global uint *places, ulong to, __global uint *parents)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint first = (uint) tile * BLINK_TILE;
        blink_spot spot[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_find_tile(&tree, keys + keys_at, n, first, spot);
        ORDO_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            if (i >= n)
                continue;
            leaves[to + i] = spot[r].leaf;
            places[to + i] = spot[r].place;
            if (parents)
                parents[i] = spot[r].parent;
        }
    }
}

/* ---- by order ------------------------------------------------------------------------------------------------------ */

/* How many keys of the tree are less than a located key, or not greater (`upper`). */
ORDO_FN uint blink_rank(__global const uint *place, __global const uint *before, uint leaf, uint spot, bool upper)
{
    return before[place[leaf]] + (spot & PLACE_SLOT) + (upper && (spot & PLACE_HIT) ? 1 : 0);
}

ORDO_KERNEL(RUN_GROUP)
void blink_counts(__global const uint *place, __global const uint *before, __global const ordo_key *lo, ulong lo_at,
                  __global const ordo_key *hi, ulong hi_at, uint n, __global const uint *leaves,
                  __global const uint *spots, __global uint *counts, ulong counts_at)
{
    RUN_EACH (uint, i, n) {
        uint count = 0;
        if (key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i]))
            count = blink_rank(place, before, leaves[n + i], spots[n + i], true) -
                    blink_rank(place, before, leaves[i], spots[i], false);
        counts[counts_at + i] = count;
    }
}

/* The last of the places low .. high whose elements begin at or before `rank`. */
ORDO_FN uint blink_place_of_rank(__global const uint *before, uint low, uint high, uint rank)
{
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (before[middle] <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The element of this rank, which is there, near place `at`: most often in that leaf or in the next to it. Leaves without
 * elements are not walked over. */
ORDO_FN uint blink_place_near(__global const uint *before, uint places, uint at, uint rank)
{
    if (rank < before[at])
        return at > 0 && before[at - 1] <= rank ? at - 1 : blink_place_of_rank(before, 0, at, rank);
    if (rank < before[at + 1])
        return at;
    return before[min(at + 2, places)] > rank ? at + 1 : blink_place_of_rank(before, at, places - 1, rank);
}

ORDO_KERNEL(RUN_GROUP)
void blink_seek(BLINK_TREE, uint places, __global const uint *order, __global const uint *place,
                __global const uint *before, uint n, __global const uint *leaves, __global const uint *spots,
                uint forward, uint upper, __global ordo_key *keys_out, ulong keys_at, __global blink_value *values_out,
                ulong values_at, __global uchar *found, ulong found_at)
{
    const blink_tree tree = BLINK_TREE_HERE;

    RUN_EACH (uint, i, n) {
        const uint rank = blink_rank(place, before, leaves[i], spots[i], upper) - (forward ? 0 : 1);
        const bool there = rank < before[places]; /* one before the first has wrapped round */
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        const uint at = blink_place_near(before, places, place[leaves[i]], rank);
        const uint slot = rank - before[at];
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(blink_leaf(&tree, order[at])[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + i] = blink_values(&tree, order[at])[slot];
#endif
    }
}

/* ---- ranges -------------------------------------------------------------------------------------------------------- */

/* Of each query: pieces[i], the leaves that it reaches into, and (offsets, if not NULL) how many elements; of query n: 0. */
ORDO_KERNEL(RUN_GROUP)
void blink_measure(__global const uint *place, __global const uint *before, __global const ordo_key *lo, ulong lo_at,
                   __global const ordo_key *hi, ulong hi_at, uint n, __global const uint *leaves,
                   __global const uint *spots, __global ulong *pieces, __global ulong *offsets, ulong offsets_at)
{
    RUN_EACH (uint, i, n + 1) {
        ulong n_pieces = 0, n_elements = 0;
        if (i < n && key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i])) {
            n_elements = blink_rank(place, before, leaves[n + i], spots[n + i], true) -
                         blink_rank(place, before, leaves[i], spots[i], false);
            n_pieces = n_elements ? place[leaves[n + i]] - place[leaves[i]] + 1 : 0;
        }
        pieces[i] = n_pieces;
        if (offsets)
            offsets[offsets_at + i] = n_elements;
    }
}

/* Copies one piece with RANGE_LANES work-items, of which this is number `lane`. A range's elements are those of ranks from that
 * of its lower bound on. */
#if ORDO_CPU
#define RANGE_LANES 1
#else
#define RANGE_LANES 8
#endif

typedef struct {
    uint  leaf, first, end; /* slots of the leaf */
    ulong to;               /* where the first of them goes */
} blink_piece;

ORDO_FN blink_piece blink_piece_of(__global const uint *order, __global const uint *place, __global const uint *before,
                                   __global const uint *leaves, __global const uint *spots, ulong offset, ulong past,
                                   uint query, uint number)
{
    const uint  start = place[leaves[query]], at = start + number;
    const uint  rank = before[start] + (spots[query] & PLACE_SLOT); /* of the range's first element */
    const uint  end_rank = rank + (uint) (past - offset);
    blink_piece piece = { order[at], 0, 0, 0 };

    piece.first = max(rank, before[at]) - before[at];
    piece.end = min(end_rank, before[at + 1]) - before[at];
    piece.to = offset + (before[at] + piece.first - rank);
    return piece;
}

/* starts: where each query's pieces begin. Nothing is written if offsets[last], the end of all ranges, is past the capacity. */
ORDO_KERNEL(RUN_GROUP)
void blink_range(BLINK_TREE, __global const uint *order, __global const uint *place, __global const uint *before,
                 uint n, __global const uint *leaves, __global const uint *spots, __global const ulong *starts,
                 __global const ulong *offsets, ulong offsets_at, ulong last, ulong capacity,
                 __global ordo_key *keys_out, ulong keys_at, __global blink_value *values_out, ulong values_at)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const ulong      total = starts[n];
    const uint       lane = (uint) get_global_id(0) % RANGE_LANES;

    if (offsets[last] > capacity || total == 0)
        return;
    offsets += offsets_at;
    const ulong workers = get_global_size(0) / RANGE_LANES, share = (total - 1) / workers + 1;
    const ulong begin = min(get_global_id(0) / RANGE_LANES * share, total), end = min(begin + share, total);
    uint        query = begin < end ? each_owner(starts, 0, n - 1, begin) : 0;
    for (ulong p = begin; p < end; p++) {
        query = each_owner_from(starts, query, n, p);
        const blink_piece piece = blink_piece_of(order, place, before, leaves, spots, offsets[query],
                                                 offsets[query + 1], query, (uint) (p - starts[query]));
        for (uint slot = piece.first + lane; slot < piece.end; slot += RANGE_LANES) {
            if (keys_out)
                keys_out[keys_at + piece.to + (slot - piece.first)] =
                    key_from_bits(blink_leaf(&tree, piece.leaf)[slot]);
#if ORDO_VALUE_BYTES
            if (values_out)
                values_out[values_at + piece.to + (slot - piece.first)] = blink_values(&tree, piece.leaf)[slot];
#endif
        }
    }
}
