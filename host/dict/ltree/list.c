/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#include "primitive/scan.h"
#include "primitive/sort.h"

#define LIST_FILE "dict/ltree/list.cl"

void ordo_ltree_drop_list(struct ordo_ltree *tree)
{
    const size_t bytes = tree->list.capacity * sizeof(cl_uint);
    ordo_ltree_drop(tree, &tree->list.order, bytes);
    ordo_ltree_drop(tree, &tree->list.place, bytes);
    ordo_ltree_drop(tree, &tree->list.before, bytes + sizeof(cl_uint));
    tree->list = (struct ordo_ltree_list) { .capacity = 0 };
}

static ordo_status create_list(struct ordo_call *call, struct ordo_ltree *tree)
{
    const size_t bytes = tree->list.capacity * sizeof(cl_uint);
    ORDO_TRY(ordo_ltree_buffer(call, tree, bytes, &tree->list.order));
    ORDO_TRY(ordo_ltree_buffer(call, tree, bytes, &tree->list.place));
    return ordo_ltree_buffer(call, tree, bytes + sizeof(cl_uint), &tree->list.before);
}

static ordo_status reserve_list(struct ordo_call *call, struct ordo_ltree *tree)
{
    if (tree->list.capacity >= tree->leaves_max)
        return ORDO_OK;
    ordo_ltree_drop_list(tree);
    tree->list.capacity = tree->pools.leaves;
    const ordo_status status = create_list(call, tree);
    if (status != ORDO_OK)
        ordo_ltree_drop_list(tree);
    return status;
}

/* Sorts leaves by low bound. Leaf 0 and the next leaf can both have bound 0: the sort is stable, and keeps them in
 * order. */
static ordo_status sort_leaves(struct ordo_call *call, const struct ordo_ltree *tree, size_t count)
{
    const struct ordo_sort_params params = { .key = ordo_dict_form_type(&tree->dict), .value_bytes = sizeof(cl_uint) };
    struct ordo_args              args = ordo_ltree_args(tree);
    const int                     mark = call->n_scratch;
    cl_mem                        lows = NULL, sorted = NULL, leaves = NULL;

    ORDO_TRY(ordo_call_scratch(call, count * tree->dict.key_bytes, &lows));
    ORDO_TRY(ordo_call_scratch(call, count * tree->dict.key_bytes, &sorted));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &leaves));
    ORDO_ADD(&args, ORDO_ARG_UINT(count), ORDO_ARG(lows), ORDO_ARG(leaves));
    const struct ordo_launch launch = ordo_ltree_kernel(tree, LIST_FILE, "list_lows", ordo_ltree_flat(tree), count);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sort(call, &params, ordo_at(lows, 0), ordo_at(leaves, 0), ordo_at(sorted, 0),
                            ordo_at(tree->list.order, 0), count));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree)
{
    struct ordo_ltree_list *list = &tree->list;
    struct ordo_args        args = ordo_ltree_args(tree);

    if (list->fresh)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(reserve_list(call, tree));
    list->places = tree->leaves_max;
    const cl_uint sorted = tree->in_order;
    if (!sorted)
        ORDO_TRY(sort_leaves(call, tree, list->places));
    ORDO_ADD(&args, ORDO_ARG_UINT(list->places), ORDO_ARG(sorted), ORDO_ARG(list->order), ORDO_ARG(list->place),
             ORDO_ARG(list->before));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, LIST_FILE, "list_places", ordo_ltree_flat(tree), list->places + 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_SUM,
                                    .in = ordo_at(list->before, 0),
                                    .out = ordo_at(list->before, 0),
                                    .count = list->places + 1 };
    ORDO_TRY(ordo_call_scan(call, &scan));
    list->fresh = true;
    return ORDO_OK;
}
