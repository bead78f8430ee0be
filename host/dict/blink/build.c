/* SPDX-License-Identifier: Apache-2.0 */
/* A B-link tree made of sorted elements. */
#include "dict/blink/blink.h"

#define BUILD_FILE "dict/blink/build.cl"

size_t ordo_blink_nodes_over(size_t entries, unsigned fill)
{
    return entries <= BLINK_SLOTS ? 1 : ordo_ceil_div(entries, (size_t) BLINK_SLOTS * fill / 100);
}

static ordo_status build_leaves(struct ordo_call *call, const struct ordo_blink *tree, struct ordo_slice keys,
                                struct ordo_slice values, size_t count, size_t n_leaves)
{
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    const cl_uint                 n = (cl_uint) count, leaves = (cl_uint) n_leaves;
    struct ordo_args              args = { .n = 0 };
    ordo_blink_add_tree(&args, tree);
    ordo_args_slice(&args, &keys);
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(leaves));
    return ordo_blink_launch(call, tree, BUILD_FILE, "build_leaves", &shape, n_leaves * BLINK_WORDS, &args);
}

/* The levels above the leaves, up to one node. *root and *inner: the root word, and how many inner nodes there are. */
static ordo_status build_above(struct ordo_call *call, const struct ordo_blink *tree, size_t leaves, unsigned fill,
                               cl_uint *root, cl_uint *inner)
{
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    cl_uint                       level = 0, first_child = 0, n = (cl_uint) leaves, first = 0;

    while (n > 1) {
        struct ordo_args args = { .n = 0 };
        const cl_uint    nodes = (cl_uint) ordo_blink_nodes_over(n, fill);
        level++;
        ordo_blink_add_tree(&args, tree);
        ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(first_child), ORDO_ARG(n), ORDO_ARG(first), ORDO_ARG(nodes));
        ORDO_TRY(ordo_blink_launch(call, tree, BUILD_FILE, "build_inner", &shape, (size_t) nodes * BLINK_WORDS, &args));
        first_child = first;
        first += nodes;
        n = nodes;
    }
    *root = level << BLINK_LEVEL_SHIFT | first_child;
    *inner = first;
    return ORDO_OK;
}

static ordo_status build_state(struct ordo_call *call, const struct ordo_blink *tree, cl_uint root, size_t n_leaves,
                               cl_uint inner, size_t count)
{
    const struct ordo_blink_shape shape = { 1, 1, 0 };
    const cl_uint                 leaves = (cl_uint) n_leaves, elements = (cl_uint) count;
    struct ordo_args              args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(tree->state), ORDO_ARG(root), ORDO_ARG(leaves), ORDO_ARG(inner), ORDO_ARG(elements));
    return ordo_blink_launch(call, tree, BUILD_FILE, "build_state", &shape, 1, &args);
}

static ordo_status build_all(struct ordo_call *call, struct ordo_blink *tree, struct ordo_slice keys,
                             struct ordo_slice values, size_t count, size_t leaves, unsigned fill)
{
    cl_uint root = 0, inner = 0;
    ORDO_TRY(build_leaves(call, tree, keys, values, count, leaves));
    ORDO_TRY(build_above(call, tree, leaves, fill, &root, &inner));
    ORDO_TRY(ordo_blink_mark_free(call, tree, leaves, inner));
    return build_state(call, tree, root, leaves, inner, count);
}

ordo_status ordo_blink_bulk_build(struct ordo_call *call, struct ordo_blink *tree, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, unsigned fill)
{
    const size_t leaves = ordo_blink_nodes_over(count, fill);

    ORDO_TRY(ordo_blink_renew_pools(call, tree, leaves, fill < tree->config.fill_percent));
    tree->in_doubt = true;
    ORDO_TRY(build_all(call, tree, keys, values, count, leaves, fill));
    tree->in_doubt = tree->broken = tree->list.fresh = tree->counted = tree->planned = tree->underfull = false;
    tree->in_order = true;
    tree->leaves_most = leaves;
    tree->elements_most = count;
    tree->changes = 0;
    return ORDO_OK;
}

ordo_status ordo_blink_count_leaves(struct ordo_call *call, const struct ordo_blink *tree)
{
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    const cl_uint                 capacity = (cl_uint) tree->leaf_capacity;
    struct ordo_args              args = { .n = 0 };
    ordo_blink_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(capacity));
    return ordo_blink_launch(call, tree, BUILD_FILE, "count_leaves", &shape, tree->leaf_capacity, &args);
}

void ordo_blink_clear(ordo_dict *dict)
{
    struct ordo_blink *tree = ordo_blink_of(dict);
    ordo_blink_drop_pools(tree);
    ordo_blink_drop_list(tree);
    ordo_runs_clear(&tree->runs.dict);
    tree->leaves_most = tree->elements_most = tree->changes = 0;
    tree->in_doubt = tree->broken = tree->underfull = false;
}
