/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/ltree/query.cl"

ORDO_KERNEL(LTREE_GROUP)
void ltree_counts(LTREE_TREE, __global const uint *place, __global const uint *before, __global const ordo_key *lo,
                  ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n, __global uint *counts, ulong counts_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    LTREE_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_interval mine[LTREE_ITEMS] = { { 0, 0, 0, 0 } };

        ltree_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++)
            if (ltree_query_at(first, r) < n)
                counts[counts_at + ltree_query_at(first, r)] = mine[r].count;
    }
}

ORDO_FN uint ltree_rank(__global const uint *place, __global const uint *before, uint leaf, uint position, bool upper)
{
    return before[place[leaf]] + (position & PLACE_SLOT) + (upper && (position & PLACE_HIT) ? 1 : 0);
}

/* Returns the place (position in key order) of the leaf with the element of rank `rank`, which must exist. before[p] is
 * the number of elements before place p. Place `at` is a first guess. */
ORDO_FN uint ltree_place_near(__global const uint *before, uint places, uint at, uint rank)
{
    if (rank < before[at])
        return at > 0 && before[at - 1] <= rank ? at - 1 : ltree_place_of_rank(before, 0, at, rank);
    if (rank < before[at + 1])
        return at;
    return before[min(at + 2, places)] > rank ? at + 1 : ltree_place_of_rank(before, at, places - 1, rank);
}

/* Returns the leaf to the left of `leaf`, which must not be leaf 0. */
ORDO_FN uint ltree_left(const ltree_tree *tree, uint leaf)
{
    const ordo_key_form low = ltree_leaf(tree, leaf)[LTREE_LOW];
    const uint          root = tree->state[LTREE_ROOT];
    uint                node = ltree_root_node(root);

    for (uint above = ltree_root_level(root); above > 0; above--) {
        __global const ordo_key_form *line = ltree_inner(tree, node);
        uint                          less = 0;
        for (uint step = 16; step > 0; step /= 2)
            if (less + step <= LTREE_SLOTS && key_before(line[less + step - 1], low))
                less += step;
        node = ltree_children(tree, node)[ltree_entry(less)];
    }
    return node;
}

/* If leaf *leaf has no slot *slot, moves to the next element in the direction of the seek. Visits at most `steps` other
 * leaves. Returns false if there is no such element. */
ORDO_FN bool ltree_walk(const ltree_tree *tree, uint steps, bool forward, __private uint *leaf, __private uint *slot)
{
    uint count = ltree_count(ltree_leaf(tree, *leaf));

    if (*slot < count)
        return true;
    for (count = 0; count == 0 && steps > 0; steps--) {
        const uint right = *ltree_right(ltree_leaf(tree, *leaf));
        if (forward ? right == LTREE_NONE : *leaf == 0)
            return false;
        *leaf = forward ? right : ltree_left(tree, *leaf);
        count = ltree_count(ltree_leaf(tree, *leaf));
        *slot = forward ? 0 : count - 1;
    }
    return count > 0;
}

/* Seeks upwards for the first n_forward queries, downwards for the others. `leaves` and `positions` must be from
 * ltree_locate. If `steps` is not 0, a seek visits at most this many leaves after its first one, and the list of the
 * leaves is not read. */
ORDO_KERNEL(RUN_GROUP)
void ltree_seek(LTREE_TREE, uint places, __global const uint *order, __global const uint *place,
                __global const uint *before, uint n, __global const uint *leaves, __global const uint *positions,
                uint n_forward, uint upper, uint steps, __global ordo_key *keys_out, ulong keys_at,
                __global ltree_value *values_out, ulong values_at, __global uchar *found, ulong found_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, i, n) {
        const bool forward = i < n_forward;
        uint       leaf = leaves[i],
             slot = (positions[i] & PLACE_SLOT) + (upper && (positions[i] & PLACE_HIT)) - (forward ? 0 : 1);
        bool there = slot < LTREE_SLOTS && !key_same(ltree_leaf(&tree, leaf)[slot], LTREE_UNUSED);
        if (!there && steps > 0) {
            there = ltree_walk(&tree, steps, forward, &leaf, &slot);
        } else if (!there) {
            const uint rank = ltree_rank(place, before, leaf, positions[i], upper) - (forward ? 0 : 1);
            there = rank < before[places]; /* Rank -1 wraps to a large number. It counts as absent. */
            if (there) {
                const uint at = ltree_place_near(before, places, place[leaf], rank);
                slot = rank - before[at];
                leaf = order[at];
            }
        }
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(ltree_leaf(&tree, leaf)[slot]);
        if (HAS_VALUES && values_out)
            values_out[values_at + i] = ltree_values(&tree, leaf)[slot];
    }
}

ORDO_KERNEL(LTREE_GROUP)
void ltree_ranks(LTREE_TREE, __global const uint *place, __global const uint *before, __global const ordo_key *keys,
                 ulong keys_at, uint n, uint upper, __global uint *ranks, ulong ranks_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    LTREE_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };

        ltree_find_keys(&tree, keys + keys_at, n, first, position);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            if (i < n)
                ranks[ranks_at + i] = ltree_rank(place, before, position[r].leaf, position[r].place, upper);
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void ltree_select(LTREE_TREE, uint places, __global const uint *order, __global const uint *before,
                  __global const uint *ranks, ulong ranks_at, uint n, __global ordo_key *keys_out, ulong keys_at,
                  __global ltree_value *values_out, ulong values_at, __global uchar *found, ulong found_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, i, n) {
        const uint rank = ranks[ranks_at + i];
        const bool there = rank < before[places];
        if (found)
            found[found_at + i] = there;
        if (!there)
            continue;
        const uint at = ltree_place_of_rank(before, 0, places - 1, rank), slot = rank - before[at];
        if (keys_out)
            keys_out[keys_at + i] = key_from_bits(ltree_leaf(&tree, order[at])[slot]);
        if (HAS_VALUES && values_out)
            values_out[values_at + i] = ltree_values(&tree, order[at])[slot];
    }
}
