/* SPDX-License-Identifier: Apache-2.0 */
/* Making a linked tree of sorted elements, and the list of its leaves.
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
#include "dict/each.cl"
#include "dict/links/node.cl"

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
void build_leaves(LINKS_TREE, __global const ordo_key *keys, ulong keys_at, __global const links_value *values,
                  ulong values_at, uint n, uint leaves)
{
    const links_tree tree = LINKS_TREE_HERE;
    const node_share share = share_among(n, leaves);

    keys += keys_at;
    RUN_EACH (ulong, i, (ulong) leaves * LINKS_WORDS) {
        const uint    leaf = (uint) (i / LINKS_WORDS), word = (uint) i % LINKS_WORDS;
        const uint    first = share_first(share, leaf), size = share_size(share, leaf);
        const bool    last = leaf + 1 == leaves;
        ordo_key_form form = LINKS_UNUSED;
        if (word < size) {
            form = key_bits(keys[first + word]);
#if ORDO_VALUE_BYTES
            links_values(&tree, leaf)[word] = values[values_at + first + word];
#endif
        }
        if (word == LINKS_LOW)
            form = leaf > 0 ? key_bits(keys[first - 1]) : 0;
        if (word == LINKS_RIGHT)
            form = last ? LINKS_NONE : leaf + 1;
        if (word == LINKS_HEADER)
            form = size;
        if (word == LINKS_HIGH && !last)
            form = key_bits(keys[first + size - 1]);
        links_leaf(&tree, leaf)[word] = form;
    }
}

/* Nodes first_node .. of `level` over n children of the level below, those from first_child on. */
ORDO_KERNEL(RUN_GROUP)
void build_inner(LINKS_TREE, uint level, uint first_child, uint n, uint first_node, uint nodes)
{
    const links_tree tree = LINKS_TREE_HERE;
    const node_share share = share_among(n, nodes);

    RUN_EACH (ulong, i, (ulong) nodes * LINKS_WORDS) {
        const uint    j = (uint) (i / LINKS_WORDS), word = (uint) i % LINKS_WORDS;
        const uint    first = share_first(share, j), size = share_size(share, j);
        const bool    last = j + 1 == nodes;
        ordo_key_form form = LINKS_UNUSED;
        /* the child that this word is about: its own, the first, or the next node's first */
        const uint at = min(word < size ? first + word : word == LINKS_HIGH ? first + size : first, n - 1);
        const uint child = first_child + at;
        if (word < size || word == LINKS_LOW || (word == LINKS_HIGH && !last))
            form = links_line(&tree, level - 1, child)[LINKS_LOW];
        if (word < LINKS_SLOTS) /* also those that are no child: concurrent.cl may look at them */
            links_children(&tree, first_node + j)[word] = word < size ? child : LINKS_NONE;
        if (word == LINKS_RIGHT)
            form = last ? LINKS_NONE : first_node + j + 1;
        if (word == LINKS_HEADER)
            form = size;
        links_inner(&tree, first_node)[i] = form;
    }
}

ORDO_KERNEL(1)
void build_state(__global uint *state, uint root, uint leaves, uint inner, uint elements)
{
    for (uint word = 0; word < LINKS_STATE_WORDS; word++)
        state[word] = 0;
    state[LINKS_ROOT] = root;
    state[LINKS_LEAVES] = leaves;
    state[LINKS_INNER] = inner;
    state[LINKS_ELEMENTS] = elements;
}

/* leaf_counts[] as the leaves' headers have it, without arrivals; 0 of what is no leaf yet. */
ORDO_KERNEL(RUN_GROUP)
void count_leaves(LINKS_TREE, uint capacity)
{
    const links_tree tree = LINKS_TREE_HERE;
    RUN_EACH (uint, leaf, capacity)
        leaf_counts[leaf] = leaf < state[LINKS_LEAVES] ? links_count(links_leaf(&tree, leaf)) : 0;
}

/* ---- the list of leaves ------------------------------------------------------------------------------------------ */

/* Of each leaf its low and its number; of what is no leaf yet, or none any more, all ones, which is no leaf's low. */
ORDO_KERNEL(RUN_GROUP)
void list_lows(LINKS_TREE, uint places, __global ordo_key_form *lows, __global uint *leaves)
{
    const links_tree tree = LINKS_TREE_HERE;
    RUN_EACH (uint, i, places) {
        __global const ordo_key_form *line = links_leaf(&tree, i);
        const bool there = i < state[LINKS_LEAVES] && !links_is_dead(i, line[LINKS_LOW], line[LINKS_HIGH]);
        lows[i] = there ? line[LINKS_LOW] : LINKS_UNUSED;
        leaves[i] = i;
    }
}

/* place[order[i]] = i; before[i] = the elements of the i-th leaf, of place `places` 0. `sorted`: leaf i is the i-th,
 * and order is written, too. */
ORDO_KERNEL(RUN_GROUP)
void list_places(LINKS_TREE, uint places, uint sorted, __global uint *order, __global uint *place,
                 __global uint *before)
{
    const links_tree tree = LINKS_TREE_HERE;
    RUN_EACH (uint, i, places + 1) {
        uint count = 0;
        if (i < places) {
            const uint leaf = sorted ? i : order[i];
            if (sorted)
                order[i] = i;
            place[leaf] = i;
            count = leaf < state[LINKS_LEAVES] ? links_count(links_leaf(&tree, leaf)) : 0;
        }
        before[i] = count;
    }
}

ORDO_KERNEL(RUN_GROUP)
void list_export(LINKS_TREE, uint places, __global const uint *order, __global const uint *before,
                 __global ordo_key *keys_out, ulong keys_at, __global links_value *values_out, ulong values_at)
{
    const links_tree tree = LINKS_TREE_HERE;
    RUN_EACH (ulong, i, (ulong) places * LINKS_WORDS) {
        const uint at = (uint) (i / LINKS_WORDS), slot = (uint) i % LINKS_WORDS;
        const uint first = before[at];
        if (slot >= before[at + 1] - first)
            continue;
        if (keys_out)
            keys_out[keys_at + first + slot] = key_from_bits(links_leaf(&tree, order[at])[slot]);
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_at + first + slot] = links_values(&tree, order[at])[slot];
#endif
    }
}
