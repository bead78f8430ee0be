/* SPDX-License-Identifier: Apache-2.0 */
/* Adds entries for the new nodes of splits to the levels above. Allocates no memory, so that no change stays incomplete
 * for lack of memory. */
#include "dict/ltree/ltree.h"

#define LEVELS_FILE "dict/ltree/levels.cl"

#define TOP_GROUP 512

#define TOP_NODES  1024
#define TOP_SPLITS 128

#define LEVEL_TEAMS ((size_t) 1 << 14)

static ordo_status update_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, size_t nodes)
{
    const cl_mem *const list = tree->pools.dirty;
    struct ordo_args    args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(list[level % 2]), ORDO_ARG(list[(level + 1) % 2]));
    const struct ordo_launch launch = ordo_ltree_kernel(tree, LEVELS_FILE, "update_level", ordo_ltree_teams(tree, 0),
                                                        ordo_min_size(nodes, LEVEL_TEAMS));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status update_top(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level)
{
    /* Without sub-groups, a large work-group is not faster. */
    const bool       talk = ordo_device_facts(tree->dict.dev)->sub_group > 1;
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[0]), ORDO_ARG(tree->pools.dirty[1]));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, LEVELS_FILE, "update_top", ordo_ltree_narrow(tree, talk ? TOP_GROUP : 0), 1);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits)
{
    const size_t share = ordo_ltree_share(tree);
    size_t       nodes = leaves / share;
    cl_uint      level = 1;

    for (; nodes > TOP_NODES && splits > TOP_SPLITS; level++, nodes /= share, splits /= share)
        ORDO_TRY(update_level(call, tree, level, ordo_min_size(nodes, splits)));
    ORDO_TRY(update_top(call, tree, level));
    tree->planned = false;
    return ORDO_OK;
}

/* ---- unlisted splits --------------------------------------------------------------------------------------------- */

ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels)
{
    return ordo_call_fill(call, tree->state, (LTREE_DIRTY_NODES + level) * sizeof(cl_uint), levels * sizeof(cl_uint),
                          0);
}

static ordo_status list_root(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint top)
{
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(tree->pools.dirty[top % 2]));
    const struct ordo_launch launch = ordo_ltree_kernel(tree, LEVELS_FILE, "list_root", ordo_ltree_flat(tree), 1);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status list_below(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, size_t inner)
{
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[level % 2]),
             ORDO_ARG(tree->pools.dirty[(level + 1) % 2]));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, LEVELS_FILE, "list_below", ordo_ltree_flat(tree), inner * ordo_ltree_slots(tree));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner)
{
    ORDO_TRY(ordo_ltree_forget_lists(call, tree, 0, LTREE_LEVELS_MAX + 1));
    ORDO_TRY(list_root(call, tree, top));
    for (cl_uint above = top; above > level; above--)
        ORDO_TRY(list_below(call, tree, above, inner));
    return level < top ? ordo_ltree_forget_lists(call, tree, level + 1, 1) : ORDO_OK;
}

ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state)
{
    const cl_uint top = (state[LTREE_ROOT] & ~LTREE_ROOT_LATCHED) >> LTREE_LEVEL_SHIFT;

    for (cl_uint level = 1; level < top; level++) {
        ORDO_TRY(ordo_ltree_list_level(call, tree, level, top, state[LTREE_INNER]));
        ORDO_TRY(update_level(call, tree, level, tree->pools.inner));
    }
    ORDO_TRY(top > 0 ? ordo_ltree_list_level(call, tree, top, top, 0)
                     : ordo_ltree_forget_lists(call, tree, 0, LTREE_LEVELS_MAX + 1));
    ORDO_TRY(update_top(call, tree, top > 0 ? top : 1));
    return ordo_call_fill(call, tree->state, LTREE_SPLITS_PENDING * sizeof(cl_uint), sizeof(cl_uint), 0);
}
