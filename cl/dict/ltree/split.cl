/* SPDX-License-Identifier: Apache-2.0 */
/* Splits nodes that get more entries than they have slots, and lists the nodes with split children.
 *
 * If the host defines COMBINE_OP and COMBINE_TYPE, new values are combined with stored values, and nothing may be
 * erased. */
#pragma once
#include "dict/ltree/build.cl"
#include "group/value.cl"

#define LANE_WORDS ((LTREE_WORDS + TEAM_WIDTH - 1) / TEAM_WIDTH)

/* Unrolls the next loop over a lane's words if a lane has at most 8. With longer loops, PoCL compiled for 12 s. */
#if LANE_WORDS > 8
#define LANE_UNROLL
#else
#define LANE_UNROLL ORDO_UNROLL
#endif

#define LTREE_ERASED(x) (VALUE_COMBINES ? 0 : (x))

#if ORDO_VALUE_BYTES == 8
#define OF_VALUES(function) function##64
#elif ORDO_VALUE_BYTES == 16
#define OF_VALUES(function) function##128
#else
#define OF_VALUES(function) function
#endif

#define LTREE_TARGET (LTREE_SLOTS * 3 / 4)

ORDO_FN uint ltree_nodes_for(uint entries)
{
    return entries <= LTREE_SLOTS ? 1 : (entries - 1) / LTREE_TARGET + 1;
}

#define LTREE_TEAM  ((uint) get_group_id(0) * (LTREE_GROUP / TEAM_WIDTH) + team_index())
#define LTREE_TEAMS ((uint) get_num_groups(0) * (LTREE_GROUP / TEAM_WIDTH))

#if ORDO_CPU
#define LTREE_SHARE(i, n)                                                                                              \
    for (uint i = share_first(share_among(n, LTREE_TEAMS), LTREE_TEAM),                                                \
              end_ = i + share_size(share_among(n, LTREE_TEAMS), LTREE_TEAM);                                          \
         i < end_; i++)
#else
#define LTREE_SHARE(i, n) for (uint i = LTREE_TEAM; i < (n); i += LTREE_TEAMS)
#endif

typedef struct {
    uint          level, node, first_new, nodes, all;
    node_share    share;
    uint          right;
    ordo_key_form high;
} node_split;

ORDO_FN uint split_number(const node_split *split, uint j)
{
    return j == 0 ? split->node : split->first_new + j - 1;
}

/* Computes how many nodes replace a node that gets `all` entries. In the result, the caller must set first_new, the
 * index of the first new node. */
ORDO_FN node_split split_plan(const ltree_tree *tree, uint level, uint node, uint all)
{
    __global ordo_key_form *line = ltree_line(tree, level, node);
    node_split              split = { level, node, 0, ltree_nodes_for(all), all, { all, 0 }, 0, KEY_LEAST };

    if (node != LTREE_NONE) {
        split.right = *ltree_right(line);
        split.high = line[LTREE_HIGH];
    }
    if (split.nodes > 1)
        split.share = share_among(all, split.nodes);
    return split;
}

/* Plans a split and allocates its new nodes. The host must have reserved memory for them. All lanes of a team must call
 * this. */
ORDO_FN node_split split_begin(const ltree_tree *tree, uint level, uint node, uint all)
{
    node_split split = split_plan(tree, level, node, all);

    if (split.nodes > 1 && team_lane() == 0)
        split.first_new = ordo_add(&tree->state[level == 0 ? LTREE_LEAVES : LTREE_INNER], split.nodes - 1);
    split.first_new = team_bcast(split.first_new, 0);
    return split;
}

typedef struct {
    uint j, slot, size;
} split_place;

ORDO_FN split_place split_where(const node_split *split, uint p)
{
    const node_share share = split->share;
    split_place      to = { 0, p, split->all };
    if (split->nodes == 1)
        return to;
    const uint in_larger = share.more * (share.even + 1);
    to.j = p < in_larger ? p / (share.even + 1) : share.more + (p - in_larger) / share.even;
    to.slot = p - share_first(share, to.j);
    to.size = share_size(share, to.j);
    return to;
}

/* Writes the words that do not depend on keys. The whole team must call. */
ORDO_FN void split_frame(const ltree_tree *tree, const node_split *split)
{
    for (uint j = 0; j < split->nodes; j++) {
        __global ordo_key_form *line = ltree_line(tree, split->level, split_number(split, j));
        const bool              last = j + 1 == split->nodes;
        const uint              size = share_size(split->share, j);
        for (uint slot = size + team_lane(); slot < LTREE_SLOTS; slot += TEAM_WIDTH)
            line[slot] = LTREE_UNUSED;
        if (team_lane() == LTREE_RIGHT % TEAM_WIDTH)
            line[LTREE_RIGHT] = LTREE_WORD(last ? split->right : split_number(split, j + 1));
        if (team_lane() == LTREE_HEADER % TEAM_WIDTH) {
            line[LTREE_HEADER] = LTREE_WORD(size);
            if (split->level == 0)
                tree->leaf_counts[split_number(split, j)] = size;
        }
        if (team_lane() == LTREE_HIGH % TEAM_WIDTH && last)
            line[LTREE_HIGH] = split->high;
    }
}

ORDO_FN void split_border(const ltree_tree *tree, const node_split *split, uint j, ordo_key_form border)
{
    ltree_line(tree, split->level, split_number(split, j))[LTREE_HIGH] = border;
    ltree_line(tree, split->level, split_number(split, j + 1))[LTREE_LOW] = border;
}

ORDO_FN void split_put_element(const ltree_tree *tree, const node_split *split, uint p, ordo_key_form key,
                               ltree_value value)
{
    const split_place to = split_where(split, p);
    const uint        leaf = split_number(split, to.j);

    ltree_leaf(tree, leaf)[to.slot] = key;
    if (HAS_VALUES)
        ltree_values(tree, leaf)[to.slot] = value;
    if (to.slot + 1 == to.size && to.j + 1 < split->nodes)
        split_border(tree, split, to.j, key);
}

ORDO_FN bool ltree_is_fresh(const ltree_tree *tree, uint node)
{
    return !(ordo_or(ltree_header(ltree_inner(tree, node)), LTREE_DIRTY) & LTREE_DIRTY);
}

/* If `has` is true, appends the lane's node to `list`, unless the node's flag LTREE_DIRTY is already set. All lanes of
 * a team must call this. */
ORDO_FN void ltree_mark_each(const ltree_tree *tree, uint level, uint node, bool has, __global uint *list)
{
    const bool      fresh = has && ltree_is_fresh(tree, node);
    const team_mask lanes = team_ballot(fresh);
    uint            first = 0;

    if (lanes != 0 && team_lane() == 0)
        first = ordo_add(&tree->state[LTREE_DIRTY_NODES + level], mask_count(lanes));
    first = team_bcast(first, 0);
    if (fresh)
        list[first + mask_count(lanes & team_lanes_below())] = node;
}
