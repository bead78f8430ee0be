/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#define RECLAIM_FILE "dict/ltree/reclaim.cl"

static ordo_status reclaim_leaves(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves)
{
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_call_fill(call, tree->state, LTREE_DEAD * sizeof(cl_uint), sizeof(cl_uint), 0));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, RECLAIM_FILE, "reclaim_leaves", ordo_ltree_flat(tree), leaves);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status reclaim_level(struct ordo_call *call, const struct ordo_ltree *tree, const char *kernel,
                                 cl_uint level, size_t nodes)
{
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[level % 2]));
    const struct ordo_launch launch = ordo_ltree_kernel(tree, RECLAIM_FILE, kernel, ordo_ltree_flat(tree), nodes);
    return ordo_call_launch(call, &launch, &args);
}

/* Must not allocate memory. */
static ordo_status reclaim(struct ordo_call *call, const struct ordo_ltree *tree, const cl_uint *state)
{
    const cl_uint top = (state[LTREE_ROOT] & ~LTREE_ROOT_LATCHED) >> LTREE_LEVEL_SHIFT;
    const size_t  inner = state[LTREE_INNER];

    ORDO_TRY(reclaim_leaves(call, tree, state[LTREE_LEAVES]));
    for (cl_uint level = 1; level <= top; level++) {
        ORDO_TRY(ordo_ltree_list_level(call, tree, level, top, inner));
        ORDO_TRY(reclaim_level(call, tree, "reclaim_entries", level, inner));
        ORDO_TRY(reclaim_level(call, tree, "reclaim_links", level, inner));
    }
    return ordo_ltree_forget_lists(call, tree, 0, LTREE_LEVELS_MAX + 1);
}

ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS])
{
    if (!tree->config.merges || state[LTREE_ZOMBIES] == 0)
        return ORDO_OK;
    ORDO_TRY(reclaim(call, tree, state));
    ORDO_TRY(ordo_call_fill(call, tree->state, LTREE_ZOMBIES * sizeof(cl_uint), sizeof(cl_uint), 0));
    state[LTREE_ZOMBIES] = 0;
    return ordo_call_read(call, tree->state, LTREE_DEAD * sizeof(cl_uint), &state[LTREE_DEAD], sizeof(cl_uint));
}
