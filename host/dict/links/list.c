/* SPDX-License-Identifier: Apache-2.0 */
/* The leaves of a linked tree in key order. */
#include "dict/links/links.h"

#include "primitive/scan.h"
#include "primitive/sort.h"

#define BUILD_FILE "dict/links/build.cl"

void ordo_links_drop_list(struct ordo_links *tree)
{
    const size_t bytes = tree->list.room * sizeof(cl_uint);
    ordo_links_drop(tree, &tree->list.order, bytes);
    ordo_links_drop(tree, &tree->list.place, bytes);
    ordo_links_drop(tree, &tree->list.before, bytes + sizeof(cl_uint));
    tree->list = (struct ordo_links_list) { .room = 0 };
}

static ordo_status create_list(struct ordo_call *call, struct ordo_links *tree)
{
    const size_t bytes = tree->list.room * sizeof(cl_uint);
    ORDO_TRY(ordo_links_buffer(call, tree, bytes, &tree->list.order));
    ORDO_TRY(ordo_links_buffer(call, tree, bytes, &tree->list.place));
    return ordo_links_buffer(call, tree, bytes + sizeof(cl_uint), &tree->list.before);
}

static ordo_status make_room(struct ordo_call *call, struct ordo_links *tree)
{
    if (tree->list.room >= tree->leaves_most)
        return ORDO_OK;
    ordo_links_drop_list(tree);
    tree->list.room = tree->pools.leaves;
    const ordo_status status = create_list(call, tree);
    if (status != ORDO_OK)
        ordo_links_drop_list(tree);
    return status;
}

/* Leaves by their lows, which are all different but for the first leaf's and, it may be, the next one's: both 0, and
 * the sort is stable, and the first leaf has number 0. */
static ordo_status sort_leaves(struct ordo_call *call, const struct ordo_links *tree, size_t count)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    /* lows are ordered forms: unsigned */
    const struct ordo_sort_params params = { .key = tree->dict.key_bytes == 8 ? ORDO_U64 : ORDO_U32,
                                             .value_bytes = sizeof(cl_uint) };
    const cl_uint                 places = (cl_uint) count;
    struct ordo_args              args = { .n = 0 };
    const int                     mark = call->n_scratch;
    cl_mem                        lows = NULL, sorted = NULL, leaves = NULL;

    ORDO_TRY(ordo_call_scratch(call, count * tree->dict.key_bytes, &lows));
    ORDO_TRY(ordo_call_scratch(call, count * tree->dict.key_bytes, &sorted));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &leaves));
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(lows), ORDO_ARG(leaves));
    ORDO_TRY(ordo_links_launch(call, tree, BUILD_FILE, "list_lows", &shape, count, &args));
    ORDO_TRY(ordo_call_sort(call, &params, ordo_at(lows, 0), ordo_at(leaves, 0), ordo_at(sorted, 0),
                            ordo_at(tree->list.order, 0), count));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_links_list_leaves(struct ordo_call *call, struct ordo_links *tree)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_links_list       *list = &tree->list;
    struct ordo_args              args = { .n = 0 };

    if (list->fresh)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(make_room(call, tree));
    list->places = tree->leaves_most;
    const cl_uint places = (cl_uint) list->places, sorted = tree->in_order;
    if (!sorted)
        ORDO_TRY(sort_leaves(call, tree, list->places));
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(sorted), ORDO_ARG(list->order), ORDO_ARG(list->place),
             ORDO_ARG(list->before));
    ORDO_TRY(ordo_links_launch(call, tree, BUILD_FILE, "list_places", &shape, list->places + 1, &args));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_SUM,
                                    .in = ordo_at(list->before, 0),
                                    .out = ordo_at(list->before, 0),
                                    .count = list->places + 1 };
    ORDO_TRY(ordo_call_scan(call, &scan));
    list->fresh = true;
    return ORDO_OK;
}
