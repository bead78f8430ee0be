/* SPDX-License-Identifier: Apache-2.0 */
/* Locates keys, intervals and ranks while no other launch changes the tree. A leaf's place is its position in key
 * order. */
#pragma once
#include "dict/each.cl"
#include "dict/ltree/node.cl"

ORDO_FN void ltree_prefetch_parts(const ltree_tree *tree, __private const ltree_path path[TEAM_QUERIES])
{
#if ORDO_CPU && TEAM_WIDTH == 1
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        __global const ordo_key_form *line = ltree_leaf(tree, path[m].node);
        line += ltree_part(line, path[m].query);
        for (uint end = LTREE_PART; end > 0; end -= 512 / KEY_BITS)
            ORDO_PREFETCH(line + end - 1);
    }
#endif
}

ORDO_FN void ltree_places(const ltree_tree *tree, __private const ltree_path path[TEAM_QUERIES],
                          __private uint place[TEAM_QUERIES])
{
    ltree_prefetch_parts(tree, path);
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        place[m] = ltree_count_lane(ltree_leaf(tree, path[m].node), path[m].query, true);
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint count = team_reduce_add(place[m]), slot = COUNT_LESS(count);
        const bool hit = count >= COUNT_EQUAL && /* If the query is all ones, unused slots are equal to it. */
                         (!key_same(path[m].query, LTREE_UNUSED) || slot < ltree_count(ltree_leaf(tree, path[m].node)));
        place[m] = slot | (hit ? PLACE_HIT : 0);
    }
}

ORDO_FN void ltree_find_tile(const ltree_tree *tree, __private const ordo_key_form query[LTREE_ITEMS],
                             __private ltree_position position[LTREE_ITEMS])
{
    ltree_path path[TEAM_QUERIES];
    uint       place[TEAM_QUERIES];

    ltree_share(query, path);
    ltree_descend(tree, path);
    ltree_places(tree, path, place);
    ltree_own(path, position);
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        position[m / TEAM_WIDTH].place = m % TEAM_WIDTH == team_lane() ? place[m] : position[m / TEAM_WIDTH].place;
}

ORDO_FN void ltree_find_keys(const ltree_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private ltree_position position[LTREE_ITEMS])
{
    ordo_key_form query[LTREE_ITEMS];

    ltree_load_queries(keys, n, first, query);
    ltree_find_tile(tree, query, position);
}

/* An interval of `count` elements:
 *
 *   leaf     leaf of the first element
 *   next     right neighbour of `leaf`, if it has elements of the interval
 *   start    bits 0 to 7: slot of the first element
 *            bits 8 to 15: number of elements in `leaf`
 *            bit 16 (START_TWO): 1 if `leaf` and `next` have all elements of the interval */
typedef struct {
    uint leaf, next, start, count;
} ltree_interval;

#define START_SLOT(start) ((start) &0xffu)
#define START_HERE(start) ((start) >> 8 & 0xffu)
#define START_TWO         0x10000u

/* Returns the number of keys that are at most hi. `count` must be the team's sum of ltree_count_lane(..., true). */
ORDO_FN uint ltree_not_after(__global ordo_key_form *line, ordo_key_form hi, uint count)
{
    return key_same(hi, LTREE_UNUSED) ? ltree_count(line) : COUNT_LESS(count) + count / COUNT_EQUAL;
}

/* Sets ends[m].node to the likely last leaf of range m. Searches only the parent of the first leaf. */
ORDO_FN void ltree_go_to_ends(const ltree_tree *tree, __private const ltree_path path[TEAM_QUERIES],
                              __private ltree_path ends[TEAM_QUERIES])
{
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        ends[m].node = path[m].parent == LTREE_NONE
                           ? 0
                           : ltree_count_lane(ltree_inner(tree, path[m].parent), ends[m].query, false);
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint less = team_reduce_add(ends[m].node);
        ends[m].parent = LTREE_NONE;
        if (path[m].parent == LTREE_NONE)
            ends[m].node = path[m].node;
        else if (key_before(ltree_inner(tree, path[m].parent)[LTREE_HIGH], ends[m].query))
            ends[m].node = *ltree_right(ltree_leaf(tree, path[m].node));
        else
            ends[m].node = ltree_children(tree, path[m].parent)[ltree_entry(less)];
#if ORDO_CPU
        ORDO_PREFETCH(ltree_leaf(tree, ends[m].node));
        ORDO_PREFETCH(ltree_leaf(tree, ends[m].node) + LTREE_HIGH);
#endif
    }
}

ORDO_FN void ltree_sum_own(__private uint counts[TEAM_QUERIES], __private uint own[LTREE_ITEMS])
{
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint sum = team_reduce_add(counts[m]);
        own[m / TEAM_WIDTH] = m % TEAM_WIDTH == team_lane() ? sum : own[m / TEAM_WIDTH];
    }
}

/* Searches the first and last leaf of each interval. own[r] becomes two 16-bit numbers for interval r:
 *
 *  upper 16 bits   number of keys in the first leaf that are less than lo
 *  lower 16 bits   number of keys in the last leaf that are less than hi, plus COUNT_EQUAL for each key equal to hi */
ORDO_FN void ltree_count_ends(const ltree_tree *tree, __private const ltree_path path[TEAM_QUERIES],
                              __private const ltree_path ends[TEAM_QUERIES], __private uint own[LTREE_ITEMS])
{
    uint counts[TEAM_QUERIES];

    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        counts[m] = ltree_count_lane(ltree_leaf(tree, path[m].node), path[m].query, false) << 16;
        counts[m] |= ltree_count_lane(ltree_leaf(tree, ends[m].node), ends[m].query, true);
    }
    ltree_sum_own(counts, own);
}

/* `counted` must be from ltree_count_ends. If the interval may span more than two leaves, the result lacks START_TWO
 * and its `count` is not valid. */
ORDO_FN ltree_interval ltree_close(const ltree_tree *tree, ordo_key_form lo, ordo_key_form hi, uint from, uint last,
                                   uint counted)
{
    __global ordo_key_form *line = ltree_leaf(tree, from), *end = ltree_leaf(tree, last);
    const uint              slot = counted >> 16, not_after = ltree_not_after(end, hi, counted & 0xffff);
    const bool              empty = key_before(hi, lo), one = empty || last == from;
    const uint              here = empty ? 0 : (one ? not_after : ltree_count(line)) - slot;
    const uint              next = one ? from : *ltree_right(line);
    const bool              two = one || (last == next && key_upto(hi, end[LTREE_HIGH]));
    const ltree_interval is = { from, next, slot | here << 8 | (two ? START_TWO : 0), one ? here : here + not_after };
    return is;
}

ORDO_FN void ltree_count_far(const ltree_tree *tree, __global const uint *place, __global const uint *before,
                             __private const ordo_key_form hi[LTREE_ITEMS], __private ltree_interval mine[LTREE_ITEMS])
{
    ltree_path     ends[TEAM_QUERIES];
    ltree_position last[LTREE_ITEMS] = { { 0, 0, 0 } };
    uint           counts[TEAM_QUERIES], count[LTREE_ITEMS] = { 0 };

    ltree_share(hi, ends);
    ltree_descend(tree, ends);
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        counts[m] = ltree_count_lane(ltree_leaf(tree, ends[m].node), ends[m].query, true);
    ltree_sum_own(counts, count);
    ltree_own(ends, last);
    LTREE_UNROLL
    for (uint r = 0; r < LTREE_ITEMS; r++)
        if (!(mine[r].start & START_TWO))
            mine[r].count = before[place[last[r].leaf]] +
                            ltree_not_after(ltree_leaf(tree, last[r].leaf), hi[r], count[r]) -
                            (before[place[mine[r].leaf]] + START_SLOT(mine[r].start));
}

ORDO_FN void ltree_take_intervals(const ltree_tree *tree, __global const uint *place, __global const uint *before,
                                  __global const ordo_key *lo, __global const ordo_key *hi, uint n, uint first,
                                  __private ltree_interval mine[LTREE_ITEMS])
{
    ordo_key_form  low[LTREE_ITEMS], high[LTREE_ITEMS];
    ltree_path     path[TEAM_QUERIES], ends[TEAM_QUERIES];
    ltree_position from[LTREE_ITEMS] = { { 0, 0, 0 } }, last[LTREE_ITEMS] = { { 0, 0, 0 } };
    uint           counted[LTREE_ITEMS] = { 0 };
    bool           far = false;

    ltree_load_queries(lo, n, first, low);
    ltree_load_queries(hi, n, first, high);
    ltree_share(low, path);
    ltree_descend(tree, path);
    ltree_share(high, ends);
    ltree_go_to_ends(tree, path, ends);
    ltree_count_ends(tree, path, ends, counted);
    ltree_own(path, from);
    ltree_own(ends, last);
    LTREE_UNROLL
    for (uint r = 0; r < LTREE_ITEMS; r++) {
        mine[r] = ltree_close(tree, low[r], high[r], from[r].leaf, last[r].leaf, counted[r]);
        far = far || !(mine[r].start & START_TWO);
    }
    if (subgroup_any(far))
        ltree_count_far(tree, place, before, high, mine);
}

ORDO_FN uint ltree_place_of_rank(__global const uint *before, uint low, uint high, uint rank)
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
