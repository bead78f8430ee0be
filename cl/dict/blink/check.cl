/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of shared/blink_node.h, for a tree at rest.
 *
 *   check_down            a level's entries, from the root down: which level each inner node is of, and which leaves there are
 *   check_leaves, check_inner   each node by itself, and with its right neighbour
 *
 * wrong[f] is the first node with finding f (enum blink_finding of host/dict/blink/check.c); where there is none, what
 * the host has put there.
 */
#pragma once
#include "dict/blink/node.cl"
#include "dict/each.cl"

#define WRONG_LEAF_ORDER  0
#define WRONG_LEAF_BOUNDS 1
#define WRONG_LEAF_LINK   2
#define WRONG_LEAF_LATCH  3
#define WRONG_LEAF_COVER  4
#define WRONG_LEAF_FREE   5
#define WRONG_INNER       6 /* the same for inner nodes: 6 to 11 */
#define WRONG_ENTRY       12
#define WRONG_COUNT       13
/* These, and WRONG_LEAF_COVER of both kinds, are what a split leaves behind that was not seen through. */
#define WRONG_NEXT  14
#define WRONG_DIRTY 15
#define N_ELEMENTS  16

/* levels[node]: BLINK_NONE, or the level of an inner node that the entries above it have reached; leaves[leaf]
 * likewise, 0. Goes through the entries of `level`. */
ORDO_KERNEL(RUN_GROUP)
void check_down(BLINK_TREE, uint level, __global uint *levels, __global uint *leaves, __global uint *wrong)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const uint       below = state[level > 1 ? BLINK_INNER : BLINK_LEAVES];

    RUN_EACH (ulong, i, (ulong) state[BLINK_INNER] * BLINK_SLOTS) {
        const uint              node = (uint) (i / BLINK_SLOTS), slot = (uint) (i % BLINK_SLOTS);
        __global ordo_key_form *line = blink_inner(&tree, node);
        if (ordo_peek(&levels[node]) != level) /* others set those of the level below */
            continue;
        const uint child = children[i];
        if (slot >= blink_count(line)) {
            if (child != BLINK_NONE && child >= below)
                ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const bool good = child < below && blink_line(&tree, level - 1, child)[BLINK_LOW] == line[slot];
        /* twice is wrong, too */
        if (!good || ordo_exchange(level > 1 ? &levels[child] : &leaves[child], level - 1) != BLINK_NONE) {
            ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const uint right = *blink_right(blink_line(&tree, level - 1, child));
        const uint next = slot + 1 < blink_count(line)              ? children[i + 1]
                          : *blink_right(line) < state[BLINK_INNER] ? blink_children(&tree, *blink_right(line))[0]
                                                                    : BLINK_NONE;
        if (right != next)
            ordo_min(&wrong[WRONG_NEXT], node);
    }
}

/* The keys of a node: order, unused slots, bounds. From where on findings of its kind begin. */
ORDO_FN void check_keys(__global ordo_key_form *line, uint level, uint node, uint from, __global uint *wrong)
{
    const uint          count = blink_count(line);
    const ordo_key_form low = line[BLINK_LOW], high = line[BLINK_HIGH];
    bool                ordered = count <= BLINK_SLOTS, bounded = low < high;

    for (uint slot = 0; slot < BLINK_SLOTS; slot++) {
        const ordo_key_form key = line[slot];
        if (slot >= count)
            ordered = ordered && key == BLINK_UNUSED;
        else if (level > 0)
            bounded = bounded && key >= low && key < high && (slot > 0 || key == low);
        else
            bounded = bounded && (key > low || low == 0) && key <= high;
        if (slot > 0 && slot < count)
            ordered = ordered && line[slot - 1] < key;
    }
    if (!ordered)
        ordo_min(&wrong[from + WRONG_LEAF_ORDER], node);
    if (!bounded || (level > 0 && count == 0))
        ordo_min(&wrong[from + WRONG_LEAF_BOUNDS], node);
}

ORDO_FN void check_node(const blink_tree *tree, uint level, uint node, uint taken, uint from, __global uint *wrong)
{
    __global ordo_key_form *line = blink_line(tree, level, node);
    const uint              right = *blink_right(line);

    check_keys(line, level, node, from, wrong);
    if (right == BLINK_NONE ? line[BLINK_HIGH] != BLINK_UNUSED
                            : right >= taken || blink_line(tree, level, right)[BLINK_LOW] != line[BLINK_HIGH])
        ordo_min(&wrong[from + WRONG_LEAF_LINK], node);
    if (*blink_header(line) & BLINK_LATCHED)
        ordo_min(&wrong[from + WRONG_LEAF_LATCH], node);
    if (*blink_header(line) & BLINK_DIRTY)
        ordo_min(&wrong[WRONG_DIRTY], node);
}

/* counted: whether leaf_counts[] are to be right. */
ORDO_KERNEL(RUN_GROUP)
void check_leaves(BLINK_TREE, uint capacity, __global const uint *leaves, __global uint *wrong, uint counted)
{
    const blink_tree tree = BLINK_TREE_HERE;
    uint             elements = 0;

    RUN_EACH (uint, leaf, capacity) {
        if (leaf >= state[BLINK_LEAVES]) {
            if (*blink_header(blink_leaf(&tree, leaf)) != BLINK_FREE)
                ordo_min(&wrong[WRONG_LEAF_FREE], leaf);
            continue;
        }
        check_node(&tree, 0, leaf, state[BLINK_LEAVES], 0, wrong);
        if (leaves[leaf] == BLINK_NONE)
            ordo_min(&wrong[WRONG_LEAF_COVER], leaf);
        const uint count = blink_count(blink_leaf(&tree, leaf));
        if (counted && leaf_counts[leaf] != count)
            ordo_min(&wrong[WRONG_COUNT], leaf);
        elements += count;
    }
    if (elements)
        ordo_add(&wrong[N_ELEMENTS], elements);
}

ORDO_KERNEL(RUN_GROUP)
void check_inner(BLINK_TREE, uint capacity, __global const uint *levels, __global uint *wrong)
{
    const blink_tree tree = BLINK_TREE_HERE;

    RUN_EACH (uint, node, capacity) {
        if (node >= state[BLINK_INNER]) {
            if (*blink_header(blink_inner(&tree, node)) != BLINK_FREE)
                ordo_min(&wrong[WRONG_INNER + WRONG_LEAF_FREE], node);
            continue;
        }
        if (levels[node] == BLINK_NONE)
            ordo_min(&wrong[WRONG_INNER + WRONG_LEAF_COVER], node);
        check_node(&tree, 1, node, state[BLINK_INNER], WRONG_INNER, wrong); /* all inner levels alike */
    }
}
