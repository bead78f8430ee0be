/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a B-link tree at rest: no launch that changes it is under way, so loads may come from any cache.
 *
 *   blink_find, blink_locate       by teams, from the root down
 *   blink_find_in_batch            the finds of a batch of operations side by side
 *   blink_counts, blink_measure    the same of two bounds at once
 *   blink_seek                     from where its keys are located
 *   blink_range_short, blink_range_long   the elements of ranges; the part of a long one that lies in one leaf is a piece
 *
 * Leaves in order are known by their links and, over longer stretches, by the list: `order`, `place` and `before` of
 * (struct ordo_blink_list of host/dict/blink.h).
 */
#pragma once
#include "dict/blink_node.cl"
#include "dict/codes.cl"
#include "dict/each.cl"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The places of a team's queries in their leaves. Called by whole sub-groups. */
ORDO_FN void blink_places(const blink_tree *tree, __private const blink_way way[TEAM_QUERIES],
                          __private uint place[TEAM_QUERIES])
{
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        place[m] = blink_count_lane(blink_leaf(tree, way[m].node), way[m].query, true);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint count = team_reduce_add(place[m]), slot = COUNT_LESS(count);
        const bool hit = count >= COUNT_EQUAL && /* unused slots are equal to all ones */
                         (way[m].query != BLINK_UNUSED || slot < blink_count(blink_leaf(tree, way[m].node)));
        place[m] = slot | (hit ? PLACE_HIT : 0);
    }
}

/* Takes a tile's queries to their leaves and places, for each work-item its own. Called by whole sub-groups. */
ORDO_FN void blink_find_tile(const blink_tree *tree, __private const ordo_key_form query[BLINK_ITEMS],
                             __private blink_spot spot[BLINK_ITEMS])
{
    blink_way way[TEAM_QUERIES];
    uint      place[TEAM_QUERIES];

    blink_share(query, way);
    blink_descend(tree, way);
    blink_places(tree, way, place);
    blink_own(way, spot);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        spot[m / TEAM_WIDTH].place = m % TEAM_WIDTH == team_lane() ? place[m] : spot[m / TEAM_WIDTH].place;
}

/* Asks for the values of what was found. */
ORDO_FN void blink_prefetch_values(const blink_tree *tree, __private const blink_spot spot[BLINK_ITEMS])
{
#if ORDO_VALUE_BYTES
    BLINK_UNROLL
    for (uint r = 0; r < BLINK_ITEMS; r++)
        if (spot[r].place & PLACE_HIT)
            ORDO_PREFETCH(blink_values(tree, spot[r].leaf) + (spot[r].place & PLACE_SLOT));
#endif
}

/* Writes what came of a query that ended at `spot`. Either place may be NULL. */
ORDO_FN void blink_tell(const blink_tree *tree, blink_spot spot, __global blink_value *value, __global uchar *found)
{
    const bool hit = (spot.place & PLACE_HIT) != 0;
#if ORDO_VALUE_BYTES
    if (value && hit)
        *value = blink_values(tree, spot.leaf)[spot.place & PLACE_SLOT];
#endif
    if (found)
        *found = hit;
}

ORDO_KERNEL(BLINK_GROUP)
void blink_find(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global blink_value *values_out,
                ulong values_at, __global uchar *found, ulong found_at)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint    first = (uint) tile * BLINK_TILE;
        ordo_key_form query[BLINK_ITEMS];
        blink_spot    spot[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_load_queries(keys + keys_at, n, first, query);
        blink_find_tile(&tree, query, spot);
        if (values_out)
            blink_prefetch_values(&tree, spot);
        BLINK_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            if (i < n)
                blink_tell(&tree, spot[r], values_out ? values_out + values_at + i : values_out,
                           found ? found + found_at + i : found);
        }
    }
}

/* Find and contains of a batch's n operations. history: NULL, or where each operation's two ticks go: those of find i
 * are 2 i and 2 i + 1. Other arrays may be NULL, too. */
ORDO_KERNEL(BLINK_GROUP)
void blink_find_in_batch(BLINK_TREE, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                         ulong keys_at, uint n, __global blink_value *values_out, ulong values_at,
                         __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                         __global uint *history)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint    first = (uint) tile * BLINK_TILE;
        ordo_key_form query[BLINK_ITEMS];
        blink_spot    spot[BLINK_ITEMS] = { { 0, 0, 0 } };
        uint          code[BLINK_ITEMS];
        bool          any = false;

        BLINK_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            code[r] = i < n ? codes[codes_at + i] : N_CODES;
            query[r] = CODE_FINDS(code[r]) ? key_bits(keys[keys_at + i]) : 0; /* the others all go one way */
            any = any || CODE_FINDS(code[r]);
        }
        if (!subgroup_any(any))
            continue;
        blink_find_tile(&tree, query, spot);
        if (values_out)
            blink_prefetch_values(&tree, spot);
        BLINK_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            if (!CODE_FINDS(code[r]))
                continue;
            blink_tell(&tree, spot[r], values_out && code[r] == CODE_FIND ? values_out + values_at + i : 0,
                       found ? found + found_at + i : found);
            if (outcomes)
                outcomes[outcomes_at + i] = OUTCOME_DONE;
            if (history)
                vstore2((uint2) (2 * i, 2 * i + 1), i, history);
        }
    }
}

/* parents may be NULL. */
ORDO_KERNEL(BLINK_GROUP)
void blink_locate(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global uint *leaves,
                  __global uint *places, __global uint *parents)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint    first = (uint) tile * BLINK_TILE;
        ordo_key_form query[BLINK_ITEMS];
        blink_spot    spot[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_load_queries(keys + keys_at, n, first, query);
        blink_find_tile(&tree, query, spot);
        BLINK_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            if (i >= n)
                continue;
            leaves[i] = spot[r].leaf;
            places[i] = spot[r].place;
            if (parents)
                parents[i] = spot[r].parent;
        }
    }
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* Where the keys from lo to hi lie: from a slot of a leaf on, so many. `start` is the slot and, from bit 8 on, how many
 * of them are in that leaf. */
typedef struct {
    uint leaf, start, count;
} blink_interval;

#define START_SLOT(start) ((start) &0xffu)
#define START_HERE(start) ((start) >> 8)

/* By how many leaves to the right an interval's end is looked for by links; further ones are found from the root. */
#define BLINK_HOPS 2

/* How many keys of a leaf are not greater than hi. `count`: blink_count_lane with the equal ones, of all lanes. */
ORDO_FN uint blink_not_after(__global ordo_key_form *line, ordo_key_form hi, uint count)
{
    /* all ones are not less than a query of all ones, and unused slots are all ones */
    return hi == BLINK_UNUSED ? blink_count(line) : COUNT_LESS(count) + count / COUNT_EQUAL;
}

/* The part of a team's intervals that lies in the leaves where they begin; which ones go on (`open`). Both counts are
 * of one look at a leaf. Called by whole sub-groups. */
ORDO_FN void blink_begin_intervals(const blink_tree *tree, __private const ordo_key_form hi[TEAM_QUERIES],
                                   __private const blink_way way[TEAM_QUERIES],
                                   __private blink_interval to[TEAM_QUERIES], __private bool open[TEAM_QUERIES])
{
    uint counts[TEAM_QUERIES];

    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        ORDO_PREFETCH(blink_leaf(tree, way[m].node) + BLINK_HIGH); /* and right, beside it */
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        __global ordo_key_form *line = blink_leaf(tree, way[m].node);
        const uint              before = blink_count_lane(line, way[m].query, false);
        counts[m] = before << 16 | blink_count_lane(line, hi[m], true);
    }
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        __global ordo_key_form *line = blink_leaf(tree, way[m].node);
        const uint              all = team_reduce_add(counts[m]), slot = all >> 16;
        const bool              empty = way[m].query > hi[m];
        to[m].leaf = way[m].node;
        to[m].count = empty ? 0 : blink_not_after(line, hi[m], all & 0xffff) - slot;
        to[m].start = slot | to[m].count << 8;
        open[m] = !empty && hi[m] > line[BLINK_HIGH];
    }
}

/* Called by whole sub-groups: the intervals of a team's queries. Ones that are empty because lo > hi have count 0. */
ORDO_FN void blink_intervals(const blink_tree *tree, __global const uint *place, __global const uint *before,
                             __private const ordo_key_form hi[TEAM_QUERIES], __private blink_way way[TEAM_QUERIES],
                             __private blink_interval to[TEAM_QUERIES])
{
    uint leaf[TEAM_QUERIES], counts[TEAM_QUERIES];
    bool open[TEAM_QUERIES]; /* the end is not found yet */

    blink_begin_intervals(tree, hi, way, to, open);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        leaf[m] = way[m].node;
    for (uint hop = 0;; hop++) {
        bool any = false;
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++)
            any = any || open[m];
        if (!subgroup_any(any))
            return;
        if (hop == BLINK_HOPS)
            break;
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            if (!open[m])
                continue;
            leaf[m] = *blink_right(blink_leaf(tree, leaf[m]));
            ORDO_PREFETCH(blink_leaf(tree, leaf[m]));
            ORDO_PREFETCH(blink_leaf(tree, leaf[m]) + BLINK_HIGH);
        }
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++)
            counts[m] = open[m] ? blink_count_lane(blink_leaf(tree, leaf[m]), hi[m], true) : 0;
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            __global ordo_key_form *line = blink_leaf(tree, leaf[m]);
            const uint              all = team_reduce_add(counts[m]);
            if (!open[m])
                continue;
            to[m].count += blink_not_after(line, hi[m], all);
            open[m] = hi[m] > line[BLINK_HIGH];
        }
    }
    /* what is still open ends far away: from the root, and the leaves between are counted by the list */
    blink_way end[TEAM_QUERIES];
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        end[m].query = hi[m];
    blink_descend(tree, end);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        counts[m] = blink_count_lane(blink_leaf(tree, end[m].node), hi[m], true);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint all = team_reduce_add(counts[m]);
        if (open[m])
            to[m].count = before[place[end[m].node]] + blink_not_after(blink_leaf(tree, end[m].node), hi[m], all) -
                          (before[place[to[m].leaf]] + START_SLOT(to[m].start));
    }
}

/* Takes a tile of intervals, of which there are n; each work-item gets its own. Called by the whole group. */
ORDO_FN void blink_take_intervals(const blink_tree *tree, __global const uint *place, __global const uint *before,
                                  __global const ordo_key *lo, __global const ordo_key *hi, uint n, uint first,
                                  __private blink_interval mine[BLINK_ITEMS])
{
    ordo_key_form  top[BLINK_ITEMS], all[TEAM_QUERIES];
    blink_way      way[TEAM_QUERIES];
    blink_interval to[TEAM_QUERIES];

    blink_take_tile(tree, lo, n, first, way);
    BLINK_UNROLL
    for (uint r = 0; r < BLINK_ITEMS; r++)
        top[r] = key_bits(hi[min(blink_query_at(first, r), n - 1)]);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        all[m] = blink_bcast_key(top[m / TEAM_WIDTH], m % TEAM_WIDTH);
    blink_intervals(tree, place, before, all, way, to);
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const bool own = m % TEAM_WIDTH == team_lane();
        const uint r = m / TEAM_WIDTH;
        mine[r].leaf = own ? to[m].leaf : mine[r].leaf;
        mine[r].start = own ? to[m].start : mine[r].start;
        mine[r].count = own ? to[m].count : mine[r].count;
    }
}

ORDO_KERNEL(BLINK_GROUP)
void blink_counts(BLINK_TREE, __global const uint *place, __global const uint *before, __global const ordo_key *lo,
                  ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n, __global uint *counts, ulong counts_at)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * BLINK_TILE;
        blink_interval mine[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        BLINK_UNROLL
        for (uint r = 0; r < BLINK_ITEMS; r++)
            if (blink_query_at(first, r) < n)
                counts[counts_at + blink_query_at(first, r)] = mine[r].count;
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

/* Ranges of more elements than this are copied leaf by leaf, by all work-items together. */
#define BLINK_LONG 128

/* Of each range: leaves[i] and starts[i], where it begins (blink_interval); counts[i] (if not NULL) in 64 bits;
 * pieces[i]: of a long one the leaves that it reaches into, at most, of others 0. Of the one past the last: 0. */
ORDO_KERNEL(BLINK_GROUP)
void blink_measure(BLINK_TREE, uint places, __global const uint *place, __global const uint *before,
                   __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                   __global uint *leaves, __global uint *starts, __global ulong *pieces, __global ulong *counts,
                   ulong counts_at)
{
    const blink_tree tree = BLINK_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * BLINK_TILE;
        blink_interval mine[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r);
            ulong      its_pieces = 0;
            if (i >= n)
                continue;
            if (mine[r].count > BLINK_LONG) {
                const uint at = place[mine[r].leaf], end = before[at] + START_SLOT(mine[r].start) + mine[r].count;
                its_pieces = blink_place_of_rank(before, at, places - 1, end - 1) - at + 1;
            }
            leaves[i] = mine[r].leaf;
            starts[i] = mine[r].start;
            pieces[i] = its_pieces;
            if (counts)
                counts[counts_at + i] = mine[r].count;
        }
    }
    if (get_global_id(0) == 0) {
        pieces[n] = 0;
        if (counts)
            counts[counts_at + n] = 0;
    }
}

/* ---- by order ---------------------------------------------------------------------------------------------------- */

/* How many keys of the tree are less than a located key, or not greater (`upper`). */
ORDO_FN uint blink_rank(__global const uint *place, __global const uint *before, uint leaf, uint spot, bool upper)
{
    return before[place[leaf]] + (spot & PLACE_SLOT) + (upper && (spot & PLACE_HIT) ? 1 : 0);
}

/* The element of this rank, which is there, near place `at`: most often in that leaf or in the next to it. Leaves
 * without elements are not walked over. */
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
        uint leaf = leaves[i], slot = (spots[i] & PLACE_SLOT) + (upper && (spots[i] & PLACE_HIT)) - (forward ? 0 : 1);
        bool there = slot < BLINK_SLOTS && blink_leaf(&tree, leaf)[slot] != BLINK_UNUSED; /* most often */
        if (!there) {
            const uint rank = blink_rank(place, before, leaf, spots[i], upper) - (forward ? 0 : 1);
            there = rank < before[places]; /* one before the first has wrapped round */
            if (there) {
                const uint at = blink_place_near(before, places, place[leaf], rank);
                slot = rank - before[at];
                leaf = order[at];
            }
        }
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(blink_leaf(&tree, leaf)[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + i] = blink_values(&tree, leaf)[slot];
#endif
    }
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* What ranges are copied with. Arrays may be NULL. */
typedef struct {
    blink_tree            tree;
    __global const ulong *offsets;
    __global ordo_key    *keys;
    __global blink_value *values;
} blink_copy;

#define BLINK_COPY_HERE                                                                                                \
    {                                                                                                                  \
        BLINK_TREE_HERE, offsets + offsets_at, keys_out ? keys_out + keys_at : keys_out,                               \
            values_out ? values_out + values_at : values_out                                                           \
    }

ORDO_FN void blink_copy_element(const blink_copy *copy, uint leaf, uint slot, ulong to)
{
    if (copy->keys)
        copy->keys[to] = key_from_bits(blink_leaf(&copy->tree, leaf)[slot]);
#if ORDO_VALUE_BYTES
    if (copy->values)
        copy->values[to] = blink_values(&copy->tree, leaf)[slot];
#endif
}

/* Copies one piece with RANGE_LANES work-items, of which this is number `lane`. A range's elements are those of
 * ranks from that of its lower bound on. */
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
                                   __global const uint *leaves, __global const uint *starts, ulong offset, ulong past,
                                   uint query, uint number)
{
    const uint  start = place[leaves[query]], at = start + number;
    const uint  rank = before[start] + START_SLOT(starts[query]); /* of the range's first element */
    const uint  end_rank = rank + (uint) (past - offset);
    blink_piece piece = { order[at], 0, 0, 0 };

    piece.first = max(rank, before[at]) - before[at];
    piece.end = min(end_rank, before[at + 1]) - before[at];
    piece.to = offset + (before[at] + piece.first - rank);
    return piece;
}

/* Long ranges, piece by piece, each group of work-items a share of all. pieces: where each query's begin.
 * Nothing is written if offsets[last], the end of all ranges, is past the capacity. */
ORDO_KERNEL(RUN_GROUP)
void blink_range_long(BLINK_TREE, __global const uint *order, __global const uint *place, __global const uint *before,
                      uint n, __global const uint *leaves, __global const uint *starts, __global const ulong *pieces,
                      __global const ulong *offsets, ulong offsets_at, ulong last, ulong capacity,
                      __global ordo_key *keys_out, ulong keys_at, __global blink_value *values_out, ulong values_at)
{
    const blink_copy copy = BLINK_COPY_HERE;
    const ulong      total = pieces[n];
    const uint       lane = (uint) get_global_id(0) % RANGE_LANES;

    if (offsets[last] > capacity || total == 0)
        return;
    const ulong workers = get_global_size(0) / RANGE_LANES, share = (total - 1) / workers + 1;
    const ulong begin = min(get_global_id(0) / RANGE_LANES * share, total), end = min(begin + share, total);
    uint        query = begin < end ? each_owner(pieces, 0, n - 1, begin) : 0;
    for (ulong p = begin; p < end; p++) {
        query = each_owner_from(pieces, query, n, p);
        const blink_piece piece = blink_piece_of(order, place, before, leaves, starts, copy.offsets[query],
                                                 copy.offsets[query + 1], query, (uint) (p - pieces[query]));
        for (uint slot = piece.first + lane; slot < piece.end; slot += RANGE_LANES)
            blink_copy_element(&copy, piece.leaf, slot, piece.to + (slot - piece.first));
    }
}

/* One range, leaf after leaf by the links, unless it is long. */
ORDO_FN void blink_copy_range(const blink_copy *copy, uint i, uint leaf, uint start)
{
    ulong       to = copy->offsets[i];
    const ulong all = copy->offsets[i + 1] - to;
    uint        slot = START_SLOT(start), here = START_HERE(start);

    for (uint left = all > BLINK_LONG ? 0 : (uint) all; left > 0;) {
        __global ordo_key_form *line = blink_leaf(&copy->tree, leaf);
        for (uint k = 0; k < here; k++)
            blink_copy_element(copy, leaf, slot + k, to + k);
        left -= here;
        to += here;
        slot = 0;
        leaf = left > 0 ? *blink_right(line) : leaf;
        here = left > 0 ? min(left, blink_count(blink_leaf(&copy->tree, leaf))) : 0;
    }
}

#if !ORDO_CPU

/* A tile's ranges: element start[q] and those behind it, of which leaf[q] has the first ones, are those of range q. */
typedef struct {
    uint start[RUN_GROUP + 1], leaf[RUN_GROUP], first[RUN_GROUP];
    uint has_long;
} blink_range_tile;

/* Fills in a tile of m ranges; true if none of them is long. Called by the whole group. */
ORDO_FN bool blink_take_ranges(__local blink_range_tile *tile, const blink_copy *copy, __global const uint *leaves,
                               __global const uint *starts, uint first, uint m)
{
    const uint  lid = (uint) get_local_id(0);
    const ulong base = copy->offsets[first];

    barrier(CLK_LOCAL_MEM_FENCE); /* all are done with the tile before */
    if (lid == 0)
        tile->start[0] = tile->has_long = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < m) {
        const ulong end = copy->offsets[first + lid + 1];
        tile->start[lid + 1] = (uint) (end - base);
        tile->leaf[lid] = leaves[first + lid];
        tile->first[lid] = starts[first + lid];
        if (end - copy->offsets[first + lid] > BLINK_LONG)
            (void) ordo_local_or(&tile->has_long, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return tile->has_long == 0;
}

/* Element e of a tile. */
ORDO_FN void blink_copy_of_tile(__local const blink_range_tile *tile, const blink_copy *copy, uint m, uint e, ulong to)
{
    uint q = 0;
    for (uint past = m; past - q > 1;) { /* the last range that begins at or before e */
        const uint middle = (q + past) / 2;
        if (tile->start[middle] <= e)
            q = middle;
        else
            past = middle;
    }
    uint       leaf = tile->leaf[q], k = e - tile->start[q];
    const uint first = tile->first[q], here = START_HERE(first);
    if (k < here) {
        blink_copy_element(copy, leaf, START_SLOT(first) + k, to);
        return;
    }
    k -= here;
    leaf = *blink_right(blink_leaf(&copy->tree, leaf));
    for (uint count; k >= (count = blink_count(blink_leaf(&copy->tree, leaf)));) {
        k -= count;
        leaf = *blink_right(blink_leaf(&copy->tree, leaf));
    }
    blink_copy_element(copy, leaf, k, to);
}

#endif

/* Short ranges; on GPUs `most` of them at a time (not more than RUN_GROUP) by a group, whose work-items take their
 * elements, as these follow each other in the output, in turn. */
ORDO_KERNEL(RUN_GROUP)
void blink_range_short(BLINK_TREE, uint n, uint most, __global const uint *leaves, __global const uint *starts,
                       __global const ulong *offsets, ulong offsets_at, ulong last, ulong capacity,
                       __global ordo_key *keys_out, ulong keys_at, __global blink_value *values_out, ulong values_at)
{
    const blink_copy copy = BLINK_COPY_HERE;

    if (offsets[last] > capacity)
        return;
#if ORDO_CPU
    (void) most;
    RUN_EACH (uint, i, n)
        blink_copy_range(&copy, i, leaves[i], starts[i]);
#else
    __local blink_range_tile tile;
    for (ulong at = (ulong) get_group_id(0) * most; at < n; at += (ulong) get_num_groups(0) * most) {
        const uint first = (uint) at, m = min(most, n - first), lid = (uint) get_local_id(0);
        if (blink_take_ranges(&tile, &copy, leaves, starts, first, m)) {
            for (uint e = lid; e < tile.start[m]; e += RUN_GROUP)
                blink_copy_of_tile(&tile, &copy, m, e, copy.offsets[first] + e);
        } else if (lid < m) {
            blink_copy_range(&copy, first + lid, leaves[first + lid], starts[first + lid]);
        }
    }
#endif
}
