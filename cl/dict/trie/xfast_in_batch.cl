/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the seeks, counts and ranges of a concurrent batch on an X-fast trie. */
#pragma once
#include "dict/trie/xfast.cl"
#include "dict/value.cl"

typedef struct {
    xfast_trie            before;
    __global const uchar *values;
    uint                  value_bytes;
} draft_trie;

#include "dict/trie/draft_query.cl"

ORDO_FN uint draft_size(const draft_trie *t)
{
    return t->before.shape.count;
}

ORDO_FN uint draft_rank(const draft_trie *t, ordo_key_form key, bool upper)
{
    return xfast_rank_or_search(&t->before, key, upper);
}

ORDO_FN void draft_copy(const draft_trie *t, uint rank, uint n, const draft_output *out, ulong at)
{
    for (uint e = 0; e < n; e++) {
        if (out->keys)
            out->keys[at + e] = t->before.keys[rank + e];
        if (out->values)
            value_copy(t->values, rank + e, t->value_bytes, out->values, at + e);
    }
}

#include "dict/trie/draft_query_body.cl"

ORDO_KERNEL(RUN_GROUP)
void xfast_query_in_batch(XFAST_TRIE, __global const uchar *trie_values, ulong trie_values_at, DRAFT_QUERIES)
{
    const draft_trie    trie = { XFAST_TRIE_HERE, trie_values + trie_values_at * value_bytes, value_bytes };
    const draft_queries queries = DRAFT_QUERIES_HERE;
    draft_answer_queries(&trie, &queries);
}
