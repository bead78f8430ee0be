/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#define FIND_FILE "dict/ltree/find.cl"

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_args   args = ordo_ltree_args(tree);

    ORDO_TRY(ordo_ltree_begin(call, tree));
    ordo_args_slice(&args, &finds->keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(finds->count));
    ordo_args_slice(&args, &finds->values_out);
    ordo_args_slice(&args, &finds->found);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, FIND_FILE, "ltree_find", ordo_ltree_search_shape(tree), finds->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch)
{
    struct ordo_args args = ordo_ltree_args(tree);

    ordo_args_slice(&args, &batch->codes);
    ordo_args_slice(&args, &batch->keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(batch->count));
    ordo_args_slice(&args, &batch->values_out);
    ordo_args_slice(&args, &batch->found);
    ordo_args_slice(&args, &batch->outcomes);
    ORDO_ADD(&args, ORDO_ARG(tree->history));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, FIND_FILE, "ltree_find_in_batch", ordo_ltree_search_shape(tree), batch->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent)
{
    struct ordo_args args = ordo_ltree_args(tree);

    ordo_args_slice(&args, &batch->codes);
    ordo_args_slice(&args, &batch->keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(batch->count), ORDO_ARG(step), ORDO_ARG(absent));
    const struct ordo_launch launch = ordo_ltree_kernel(tree, FIND_FILE, "ltree_absent", ordo_ltree_search_shape(tree),
                                                        ordo_ceil_div(batch->count, step));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents)
{
    struct ordo_args args = ordo_ltree_args(tree);

    ordo_args_slice(&args, &keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(count), ORDO_ARG(leaves), ORDO_ARG(positions), ORDO_ARG(parents));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, FIND_FILE, "ltree_locate", ordo_ltree_search_shape(tree), count);
    return ordo_call_launch(call, &launch, &args);
}
