/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that apply small batches of upserts without a sort. hash_small_plan computes all changes of the table, and
 * hash_small_write makes them. If a kernel declines the batch, the table does not change. */
#pragma once
#include "dict/hash/batch.cl"
#include "dict/hash/small.cl"

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* Each work-group of hash_small_plan has a bin of HASH_SMALL_UPDATES entries. This kernel stores each key's mixed form
 * and its index in the batch into a bin. state[HASH_SMALL_COUNTS + b] becomes the number of keys of bin b, which may
 * exceed HASH_SMALL_UPDATES. */
ORDO_KERNEL(HASH_GROUP)
void hash_small_bin(__global const ordo_key *keys, ulong keys_at, uint n, ulong seed, __global uint *state,
                    __global ordo_key *bin_keys, __global uint *bin_index, uint group_bits)
{
    const uint first = (uint) get_group_id(0) * HASH_GROUP * HASH_SMALL_BIN_KEYS + (uint) get_local_id(0);
    ordo_key   key[HASH_SMALL_BIN_KEYS];

    ORDO_UNROLL
    for (uint k = 0; k < HASH_SMALL_BIN_KEYS; k++)
        key[k] = keys[keys_at + min(first + k * HASH_GROUP, n - 1)];
    ORDO_UNROLL
    for (uint k = 0; k < HASH_SMALL_BIN_KEYS; k++) {
        const uint i = first + k * HASH_GROUP;
        if (i >= n)
            continue;
        const ordo_key mixed = hash_mix(key[k], seed);
        const uint     bin = hash_partition(mixed, group_bits), at = ordo_add(&state[HASH_SMALL_COUNTS + bin], 1u);
        if (at >= HASH_SMALL_UPDATES)
            continue;
        bin_keys[bin * HASH_SMALL_UPDATES + at] = mixed;
        bin_index[bin * HASH_SMALL_UPDATES + at] = i;
    }
}

/* ---- updates of a work-group ------------------------------------------------------------------------------------- */

/* If bin_keys is NULL, the keys of the batch are in keys[0 .. n - 1]. Otherwise they are in bin_keys[], in bins. */
typedef struct {
    __global const ordo_key *keys;
    uint                     n, kind;
    ulong                    seed;
    __global uint           *state;
    __global const ordo_key *bin_keys;
    __global const uint     *bin_index;
    uint                     group_bits; /* log2 of the number of work-groups */
} small_batch;

ORDO_FN bool small_is_own(ordo_key mixed, uint group_bits)
{
    return hash_partition(mixed, group_bits) == (uint) get_group_id(0);
}

ORDO_FN void small_take_one(__local hash_small *mem, ordo_key mixed, uint i)
{
    const uint at = atomic_inc(&mem->n);
    if (at >= HASH_SMALL_UPDATES)
        return;
    mem->mixed[at] = mixed;
    mem->index[at] = i;
}

/* A work-item loads this number of keys before it uses the first, so that the loads overlap. */
#define SMALL_LOADS 8

ORDO_FN void small_take_of_batch(const small_batch *batch, __local hash_small *mem)
{
    for (uint base = (uint) get_local_id(0); base < batch->n; base += HASH_GROUP * SMALL_LOADS) {
        ordo_key key[SMALL_LOADS];
        ORDO_UNROLL
        for (uint k = 0; k < SMALL_LOADS; k++)
            key[k] = batch->keys[min(base + k * HASH_GROUP, batch->n - 1)];
        ORDO_UNROLL
        for (uint k = 0; k < SMALL_LOADS; k++) {
            const ordo_key mixed = hash_mix(key[k], batch->seed);
            if (base + k * HASH_GROUP < batch->n && small_is_own(mixed, batch->group_bits))
                small_take_one(mem, mixed, base + k * HASH_GROUP);
        }
    }
}

ORDO_FN void small_take_of_bin(const small_batch *batch, __local hash_small *mem)
{
    const uint bin = (uint) get_group_id(0), n = batch->state[HASH_SMALL_COUNTS + bin];
    HASH_EACH (j, min(n, (uint) HASH_SMALL_UPDATES)) {
        mem->mixed[j] = batch->bin_keys[bin * HASH_SMALL_UPDATES + j];
        mem->index[j] = batch->bin_index[bin * HASH_SMALL_UPDATES + j];
    }
    if (get_local_id(0) == 0)
        mem->n = n;
}

/* Fills mem->mixed and mem->index with the updates of the work-group's partitions, in any order. */
ORDO_FN void small_take(const small_batch *batch, __local hash_small *mem)
{
    if (batch->bin_keys)
        small_take_of_bin(batch, mem);
    else
        small_take_of_batch(batch, mem);
    hash_barrier();
    if (get_local_id(0) == 0 && mem->n > HASH_SMALL_UPDATES) {
        mem->n = 0;
        mem->declined = 1;
    }
    hash_barrier();
}

/* Lists the updates in mem->order, by ascending index in the batch. Sets mem->where[] to SMALL_DEAD for updates that a
 * later one of the same key replaces, and to SMALL_NEW for the others. */
ORDO_FN void small_order(const small_batch *batch, __local hash_small *mem)
{
    HASH_EACH (j, mem->n) {
        const uint     index = mem->index[j];
        const ordo_key mixed = mem->mixed[j];
        uint           u = 0;
        bool           live = true;
        for (uint k = 0; k < mem->n; k++) {
            const bool later = mem->index[k] > index;
            u += mem->index[k] < index;
            if (batch->kind == HASH_ANY && later && key_same(mem->mixed[k], mixed))
                live = false;
        }
        mem->order[u] = (uchar) j;
        mem->where[j] = live ? SMALL_NEW : SMALL_DEAD;
    }
    hash_barrier();
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

ORDO_FN hash_part small_part_of(const hash_table *table, ordo_key mixed)
{
    return hash_part_at(table, hash_partition(mixed, table->bits));
}

ORDO_FN void small_decline(__local hash_small *mem)
{
    atomic_or(&mem->declined, 1u);
}

ORDO_FN void small_look(const hash_table *table, __local hash_small *mem)
{
    HASH_EACH (j, mem->n) {
        if (mem->where[j] == SMALL_DEAD)
            continue;
        const hash_part part = small_part_of(table, mem->mixed[j]);
        if (part.buckets == 0) {
            mem->where[j] = SMALL_DEAD;
            small_decline(mem);
            continue;
        }
        const hash_place place = hash_look(table, part.start, part.buckets, mem->mixed[j]);
        if (place.slot != HASH_NONE)
            mem->where[j] = place.bucket * HASH_SLOTS + place.slot;
    }
    hash_barrier();
}

ORDO_FN void small_count(const hash_table *table, __local hash_small *mem, const small_plan *plan)
{
    HASH_EACH (j, mem->n) {
        const uint p = hash_partition(mem->mixed[j], table->bits);
        const uint there = table->counts[p], buckets = hash_part_at(table, p).buckets;
        uint       n = 0, first = j;
        if (mem->where[j] != SMALL_NEW)
            continue;
        for (uint k = 0; k < mem->n; k++)
            if (mem->where[k] == SMALL_NEW && hash_partition(mem->mixed[k], table->bits) == p) {
                n++;
                first = min(first, k);
            }
        if (first != j)
            continue;
        if (there + n > HASH_LIMIT(buckets))
            small_decline(mem);
        plan->counts[atomic_inc(&mem->counts)] = (uint2) (p, n);
    }
    hash_barrier();
}

/* Returns HASH_NONE if all entries are used. */
ORDO_FN uint small_entry(__local hash_small *mem, uint bucket, uint p)
{
    uint at = hash_share(bucket * 0x9e3779b1u, HASH_SMALL_BUCKETS);
    for (uint tries = 0; tries < HASH_SMALL_BUCKETS; tries++) {
        const uint was = atomic_cmpxchg(&mem->buckets[at], 0u, bucket + 1);
        if (was == 0) {
            mem->partitions[at] = p;
            mem->used[atomic_inc(&mem->buckets_used)] = (uchar) at;
        }
        if (was == 0 || was == bucket + 1)
            return at;
        at = at + 1 == HASH_SMALL_BUCKETS ? 0 : at + 1;
    }
    return HASH_NONE;
}

ORDO_FN void small_load_line(__global const ordo_key *line, __private ordo_key *mixed)
{
#if KEY_BITS == 32
    const uint4 a = ((__global const uint4 *) line)[0], b = ((__global const uint4 *) line)[1];
    mixed[0] = a.s0;
    mixed[1] = a.s1;
    mixed[2] = a.s2;
    mixed[3] = a.s3;
    mixed[4] = b.s0;
    mixed[5] = b.s1;
    mixed[6] = b.s2;
    mixed[7] = b.s3;
#else
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++)
        mixed[s] = line[s];
#endif
}

/* Computes the words (hash_word) of bucket b of a partition. The loads of its keys overlap. */
ORDO_FN void small_load(const hash_table *table, const hash_part *part, uint b, __private uint *words)
{
    ordo_key mixed[HASH_SLOTS];
    small_load_line(hash_keys(table, part->start + b), mixed);
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++)
        words[s] = hash_word_of(table, part, b * HASH_SLOTS + s, mixed[s]);
}

ORDO_FN uint small_least(__private const uint *words)
{
    uint least = words[0];
    ORDO_UNROLL
    for (uint s = 1; s < HASH_SLOTS; s++)
        least = min(least, words[s]);
    return least;
}

ORDO_FN uint small_slot_of(__private const uint *words, uint word)
{
    uint slot = 0;
    ORDO_UNROLL
    for (uint s = 1; s < HASH_SLOTS; s++)
        slot = words[s] == word ? s : slot;
    return slot;
}

/* Adds a word to bucket b of a partition, which keeps only its HASH_SLOTS greatest words. Returns the word that the
 * bucket drops, or 0. If there is no room in local memory, sets *full and returns `word`. Several work-items may store
 * the words of the table at any time, because atomic_max never lowers a word. */
ORDO_FN uint small_propose(const hash_table *table, const hash_part *part, __local hash_small *mem, uint b, uint word,
                           bool *full)
{
    const uint at = small_entry(mem, part->start + b, part->number);
    uint       words[HASH_SLOTS];
    *full = at == HASH_NONE;
    if (*full)
        return word;
    __local uint *kept = mem->words + at * SMALL_STRIDE;
    small_load(table, part, b, words);
    while (word) {
        ORDO_UNROLL
        for (uint s = 0; s < HASH_SLOTS; s++)
            words[s] = max(words[s], (uint) atomic_max(&kept[s], words[s]));
        const uint least = small_least(words);
        if (word < least)
            break;
        const uint was = atomic_max(&kept[small_slot_of(words, least)], word);
        word = min(word, was);
        if (was == least)
            break;
    }
    return word;
}

/* An element that looks for a slot, next in bucket b of its partition. */
typedef struct {
    hash_part part;
    uint      word, b;
} small_seeker;

ORDO_FN void small_start(const hash_table *table, __local hash_small *mem, uint u, __private small_seeker *seeker)
{
    const ordo_key mixed = mem->mixed[mem->order[u]];
    seeker->part = small_part_of(table, mixed);
    seeker->b = hash_home(mixed, table->bits, seeker->part.buckets);
    seeker->word = hash_word(0, HASH_SLOTS_MAX + u + 1, hash_second(mixed, seeker->b, seeker->part.buckets));
}

/* After one proposal, the seeker is the element that the bucket drops. If there is none, its word becomes 0. */
ORDO_FN void small_step(const hash_table *table, __local hash_small *mem, __private small_seeker *seeker)
{
    bool       full = false;
    const uint left = small_propose(table, &seeker->part, mem, seeker->b, seeker->word, &full);
    const bool fails = full || hash_proposals_of(left) + 1 >= HASH_PROPOSALS_MAX;
    if (fails)
        small_decline(mem);
    seeker->word = left && !fails ? hash_word(hash_proposals_of(left) + 1, hash_number_of(left), seeker->b) : 0;
    seeker->b = hash_other_of(left);
}

/* In each round, each work-item makes one proposal, or begins with its next update. */
ORDO_FN void small_settle_all(const hash_table *table, __local hash_small *mem)
{
    small_seeker seeker = { .word = 0 };
    for (uint u = (uint) get_local_id(0); seeker.word || u < mem->n;) {
        if (!seeker.word) {
            const bool is_new = mem->where[mem->order[u]] == SMALL_NEW;
            if (is_new)
                small_start(table, mem, u, &seeker);
            u += HASH_GROUP;
            if (!is_new)
                continue;
        }
        small_step(table, mem, &seeker);
    }
    hash_barrier();
}

ORDO_FN void small_spill(const hash_table *table, __local hash_small *mem, const small_plan *plan, uint bucket,
                         uint down)
{
    const uint at = atomic_inc(&mem->spills);
    if (at >= HASH_SMALL_SPILLS || table->spills[bucket] >= HASH_SMALL_SPILL_MAX)
        small_decline(mem);
    else
        plan->spills[at] = 2 * bucket + down;
}

/* Returns where the plan finds the element of that number. */
ORDO_FN uint small_source(const hash_part *part, __local hash_small *mem, uint number)
{
    const uint old = number - 1;
    return old < HASH_SLOTS_MAX ? part->start * HASH_SLOTS + old
                                : SMALL_OF_BATCH + mem->index[mem->order[old - HASH_SLOTS_MAX]];
}

/* Orders the words of bucket b: elements that the bucket had keep their slots, and the others take the remaining slots,
 * the greatest word first. So the order does not depend on the order of proposals. Returns a bitmap of the slots of the
 * others. */
ORDO_FN uint small_arrange(uint b, __local uint *kept)
{
    uint comes[HASH_SLOTS], taken = 0, others = 0;
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++) {
        comes[s] = kept[s];
        kept[s] = 0;
    }
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++) {
        const uint from = hash_number_of(comes[s]) - 1;
        if (from / HASH_SLOTS == b) {
            kept[from % HASH_SLOTS] = comes[s];
            taken |= 1u << from % HASH_SLOTS;
            comes[s] = 0;
        }
    }
    for (uint i = 0; i < HASH_SLOTS; i++) {
        uint greatest = comes[0];
        ORDO_UNROLL
        for (uint s = 1; s < HASH_SLOTS; s++)
            greatest = max(greatest, comes[s]);
        if (!greatest)
            break;
        ORDO_UNROLL
        for (uint s = 0; s < HASH_SLOTS; s++)
            comes[s] = comes[s] == greatest ? 0 : comes[s];
        const uint slot = 31 - clz(~taken & (taken + 1));
        kept[slot] = greatest;
        taken |= 1u << slot;
        others |= 1u << slot;
    }
    return others;
}

/* Lists the slots that get another element. No bucket loses elements without getting others. */
ORDO_FN void small_compare(const hash_table *table, __local hash_small *mem)
{
    HASH_EACH (used, mem->buckets_used) {
        const uint at = mem->used[used];
        const uint b = mem->buckets[at] - 1 - table->starts[mem->partitions[at]];
        const uint others = small_arrange(b, mem->words + at * SMALL_STRIDE);
        uint       i = others ? atomic_add(&mem->changes, popcount(others)) : 0;
        for (uint rest = others; rest && i < HASH_SMALL_MOVES; rest &= rest - 1)
            mem->changed[i++] = (ushort) (at * HASH_SLOTS + 31 - clz(rest & (~rest + 1)));
    }
    hash_barrier();
    if (get_local_id(0) == 0 && mem->changes > HASH_SMALL_MOVES) {
        mem->changes = 0;
        mem->declined = 1;
    }
    hash_barrier();
}

ORDO_FN void small_record(const hash_table *table, __local hash_small *mem, const small_plan *plan)
{
    HASH_EACH (i, mem->changes) {
        const uint      at = mem->changed[i] / HASH_SLOTS, k = mem->changed[i] % HASH_SLOTS;
        const hash_part part = hash_part_at(table, mem->partitions[at]);
        const uint      s = (mem->buckets[at] - 1 - part.start) * HASH_SLOTS + k;
        const uint      was = hash_word_there(table, &part, s), word = mem->words[at * SMALL_STRIDE + k];
        if (hash_proposals_of(was) == HASH_PROPOSALS_MAX)
            small_decline(mem);
        else if (hash_proposals_of(was) == 1)
            small_spill(table, mem, plan, part.start + hash_other_of(was), 1);
        if (hash_proposals_of(word) % 2 == 1)
            small_spill(table, mem, plan, part.start + hash_other_of(word), 0);
        plan->moves[i] = (uint2) (part.start * HASH_SLOTS + s, small_source(&part, mem, hash_number_of(word)));
    }
    hash_barrier();
}

ORDO_FN uint small_slot_after(const hash_table *table, const hash_part *part, __local hash_small *mem, uint s)
{
    const uint was = hash_word_there(table, part, s);
    for (uint side = 0; side < 2; side++) {
        const uint b = side ? hash_other_of(was) : s / HASH_SLOTS;
        for (uint tries = 0, at = hash_share((part->start + b) * 0x9e3779b1u, HASH_SMALL_BUCKETS);
             tries < HASH_SMALL_BUCKETS && mem->buckets[at]; tries++) {
            for (uint k = 0; mem->buckets[at] == part->start + b + 1 && k < HASH_SLOTS; k++)
                if (hash_number_of(mem->words[at * SMALL_STRIDE + k]) == s + 1)
                    return b * HASH_SLOTS + k;
            at = at + 1 == HASH_SMALL_BUCKETS ? 0 : at + 1;
        }
    }
    return s;
}

ORDO_FN void small_renew(const hash_table *table, __local hash_small *mem, const small_plan *plan)
{
#if ORDO_VALUE_BYTES
    HASH_EACH (j, mem->n) {
        if (mem->where[j] >= SMALL_DEAD)
            continue;
        const hash_part part = small_part_of(table, mem->mixed[j]);
        const uint      s = small_slot_after(table, &part, mem, mem->where[j] - part.start * HASH_SLOTS);
        plan->renewals[atomic_inc(&mem->renewals)] = (uint2) (part.start * HASH_SLOTS + s, mem->index[j]);
    }
#endif
    hash_barrier();
}

ORDO_FN void small_begin(__local hash_small *mem)
{
    HASH_EACH (b, HASH_SMALL_BUCKETS)
        mem->buckets[b] = 0;
    HASH_EACH (s, HASH_SMALL_BUCKETS * SMALL_STRIDE)
        mem->words[s] = 0;
    if (get_local_id(0) == 0)
        mem->n = mem->declined = mem->counts = mem->buckets_used = mem->changes = mem->spills = mem->renewals = 0;
    hash_barrier();
}

/* Each work-group computes the changes of its partitions, and stores them in its part of words[]. The top group_bits
 * bits of a mixed key are the index of its work-group. The number of work-groups must be 1 << group_bits. */
ORDO_KERNEL(HASH_GROUP)
void hash_small_plan(HASH_TABLE, __global const ordo_key *keys, ulong keys_at, uint n, uint kind, __global uint *state,
                     __global const ordo_key *bin_keys, __global const uint *bin_index, uint group_bits,
                     __global uint *words)
{
    __local hash_small mem;
    const hash_table   table = HASH_TABLE_HERE;
    const small_batch  batch = {
         .keys = keys + keys_at,
         .n = n,
         .kind = kind,
         .seed = table_seed,
         .state = state,
         .bin_keys = bin_keys,
         .bin_index = bin_index,
         .group_bits = group_bits,
    };
    const small_plan plan = small_plan_of(words);

    small_begin(&mem);
    small_take(&batch, &mem);
    small_order(&batch, &mem);
    small_look(&table, &mem);
    small_count(&table, &mem, &plan);
    small_settle_all(&table, &mem);
    small_compare(&table, &mem);
    small_record(&table, &mem, &plan);
    small_renew(&table, &mem, &plan);
    if (get_local_id(0) != 0)
        return;
    if (mem.declined)
        ordo_or(&state[HASH_SMALL_DECLINED], 1u);
    plan.heads[SMALL_HEAD_COUNTS] = mem.counts;
    plan.heads[SMALL_HEAD_MOVES] = mem.changes;
    plan.heads[SMALL_HEAD_SPILLS] = mem.spills;
    plan.heads[SMALL_HEAD_RENEWALS] = mem.renewals;
}

/* ---- write ------------------------------------------------------------------------------------------------------- */

typedef struct {
    ordo_key keys[HASH_SMALL_MOVES];
#if ORDO_VALUE_BYTES
    ordo_value values[HASH_SMALL_MOVES];
#endif
} small_elements;
ORDO_STATIC_ASSERT(sizeof(small_elements) <= HASH_LOCAL_MAX, "small devices have the local memory");

typedef struct {
    __global const ordo_key   *keys;
    __global const hash_value *values;
} small_given;

ORDO_FN void small_fetch(const hash_table *table, const small_plan *plan, const small_given *given,
                         __local small_elements *mem)
{
    HASH_EACH (i, plan->heads[SMALL_HEAD_MOVES]) {
        const uint from = plan->moves[i].y, u = from - SMALL_OF_BATCH;
        const bool is_new = from >= SMALL_OF_BATCH;
        mem->keys[i] =
            is_new ? hash_mix(given->keys[u], table->seed) : hash_keys(table, from / HASH_SLOTS)[from % HASH_SLOTS];
#if ORDO_VALUE_BYTES
        mem->values[i] = is_new ? given->values[u] : hash_values(table, from / HASH_SLOTS)[from % HASH_SLOTS];
#endif
    }
    hash_barrier();
}

/* First writes the elements that move or are new. After the barrier, writes new values of present keys. This order is
 * necessary because an element that moves brings its old value. */
ORDO_FN void small_write_elements(const hash_table *table, const small_plan *plan, const small_given *given,
                                  __local small_elements *mem)
{
    HASH_EACH (i, plan->heads[SMALL_HEAD_MOVES]) {
        const uint slot = plan->moves[i].x;
        hash_keys(table, slot / HASH_SLOTS)[slot % HASH_SLOTS] = mem->keys[i];
#if ORDO_VALUE_BYTES
        hash_values(table, slot / HASH_SLOTS)[slot % HASH_SLOTS] = mem->values[i];
#endif
    }
    hash_barrier();
#if ORDO_VALUE_BYTES
    HASH_EACH (i, plan->heads[SMALL_HEAD_RENEWALS]) {
        const uint2 renewal = plan->renewals[i];
        hash_values(table, renewal.x / HASH_SLOTS)[renewal.x % HASH_SLOTS] = given->values[renewal.y];
    }
#endif
}

/* Changes spill counts by atomic additions, because other work-groups may change other bytes of the same word. */
ORDO_FN void small_write_counts(const hash_table *table, const small_plan *plan)
{
    HASH_EACH (i, plan->heads[SMALL_HEAD_SPILLS]) {
        const uint bucket = plan->spills[i] / 2, delta = plan->spills[i] % 2 ? ~0u : 1;
        ordo_add((volatile __global uint *) table->spills + bucket / 4, delta << bucket % 4 * 8);
    }
    HASH_EACH (i, plan->heads[SMALL_HEAD_COUNTS])
        table->counts[plan->counts[i].x] += plan->counts[i].y;
}

/* Also sets the work-group's count in `state` to 0. */
ORDO_KERNEL(HASH_GROUP)
void hash_small_write(HASH_TABLE, __global const ordo_key *keys, ulong keys_at, __global const hash_value *values,
                      ulong values_at, __global uint *state, __global uint *words)
{
    __local small_elements mem;
    const hash_table       table = HASH_TABLE_HERE;
    const small_plan       plan = small_plan_of(words);
    const small_given      given = { keys + keys_at, values ? values + values_at : values };

    if (get_local_id(0) == 0)
        state[HASH_SMALL_COUNTS + get_group_id(0)] = 0;
    if (state[HASH_SMALL_DECLINED])
        return;
    small_fetch(&table, &plan, &given, &mem);
    small_write_elements(&table, &plan, &given, &mem);
    small_write_counts(&table, &plan);
}
