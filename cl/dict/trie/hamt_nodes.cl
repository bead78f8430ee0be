/* SPDX-License-Identifier: Apache-2.0 */
/* Builds or checks the nodes of a trie of fixed depth (HAMT_FIXED_DEPTH 1). */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

/* Built together: hamt_node_heads hamt_nodes */

#define LEVELS HAMT_LEVELS(KEY_BITS)

/* Returns true if keys a and b are below different nodes of this level. */
ORDO_FN bool hamt_parts(ordo_key_form a, ordo_key_form b, uint level)
{
    const uint bits = HAMT_BITS + HAMT_LEVEL_BITS * (level + 1);
    return bits < KEY_BITS && (a ^ b) >> min(bits, (uint) KEY_BITS - 1);
}

ORDO_FN size_t hamt_head_at(uint level, uint leaf, uint n_leaves)
{
    return (size_t) (LEVELS - 1 - level) * n_leaves + leaf;
}

/* For each level and each leaf, writes a flag: 1 if the leaf is the first one below its node on this level. */
ORDO_KERNEL(RUN_GROUP)
void hamt_node_heads(__global const hamt_leaf *leaves, uint n_leaves, __global uint *heads)
{
    RUN_EACH (uint, i, n_leaves) {
        for (uint level = 0; level < LEVELS; level++)
            heads[hamt_head_at(level, i, n_leaves)] = i == 0 || hamt_parts(leaves[i - 1].first, leaves[i].first, level);
        if (i == 0)
            heads[(size_t) LEVELS * n_leaves] = 0;
    }
}

typedef struct {
    __global const hamt_leaf *leaves;
    __global const uint      *number;
    uint                      n_leaves;
} hamt_rows;

ORDO_FN uint hamt_node_of(const hamt_rows *rows, uint level, uint leaf)
{
    return rows->number[hamt_head_at(level, leaf, rows->n_leaves) + 1] - 1;
}

ORDO_FN uint hamt_first_node(const hamt_rows *rows, uint level)
{
    return rows->number[hamt_head_at(level, 0, rows->n_leaves)];
}

ORDO_FN uint hamt_child(const hamt_rows *rows, uint level, uint leaf)
{
    return level == 0 ? leaf : hamt_node_of(rows, level - 1, leaf) - hamt_first_node(rows, level - 1);
}

ORDO_FN ulong hamt_word(const hamt_rows *rows, uint level, uint leaf)
{
    return (ulong) hamt_node_of(rows, level, leaf) * HAMT_NODE + hamt_slot(rows->leaves[leaf].first, level);
}

ORDO_FN bool hamt_set_words(__global uint *words, ulong from, ulong to, uint value, bool compare)
{
    bool same = true;
    for (ulong w = from; w < to; w++)
        if (compare)
            same = same && words[w] == value;
        else
            words[w] = value;
    return same;
}

/* Does the work of leaf i on one level of nodes. The last leaf below a child sets the child's word, and all words up to
 * the next child's word. If `compare`, changes nothing, and returns whether the words already have these values. */
ORDO_FN bool hamt_set_level(const hamt_rows *rows, uint level, uint i, __global uint *words, bool compare)
{
    const uint  child = hamt_child(rows, level, i);
    const ulong at = hamt_word(rows, level, i);
    bool        same = true;
    if (i == 0)
        same = hamt_set_words(words, (ulong) hamt_first_node(rows, level) * HAMT_NODE, at, 0, compare);
    if (i == rows->n_leaves - 1)
        return hamt_set_words(words, at, (ulong) (hamt_node_of(rows, level, i) + 1) * HAMT_NODE, child + 1, compare) &&
               same;
    if (hamt_child(rows, level, i + 1) == child)
        return same;
    return hamt_set_words(words, at, hamt_word(rows, level, i + 1), child + 1, compare) && same;
}

/* Writes the nodes, and the header with the index of each level's first node. `number` must hold the exclusive prefix
 * sums of hamt_node_heads' flags. If `wrong` is not NULL, only lowers *wrong to the first leaf that belongs to a wrong
 * word. */
ORDO_KERNEL(RUN_GROUP)
void hamt_nodes(__global const hamt_leaf *leaves, __global const uint *number, uint n_leaves, uint rank_bits,
                __global uint *tables, __global uint *wrong)
{
    const hamt_rows rows = { leaves, number, n_leaves };
    __global uint  *words = tables + HAMT_NODES_AT(HAMT_HEADER_BITS, rank_bits);
    RUN_EACH (uint, i, n_leaves) {
        bool same = true;
        for (uint level = 0; level < LEVELS; level++) {
            same = hamt_set_level(&rows, level, i, words, wrong != 0) && same;
            if (i == 0)
                same = hamt_set_words(tables, level, level + 1, hamt_first_node(&rows, level), wrong != 0) && same;
        }
        if (!same)
            ordo_min(wrong, i);
    }
}
