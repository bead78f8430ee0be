/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"

#define MODULE "dict/trie/hamt_nodes.cl"

ordo_status ordo_hamt_number_nodes(struct ordo_call *call, const struct ordo_hamt *hamt,
                                   const struct ordo_hamt_trie *trie, cl_mem *number, size_t *nodes)
{
    const size_t     heads = HAMT_LEVELS(8 * (size_t) hamt->dict.key_bytes) * trie->n_leaves;
    struct ordo_args args = { .n = 0 };
    cl_uint          all = 0;

    ORDO_REQUIRE(call->dev, heads < ORDO_MAX_COUNT, ORDO_TOO_LARGE,
                 "%u leaves of a trie of fixed depth need up to %zu nodes: it may have %zu (ORDO_MAX_COUNT)",
                 (unsigned) trie->n_leaves, heads, ORDO_MAX_COUNT);
    ORDO_TRY(ordo_call_scratch(call, (heads + 1) * sizeof(cl_uint), number));
    ORDO_ADD(&args, ORDO_ARG(trie->leaves.mem), ORDO_ARG(trie->n_leaves), ORDO_ARG(*number));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_node_heads", trie->n_leaves);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, *number, heads + 1));
    ORDO_TRY(ordo_call_read(call, *number, heads * sizeof all, &all, sizeof all));
    *nodes = ordo_is_dry_run(call->dev) ? 1 : all;
    return ORDO_OK;
}

ordo_status ordo_hamt_nodes(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *trie,
                            cl_mem number, cl_mem wrong)
{
    struct ordo_args args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(trie->leaves.mem), ORDO_ARG(number), ORDO_ARG(trie->n_leaves), ORDO_ARG(trie->rank_bits),
             ORDO_ARG(trie->tables.mem), ORDO_ARG(wrong));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_nodes", trie->n_leaves);
    return ordo_call_launch(call, &launch, &args);
}
