/* SPDX-License-Identifier: Apache-2.0 */
/* What chunks of a skiplist that have merged into their right neighbours leave behind, taken away between launches. A zombie
 * (shared/links_node.h, B9) is still linked from its left, and has an entry above it; so may have its neighbour, whose low
 * is another now.
 *
 *   reclaim_leaves    links of the lowest level lead past zombies
 *   reclaim_entries   nodes of a level keep the entries that are right, and die if they have none
 *   reclaim_links     links of that level lead past nodes that have died
 *
 * Levels are taken from the lowest up, each by its list (ordo_links_list_level). What died keeps its place in the pool until
 * the skiplist is built anew.
 */
#pragma once
#include "dict/each.cl"
#include "dict/links/node.cl"

/* Built together: reclaim_leaves reclaim_entries reclaim_links */

ORDO_FN bool is_dead(const links_tree *tree, uint level, uint node)
{
    __global const ordo_key_form *line = links_line(tree, level, node);
    /* of inner nodes others may write the high */
    return level == 0 ? links_is_dead(node, line[LINKS_LOW], line[LINKS_HIGH]) : links_count(line) == 0;
}

/* The first node from `node` on that is alive, or LINKS_NONE. Dead ones on the path are made to lead past each other, two by
 * two, so that all work-items together go through a chain a few times at most. */
ORDO_FN uint first_alive(const links_tree *tree, uint level, uint node)
{
    const uint taken = tree->state[level == 0 ? LINKS_LEAVES : LINKS_INNER];
    uint       before = LINKS_NONE;

    for (uint hops = 0; node < taken && hops < taken; hops++) {
        if (!is_dead(tree, level, node))
            return node;
        const uint right = ordo_peek(links_right(links_line(tree, level, node)));
        if (before != LINKS_NONE)
            ordo_poke(links_right(links_line(tree, level, before)), right);
        before = node;
        node = right;
    }
    return LINKS_NONE;
}

/* The state then counts dead leaves. */
ORDO_KERNEL(RUN_GROUP)
void reclaim_leaves(LINKS_TREE)
{
    const links_tree tree = LINKS_TREE_HERE;
    const uint       leaves = state[LINKS_LEAVES];
    uint             dead = 0;

    RUN_EACH (uint, leaf, leaves) {
        if (is_dead(&tree, 0, leaf)) {
            dead++;
            continue;
        }
        __global uint *link = links_right(links_leaf(&tree, leaf));
        if (*link != LINKS_NONE)
            *link = first_alive(&tree, 0, *link);
    }
    if (dead)
        ordo_add(&state[LINKS_DEAD], dead);
}

/* Whether the entry in a slot is right; *low and *child: what it then is. An entry of level 1 names a leaf by the low that it
 * had; those of zombies all lead to one leaf, which has the low of the first. */
ORDO_FN bool entry_of(const links_tree *tree, uint level, uint node, uint slot, ordo_key_form *low, uint *child)
{
    *child = links_children(tree, node)[slot];
    if (level == 1)
        *child = first_alive(tree, 0, *child);
    else if (is_dead(tree, level - 1, *child))
        return false;
    if (*child == LINKS_NONE)
        return false;
    *low = links_line(tree, level - 1, *child)[LINKS_LOW];
    return level > 1 || *low == links_inner(tree, node)[slot];
}

ORDO_KERNEL(RUN_GROUP)
void reclaim_entries(LINKS_TREE, uint level, __global const uint *list)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, i, state[LINKS_DIRTY_NODES + level]) {
        __global ordo_key_form *line = links_inner(&tree, list[i]);
        const uint              count = links_count(line);
        uint                    kept = 0, child;
        ordo_key_form           low;

        for (uint slot = 0; slot < count; slot++)
            if (entry_of(&tree, level, list[i], slot, &low, &child)) {
                line[kept] = low;
                links_children(&tree, list[i])[kept++] = child;
            }
        for (uint slot = kept; slot < LINKS_SLOTS; slot++) {
            line[slot] = LINKS_UNUSED;
            links_children(&tree, list[i])[slot] = LINKS_NONE;
        }
        line[LINKS_HEADER] = kept;
        if (kept > 0)
            line[LINKS_LOW] = line[0];
        else
            line[LINKS_HIGH] = line[LINKS_LOW];
    }
}

ORDO_KERNEL(RUN_GROUP)
void reclaim_links(LINKS_TREE, uint level, __global const uint *list)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, i, state[LINKS_DIRTY_NODES + level]) {
        __global ordo_key_form *line = links_inner(&tree, list[i]);
        if (links_count(line) == 0 || *links_right(line) == LINKS_NONE)
            continue;
        const uint right = first_alive(&tree, level, *links_right(line));
        *links_right(line) = right;
        line[LINKS_HIGH] = right == LINKS_NONE ? LINKS_UNUSED : links_inner(&tree, right)[LINKS_LOW];
    }
}
