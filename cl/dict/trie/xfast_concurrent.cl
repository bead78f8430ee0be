/* SPDX-License-Identifier: Apache-2.0 */
/* Runs single-key operations of a concurrent batch on an X-fast trie. */
#pragma once
#include "dict/trie/xfast.cl"

typedef struct {
    xfast_trie            before;
    __global const uchar *values;
} draft_trie;

#define DRAFT_TOP 0

#include "dict/trie/draft_batch.cl"

ORDO_FN bool draft_was_there(const draft_batch *batch, ordo_key_form key, bool wants, ulong to)
{
    const xfast_trie *t = &batch->trie.before;
    const uint        place = xfast_place_at(t, key, xfast_rank_or_search(t, key, false));
    if (place != XFAST_NONE && wants)
        value_copy(batch->trie.values, place, batch->value_bytes, batch->values_out, to);
    return place != XFAST_NONE;
}

ORDO_FN uint draft_reach(const draft_batch *batch, draft_op *op)
{
    (void) batch, (void) op;
    return TRY_DONE;
}

ORDO_FN void draft_claimed(const draft_batch *batch, const draft_op *op)
{
    (void) batch, (void) op;
}

#include "dict/trie/draft_body.cl"

/* The updates go to a draft (shared/draft.h). If draft_n_slots is 0, there is no draft, and all updates give up. */
DRAFT_KERNEL
void xfast_apply(XFAST_TRIE, __global const uchar *trie_values, ulong trie_values_at, DRAFT_BATCH)
{
    const draft_trie  trie = { XFAST_TRIE_HERE, trie_values + trie_values_at * value_bytes };
    const draft_batch batch = DRAFT_BATCH_HERE(trie);
    draft_run(&batch, n, faults);
}
