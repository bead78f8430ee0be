/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels that see to partitions of a hash table have in common: a batch by partitions, words of slots, equal keys.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, HASH_GROUP (work-items of a group; 1: one that works alone), and HASH_COMBINES, 1 where values
 * that are there are combined with the batch's: of hash_touch and hash_update, for batches that erase nothing, HASH_ANY or HASH_DISTINCT.
 */
#pragma once
#include "dict/hash/table.cl"

#ifndef HASH_COMBINES
#define HASH_COMBINES 0
#endif
/* The last argument of such kernels. */
#if HASH_COMBINES
#include "device/atomic.cl"
#include "group/value.cl"
#define HASH_HOW_GIVEN      , uint how
#define HASH_HOW_HERE(part) (part).how = how
typedef hash_value hash_given; /* a batch's value: those of equal keys are folded where they lie */
#else
#define HASH_HOW_GIVEN
#define HASH_HOW_HERE(part)
typedef const hash_value hash_given;
#endif

#ifndef HASH_GROUP
#define HASH_GROUP 256
#endif

/* A barrier of the group, for local and global memory. Compilers for CPUs turn the code between two barriers into a loop over
 * work-items. PoCL (3.1 and 6.0) does that wrong in some places, so the kernels here keep to these rules:
 *   - A function with a barrier that ends in a loop over a batch has a barrier after that loop. Without one PoCL 6.0 evaluates the
 *     condition of the loop once for all work-items, and leaves the loop out: in hash_fold minima stayed complements.
 *   - Code that only some partitions reach, and that has a barrier, ends with a barrier.
 *   - If some partitions take a branch with a barrier, the other branch has no barrier. */
ORDO_FN void hash_barrier(void)
{
#if HASH_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

#define HASH_EACH(i, n) for (uint i = (uint) get_local_id(0); i < (n); i += HASH_GROUP)

/* Partitions that this group takes. */
#define HASH_PARTITIONS(p, table)                                                                                      \
    for (uint p = (uint) get_group_id(0); p < 1u << (table).bits; p += (uint) get_num_groups(0))

ORDO_FN bool hash_bit(__local const uint *bits, uint i)
{
    return bits[i / 32] >> i % 32 & 1;
}
ORDO_FN void hash_set(__local uint *bits, uint i)
{
    atomic_or(&bits[i / 32], 1u << i % 32);
}

/* ---- a partition and its updates --------------------------------------------------------------------------------- */

/* A batch, by partitions; its kind is one of enum hash_kind. Values and erased are those of update index[j], or j if index is NULL. */
#define HASH_BATCH                                                                                                     \
    __global const ordo_key *batch_mixed, __global const uint *batch_index, __global hash_given *batch_values,         \
        ulong batch_values_at, __global const uchar *batch_erased, ulong batch_erased_at, uint batch_kind,             \
        __global const uint *batch_bounds

typedef struct {
    uint                     start, buckets, number; /* of the partition */
    uint                     n;                      /* updates */
    uint                     kind;                   /* enum hash_kind */
    __global const ordo_key *mixed;
    __global const uint     *index;
    __global hash_given     *values;
    __global const uchar    *erased;
    uint                     first; /* place in the batch, without an index */
#if HASH_COMBINES
    uint how; /* VALUE_HOW */
#endif
} hash_part;

#define HASH_PART_HERE(part, table, p)                                                                                 \
    hash_part part;                                                                                                    \
    part.number = (p);                                                                                                 \
    part.start = (table).starts ? (table).starts[p] : 0;                                                               \
    part.buckets = (table).starts ? (table).starts[(p) + 1] - part.start : 0;                                          \
    part.first = batch_bounds ? batch_bounds[p] : 0;                                                                   \
    part.n = batch_bounds ? batch_bounds[(p) + 1] - part.first : 0;                                                    \
    part.kind = batch_kind;                                                                                            \
    part.mixed = batch_mixed + part.first;                                                                             \
    part.index = batch_index ? batch_index + part.first : 0;                                                           \
    part.values = batch_values ? batch_values + batch_values_at : 0;                                                   \
    part.erased = batch_erased ? batch_erased + batch_erased_at : 0;

ORDO_FN uint hash_place_of(const hash_part *part, uint u)
{
    return part->index ? part->index[u] : part->first + u;
}

ORDO_FN bool hash_erases(const hash_part *part, uint u)
{
    if (part->kind == HASH_RESOLVED)
        return part->index[u] == HASH_ERASED;
    return part->erased && part->erased[hash_place_of(part, u)];
}

/* The mixed key of an element by its number. */
ORDO_FN ordo_key hash_key_of(const hash_table *table, const hash_part *part, uint number)
{
    const uint at = number - 1;
    if (at >= HASH_SLOTS_MOST)
        return part->mixed[at - HASH_SLOTS_MOST];
    return hash_keys(table, part->start + at / HASH_SLOTS)[at % HASH_SLOTS];
}

#if ORDO_VALUE_BYTES
ORDO_FN ordo_value hash_value_of(const hash_table *table, const hash_part *part, uint number)
{
    const uint at = number - 1;
    if (at >= HASH_SLOTS_MOST)
        return part->values[hash_place_of(part, at - HASH_SLOTS_MOST)];
    return hash_values(table, part->start + at / HASH_SLOTS)[at % HASH_SLOTS];
}
#endif

/* What a value that is there becomes by update u. */
#if HASH_COMBINES
#define HASH_RENEWED(part, was, u) value_combine_by(was, (part)->values[hash_place_of(part, u)], (part)->how)
#else
#define HASH_RENEWED(part, was, u) (part)->values[hash_place_of(part, u)]
#endif

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Where elements go, while they move: cl/dict/hash/place.cl. A word is of how often an element has asked for a bucket, of its number, and
 * of its other bucket. Numbers of elements: a resident's is its slot, an update's HASH_SLOTS_MOST more than its place; each + 1, as 0 is none. */
#define HASH_NUMBERS (HASH_SLOTS_MOST + HASH_UPDATES_MOST)

/* A word: above, how often it was asked, then the element's number, then its other bucket. */
#define HASH_ASKED_SHIFT  28
#define HASH_NUMBER_SHIFT 12
#define HASH_MOVES        15 /* askings; what has none left is astray */
#if HASH_BUCKETS_MOST > 1 << HASH_NUMBER_SHIFT || HASH_NUMBERS >= 1 << (HASH_ASKED_SHIFT - HASH_NUMBER_SHIFT)
#error "a word has no room for the numbers of buckets and elements"
#endif

ORDO_FN uint hash_word(uint asked, uint number, uint other)
{
    return asked << HASH_ASKED_SHIFT | number << HASH_NUMBER_SHIFT | other;
}
ORDO_FN uint hash_asked_of(uint word)
{
    return word >> HASH_ASKED_SHIFT;
}
ORDO_FN uint hash_number_of(uint word)
{
    return word << (32 - HASH_ASKED_SHIFT) >> (32 - HASH_ASKED_SHIFT + HASH_NUMBER_SHIFT);
}
ORDO_FN uint hash_other_of(uint word)
{
    return word & ((1u << HASH_NUMBER_SHIFT) - 1);
}

/* An element asks for a bucket: what is left without a place is returned, or 0. */
ORDO_FN uint hash_ask(__local uint *bucket, uint word)
{
    for (uint s = 0; s < HASH_SLOTS && word; s++)
        word = min(word, atomic_max(&bucket[s], word));
    return word;
}

/* The word of what is there, in slot s of a partition, or 0: first buckets were asked for once, second ones twice. */
ORDO_FN uint hash_word_there(const hash_table *table, const hash_part *part, uint s)
{
    const uint     bucket = s / HASH_SLOTS;
    const ordo_key mixed = hash_keys(table, part->start + bucket)[s % HASH_SLOTS];
    if (hash_partition(mixed, table->bits) != part->number)
        return 0;
    const uint first = hash_first(mixed, table->bits, part->buckets);
    const uint second = hash_second(mixed, first, part->buckets);
    const uint asked = bucket == first ? 0 : bucket == second ? 1 : HASH_MOVES;
    return hash_word(asked, s + 1, asked == 0 ? second : first);
}

/* ---- equal keys -------------------------------------------------------------------------------------------------- */

/* Of a table of updates: so many places of `most`, which are more than updates; and the first of a key's. */
ORDO_FN uint hash_places(const hash_part *part, uint most)
{
    return min(most, 2 * part->n + 32);
}
ORDO_FN uint hash_first_place(ordo_key mixed, uint places)
{
    return hash_share(hash_again(mixed) * 0x9e3779b1u, places);
}

/* Finds the live updates, a bit each of `live`, which has n_live words. words: `most` places of a table of updates. *repeats, where
 * values are combined: whether any key is there twice. Ends with a barrier. Every batch comes to every barrier: of what lies behind one that only some come to, a
 * compiler for CPUs makes two, and hash_update, with two such here, took 34 s to build. */
ORDO_FN void hash_dedup(const hash_part *part, __local uint *words, uint most, __local uint *live, uint n_live,
                        __local uint *repeats)
{
    HASH_EACH (i, n_live)
        live[i] = part->kind != HASH_DISTINCT || i * 32 >= part->n ? 0
                  : part->n - i * 32 >= 32                         ? 0xffffffffu
                                                                   : (1u << (part->n - i * 32)) - 1;
    const uint places = part->kind == HASH_ANY ? hash_places(part, most) : 0;
    HASH_EACH (i, places)
        words[i] = 0;
    if (HASH_COMBINES && get_local_id(0) == 0)
        *repeats = 0;
    hash_barrier();
    if (part->kind == HASH_RESOLVED) {
        HASH_EACH (u, part->n)
            if (part->index[u] != HASH_LEFT)
                hash_set(live, u);
    }
    if (part->kind == HASH_ANY) {
        HASH_EACH (u, part->n) {
            const ordo_key mixed = part->mixed[u];
            uint           at = hash_first_place(mixed, places);
            for (uint tries = 0; tries < places; tries++) {
                const uint was = atomic_cmpxchg(&words[at], 0u, u + 1);
                if (was && part->mixed[was - 1] == mixed) {
                    atomic_max(&words[at], u + 1);
                    if (HASH_COMBINES)
                        atomic_or(repeats, 1u);
                }
                if (!was || part->mixed[was - 1] == mixed)
                    break;
                at = at + 1 == places ? 0 : at + 1;
            }
        }
    }
    hash_barrier();
    HASH_EACH (i, places)
        if (words[i])
            hash_set(live, words[i] - 1);
    hash_barrier();
}

/* ---- equal keys of a batch that combines --------------------------------------------------------------------------- */

#if HASH_COMBINES

/* The last of update u's key, in a table that hash_dedup has made. */
ORDO_FN uint hash_last_of(const hash_part *part, __local const uint *words, uint places, uint u)
{
    const ordo_key mixed = part->mixed[u];
    uint           at = hash_first_place(mixed, places), last = u;
    for (uint tries = 0; tries < places; tries++) {
        last = words[at] - 1;
        if (part->mixed[last] == mixed)
            break;
        at = at + 1 == places ? 0 : at + 1;
    }
    return last;
}

/* Combines update u's value with that of update `last`, a word at a time, of minima and maxima 8 bytes wide the upper one alone: if it
 * is greater the lower one is nothing yet. Values of updates that are left are words of value_rank, but for sums. */
ORDO_FN void hash_bring(const hash_part *part, uint u, uint last)
{
    volatile __global uint *to = (volatile __global uint *) (part->values + hash_place_of(part, last));
    const ordo_value        value = part->values[hash_place_of(part, u)];
#if ORDO_VALUE_BYTES == 8
    if (VALUE_OP_OF(part->how) == COMBINE_SUM) {
        const uint was = ordo_add(to, (uint) value);
        ordo_add(to + 1, (uint) (value >> 32) + (was + (uint) value < was));
    } else {
        const uint upper = (uint) (value_rank(value, part->how) >> 32);
        if (ordo_max(to + 1, upper) < upper)
            ordo_store_relaxed(to, 0);
    }
#else
    if (VALUE_OP_OF(part->how) == COMBINE_SUM)
        ordo_add(to, value);
    else
        ordo_max(to, value_rank(value, part->how));
#endif
}

/* The lower one, once all upper ones are there. */
ORDO_FN void hash_bring_lower(const hash_part *part, uint u, uint last)
{
#if ORDO_VALUE_BYTES == 8
    volatile __global uint *to = (volatile __global uint *) (part->values + hash_place_of(part, last));
    const ordo_value        bits = value_rank(part->values[hash_place_of(part, u)], part->how);
    if (ordo_load_relaxed(to + 1) == (uint) (bits >> 32))
        ordo_max(to, (uint) bits);
#endif
}

/* Gives the last update of each key that the batch has more than once the combined value of all its updates, in the batch.
 * Updates of one key are combined by all work-items, so a frequent key costs no work-item more than its share. words and live are
 * those of hash_dedup, unchanged since. `folds`: the batch has such keys. Called by the whole group. Ends with a barrier, so every
 * work-item sees every value. */
ORDO_FN void hash_fold(const hash_part *part, __local const uint *words, uint most, __local const uint *live,
                       bool folds)
{
    const uint places = hash_places(part, most), n = folds ? part->n : 0;
    const uint n_ordered = VALUE_OP_OF(part->how) == COMBINE_SUM ? 0 : n;
    HASH_EACH (u, n_ordered)
        if (hash_bit(live, u))
            part->values[hash_place_of(part, u)] = value_rank(part->values[hash_place_of(part, u)], part->how);
    hash_barrier();
    HASH_EACH (u, n)
        if (!hash_bit(live, u))
            hash_bring(part, u, hash_last_of(part, words, places, u));
    hash_barrier();
#if ORDO_VALUE_BYTES == 8
    HASH_EACH (u, n_ordered)
        if (!hash_bit(live, u))
            hash_bring_lower(part, u, hash_last_of(part, words, places, u));
    hash_barrier();
#endif
    HASH_EACH (u, n_ordered)
        if (hash_bit(live, u))
            part->values[hash_place_of(part, u)] = value_of_rank(part->values[hash_place_of(part, u)], part->how);
    hash_barrier();
}
#endif
