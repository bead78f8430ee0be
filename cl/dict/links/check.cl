/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of shared/links_node.h, for a tree at rest.
 *
 *   check_down            a level's entries, from the root down: which level each inner node is of, and which leaves there are
 *   check_leaves, check_inner   each node by itself, and with its right neighbour
 *
 * wrong[f] is the first node with finding f (enum links_finding of host/dict/links/check.c); where there is none, what
 * the host has put there.
 */
#pragma once
#include "dict/each.cl"
#include "dict/links/node.cl"

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
#define WRONG_DEAD  16
#define N_ELEMENTS  17
#define N_DEAD      18

/* levels[node]: LINKS_NONE, or the level of an inner node that the entries above it have reached; leaves[leaf]
 * likewise, 0. Goes through the entries of `level`. */
ORDO_KERNEL(RUN_GROUP)
void check_down(LINKS_TREE, uint level, __global uint *levels, __global uint *leaves, __global uint *wrong)
{
    const links_tree tree = LINKS_TREE_HERE;
    const uint       below = state[level > 1 ? LINKS_INNER : LINKS_LEAVES];

    RUN_EACH (ulong, i, (ulong) state[LINKS_INNER] * LINKS_SLOTS) {
        const uint              node = (uint) (i / LINKS_SLOTS), slot = (uint) (i % LINKS_SLOTS);
        __global ordo_key_form *line = links_inner(&tree, node);
        if (ordo_peek(&levels[node]) != level) /* others set those of the level below */
            continue;
        const uint child = children[i];
        if (slot >= links_count(line)) {
            if (child != LINKS_NONE && child >= below)
                ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const bool good = child < below && links_line(&tree, level - 1, child)[LINKS_LOW] == line[slot];
        /* twice is wrong, too */
        if (!good || ordo_exchange(level > 1 ? &levels[child] : &leaves[child], level - 1) != LINKS_NONE) {
            ordo_min(&wrong[WRONG_ENTRY], node);
            continue;
        }
        const uint right = *links_right(links_line(&tree, level - 1, child));
        const uint next = slot + 1 < links_count(line)              ? children[i + 1]
                          : *links_right(line) < state[LINKS_INNER] ? links_children(&tree, *links_right(line))[0]
                                                                    : LINKS_NONE;
        if (right != next)
            ordo_min(&wrong[WRONG_NEXT], node);
    }
}

/* The keys of a node: order, unused slots, bounds. From where on findings of its kind begin. */
ORDO_FN void check_keys(__global ordo_key_form *line, uint level, uint node, uint from, __global uint *wrong)
{
    const uint          count = links_count(line);
    const ordo_key_form low = line[LINKS_LOW], high = line[LINKS_HIGH];
    bool                ordered = count <= LINKS_SLOTS, bounded = low < high;

    for (uint slot = 0; slot < LINKS_SLOTS; slot++) {
        const ordo_key_form key = line[slot];
        if (slot >= count)
            ordered = ordered && key == LINKS_UNUSED;
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

ORDO_FN void check_node(const links_tree *tree, uint level, uint node, uint taken, uint from, __global uint *wrong)
{
    __global ordo_key_form *line = links_line(tree, level, node);
    const uint              right = *links_right(line);

    check_keys(line, level, node, from, wrong);
    if (right == LINKS_NONE ? line[LINKS_HIGH] != LINKS_UNUSED
                            : right >= taken || links_line(tree, level, right)[LINKS_LOW] != line[LINKS_HIGH])
        ordo_min(&wrong[from + WRONG_LEAF_LINK], node);
    if (*links_header(line) & LINKS_LATCHED)
        ordo_min(&wrong[from + WRONG_LEAF_LATCH], node);
    if (*links_header(line) & LINKS_DIRTY)
        ordo_min(&wrong[WRONG_DIRTY], node);
}

/* Of a node that is in no level (B9): that it has nothing, and that nobody has it. */
ORDO_FN void check_dead(__global ordo_key_form *line, uint node, bool reached, uint from, __global uint *wrong)
{
    if (links_count(line) > 0)
        ordo_min(&wrong[from + WRONG_LEAF_BOUNDS], node);
    if (*links_header(line) & LINKS_LATCHED)
        ordo_min(&wrong[from + WRONG_LEAF_LATCH], node);
    if (reached)
        ordo_min(&wrong[WRONG_DEAD], node);
}

/* counted: whether leaf_counts[] are to be right. */
ORDO_KERNEL(RUN_GROUP)
void check_leaves(LINKS_TREE, uint capacity, __global const uint *leaves, __global uint *wrong, uint counted)
{
    const links_tree tree = LINKS_TREE_HERE;
    uint             elements = 0, dead = 0;

    RUN_EACH (uint, leaf, capacity) {
        if (leaf >= state[LINKS_LEAVES]) {
            if (*links_header(links_leaf(&tree, leaf)) != LINKS_FREE)
                ordo_min(&wrong[WRONG_LEAF_FREE], leaf);
            continue;
        }
        __global ordo_key_form *line = links_leaf(&tree, leaf);
        const uint              count = links_count(line);
        if (links_is_dead(leaf, line[LINKS_LOW], line[LINKS_HIGH])) {
            check_dead(line, leaf, leaves[leaf] != LINKS_NONE, 0, wrong);
            dead++;
        } else {
            check_node(&tree, 0, leaf, state[LINKS_LEAVES], 0, wrong);
            if (leaves[leaf] == LINKS_NONE)
                ordo_min(&wrong[WRONG_LEAF_COVER], leaf);
        }
        if (counted && leaf_counts[leaf] != count)
            ordo_min(&wrong[WRONG_COUNT], leaf);
        elements += count;
    }
    if (elements)
        ordo_add(&wrong[N_ELEMENTS], elements);
    if (dead)
        ordo_add(&wrong[N_DEAD], dead);
}

ORDO_KERNEL(RUN_GROUP)
void check_inner(LINKS_TREE, uint capacity, __global const uint *levels, __global uint *wrong)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, node, capacity) {
        if (node >= state[LINKS_INNER]) {
            if (*links_header(links_inner(&tree, node)) != LINKS_FREE)
                ordo_min(&wrong[WRONG_INNER + WRONG_LEAF_FREE], node);
            continue;
        }
        __global ordo_key_form *line = links_inner(&tree, node);
        if (line[LINKS_LOW] == line[LINKS_HIGH]) {
            check_dead(line, node, levels[node] != LINKS_NONE, WRONG_INNER, wrong);
            continue;
        }
        if (levels[node] == LINKS_NONE)
            ordo_min(&wrong[WRONG_INNER + WRONG_LEAF_COVER], node);
        check_node(&tree, 1, node, state[LINKS_INNER], WRONG_INNER, wrong); /* all inner levels alike */
    }
}
