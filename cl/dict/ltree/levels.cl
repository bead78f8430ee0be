/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the new nodes of splits to the levels above. Takes no latches, because no two teams change the same node in a
 * launch. Lane x % TEAM_WIDTH holds word x of a node. */
#pragma once
#include "dict/ltree/split.cl"

/* Entries of an inner node that a lane holds. to[] is an entry's index after the update. chain[] is the number of new
 * nodes between the entry's child and the next entry's child. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
    uint          child[LANE_WORDS];
    uint          to[LANE_WORDS];
    uint          chain[LANE_WORDS];
} inner_tile;

ORDO_FN uint chain_length(const ltree_tree *tree, uint level, uint child, ordo_key_form bound)
{
    for (uint length = 0;; length++) {
        __global ordo_key_form *line = ltree_line(tree, level, child);
        const ordo_key_form     high = line[LTREE_HIGH];
        child = *ltree_right(line);
        if (child == LTREE_NONE || key_same(high, bound))
            return length;
    }
}

/* Loads as much as possible at once, because each load that depends on another one costs about 0.5 us. `node` is
 * LTREE_NONE, and `count` 0, for a team without a node. */
ORDO_FN uint inner_take(const ltree_tree *tree, uint level, uint node, uint count, __private inner_tile *tile)
{
    __global ordo_key_form *line = ltree_inner(tree, node);
    ordo_key_form           bound[LANE_WORDS], high[LANE_WORDS];
    uint                    right[LANE_WORDS], all = 0;

    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = min(r * TEAM_WIDTH + team_lane(), (uint) LTREE_SLOTS - 1);
        tile->key[r] = bound[r] = KEY_LEAST;
        tile->child[r] = 0;
        if (node != LTREE_NONE) {
            const ordo_key_form next = line[slot + 1], last = line[LTREE_HIGH];
            tile->key[r] = line[slot];
            tile->child[r] = ltree_children(tree, node)[slot];
            bound[r] = slot + 1 < count ? next : last;
        }
    }
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const bool              has = r * TEAM_WIDTH + team_lane() < count;
        __global ordo_key_form *below = ltree_line(tree, level - 1, has ? tile->child[r] : 0);
        high[r] = has ? below[LTREE_HIGH] : KEY_LEAST;
        right[r] = has ? *ltree_right(below) : LTREE_NONE;
    }
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        tile->chain[r] = 0;
        if (right[r] != LTREE_NONE && !key_same(high[r], bound[r]))
            tile->chain[r] = 1 + chain_length(tree, level - 1, right[r], bound[r]);
        const uint mine = r * TEAM_WIDTH + team_lane() < count ? tile->chain[r] + 1 : 0;
        tile->to[r] = all + team_scan_exclusive_add(mine);
        all += team_reduce_add(mine);
    }
    return all;
}

ORDO_FN void split_put_entry(const ltree_tree *tree, const node_split *split, uint p, ordo_key_form key, uint child)
{
    const split_place to = split_where(split, p);
    const uint        node = split_number(split, to.j);

    ltree_inner(tree, node)[to.slot] = key;
    ltree_children(tree, node)[to.slot] = child;
    if (to.slot == 0 && to.j > 0)
        split_border(tree, split, to.j - 1, key);
}

ORDO_FN void inner_put(const ltree_tree *tree, uint count, const node_split *split, __private const inner_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        if (r * TEAM_WIDTH + team_lane() >= count)
            continue;
        uint child = tile->child[r];
        split_put_entry(tree, split, tile->to[r], tile->key[r], child);
        for (uint k = 1; k <= tile->chain[r]; k++) {
            child = *ltree_right(ltree_line(tree, split->level - 1, child));
            split_put_entry(tree, split, tile->to[r] + k, ltree_line(tree, split->level - 1, child)[LTREE_LOW], child);
        }
    }
}

/* Returns the node of `level` that covers the query. No other work-item may change `level` or a higher level. The whole
 * team must call. */
ORDO_FN uint ltree_covering(const ltree_tree *tree, uint level, ordo_key_form query)
{
    const uint root = tree->state[LTREE_ROOT];
    uint       node = ltree_root_node(root);
    for (uint above = ltree_root_level(root); above > level; above--)
        node = ltree_children(tree, node)[ltree_entry(ltree_less(ltree_inner(tree, node), query))];
    return node;
}

/* The whole sub-group must call. */
ORDO_FN void level_take(const ltree_tree *tree, uint level, __global const uint *list, __global uint *next)
{
    const uint n = tree->state[LTREE_DIRTY_NODES + level], top = ltree_root_level(tree->state[LTREE_ROOT]);

    for (uint first = LTREE_TEAM - team_index(); first < n; first += LTREE_TEAMS) {
        const uint                    i = first + team_index();
        const bool                    has = i < n;
        const uint                    node = has ? list[i] : LTREE_NONE;
        __global const ordo_key_form *line = ltree_inner(tree, node);
        const uint                    count = has ? ltree_count(line) : 0;
        const ordo_key_form           low = has ? line[LTREE_LOW] : KEY_LEAST;
        inner_tile                    tile;
        const uint                    all = inner_take(tree, level, node, count, &tile);
        const node_split              split = split_begin(tree, level, node, all);
        team_sync_global();
        if (has) {
            inner_put(tree, count, &split, &tile);
            split_frame(tree, &split);
        }
        const bool raises = split.nodes > 1 && level < top;
        if (!subgroup_any(raises))
            continue;
        const uint parent = ltree_covering(tree, level + 1, key_plus(low, LTREE_WORD(1)));
        ltree_mark_each(tree, level + 1, parent, raises && team_lane() == 0, next);
    }
}

ORDO_KERNEL(LTREE_GROUP)
void update_level(LTREE_TREE, uint level, __global const uint *list, __global uint *next)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    level_take(&tree, level, list, next);
}

/* The whole group must call. */
ORDO_FN uint root_grow(const ltree_tree *tree, uint root, __local uint *first)
{
    const uint level = ltree_root_level(root), node = ltree_root_node(root);
    const uint all = chain_length(tree, level, node, LTREE_UNUSED) + 1, nodes = ltree_nodes_for(all);
    node_split split = { level + 1, 0, 0, nodes, all, share_among(all, nodes), LTREE_NONE, LTREE_UNUSED };

    if (get_local_id(0) == 0)
        *first = ordo_add(&tree->state[LTREE_INNER], nodes);
    barrier(CLK_LOCAL_MEM_FENCE);
    split.node = *first;
    split.first_new = split.node + 1;
    if (get_local_id(0) == 0) {
        uint child = node;
        for (uint p = 0; p < all; p++) {
            split_put_entry(tree, &split, p, ltree_line(tree, level, child)[LTREE_LOW], child);
            child = *ltree_right(ltree_line(tree, level, child));
        }
        ltree_inner(tree, split.node)[LTREE_LOW] = KEY_LEAST;
    }
    if (team_index() == 0)
        split_frame(tree, &split);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return (level + 1) << LTREE_LEVEL_SHIFT | split.node;
}

ORDO_FN void root_take(const ltree_tree *tree, __local uint *first)
{
    const uint old = tree->state[LTREE_ROOT];
    uint       root = old;

    while (*ltree_right(ltree_line(tree, ltree_root_level(root), ltree_root_node(root))) != LTREE_NONE)
        root = root_grow(tree, root, first);
    if (get_local_id(0) == 0 && root != old)
        tree->state[LTREE_ROOT] = root;
}

/* `even` and `odd` list the changed nodes of even and odd levels. The host must launch one work-group. */
ORDO_KERNEL(LTREE_GROUP)
void update_top(LTREE_TREE, uint level, __global uint *even, __global uint *odd)
{
    __local uint     first;
    const ltree_tree tree = LTREE_TREE_HERE;
    const uint       top = ltree_root_level(state[LTREE_ROOT]);

    barrier(CLK_GLOBAL_MEM_FENCE);
    for (; level <= top; level++) {
        if (state[LTREE_DIRTY_NODES + level] == 0)
            continue;
        level_take(&tree, level, level % 2 ? odd : even, level % 2 ? even : odd);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    root_take(&tree, &first);
    for (uint word = (uint) get_local_id(0); word < LTREE_LEVELS_MAX; word += LTREE_GROUP)
        state[LTREE_DIRTY_NODES + word] = 0;
    if (get_local_id(0) == 0) {
        state[LTREE_LAST_WANTED] = state[LTREE_WANTED];
        state[LTREE_LAST_LARGEST] = state[LTREE_LARGEST];
        state[LTREE_GROUPS] = state[LTREE_WANTED] = state[LTREE_LARGEST] = 0;
    }
}

ORDO_KERNEL(LTREE_GROUP)
void list_root(LTREE_TREE, __global uint *list)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const uint       root = state[LTREE_ROOT], level = ltree_root_level(root);
    uint             n = 0;

    if (get_global_id(0) > 0)
        return;
    for (uint node = ltree_root_node(root); node != LTREE_NONE; node = *ltree_right(ltree_line(&tree, level, node)))
        list[n++] = node;
    state[LTREE_DIRTY_NODES + level] = n;
}

ORDO_KERNEL(LTREE_GROUP)
void list_below(LTREE_TREE, uint level, __global const uint *list, __global uint *below)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (ulong, i, (ulong) state[LTREE_DIRTY_NODES + level] * LTREE_SLOTS) {
        __global ordo_key_form *line = ltree_inner(&tree, list[i / LTREE_SLOTS]);
        const uint              slot = (uint) (i % LTREE_SLOTS), count = ltree_count(line);
        if (slot >= count)
            continue;
        uint       child = ltree_children(&tree, list[i / LTREE_SLOTS])[slot];
        const uint chain = chain_length(&tree, level - 1, child, line[slot + 1 < count ? slot + 1 : LTREE_HIGH]);
        const uint first = ordo_add(&state[LTREE_DIRTY_NODES + level - 1], chain + 1);
        for (uint k = 0; k <= chain; k++) {
            below[first + k] = child;
            child = *ltree_right(ltree_line(&tree, level - 1, child));
        }
    }
}
