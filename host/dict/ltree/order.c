/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#include "dict/batch.h"

#define ORDER_FILE "dict/ltree/order.cl"

ordo_status ordo_ltree_begin_order(struct ordo_call *call, struct ordo_ltree *tree)
{
    ORDO_TRY(ordo_ltree_begin(call, tree));
    return ordo_ltree_list_leaves(call, tree);
}

ordo_status ordo_ltree_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_args   args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_begin_order(call, tree));
    ORDO_ADD(&args, ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &counts->lo);
    ordo_args_slice(&args, &counts->hi);
    ORDO_ADD(&args, ORDO_ARG_UINT(counts->count));
    ordo_args_slice(&args, &counts->counts);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, ORDER_FILE, "ltree_counts", ordo_ltree_search_shape(tree), counts->count);
    return ordo_call_launch(call, &launch, &args);
}

/* If at most this many leaves are empty, a seek visits them one after another. Otherwise it takes the next element from
 * the list of the leaves. */
#define EMPTY_MAX ((size_t) 8)

/* Returns how many leaves a seek visits after its first one, or 0 if it needs the list of the leaves. */
static cl_uint seek_steps(const struct ordo_ltree *tree)
{
    /* A tree that was built without elements has another empty leaf. */
    return tree->emptied <= EMPTY_MAX ? (cl_uint) tree->emptied + 2 : 0;
}

static ordo_status begin_seek(struct ordo_call *call, struct ordo_ltree *tree)
{
    ORDO_TRY(ordo_ltree_begin(call, tree));
    return seek_steps(tree) == 0 || ordo_is_dry_run(call->dev) ? ordo_ltree_list_leaves(call, tree) : ORDO_OK;
}

static ordo_status seek_some(struct ordo_call *call, const struct ordo_ltree *tree, const struct ordo_seeks *s,
                             cl_mem leaves, cl_mem positions)
{
    const cl_uint    steps = seek_steps(tree);
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_locate(call, tree, s->keys, s->count, leaves, positions, NULL));
    ORDO_ADD(&args, ORDO_ARG_UINT(tree->list.places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.place),
             ORDO_ARG(tree->list.before), ORDO_ARG_UINT(s->count), ORDO_ARG(leaves), ORDO_ARG(positions),
             ORDO_ARG_UINT(ordo_seeks_forward(s)), ORDO_ARG_UINT(s->relation == ORDO_LE || s->relation == ORDO_GT),
             ORDO_ARG(steps));
    ordo_args_slice(&args, &s->keys_out);
    ordo_args_slice(&args, &s->values_out);
    ordo_args_slice(&args, &s->found);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, ORDER_FILE, "ltree_seek", ordo_ltree_flat(tree), s->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    const int          mark = call->n_scratch;
    const size_t       most = ordo_min_size(seeks->count, ORDO_LTREE_QUERIES_MAX);
    cl_mem             leaves = NULL, positions = NULL;

    ORDO_TRY(begin_seek(call, tree));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &leaves));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &positions));
    for (size_t at = 0; at < seeks->count; at += most) {
        const struct ordo_seeks part = ordo_seeks_from(seeks, at, most);
        ORDO_TRY(seek_some(call, tree, &part, leaves, positions));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_ltree_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_args   args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_begin_order(call, tree));
    ORDO_ADD(&args, ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &ranks->keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(ranks->count), ORDO_ARG_UINT(ranks->upper));
    ordo_args_slice(&args, &ranks->ranks);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, ORDER_FILE, "ltree_ranks", ordo_ltree_search_shape(tree), ranks->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_args   args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_begin_order(call, tree));
    ORDO_ADD(&args, ORDO_ARG_UINT(tree->list.places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &selects->ranks);
    ORDO_ADD(&args, ORDO_ARG_UINT(selects->count));
    ordo_args_slice(&args, &selects->keys_out);
    ordo_args_slice(&args, &selects->values_out);
    ordo_args_slice(&args, &selects->found);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, ORDER_FILE, "ltree_select", ordo_ltree_flat(tree), selects->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    cl_uint            state[LTREE_STATE_WORDS];
    ORDO_TRY(ordo_ltree_begin(call, tree));
    ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    *out = state[LTREE_ELEMENTS];
    return ORDO_OK;
}

ordo_status ordo_ltree_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_args   args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_size(dict, call, count));
    if (*count > capacity)
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "%zu elements, and room for %zu", *count, capacity);
    ORDO_TRY(ordo_ltree_list_leaves(call, tree));
    ORDO_ADD(&args, ORDO_ARG_UINT(tree->list.places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &keys_out);
    ordo_args_slice(&args, &values_out);
    const struct ordo_launch launch = ordo_ltree_kernel(tree, "dict/ltree/list.cl", "list_export",
                                                        ordo_ltree_flat(tree), tree->list.places * tree->config.words);
    return ordo_call_launch(call, &launch, &args);
}
