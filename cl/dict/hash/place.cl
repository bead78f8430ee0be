/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of a hash table, each filled or updated by one work-group, whose local memory has a word for each slot.
 *
 *   hash_distinct   how many different keys a batch has in each partition
 *   hash_plan       whether the table has room for a batch, exactly
 *   hash_fill       a new table's partitions
 *   hash_update     a batch, in place
 *   hash_recount    what erasures left to be counted
 *   hash_export     all elements, partition by partition, bucket by bucket
 *   hash_check      looks for what must not be
 *
 * Where elements go. An element asks for its first bucket, then for its second, then again for its first, and so on, up to
 * HASH_MOVES times; a bucket keeps, of all that ask for it, the eight that have asked most often, and of those the ones
 * with the greatest number. This is D. Gale and L. S. Shapley's deferred acceptance (AMM 1962), with an element's askings
 * as its contracts: whatever the order in which work-items do it, the same elements end in the same slots. As a cuckoo hash
 * table goes it moves those first that were moved least. A slot is a word, of how often its element has asked, the element's
 * number, and its other bucket, to which it goes when it has to: no key is read on the way. Asking is one atomic maximum for each
 * slot, whose lesser goes on to the next slot, and from the last one away. What asked in vain goes astray (H1): to the first
 * free slots, by number.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, HASH_GROUP (work-items of a group; 1: one that works alone).
 */
#pragma once
#include "device/atomic.cl"
#include "dict/hash/part.cl"

/* Places of the table that finds equal keys: more than updates. */
#define HASH_PLACES     3072
#define HASH_LIVE_WORDS ((HASH_UPDATES_MOST + 31) / 32)

typedef struct {
    uint words[HASH_PLACES];     /* a table of updates; then a word for each slot */
    uint live[HASH_LIVE_WORDS];  /* a bit for each update that is the last of its key */
    uint fresh[HASH_LIVE_WORDS]; /* of these, for each that is stored anew */
    uint astray[(HASH_NUMBERS + 31) / 32];
    uint spills[HASH_BUCKETS_MOST];
    uint stored, gone, any_astray, repeats;
} hash_local;
ORDO_STATIC_ASSERT(sizeof(hash_local) <= HASH_LOCAL_MOST, "a device of little local memory has the room");

/* Everything but live and words. */
ORDO_FN void hash_begin(__local hash_local *mem)
{
    HASH_EACH (i, (HASH_NUMBERS + 31) / 32)
        mem->astray[i] = 0;
    HASH_EACH (i, HASH_LIVE_WORDS)
        mem->fresh[i] = 0;
    HASH_EACH (b, HASH_BUCKETS_MOST)
        mem->spills[b] = 0;
    if (get_local_id(0) == 0)
        mem->stored = mem->gone = mem->any_astray = 0;
}

/* ---- equal keys -------------------------------------------------------------------------------------------------- */

ORDO_KERNEL(HASH_GROUP)
void hash_distinct(HASH_TABLE, HASH_BATCH, __global uint *distinct)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        if (get_local_id(0) == 0)
            mem.stored = 0;
        if (part.n > HASH_UPDATES_MOST || part.kind == HASH_DISTINCT) {
            if (get_local_id(0) == 0)
                distinct[p] = part.n;
            continue;
        }
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
        HASH_EACH (i, HASH_LIVE_WORDS)
            if (mem.live[i])
                atomic_add(&mem.stored, popcount(mem.live[i]));
        hash_barrier();
        if (get_local_id(0) == 0)
            distinct[p] = mem.stored;
        hash_barrier();
    }
}

/* ---- updates of what is there ------------------------------------------------------------------------------------ */

/* Finds and counts what a batch stores anew, and counts what it erases. `change`: values are replaced, words of what is erased
 * taken away. mem->fresh is all 0 before. Ends with a barrier. */
ORDO_FN void hash_match(const hash_table *table, const hash_part *part, __local hash_local *mem, bool change)
{
    HASH_EACH (u, part->n) {
        if (!hash_bit(mem->live, u))
            continue;
        const bool       erases = hash_erases(part, u);
        const ordo_key   mixed = part->mixed[u];
        const hash_place place = hash_look(table, part->start, part->buckets, mixed);
        if (place.slot == HASH_NONE && !erases) {
            atomic_inc(&mem->stored);
            hash_set(mem->fresh, u);
            continue;
        }
        if (place.slot == HASH_NONE)
            continue;
        if (erases)
            atomic_inc(&mem->gone);
        if (change && erases)
            mem->words[(place.bucket - part->start) * HASH_SLOTS + place.slot] = 0;
#if ORDO_VALUE_BYTES
        if (change && !erases)
            hash_values(table, place.bucket)[place.slot] =
                HASH_RENEWED(part, hash_values(table, place.bucket)[place.slot], u);
#endif
    }
    hash_barrier();
}

/* found: HASH_FULL, 1 if a partition has not the room. No partition has more than HASH_UPDATES_MOST updates. */
ORDO_KERNEL(HASH_GROUP)
void hash_plan(HASH_TABLE, HASH_BATCH, __global uint *found)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        if (part.n == 0)
            continue;
        hash_begin(&mem);
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
        if (part.buckets > 0)
            hash_match(&table, &part, &mem, false);
        if (get_local_id(0) == 0) {
            if (part.buckets == 0 || table.counts[p] + mem.stored - mem.gone > HASH_LIMIT(part.buckets))
                ordo_or(&found[HASH_FULL], 1u);
        }
        hash_barrier();
    }
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Finds a place for an update, and for each element that makes room for another. */
ORDO_FN void hash_settle(const hash_table *table, const hash_part *part, __local hash_local *mem, uint u)
{
    uint bucket = hash_first(part->mixed[u], table->bits, part->buckets);
    uint word = hash_word(0, HASH_SLOTS_MOST + u + 1, hash_second(part->mixed[u], bucket, part->buckets));
    while (hash_asked_of(word) < HASH_MOVES) {
        const uint left = hash_ask(mem->words + bucket * HASH_SLOTS, word);
        if (!left)
            return;
        word = hash_word(hash_asked_of(left) + 1, hash_number_of(left), bucket);
        bucket = hash_other_of(left);
    }
    hash_set(mem->astray, hash_number_of(word) - 1);
    atomic_inc(&mem->any_astray);
}

/* Elements that are astray go to free slots, of which there are enough. One work-item. */
ORDO_FN void hash_stray(const hash_part *part, __local hash_local *mem)
{
    uint slot = 0;
    for (uint i = 0; i < HASH_NUMBERS; i++) {
        if (!hash_bit(mem->astray, i))
            continue;
        while (slot < part->buckets * HASH_SLOTS && mem->words[slot])
            slot++;
        if (slot < part->buckets * HASH_SLOTS)
            mem->words[slot] = hash_word(HASH_MOVES, i + 1, 0);
    }
}

/* The updates of which `which` has bits find their places. Ends with a barrier. */
ORDO_FN void hash_place_all(const hash_table *table, const hash_part *part, __local hash_local *mem,
                            __local const uint *which)
{
    HASH_EACH (u, part->n)
        if (hash_bit(which, u))
            hash_settle(table, part, mem, u);
    hash_barrier();
    if (mem->any_astray && get_local_id(0) == 0)
        hash_stray(part, mem);
    hash_barrier();
}

/* Counts an element that lies in its second bucket. */
ORDO_FN void hash_count_spill(__local hash_local *mem, uint word)
{
    const uint asked = hash_asked_of(word);
    if (asked == HASH_MOVES)
        atomic_or(&mem->any_astray, 1u);
    else if (asked % 2 == 1)
        atomic_inc(&mem->spills[hash_other_of(word)]);
}

/* And filters: the keys are written. Ends with a barrier. */
ORDO_FN void hash_write_spills(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    hash_barrier();
    HASH_EACH (b, part->buckets) {
        table->spills[part->start + b] = (uchar) (mem->any_astray ? HASH_ALL : min(mem->spills[b], (uint) HASH_ALL));
        hash_filter(table, part->number, part->start + b);
    }
    hash_barrier();
}

/* ---- a new table ------------------------------------------------------------------------------------------------- */

/* starts are known; all else is written. No partition has more than HASH_BUCKETS_MOST buckets or HASH_UPDATES_MOST keys. */
ORDO_KERNEL(HASH_GROUP)
void hash_fill(HASH_TABLE, HASH_BATCH)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        hash_begin(&mem);
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
        HASH_EACH (s, part.buckets * HASH_SLOTS)
            mem.words[s] = 0;
        hash_barrier();
        hash_place_all(&table, &part, &mem, mem.live);
        HASH_EACH (s, part.buckets * HASH_SLOTS) {
            const uint word = mem.words[s], bucket = part.start + s / HASH_SLOTS, slot = s % HASH_SLOTS;
            ordo_key   mixed = hash_empty(p, table.bits);
            if (word) {
                mixed = hash_key_of(&table, &part, hash_number_of(word));
                hash_count_spill(&mem, word);
                atomic_inc(&mem.stored);
#if ORDO_VALUE_BYTES
                hash_values(&table, bucket)[slot] = hash_value_of(&table, &part, hash_number_of(word));
#endif
            }
            hash_keys(&table, bucket)[slot] = mixed;
        }
        hash_write_spills(&table, &part, &mem);
        if (get_local_id(0) == 0)
            table.counts[p] = mem.stored;
        hash_barrier();
    }
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

/* Words of what is there. Ends with a barrier. */
ORDO_FN void hash_load(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    HASH_EACH (s, part->buckets * HASH_SLOTS)
        mem->words[s] = hash_word_there(table, part, s);
    hash_barrier();
}

/* Slots that a work-item sees to. */
#define HASH_OWN (HASH_SLOTS_MOST / HASH_GROUP + (HASH_SLOTS_MOST % HASH_GROUP != 0))

#if HASH_OWN <= 40
#define HASH_UNROLL ORDO_UNROLL
#else
#define HASH_UNROLL
#endif

/* Whether what is to be in a slot is not what is there. */
ORDO_FN bool hash_changes(const hash_table *table, const hash_part *part, uint s, uint word)
{
    if (word)
        return hash_number_of(word) != s + 1;
    const ordo_key was = hash_keys(table, part->start + s / HASH_SLOTS)[s % HASH_SLOTS];
    return hash_partition(was, table->bits) == part->number;
}

/* Elements go from slot to slot: all that move are read before any is written. */
ORDO_FN void hash_move(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    const uint     slots = part->buckets * HASH_SLOTS;
    const ordo_key empty = hash_empty(part->number, table->bits);
    ordo_key       keys[HASH_OWN];
#if ORDO_VALUE_BYTES
    ordo_value values[HASH_OWN];
#endif
    HASH_UNROLL
    for (uint i = 0; i < HASH_OWN; i++) {
        const uint s = (uint) get_local_id(0) + i * HASH_GROUP;
        const uint word = s < slots ? mem->words[s] : 0, number = hash_number_of(word);
        keys[i] = empty;
        if (word)
            hash_count_spill(mem, word);
        if (!word || number == s + 1)
            continue;
        keys[i] = hash_key_of(table, part, number);
#if ORDO_VALUE_BYTES
        values[i] = hash_value_of(table, part, number);
#endif
    }
    hash_barrier();
    HASH_UNROLL
    for (uint i = 0; i < HASH_OWN; i++) {
        const uint s = (uint) get_local_id(0) + i * HASH_GROUP;
        if (s >= slots || !hash_changes(table, part, s, mem->words[s]))
            continue;
        hash_keys(table, part->start + s / HASH_SLOTS)[s % HASH_SLOTS] = keys[i];
#if ORDO_VALUE_BYTES
        if (mem->words[s])
            hash_values(table, part->start + s / HASH_SLOTS)[s % HASH_SLOTS] = values[i];
#endif
    }
}

/* Each partition has the room. Of those of which left[p], an enum hash_left, says that they are left, or of all if it is NULL. Where
 * values are combined, left[p] says so no more once a partition is done: a launch that is tried once more does nothing twice. */
#if HASH_COMBINES
#define HASH_LEFT_GIVEN      __global uint *left
#define HASH_RENEWS(left, p) (!(left) || (left)[p] != HASH_FRESH_LEFT)
#else
#define HASH_LEFT_GIVEN      __global const uint *left
#define HASH_RENEWS(left, p) true
#endif

ORDO_KERNEL(HASH_GROUP)
void hash_update(HASH_TABLE, HASH_BATCH, HASH_LEFT_GIVEN HASH_HOW_GIVEN)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        if (left && !left[p])
            continue;
        HASH_PART_HERE(part, table, p)
        HASH_HOW_HERE(part);
        if (part.n == 0 || part.buckets == 0)
            continue;
        hash_begin(&mem);
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
#if HASH_COMBINES
        hash_fold(&part, mem.words, HASH_PLACES, mem.live, mem.repeats && HASH_RENEWS(left, p));
#endif
        if (!HASH_COMBINES)
            hash_load(&table, &part, &mem);
        hash_match(&table, &part, &mem, HASH_RENEWS(left, p));
        if (mem.stored + mem.gone > 0) {
            if (HASH_COMBINES) /* nothing is erased, so that no words were needed before */
                hash_load(&table, &part, &mem);
            hash_place_all(&table, &part, &mem, mem.fresh);
            hash_move(&table, &part, &mem);
            hash_write_spills(&table, &part, &mem);
            if (get_local_id(0) == 0)
                table.counts[p] += mem.stored - mem.gone;
        }
        hash_barrier();
#if HASH_COMBINES
        if (left && get_local_id(0) == 0)
            left[p] = HASH_DONE;
#endif
    }
}

/* Spills of the partitions that erasures have marked. */
ORDO_KERNEL(HASH_GROUP)
void hash_recount(HASH_TABLE)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint count = table.counts[p];
        if (!(count & HASH_RECOUNT))
            continue;
        hash_part part;
        part.number = p;
        part.start = table.starts[p];
        part.buckets = table.starts[p + 1] - part.start;
        hash_begin(&mem);
        hash_load(&table, &part, &mem);
        HASH_EACH (s, part.buckets * HASH_SLOTS)
            if (mem.words[s])
                hash_count_spill(&mem, mem.words[s]);
        hash_write_spills(&table, &part, &mem);
        if (get_local_id(0) == 0)
            table.counts[p] = count & ~HASH_RECOUNT;
        hash_barrier();
    }
}

/* ---- the whole of it --------------------------------------------------------------------------------------------- */

/* The sum of x over work-items before this one; *total: over all. Barriers at its begin and end. */
ORDO_FN uint hash_sum_before(uint x, __local uint *sums, uint *total)
{
#if HASH_GROUP == 1
    (void) sums;
    *total = x;
    return 0;
#else
    const uint lid = (uint) get_local_id(0);
    uint       upto = x;
    hash_barrier();
    sums[lid] = upto;
    hash_barrier();
    for (uint distance = 1; distance < HASH_GROUP; distance *= 2) {
        if (lid >= distance)
            upto += sums[lid - distance];
        hash_barrier();
        sums[lid] = upto;
        hash_barrier();
    }
    *total = sums[HASH_GROUP - 1];
    return upto - x;
#endif
}

/* before[p]: elements of the partitions before p. Outputs may be NULL. */
ORDO_KERNEL(HASH_GROUP)
void hash_export(HASH_TABLE, __global const uint *before, __global ordo_key *keys_out, ulong keys_out_at,
                 __global hash_value *values_out, ulong values_out_at)
{
    __local uint     sums[HASH_GROUP];
    const hash_table table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint start = table.starts[p], slots = (table.starts[p + 1] - start) * HASH_SLOTS;
        uint       at = before[p];
        for (uint first = 0; first < slots; first += HASH_GROUP) {
            const uint s = first + (uint) get_local_id(0);
            ordo_key   mixed = hash_empty(p, table.bits);
            uint       total = 0;
            if (s < slots)
                mixed = hash_keys(&table, start + s / HASH_SLOTS)[s % HASH_SLOTS];
            const bool is_there = hash_partition(mixed, table.bits) == p;
            const uint to = at + hash_sum_before(is_there, sums, &total);
            if (is_there && keys_out)
                keys_out[keys_out_at + to] = hash_unmix(mixed, table.seed);
#if ORDO_VALUE_BYTES
            if (is_there && values_out)
                values_out[values_out_at + to] = hash_values(&table, start + s / HASH_SLOTS)[s % HASH_SLOTS];
#endif
            at += total;
        }
    }
}

/* What is wrong, by invariant: wrong[h - 1] is the first partition of which Hh does not hold; wrong[HASH_WRONG_WORDS - 1]
 * counts the elements. The starts are those of H4. */
#define HASH_WRONG_WORDS 6

ORDO_KERNEL(HASH_GROUP)
void hash_check(HASH_TABLE, __global uint *wrong)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint start = table.starts[p], n = table.starts[p + 1] - start;
        hash_begin(&mem);
        hash_barrier();
        HASH_EACH (s, n * HASH_SLOTS) {
            const uint     b = s / HASH_SLOTS;
            const ordo_key mixed = hash_keys(&table, start + b)[s % HASH_SLOTS];
            if (hash_partition(mixed, table.bits) != p) {
                if (mixed != hash_empty(p, table.bits))
                    ordo_min(&wrong[1], p);
                continue;
            }
            atomic_inc(&mem.stored);
            const hash_place place = hash_look(&table, start, n, mixed);
            if (place.bucket != start + b || place.slot != s % HASH_SLOTS)
                ordo_min(&wrong[0], p);
            const uint first = hash_first(mixed, table.bits, n);
            if (b != first && b != hash_second(mixed, first, n))
                atomic_or(&mem.any_astray, 1u);
            else if (b != first)
                atomic_inc(&mem.spills[first]);
        }
        hash_barrier();
        HASH_EACH (b, n) {
            const uint spills = mem.any_astray ? HASH_ALL : min(mem.spills[b], (uint) HASH_ALL);
            if (table.spills[start + b] != spills)
                ordo_min(&wrong[2], p);
#if ORDO_CPU
            if (hash_filters(&table)[start + b] != hash_filter_for(&table, p, start + b, table.spills[start + b]))
                ordo_min(&wrong[4], p);
#endif
        }
        if (get_local_id(0) == 0) {
            if (table.counts[p] != mem.stored)
                ordo_min(&wrong[3], p);
            ordo_add(&wrong[HASH_WRONG_WORDS - 1], mem.stored);
        }
        hash_barrier();
    }
}
