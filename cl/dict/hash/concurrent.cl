/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a hash table side by side: each work-item takes one operation after another, and works on it alone.
 *
 *   hash_find_beside   finds and contains, before all others: the table is at rest
 *   hash_absent        counts the operations that store a key that is not there: the table is at rest
 *   hash_apply         updates; lists those that gave up
 *   hash_gather        makes a batch of these, to be done with the table at rest
 *   hash_scatter       hands its results on
 *
 * Each bucket has a latch, a bit, which it may share with others. Whoever has that of a key's first bucket is alone with all keys that have it as their first
 * one, wherever they lie, and with its spills: nobody else stores, moves or erases such a key. So an operation takes effect
 * somewhere between its latch and its giving it back, and those on one key one after another. A slot of another bucket,
 * the key's second one, may be taken by anyone: that is a compare-and-swap of the word that says the slot is empty; what was
 * taken is its taker's until the element is erased.
 *
 * A try takes the latch or does not, works, and gives it back: no step waits, and lanes of a sub-group need not run
 * independently of each other. What an operation may give up on, and is then listed:
 *
 *   - a latch that it does not get in HASH_TRIES tries: too many want it;
 *   - a slot, if both buckets are full. Elements are not moved side by side, which takes the whole partition.
 *
 * A slot of 8-byte keys is taken and left in steps, by its upper word: empty, HASH_MARK, then the key's. The lower word is
 * written between, where the slot is nobody's whose words could be mistaken for a key. A glance may still be torn, where 16
 * bytes are not read at once: hash_slot_with reads the two words of what looks like the key one after another.
 *
 * Memory order. Every access to a word that other work-items of the launch may change is in this table. "Fence" is
 * ordo_fence_device: an acquire and release fence of device scope (C11 devices, AMD among them: atomic_work_item_fence; NVIDIA:
 * fence.acq_rel.gpu). "After the latch" means ordered behind the update that took the latch: by a fence where HASH_BY_FENCE is 1;
 * where it is 0 (ORDO_AFTER_ORDERS of device/atomic.cl: NVIDIA devices that pass the self-test for it) by addresses computed from
 * the word that the update returned. LEGACY devices order nothing between groups: there one work-item does all (HASH_ALONE), or
 * nothing is changed (HASH_LISTING), so each row holds by the order of the program.
 *
 *   access                         how                                  ordered by
 *   take a latch                   ordo_or, relaxed                     a fence behind it, or ordo_after
 *   give it back                   ordo_add, relaxed                    a fence before it: the next holder sees every change
 *   read spills of first bucket    peek                                 after the latch; the byte changes under this latch alone
 *   change spills                  ordo_add of one byte of a word       the latch's fence; other bytes of the word are others'
 *   glance at slots                peek of 16 bytes                     after the latch; the key's own slot changes under this
 *                                                                       latch alone, other slots may be stale or torn
 *   confirm an 8-byte key          peek upper, lower, upper             an acquire fence between any two
 *   claim a slot, 4-byte key       ordo_cas of the word                 relaxed: an empty word is taken by one work-item
 *   claim a slot, 8-byte key       ordo_cas of upper to HASH_MARK,      a fence behind the CAS; the store of upper is a release:
 *                                  store lower, store upper             whoever reads the key's upper word reads its lower one
 *   vacate a slot, 8-byte key      store HASH_MARK, lower, empty        a fence behind the first, a release at the last
 *   vacate a slot, 4-byte key      relaxed store of empty               the fence after the latch: values stored before come first
 *   store a value                  poke                                 after the latch; in a slot just claimed behind an acquire
 *                                                                       fence where HASH_BY_FENCE: the last owner's value is over.
 *                                                                       Without, a store to the same word behind the CAS that
 *                                                                       read what the last owner stored
 *   counts, pending, clock         ordo_add, relaxed                    sums: read by the next launch, or by one work-item
 *   filters (CPUs)                 see hash_filters_beside              fences around an update of one word that all share
 *   list, found, outcomes          plain stores, each place once        the end of the launch
 *   batch, starts                  plain loads                          nobody changes them in the launch
 *
 * The other kernels of this file run while the table is at rest: the order of launches is all that they need.
 *
 * HASH_HISTORY 1 records when each operation began and ended. With HASH_TORTURE 1 (tests) hash_apply is told what is done to
 * its operations, one kernel for all of it: `torture` is the sum of 1: latches cannot be had now and then; 4: long pauses
 * within a change; 8: between a look and the change; 32: now and then a work-item begins only when another is at work; 64:
 * operations give up at the first try that comes to nothing; 128: one work-item does all.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP.
 */
#pragma once
#define TEAM_WIDTH 1
#include "device/atomic.cl"
#include "device/team.cl"
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/hash/table.cl"

#ifndef HASH_BY_FENCE
#define HASH_BY_FENCE (!ORDO_AFTER_ORDERS)
#endif
#ifndef HASH_HISTORY
#define HASH_HISTORY 0
#endif
#ifndef HASH_TORTURE
#define HASH_TORTURE 0
#endif
/* Where an operation knows of it. */
#define HASH_TORTURED(op, kind) (HASH_TORTURE && (op)->torture & (kind))
#ifndef HASH_TRIES
#define HASH_TRIES(op) (HASH_TORTURED(op, 64) ? 1 : 256)
#endif

/* What came of a try. */
#define TRY_AGAIN 0 /* another work-item has the latch */
#define TRY_DONE  1
#define TRY_FULL  2 /* there is no slot for the key */

typedef struct {
    hash_table                 table;
    uint                       final; /* who finds no slot is refused */
    uint                       never; /* 0, unknown to the compiler */
    uint                       n_latches;
    __global const uchar      *codes;
    __global const ordo_key   *keys;
    __global const hash_value *values;
    __global uchar            *found, *outcomes; /* may be NULL, as may values and history */
    __private hash_changed    *changed;
    __global uint             *state, *latches, *pending, *history;
} hash_batch;

typedef struct {
    uint     i, code;
    ordo_key mixed;
    uint     partition, start, buckets, first; /* `first`: its first bucket, from `start` on */
    uint     dice;
    uint     torture; /* where HASH_TORTURE */
} hash_op;

/* ---- what tests do to it ----------------------------------------------------------------------------------------- */

ORDO_FN bool hash_inject(hash_op *op, uint kind, uint one_in)
{
    if (!HASH_TORTURED(op, kind))
        return false;
    op->dice = op->dice * 1664525u + 1013904223u;
    return (op->dice >> 8) % one_in == 0;
}

/* Until the clock of histories has gone on, but not for ever. */
ORDO_FN void hash_wait(const hash_batch *batch, uint ticks, uint looks)
{
    volatile __global uint *clock = batch->state + HASH_TICK;
    const uint              since = ordo_load_relaxed(clock);
    for (uint k = 0; k < looks && ordo_load_relaxed(clock) - since < ticks; k++)
        ordo_pause();
}

ORDO_FN void hash_delay(const hash_batch *batch, hash_op *op, uint kind)
{
    if (hash_inject(op, kind, 16))
        hash_wait(batch, 16, ORDO_CPU ? 1000 : 100);
}

ORDO_FN void hash_begin_torture(const hash_batch *batch, hash_op *op)
{
    if (HASH_TORTURE)
        op->dice = (uint) get_global_id(0) * 2654435761u + ordo_add(batch->state + HASH_TICK, 1) * 40503u;
    if (HASH_TORTURED(op, 32) && get_global_id(0) % 64 == 0)
        hash_wait(batch, 1, ORDO_CPU ? 2000000 : 1000);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

ORDO_FN void hash_tick(const hash_batch *batch, const hash_op *op, uint end)
{
#if HASH_HISTORY
    ordo_fence_device();
    batch->history[2 * op->i + end] = ordo_add(batch->state + HASH_TICK, 1);
    ordo_fence_device();
#endif
}

ORDO_FN void hash_outcome(const hash_batch *batch, const hash_op *op, uint outcome)
{
    hash_tick(batch, op, 1);
    if (batch->outcomes)
        batch->outcomes[op->i] = (uchar) outcome;
}

ORDO_FN uint hash_answer(const hash_batch *batch, const hash_op *op, bool found)
{
    if (batch->found)
        batch->found[op->i] = found;
    hash_outcome(batch, op, OUTCOME_DONE);
    return TRY_DONE;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

/* The word of a slot that says whether it is empty: the upper one, where there are two. */
ORDO_FN volatile __global uint *hash_upper(const hash_table *table, uint bucket, uint slot)
{
    return (volatile __global uint *) hash_keys(table, bucket) + (slot + 1) * (KEY_BITS / 32) - 1;
}

#define HASH_UPPER_OF(mixed) ((uint) ((mixed) >> (KEY_BITS - 32)))

/* Of 8-byte keys, the upper word of a slot that is being taken or left: it belongs to no key of the partition. */
#define HASH_MARK(empty) (HASH_UPPER_OF(empty) | 1)

/* What a bucket has: a bit for each slot that has the key, or seems to, and for each that is empty. */
typedef struct {
    uint same, empty;
} hash_glance;

#define HASH_GLANCE(key, s)                                                                                            \
    glance.same |= (uint) ((key) == mixed) << (s);                                                                     \
    glance.empty |= (uint) ((key) == empty) << (s)

ORDO_FN hash_glance hash_glance_at(const hash_table *table, uint bucket, ordo_key mixed)
{
    __global const uint *words = (__global const uint *) hash_keys(table, bucket);
    const ordo_key       empty = hash_empty(hash_partition(mixed, table->bits), table->bits);
    hash_glance          glance = { 0, 0 };
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s += 128 / KEY_BITS) {
        const uint4 line = ordo_peek128(words + s * (KEY_BITS / 32));
#if KEY_BITS == 32
        HASH_GLANCE(line.x, s);
        HASH_GLANCE(line.y, s + 1);
        HASH_GLANCE(line.z, s + 2);
        HASH_GLANCE(line.w, s + 3);
#else
        HASH_GLANCE(as_ulong2(line).x, s);
        HASH_GLANCE(as_ulong2(line).y, s + 1);
#endif
    }
    return glance;
}

/* The slot of those in the glance that has the key, which stays, for its latch is this work-item's; or HASH_NONE. */
ORDO_FN uint hash_slot_with(const hash_table *table, uint bucket, uint same, ordo_key mixed)
{
#if KEY_BITS == 32
    (void) table, (void) bucket, (void) mixed;
    return same ? 31 - clz(same) : HASH_NONE;
#else
    if (same == 0)
        return HASH_NONE;
    uint slot = HASH_NONE;
    for (uint s = 0; s < HASH_SLOTS; s++) {
        volatile __global uint *upper = hash_upper(table, bucket, s);
        if (!(same >> s & 1))
            continue;
        ordo_fence_acquire();
        const uint before = ordo_peek(upper);
        ordo_fence_acquire();
        const uint lower = ordo_peek(upper - 1);
        ordo_fence_acquire();
        if (before == HASH_UPPER_OF(mixed) && lower == (uint) mixed && ordo_peek(upper) == before)
            slot = s;
    }
    return slot;
#endif
}

ORDO_FN bool hash_claim(const hash_batch *batch, hash_op *op, uint bucket, uint slot)
{
    volatile __global uint *upper = hash_upper(&batch->table, bucket, slot);
    const ordo_key          empty = hash_empty(op->partition, batch->table.bits);
#if KEY_BITS == 32
    if (ordo_cas(upper, empty, op->mixed) != empty)
        return false;
#else
    if (ordo_cas(upper, HASH_UPPER_OF(empty), HASH_MARK(empty)) != HASH_UPPER_OF(empty))
        return false;
    ordo_fence_device();
    ordo_store_relaxed(upper - 1, (uint) op->mixed);
    hash_delay(batch, op, 4);
    ordo_store_release(upper, HASH_UPPER_OF(op->mixed));
#endif
#if HASH_BY_FENCE
    ordo_fence_acquire(); /* what the slot's value was is over */
#endif
    return true;
}

ORDO_FN void hash_vacate(const hash_batch *batch, hash_op *op, uint bucket, uint slot)
{
    volatile __global uint *upper = hash_upper(&batch->table, bucket, slot);
    const ordo_key          empty = hash_empty(op->partition, batch->table.bits);
#if KEY_BITS == 64
    ordo_store_relaxed(upper, HASH_MARK(empty));
    ordo_fence_device();
    hash_delay(batch, op, 4);
    ordo_store_relaxed(upper - 1, 0u);
    ordo_store_release(upper, HASH_UPPER_OF(empty));
#else
    ordo_store_relaxed(upper, empty);
#endif
}

/* ---- an operation, with its latch -------------------------------------------------------------------------------- */

/* Where the key is, if it is there; and where it could be. */
typedef struct {
    hash_place place; /* bucket from op->start on */
    uint       spilled;
    uint       empty[2]; /* slots of its first and of its second bucket */
} hash_finding;

ORDO_FN uint hash_second_of(const hash_op *op)
{
    return hash_second(op->mixed, op->first, op->buckets);
}

/* In bucket b of the partition. */
ORDO_FN uint hash_look_in(const hash_table *table, const hash_op *op, uint b, hash_finding *finding)
{
    const hash_glance glance = hash_glance_at(table, op->start + b, op->mixed);
    finding->place.bucket = b;
    finding->place.slot = hash_slot_with(table, op->start + b, glance.same, op->mixed);
    return glance.empty;
}

ORDO_FN hash_finding hash_seek(const hash_table *table, const hash_op *op)
{
    hash_finding finding;
    finding.empty[1] = 0;
    finding.spilled = hash_peek_spills(table, op->start + op->first);
    finding.empty[0] = hash_look_in(table, op, op->first, &finding);
    if (finding.place.slot != HASH_NONE || (finding.spilled == 0 && finding.empty[0]))
        return finding;
    finding.empty[1] = hash_look_in(table, op, hash_second_of(op), &finding);
    for (uint b = 0; finding.spilled == HASH_ALL && finding.place.slot == HASH_NONE && b < op->buckets; b++)
        (void) hash_look_in(table, op, b, &finding);
    return finding;
}

/* One element more, or less (delta ~0u), of the first bucket that does not lie there. HASH_ALL is no number. */
ORDO_FN void hash_spill(const hash_table *table, const hash_op *op, uint spilled, uint delta)
{
    const uint bucket = op->start + op->first;
    if (spilled == HASH_ALL)
        ordo_or(&table->counts[op->partition], HASH_RECOUNT);
    else
        ordo_add((volatile __global uint *) table->spills + bucket / 4, delta << bucket % 4 * 8);
}

ORDO_FN void hash_erase_at(const hash_batch *batch, const hash_table *table, hash_op *op, const hash_finding *finding)
{
    hash_vacate(batch, op, op->start + finding->place.bucket, finding->place.slot);
    hash_has_changed(table, op->partition, op->start + finding->place.bucket, batch->changed);
    hash_delay(batch, op, 4);
    if (finding->place.bucket != op->first) {
        hash_spill(table, op, finding->spilled, ~0u);
        hash_has_changed(table, op->partition, op->start + op->first, batch->changed);
    }
    ordo_add(&table->counts[op->partition], ~0u);
}

ORDO_FN void hash_put_value(const hash_batch *batch, const hash_table *table, const hash_op *op, uint bucket, uint slot)
{
#if ORDO_VALUE_BYTES == 8
    ordo_poke64(hash_values(table, bucket) + slot, batch->values[op->i]);
#elif ORDO_VALUE_BYTES == 4
    ordo_poke(hash_values(table, bucket) + slot, batch->values[op->i]);
#endif
}

/* Takes one of these slots of bucket b of the partition for the key; false if others have taken them. */
ORDO_FN bool hash_put_into(const hash_batch *batch, const hash_table *table, hash_op *op, uint b, uint slots)
{
    for (uint slot = 0; slot < HASH_SLOTS; slot++) {
        if (!(slots >> slot & 1) || !hash_claim(batch, op, op->start + b, slot))
            continue;
        hash_delay(batch, op, 4);
        hash_put_value(batch, table, op, op->start + b, slot);
        hash_has_changed(table, op->partition, op->start + b, batch->changed);
        return true;
    }
    return false;
}

ORDO_FN uint hash_put(const hash_batch *batch, const hash_table *table, hash_op *op, const hash_finding *finding)
{
    const uint second = hash_second_of(op);
    const bool into_first = hash_put_into(batch, table, op, op->first, finding->empty[0]);
    if (!into_first) {
        if (second == op->first || !hash_put_into(batch, table, op, second, finding->empty[1]))
            return TRY_FULL;
        hash_spill(table, op, finding->spilled, 1);
        hash_has_changed(table, op->partition, op->start + op->first, batch->changed);
    }
    ordo_add(&table->counts[op->partition], 1);
    return hash_answer(batch, op, false);
}

ORDO_FN uint hash_change(const hash_batch *batch, const hash_table *table, hash_op *op)
{
    const hash_finding finding = hash_seek(table, op);
    const bool         found = finding.place.slot != HASH_NONE;

    hash_delay(batch, op, 8);
    if (!found && op->code != CODE_ERASE)
        return hash_put(batch, table, op, &finding);
    if (found && op->code == CODE_ERASE)
        hash_erase_at(batch, table, op, &finding);
    if (found && op->code == CODE_UPSERT)
        hash_put_value(batch, table, op, op->start + finding.place.bucket, finding.place.slot);
    return hash_answer(batch, op, found);
}

ORDO_FN uint hash_try(const hash_batch *batch, hash_op *op)
{
    if (op->buckets == 0)
        return op->code == CODE_ERASE ? hash_answer(batch, op, false) : TRY_FULL;
    const uint              number = (op->start + op->first) & (batch->n_latches - 1);
    volatile __global uint *latch = batch->latches + number / 32;
    const uint              bit = 1u << number % 32;
    hash_table              table = batch->table;

    if (hash_inject(op, 1, 8))
        return TRY_AGAIN;
    const uint was = ordo_or(latch, bit);
    if (was & bit)
        return TRY_AGAIN;
#if HASH_BY_FENCE
    ordo_fence_device();
#else
    table.buckets += ordo_after(was, batch->never);
    table.spills += ordo_after(was, batch->never);
#endif
    const uint came = hash_change(batch, &table, op);
    ordo_fence_device();
    (void) ordo_add(latch, 0u - bit);
    return came;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Sets up operation i of the batch. False if it is over before it has begun. `again`: it has begun in another launch. */
ORDO_FN bool hash_take_op(const hash_batch *batch, hash_op *op, uint i, bool again)
{
    const hash_table *table = &batch->table;

    op->i = i;
    op->code = batch->codes[i];
    if (CODE_FINDS(op->code))
        return false;
    if (!again)
        hash_tick(batch, op, 0);
    if (!CODE_UPDATES(op->code)) {
        hash_outcome(batch, op, OUTCOME_UNKNOWN);
        return false;
    }
    op->mixed = hash_mix(batch->keys[i], table->seed);
    op->partition = hash_partition(op->mixed, table->bits);
    op->start = table->starts ? table->starts[op->partition] : 0;
    op->buckets = table->starts ? table->starts[op->partition + 1] - op->start : 0;
    op->first = hash_first(op->mixed, table->bits, op->buckets);
    return true;
}

ORDO_FN void hash_give_up(const hash_batch *batch, const hash_op *op, uint came)
{
    if (came == TRY_FULL && batch->final)
        hash_outcome(batch, op, OUTCOME_NOT_STORED);
    else
        batch->pending[ordo_add(batch->state + HASH_PENDING, 1)] = op->i;
}

/* Lanes that may run independently of each other try together all the same: see LTREE_ANY of dict/ltree/concurrent.cl. */
#if SUBGROUP_MAY_PART && RUN_GROUP % ORDO_SUBGROUP == 0
#define HASH_ANY(more) subgroup_any(more)
#else
#define HASH_ANY(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define HASH_KERNEL __kernel __attribute__((reqd_work_group_size(RUN_GROUP, 1, 1)))
#else
#define HASH_KERNEL ORDO_KERNEL(RUN_GROUP)
#endif

/* Tries an operation until it is done, has no place, or too many want its latch. Called by whole sub-groups; `more`: this work-item
 * has one. */
ORDO_FN void hash_run_op(const hash_batch *batch, hash_op *op, bool more, uint how)
{
    for (uint tries = 0; tries < HASH_TRIES(op) && HASH_ANY(more); tries++) {
        if (!more)
            continue;
        const uint came = how == HASH_LISTING ? TRY_FULL : hash_try(batch, op);
        more = came == TRY_AGAIN && tries + 1 < HASH_TRIES(op);
        if (came != TRY_DONE && !more)
            hash_give_up(batch, op, came);
        if (more)
            ordo_pause();
    }
}

/* This work-item's share of a launch. */
ORDO_FN void hash_run(const hash_batch *batch, __global const uint *again, uint first, uint n, uint how, uint torture)
{
    const bool  alone = how == HASH_ALONE, mine = !alone || get_global_id(0) == 0;
    const ulong stride = alone ? 1 : get_global_size(0);
    hash_op     op;

    op.torture = torture;
    hash_begin_torture(batch, &op);
    for (ulong base = (ulong) get_group_id(0) * RUN_GROUP; base < n; base += stride) {
        const ulong k = base + (alone ? 0 : get_local_id(0));
        const bool  more =
            mine && k < n && hash_take_op(batch, &op, again ? again[first + k] : first + (uint) k, again != 0);
        hash_run_op(batch, &op, more, how);
    }
}

#define AT(array) (array ? array + array##_at : array)

#if HASH_TORTURE
#define HASH_TORTURE_ARG  , uint torture
#define HASH_TORTURE_HERE torture
#else
#define HASH_TORTURE_ARG
#define HASH_TORTURE_HERE 0
#endif

/* Operations first .. first + n - 1 of the batch; or, if `again` is there, of its numbers. how: enum hash_way. `final`, `never`: see
 * hash_batch. latches: n_latches bits, a power of two, all 0. */
HASH_KERNEL
void hash_apply(HASH_TABLE, uint first, uint n, uint how, uint final, uint never, __global const uint *again,
                __global uint *pending, __global uint *state, __global uint *latches, uint n_latches,
                __global uint *history, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                ulong keys_at, __global const hash_value *values, ulong values_at, __global uchar *found,
                ulong found_at, __global uchar *outcomes, ulong outcomes_at HASH_TORTURE_ARG)
{
    hash_changed changed;
    changed.n = 0;
    const hash_batch batch = {
        .table = HASH_TABLE_HERE,
        .final = final,
        .never = never,
        .codes = AT(codes),
        .keys = AT(keys),
        .values = AT(values),
        .found = AT(found),
        .outcomes = AT(outcomes),
        .state = state,
        .latches = latches,
        .n_latches = n_latches,
        .pending = pending,
        .history = history,
        .changed = &changed,
    };
    hash_run(&batch, again, first, n, how, HASH_TORTURE_HERE);
    hash_filters_beside(&batch.table, &changed);
}

/* history: NULL, or where each operation's two ticks go: those of find i are 2 i and 2 i + 1. Outputs may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void hash_find_beside(HASH_TABLE, uint n, __global uint *history, __global const uchar *codes, ulong codes_at,
                      __global const ordo_key *keys, ulong keys_at, __global hash_value *values_out,
                      ulong values_out_at, __global uchar *found, ulong found_at, __global uchar *outcomes,
                      ulong outcomes_at)
{
    const hash_table table = HASH_TABLE_HERE;
    RUN_EACH (uint, i, n) {
        const uint code = codes[codes_at + i];
        hash_place place = { 0, HASH_NONE };
        if (!CODE_FINDS(code))
            continue;
        if (table.starts)
            place = hash_lookup(&table, hash_mix(keys[keys_at + i], table.seed));
#if ORDO_VALUE_BYTES
        if (values_out && code == CODE_FIND && place.slot != HASH_NONE)
            values_out[values_out_at + i] = hash_values(&table, place.bucket)[place.slot];
#endif
        if (found)
            found[found_at + i] = place.slot != HASH_NONE;
        if (outcomes)
            outcomes[outcomes_at + i] = OUTCOME_DONE;
        if (history)
            vstore2((uint2) (2 * i, 2 * i + 1), i, history);
    }
}

/* state[HASH_PENDING]: how many operations store a key that the table does not have. The table has buckets. */
ORDO_KERNEL(RUN_GROUP)
void hash_absent(HASH_TABLE, uint n, __global uint *state, __global const uchar *codes, ulong codes_at,
                 __global const ordo_key *keys, ulong keys_at)
{
    const hash_table table = HASH_TABLE_HERE;
    uint             absent = 0;
    RUN_EACH (uint, i, n) {
        const uint code = codes[codes_at + i];
        if (code == CODE_UPSERT || code == CODE_INSERT)
            absent += hash_lookup(&table, hash_mix(keys[keys_at + i], table.seed)).slot == HASH_NONE;
    }
    if (absent)
        ordo_add(state + HASH_PENDING, absent);
}

/* ---- what gave up, with the table at rest ------------------------------------------------------------------------ */

/* Makes a batch of operations first .. first + count - 1 of a list. values may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void hash_gather(__global const uint *left, uint first, uint count, __global const uchar *codes, ulong codes_at,
                 __global const ordo_key *keys, ulong keys_at, __global const hash_value *values, ulong values_at,
                 __global uchar *codes_out, __global ordo_key *keys_out, __global hash_value *values_out)
{
    RUN_EACH (uint, l, count) {
        const uint i = left[first + l], code = codes[codes_at + i];
        codes_out[l] = (uchar) code;
        keys_out[l] = keys[keys_at + i];
        if (values && code != CODE_ERASE)
            values_out[l] = values[values_at + i];
    }
}

/* Hands the results of such a batch on. The ticks of a history's ends begin with `tick`. found, outcomes and history may be NULL. */
ORDO_KERNEL(RUN_GROUP)
void hash_scatter(__global const uint *left, uint first, uint count, __global const uchar *results,
                  __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                  __global uint *history, uint tick)
{
    RUN_EACH (uint, l, count) {
        const uint i = left[first + l];
        if (found)
            found[found_at + i] = results[l];
        if (outcomes)
            outcomes[outcomes_at + i] = OUTCOME_DONE;
        if (history)
            history[2 * i + 1] = tick + l;
    }
}
