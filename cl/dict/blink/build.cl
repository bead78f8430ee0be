/* SPDX-License-Identifier: Apache-2.0 */
/* Making a B-link tree of sorted elements, and the list of its leaves.
 *
 *   build_leaves, build_inner   a level each, from the leaves up; nodes are numbered as they lie
 *   build_state                 the state of the new tree
 *   count_leaves                leaf_counts[]
 *   list_lows, list_places      the leaves in key order
 *   list_export                 all elements
 *
 * All are loops over words of nodes, or over leaves, in which no work-item needs another's.
 */
#pragma once
#include "dict/blink/node.cl"
#include "dict/each.cl"

/* Built together: build_leaves build_inner count_leaves list_lows list_places list_export */

/* How `all` entries are shared among `nodes` nodes: node j has those from share_first(j) on. */
typedef struct {
    uint even, more; /* each node has `even`, the first `more` of them one more */
} node_share;

ORDO_FN node_share share_among(uint all, uint nodes)
{
    const node_share share = { all / nodes, all % nodes };
    return share;
}
ORDO_FN uint share_first(node_share share, uint j)
{
    return j * share.even + min(j, share.more);
}
ORDO_FN uint share_size(node_share share, uint j)
{
    return share.even + (j < share.more);
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

ORDO_KERNEL(RUN_GROUP)
void build_leaves(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, __global const blink_value *values,
                  ulong values_at, uint n, uint leaves)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const node_share share = share_among(n, leaves);

    keys += keys_at;
    RUN_EACH (ulong, i, (ulong) leaves * BLINK_WORDS) {
        const uint    leaf = (uint) (i / BLINK_WORDS), word = (uint) i % BLINK_WORDS;
        const uint    first = share_first(share, leaf), size = share_size(share, leaf);
        const bool    last = leaf + 1 == leaves;
        ordo_key_form form = BLINK_UNUSED;
        if (word < size) {
            form = key_bits(keys[first + word]);
#if ORDO_VALUE_BYTES
            blink_values(&tree, leaf)[word] = values[values_at + first + word];
#endif
        }
        if (word == BLINK_LOW)
            form = leaf > 0 ? key_bits(keys[first - 1]) : 0;
        if (word == BLINK_RIGHT)
            form = last ? BLINK_NONE : leaf + 1;
        if (word == BLINK_HEADER)
            form = size;
        if (word == BLINK_HIGH && !last)
            form = key_bits(keys[first + size - 1]);
        blink_leaf(&tree, leaf)[word] = form;
    }
}

/* Nodes first_node .. of `level` over n children of the level below, those from first_child on. */
ORDO_KERNEL(RUN_GROUP)
void build_inner(BLINK_TREE, uint level, uint first_child, uint n, uint first_node, uint nodes)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const node_share share = share_among(n, nodes);

    RUN_EACH (ulong, i, (ulong) nodes * BLINK_WORDS) {
        const uint    j = (uint) (i / BLINK_WORDS), word = (uint) i % BLINK_WORDS;
        const uint    first = share_first(share, j), size = share_size(share, j);
        const bool    last = j + 1 == nodes;
        ordo_key_form form = BLINK_UNUSED;
        /* the child that this word is about: its own, the first, or the next node's first */
        const uint at = min(word < size ? first + word : word == BLINK_HIGH ? first + size : first, n - 1);
        const uint child = first_child + at;
        if (word < size || word == BLINK_LOW || (word == BLINK_HIGH && !last))
            form = blink_line(&tree, level - 1, child)[BLINK_LOW];
        if (word < BLINK_SLOTS) /* also those that are no child: concurrent.cl may look at them */
            blink_children(&tree, first_node + j)[word] = word < size ? child : BLINK_NONE;
        if (word == BLINK_RIGHT)
            form = last ? BLINK_NONE : first_node + j + 1;
        if (word == BLINK_HEADER)
            form = size;
        blink_inner(&tree, first_node)[i] = form;
    }
}

ORDO_KERNEL(1)
void build_state(__global uint *state, uint root, uint leaves, uint inner, uint elements)
{
    for (uint word = 0; word < BLINK_STATE_WORDS; word++)
        state[word] = 0;
    state[BLINK_ROOT] = root;
    state[BLINK_LEAVES] = leaves;
    state[BLINK_INNER] = inner;
    state[BLINK_ELEMENTS] = elements;
}

/* leaf_counts[] as the leaves' headers have it, without arrivals; 0 of what is no leaf yet. */
ORDO_KERNEL(RUN_GROUP)
void count_leaves(BLINK_TREE, uint capacity)
{
    const blink_tree tree = BLINK_TREE_HERE;
    RUN_EACH (uint, leaf, capacity)
        leaf_counts[leaf] = leaf < state[BLINK_LEAVES] ? blink_count(blink_leaf(&tree, leaf)) : 0;
}

/* ---- the list of leaves ------------------------------------------------------------------------------------------ */

/* Of each leaf its low and its number; of what is no leaf yet all ones, which is no leaf's low. */
ORDO_KERNEL(RUN_GROUP)
void list_lows(BLINK_TREE, uint places, __global ordo_key_form *lows, __global uint *leaves)
{
    const blink_tree tree = BLINK_TREE_HERE;
    RUN_EACH (uint, i, places) {
        lows[i] = i < state[BLINK_LEAVES] ? blink_leaf(&tree, i)[BLINK_LOW] : BLINK_UNUSED;
        leaves[i] = i;
    }
}

/* place[order[i]] = i; before[i] = the elements of the i-th leaf, of place `places` 0. `sorted`: leaf i is the i-th,
 * and order is written, too. */
ORDO_KERNEL(RUN_GROUP)
void list_places(BLINK_TREE, uint places, uint sorted, __global uint *order, __global uint *place,
                 __global uint *before)
{
    const blink_tree tree = BLINK_TREE_HERE;
    RUN_EACH (uint, i, places + 1) {
        uint count = 0;
        if (i < places) {
            const uint leaf = sorted ? i : order[i];
            if (sorted)
                order[i] = i;
            place[leaf] = i;
            count = leaf < state[BLINK_LEAVES] ? blink_count(blink_leaf(&tree, leaf)) : 0;
        }
        before[i] = count;
    }
}

ORDO_KERNEL(RUN_GROUP)
void list_export(BLINK_TREE, uint places, __global const uint *order, __global const uint *before,
                 __global ordo_key *keys_out, ulong keys_at, __global blink_value *values_out, ulong values_at)
{
    const blink_tree tree = BLINK_TREE_HERE;
    RUN_EACH (ulong, i, (ulong) places * BLINK_WORDS) {
        const uint at = (uint) (i / BLINK_WORDS), slot = (uint) i % BLINK_WORDS;
        const uint first = before[at];
        if (slot >= before[at + 1] - first)
            continue;
        if (keys_out)
            keys_out[keys_at + first + slot] = key_from_bits(blink_leaf(&tree, order[at])[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + first + slot] = blink_values(&tree, order[at])[slot];
#endif
    }
}
