/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

static size_t most(ordo_dict *dict, size_t operations)
{
    return ordo_hamt_draft_operations(ordo_hamt_of(dict), operations);
}

static size_t elements(ordo_dict *dict)
{
    return ordo_hamt_of(dict)->trie.n;
}

static struct ordo_launch query(ordo_dict *dict, size_t items, struct ordo_args *args)
{
    *args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);
    return ordo_hamt_kernel(ordo_hamt_of(dict), "dict/trie/hamt_in_batch.cl", "hamt_query_in_batch", items);
}

static struct ordo_launch apply(ordo_dict *dict, size_t items, const struct ordo_draft *draft, struct ordo_args *args)
{
    *args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);
    ORDO_ADD(args, ORDO_ARG(draft->nodes), ORDO_ARG(draft->leaves), ORDO_ARG(draft->most_nodes),
             ORDO_ARG(draft->most_leaves));
    return ordo_hamt_kernel(ordo_hamt_of(dict), "dict/trie/hamt_concurrent.cl", "hamt_apply", items);
}

ordo_status ordo_hamt_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch)
{
    static const struct ordo_draft_kind kind = {
        .words = HAMT_DRAFT_WORDS,
        .most = most,
        .elements = elements,
        .query = query,
        .apply = apply,
        .begin = ordo_hamt_draft_begin,
        .collect = ordo_hamt_draft_collect,
    };
    return ordo_draft_apply(dict, call, &ordo_hamt_of(dict)->drafts, &kind, batch);
}
