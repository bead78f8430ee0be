/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the upserts, inserts, erases, finds and contains of a concurrent batch. A draft (shared/hamt_draft.h) has a slot
 * for each updated key.
 *
 * An update takes effect when one compare-and-swap changes its key's slot. A find takes effect when it reads the slot.
 * If the slot is empty, the dictionary's trie, which the launch does not change, has the key's state. So the operations
 * of a key are linearizable. */

/* Before an update claims an empty slot, it goes down from the draft's root to the key's leaf. To allocate a missing
 * child, one work-item swaps HAMT_ELECTED into the node, and at once allocates and stores the child. So it never blocks
 * the others, even in the same sub-group. They try again, at most HAMT_TRIES times, and then give up: the host executes
 * the list `pending` as an ordered batch. */
#pragma once
#define TEAM_WIDTH 1
#include "device/team.cl"
#include "dict/concurrent.cl"
#include "dict/each.cl"
#include "dict/trie/hamt_draft.cl"

#ifndef HAMT_TRIES
#define HAMT_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 1 : 256)
#endif

#define TRY_AGAIN 0
#define TRY_DONE  1
#define TRY_FULL  2

typedef struct {
    hamt_trie                  trie;
    hamt_draft                 draft;
    uint                       first; /* index of the launch's first operation in the batch */
    __global const uchar      *codes;
    __global const hamt_value *values;
    __global hamt_value       *values_out;
    __global uchar            *found, *outcomes;
    __global uint             *state, *pending, *history;
} hamt_batch;

/* An operation. `i` counts from the launch's first operation. An update goes down the draft and has reached node `on`,
 * whose parent is on `level`. If `level` is 0, `on` is a leaf. */
typedef struct {
    uint              i, code;
    ordo_key_form     key;
    uint              on, level;
    uint              restarts;
    concurrent_faults faults;
} hamt_op;

/* ---- faults and results ------------------------------------------------------------------------------------------ */

ORDO_FN void hamt_pause(const hamt_batch *batch, hamt_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, 16))
        concurrent_wait(batch->state + HAMT_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

ORDO_FN void hamt_outcome(const hamt_batch *batch, const hamt_op *op, uint outcome)
{
    concurrent_outcome(batch->outcomes, batch->history, batch->state + HAMT_TICK, batch->first + op->i, outcome);
}

ORDO_FN uint hamt_answer(const hamt_batch *batch, const hamt_op *op, bool found)
{
    if (batch->found)
        batch->found[batch->first + op->i] = found;
    hamt_outcome(batch, op, OUTCOME_DONE);
    return TRY_DONE;
}

/* ---- finds ------------------------------------------------------------------------------------------------------- */

/* Finds a key in the dictionary's trie, which the launch does not change. Copies its value to *value_out, unless
 * NULL. */
ORDO_FN bool hamt_was_there(const hamt_trie *t, ordo_key_form key, __global hamt_value *value_out)
{
    if (t->n_leaves == 0)
        return false;
    const hamt_node     node = hamt_load(t, hamt_leaf_of(t, key));
    const hamt_position at = hamt_look(&node, key);
    if (ORDO_VALUE_BYTES && at.there && value_out)
        *value_out = hamt_values(&node)[at.below];
    return at.there;
}

ORDO_FN void hamt_find_one(const hamt_batch *batch, hamt_op *op)
{
    const draft_place    place = draft_find(&batch->draft, op->key);
    const bool           wants = op->code == CODE_FIND && batch->values_out;
    __global hamt_value *out = wants ? batch->values_out + batch->first + op->i : 0;
    bool                 found = place.word && !(place.word & HAMT_ERASED);
    hamt_pause(batch, op, FAULT_SLOW_LOOKS);
    if (place.word == 0)
        found = hamt_was_there(&batch->trie, op->key, out);
    else if (ORDO_VALUE_BYTES && found && out)
        *out = batch->values[batch->first + DRAFT_UPDATE(place.word)];
    hamt_answer(batch, op, found);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Tries to become the work-item that allocates the missing child in *word. Returns the child's word, HAMT_ELECTED if
 * another work-item is elected, or 0 if no memory is left. */
ORDO_FN uint hamt_elect(const hamt_batch *batch, hamt_op *op, volatile __global uint *word)
{
    if (concurrent_strikes(&op->faults, FAULT_NODES, 8))
        return 0;
    const uint was = ordo_cas(word, 0, HAMT_ELECTED);
    if (was != 0)
        return was;
    const uint child = draft_allocate(&batch->draft, op->level - 1);
    hamt_pause(batch, op, FAULT_SLOW_STORES);
    ordo_store_relaxed(word, child);
    return child;
}

/* Goes down to the key's leaf from where the last attempt ended. */
ORDO_FN uint hamt_go_down(const hamt_batch *batch, hamt_op *op)
{
    for (; op->level > 0; op->level--) {
        volatile __global uint *word = draft_word(&batch->draft, op->on, op->level - 1, op->key);
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

/* Swaps the update into the key's slot, if the slot still holds place.word. `there` must be true if the key was present
 * then. If another update was faster, an upsert of a present key counts as done just before that update. */
ORDO_FN uint hamt_swap(const hamt_batch *batch, hamt_op *op, draft_place place, bool there)
{
    const uint word = DRAFT_WORD(op->i, op->code == CODE_ERASE);
    if (concurrent_strikes(&op->faults, FAULT_LATCHES, 8))
        return TRY_AGAIN;
    if (ordo_cas(batch->draft.slots + place.slot, place.word, word) != place.word &&
        !(op->code == CODE_UPSERT && there && place.word))
        return TRY_AGAIN;
    if (place.word == 0)
        draft_mark(&batch->draft, op->on, op->key);
    return hamt_answer(batch, op, there);
}

ORDO_FN uint hamt_try(const hamt_batch *batch, hamt_op *op)
{
    const draft_place place = draft_find(&batch->draft, op->key);
    if (place.slot == DRAFT_NO_SLOT)
        return TRY_FULL;
    const bool there = place.word ? !(place.word & HAMT_ERASED) : hamt_was_there(&batch->trie, op->key, 0);
    hamt_pause(batch, op, FAULT_SLOW_LOOKS);
    if (op->code == CODE_ERASE ? !there : op->code == CODE_INSERT && there)
        return hamt_answer(batch, op, there);
    const uint came = place.word ? TRY_DONE : hamt_go_down(batch, op);
    return came == TRY_DONE ? hamt_swap(batch, op, place, there) : came;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Sets up *op for operation i. Answers a find or contains. Returns true if operation i is an update. */
ORDO_FN bool hamt_take_op(const hamt_batch *batch, hamt_op *op, uint i)
{
    op->i = i;
    op->code = batch->codes[batch->first + i];
    if (op->code > CODE_ERASE && op->code < N_CONCURRENT_CODES)
        return false; /* Kernel hamt_query_in_batch has answered it. */
    concurrent_tick(batch->history, batch->state + HAMT_TICK, batch->first + i, 0);
    op->key = key_bits(batch->draft.keys[i]);
    op->on = 0;
    op->level = HAMT_LEVELS(KEY_BITS);
    if (CODE_FINDS(op->code))
        hamt_find_one(batch, op);
    else if (!CODE_UPDATES(op->code))
        hamt_outcome(batch, op, OUTCOME_UNKNOWN);
    return CODE_UPDATES(op->code);
}

/* True if `more` is true in any lane of the sub-group, to keep all lanes in the same loop iteration. */
#if SUBGROUP_MAY_PART && RUN_GROUP % ORDO_SUBGROUP == 0
#define HAMT_ANY_LANE(more) subgroup_any(more)
#else
#define HAMT_ANY_LANE(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define HAMT_KERNEL __kernel __attribute__((reqd_work_group_size(RUN_GROUP, 1, 1)))
#else
#define HAMT_KERNEL ORDO_KERNEL(RUN_GROUP)
#endif

/* If `more`, tries the update *op until it is done or gives up. All lanes of a sub-group must call this function. */
ORDO_FN void hamt_run_op(const hamt_batch *batch, hamt_op *op, bool more)
{
    for (uint tries = 0; tries < HAMT_TRIES(op) && HAMT_ANY_LANE(more); tries++) {
        if (!more)
            continue;
        const uint came = hamt_try(batch, op);
        more = came == TRY_AGAIN && tries + 1 < HAMT_TRIES(op);
        op->restarts += came == TRY_AGAIN;
        if (came != TRY_DONE && !more)
            batch->pending[ordo_add(batch->state + HAMT_PENDING, 1)] = batch->first + op->i;
        if (more)
            ordo_pause();
    }
}

ORDO_FN void hamt_run(const hamt_batch *batch, uint n, uint faults)
{
    hamt_op op;
    op.faults = concurrent_begin(batch->state + HAMT_TICK, faults);
    op.restarts = 0;
    for (ulong base = (ulong) get_group_id(0) * RUN_GROUP; base < n; base += get_global_size(0)) {
        const ulong i = base + get_local_id(0);
        const bool  more = i < n && hamt_take_op(batch, &op, (uint) i);
        hamt_run_op(batch, &op, more);
    }
    if (op.restarts)
        ordo_add(batch->state + HAMT_RESTARTS, op.restarts);
}

#define AT(array) (array ? array + array##_at : array)

/* Runs operations first .. first + n - 1 of the batch. If draft_n_slots is 0 (no draft), all updates give up. */
HAMT_KERNEL
void hamt_apply(HAMT_TRIE, DRAFT_PARAMETERS, uint first, uint n, __global uint *pending, __global uint *history,
                __global const uchar *codes, ulong codes_at, __global const hamt_value *values, ulong values_at,
                __global hamt_value *values_out, ulong values_out_at, __global uchar *found, ulong found_at,
                __global uchar *outcomes, ulong outcomes_at, uint faults)
{
    const hamt_batch batch = {
        .trie = HAMT_TRIE_HERE,
        .draft = DRAFT_HERE,
        .first = first,
        .codes = AT(codes),
        .values = AT(values),
        .values_out = AT(values_out),
        .found = AT(found),
        .outcomes = AT(outcomes),
        .state = draft_state,
        .pending = pending,
        .history = history,
    };
    hamt_run(&batch, n, faults);
}
