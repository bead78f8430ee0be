/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of shared/ltree.h. The host launches check_down for each level, from the root down. wrong[f]
 * becomes the least index of a node with error f (enum ltree_finding). */
#pragma once
#include "dict/each.cl"
#include "dict/ltree/node.cl"

/* Checks the entries of a level. Sets levels[c] to the child's level for each inner child c, and leaves[c] to 0 for
 * each leaf c. The host has set both arrays to LTREE_NONE. */
ORDO_KERNEL(RUN_GROUP)
void check_down(LTREE_TREE, uint level, __global uint *levels, __global uint *leaves, __global uint *wrong)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const uint       below = state[level > 1 ? LTREE_INNER : LTREE_LEAVES];

    RUN_EACH (ulong, i, (ulong) state[LTREE_INNER] * LTREE_SLOTS) {
        const uint              node = (uint) (i / LTREE_SLOTS), slot = (uint) (i % LTREE_SLOTS);
        __global ordo_key_form *line = ltree_inner(&tree, node);
        if (ordo_load_uncached(&levels[node]) != level) /* Uncached, because other work-items write it. */
            continue;
        const uint child = children[i];
        if (slot >= ltree_count(line)) {
            if (child != LTREE_NONE && child >= below)
                ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const bool good = child < below && key_same(ltree_line(&tree, level - 1, child)[LTREE_LOW], line[slot]);
        if (!good || ordo_exchange(level > 1 ? &levels[child] : &leaves[child], level - 1) != LTREE_NONE) {
            ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const uint right = *ltree_right(ltree_line(&tree, level - 1, child));
        const uint next = slot + 1 < ltree_count(line)              ? children[i + 1]
                          : *ltree_right(line) < state[LTREE_INNER] ? ltree_children(&tree, *ltree_right(line))[0]
                                                                    : LTREE_NONE;
        if (right != next)
            ordo_min(&wrong[WRONG_NEXT], node);
    }
}

ORDO_FN void check_keys(__global ordo_key_form *line, uint level, uint node, uint from, __global uint *wrong)
{
    const uint          count = ltree_count(line);
    const ordo_key_form low = line[LTREE_LOW], high = line[LTREE_HIGH];
    bool                ordered = count <= LTREE_SLOTS, bounded = key_before(low, high);

    for (uint slot = 0; slot < LTREE_SLOTS; slot++) {
        const ordo_key_form key = line[slot];
        if (slot >= count)
            ordered = ordered && key_same(key, LTREE_UNUSED);
        else if (level > 0)
            bounded = bounded && key_upto(low, key) && key_before(key, high) && (slot > 0 || key_same(key, low));
        else
            bounded = bounded && (key_before(low, key) || key_same(low, KEY_LEAST)) && key_upto(key, high);
        if (slot > 0 && slot < count)
            ordered = ordered && key_before(line[slot - 1], key);
    }
    if (!ordered)
        ordo_min(&wrong[from + WRONG_LEAF_ORDER], node);
    if (!bounded || (level > 0 && count == 0))
        ordo_min(&wrong[from + WRONG_LEAF_BOUNDS], node);
}

ORDO_FN void check_node(const ltree_tree *tree, uint level, uint node, uint taken, uint from, __global uint *wrong)
{
    __global ordo_key_form *line = ltree_line(tree, level, node);
    const uint              right = *ltree_right(line);

    check_keys(line, level, node, from, wrong);
    if (right == LTREE_NONE ? !key_same(line[LTREE_HIGH], LTREE_UNUSED)
                            : right >= taken || !key_same(ltree_line(tree, level, right)[LTREE_LOW], line[LTREE_HIGH]))
        ordo_min(&wrong[from + WRONG_LEAF_LINK], node);
    if (*ltree_header(line) & LTREE_LATCHED)
        ordo_min(&wrong[from + WRONG_LEAF_LATCH], node);
    if (*ltree_header(line) & LTREE_DIRTY)
        ordo_min(&wrong[WRONG_DIRTY], node);
}

ORDO_FN void check_dead(__global ordo_key_form *line, uint node, bool reached, uint from, __global uint *wrong)
{
    if (ltree_count(line) > 0)
        ordo_min(&wrong[from + WRONG_LEAF_BOUNDS], node);
    if (*ltree_header(line) & LTREE_LATCHED)
        ordo_min(&wrong[from + WRONG_LEAF_LATCH], node);
    if (reached)
        ordo_min(&wrong[WRONG_DEAD], node);
}

ORDO_KERNEL(RUN_GROUP)
void check_leaves(LTREE_TREE, uint capacity, __global const uint *leaves, __global uint *wrong, uint counted)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    uint             elements = 0, dead = 0;

    RUN_EACH (uint, leaf, capacity) {
        if (leaf >= state[LTREE_LEAVES]) {
            if (*ltree_header(ltree_leaf(&tree, leaf)) != LTREE_FREE)
                ordo_min(&wrong[WRONG_LEAF_FREE], leaf);
            continue;
        }
        __global ordo_key_form *line = ltree_leaf(&tree, leaf);
        const uint              count = ltree_count(line);
        if (ltree_is_dead(leaf, line[LTREE_LOW], line[LTREE_HIGH])) {
            check_dead(line, leaf, leaves[leaf] != LTREE_NONE, 0, wrong);
            dead++;
        } else {
            check_node(&tree, 0, leaf, state[LTREE_LEAVES], 0, wrong);
            if (leaves[leaf] == LTREE_NONE)
                ordo_min(&wrong[WRONG_LEAF_COVER], leaf);
        }
        if (counted && leaf_counts[leaf] != count)
            ordo_min(&wrong[WRONG_COUNT], leaf);
        elements += count;
    }
    if (elements)
        ordo_add(&wrong[CHECKED_ELEMENTS], elements);
    if (dead)
        ordo_add(&wrong[CHECKED_DEAD], dead);
}

ORDO_KERNEL(RUN_GROUP)
void check_inner(LTREE_TREE, uint capacity, __global const uint *levels, __global uint *wrong)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, node, capacity) {
        if (node >= state[LTREE_INNER]) {
            if (*ltree_header(ltree_inner(&tree, node)) != LTREE_FREE)
                ordo_min(&wrong[WRONG_INNER_FREE], node);
            continue;
        }
        __global ordo_key_form *line = ltree_inner(&tree, node);
        if (key_same(line[LTREE_LOW], line[LTREE_HIGH])) {
            check_dead(line, node, levels[node] != LTREE_NONE, WRONG_INNER_ORDER, wrong);
            continue;
        }
        if (levels[node] == LTREE_NONE)
            ordo_min(&wrong[WRONG_INNER_COVER], node);
        check_node(&tree, 1, node, state[LTREE_INNER], WRONG_INNER_ORDER, wrong);
    }
}
