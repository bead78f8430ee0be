/* SPDX-License-Identifier: Apache-2.0 */
/* Zombies are taken out of a skiplist's levels: launches of cl/dict/skiplist/reclaim.cl. */
#include "dict/skiplist/skiplist.h"

#define RECLAIM_FILE "dict/skiplist/reclaim.cl"

static ordo_status reclaim_leaves(struct ordo_call *call, const struct ordo_links *tree, size_t leaves)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(ordo_call_fill(call, tree->state, LINKS_DEAD * sizeof(cl_uint), sizeof(cl_uint), 0));
    ordo_links_add_tree(&args, tree);
    return ordo_links_launch(call, tree, RECLAIM_FILE, "reclaim_leaves", &shape, leaves, &args);
}

static ordo_status reclaim_level(struct ordo_call *call, const struct ordo_links *tree, const char *kernel,
                                 cl_uint level, size_t nodes)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[level % 2]));
    return ordo_links_launch(call, tree, RECLAIM_FILE, kernel, &shape, nodes, &args);
}

ordo_status ordo_skiplist_reclaim(struct ordo_call *call, struct ordo_links *tree, const cl_uint *state)
{
    const cl_uint top = (state[LINKS_ROOT] & ~LINKS_ROOT_LATCHED) >> LINKS_LEVEL_SHIFT;
    const size_t  inner = state[LINKS_INNER];

    ORDO_TRY(reclaim_leaves(call, tree, state[LINKS_LEAVES]));
    for (cl_uint level = 1; level <= top; level++) {
        ORDO_TRY(ordo_links_list_level(call, tree, level, top, inner));
        ORDO_TRY(reclaim_level(call, tree, "reclaim_entries", level, inner));
        ORDO_TRY(reclaim_level(call, tree, "reclaim_links", level, inner));
    }
    return ordo_links_forget_lists(call, tree, 0, LINKS_LEVELS_MAX + 1);
}
