/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of kernels that apply a batch. A work-group handles one partition (a range of buckets) at a time. */
#pragma once
#include "dict/hash/filter.cl"

/* If 1, updates combine their values with stored values. Such a batch never erases keys. Its kind is not HASH_RESOLVED
 * (see enum hash_kind). */
#ifndef HASH_COMBINES
#define HASH_COMBINES 0
#endif
#ifndef HASH_GROUP
#define HASH_GROUP HASH_GROUP_DENSE
#endif

#if HASH_COMBINES
typedef hash_value hash_given;
#else
typedef const hash_value hash_given;
#endif

/* Synchronizes the work-group. Code in cl/dict/hash follows three rules, which PoCL 3.1 and 6.0 need:
 *   - A function that has a barrier ends with a barrier (except hash_move of update_dense.cl).
 *   - If some partitions skip a part of a function, and this part has a barrier, it also ends with a barrier.
 *   - If one branch of an `if` has a barrier, the other has none. */
ORDO_FN void hash_barrier(void)
{
    if (HASH_GROUP > 1)
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

#define HASH_EACH(i, n) for (uint i = (uint) get_local_id(0); i < (n); i += HASH_GROUP)

#define HASH_PARTITIONS(p, table)                                                                                      \
    for (uint p = (uint) get_group_id(0); p < 1u << (table).bits; p += (uint) get_num_groups(0))

/* A work-group of one work-item needs no atomic instructions, which CPUs execute slowly. */
#if HASH_GROUP == 1
ORDO_FN uint hash_add(__local uint *x, uint y)
{
    const uint was = *x;
    *x = was + y;
    return was;
}
ORDO_FN uint hash_max(__local uint *x, uint y)
{
    const uint was = *x;
    *x = max(was, y);
    return was;
}
ORDO_FN uint hash_cas(__local uint *x, uint is, uint y)
{
    const uint was = *x;
    *x = was == is ? y : was;
    return was;
}
ORDO_FN void hash_or(__local uint *x, uint y)
{
    *x |= y;
}
#else
#define hash_add(x, y)     atomic_add(x, y)
#define hash_max(x, y)     atomic_max(x, y)
#define hash_cas(x, is, y) atomic_cmpxchg(x, is, y)
#define hash_or(x, y)      ((void) atomic_or(x, y))
#endif

ORDO_FN bool hash_bit(__local const uint *bits, uint i)
{
    return bits[i / 32] >> i % 32 & 1;
}
ORDO_FN void hash_set(__local uint *bits, uint i)
{
    hash_or(&bits[i / 32], 1u << i % 32);
}

/* ---- updates of a partition -------------------------------------------------------------------------------------- */

/* Kernel parameters. The updates must be sorted by partition. If batch_index is not NULL, batch_index[j] is the index
 * of update j in the arrays of values and erased flags. */
#define HASH_BATCH                                                                                                     \
    __global const ordo_key *batch_mixed, __global const uint *batch_index, __global hash_given *batch_values,         \
        ulong batch_values_at, __global const uchar *batch_erased, ulong batch_erased_at, uint batch_kind,             \
        __global const uint *batch_bounds

typedef struct {
    uint                     start, buckets, number;
    uint                     n;
    uint                     kind;
    __global const ordo_key *mixed;
    __global const uint     *index;
    __global hash_given     *values;
    __global const uchar    *erased;
    uint                     first;
    uint                     how;
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
    part.erased = batch_erased ? batch_erased + batch_erased_at : 0;                                                   \
    part.how = 0;

/* Returns partition p, without updates. */
ORDO_FN hash_part hash_part_at(const hash_table *table, uint p)
{
    const uint      start = table->starts[p];
    const hash_part part = { .number = p, .start = start, .buckets = table->starts[p + 1] - start };
    return part;
}

ORDO_FN uint hash_index_of(const hash_part *part, uint u)
{
    return part->index ? part->index[u] : part->first + u;
}

ORDO_FN bool hash_erases(const hash_part *part, uint u)
{
    if (part->kind == HASH_RESOLVED)
        return part->index[u] == HASH_ERASED;
    return part->erased && part->erased[hash_index_of(part, u)];
}

/* Each element has a number: s + 1 for the element in slot s of the partition, and HASH_SLOTS_MAX + u + 1 for update u.
 * Number 0 means no element. */
#define HASH_NUMBERS (HASH_SLOTS_MAX + HASH_UPDATES_MAX)

ORDO_FN ordo_key hash_key_of(const hash_table *table, const hash_part *part, uint number)
{
    const uint at = number - 1;
    if (at >= HASH_SLOTS_MAX)
        return part->mixed[at - HASH_SLOTS_MAX];
    return hash_keys(table, part->start + at / HASH_SLOTS)[at % HASH_SLOTS];
}

#if ORDO_VALUE_BYTES
ORDO_FN ordo_value hash_value_of(const hash_table *table, const hash_part *part, uint number)
{
    const uint at = number - 1;
    if (at >= HASH_SLOTS_MAX)
        return part->values[hash_index_of(part, at - HASH_SLOTS_MAX)];
    return hash_values(table, part->start + at / HASH_SLOTS)[at % HASH_SLOTS];
}
#endif

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Each slot has a word in local memory. Bits 28 to 31 count the element's tries to get a slot (proposals). Bits 12 to
 * 27 are the element's number, and bits 0 to 11 its other bucket. */
#define HASH_PROPOSALS_SHIFT 28
#define HASH_NUMBER_SHIFT    12
#define HASH_PROPOSALS_MAX   15
ORDO_STATIC_ASSERT(HASH_BUCKETS_MAX <= 1 << HASH_NUMBER_SHIFT, "a word holds the number of a bucket");
ORDO_STATIC_ASSERT(HASH_NUMBERS < 1 << (HASH_PROPOSALS_SHIFT - HASH_NUMBER_SHIFT),
                   "a word holds the number of an element");

ORDO_FN uint hash_word(uint proposals, uint number, uint other)
{
    return proposals << HASH_PROPOSALS_SHIFT | number << HASH_NUMBER_SHIFT | other;
}
ORDO_FN uint hash_proposals_of(uint word)
{
    return word >> HASH_PROPOSALS_SHIFT;
}
ORDO_FN uint hash_number_of(uint word)
{
    return word << (32 - HASH_PROPOSALS_SHIFT) >> (32 - HASH_PROPOSALS_SHIFT + HASH_NUMBER_SHIFT);
}
ORDO_FN uint hash_other_of(uint word)
{
    return word & ((1u << HASH_NUMBER_SHIFT) - 1);
}

/* Adds a word to a bucket, which keeps only its HASH_SLOTS greatest words. Returns the word that the bucket drops, or
 * 0. */
ORDO_FN uint hash_propose(__local uint *bucket, uint word)
{
    for (uint s = 0; s < HASH_SLOTS && word; s++)
        word = min(word, hash_max(&bucket[s], word));
    return word;
}

/* Returns the word (hash_word) of slot s, which holds `mixed`, or 0 if the slot is empty. */
ORDO_FN uint hash_word_of(const hash_table *table, const hash_part *part, uint s, ordo_key mixed)
{
    const uint bucket = s / HASH_SLOTS;
    if (hash_partition(mixed, table->bits) != part->number)
        return 0;
    const uint home = hash_home(mixed, table->bits, part->buckets);
    const uint second = hash_second(mixed, home, part->buckets);
    const uint proposals = bucket == home ? 0 : bucket == second ? 1 : HASH_PROPOSALS_MAX;
    return hash_word(proposals, s + 1, proposals == 0 ? second : home);
}

ORDO_FN uint hash_word_there(const hash_table *table, const hash_part *part, uint s)
{
    return hash_word_of(table, part, s, hash_keys(table, part->start + s / HASH_SLOTS)[s % HASH_SLOTS]);
}

/* ---- equal keys -------------------------------------------------------------------------------------------------- */

ORDO_FN uint hash_places(const hash_part *part, uint most)
{
    return min(most, 2 * part->n + 32);
}
ORDO_FN uint hash_first_place(ordo_key mixed, uint places)
{
    return hash_share(hash_again(mixed) * 0x9e3779b1u, places);
}

/* Sets bit u of `live` if update u is the last update of its key. `words` must have room for `most` words. */
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
                const uint was = hash_cas(&words[at], 0u, u + 1);
                if (was && key_same(part->mixed[was - 1], mixed)) {
                    hash_max(&words[at], u + 1);
                    if (HASH_COMBINES)
                        hash_or(repeats, 1u);
                }
                if (!was || key_same(part->mixed[was - 1], mixed))
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

/* ---- combined values --------------------------------------------------------------------------------------------- */

#if HASH_COMBINES
#include "dict/hash/combine.cl"
#else
#define HASH_RENEWED(part, was, u) (part)->values[hash_index_of(part, u)]
ORDO_FN void hash_fold(const hash_part *part, __local const uint *words, uint most, __local const uint *live,
                       bool folds)
{
}
#endif
