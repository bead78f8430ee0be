/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a linked tree from sorted elements, from the leaves up. */
#pragma once
#include "dict/each.cl"
#include "dict/ltree/node.cl"

/* Built together: build_leaves build_inner count_leaves */

typedef struct {
    uint even, more;
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

ORDO_KERNEL(RUN_GROUP)
void build_leaves(LTREE_TREE, __global const ordo_key *keys, ulong keys_at, __global const ltree_value *values,
                  ulong values_at, uint n, uint leaves)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const node_share share = share_among(n, leaves);

    keys += keys_at;
    RUN_EACH (ulong, i, (ulong) leaves * LTREE_WORDS) {
        const uint    leaf = (uint) (i / LTREE_WORDS), word = (uint) i % LTREE_WORDS;
        const uint    first = share_first(share, leaf), size = share_size(share, leaf);
        const bool    last = leaf + 1 == leaves;
        ordo_key_form form = LTREE_UNUSED;
        if (word < size) {
            form = key_bits(keys[first + word]);
            if (HAS_VALUES)
                ltree_values(&tree, leaf)[word] = values[values_at + first + word];
        }
        if (word == LTREE_LOW)
            form = leaf > 0 ? key_bits(keys[first - 1]) : KEY_LEAST;
        if (word == LTREE_RIGHT)
            form = LTREE_WORD(last ? LTREE_NONE : leaf + 1);
        if (word == LTREE_HEADER)
            form = LTREE_WORD(size);
        if (word == LTREE_HIGH && !last)
            form = key_bits(keys[first + size - 1]);
        ltree_leaf(&tree, leaf)[word] = form;
    }
}

/* Builds nodes first_node .. first_node + nodes - 1 of a level. Their n children are the nodes from first_child on. */
ORDO_KERNEL(RUN_GROUP)
void build_inner(LTREE_TREE, uint level, uint first_child, uint n, uint first_node, uint nodes)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const node_share share = share_among(n, nodes);

    RUN_EACH (ulong, i, (ulong) nodes * LTREE_WORDS) {
        const uint    j = (uint) (i / LTREE_WORDS), word = (uint) i % LTREE_WORDS;
        const uint    first = share_first(share, j), size = share_size(share, j);
        const bool    last = j + 1 == nodes;
        ordo_key_form form = LTREE_UNUSED;
        const uint    at = min(word < size ? first + word : word == LTREE_HIGH ? first + size : first, n - 1);
        const uint    child = first_child + at;
        if (word < size || word == LTREE_LOW || (word == LTREE_HIGH && !last))
            form = ltree_line(&tree, level - 1, child)[LTREE_LOW];
        if (word < LTREE_SLOTS) /* Also writes unused slots, because concurrent operations may read them. */
            ltree_children(&tree, first_node + j)[word] = word < size ? child : LTREE_NONE;
        if (word == LTREE_RIGHT)
            form = LTREE_WORD(last ? LTREE_NONE : first_node + j + 1);
        if (word == LTREE_HEADER)
            form = LTREE_WORD(size);
        ltree_inner(&tree, first_node)[i] = form;
    }
}

ORDO_KERNEL(1)
void build_state(__global uint *state, uint root, uint leaves, uint inner, uint elements)
{
    for (uint word = 0; word < LTREE_STATE_WORDS; word++)
        state[word] = 0;
    state[LTREE_ROOT] = root;
    state[LTREE_LEAVES] = leaves;
    state[LTREE_INNER] = inner;
    state[LTREE_ELEMENTS] = elements;
}

ORDO_KERNEL(RUN_GROUP)
void count_leaves(LTREE_TREE, uint capacity)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    RUN_EACH (uint, leaf, capacity)
        leaf_counts[leaf] = leaf < state[LTREE_LEAVES] ? ltree_count(ltree_leaf(&tree, leaf)) : 0;
}
