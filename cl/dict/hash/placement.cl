/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns slots to the elements of one partition, by deferred acceptance (D. Gale and L. S. Shapley, AMM 1962). */
#pragma once
#include "dict/hash/batch.cl"

#define HASH_PLACES     3072
#define HASH_LIVE_WORDS ((HASH_UPDATES_MAX + 31) / 32)

typedef struct {
    uint words[HASH_PLACES]; /* Used by hash_dedup first. Then words[s] is the word (hash_word) of slot s. */
    uint live[HASH_LIVE_WORDS];
    uint fresh[HASH_LIVE_WORDS]; /* Bit u is 1 if update u stores an absent key. */
    uint stashed[(HASH_NUMBERS + 31) / 32];
    uint spills[HASH_BUCKETS_MAX];
    uint stored, gone, any_stashed, repeats;
} hash_local;
ORDO_STATIC_ASSERT(sizeof(hash_local) <= HASH_LOCAL_MAX, "small devices have the local memory");

ORDO_FN void hash_begin(__local hash_local *mem)
{
    HASH_EACH (i, (HASH_NUMBERS + 31) / 32)
        mem->stashed[i] = 0;
    HASH_EACH (i, HASH_LIVE_WORDS)
        mem->fresh[i] = 0;
    HASH_EACH (b, HASH_BUCKETS_MAX)
        mem->spills[b] = 0;
    if (get_local_id(0) == 0)
        mem->stored = mem->gone = mem->any_stashed = 0;
}

ORDO_FN void hash_load(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    HASH_EACH (s, part->buckets * HASH_SLOTS)
        mem->words[s] = hash_word_there(table, part, s);
    hash_barrier();
}

/* Finds a slot for the key of update u. After HASH_PROPOSALS_MAX proposals, an element is marked in mem->stashed.
 * hash_stash later puts it into any free slot. */
ORDO_FN void hash_settle(const hash_table *table, const hash_part *part, __local hash_local *mem, uint u)
{
    uint bucket = hash_home(part->mixed[u], table->bits, part->buckets);
    uint word = hash_word(0, HASH_SLOTS_MAX + u + 1, hash_second(part->mixed[u], bucket, part->buckets));
    while (hash_proposals_of(word) < HASH_PROPOSALS_MAX) {
        const uint left = hash_propose(mem->words + bucket * HASH_SLOTS, word);
        if (!left)
            return;
        word = hash_word(hash_proposals_of(left) + 1, hash_number_of(left), bucket);
        bucket = hash_other_of(left);
    }
    hash_set(mem->stashed, hash_number_of(word) - 1);
    hash_or(&mem->any_stashed, 1u);
}

/* Puts the elements of mem->stashed into the first free slots, in order of their numbers. The partition must have
 * enough free slots. Only one work-item may call this function. */
ORDO_FN void hash_stash(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    uint slot = 0;
    for (uint i = 0; i < HASH_NUMBERS; i++) {
        if (!hash_bit(mem->stashed, i))
            continue;
        while (slot < part->buckets * HASH_SLOTS && mem->words[slot])
            slot++;
        if (slot < part->buckets * HASH_SLOTS)
            mem->words[slot] = hash_word(HASH_PROPOSALS_MAX, i + 1,
                                         hash_home(hash_key_of(table, part, i + 1), table->bits, part->buckets));
    }
}

ORDO_FN void hash_place_all(const hash_table *table, const hash_part *part, __local hash_local *mem,
                            __local const uint *which)
{
    HASH_EACH (u, part->n)
        if (hash_bit(which, u))
            hash_settle(table, part, mem, u);
    hash_barrier();
    if (mem->any_stashed && get_local_id(0) == 0)
        hash_stash(table, part, mem);
    hash_barrier();
}

ORDO_FN void hash_count_spill(__local hash_local *mem, uint word)
{
    const uint proposals = hash_proposals_of(word);
    if (proposals % 2 == 1)
        hash_add(&mem->spills[hash_other_of(word)], proposals == HASH_PROPOSALS_MAX ? HASH_SCAN : 1u);
}

ORDO_FN void hash_write_spills(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    hash_barrier();
    HASH_EACH (b, part->buckets) {
        table->spills[part->start + b] = (uchar) min(mem->spills[b], (uint) HASH_SCAN);
        hash_filter(table, part->number, part->start + b);
    }
    hash_barrier();
}

/* Computes the spill counts of a partition from its elements. */
ORDO_FN void hash_recount_part(const hash_table *table, const hash_part *part, __local hash_local *mem)
{
    hash_begin(mem);
    hash_load(table, part, mem);
    HASH_EACH (s, part->buckets * HASH_SLOTS)
        if (mem->words[s])
            hash_count_spill(mem, mem->words[s]);
    hash_write_spills(table, part, mem);
}
