/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a linked tree at rest: no launch that changes it is under path, so loads may come from any cache.
 *
 *   links_find, links_locate       by teams, from the root down
 *   links_find_in_batch            the finds of a batch of operations side by side
 *   links_absent                   how many of its stores have keys that are not there
 *   links_counts, links_measure    the same of two bounds at once
 *   links_seek                     from where its keys are located
 *   links_ranks, links_select      ranks of keys, and elements of ranks
 *   links_range_short, links_range_long   the elements of ranges; the part of a long one that lies in one leaf is a piece
 *
 * Leaves in order are known by their links and, over longer stretches, by the list: `order`, `place` and `before` of
 * (struct ordo_links_list of host/dict/links/links.h).
 */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/links/node.cl"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Asks for the parts of leaves that are about to be looked at. */
ORDO_FN void links_prefetch_parts(const links_tree *tree, __private const links_path path[TEAM_QUERIES])
{
#if ORDO_CPU && TEAM_WIDTH == 1
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        __global const ordo_key_form *line = links_leaf(tree, path[m].node);
        line += links_part(line, path[m].query);
        for (uint end = LINKS_PART; end > 0; end -= 512 / KEY_BITS)
            ORDO_PREFETCH(line + end - 1);
    }
#endif
}

/* The places of a team's queries in their leaves. Called by whole sub-groups. */
ORDO_FN void links_places(const links_tree *tree, __private const links_path path[TEAM_QUERIES],
                          __private uint place[TEAM_QUERIES])
{
    links_prefetch_parts(tree, path);
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        place[m] = links_count_lane(links_leaf(tree, path[m].node), path[m].query, true);
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint count = team_reduce_add(place[m]), slot = COUNT_LESS(count);
        const bool hit = count >= COUNT_EQUAL && /* unused slots are equal to all ones */
                         (path[m].query != LINKS_UNUSED || slot < links_count(links_leaf(tree, path[m].node)));
        place[m] = slot | (hit ? PLACE_HIT : 0);
    }
}

/* Takes a tile's queries to their leaves and places, for each work-item its own. Called by whole sub-groups. */
ORDO_FN void links_find_tile(const links_tree *tree, __private const ordo_key_form query[LINKS_ITEMS],
                             __private links_position position[LINKS_ITEMS])
{
    links_path path[TEAM_QUERIES];
    uint       place[TEAM_QUERIES];

    links_share(query, path);
    links_descend(tree, path);
    links_places(tree, path, place);
    links_own(path, position);
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        position[m / TEAM_WIDTH].place = m % TEAM_WIDTH == team_lane() ? place[m] : position[m / TEAM_WIDTH].place;
}

/* The same of the tile that begins with key `first` of n. */
ORDO_FN void links_find_keys(const links_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private links_position position[LINKS_ITEMS])
{
    ordo_key_form query[LINKS_ITEMS];

    links_load_queries(keys, n, first, query);
    links_find_tile(tree, query, position);
}

/* Asks for the values of what was found. */
ORDO_FN void links_prefetch_values(const links_tree *tree, __private const links_position position[LINKS_ITEMS])
{
#if ORDO_VALUE_BYTES
    LINKS_UNROLL
    for (uint r = 0; r < LINKS_ITEMS; r++)
        if (position[r].place & PLACE_HIT)
            ORDO_PREFETCH(links_values(tree, position[r].leaf) + (position[r].place & PLACE_SLOT));
#endif
}

/* Writes what came of a query that ended at `position`. Either place may be NULL. */
ORDO_FN void links_write_result(const links_tree *tree, links_position position, __global links_value *value,
                                __global uchar *found)
{
    const bool hit = (position.place & PLACE_HIT) != 0;
#if ORDO_VALUE_BYTES
    if (value && hit)
        *value = links_values(tree, position.leaf)[position.place & PLACE_SLOT];
#endif
    if (found)
        *found = hit;
}

ORDO_KERNEL(LINKS_GROUP)
void links_find(LINKS_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global links_value *values_out,
                ulong values_at, __global uchar *found, ulong found_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    LINKS_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        links_position position[LINKS_ITEMS] = { { 0, 0, 0 } };

        links_find_keys(&tree, keys + keys_at, n, first, position);
        if (values_out)
            links_prefetch_values(&tree, position);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            if (i < n)
                links_write_result(&tree, position[r], values_out ? values_out + values_at + i : values_out,
                                   found ? found + found_at + i : found);
        }
    }
}

/* Find and contains of a batch's n operations. history: NULL, or where each operation's two ticks go: those of find i
 * are 2 i and 2 i + 1. Other arrays may be NULL, too. */
ORDO_KERNEL(LINKS_GROUP)
void links_find_in_batch(LINKS_TREE, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                         ulong keys_at, uint n, __global links_value *values_out, ulong values_at,
                         __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                         __global uint *history)
{
    const links_tree tree = LINKS_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        ordo_key_form  query[LINKS_ITEMS];
        links_position position[LINKS_ITEMS] = { { 0, 0, 0 } };
        uint           code[LINKS_ITEMS];
        bool           any = false;

        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            code[r] = i < n ? codes[codes_at + i] : N_CODES;
            query[r] = CODE_FINDS(code[r]) ? key_bits(keys[keys_at + i]) : 0; /* the others all go one way */
            any = any || CODE_FINDS(code[r]);
        }
        if (!subgroup_any(any))
            continue;
        links_find_tile(&tree, query, position);
        if (values_out)
            links_prefetch_values(&tree, position);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            if (!CODE_FINDS(code[r]))
                continue;
            links_write_result(&tree, position[r], values_out && code[r] == CODE_FIND ? values_out + values_at + i : 0,
                               found ? found + found_at + i : found);
            if (outcomes)
                outcomes[outcomes_at + i] = OUTCOME_DONE;
            if (history)
                vstore2((uint2) (2 * i, 2 * i + 1), i, history);
        }
    }
}

/* Looks at every step-th operation of n. absent[0] += how many of these store, absent[1] += how many of their keys are
 * not there. */
ORDO_KERNEL(LINKS_GROUP)
void links_absent(LINKS_TREE, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,
                  uint n, uint step, __global uint *absent)
{
    const links_tree tree = LINKS_TREE_HERE;
    const uint       samples = (n - 1) / step + 1;
    uint             stores = 0, missing = 0;

    for (ulong tile = get_group_id(0); tile * LINKS_TILE < samples; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        ordo_key_form  query[LINKS_ITEMS];
        links_position position[LINKS_ITEMS] = { { 0, 0, 0 } };
        bool           is_store[LINKS_ITEMS];

        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint  s = links_query_at(first, r);
            const ulong i = min(s, samples - 1) * (ulong) step;
            is_store[r] = s < samples && (codes[codes_at + i] == CODE_UPSERT || codes[codes_at + i] == CODE_INSERT);
            query[r] = key_bits(keys[keys_at + i]);
        }
        links_find_tile(&tree, query, position);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            stores += is_store[r];
            missing += is_store[r] && !(position[r].place & PLACE_HIT);
        }
    }
    if (stores)
        (void) ordo_add(absent, stores);
    if (missing)
        (void) ordo_add(absent + 1, missing);
}

/* parents may be NULL. */
ORDO_KERNEL(LINKS_GROUP)
void links_locate(LINKS_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global uint *leaves,
                  __global uint *places, __global uint *parents)
{
    const links_tree tree = LINKS_TREE_HERE;

    LINKS_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        links_position position[LINKS_ITEMS] = { { 0, 0, 0 } };

        links_find_keys(&tree, keys + keys_at, n, first, position);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            if (i >= n)
                continue;
            leaves[i] = position[r].leaf;
            places[i] = position[r].place;
            if (parents)
                parents[i] = position[r].parent;
        }
    }
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

/* Where the keys from lo to hi lie: from a slot of a leaf on, so many. `next` is the leaf to the right of it, if any of
 * them are there. `start` is the slot; from bit 8 on, how many of them are in the first leaf; and whether all the others are
 * in the next. */
typedef struct {
    uint leaf, next, start, count;
} links_interval;

#define START_SLOT(start) ((start) &0xffu)
#define START_HERE(start) ((start) >> 8 & 0xffu)
#define START_TWO         0x10000u

/* How many keys of a leaf are not greater than hi. `count`: links_count_lane with the equal ones, of all lanes. */
ORDO_FN uint links_not_after(__global ordo_key_form *line, ordo_key_form hi, uint count)
{
    /* all ones are not less than a query of all ones, and unused slots are all ones */
    return hi == LINKS_UNUSED ? links_count(line) : COUNT_LESS(count) + count / COUNT_EQUAL;
}

/* The ways to the last leaves, those that cover hi (ends[m].query), by one more look at the parents of those that cover lo;
 * where hi is another parent's, to the leaf to the right. So most often both ends' leaves are known before one of them is
 * read. Called by whole sub-groups. */
ORDO_FN void links_go_to_ends(const links_tree *tree, __private const links_path path[TEAM_QUERIES],
                              __private links_path ends[TEAM_QUERIES])
{
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        ends[m].node = path[m].parent == LINKS_NONE
                           ? 0
                           : links_count_lane(links_inner(tree, path[m].parent), ends[m].query, false);
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint less = team_reduce_add(ends[m].node);
        ends[m].parent = LINKS_NONE; /* nobody asks */
        if (path[m].parent == LINKS_NONE)
            ends[m].node = path[m].node; /* the only one */
        else if (ends[m].query > links_inner(tree, path[m].parent)[LINKS_HIGH])
            ends[m].node = *links_right(links_leaf(tree, path[m].node));
        else
            ends[m].node = links_children(tree, path[m].parent)[links_entry(less)];
#if ORDO_CPU
        ORDO_PREFETCH(links_leaf(tree, ends[m].node));
        ORDO_PREFETCH(links_leaf(tree, ends[m].node) + LINKS_HIGH);
#endif
    }
}

/* Sums up what the lanes of a team have counted for each of its queries; each work-item keeps its own queries' sums. Called by
 * whole sub-groups. */
ORDO_FN void links_sum_own(__private uint counts[TEAM_QUERIES], __private uint own[LINKS_ITEMS])
{
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint sum = team_reduce_add(counts[m]);
        own[m / TEAM_WIDTH] = m % TEAM_WIDTH == team_lane() ? sum : own[m / TEAM_WIDTH];
    }
}

/* How many keys are less than lo in the leaves that cover lo (bits 16 on), and not greater than hi in the last leaves
 * (links_count_lane), for each work-item its own. Called by whole sub-groups. */
ORDO_FN void links_count_ends(const links_tree *tree, __private const links_path path[TEAM_QUERIES],
                              __private const links_path ends[TEAM_QUERIES], __private uint own[LINKS_ITEMS])
{
    uint counts[TEAM_QUERIES];

    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        counts[m] = links_count_lane(links_leaf(tree, path[m].node), path[m].query, false) << 16;
        counts[m] |= links_count_lane(links_leaf(tree, ends[m].node), ends[m].query, true);
    }
    links_sum_own(counts, own);
}

/* The interval that begins in leaf `from` and ends in leaf `last`, or seems to, and what was counted there. Without START_TWO
 * it goes on further, and its count is not known. */
ORDO_FN links_interval links_close(const links_tree *tree, ordo_key_form lo, ordo_key_form hi, uint from, uint last,
                                   uint counted)
{
    __global ordo_key_form *line = links_leaf(tree, from), *end = links_leaf(tree, last);
    const uint              slot = counted >> 16, not_after = links_not_after(end, hi, counted & 0xffff);
    const bool              empty = lo > hi, one = empty || last == from;
    const uint              here = empty ? 0 : (one ? not_after : links_count(line)) - slot;
    const uint              next = one ? from : *links_right(line);
    const bool              two = one || (last == next && hi <= end[LINKS_HIGH]);
    const links_interval is = { from, next, slot | here << 8 | (two ? START_TWO : 0), one ? here : here + not_after };
    return is;
}

/* Counts what has no START_TWO: its end from the root, the leaves between by the list. Called by whole sub-groups. */
ORDO_FN void links_count_far(const links_tree *tree, __global const uint *place, __global const uint *before,
                             __private const ordo_key_form hi[LINKS_ITEMS], __private links_interval mine[LINKS_ITEMS])
{
    links_path     ends[TEAM_QUERIES];
    links_position last[LINKS_ITEMS] = { { 0, 0, 0 } };
    uint           counts[TEAM_QUERIES], count[LINKS_ITEMS] = { 0 };

    links_share(hi, ends);
    links_descend(tree, ends);
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        counts[m] = links_count_lane(links_leaf(tree, ends[m].node), ends[m].query, true);
    links_sum_own(counts, count);
    links_own(ends, last);
    LINKS_UNROLL
    for (uint r = 0; r < LINKS_ITEMS; r++)
        if (!(mine[r].start & START_TWO))
            mine[r].count = before[place[last[r].leaf]] +
                            links_not_after(links_leaf(tree, last[r].leaf), hi[r], count[r]) -
                            (before[place[mine[r].leaf]] + START_SLOT(mine[r].start));
}

/* Takes a tile of intervals, of which there are n; each work-item gets its own. Ones that are empty because lo > hi have
 * count 0. Called by the whole group. */
ORDO_FN void links_take_intervals(const links_tree *tree, __global const uint *place, __global const uint *before,
                                  __global const ordo_key *lo, __global const ordo_key *hi, uint n, uint first,
                                  __private links_interval mine[LINKS_ITEMS])
{
    ordo_key_form  low[LINKS_ITEMS], high[LINKS_ITEMS];
    links_path     path[TEAM_QUERIES], ends[TEAM_QUERIES];
    links_position from[LINKS_ITEMS] = { { 0, 0, 0 } }, last[LINKS_ITEMS] = { { 0, 0, 0 } };
    uint           counted[LINKS_ITEMS] = { 0 };
    bool           far = false;

    links_load_queries(lo, n, first, low);
    links_load_queries(hi, n, first, high);
    links_share(low, path);
    links_descend(tree, path);
    links_share(high, ends);
    links_go_to_ends(tree, path, ends);
    links_count_ends(tree, path, ends, counted);
    links_own(path, from);
    links_own(ends, last);
    LINKS_UNROLL
    for (uint r = 0; r < LINKS_ITEMS; r++) {
        mine[r] = links_close(tree, low[r], high[r], from[r].leaf, last[r].leaf, counted[r]);
        far = far || !(mine[r].start & START_TWO);
    }
    if (subgroup_any(far))
        links_count_far(tree, place, before, high, mine);
}

ORDO_KERNEL(LINKS_GROUP)
void links_counts(LINKS_TREE, __global const uint *place, __global const uint *before, __global const ordo_key *lo,
                  ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n, __global uint *counts, ulong counts_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    LINKS_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        links_interval mine[LINKS_ITEMS] = { { 0, 0, 0, 0 } };

        links_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++)
            if (links_query_at(first, r) < n)
                counts[counts_at + links_query_at(first, r)] = mine[r].count;
    }
}

/* The last of the places low .. high whose elements begin at or before `rank`. */
ORDO_FN uint links_place_of_rank(__global const uint *before, uint low, uint high, uint rank)
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
#define LINKS_LONG 128

/* Of each range: leaves[i], nexts[i] and starts[i], where it begins (links_interval); counts[i] (if not NULL) in 64 bits;
 * pieces[i]: of a long one the leaves that it reaches into, at most, of others 0. Of the one past the last: 0. */
ORDO_KERNEL(LINKS_GROUP)
void links_measure(LINKS_TREE, uint places, __global const uint *place, __global const uint *before,
                   __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                   __global uint *leaves, __global uint *nexts, __global uint *starts, __global ulong *pieces,
                   __global ulong *counts, ulong counts_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        links_interval mine[LINKS_ITEMS] = { { 0, 0, 0, 0 } };

        links_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            ulong      its_pieces = 0;
            if (i >= n)
                continue;
            if (mine[r].count > LINKS_LONG) {
                const uint at = place[mine[r].leaf], end = before[at] + START_SLOT(mine[r].start) + mine[r].count;
                its_pieces = links_place_of_rank(before, at, places - 1, end - 1) - at + 1;
            }
            leaves[i] = mine[r].leaf;
            nexts[i] = mine[r].next;
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
ORDO_FN uint links_rank(__global const uint *place, __global const uint *before, uint leaf, uint position, bool upper)
{
    return before[place[leaf]] + (position & PLACE_SLOT) + (upper && (position & PLACE_HIT) ? 1 : 0);
}

/* The element of this rank, which is there, near place `at`: most often in that leaf or in the next to it. Leaves
 * without elements are not walked over. */
ORDO_FN uint links_place_near(__global const uint *before, uint places, uint at, uint rank)
{
    if (rank < before[at])
        return at > 0 && before[at - 1] <= rank ? at - 1 : links_place_of_rank(before, 0, at, rank);
    if (rank < before[at + 1])
        return at;
    return before[min(at + 2, places)] > rank ? at + 1 : links_place_of_rank(before, at, places - 1, rank);
}

/* The first n_forward seek upwards, the others down. */
ORDO_KERNEL(RUN_GROUP)
void links_seek(LINKS_TREE, uint places, __global const uint *order, __global const uint *place,
                __global const uint *before, uint n, __global const uint *leaves, __global const uint *positions,
                uint n_forward, uint upper, __global ordo_key *keys_out, ulong keys_at,
                __global links_value *values_out, ulong values_at, __global uchar *found, ulong found_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, i, n) {
        const bool forward = i < n_forward;
        uint       leaf = leaves[i],
             slot = (positions[i] & PLACE_SLOT) + (upper && (positions[i] & PLACE_HIT)) - (forward ? 0 : 1);
        bool there = slot < LINKS_SLOTS && links_leaf(&tree, leaf)[slot] != LINKS_UNUSED; /* most often */
        if (!there) {
            const uint rank = links_rank(place, before, leaf, positions[i], upper) - (forward ? 0 : 1);
            there = rank < before[places]; /* one before the first has wrapped round */
            if (there) {
                const uint at = links_place_near(before, places, place[leaf], rank);
                slot = rank - before[at];
                leaf = order[at];
            }
        }
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(links_leaf(&tree, leaf)[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + i] = links_values(&tree, leaf)[slot];
#endif
    }
}

/* ranks[i] = how many keys are less than keys[i], or not greater (`upper`). */
ORDO_KERNEL(LINKS_GROUP)
void links_ranks(LINKS_TREE, __global const uint *place, __global const uint *before, __global const ordo_key *keys,
                 ulong keys_at, uint n, uint upper, __global uint *ranks, ulong ranks_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    LINKS_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LINKS_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LINKS_TILE;
        links_position position[LINKS_ITEMS] = { { 0, 0, 0 } };

        links_find_keys(&tree, keys + keys_at, n, first, position);
        LINKS_UNROLL
        for (uint r = 0; r < LINKS_ITEMS; r++) {
            const uint i = links_query_at(first, r);
            if (i < n)
                ranks[ranks_at + i] = links_rank(place, before, position[r].leaf, position[r].place, upper);
        }
    }
}

/* The elements of ranks, where there are so many. Outputs may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void links_select(LINKS_TREE, uint places, __global const uint *order, __global const uint *before,
                  __global const uint *ranks, ulong ranks_at, uint n, __global ordo_key *keys_out, ulong keys_at,
                  __global links_value *values_out, ulong values_at, __global uchar *found, ulong found_at)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, i, n) {
        const uint rank = ranks[ranks_at + i];
        const bool there = rank < before[places];
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        const uint at = links_place_of_rank(before, 0, places - 1, rank), slot = rank - before[at];
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(links_leaf(&tree, order[at])[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + i] = links_values(&tree, order[at])[slot];
#endif
    }
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* What ranges are copied with. Arrays may be NULL. */
typedef struct {
    links_tree            tree;
    __global const ulong *offsets;
    __global ordo_key    *keys;
    __global links_value *values;
} links_copy;

#define LINKS_COPY_HERE                                                                                                \
    {                                                                                                                  \
        LINKS_TREE_HERE, offsets + offsets_at, keys_out ? keys_out + keys_at : keys_out,                               \
            values_out ? values_out + values_at : values_out                                                           \
    }

/* Elements on their way: all are read before one is written, as a work-item waits at a write for what is written. */
typedef struct {
    ordo_key_form key;
#if ORDO_VALUE_BYTES
    links_value value;
#endif
} links_element;

ORDO_FN links_element links_read_element(const links_copy *copy, uint leaf, uint slot)
{
    links_element element = { 0 };
    if (copy->keys)
        element.key = links_leaf(&copy->tree, leaf)[slot];
#if ORDO_VALUE_BYTES
    if (copy->values)
        element.value = links_values(&copy->tree, leaf)[slot];
#endif
    return element;
}

ORDO_FN void links_write_element(const links_copy *copy, ulong to, links_element element)
{
    if (copy->keys)
        copy->keys[to] = key_from_bits(element.key);
#if ORDO_VALUE_BYTES
    if (copy->values)
        copy->values[to] = element.value;
#endif
}

/* Copies one piece with RANGE_LANES work-items, of which this is number `lane`. A range's elements are those of
 * ranks from that of its lower bound on. */
#if ORDO_CPU
#define RANGE_LANES 1
#define RANGE_SLOTS 1
#else
#define RANGE_LANES (RUN_GROUP < 8 ? RUN_GROUP : 8)
#define RANGE_SLOTS (LINKS_WORDS / 8) /* of a leaf, for each of them */
#endif

typedef struct {
    uint  leaf, first, end; /* slots of the leaf */
    ulong to;               /* where the first of them goes */
} links_piece;

ORDO_FN links_piece links_piece_of(__global const uint *order, __global const uint *place, __global const uint *before,
                                   __global const uint *leaves, __global const uint *starts, ulong offset, ulong past,
                                   uint query, uint number)
{
    const uint  start = place[leaves[query]], at = start + number;
    const uint  rank = before[start] + START_SLOT(starts[query]); /* of the range's first element */
    const uint  end_rank = rank + (uint) (past - offset);
    links_piece piece = { order[at], 0, 0, 0 };

    piece.first = max(rank, before[at]) - before[at];
    piece.end = min(end_rank, before[at + 1]) - before[at];
    piece.to = offset + (before[at] + piece.first - rank);
    return piece;
}

ORDO_FN void links_copy_piece(const links_copy *copy, const links_piece *piece, uint lane)
{
    for (uint slot = piece->first + lane; slot < piece->end; slot += RANGE_LANES * RANGE_SLOTS) {
        links_element element[RANGE_SLOTS];
        ORDO_UNROLL
        for (uint r = 0; r < RANGE_SLOTS; r++)
            if (slot + r * RANGE_LANES < piece->end)
                element[r] = links_read_element(copy, piece->leaf, slot + r * RANGE_LANES);
        ORDO_UNROLL
        for (uint r = 0; r < RANGE_SLOTS; r++)
            if (slot + r * RANGE_LANES < piece->end)
                links_write_element(copy, piece->to + (slot + r * RANGE_LANES - piece->first), element[r]);
    }
}

/* What long ranges are cut by, besides. pieces: where each query's begin. */
typedef struct {
    __global const uint  *order, *place, *before, *leaves, *starts;
    __global const ulong *pieces;
    uint                  n;
} links_long;

/* Piece p of all; *query: whose it is, found from that of a piece before it on. */
ORDO_FN links_piece links_long_piece(const links_long *ranges, const links_copy *copy, ulong p, __private uint *query)
{
    const uint q = *query = each_owner_from(ranges->pieces, *query, ranges->n, p);
    return links_piece_of(ranges->order, ranges->place, ranges->before, ranges->leaves, ranges->starts,
                          copy->offsets[q], copy->offsets[q + 1], q, (uint) (p - ranges->pieces[q]));
}

/* Long ranges, piece by piece. Nothing is written if offsets[last], the end of all ranges, is past the capacity. On CPUs
 * each work-item takes a share of all pieces; on others each group does, and for as many at a time as it has work-items
 * these first find out, for one each, where it is and goes. */
ORDO_KERNEL(RUN_GROUP)
void links_range_long(LINKS_TREE, __global const uint *order, __global const uint *place, __global const uint *before,
                      uint n, __global const uint *leaves, __global const uint *starts, __global const ulong *pieces,
                      __global const ulong *offsets, ulong offsets_at, ulong last, ulong capacity,
                      __global ordo_key *keys_out, ulong keys_at, __global links_value *values_out, ulong values_at)
{
    const links_copy copy = LINKS_COPY_HERE;
    const links_long ranges = { order, place, before, leaves, starts, pieces, n };
    const ulong      total = pieces[n];

    if (offsets[last] > capacity || total == 0)
        return;
#if ORDO_CPU
    const ulong share = (total - 1) / get_global_size(0) + 1;
    const ulong begin = min(get_global_id(0) * share, total), end = min(begin + share, total);
    uint        query = begin < end ? each_owner(pieces, 0, n - 1, begin) : 0;
    for (ulong p = begin; p < end; p++) {
        const links_piece piece = links_long_piece(&ranges, &copy, p, &query);
        links_copy_piece(&copy, &piece, 0);
    }
#else
    __local links_piece piece[RUN_GROUP];
    const uint          lid = (uint) get_local_id(0);
    const ulong         share = ((total - 1) / RUN_GROUP / get_num_groups(0) + 1) * RUN_GROUP;
    const ulong         begin = get_group_id(0) * share, end = min(begin + share, total);
    uint                query = begin + lid < end ? each_owner(pieces, 0, n - 1, begin + lid) : 0;
    for (ulong first = begin; first < end; first += RUN_GROUP) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first + lid < end)
            piece[lid] = links_long_piece(&ranges, &copy, first + lid, &query);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = lid / RANGE_LANES; k < min((ulong) RUN_GROUP, end - first); k += RUN_GROUP / RANGE_LANES) {
            const links_piece one = piece[k];
            links_copy_piece(&copy, &one, lid % RANGE_LANES);
        }
    }
#endif
}

#if ORDO_CPU

/* One range, leaf after leaf, unless it is long. */
ORDO_FN void links_copy_range(const links_copy *copy, uint i, uint leaf, uint next, uint start)
{
    ulong       to = copy->offsets[i];
    const ulong all = copy->offsets[i + 1] - to;
    uint        slot = START_SLOT(start), here = START_HERE(start);

    for (uint left = all > LINKS_LONG ? 0 : (uint) all; left > 0;) {
        for (uint k = 0; k < here; k++)
            links_write_element(copy, to + k, links_read_element(copy, leaf, slot + k));
        left -= here;
        to += here;
        slot = 0;
        leaf = next;
        if (left > 0 && (start & START_TWO)) {
            here = left;
        } else if (left > 0) {
            here = min(left, links_count(links_leaf(&copy->tree, leaf)));
            next = *links_right(links_leaf(&copy->tree, leaf));
        }
    }
}

#else

/* A tile's ranges: element start[q] and those behind it, of which leaf[q] has the first ones, are those of range q. Long ones
 * have none here. */
typedef struct {
    ulong to[RUN_GROUP];
    uint start[RUN_GROUP + 1], leaf[RUN_GROUP], next[RUN_GROUP], first[RUN_GROUP];
    uint has_long;
} links_range_tile;

/* Leaves the long ones out of a tile of m. Called by the whole group. */
ORDO_FN void links_leave_out_long(__local links_range_tile *tile, uint m)
{
    const uint lid = (uint) get_local_id(0);
    uint out = 0;

    for (uint q = 0; q <= min(lid, m - 1); q++) {
        const uint length = tile->start[q + 1] - tile->start[q];
        out += length > LINKS_LONG ? length : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < m)
        tile->start[lid + 1] -= out;
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Fills in a tile of m ranges. Called by the whole group. */
ORDO_FN void links_take_ranges(__local links_range_tile *tile, const links_copy *copy, __global const uint *leaves,
                               __global const uint *nexts, __global const uint *starts, uint first, uint m)
{
    const uint lid = (uint) get_local_id(0);

    barrier(CLK_LOCAL_MEM_FENCE); /* all are done with the tile before */
    if (lid == 0)
        tile->start[0] = tile->has_long = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < m) {
        const ulong begin = copy->offsets[first + lid], end = copy->offsets[first + lid + 1];
        tile->to[lid] = begin;
        tile->start[lid + 1] = (uint) (end - copy->offsets[first]); /* modulo 2^32: of long ones */
        tile->leaf[lid] = leaves[first + lid];
        tile->next[lid] = nexts[first + lid];
        tile->first[lid] = starts[first + lid];
        if (end - begin > LINKS_LONG)
            (void) ordo_local_or(&tile->has_long, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile->has_long)
        links_leave_out_long(tile, m);
}

/* Element e of a tile. */
ORDO_FN void links_copy_of_tile(__local const links_range_tile *tile, const links_copy *copy, uint m, uint e)
{
    uint q = 0;
    for (uint past = m; past - q > 1;) { /* the last range that begins at or before e */
        const uint middle = (q + past) / 2;
        if (tile->start[middle] <= e)
            q = middle;
        else
            past = middle;
    }
    const uint first = tile->first[q], here = START_HERE(first);
    const ulong to = tile->to[q] + (e - tile->start[q]);
    uint leaf = tile->leaf[q], slot = e - tile->start[q] + START_SLOT(first);
    if (e - tile->start[q] >= here) {
        leaf = tile->next[q];
        slot = e - tile->start[q] - here;
        if (!(first & START_TWO))
            for (uint count; slot >= (count = links_count(links_leaf(&copy->tree, leaf)));) {
                slot -= count;
                leaf = *links_right(links_leaf(&copy->tree, leaf));
            }
    }
    links_write_element(copy, to, links_read_element(copy, leaf, slot));
}

#endif

/* Short ranges; on GPUs `most` of them at a time (not more than RUN_GROUP) by a group, whose work-items take their
 * elements, as these follow each other in the output, in turn. */
ORDO_KERNEL(RUN_GROUP)
void links_range_short(LINKS_TREE, uint n, uint most, __global const uint *leaves, __global const uint *nexts,
                       __global const uint *starts, __global const ulong *offsets, ulong offsets_at, ulong last,
                       ulong capacity, __global ordo_key *keys_out, ulong keys_at, __global links_value *values_out,
                       ulong values_at)
{
    const links_copy copy = LINKS_COPY_HERE;

    if (offsets[last] > capacity)
        return;
#if ORDO_CPU
    (void) most;
    RUN_EACH (uint, i, n)
        links_copy_range(&copy, i, leaves[i], nexts[i], starts[i]);
#else
    __local links_range_tile tile;
    for (ulong at = (ulong) get_group_id(0) * most; at < n; at += (ulong) get_num_groups(0) * most) {
        const uint first = (uint) at, m = min(most, n - first);
        links_take_ranges(&tile, &copy, leaves, nexts, starts, first, m);
        for (uint e = (uint) get_local_id(0); e < tile.start[m]; e += RUN_GROUP)
            links_copy_of_tile(&tile, &copy, m, e);
    }
#endif
}
