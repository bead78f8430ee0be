/* SPDX-License-Identifier: Apache-2.0 */
/* Runs concurrent operations. A team runs one operation after another, in steps. A step descends to a node, works on
 * it, or follows a link to the right. No step waits for another team. Thus lanes need no independent progress. */

/* Lane 0 of a team, its leader, latches and releases nodes. All lanes of a team take the same branches, because they
 * decide by ballots or by words that all lanes have. */

/* After a split, an operation releases the node before it adds the new node to the level above. It thus holds one latch
 * at a time (Lehman and Yao; Sagiv, JCSS 1986). Only a merge holds two latches.
 *
 * The descent takes no latch, and its loads have no order. Stale or torn words are safe:
 *   - A node keeps its level during a launch, so a stale child index leads to the level below. A child index that was
 *     never written is LTREE_NONE.
 *   - Keys only move to nodes on the right. If a query is above a node's high bound, the search follows the links
 *     to the right. If a query is not above the low bound, a stale word misled the search. The search then restarts
 *     and bypasses the caches. */

/* Each change of a leaf increments the version in its header. A writer latches the leaf first and changes the version
 * last. A reader loads the header, the words, and the header again. If both loads find the same header without a latch,
 * no writer changed the words meanwhile. A writer also loads the words before it latches the leaf. They are valid if
 * its compare-and-swap finds the header unchanged. The version's 25 bits cannot wrap in one launch.
 *
 * In a skiplist (LTREE_MERGE), an erase that leaves few elements moves them to the right neighbour, which takes over
 * the low bound. The leaf becomes a zombie: it covers no keys, and operations follow its link. */

/* Memory order of accesses to nodes. The left column numbers the accesses. The other columns refer to these numbers.
 * "Fence" means a fence that acquires and releases at device scope.
 *
 * If LTREE_BY_FENCE is 0, ordo_after replaces most fences. "Address from 1" means: the address is computed from the
 * value that access 1 loaded. The device can then perform this access only after access 1.
 *
 *      access                                    LTREE_BY_FENCE is 1           LTREE_BY_FENCE is 0 (blank: as for 1)
 *    1 header, first load                        acquire load                  relaxed load
 *    2 low, right, high                          after 1                       4-byte keys: same load as 1
 *      (ltree_load_uncached_tail)                                              8-byte keys: high by the same load as 1,
 *                                                                              low and right at addresses from 1
 *    3 keys, values                              after 1                       address from 1;
 *                                                                              acquire fence after a range's values
 *    4 header, second load (ltree_unchanged)     after an acquire fence        address from 2, 3
 *    5 latch of a node (ltree_latch)             acquire fence,                address from 3
 *                                                compare-and-swap, fence
 *    6 latch of a neighbour                      compare-and-swap, fence;
 *      (ltree_latch_neighbour)                   if it succeeds, the words of access 2 have not changed
 *    7 words of a latched node                   after the fence of 5 or 6     after 5: only if 5 succeeds;
 *                                                                              after 6: after the fence of 6
 *    8 header of a new node (ltree_open)         release store after 7         relaxed store before 9
 *    9 release of a latch (ltree_publish)        release store after 7, 8
 *   10 merge: neighbour's header, then           fence between them
 *      the zombie's high
 *   11 link of a zombie (ltree_pass_zombie)      after 4 of both zombies
 *   12 root (ltree_grow)                         compare-and-swap; release store
 *                                                after the new root's words
 *   13 root, inner nodes, links to the right     none: hints of the descent
 *   14 counters of the state                     atomic updates
 *   15 results                                   end of the launch
 *
 * If LTREE_BY_FENCE is 0 and keys have 8 bytes, a writer may change a node between the loads of its two bounds. But the
 * high bound never rises, so a key above the loaded high bound is also above the current one, and the operation can
 * move to the right neighbour.
 *
 * If LTREE_BY_FENCE is 1, as for 16-byte keys, a loaded bound may be part old, part new. An operation may then move too
 * far to the right. It reaches a node whose low bound is not less than its key, and restarts. */

/* In a team of several lanes, each lane loads a node's header before and after it loads the node's other words. The
 * words are valid only if all lanes find the same header. apart_sync separates the steps of a change. */

/* Memory models:
 *   C11 atomics          A reader's first load of a header synchronizes with the store that released the node's latch.
 *   (OpenCL 2 and 3)     A reader may load words while a writer changes them. It then loads the header again, or
 *                        latches the node. If the header has changed, the reader discards the words. A node's bounds,
 *                        keys and values are aligned and volatile, but not atomic, so their loads are formally data
 *                        races.
 *   NVIDIA's assembler   Accesses 1 to 9 of the table above are at least relaxed at device scope, so they do not race.
 *                        If LTREE_BY_FENCE is 0, the order relies on hardware that starts loads in order
 *                        (device/atomic.cl).
 *   legacy atomics       They order nothing between groups, so one work-item runs all operations.
 *   (OpenCL 1.2) */
#pragma once
#include "dict/ltree/read.cl"
#include "dict/ltree/write.cl"
#if LTREE_COUPLED
#include "dict/ltree/coupled.cl"
#endif

ORDO_FN uint ltree_work_on(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail)
{
    if (op->level > 0 || CODE_UPDATES(op->code))
        return ltree_write(batch, op, line, tail);
    if (CODE_FINDS(op->code))
        return ltree_find_on(batch, op, line, tail);
    if (op->code <= CODE_SEEK_GT)
        return ltree_seek_on(batch, op, line, tail);
    return ltree_scan_on(batch, op, line, tail);
}

#if LTREE_COUPLED

ORDO_FN uint ltree_step(const ltree_batch *batch, ltree_op *op)
{
    const uint root = apart_first(ordo_load_relaxed(batch->tree.state + LTREE_ROOT));
    ltree_held held = { 0, 0 };
    ltree_tail tail;

    if (op->level > ltree_root_level(root))
        return ltree_grow(batch, op, root);
    if (!ltree_go_down_coupled(batch, op, root, &held, &tail))
        return ltree_obstructed(op);
    tail.header |= LTREE_LATCHED;
    const uint came = ltree_work_on(batch, op, ltree_line(&batch->tree, op->level, op->at), tail);
    /* A change has released the node and has changed its version. */
    if (apart_first(ordo_load_relaxed(held.header)) == tail.header)
        ltree_let_go(&held);
    return came;
}

#else

ORDO_FN uint ltree_restart(ltree_op *op)
{
    op->at = LTREE_NONE;
    op->lost = true;
    if (LTREE_BY_FENCE)
        ordo_fence_acquire();
    return STEP_AGAIN;
}

ORDO_FN uint ltree_step(const ltree_batch *batch, ltree_op *op)
{
    if (op->at == LTREE_NONE) {
        /* An outdated root is still the first node of its level. */
        const uint root = apart_first(ordo_load_relaxed(batch->tree.state + LTREE_ROOT));
        if (op->level > ltree_root_level(root))
            return ltree_grow(batch, op, root);
        op->at = ltree_go_down(batch, op, root);
        op->zombie = LTREE_NONE;
        if (op->at == LTREE_NONE)
            return ltree_restart(op);
    }
    __global ordo_key_form *line = ltree_line(&batch->tree, op->level, op->at);
    const ltree_tail        tail = ltree_load_uncached_tail(batch, op, line);

    if (tail.header == LTREE_FREE) /* An outdated child number can lead to a free node. */
        return ltree_restart(op);
    if (tail.header & LTREE_LATCHED)
        return ltree_obstructed(op);
    if (key_before(tail.high, op->query)) {
        if (tail.right >= (op->level > 0 ? batch->inner_capacity : batch->leaf_capacity))
            return ltree_restart(op);
        ltree_pass_zombie(batch, op, tail);
        op->at = tail.right;
        return STEP_ON;
    }
    op->zombie = LTREE_NONE;
    /* Leaf 0 covers all keys up to its high bound. */
    if (key_upto(op->query, tail.low) && (op->level > 0 || op->at > 0))
        return ltree_restart(op);
    return ltree_work_on(batch, op, line, tail);
}

#endif

/* Returns false if the operation ends at once. */
ORDO_FN bool ltree_start(const ltree_batch *batch, ltree_op *op)
{
    if (batch->found_first && CODE_FINDS(op->code))
        return false;
    if (apart_leads())
        concurrent_tick(batch->history, batch->tree.state + LTREE_TICK, op->i, 0);
    if (op->code >= N_CONCURRENT_CODES) {
        ltree_outcome(batch, op, OUTCOME_UNKNOWN);
        return false;
    }
    if ((op->code == CODE_SEEK_LT && key_same(op->query, KEY_LEAST)) ||
        (op->code == CODE_SEEK_GT && key_same(op->query, KEY_GREATEST))) {
        (void) ltree_answer_seek(batch, op, false, KEY_LEAST, 0);
        return false;
    }
    op->query = key_plus(op->query, LTREE_WORD(op->code == CODE_SEEK_GT));
    op->query = key_minus(op->query, LTREE_WORD(op->code == CODE_SEEK_LT));
    if (op->code >= CODE_COUNT && key_before(key_bits(batch->hi[op->i]), op->query)) {
        if (batch->counts && apart_leads())
            batch->counts[op->i] = 0;
        ltree_outcome(batch, op, OUTCOME_DONE);
        return false;
    }
    return true;
}

ORDO_FN void ltree_take(const ltree_batch *batch, ltree_op *op, uint which, __global const ltree_pended *again)
{
    if (again) {
        const ltree_pended left = again[which];
        op->i = left.s0;
        op->count = left.s1;
        op->query = ltree_pended_query(left);
    } else {
        op->i = batch->subset ? batch->subset[which] : which;
        op->count = 0;
        op->query = key_bits(batch->keys[op->i]);
    }
    op->code = batch->codes[op->i];
#if TEAM_WIDTH > 1
    op->value = 0;
    if (HAS_VALUES && (op->code == CODE_UPSERT || op->code == CODE_INSERT))
        op->value = batch->values[op->i];
#endif
}

ORDO_FN void ltree_give_up(const ltree_batch *batch, const ltree_op *op, bool starved)
{
    __global uint *state = batch->tree.state;
    if (op->level > 0) {
        ltree_tell_host(batch);
        return;
    }
    if (starved && batch->final) {
        ltree_outcome(batch, op, OUTCOME_NOT_STORED);
        return;
    }
    if (!apart_leads())
        return;
    if (starved)
        (void) ordo_add(state + LTREE_STARVED, 1);
    if (op->hops)
        ordo_store_relaxed(state + LTREE_MOVED, 1);
    const uint place = ordo_add(state + LTREE_PENDING, 1);
    batch->pending[place] = ltree_pend(op->i, op->count, op->query);
}

/* State of a work-item between steps. In a team of several lanes, each lane loads one operation into `own`. Bit l of
 * `left` is 1 until the team begins the operation of lane l. */
typedef struct {
    ltree_op op;
    ulong    next;
    uint     steps;
    bool     idle;
#if TEAM_WIDTH > 1
    ltree_op  own;
    team_mask left;
#endif
} ltree_turn;

ORDO_FN bool ltree_take_next(const ltree_batch *batch, ltree_turn *turn, ltree_op *op, uint first, uint n,
                             __global const ltree_pended *again)
{
    if (turn->next >= n)
        return false;
    ltree_take(batch, op, first + (uint) turn->next, again);
    turn->next += get_global_size(0);
    return true;
}

ORDO_FN bool ltree_next_op(const ltree_batch *batch, ltree_turn *turn, uint first, uint n,
                           __global const ltree_pended *again)
{
    ltree_op *op = &turn->op;
#if TEAM_WIDTH == 1
    if (!ltree_take_next(batch, turn, op, first, n, again))
        return false;
#else
    const ltree_op *own = &turn->own;
    if (!turn->left)
        turn->left = apart_ballot(ltree_take_next(batch, turn, &turn->own, first, n, again));
    if (!turn->left)
        return false;
    const uint lane = first_lane(turn->left);
    turn->left &= turn->left - 1;
    op->i = apart_shuffle(own->i, lane);
    op->code = apart_shuffle(own->code, lane);
    op->count = apart_shuffle(own->count, lane);
    op->query = ltree_key_of_lane(own->query, lane);
#if ORDO_VALUE_BYTES == 16
    op->value = apart_shuffle128(own->value, lane);
#else
    op->value = ORDO_VALUE_BYTES == 8 ? (ltree_value) apart_shuffle64(own->value, lane)
                                      : (ltree_value) apart_shuffle((uint) own->value, lane);
#endif
#endif
    op->level = op->tries = op->hops = 0;
    op->at = op->parent = LTREE_NONE;
    op->lost = false;
    return true;
}

ORDO_FN bool ltree_take_turn(const ltree_batch *batch, ltree_turn *turn, uint first, uint n,
                             __global const ltree_pended *again)
{
    ltree_op *op = &turn->op;

    if (turn->idle) {
        if (!ltree_next_op(batch, turn, first, n, again))
            return false;
        turn->idle = !again && !ltree_start(batch, op);
        if (turn->idle)
            return true;
    }
    const uint came = turn->steps++ < LTREE_STEPS ? ltree_step(batch, op) : STEP_AGAIN;
    op->tries += came == STEP_AGAIN;
    turn->idle = came == STEP_DONE;
    if (came >= STEP_STARVED || op->tries > LTREE_TRIES(op) || turn->steps > LTREE_STEPS) {
        ltree_give_up(batch, op, came == STEP_STARVED);
        turn->idle = true;
    }
    if (turn->idle)
        ltree_count_restarts(batch, op);
    else if (came == STEP_AGAIN)
        ordo_pause();
    return true;
}

/* Keeps all lanes of a sub-group in the loop until all are done. Otherwise, lanes that retry a latch might keep the
 * lane that holds the latch from running. */
#if SUBGROUP_MAY_PART && LTREE_GROUP % ORDO_SUBGROUP == 0
#define LTREE_ANY(more) subgroup_any(more)
#else
#define LTREE_ANY(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR && TEAM_WIDTH == 1
#define LTREE_KERNEL __kernel __attribute__((reqd_work_group_size(LTREE_GROUP, 1, 1)))
#else
#define LTREE_KERNEL ORDO_KERNEL(LTREE_GROUP)
#endif

/* Returns whether the batch needs something that the host does not offer. All groups get the same result, because no
 * operation changes the tally. */
ORDO_FN bool ltree_lacks(__global const uint *tally, uint offers)
{
    return (LTREE_NEEDS(tally[TALLY_STORES], tally[TALLY_SCANS], tally[TALLY_RANGES], tally[TALLY_ERASES],
                        tally[TALLY_FINDS]) &
            ~offers) != 0;
}

/* Runs operations first .. first + n - 1 of the list `again`, or of the list `subset` if `again` is NULL, or of the
 * batch if both are NULL. Appends each operation that gives up to the list `pending`. If the batch needs something that
 * is not in `offers` (LTREE_NEEDS), does nothing. */
LTREE_KERNEL
void ltree_apply(LTREE_TREE, uint leaf_capacity, uint inner_capacity, uint offers, uint first, uint n, uint final,
                 uint never, uint far, uint found_first, __global const ltree_pended *again,
                 __global const uint *subset, __global ltree_pended *pending, __global uint *history,
                 __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,
                 __global const ordo_key *hi, ulong hi_at, __global const ltree_value *values, ulong values_at,
                 __global const ulong *rooms, ulong rooms_at, __global uchar *found, ulong found_at,
                 __global ordo_key *keys_out, ulong keys_out_at, __global ltree_value *values_out, ulong values_out_at,
                 __global uint *counts, ulong counts_at, __global uchar *outcomes, ulong outcomes_at,
                 __global ordo_key *range_keys, ulong range_keys_at, __global ltree_value *range_values,
                 ulong range_values_at, ulong range_capacity, uint faults)
{
#define AT(array) (array ? array + array##_at : array)
    const ltree_batch batch = {
        .tree = LTREE_TREE_HERE,
        .leaf_capacity = leaf_capacity,
        .inner_capacity = inner_capacity,
        .final = final,
        .never = never,
        .far = far,
        .found_first = found_first,
        .codes = AT(codes),
        .keys = AT(keys),
        .hi = AT(hi),
        .values = AT(values),
        .rooms = AT(rooms),
        .found = AT(found),
        .outcomes = AT(outcomes),
        .keys_out = AT(keys_out),
        .range_keys = AT(range_keys),
        .values_out = AT(values_out),
        .range_values = AT(range_values),
        .counts = AT(counts),
        .range_capacity = range_capacity,
        .subset = subset,
        .pending = pending,
        .history = history,
    };
#undef AT
    __local uint elements;
    ltree_turn   turn = { .next = get_global_id(0), .idle = true };

    if (get_local_id(0) == 0)
        elements = 0;
    turn.op.elements = 0;
#if TEAM_WIDTH > 1
    turn.left = 0;
#endif
    if (ltree_lacks(state + LTREE_TALLY, offers))
        n = 0;
    turn.op.faults = concurrent_begin(state + LTREE_TICK, faults);
    turn.op.faults.dice = apart_first(turn.op.faults.dice);
    for (bool more = true; LTREE_ANY(more);)
        if (more)
            more = ltree_take_turn(&batch, &turn, first, n, again);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (turn.op.elements && apart_leads())
        (void) ordo_local_add(&elements, turn.op.elements);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && elements)
        (void) ordo_add(state + LTREE_ELEMENTS, elements);
}
