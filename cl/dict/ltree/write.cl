/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of concurrent operations that change nodes. */
#pragma once
#include "dict/ltree/merge.cl"

/* Tells the host to repair the entries of the level above. */
ORDO_FN void ltree_tell_host(const ltree_batch *batch)
{
    if (apart_leads())
        ordo_store_relaxed(batch->tree.state + LTREE_SPLITS_PENDING, 1);
}

/* Returns true if this operation must add a new node's entry to the level above. If not, the host adds it. */
ORDO_FN bool ltree_raises(const ltree_batch *batch, ordo_key_form key)
{
    if (LTREE_RAISE >= 100 || (ltree_fold(key) * 2654435761u >> 16) % 100 < LTREE_RAISE)
        return true;
    ltree_tell_host(batch);
    return false;
}

ORDO_FN void ltree_count_restarts(const ltree_batch *batch, const ltree_op *op)
{
    if (op->tries && apart_leads())
        (void) ordo_add(batch->tree.state + LTREE_RESTARTS, op->tries);
}

ORDO_FN uint ltree_write(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail)
{
    ltree_site    site = { op->at, 0, tail.header & LTREE_COUNT_MASK, LTREE_NONE, KEY_LEAST };
    column_keys   keys;
    ordo_key_form next;

    KEYS_DO(load_uncached)(&keys, line + ltree_after_look(batch, tail.header), 0, LTREE_SLOTS);
    site.slot = column_place(&keys, ltree_key_of(op), &next);
    const bool found = key_same(next, ltree_key_of(op)) && site.slot < site.count;
    const uint change = ltree_change(op, found), seen = site.slot ^ ltree_fold(next);

    if (change == CHANGE_NONE) {
        if (!ltree_unchanged(batch, line, tail, seen))
            return STEP_AGAIN;
        if (op->level == 0)
            return ltree_answer(batch, op, found);
        ltree_tell_host(batch);
        return STEP_DONE;
    }
    if (!LTREE_COUPLED && !ltree_latch(batch, op, ltree_header(line), tail.header, seen))
        return ltree_obstructed(op);
    if (change == CHANGE_OPEN && site.count == LTREE_SLOTS && !ltree_make_room(batch, op, &keys, tail, &site)) {
        ltree_store_relaxed(ltree_header(line), tail.header);
        return STEP_STARVED;
    }
    if (change != CHANGE_CLOSE || !ltree_merge(batch, op, line, tail, &site))
        ltree_change_node(batch, op, &keys, tail, &site, change);
    if (op->level == 0)
        (void) ltree_answer(batch, op, found);
    if (site.fresh == LTREE_NONE || !ltree_raises(batch, site.middle))
        return STEP_DONE;
    ltree_count_restarts(batch, op);
    op->query = key_plus(site.middle, LTREE_WORD(1));
    op->child = site.fresh;
    op->level++;
    op->at = op->parent;
    op->parent = LTREE_NONE;
    op->tries = 0;
    ltree_delay(batch, op, FAULT_SLOW_RAISE);
    return STEP_ON;
}

ORDO_FN uint ltree_grow(const ltree_batch *batch, ltree_op *op, uint root)
{
    volatile __global uint *word = batch->tree.state + LTREE_ROOT;

    if ((root & LTREE_ROOT_LATCHED) || concurrent_strikes(&op->faults, FAULT_LATCHES, 4) ||
        ltree_cas(word, root, root | LTREE_ROOT_LATCHED) != root)
        return STEP_AGAIN;
    const uint node = ltree_new_node(batch, op, op->level);
    if (node == LTREE_NONE) {
        ltree_store_relaxed(word, root);
        return STEP_STARVED;
    }
    __global ordo_key_form *line = ltree_inner(&batch->tree, node);
    const ltree_tail        tail = { KEY_LEAST, LTREE_UNUSED, LTREE_NONE, 2 };
    column_keys             keys;
    ORDO_UNROLL
    for (uint r = 0; r < COLUMN_ROWS; r++) {
        const uint s = column_word(r);
        keys.at[r] = s == 0 ? KEY_LEAST : s == 1 ? key_minus(op->query, LTREE_WORD(1)) : LTREE_UNUSED;
    }
    KEYS_DO(store_uncached)(&keys, line, 0, LTREE_SLOTS);
    ltree_store_uncached_word(ltree_children(&batch->tree, node), ltree_root_node(root));
    ltree_store_uncached_word(ltree_children(&batch->tree, node) + 1, op->child);
    ltree_store_uncached_tail(line, tail);
    ltree_delay(batch, op, FAULT_SLOW_STORES);
    apart_sync();
    if (apart_leads())
        ordo_store_release(word, op->level << LTREE_LEVEL_SHIFT | node);
    return STEP_DONE;
}
