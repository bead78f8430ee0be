/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the operations of a launch. */
#pragma once
#include "dict/trie/draft_batch.cl"

#ifndef DRAFT_TRIES
#define DRAFT_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 1 : 256)
#endif

/* The operations of a key are linearizable. An update takes effect when its compare-and-swap changes the key's slot. A
 * find takes effect when it reads the slot. If the slot is empty, the find reads the trie, which does not change during
 * the launch. */
ORDO_FN void draft_find_one(const draft_batch *batch, draft_op *op)
{
    const draft_place place = draft_find(&batch->table, op->key);
    const ulong       to = (ulong) batch->first + op->i;
    const bool        wants = op->code == CODE_FIND && batch->values_out;
    bool              found = place.word && !(place.word & DRAFT_ERASED);
    draft_pause(batch, op, FAULT_SLOW_LOOKS);
    if (place.word == 0)
        found = draft_was_there(batch, op->key, wants, to);
    else if (found && wants)
        value_copy(batch->values, (ulong) batch->first + DRAFT_UPDATE(place.word), batch->value_bytes,
                   batch->values_out, to);
    draft_answer(batch, op, found);
}

/* Stores the update in its slot by compare-and-swap. If another update has changed the slot meanwhile, the caller must
 * try again. An upsert is an exception if its key was present (`there`) and its slot was in use. It counts as executed
 * just before the other update, which then replaced or erased its value. */
ORDO_FN uint draft_swap(const draft_batch *batch, draft_op *op, draft_place place, bool there)
{
    const uint word = DRAFT_WORD(op->i, op->code == CODE_ERASE);
    if (concurrent_strikes(&op->faults, FAULT_LATCHES, 8))
        return TRY_AGAIN;
    if (ordo_cas(batch->table.slots + place.slot, place.word, word) != place.word &&
        !(op->code == CODE_UPSERT && there && place.word))
        return TRY_AGAIN;
    if (place.word == 0)
        draft_claimed(batch, op);
    return draft_answer(batch, op, there);
}

ORDO_FN uint draft_try(const draft_batch *batch, draft_op *op)
{
    const draft_place place = draft_find(&batch->table, op->key);
    if (place.slot == DRAFT_NO_SLOT)
        return TRY_FULL;
    const bool there = place.word ? !(place.word & DRAFT_ERASED) : draft_was_there(batch, op->key, false, 0);
    draft_pause(batch, op, FAULT_SLOW_LOOKS);
    if (op->code == CODE_ERASE ? !there : op->code == CODE_INSERT && there)
        return draft_answer(batch, op, there);
    const uint came = place.word ? TRY_DONE : draft_reach(batch, op);
    return came == TRY_DONE ? draft_swap(batch, op, place, there) : came;
}

/* Runs operation i if it is not an update. Returns true for an update, which the caller must run. */
ORDO_FN bool draft_take_op(const draft_batch *batch, draft_op *op, uint i)
{
    op->i = i;
    op->code = batch->codes[batch->first + i];
    if (op->code > CODE_ERASE && op->code < N_CONCURRENT_CODES)
        return false; /* Seeks, counts and ranges ran before this launch. */
    concurrent_tick(batch->history, batch->state + DRAFT_TICK, batch->first + i, 0);
    op->key = key_bits(batch->table.keys[i]);
    op->on = 0;
    op->level = DRAFT_TOP;
    if (CODE_FINDS(op->code))
        draft_find_one(batch, op);
    else if (!CODE_UPDATES(op->code))
        draft_outcome(batch, op, OUTCOME_UNKNOWN);
    return CODE_UPDATES(op->code);
}

#if SUBGROUP_MAY_PART && RUN_GROUP % ORDO_SUBGROUP == 0
#define DRAFT_ANY_LANE(more) subgroup_any(more)
#else
#define DRAFT_ANY_LANE(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define DRAFT_KERNEL __kernel __attribute__((reqd_work_group_size(RUN_GROUP, 1, 1)))
#else
#define DRAFT_KERNEL ORDO_KERNEL(RUN_GROUP)
#endif

/* Tries an update until it is done or gives up. The whole sub-group must call; `more` is false in lanes without an
 * update. */
ORDO_FN void draft_run_op(const draft_batch *batch, draft_op *op, bool more)
{
    for (uint tries = 0; tries < DRAFT_TRIES(op) && DRAFT_ANY_LANE(more); tries++) {
        if (!more)
            continue;
        const uint came = draft_try(batch, op);
        more = came == TRY_AGAIN && tries + 1 < DRAFT_TRIES(op);
        op->restarts += came == TRY_AGAIN;
        if (came != TRY_DONE && !more)
            batch->pending[ordo_add(batch->state + DRAFT_PENDING, 1)] = batch->first + op->i;
        if (more)
            ordo_pause();
    }
}

ORDO_FN void draft_run(const draft_batch *batch, uint n, uint faults)
{
    draft_op op;
    op.faults = concurrent_begin(batch->state + DRAFT_TICK, faults);
    op.restarts = 0;
    for (ulong base = (ulong) get_group_id(0) * RUN_GROUP; base < n; base += get_global_size(0)) {
        const ulong i = base + get_local_id(0);
        const bool  more = i < n && draft_take_op(batch, &op, (uint) i);
        draft_run_op(batch, &op, more);
    }
    if (op.restarts)
        ordo_add(batch->state + DRAFT_RESTARTS, op.restarts);
}
