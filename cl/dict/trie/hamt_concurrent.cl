/* SPDX-License-Identifier: Apache-2.0 */
/* Runs single-key operations of a concurrent batch on a HAMT. Updates go to a draft (shared/hamt_draft.h). Before an
 * update adds a new key to the draft, it adds the nodes above this key to the draft's trie. */
#pragma once
#include "dict/trie/hamt_draft.cl"

typedef struct {
    hamt_trie  before;
    hamt_draft draft;
} draft_trie;

#define DRAFT_TOP HAMT_LEVELS(KEY_BITS)

#include "dict/trie/draft_batch.cl"

ORDO_FN bool draft_was_there(const draft_batch *batch, ordo_key_form key, bool wants, ulong to)
{
    const hamt_trie *t = &batch->trie.before;
    if (t->n_leaves == 0)
        return false;
    const hamt_node     node = hamt_load(t, hamt_leaf_of(t, key));
    const hamt_position at = hamt_look(&node, key);
    if (ORDO_VALUE_BYTES && at.there && wants)
        ((__global hamt_value *) batch->values_out)[to] = hamt_values(&node)[at.below];
    return at.there;
}

/* *word describes a child of a node. If *word is 0, allocates the child. Returns the new *word. This is 0 if memory is
 * short, or HAMT_ELECTED if another work-item is allocating the child. Allocation never waits, so the lanes of a
 * sub-group cannot block each other. */
ORDO_FN uint hamt_elect(const draft_batch *batch, draft_op *op, volatile __global uint *word)
{
    if (concurrent_strikes(&op->faults, FAULT_NODES, 8))
        return 0;
    const uint was = ordo_cas(word, 0, HAMT_ELECTED);
    if (was != 0)
        return was;
    const uint child = hamt_draft_allocate(&batch->trie.draft, batch->state, op->level - 1);
    draft_pause(batch, op, FAULT_SLOW_STORES);
    ordo_store_relaxed(word, child);
    return child;
}

ORDO_FN uint draft_reach(const draft_batch *batch, draft_op *op)
{
    for (; op->level > 0; op->level--) {
        volatile __global uint *word = hamt_draft_child(&batch->trie.draft, op->on, op->level - 1, op->key);
        uint                    child = ordo_load_relaxed(word);
        if (child == 0)
            child = hamt_elect(batch, op, word);
        if (child == HAMT_ELECTED)
            return TRY_AGAIN;
        if (child == 0)
            return TRY_FULL;
        op->on = child - 1;
    }
    return TRY_DONE;
}

ORDO_FN void draft_claimed(const draft_batch *batch, const draft_op *op)
{
    hamt_draft_mark(&batch->trie.draft, op->on, op->key);
}

#include "dict/trie/draft_body.cl"

/* If draft_n_slots is 0, there is no draft, and all updates give up. */
DRAFT_KERNEL
void hamt_apply(HAMT_TRIE, HAMT_DRAFT, DRAFT_BATCH)
{
    const draft_trie  trie = { HAMT_TRIE_HERE, HAMT_DRAFT_HERE };
    const draft_batch batch = DRAFT_BATCH_HERE(trie);
    draft_run(&batch, n, faults);
}
