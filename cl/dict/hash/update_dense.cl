/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/hash/placement.cl"

/* Looks up the key of each update u whose bit in mem->live is 1. If `change` is true, stores new values of present
 * keys, and sets the words of erased elements to 0. */
ORDO_FN void hash_match(const hash_table *table, const hash_part *part, __local hash_local *mem, bool change)
{
    HASH_EACH (u, part->n) {
        if (!hash_bit(mem->live, u))
            continue;
        const bool       erases = hash_erases(part, u);
        const ordo_key   mixed = part->mixed[u];
        const hash_place place = hash_look(table, part->start, part->buckets, mixed);
        if (place.slot == HASH_NONE && !erases) {
            hash_add(&mem->stored, 1u);
            hash_set(mem->fresh, u);
            continue;
        }
        if (place.slot == HASH_NONE)
            continue;
        if (erases)
            hash_add(&mem->gone, 1u);
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

/* Each partition may have at most HASH_UPDATES_MAX updates. */
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

/* ---- moves ------------------------------------------------------------------------------------------------------- */

#define HASH_OWN (HASH_SLOTS_MAX / HASH_GROUP + (HASH_SLOTS_MAX % HASH_GROUP != 0))

#if HASH_OWN <= 40
#define HASH_UNROLL ORDO_UNROLL
#else
#define HASH_UNROLL
#endif

ORDO_FN bool hash_changes(const hash_table *table, const hash_part *part, uint s, uint word)
{
    if (word)
        return hash_number_of(word) != s + 1;
    const ordo_key was = hash_keys(table, part->start + s / HASH_SLOTS)[s % HASH_SLOTS];
    return hash_partition(was, table->bits) == part->number;
}

/* All elements that move are read before the barrier. Later writes overwrite their old slots. */
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

ORDO_FN bool hash_renews(__global const uint *left, uint p)
{
    return !HASH_COMBINES || !left || left[p] != HASH_NEW_LEFT;
}

/* Updates all partitions if `left` is NULL. Otherwise skips each partition p whose left[p] is HASH_DONE. Partitions
 * must have free slots for new keys. If HASH_COMBINES is 1, left[p] becomes HASH_DONE, so that a repeated launch
 * combines no value twice. */
ORDO_KERNEL(HASH_GROUP)
void hash_update_dense(HASH_TABLE, HASH_BATCH, __global uint *left, uint how)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        if (left && !left[p])
            continue;
        HASH_PART_HERE(part, table, p)
        part.how = how;
        if (part.n == 0 || part.buckets == 0)
            continue;
        hash_begin(&mem);
        hash_dedup(&part, mem.words, HASH_PLACES, mem.live, HASH_LIVE_WORDS, &mem.repeats);
        if (HASH_COMBINES)
            hash_fold(&part, mem.words, HASH_PLACES, mem.live, mem.repeats && hash_renews(left, p));
        else
            hash_load(&table, &part, &mem);
        hash_match(&table, &part, &mem, hash_renews(left, p));
        if (mem.stored + mem.gone > 0) {
            if (HASH_COMBINES)
                hash_load(&table, &part, &mem);
            hash_place_all(&table, &part, &mem, mem.fresh);
            hash_move(&table, &part, &mem);
            hash_write_spills(&table, &part, &mem);
            if (get_local_id(0) == 0)
                table.counts[p] += mem.stored - mem.gone;
        }
        hash_barrier();
        if (HASH_COMBINES && left && get_local_id(0) == 0)
            left[p] = HASH_DONE;
    }
}
