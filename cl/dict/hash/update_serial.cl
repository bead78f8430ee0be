/* SPDX-License-Identifier: Apache-2.0 */
/* Updates each partition with one work-item, in the order of the batch. This is the fastest way on CPUs. */
#pragma once
#include "dict/hash/placement.cl"

/* Maximum number of elements that an insert moves to their other buckets. */
#define HASH_EVICTIONS_MAX 64
/* Distances between a prefetch and the update that needs it: of a home bucket, and of a second bucket. The latter needs
 * the former. */
#define HASH_AHEAD        16
#define HASH_AHEAD_SECOND 8

typedef struct {
    uint count;
    bool recounts; /* A spill count was HASH_SCAN, and must be counted again. */
} hash_tally;

ORDO_FN void hash_put(const hash_table *table, hash_place place, ordo_key mixed, hash_value value)
{
    hash_keys(table, place.bucket)[place.slot] = mixed;
#if ORDO_VALUE_BYTES
    hash_values(table, place.bucket)[place.slot] = value;
#endif
}

ORDO_FN bool hash_put_free(const hash_table *table, const hash_part *part, uint bucket, ordo_key mixed,
                           hash_value value)
{
    const hash_place place = { bucket, hash_slot_of(table, bucket, hash_empty(part->number, table->bits)) };
    if (place.slot == HASH_NONE)
        return false;
    hash_put(table, place, mixed, value);
    hash_filter_add(table, bucket, mixed);
    return true;
}

ORDO_FN void hash_note_spill(const hash_table *table, uint home, uint spills)
{
    table->spills[home] = (uchar) min(spills, (uint) HASH_SCAN);
    hash_filter_spill(table, home);
}

ORDO_FN void hash_forget_spill(const hash_table *table, const hash_part *part, uint home, __private hash_tally *tally)
{
    if (table->spills[home] == HASH_SCAN)
        tally->recounts = true;
    else
        table->spills[home] = (uchar) (table->spills[home] - 1);
    hash_filter(table, part->number, home);
}

ORDO_FN uint hash_home_in(const hash_table *table, const hash_part *part, ordo_key mixed)
{
    return part->start + hash_home(mixed, table->bits, part->buckets);
}

ORDO_FN uint hash_second_in(const hash_table *table, const hash_part *part, ordo_key mixed, uint home)
{
    return part->start + hash_second(mixed, home - part->start, part->buckets);
}

/* Puts an element into a full bucket. *mixed and *value become the element that it replaces. */
ORDO_FN void hash_evict(const hash_table *table, const hash_part *part, hash_place place, __private ordo_key *mixed,
                        __private hash_value *value, __private hash_tally *tally)
{
    const ordo_key   was = hash_keys(table, place.bucket)[place.slot];
    const hash_value was_value =
#if ORDO_VALUE_BYTES
        hash_values(table, place.bucket)[place.slot];
#else
        0;
#endif
    const uint home = hash_home_in(table, part, was);
    hash_put(table, place, *mixed, *value);
    hash_filter(table, part->number, place.bucket);
    if (place.bucket != home)
        hash_forget_spill(table, part, home, tally);
    *mixed = was;
    *value = was_value;
}

ORDO_FN void hash_put_stashed(const hash_table *table, const hash_part *part, ordo_key mixed, hash_value value)
{
    bool done = false;
    for (uint b = 0; b < part->buckets && !done; b++)
        done = hash_put_free(table, part, part->start + b, mixed, value);
    hash_note_spill(table, hash_home_in(table, part, mixed), HASH_SCAN);
}

/* Stores an element whose home bucket and second bucket are full. */
ORDO_FN void hash_displace(const hash_table *table, const hash_part *part, ordo_key mixed, hash_value value,
                           __private hash_tally *tally)
{
    uint bucket = hash_home_in(table, part, mixed);
    for (uint i = 0; i < HASH_EVICTIONS_MAX; i++) {
        const hash_place place = { bucket, (key_digit(mixed, 0, ~0u) + i) % HASH_SLOTS };
        const uint       spilled_from = hash_home_in(table, part, mixed);
        hash_evict(table, part, place, &mixed, &value, tally);
        if (bucket != spilled_from)
            hash_note_spill(table, spilled_from, table->spills[spilled_from] + 1u);
        const uint home = hash_home_in(table, part, mixed);
        bucket = bucket == home ? hash_second_in(table, part, mixed, home) : home;
        if (hash_put_free(table, part, bucket, mixed, value)) {
            if (bucket != home)
                hash_note_spill(table, home, table->spills[home] + 1u);
            return;
        }
    }
    hash_put_stashed(table, part, mixed, value);
}

ORDO_FN void hash_insert(const hash_table *table, const hash_part *part, uint home, ordo_key mixed, hash_value value,
                         __private hash_tally *tally)
{
    tally->count++;
    if (hash_put_free(table, part, home, mixed, value))
        return;
    if (hash_put_free(table, part, hash_second_in(table, part, mixed, home), mixed, value))
        hash_note_spill(table, home, table->spills[home] + 1u);
    else
        hash_displace(table, part, mixed, value, tally);
}

ORDO_FN void hash_remove(const hash_table *table, const hash_part *part, uint home, hash_place place,
                         __private hash_tally *tally)
{
    tally->count--;
    hash_keys(table, place.bucket)[place.slot] = hash_empty(part->number, table->bits);
    hash_filter(table, part->number, place.bucket);
    if (place.bucket != home)
        hash_forget_spill(table, part, home, tally);
}

ORDO_FN hash_place hash_look_from(const hash_table *table, const hash_part *part, uint home, ordo_key mixed)
{
    const hash_place place = { home, hash_slot_of(table, home, mixed) };
    if (place.slot == HASH_NONE && hash_is_spilled(table, home))
        return hash_look_on(table, part->start, part->buckets, home - part->start, mixed);
    return place;
}

ORDO_FN void hash_update(const hash_table *table, const hash_part *part, uint u, bool erases,
                         __private hash_tally *tally)
{
    const ordo_key   mixed = part->mixed[u];
    const uint       home = hash_home_in(table, part, mixed);
    const hash_place place = hash_look_from(table, part, home, mixed);
    if (place.slot != HASH_NONE && erases)
        hash_remove(table, part, home, place, tally);
#if ORDO_VALUE_BYTES
    else if (place.slot != HASH_NONE)
        hash_values(table, place.bucket)[place.slot] =
            HASH_RENEWED(part, hash_values(table, place.bucket)[place.slot], u);
    else if (!erases)
        hash_insert(table, part, home, mixed, part->values[hash_index_of(part, u)], tally);
#else
    else if (place.slot == HASH_NONE && !erases)
        hash_insert(table, part, home, mixed, 0, tally);
#endif
}

/* Erases first, so that each new key finds a free slot. */
ORDO_FN void hash_erase_all(const hash_table *table, const hash_part *part, __private hash_tally *tally)
{
    for (uint u = 0; u < part->n; u++)
        if (hash_erases(part, u))
            hash_update(table, part, u, true, tally);
}

ORDO_FN bool hash_stores(const hash_part *part, uint u)
{
    return !hash_erases(part, u) && !(part->kind == HASH_RESOLVED && part->index[u] == HASH_LEFT);
}

ORDO_FN void hash_empty_part(const hash_table *table, const hash_part *part)
{
    for (uint b = part->start; b < part->start + part->buckets; b++) {
        for (uint s = 0; s < HASH_SLOTS; s++)
            hash_keys(table, b)[s] = hash_empty(part->number, table->bits);
        table->spills[b] = 0;
        hash_filter_empty(table, b);
    }
}

ORDO_FN void hash_prefetch_bucket(const hash_table *table, uint bucket)
{
    ORDO_PREFETCH(hash_keys(table, bucket));
#if ORDO_VALUE_BYTES && HASH_SLOTS * (KEY_BITS / 8 + ORDO_VALUE_BYTES) > 64
    ORDO_PREFETCH(hash_values(table, bucket));
#endif
    hash_prefetch_filter(table, bucket);
}

ORDO_FN void hash_prefetch_home(const hash_table *table, ordo_key mixed)
{
    const uint p = hash_partition(mixed, table->bits), start = table->starts[p];
    hash_prefetch_bucket(table, start + hash_home(mixed, table->bits, table->starts[p + 1] - start));
}

/* Prefetches the second bucket if the home bucket is full. */
ORDO_FN void hash_prefetch_second(const hash_table *table, ordo_key mixed)
{
    const uint p = hash_partition(mixed, table->bits), start = table->starts[p], n = table->starts[p + 1] - start;
    const uint home = hash_home(mixed, table->bits, n);
    if (n == 0 || hash_slot_of(table, start + home, hash_empty(p, table->bits)) != HASH_NONE)
        return;
    ORDO_PREFETCH(table->spills + start + home);
    hash_prefetch_bucket(table, start + hash_second(mixed, home, n));
}

/* Prefetches for updates that follow update u, which is less than `end`. */
ORDO_FN void hash_prefetch_after(const hash_table *table, __global const ordo_key *mixed, uint u, uint end)
{
    if (u + HASH_AHEAD < end)
        hash_prefetch_home(table, mixed[u + HASH_AHEAD]);
    if (u + HASH_AHEAD_SECOND < end)
        hash_prefetch_second(table, mixed[u + HASH_AHEAD_SECOND]);
}

ORDO_FN uint hash_share_begin(uint bits, ulong group)
{
    return (uint) ((1ul << bits) * group / get_num_groups(0));
}

#define HASH_EACH_SHARED(p, bits)                                                                                      \
    for (uint p = hash_share_begin(bits, get_group_id(0)), p##_end = hash_share_begin(bits, get_group_id(0) + 1);      \
         p < p##_end; p++)

ORDO_FN void hash_prefetch_first(const hash_table *table, __global const ordo_key *mixed, uint begin, uint end)
{
    for (uint u = begin; u < min(begin + HASH_AHEAD, end); u++)
        hash_prefetch_home(table, mixed[u]);
}

/* Each work-group must have one work-item. Partitions must have free slots for new keys. If the batch erases keys, its
 * keys must not repeat. */
ORDO_KERNEL(HASH_GROUP)
void hash_update_serial(HASH_TABLE, HASH_BATCH, uint fills, uint how)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_EACH_SHARED(p, table_bits)
    {
        /* 0 prefetches nothing: hash_empty_part has put the buckets into the cache. */
        const uint prefetch_end = batch_bounds && !fills ? batch_bounds[p_end] : 0;
        HASH_PART_HERE(part, table, p)
        if (p == hash_share_begin(table_bits, get_group_id(0)))
            hash_prefetch_first(&table, batch_mixed, part.first, prefetch_end);
        hash_tally tally = { fills ? 0 : table.counts[p], false };
        part.how = how;
        if (fills)
            hash_empty_part(&table, &part);
        if (part.buckets > 0 && (part.erased || part.kind == HASH_RESOLVED))
            hash_erase_all(&table, &part, &tally);
        for (uint u = 0; u < part.n; u++) {
            hash_prefetch_after(&table, batch_mixed, part.first + u, prefetch_end);
            if (part.buckets > 0 && hash_stores(&part, u))
                hash_update(&table, &part, u, false, &tally);
        }
        if (tally.recounts)
            hash_recount_part(&table, &part, &mem);
        table.counts[p] = tally.count;
    }
}
