/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/hash/batch.cl"

/* Maximum number of updates of a partition, and of old elements that these updates may move. */
#define HASH_SPARSE_MAX 512
#define HASH_MOVED_MAX  (KEY_BITS / 8 + ORDO_VALUE_BYTES > 24 ? 120 : KEY_BITS > 64 || ORDO_VALUE_BYTES > 8 ? 160 : 240)

typedef struct {
    uint     words[HASH_SLOTS_MAX]; /* Used by hash_dedup first. Then words[s] is the word (hash_word) of slot s. */
    uint     live[HASH_SPARSE_MAX / 32];
    uint     fresh[HASH_SPARSE_MAX / 32];
    uint     touched[(HASH_BUCKETS_MAX + 31) / 32];
    uint     gone_from[HASH_SLOTS_MAX / 32]; /* Bit s is 1 if the element of slot s is erased. */
    int      spills[HASH_BUCKETS_MAX];
    uint     stored, gone, moved, left, repeats;
    ordo_key keys[HASH_MOVED_MAX];
#if ORDO_VALUE_BYTES
    ordo_value values[HASH_MOVED_MAX];
#endif
    ushort slots[HASH_MOVED_MAX];
} hash_sparse;
ORDO_STATIC_ASSERT(sizeof(hash_sparse) <= HASH_LOCAL_MAX, "small devices have the local memory");

ORDO_FN void hash_begin_sparse(const hash_part *part, __local hash_sparse *mem)
{
    HASH_EACH (i, HASH_SPARSE_MAX / 32)
        mem->fresh[i] = 0;
    HASH_EACH (i, (HASH_BUCKETS_MAX + 31) / 32)
        mem->touched[i] = 0;
    HASH_EACH (i, HASH_SLOTS_MAX / 32)
        mem->gone_from[i] = 0;
    HASH_EACH (b, part->buckets)
        mem->spills[b] = 0;
    HASH_EACH (s, HASH_GROUP > 1 ? part->buckets * HASH_SLOTS : 0)
        mem->words[s] = 0;
    if (get_local_id(0) == 0)
        mem->stored = mem->gone = mem->moved = mem->left = 0;
}

/* Looks up the key of each update u whose bit in mem->live is 1. For a present key, stores the new value, or sets the
 * slot's bit in mem->gone_from. */
ORDO_FN void hash_match_sparse(const hash_table *table, const hash_part *part, __local hash_sparse *mem)
{
    HASH_EACH (u, part->n) {
        if (!hash_bit(mem->live, u))
            continue;
        const bool       erases = hash_erases(part, u);
        const hash_place place = hash_look(table, part->start, part->buckets, part->mixed[u]);
        if (place.slot == HASH_NONE) {
            if (!erases) {
                hash_add(&mem->stored, 1u);
                hash_set(mem->fresh, u);
            }
            continue;
        }
        if (erases) {
            hash_add(&mem->gone, 1u);
            hash_set(mem->gone_from, (place.bucket - part->start) * HASH_SLOTS + place.slot);
        }
#if ORDO_VALUE_BYTES
        else
            hash_values(table, place.bucket)[place.slot] =
                HASH_RENEWED(part, hash_values(table, place.bucket)[place.slot], u);
#endif
    }
    hash_barrier();
}

ORDO_FN void hash_touch(const hash_table *table, const hash_part *part, __local hash_sparse *mem, uint bucket)
{
    if (HASH_GROUP == 1 && hash_bit(mem->touched, bucket))
        return;
    hash_set(mem->touched, bucket);
    for (uint s = bucket * HASH_SLOTS; s < (bucket + 1) * HASH_SLOTS; s++) {
        const uint word = hash_bit(mem->gone_from, s) ? 0 : hash_word_there(table, part, s);
        if (HASH_GROUP == 1)
            mem->words[s] = word;
        else if (word)
            hash_max(&mem->words[s], word);
    }
}

/* Finds a slot for the element of `word` (see hash_word), first in `bucket`. After too many tries, sets mem->left. If
 * `word` is 0, only loads `bucket`. */
ORDO_FN void hash_settle_sparse(const hash_table *table, const hash_part *part, __local hash_sparse *mem, uint bucket,
                                uint word)
{
    while (hash_proposals_of(word) < HASH_PROPOSALS_MAX) {
        hash_touch(table, part, mem, bucket);
        const uint left = hash_propose(mem->words + bucket * HASH_SLOTS, word);
        if (!left)
            return;
        word = hash_word(hash_proposals_of(left) + 1, hash_number_of(left), bucket);
        bucket = hash_other_of(left);
    }
    hash_or(&mem->left, 1u);
}

/* Finds slots for new keys, and loads the buckets that lose elements. Both happen in one loop, because a compiler
 * failed if there were two loops. */
ORDO_FN void hash_settle_all(const hash_table *table, const hash_part *part, __local hash_sparse *mem)
{
    HASH_EACH (i, part->n + part->buckets) {
        uint bucket = i - part->n, word = 0;
        bool wanted = false;
        if (i >= part->n) {
            const uint slot = bucket * HASH_SLOTS;
            wanted = mem->gone_from[slot / 32] >> slot % 32 & ((1u << HASH_SLOTS) - 1);
        } else if (hash_bit(mem->fresh, i)) {
            wanted = true;
            bucket = hash_home(part->mixed[i], table->bits, part->buckets);
            word = hash_word(0, HASH_SLOTS_MAX + i + 1, hash_second(part->mixed[i], bucket, part->buckets));
        }
        if (wanted)
            hash_settle_sparse(table, part, mem, bucket, word);
    }
    hash_barrier();
}

#define HASH_EACH_TOUCHED(s, part, mem)                                                                                \
    HASH_EACH (s, (part)->buckets * HASH_SLOTS)                                                                        \
        if (hash_bit((mem)->touched, s / HASH_SLOTS))

/* Fills mem->keys and mem->values with the elements that move, and mem->spills with the changes of spill counts. */
ORDO_FN void hash_take_moved(const hash_table *table, const hash_part *part, __local hash_sparse *mem)
{
    HASH_EACH_TOUCHED(s, part, mem)
    {
        const uint was = hash_word_there(table, part, s), word = mem->words[s];
        if (word == was)
            continue;
        if (hash_proposals_of(was) == 1)
            atomic_dec(&mem->spills[hash_other_of(was)]);
        else if (hash_proposals_of(was) == HASH_PROPOSALS_MAX)
            hash_or(&mem->left, 1u);
        if (hash_proposals_of(word) % 2 == 1)
            atomic_inc(&mem->spills[hash_other_of(word)]);
        const uint number = hash_number_of(word);
        if (number == 0 || number > HASH_SLOTS_MAX || number == s + 1)
            continue;
        const uint at = hash_add(&mem->moved, 1u);
        if (at >= HASH_MOVED_MAX)
            continue;
        mem->slots[at] = (ushort) s;
        mem->keys[at] = hash_key_of(table, part, number);
#if ORDO_VALUE_BYTES
        mem->values[at] = hash_value_of(table, part, number);
#endif
    }
    hash_barrier();
}

ORDO_FN bool hash_can_write(const hash_table *table, const hash_part *part, __local hash_sparse *mem)
{
    HASH_EACH (b, part->buckets)
        if (mem->spills[b] != 0 && table->spills[part->start + b] == HASH_SCAN)
            hash_or(&mem->left, 1u);
    hash_barrier();
    return !mem->left && mem->moved <= HASH_MOVED_MAX;
}

/* `count` must be the partition's element count before the update. This function does not use `counts[p] +=`
 * instead, because some CPU compilers execute such a statement several times. */
ORDO_FN void hash_write_sparse(const hash_table *table, const hash_part *part, __local hash_sparse *mem, uint count)
{
    HASH_EACH_TOUCHED(s, part, mem)
    {
        const uint word = mem->words[s], number = hash_number_of(word), bucket = part->start + s / HASH_SLOTS;
        __global ordo_key *const key = hash_keys(table, bucket) + s % HASH_SLOTS;
        if (number > HASH_SLOTS_MAX) {
            *key = hash_key_of(table, part, number);
#if ORDO_VALUE_BYTES
            hash_values(table, bucket)[s % HASH_SLOTS] = hash_value_of(table, part, number);
#endif
        } else if (number == 0 && hash_bit(mem->gone_from, s))
            *key = hash_empty(part->number, table->bits);
    }
    /* Without this barrier, PoCL 3.1 runs the next loop's stores before the stores of the loop above, and
     * loses an 8-byte key. */
    hash_barrier();
    HASH_EACH (i, mem->moved) {
        const uint s = mem->slots[i], bucket = part->start + s / HASH_SLOTS;
        hash_keys(table, bucket)[s % HASH_SLOTS] = mem->keys[i];
#if ORDO_VALUE_BYTES
        hash_values(table, bucket)[s % HASH_SLOTS] = mem->values[i];
#endif
    }
    HASH_EACH (b, part->buckets)
        if (mem->spills[b] != 0)
            table->spills[part->start + b] =
                (uchar) min((int) table->spills[part->start + b] + mem->spills[b], HASH_SCAN);
    HASH_EACH (b, part->buckets)
        if (hash_bit(mem->touched, b) || mem->spills[b] != 0)
            hash_filter(table, part->number, part->start + b);
    if (get_local_id(0) == 0)
        table->counts[part->number] = count + mem->stored - mem->gone;
    hash_barrier();
}

/* Returns false if hash_update_dense must update the partition. All work-items get the same result. If it is false, the
 * table's keys are unchanged, but values of present keys may be new. */
ORDO_FN bool hash_apply_sparse(const hash_table *table, const hash_part *part, __local hash_sparse *mem)
{
    const uint count = table->counts[part->number];
    if (part->n > HASH_SPARSE_MAX)
        return false;
    hash_dedup(part, mem->words, HASH_SLOTS_MAX, mem->live, HASH_SPARSE_MAX / 32, &mem->repeats);
    if (HASH_COMBINES)
        hash_fold(part, mem->words, HASH_SLOTS_MAX, mem->live, mem->repeats);
    hash_begin_sparse(part, mem);
    hash_barrier();
    hash_match_sparse(table, part, mem);
    if (mem->stored + mem->gone == 0)
        return true;
    hash_settle_all(table, part, mem);
    if (mem->left)
        return false;
    hash_take_moved(table, part, mem);
    if (!hash_can_write(table, part, mem))
        return false;
    hash_write_sparse(table, part, mem, count);
    return true;
}

/* Partitions must have free slots for new keys. */
ORDO_KERNEL(HASH_GROUP)
void hash_update_sparse(HASH_TABLE, HASH_BATCH, __global uint *left, uint how)
{
    __local hash_sparse mem;
    const hash_table    table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        part.how = how;
        const bool nothing = part.n == 0 || part.buckets == 0;
        const bool done = nothing || hash_apply_sparse(&table, &part, &mem);
        if (get_local_id(0) == 0)
            left[p] = done ? HASH_DONE : HASH_COMBINES && part.n <= HASH_SPARSE_MAX ? HASH_NEW_LEFT : HASH_ALL_LEFT;
        hash_barrier();
    }
}
