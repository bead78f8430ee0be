/* SPDX-License-Identifier: Apache-2.0 */
/* A batch in place that has few updates for each partition: what it does not touch is not read. A work-group takes a partition, as in
 * dict/hash/place.cl, and leaves it as hash_update would, bit by bit; what it cannot do it leaves to that.
 *
 *   hash_touch      a batch, in place; says which partitions are left
 *
 * Elements go to the same slots as there, whoever asks when: a bucket's words are made when an element first asks for it. Whoever asks
 * makes them, by atomic maxima as if those that are there asked for their own slots: a slot's word only grows, so it does not
 * matter how often, or that elements have gone on meanwhile.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, HASH_GROUP.
 */
#pragma once
#include "device/atomic.cl"
#include "dict/hash/part.cl"

/* Partitions with more updates are left; and those in which more elements go from bucket to bucket. */
#define HASH_TOUCH_MOST 512
#define HASH_MOVE_MOST  240

typedef struct {
    uint words[HASH_SLOTS_MOST];                 /* a table of updates; then a word for each slot of what is touched */
    uint live[HASH_TOUCH_MOST / 32];             /* a bit for each update that is the last of its key */
    uint fresh[HASH_TOUCH_MOST / 32];            /* of these, for each that is stored anew */
    uint touched[(HASH_BUCKETS_MOST + 31) / 32]; /* buckets */
    uint gone_from[HASH_SLOTS_MOST / 32];        /* slots of what is erased */
    int  spills[HASH_BUCKETS_MOST];              /* how many more than before */
    uint stored, gone, moved, left, repeats;
    /* elements that go from bucket to bucket, and the slots they go to */
    ordo_key keys[HASH_MOVE_MOST];
#if ORDO_VALUE_BYTES
    ordo_value values[HASH_MOVE_MOST];
#endif
    ushort slots[HASH_MOVE_MOST];
} hash_touched;
ORDO_STATIC_ASSERT(sizeof(hash_touched) <= HASH_LOCAL_MOST, "a device of little local memory has the room");

/* Everything but live. Nothing of words: those of a bucket are made where it is touched, if a work-item works alone. */
ORDO_FN void hash_begin_touch(const hash_part *part, __local hash_touched *mem)
{
    HASH_EACH (i, HASH_TOUCH_MOST / 32)
        mem->fresh[i] = 0;
    HASH_EACH (i, (HASH_BUCKETS_MOST + 31) / 32)
        mem->touched[i] = 0;
    HASH_EACH (i, HASH_SLOTS_MOST / 32)
        mem->gone_from[i] = 0;
    HASH_EACH (b, part->buckets)
        mem->spills[b] = 0;
#if HASH_GROUP > 1
    HASH_EACH (s, part->buckets * HASH_SLOTS)
        mem->words[s] = 0;
#endif
    if (get_local_id(0) == 0)
        mem->stored = mem->gone = mem->moved = mem->left = 0;
}

/* As hash_match of place.cl, of what is looked up once. Ends with a barrier. */
ORDO_FN void hash_match_touched(const hash_table *table, const hash_part *part, __local hash_touched *mem)
{
    HASH_EACH (u, part->n) {
        if (!hash_bit(mem->live, u))
            continue;
        const bool       erases = hash_erases(part, u);
        const hash_place place = hash_look(table, part->start, part->buckets, part->mixed[u]);
        if (place.slot == HASH_NONE) {
            if (!erases) {
                atomic_inc(&mem->stored);
                hash_set(mem->fresh, u);
            }
            continue;
        }
        if (erases) {
            atomic_inc(&mem->gone);
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

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Makes the words of a bucket. */
ORDO_FN void hash_touch_bucket(const hash_table *table, const hash_part *part, __local hash_touched *mem, uint bucket)
{
#if HASH_GROUP == 1
    if (hash_bit(mem->touched, bucket))
        return;
#endif
    hash_set(mem->touched, bucket);
    for (uint s = bucket * HASH_SLOTS; s < (bucket + 1) * HASH_SLOTS; s++) {
        const uint word = hash_bit(mem->gone_from, s) ? 0 : hash_word_there(table, part, s);
#if HASH_GROUP == 1
        mem->words[s] = word;
#else
        if (word)
            atomic_max(&mem->words[s], word);
#endif
    }
}

/* Finds a place for an element that asks for a bucket, and for each that makes room for another; or there is something left. Of
 * no element, 0, the bucket is touched. */
ORDO_FN void hash_settle_touched(const hash_table *table, const hash_part *part, __local hash_touched *mem, uint bucket,
                                 uint word)
{
    while (hash_asked_of(word) < HASH_MOVES) {
        hash_touch_bucket(table, part, mem, bucket);
        const uint left = hash_ask(mem->words + bucket * HASH_SLOTS, word);
        if (!left)
            return;
        word = hash_word(hash_asked_of(left) + 1, hash_number_of(left), bucket);
        bucket = hash_other_of(left);
    }
    atomic_or(&mem->left, 1u);
}

/* All that is stored anew, and buckets of which something is erased. (One loop: a compiler failed on two calls.) Ends with a barrier. */
ORDO_FN void hash_settle_all(const hash_table *table, const hash_part *part, __local hash_touched *mem)
{
    HASH_EACH (i, part->n + part->buckets) {
        uint bucket = i - part->n, word = 0;
        bool wanted = false;
        if (i >= part->n) {
            const uint slot = bucket * HASH_SLOTS;
            wanted = mem->gone_from[slot / 32] >> slot % 32 & ((1u << HASH_SLOTS) - 1);
        } else if (hash_bit(mem->fresh, i)) {
            wanted = true;
            bucket = hash_first(part->mixed[i], table->bits, part->buckets);
            word = hash_word(0, HASH_SLOTS_MOST + i + 1, hash_second(part->mixed[i], bucket, part->buckets));
        }
        if (wanted)
            hash_settle_touched(table, part, mem, bucket, word);
    }
    hash_barrier();
}

/* ---- what has changed -------------------------------------------------------------------------------------------- */

#define HASH_EACH_TOUCHED(s, part, mem)                                                                                \
    HASH_EACH (s, (part)->buckets * HASH_SLOTS)                                                                        \
        if (hash_bit((mem)->touched, s / HASH_SLOTS))

/* Counts what comes to lie in its second bucket, less what did, and takes what goes from bucket to bucket. Ends with a barrier. */
ORDO_FN void hash_take_moved(const hash_table *table, const hash_part *part, __local hash_touched *mem)
{
    HASH_EACH_TOUCHED(s, part, mem)
    {
        const uint was = hash_word_there(table, part, s), word = mem->words[s];
        if (word == was)
            continue;
        if (hash_asked_of(was) == 1)
            atomic_dec(&mem->spills[hash_other_of(was)]);
        if (hash_asked_of(word) % 2 == 1)
            atomic_inc(&mem->spills[hash_other_of(word)]);
        const uint number = hash_number_of(word);
        if (number == 0 || number > HASH_SLOTS_MOST || number == s + 1)
            continue;
        const uint at = atomic_inc(&mem->moved);
        if (at >= HASH_MOVE_MOST)
            continue;
        mem->slots[at] = (ushort) s;
        mem->keys[at] = hash_key_of(table, part, number);
#if ORDO_VALUE_BYTES
        mem->values[at] = hash_value_of(table, part, number);
#endif
    }
    hash_barrier();
}

/* Spills that were too many to count are left. Ends with a barrier. */
ORDO_FN bool hash_can_write(const hash_table *table, const hash_part *part, __local hash_touched *mem)
{
    HASH_EACH (b, part->buckets)
        if (mem->spills[b] != 0 && table->spills[part->start + b] == HASH_ALL)
            atomic_or(&mem->left, 1u);
    hash_barrier();
    return !mem->left && mem->moved <= HASH_MOVE_MOST;
}

/* count: of the elements there were. (Where it stands, some compilers for CPUs would add it to counts several times.) Ends with a barrier. */
ORDO_FN void hash_write_touched(const hash_table *table, const hash_part *part, __local hash_touched *mem, uint count)
{
    HASH_EACH_TOUCHED(s, part, mem)
    {
        const uint word = mem->words[s], number = hash_number_of(word), bucket = part->start + s / HASH_SLOTS;
        __global ordo_key *const key = hash_keys(table, bucket) + s % HASH_SLOTS;
        if (number > HASH_SLOTS_MOST) {
            *key = hash_key_of(table, part, number);
#if ORDO_VALUE_BYTES
            hash_values(table, bucket)[s % HASH_SLOTS] = hash_value_of(table, part, number);
#endif
        } else if (number == 0 && hash_bit(mem->gone_from, s))
            *key = hash_empty(part->number, table->bits);
    }
    hash_barrier(); /* without it PoCL 3.1 loses a new 8-byte key, as the first loop's stores come after the second's */
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
                (uchar) min((int) table->spills[part->start + b] + mem->spills[b], HASH_ALL);
    HASH_EACH (b, part->buckets)
        if (hash_bit(mem->touched, b) || mem->spills[b] != 0)
            hash_filter(table, part->number, part->start + b);
    if (get_local_id(0) == 0)
        table->counts[part->number] = count + mem->stored - mem->gone;
    hash_barrier();
}

ORDO_FN bool hash_can_touch(const hash_table *table, const hash_part *part)
{
    return part->n <= HASH_TOUCH_MOST && table->spills[part->start] != HASH_ALL;
}

/* False: nothing is changed but values of keys that are there, all of them if the partition can be touched, and what is folded of the
 * batch. Called by all work-items, which go the same way. */
ORDO_FN bool hash_touch_part(const hash_table *table, const hash_part *part, __local hash_touched *mem)
{
    const uint count = table->counts[part->number];
    if (!hash_can_touch(table, part))
        return false;
    hash_dedup(part, mem->words, HASH_SLOTS_MOST, mem->live, HASH_TOUCH_MOST / 32, &mem->repeats);
#if HASH_COMBINES
    hash_fold(part, mem->words, HASH_SLOTS_MOST, mem->live, mem->repeats);
#endif
    hash_begin_touch(part, mem);
    hash_barrier();
    hash_match_touched(table, part, mem);
    if (mem->stored + mem->gone == 0)
        return true;
    hash_settle_all(table, part, mem);
    if (mem->left)
        return false;
    hash_take_moved(table, part, mem);
    if (!hash_can_write(table, part, mem))
        return false;
    hash_write_touched(table, part, mem, count);
    return true;
}

/* What is to be stored once more does no harm, but what is combined once more does. */
ORDO_FN uint hash_left_of(const hash_table *table, const hash_part *part)
{
    return HASH_COMBINES && hash_can_touch(table, part) ? HASH_FRESH_LEFT : HASH_ALL_LEFT;
}

/* Each partition has the room. left[p]: an enum hash_left, of what hash_update is to do in partition p. */
ORDO_KERNEL(HASH_GROUP)
void hash_touch(HASH_TABLE, HASH_BATCH, __global uint *left HASH_HOW_GIVEN)
{
    __local hash_touched mem;
    const hash_table     table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        HASH_HOW_HERE(part);
        const bool nothing = part.n == 0 || part.buckets == 0;
        const bool done = nothing || hash_touch_part(&table, &part, &mem);
        if (get_local_id(0) == 0)
            left[p] = done ? HASH_DONE : hash_left_of(&table, &part);
        hash_barrier();
    }
}
