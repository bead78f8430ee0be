/* SPDX-License-Identifier: Apache-2.0 */
/* The levels above the leaves of a linked tree take in what has split below: launches of cl/dict/links/update.cl. They need no
 * memory but what the pools have, so that nothing is in the way of seeing a change through. */
#include "dict/links/links.h"

#define UPDATE_FILE "dict/links/update.cl"

/* Work-items of the group that takes the levels near the root. */
#define TOP_GROUP 512

/* Levels of no more nodes than this are taken by one group, in one launch. */
#define TOP_NODES 1024

/* Teams that take the nodes of a level. */
#define LEVEL_TEAMS ((size_t) 1 << 14)

static ordo_status update_level(struct ordo_call *call, const struct ordo_links *tree, cl_uint level, size_t nodes)
{
    const cl_mem *const           list = tree->pools.dirty;
    const struct ordo_links_shape shape = ordo_links_teams(tree, 0);
    struct ordo_args              args = { .n = 0 };
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(list[level % 2]), ORDO_ARG(list[(level + 1) % 2]));
    return ordo_links_launch(call, tree, UPDATE_FILE, "update_level", &shape, ordo_min_size(nodes, LEVEL_TEAMS), &args);
}

static ordo_status update_top(struct ordo_call *call, const struct ordo_links *tree, cl_uint level)
{
    /* of lanes that do not talk a large group is no use */
    const bool                    talk = ordo_device_facts(tree->dict.dev)->sub_group > 1;
    const struct ordo_links_shape shape = ordo_links_teams(tree, talk ? TOP_GROUP : 0);
    struct ordo_args              args = { .n = 0 };
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[0]), ORDO_ARG(tree->pools.dirty[1]));
    return ordo_links_launch(call, tree, UPDATE_FILE, "update_top", &shape, 1, &args);
}

ordo_status ordo_links_update_above(struct ordo_call *call, struct ordo_links *tree, size_t leaves, size_t splits)
{
    cl_uint level = 1;
    /* What levels have at most, as far as launches go. */
    size_t nodes = leaves / ordo_links_share(tree);

    for (; nodes > TOP_NODES; level++, nodes /= ordo_links_share(tree))
        ORDO_TRY(update_level(call, tree, level, ordo_min_size(nodes, splits)));
    ORDO_TRY(update_top(call, tree, level));
    tree->planned = false;
    return ORDO_OK;
}

/* ---- where it is not known who has split ------------------------------------------------------------------------- */

ordo_status ordo_links_forget_lists(struct ordo_call *call, const struct ordo_links *tree, cl_uint level,
                                    cl_uint levels)
{
    return ordo_call_fill(call, tree->state, (LINKS_DIRTY_NODES + level) * sizeof(cl_uint), levels * sizeof(cl_uint),
                          0);
}

static ordo_status list_root(struct ordo_call *call, const struct ordo_links *tree, cl_uint top)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_args              args = { .n = 0 };
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(tree->pools.dirty[top % 2]));
    return ordo_links_launch(call, tree, UPDATE_FILE, "list_root", &shape, 1, &args);
}

static ordo_status list_below(struct ordo_call *call, const struct ordo_links *tree, cl_uint level, size_t inner)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_args              args = { .n = 0 };
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(tree->pools.dirty[level % 2]),
             ORDO_ARG(tree->pools.dirty[(level + 1) % 2]));
    return ordo_links_launch(call, tree, UPDATE_FILE, "list_below", &shape, inner * ordo_links_slots(tree), &args);
}

/* As the list of those that have entries to take in; none on that of the level above. */
ordo_status ordo_links_list_level(struct ordo_call *call, const struct ordo_links *tree, cl_uint level, cl_uint top,
                                  size_t inner)
{
    ORDO_TRY(ordo_links_forget_lists(call, tree, 0, LINKS_LEVELS_MAX + 1));
    ORDO_TRY(list_root(call, tree, top));
    for (cl_uint above = top; above > level; above--)
        ORDO_TRY(list_below(call, tree, above, inner));
    return level < top ? ordo_links_forget_lists(call, tree, level + 1, 1) : ORDO_OK;
}

/* From the leaves up: each level is whole when the one above fetches from it. Every level is listed from the root down
 * again, as nodes of the one above have split since; there are few levels. */
ordo_status ordo_links_rebuild_levels(struct ordo_call *call, struct ordo_links *tree, const cl_uint *state)
{
    const cl_uint top = (state[LINKS_ROOT] & ~LINKS_ROOT_LATCHED) >> LINKS_LEVEL_SHIFT;

    for (cl_uint level = 1; level < top; level++) {
        ORDO_TRY(ordo_links_list_level(call, tree, level, top, state[LINKS_INNER]));
        ORDO_TRY(update_level(call, tree, level, tree->pools.inner));
    }
    ORDO_TRY(top > 0 ? ordo_links_list_level(call, tree, top, top, 0)
                     : ordo_links_forget_lists(call, tree, 0, LINKS_LEVELS_MAX + 1));
    ORDO_TRY(update_top(call, tree, top > 0 ? top : 1));
    return ordo_call_fill(call, tree->state, LINKS_SPLITS_PENDING * sizeof(cl_uint), sizeof(cl_uint), 0);
}
