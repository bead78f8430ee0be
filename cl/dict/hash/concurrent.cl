/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of concurrent batches. hash_apply runs the updates. If updates give up, hash_gather copies them to an ordered
 * batch, and hash_scatter copies their results back. */

/* Each bucket has a latch (a lock of one bit), which other buckets may share. A work-item that stores or erases a key
 * holds the latch of the key's home bucket. So operations on one key take effect one after another. Keys with different
 * latches can share a second bucket, so work-items claim slots by compare-and-swap.
 *
 * An operation that finds a latch held tries again, at most HASH_TRIES times, because the holder of the latch may be a
 * lane of the same sub-group. It also gives up if both buckets of its key are full. */

/* Memory order of accesses to words that other work-items may change in the same launch. "Fence" means
 * ordo_fence_device: acquire and release, device scope. "After the latch" means after the ordo_or that sets the
 * latch bit. If HASH_BY_FENCE is 1, a fence after this ordo_or orders these accesses. If it is 0, ordo_after makes
 * their addresses depend on the result of the ordo_or, so the device cannot perform them earlier.
 *
 * A large key has 8 or 16 bytes. While it changes, its upper word is HASH_MARK. Its other words are the lower words.
 *
 *   access                      how                              order
 *   set a latch bit             ordo_or, relaxed                 fence after it, or ordo_after
 *   clear a latch bit           ordo_add, relaxed                fence before it
 *   read home bucket's spills   relaxed load                     after the latch; only the work-item that holds the
 *                                                                latch changes the byte
 *   change spills               ordo_add of one byte of a word   after the latch; the word's other bytes belong to
 *                                                                other buckets
 *   read a bucket's slots       relaxed load of 16 bytes         after the latch; only the work-item that holds the
 *                                                                latch changes the slot of the key; other slots may
 *                                                                be stale or torn
 *   confirm a large key         load upper, lower, upper         acquire fence between any two
 *   claim a slot, 4-byte key    ordo_cas of the word             relaxed: only one work-item's CAS succeeds
 *   claim a slot, large key     ordo_cas of upper to HASH_MARK,  fence after the CAS; the store of upper releases,
 *                               store lower, store upper         so a reader of the new upper reads the new lower
 *   vacate a slot, large key    store HASH_MARK, lower, empty    fence after the first; the last store releases
 *   vacate a slot, 4-byte key   relaxed store of empty           after the latch
 *   store a value               relaxed store                    after the latch, and after the CAS and fence of a
 *                                                                claim; so it replaces the value of an erased key
 *   counts, pending, clock      ordo_add, relaxed                no order: only their sums matter
 *   filters (CPUs)              hash_update_filters              fences in this function
 *   list, found, outcomes       plain stores, each word once     the end of the launch */
#pragma once
#define TEAM_WIDTH 1
#include "device/team.cl"
#include "dict/concurrent.cl"
#include "dict/each.cl"
#include "dict/hash/filter.cl"

#ifndef HASH_BY_FENCE
#define HASH_BY_FENCE (!ORDO_AFTER_ORDERS)
#endif
#ifndef HASH_TRIES
#define HASH_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 1 : 256)
#endif

#define TRY_AGAIN 0
#define TRY_DONE  1
#define TRY_FULL  2

typedef struct {
    hash_table table;
    uint       final; /* If 1, an operation that finds no free slot gets OUTCOME_NOT_STORED. */
    /* Always 0. See ordo_after. */
    uint                       never;
    uint                       n_latches;
    __global const uchar      *codes;
    __global const ordo_key   *keys;
    __global const hash_value *values;
    __global uchar            *found, *outcomes;
    __private hash_changed    *changed;
    __global uint             *state, *latches, *pending, *history;
} hash_batch;

typedef struct {
    uint              i, code;
    ordo_key          mixed;
    uint              partition, start, buckets, first; /* `first`: home bucket, counted from `start` */
    concurrent_faults faults;
} hash_op;

/* ---- faults and results ------------------------------------------------------------------------------------------ */

ORDO_FN void hash_pause(const hash_batch *batch, hash_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, 16))
        concurrent_wait(batch->state + HASH_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

ORDO_FN void hash_outcome(const hash_batch *batch, const hash_op *op, uint outcome)
{
    concurrent_outcome(batch->outcomes, batch->history, batch->state + HASH_TICK, op->i, outcome);
}

ORDO_FN uint hash_answer(const hash_batch *batch, const hash_op *op, bool found)
{
    if (batch->found)
        batch->found[op->i] = found;
    hash_outcome(batch, op, OUTCOME_DONE);
    return TRY_DONE;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

ORDO_FN volatile __global uint *hash_upper(const hash_table *table, uint bucket, uint slot)
{
    return (volatile __global uint *) hash_keys(table, bucket) + (slot + 1) * (KEY_BITS / 32) - 1;
}

#define HASH_UPPER_OF(mixed) key_digit(mixed, KEY_BITS - 32, ~0u)

/* Upper word of a slot while a work-item changes its key of 8 or 16 bytes. No key of the partition has this word. */
#define HASH_MARK(empty) (HASH_UPPER_OF(empty) | 1)

/* Bit s of `same` is 1 if slot s seems to hold the key, and bit s of `empty` if slot s seems to be empty. A torn load
 * of a key of 8 or 16 bytes (part old, part new) can set a bit of `same` wrongly. */
typedef struct {
    uint same, empty;
} hash_seen;

#define HASH_COMPARE(key, s)                                                                                           \
    seen.same |= (uint) key_same(key, mixed) << (s);                                                                   \
    seen.empty |= (uint) key_same(key, empty) << (s)

ORDO_FN hash_seen hash_scan_bucket(const hash_table *table, uint bucket, ordo_key mixed)
{
    __global const uint *words = (__global const uint *) hash_keys(table, bucket);
    const ordo_key       empty = hash_empty(hash_partition(mixed, table->bits), table->bits);
    hash_seen            seen = { 0, 0 };
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s += 128 / KEY_BITS) {
        const uint4 line = ordo_load_uncached128(words + s * (KEY_BITS / 32));
#if KEY_BITS == 32
        HASH_COMPARE(line.x, s);
        HASH_COMPARE(line.y, s + 1);
        HASH_COMPARE(line.z, s + 2);
        HASH_COMPARE(line.w, s + 3);
#elif KEY_BITS == 128
        HASH_COMPARE(as_ulong2(line), s);
#else
        HASH_COMPARE(as_ulong2(line).x, s);
        HASH_COMPARE(as_ulong2(line).y, s + 1);
#endif
    }
    return seen;
}

/* Returns the slot that holds the key, or HASH_NONE. Tests only the slots whose bits are 1 in `same`. The caller must
 * hold the latch of the home bucket. */
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
        const uint before = ordo_load_uncached(upper);
        ordo_fence_acquire();
        bool lower = true;
        ORDO_UNROLL
        for (uint w = 1; w < KEY_BITS / 32; w++)
            lower = lower && ordo_load_uncached(upper - w) == key_digit(mixed, KEY_BITS - 32 - 32 * w, ~0u);
        ordo_fence_acquire();
        if (before == HASH_UPPER_OF(mixed) && lower && ordo_load_uncached(upper) == before)
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
    ORDO_UNROLL
    for (uint w = 1; w < KEY_BITS / 32; w++)
        ordo_store_relaxed(upper - w, key_digit(op->mixed, KEY_BITS - 32 - 32 * w, ~0u));
    hash_pause(batch, op, FAULT_SLOW_STORES);
    ordo_store_release(upper, HASH_UPPER_OF(op->mixed));
#endif
    if (HASH_BY_FENCE)
        ordo_fence_acquire();
    return true;
}

ORDO_FN void hash_vacate(const hash_batch *batch, hash_op *op, uint bucket, uint slot)
{
    volatile __global uint *upper = hash_upper(&batch->table, bucket, slot);
    const ordo_key          empty = hash_empty(op->partition, batch->table.bits);
#if KEY_BITS > 32
    ordo_store_relaxed(upper, HASH_MARK(empty));
    ordo_fence_device();
    hash_pause(batch, op, FAULT_SLOW_STORES);
    ORDO_UNROLL
    for (uint w = 1; w < KEY_BITS / 32; w++)
        ordo_store_relaxed(upper - w, 0u);
    ordo_store_release(upper, HASH_UPPER_OF(empty));
#else
    ordo_store_relaxed(upper, empty);
#endif
}

/* ---- a latched operation ----------------------------------------------------------------------------------------- */

typedef struct {
    hash_place place;
    uint       spilled;
    uint       empty[2];
} hash_finding;

ORDO_FN uint hash_second_of(const hash_op *op)
{
    return hash_second(op->mixed, op->first, op->buckets);
}

ORDO_FN uint hash_look_in(const hash_table *table, const hash_op *op, uint b, hash_finding *finding)
{
    const hash_seen seen = hash_scan_bucket(table, op->start + b, op->mixed);
    finding->place.bucket = b;
    finding->place.slot = hash_slot_with(table, op->start + b, seen.same, op->mixed);
    return seen.empty;
}

ORDO_FN hash_finding hash_seek(const hash_table *table, const hash_op *op)
{
    hash_finding finding;
    finding.empty[1] = 0;
    finding.spilled = hash_load_spills(table, op->start + op->first);
    finding.empty[0] = hash_look_in(table, op, op->first, &finding);
    if (finding.place.slot != HASH_NONE || (finding.spilled == 0 && finding.empty[0]))
        return finding;
    finding.empty[1] = hash_look_in(table, op, hash_second_of(op), &finding);
    for (uint b = 0; finding.spilled == HASH_SCAN && finding.place.slot == HASH_NONE && b < op->buckets; b++)
        (void) hash_look_in(table, op, b, &finding);
    return finding;
}

/* Adds `delta`, 1 or -1, to the home bucket's spill count. `spilled` must be the count before the call. */
ORDO_FN void hash_spill(const hash_table *table, const hash_op *op, uint spilled, uint delta)
{
    const uint bucket = op->start + op->first;
    if (spilled == HASH_SCAN)
        ordo_or(&table->counts[op->partition], HASH_RECOUNT);
    else
        ordo_add((volatile __global uint *) table->spills + bucket / 4, delta << bucket % 4 * 8);
}

ORDO_FN void hash_erase_at(const hash_batch *batch, const hash_table *table, hash_op *op, const hash_finding *finding)
{
    hash_vacate(batch, op, op->start + finding->place.bucket, finding->place.slot);
    hash_note_change(table, op->partition, op->start + finding->place.bucket, batch->changed);
    hash_pause(batch, op, FAULT_SLOW_STORES);
    if (finding->place.bucket != op->first) {
        hash_spill(table, op, finding->spilled, ~0u);
        hash_note_change(table, op->partition, op->start + op->first, batch->changed);
    }
    ordo_add(&table->counts[op->partition], ~0u);
}

ORDO_FN void hash_put_value(const hash_batch *batch, const hash_table *table, const hash_op *op, uint bucket, uint slot)
{
#if ORDO_VALUE_BYTES == 8
    ordo_store_uncached64(hash_values(table, bucket) + slot, batch->values[op->i]);
#elif ORDO_VALUE_BYTES == 16
    ordo_store_uncached128((__global uint *) (hash_values(table, bucket) + slot), as_uint4(batch->values[op->i]));
#elif ORDO_VALUE_BYTES == 4
    ordo_store_uncached(hash_values(table, bucket) + slot, batch->values[op->i]);
#endif
}

ORDO_FN bool hash_put_into(const hash_batch *batch, const hash_table *table, hash_op *op, uint b, uint slots)
{
    for (uint slot = 0; slot < HASH_SLOTS; slot++) {
        if (!(slots >> slot & 1) || !hash_claim(batch, op, op->start + b, slot))
            continue;
        hash_pause(batch, op, FAULT_SLOW_STORES);
        hash_put_value(batch, table, op, op->start + b, slot);
        hash_note_change(table, op->partition, op->start + b, batch->changed);
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
        hash_note_change(table, op->partition, op->start + op->first, batch->changed);
    }
    ordo_add(&table->counts[op->partition], 1);
    return hash_answer(batch, op, false);
}

ORDO_FN uint hash_change(const hash_batch *batch, const hash_table *table, hash_op *op)
{
    const hash_finding finding = hash_seek(table, op);
    const bool         found = finding.place.slot != HASH_NONE;

    hash_pause(batch, op, FAULT_SLOW_LOOKS);
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

    if (concurrent_strikes(&op->faults, FAULT_LATCHES, 8))
        return TRY_AGAIN;
    const uint was = ordo_or(latch, bit);
    if (was & bit)
        return TRY_AGAIN;
    if (HASH_BY_FENCE)
        ordo_fence_device();
    const uint zero = HASH_BY_FENCE ? 0 : ordo_after(was, batch->never);
    table.buckets += zero;
    table.spills += zero;
    const uint came = hash_change(batch, &table, op);
    ordo_fence_device();
    (void) ordo_add(latch, 0u - bit);
    return came;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Returns false if operation i is not an update. `again` is true if an earlier launch tried the operation. */
ORDO_FN bool hash_take_op(const hash_batch *batch, hash_op *op, uint i, bool again)
{
    const hash_table *table = &batch->table;

    op->i = i;
    op->code = batch->codes[i];
    if (CODE_FINDS(op->code))
        return false;
    if (!again)
        concurrent_tick(batch->history, batch->state + HASH_TICK, i, 0);
    if (!CODE_UPDATES(op->code)) {
        hash_outcome(batch, op, OUTCOME_UNKNOWN);
        return false;
    }
    op->mixed = hash_mix(batch->keys[i], table->seed);
    op->partition = hash_partition(op->mixed, table->bits);
    op->start = table->starts ? table->starts[op->partition] : 0;
    op->buckets = table->starts ? table->starts[op->partition + 1] - op->start : 0;
    op->first = hash_home(op->mixed, table->bits, op->buckets);
    return true;
}

ORDO_FN void hash_give_up(const hash_batch *batch, const hash_op *op, uint came)
{
    if (came == TRY_FULL && batch->final)
        hash_outcome(batch, op, OUTCOME_NOT_STORED);
    else
        batch->pending[ordo_add(batch->state + HASH_PENDING, 1)] = op->i;
}

/* Keeps all lanes of a sub-group in a loop until no lane needs another try. */
#if SUBGROUP_MAY_PART && RUN_GROUP % ORDO_SUBGROUP == 0
#define HASH_ANY_LANE(more) subgroup_any(more)
#else
#define HASH_ANY_LANE(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define HASH_KERNEL __kernel __attribute__((reqd_work_group_size(RUN_GROUP, 1, 1)))
#else
#define HASH_KERNEL ORDO_KERNEL(RUN_GROUP)
#endif

/* The whole sub-group must call, even if `more` is false. */
ORDO_FN void hash_run_op(const hash_batch *batch, hash_op *op, bool more, uint how)
{
    for (uint tries = 0; tries < HASH_TRIES(op) && HASH_ANY_LANE(more); tries++) {
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

ORDO_FN void hash_run(const hash_batch *batch, __global const uint *again, uint first, uint n, uint how, uint faults)
{
    const bool  alone = how == HASH_ALONE, mine = !alone || get_global_id(0) == 0;
    const ulong stride = alone ? 1 : get_global_size(0);
    hash_op     op;

    op.faults = concurrent_begin(batch->state + HASH_TICK, faults);
    for (ulong base = (ulong) get_group_id(0) * RUN_GROUP; base < n; base += stride) {
        const ulong k = base + (alone ? 0 : get_local_id(0));
        const bool  more =
            mine && k < n && hash_take_op(batch, &op, again ? again[first + k] : first + (uint) k, again != 0);
        hash_run_op(batch, &op, more, how);
    }
}

#define AT(array) (array ? array + array##_at : array)

/* Runs n operations of the list `again`, from index `first` on. If `again` is NULL, runs operations of the batch
 * itself. `how` is a value of enum hash_way. All latches must be 0. n_latches must be a power of two. */
HASH_KERNEL
void hash_apply(HASH_TABLE, uint first, uint n, uint how, uint final, uint never, __global const uint *again,
                __global uint *pending, __global uint *state, __global uint *latches, uint n_latches,
                __global uint *history, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                ulong keys_at, __global const hash_value *values, ulong values_at, __global uchar *found,
                ulong found_at, __global uchar *outcomes, ulong outcomes_at, uint faults)
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
    hash_run(&batch, again, first, n, how, faults);
    hash_update_filters(&batch.table, &changed);
}

ORDO_KERNEL(RUN_GROUP)
void hash_find_in_batch(HASH_TABLE, uint n, __global uint *history, __global const uchar *codes, ulong codes_at,
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

/* The table must have buckets. Adds the number of upserts and inserts of absent keys to state[HASH_PENDING]. */
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

/* ---- operations that gave up ------------------------------------------------------------------------------------- */

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

/* Copies the results of hash_gather's ordered batch. Its operation l is operation left[first + l] of the concurrent
 * batch. */
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
