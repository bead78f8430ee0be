/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the seeks, counts and ranges of a concurrent batch on a HAMT. */
#pragma once
#include "dict/trie/hamt.cl"

typedef hamt_trie draft_trie;

#include "dict/trie/draft_query.cl"

ORDO_FN uint draft_size(const draft_trie *t)
{
    return t->n;
}

ORDO_FN uint draft_rank(const draft_trie *t, ordo_key_form key, bool upper)
{
    if (t->n_leaves == 0)
        return 0;
    const hamt_node     node = hamt_load(t, hamt_leaf_of(t, key));
    const hamt_position at = hamt_look(&node, key);
    return node.record.before + at.below + (upper && at.there);
}

ORDO_FN void draft_copy(const draft_trie *t, uint rank, uint n, const draft_output *out, ulong at)
{
    if (n == 0)
        return;
    uint      leaf = hamt_leaf_of_rank(t, rank);
    hamt_node node = hamt_load(t, leaf);
    for (uint e = 0; e < n; e++) {
        if (rank + e == node.record.before + node.count)
            node = hamt_load(t, ++leaf);
        hamt_take(&node, rank + e - node.record.before, out->keys, at + e, (__global hamt_value *) out->values, at + e);
    }
}

#include "dict/trie/draft_query_body.cl"

ORDO_KERNEL(RUN_GROUP)
void hamt_query_in_batch(HAMT_TRIE, DRAFT_QUERIES)
{
    const draft_trie    trie = HAMT_TRIE_HERE;
    const draft_queries queries = DRAFT_QUERIES_HERE;
    draft_answer_queries(&trie, &queries);
}
