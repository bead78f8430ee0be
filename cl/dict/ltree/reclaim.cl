/* SPDX-License-Identifier: Apache-2.0 */
/* Removes zombies (leaves that merges have emptied) while no operation runs. The host runs reclaim_leaves, then the
 * other kernels for each level upwards. */
#pragma once
#include "dict/each.cl"
#include "dict/ltree/node.cl"

/* Built together: reclaim_leaves reclaim_entries reclaim_links */

ORDO_FN bool is_dead(const ltree_tree *tree, uint level, uint node)
{
    __global const ordo_key_form *line = ltree_line(tree, level, node);
    /* Must not read an inner node's high bound, because other work-items may write it. */
    return level == 0 ? ltree_is_dead(node, line[LTREE_LOW], line[LTREE_HIGH]) : ltree_count(line) == 0;
}

/* Returns the first node that is not dead, from `node` on to the right, or LTREE_NONE. */
ORDO_FN uint first_alive(const ltree_tree *tree, uint level, uint node)
{
    const uint taken = tree->state[level == 0 ? LTREE_LEAVES : LTREE_INNER];
    uint       before = LTREE_NONE;

    for (uint hops = 0; node < taken && hops < taken; hops++) {
        if (!is_dead(tree, level, node))
            return node;
        const uint right = ordo_load_uncached(ltree_right(ltree_line(tree, level, node)));
        if (before != LTREE_NONE)
            ordo_store_uncached(ltree_right(ltree_line(tree, level, before)), right);
        before = node;
        node = right;
    }
    return LTREE_NONE;
}

ORDO_KERNEL(RUN_GROUP)
void reclaim_leaves(LTREE_TREE)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const uint       leaves = state[LTREE_LEAVES];
    uint             dead = 0;

    RUN_EACH (uint, leaf, leaves) {
        if (is_dead(&tree, 0, leaf)) {
            dead++;
            continue;
        }
        __global uint *link = ltree_right(ltree_leaf(&tree, leaf));
        if (*link != LTREE_NONE)
            *link = first_alive(&tree, 0, *link);
    }
    if (dead)
        ordo_add(&state[LTREE_DEAD], dead);
}

/* Returns true if the entry in a slot stays. A zombie's right neighbour has taken over its elements and its low bound.
 * If an entry's child is a zombie, the neighbour becomes the child. The neighbour's own entry is removed, because that
 * entry has the old low bound. */
ORDO_FN bool entry_of(const ltree_tree *tree, uint level, uint node, uint slot, ordo_key_form *low, uint *child)
{
    *child = ltree_children(tree, node)[slot];
    if (level == 1)
        *child = first_alive(tree, 0, *child);
    else if (is_dead(tree, level - 1, *child))
        return false;
    if (*child == LTREE_NONE)
        return false;
    *low = ltree_line(tree, level - 1, *child)[LTREE_LOW];
    return level > 1 || key_same(*low, ltree_inner(tree, node)[slot]);
}

ORDO_KERNEL(RUN_GROUP)
void reclaim_entries(LTREE_TREE, uint level, __global const uint *list)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, i, state[LTREE_DIRTY_NODES + level]) {
        __global ordo_key_form *line = ltree_inner(&tree, list[i]);
        const uint              count = ltree_count(line);
        uint                    kept = 0, child;
        ordo_key_form           low;

        for (uint slot = 0; slot < count; slot++)
            if (entry_of(&tree, level, list[i], slot, &low, &child)) {
                line[kept] = low;
                ltree_children(&tree, list[i])[kept++] = child;
            }
        for (uint slot = kept; slot < LTREE_SLOTS; slot++) {
            line[slot] = LTREE_UNUSED;
            ltree_children(&tree, list[i])[slot] = LTREE_NONE;
        }
        line[LTREE_HEADER] = LTREE_WORD(kept);
        if (kept > 0)
            line[LTREE_LOW] = line[0];
        else
            line[LTREE_HIGH] = line[LTREE_LOW];
    }
}

ORDO_KERNEL(RUN_GROUP)
void reclaim_links(LTREE_TREE, uint level, __global const uint *list)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, i, state[LTREE_DIRTY_NODES + level]) {
        __global ordo_key_form *line = ltree_inner(&tree, list[i]);
        if (ltree_count(line) == 0 || *ltree_right(line) == LTREE_NONE)
            continue;
        const uint right = first_alive(&tree, level, *ltree_right(line));
        *ltree_right(line) = right;
        line[LTREE_HIGH] = right == LTREE_NONE ? LTREE_UNUSED : ltree_inner(&tree, right)[LTREE_LOW];
    }
}
