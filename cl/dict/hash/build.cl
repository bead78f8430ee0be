/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/hash/placement.cl"

ORDO_KERNEL(HASH_GROUP)
void hash_distinct(HASH_TABLE, HASH_BATCH, __global uint *distinct)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        if (get_local_id(0) == 0)
            mem.stored = 0;
        if (part.n > HASH_UPDATES_MAX || part.kind == HASH_DISTINCT) {
            if (get_local_id(0) == 0)
                distinct[p] = part.n;
            continue;
        }
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
        HASH_EACH (i, HASH_LIVE_WORDS)
            if (mem.live[i])
                hash_add(&mem.stored, popcount(mem.live[i]));
        hash_barrier();
        if (get_local_id(0) == 0)
            distinct[p] = mem.stored;
        hash_barrier();
    }
}

/* Writes all arrays of a new table except `starts`. Each partition may have at most HASH_BUCKETS_MAX buckets and
 * HASH_UPDATES_MAX keys. */
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
                hash_add(&mem.stored, 1u);
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
