/* SPDX-License-Identifier: Apache-2.0 */
/* Types for kernels that run the single-key operations of a concurrent batch on a trie. The kernels collect updates in
 * a draft (shared/draft.h). The including file must first define:
 *
 *   draft_trie    struct of the kernel arguments that describe the trie
 *   DRAFT_TOP     number of levels of nodes that a HAMT's draft has (shared/hamt_draft.h); 0 for an X-fast trie
 *
 * The same file must later define these functions:
 *
 *   draft_was_there(batch, key, wants, to)    returns true if the trie has the key; if `wants` is also true, copies the
 *                                             key's value to values_out[to]
 *   draft_reach(batch, op)                    makes room in the draft for a new key; returns TRY_DONE, TRY_AGAIN, or
 *                                             TRY_FULL if memory is short
 *   draft_claimed(batch, op)                  is called after a new key has got its slot */
#pragma once
#define TEAM_WIDTH 1
#include "device/team.cl"
#include "dict/concurrent.cl"
#include "dict/trie/draft.cl"
#include "dict/value.cl"

#define TRY_AGAIN 0
#define TRY_DONE  1
#define TRY_FULL  2

typedef struct {
    draft_table           table;
    draft_trie            trie;
    uint                  first;
    __global const uchar *codes;
    __global const uchar *values;
    __global uchar       *values_out;
    uint                  value_bytes;
    __global uchar       *found, *outcomes;
    __global uint        *state, *pending, *history;
} draft_batch;

/* The launch runs operations first .. first + n - 1 of the batch. */
#define DRAFT_BATCH                                                                                                    \
    DRAFT_TABLE, uint first, uint n, __global uint *state, __global uint *pending, __global uint *history,             \
        __global const uchar *codes, ulong codes_at, __global const uchar *values, ulong values_at,                    \
        __global uchar *values_out, ulong values_out_at, uint value_bytes, __global uchar *found, ulong found_at,      \
        __global uchar *outcomes, ulong outcomes_at, uint faults
#define DRAFT_AT(array, bytes) (array ? array + array##_at * (bytes) : array)
#define DRAFT_BATCH_HERE(its_trie)                                                                                     \
    {                                                                                                                  \
        .table = DRAFT_TABLE_HERE, .trie = its_trie, .first = first, .codes = DRAFT_AT(codes, 1),                      \
        .values = DRAFT_AT(values, value_bytes), .values_out = DRAFT_AT(values_out, value_bytes),                      \
        .value_bytes = value_bytes, .found = DRAFT_AT(found, 1), .outcomes = DRAFT_AT(outcomes, 1), .state = state,    \
        .pending = pending, .history = history,                                                                        \
    }

/* `i` is the operation's index in the launch. In a HAMT's draft, `on` is the index of the node that an update has
 * reached, and `level` its height above the leaves. */
typedef struct {
    uint              i, code;
    ordo_key_form     key;
    uint              on, level;
    uint              restarts;
    concurrent_faults faults;
} draft_op;

ORDO_FN void draft_pause(const draft_batch *batch, draft_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, 16))
        concurrent_wait(batch->state + DRAFT_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

ORDO_FN void draft_outcome(const draft_batch *batch, const draft_op *op, uint outcome)
{
    concurrent_outcome(batch->outcomes, batch->history, batch->state + DRAFT_TICK, batch->first + op->i, outcome);
}

ORDO_FN uint draft_answer(const draft_batch *batch, const draft_op *op, bool found)
{
    if (batch->found)
        batch->found[batch->first + op->i] = found;
    draft_outcome(batch, op, OUTCOME_DONE);
    return TRY_DONE;
}
