/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the leaves in key order. */
#pragma once
#include "dict/each.cl"
#include "dict/ltree/node.cl"

/* Built together: list_lows list_places list_export */

/* Free leaves, and leaves that cover no keys, get a low bound of all ones, so that they sort last. */
ORDO_KERNEL(RUN_GROUP)
void list_lows(LTREE_TREE, uint places, __global ordo_key_form *lows, __global uint *leaves)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    RUN_EACH (uint, i, places) {
        __global const ordo_key_form *line = ltree_leaf(&tree, i);
        const bool there = i < state[LTREE_LEAVES] && !ltree_is_dead(i, line[LTREE_LOW], line[LTREE_HIGH]);
        lows[i] = there ? line[LTREE_LOW] : LTREE_UNUSED;
        leaves[i] = i;
    }
}

/* A leaf's place is its position in key order. If `sorted` is true, leaf i is at place i, and `order` is an output.
 * Otherwise `order` is an input.
 *
 *   order[i]    index of the leaf at place i
 *   place[l]    becomes the place of leaf l
 *   before[i]   becomes the number of elements of the leaf at place i */
ORDO_KERNEL(RUN_GROUP)
void list_places(LTREE_TREE, uint places, uint sorted, __global uint *order, __global uint *place,
                 __global uint *before)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    RUN_EACH (uint, i, places + 1) {
        uint count = 0;
        if (i < places) {
            const uint leaf = sorted ? i : order[i];
            if (sorted)
                order[i] = i;
            place[leaf] = i;
            count = leaf < state[LTREE_LEAVES] ? ltree_count(ltree_leaf(&tree, leaf)) : 0;
        }
        before[i] = count;
    }
}

ORDO_KERNEL(RUN_GROUP)
void list_export(LTREE_TREE, uint places, __global const uint *order, __global const uint *before,
                 __global ordo_key *keys_out, ulong keys_at, __global ltree_value *values_out, ulong values_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    RUN_EACH (ulong, i, (ulong) places * LTREE_WORDS) {
        const uint at = (uint) (i / LTREE_WORDS), slot = (uint) i % LTREE_WORDS;
        const uint first = before[at];
        if (slot >= before[at + 1] - first)
            continue;
        if (keys_out)
            keys_out[keys_at + first + slot] = key_from_bits(ltree_leaf(&tree, order[at])[slot]);
        if (HAS_VALUES && values_out)
            values_out[values_at + first + slot] = ltree_values(&tree, order[at])[slot];
    }
}
