/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent batch collects its updates in a draft: a hash table, and a trie of the same keys in order. This file
 * allocates this trie, and lists the updates in key order. */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"

#define MODULE "dict/trie/hamt_collect.cl"

static struct ordo_launch pass(const struct ordo_hamt *hamt, const char *kernel, size_t items)
{
    return ordo_hamt_kernel(hamt, MODULE, kernel, ordo_dict_pass_items(hamt->dict.dev, items));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t levels_of(const struct ordo_hamt *hamt)
{
    return HAMT_LEVELS(8 * hamt->dict.key_bytes);
}

static size_t prefixes(const struct ordo_hamt *hamt, size_t operations, size_t bits)
{
    const size_t left = bits < 8 * hamt->dict.key_bytes ? 8 * hamt->dict.key_bytes - bits : 0;
    return left >= 32 ? operations : ordo_min_size(operations, (size_t) 1 << left);
}

static void measure(const struct ordo_hamt *hamt, size_t operations, struct ordo_draft *draft)
{
    draft->most_leaves = (cl_uint) prefixes(hamt, operations, HAMT_BITS);
    draft->most_nodes = 0;
    for (size_t level = 0; level < levels_of(hamt); level++)
        draft->most_nodes += (cl_uint) prefixes(hamt, operations, HAMT_BITS + HAMT_LEVEL_BITS * (level + 1));
}

static size_t node_bytes(const struct ordo_draft *draft)
{
    return (size_t) draft->most_nodes * HAMT_NODE * sizeof(cl_uint);
}

static size_t leaf_bytes(const struct ordo_draft *draft)
{
    return (size_t) draft->most_leaves * HAMT_WORDS * sizeof(cl_uint);
}

#define DRAFT_BYTES ((size_t) 1 << 30)

size_t ordo_hamt_draft_operations(const struct ordo_hamt *hamt, size_t operations)
{
    struct ordo_draft draft;

    for (measure(hamt, operations, &draft); node_bytes(&draft) + leaf_bytes(&draft) > DRAFT_BYTES; operations /= 2)
        measure(hamt, operations / 2, &draft);
    return operations;
}

ordo_status ordo_hamt_draft_begin(const struct ordo_draft_batch *b, size_t operations, struct ordo_draft *draft)
{
    const struct ordo_hamt *hamt = ordo_hamt_of(b->dict);
    const size_t            word = sizeof(cl_uint), top = HAMT_DRAFT_LEVELS + levels_of(hamt) - 1;

    measure(hamt, operations, draft);
    ORDO_TRY(ordo_draft_zeros(b->call, node_bytes(draft), &draft->nodes));
    ORDO_TRY(ordo_draft_zeros(b->call, leaf_bytes(draft), &draft->leaves));
    ORDO_TRY(ordo_call_fill(b->call, b->state, HAMT_DRAFT_NODES * word, word, 1)); /* Counts the root as allocated. */
    return ordo_call_fill(b->call, b->state, top * word, word, 1);
}

/* ---- reading in key order ---------------------------------------------------------------------------------------- */

/* Nodes of a level, or leaves, in key order. firsts[k] is the least possible key below nodes[k]. counts[k] is the
 * number of children of nodes[0] to nodes[k - 1]. For leaves, it counts keys instead. */
struct list {
    cl_mem nodes, firsts, counts;
    size_t n;
};

static ordo_status begin_list(struct ordo_call *call, const struct ordo_hamt *hamt, size_t n, struct list *out)
{
    *out = (struct list) { .n = n };
    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), &out->nodes));
    ORDO_TRY(ordo_call_scratch(call, n * hamt->dict.key_bytes, &out->firsts));
    return ordo_call_scratch(call, (n + 1) * sizeof(cl_uint), &out->counts);
}

static ordo_status count(struct ordo_call *call, const struct ordo_hamt *hamt, const char *kernel, cl_mem nodes,
                         const struct list *list)
{
    const struct ordo_launch launch = pass(hamt, kernel, list->n + 1);
    struct ordo_args         args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(nodes), ORDO_ARG(list->nodes), ORDO_ARG_UINT(list->n), ORDO_ARG(list->counts));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_sum_before(call, ORDO_U32, list->counts, list->n + 1);
}

static ordo_status descend(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_draft *draft,
                           size_t level, size_t n, struct list *list)
{
    const struct ordo_launch launch = pass(hamt, "hamt_descend", list->n);
    struct ordo_args         args = { .n = 0 };
    struct list              next;

    ORDO_TRY(count(call, hamt, "hamt_children", draft->nodes, list));
    ORDO_TRY(begin_list(call, hamt, n, &next));
    ORDO_ADD(&args, ORDO_ARG(draft->nodes), ORDO_ARG(list->nodes), ORDO_ARG(list->firsts), ORDO_ARG_UINT(list->n),
             ORDO_ARG(list->counts), ORDO_ARG_UINT(level), ORDO_ARG(next.nodes), ORDO_ARG(next.firsts));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    *list = next;
    return ORDO_OK;
}

static ordo_status list_leaves(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_draft *draft,
                               const cl_uint *words, struct list *list)
{
    ORDO_TRY(begin_list(call, hamt, 1, list));
    ORDO_TRY(ordo_call_fill(call, list->nodes, 0, sizeof(cl_uint), 0));
    ORDO_TRY(ordo_call_fill(call, list->firsts, 0, hamt->dict.key_bytes, 0));
    for (size_t level = levels_of(hamt); level-- > 0 && list->n > 0;) {
        size_t n = words[level > 0 ? HAMT_DRAFT_LEVELS + level - 1 : HAMT_DRAFT_LEAVES];
        if (ordo_is_dry_run(call->dev))
            n = 1;
        if (n == 0)
            list->n = 0;
        else
            ORDO_TRY(descend(call, hamt, draft, level, n, list));
    }
    return ORDO_OK;
}

ordo_status ordo_hamt_draft_collect(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                                    const struct ordo_draft_window *window, struct ordo_draft_updates *out)
{
    const struct ordo_hamt *hamt = ordo_hamt_of(b->dict);
    struct ordo_args        args = { .n = 0 };
    struct list             list;
    cl_uint                 n = 0;

    ORDO_TRY(list_leaves(b->call, hamt, draft, b->words, &list));
    if (list.n == 0)
        return ORDO_OK;
    ORDO_TRY(count(b->call, hamt, "hamt_leaf_bits", draft->leaves, &list));
    ordo_draft_add_table(&args, draft, &window->keys);
    ORDO_ADD(&args, ORDO_ARG(draft->leaves), ORDO_ARG(list.nodes), ORDO_ARG(list.firsts), ORDO_ARG(list.counts),
             ORDO_ARG_UINT(list.n));
    ordo_args_slice(&args, &window->values);
    ORDO_ADD(&args, ORDO_ARG(out->keys), ORDO_ARG(out->values), ORDO_ARG(out->erased));
    const struct ordo_launch launch = pass(hamt, "hamt_collect", list.n * HAMT_WORDS);
    ORDO_TRY(ordo_call_launch(b->call, &launch, &args));
    ORDO_TRY(ordo_call_read(b->call, list.counts, list.n * sizeof n, &n, sizeof n));
    out->count = ordo_is_dry_run(b->call->dev) ? 1 : n;
    return ORDO_OK;
}
