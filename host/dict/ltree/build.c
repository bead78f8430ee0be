/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#define BUILD_FILE "dict/ltree/build.cl"

size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill)
{
    const size_t slots = ordo_ltree_slots(tree);
    return entries <= slots ? 1 : ordo_ceil_div(entries, slots * fill / 100);
}

static ordo_status build_leaves(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                                struct ordo_slice values, size_t count, size_t n_leaves)
{
    struct ordo_args args = ordo_ltree_args(tree);
    ordo_args_slice(&args, &keys);
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG_UINT(count), ORDO_ARG_UINT(n_leaves));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, BUILD_FILE, "build_leaves", ordo_ltree_flat(tree), n_leaves * tree->config.words);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status build_above(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, unsigned fill,
                               cl_uint *root, cl_uint *inner)
{
    cl_uint level = 0, first_child = 0, n = (cl_uint) leaves, first = 0;

    while (n > 1) {
        struct ordo_args args = ordo_ltree_args(tree);
        const cl_uint    nodes = (cl_uint) ordo_ltree_nodes_over(tree, n, fill);
        level++;
        ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(first_child), ORDO_ARG(n), ORDO_ARG(first), ORDO_ARG(nodes));
        const struct ordo_launch launch = ordo_ltree_kernel(tree, BUILD_FILE, "build_inner", ordo_ltree_flat(tree),
                                                            (size_t) nodes * tree->config.words);
        ORDO_TRY(ordo_call_launch(call, &launch, &args));
        first_child = first;
        first += nodes;
        n = nodes;
    }
    *root = level << LTREE_LEVEL_SHIFT | first_child;
    *inner = first;
    return ORDO_OK;
}

static ordo_status build_state(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint root, size_t n_leaves,
                               cl_uint inner, size_t count)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(tree->state), ORDO_ARG(root), ORDO_ARG_UINT(n_leaves), ORDO_ARG(inner),
             ORDO_ARG_UINT(count));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, BUILD_FILE, "build_state", (struct ordo_ltree_shape) { 1, 1, 0 }, 1);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status build_rest(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t count,
                              unsigned fill)
{
    cl_uint root = 0, inner = 0;
    ORDO_TRY(build_above(call, tree, leaves, fill, &root, &inner));
    ORDO_TRY(ordo_ltree_mark_free(call, tree, leaves, inner));
    return build_state(call, tree, root, leaves, inner, count);
}

static size_t leaves_for(const struct ordo_ltree *tree, size_t count, unsigned fill)
{
    const size_t most = ordo_ltree_leaves_allowed(tree, 0), leaves = ordo_ltree_nodes_over(tree, count, fill);
    return leaves > most && ordo_ltree_nodes_over(tree, count, 100) <= most ? most : leaves;
}

static void begin_anew(struct ordo_ltree *tree, size_t leaves, size_t count)
{
    tree->unchecked = tree->broken = tree->list.fresh = tree->counted = tree->planned = tree->underfull = false;
    tree->in_order = true;
    tree->leaves_max = leaves;
    tree->elements_max = count;
    tree->changes = tree->emptied = 0;
    ordo_runs_release(&tree->runs, &tree->rescue);
}

static void keep_run(struct ordo_ltree *tree, struct ordo_sorted_run *run)
{
    tree->unchecked = true;
    if (run == &tree->rescue)
        return;
    ordo_runs_release(&tree->runs, &tree->rescue);
    tree->rescue = *run;
    run->mem = NULL;
}

ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill)
{
    const struct ordo_slice keys = ordo_run_keys(run), values = ordo_run_values(&tree->dict, run);
    const size_t            count = run->count, leaves = leaves_for(tree, count, fill);
    struct ordo_ltree_pools old = tree->pools;

    ORDO_TRY(ordo_ltree_renew_pools(call, tree, leaves, fill < tree->config.fill_percent));
    const bool  in_place = tree->pools.leaf_keys == old.leaf_keys;
    ordo_status status = build_leaves(call, tree, keys, values, count, leaves);
    const bool  written = status == ORDO_OK;
    if (written)
        status = build_rest(call, tree, leaves, count, fill);
    if (status == ORDO_OK) {
        if (!in_place)
            ordo_ltree_drop_pools(tree, &old);
        begin_anew(tree, leaves, count);
    } else if (!in_place) {
        ordo_ltree_use_pools(tree, &old);
    } else if (written) {
        keep_run(tree, run);
    }
    return status;
}

ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree)
{
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG_UINT(tree->pools.leaves));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, BUILD_FILE, "count_leaves", ordo_ltree_flat(tree), tree->pools.leaves);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    tree->config = *config;
    if (config->words == 0)
        tree->config.words = LTREE_WORDS_USUAL;
    if (config->fill_percent == 0)
        tree->config.fill_percent = 90;
    if (config->raise_percent == 0)
        tree->config.raise_percent = 100;
    tree->runs.dict = ordo_dict_kind(&tree->dict);
    if (tree->config.fill_percent >= 50 && tree->config.fill_percent <= 100)
        return ORDO_OK;
    return ORDO_FAIL(dict->dev, ORDO_INVALID, "fill_percent is %u: it may be 50 to 100", config->fill_percent);
}

void ordo_ltree_clear(ordo_dict *dict)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    ordo_ltree_use_pools(tree, &(struct ordo_ltree_pools) { NULL });
    ordo_ltree_drop(tree, &tree->state, LTREE_STATE_WORDS * sizeof(cl_uint));
    ordo_ltree_drop_list(tree);
    ordo_runs_release(&tree->runs, &tree->rescue);
    ordo_runs_clear(&tree->runs.dict);
    tree->leaves_max = tree->elements_max = tree->changes = 0;
    tree->unchecked = tree->broken = tree->underfull = false;
}
