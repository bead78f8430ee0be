/* SPDX-License-Identifier: Apache-2.0 */
/* A batch that combines, by partitions: of equal keys, which are in one partition, the last is left, with the value of all of them.
 *
 *   hash_fold       makes a batch of enum hash_kind HASH_RESOLVED
 *
 * Keys that are there once cost a look at a table in local memory. Of others the last to come has one or two words of global
 * memory, to which the others add theirs, or of which they make the greatest, by atomics: no key is so frequent that one
 * work-item has to go through all of its values. Minima and maxima of 8 bytes go word by word: the upper ones, then, of those
 * that have the greatest upper one, the lower.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, HASH_GROUP.
 */
#pragma once
#include "device/atomic.cl"
#include "dict/hash/combined.cl"
#include "dict/hash/part.cl"

/* Places of the table that finds equal keys: more than updates. */
#define HASH_FOLD_PLACES 3072

typedef struct {
    uint places[HASH_FOLD_PLACES];      /* the last of each key, by number, + 1 */
    uint shared[HASH_FOLD_PLACES / 32]; /* a bit for each place whose key is there more than once */
    uint any_shared;
} hash_folded;

/* A partition's part of the batch. index is written: the place of its value, or HASH_LEFT. */
typedef struct {
    uint                     n, first, how, places;
    __global const ordo_key *mixed;
    __global ordo_value     *values;
    __global uint           *index, *second;
} hash_fold_part;

#define HASH_FOLD_AT(mixed, places) hash_share(hash_again(mixed) * 0x9e3779b1u, places)

/* Ends with a barrier. */
ORDO_FN void hash_find_shared(const hash_fold_part *part, __local hash_folded *mem)
{
    HASH_EACH (i, part->places)
        mem->places[i] = 0;
    HASH_EACH (i, HASH_FOLD_PLACES / 32)
        mem->shared[i] = 0;
    if (get_local_id(0) == 0)
        mem->any_shared = 0;
    hash_barrier();
    HASH_EACH (u, part->n) {
        const ordo_key mixed = part->mixed[u];
        uint           at = HASH_FOLD_AT(mixed, part->places);
        for (uint tries = 0; tries < part->places; tries++) {
            const uint was = atomic_cmpxchg(&mem->places[at], 0u, u + 1);
            if (!was)
                break;
            if (part->mixed[was - 1] == mixed) {
                atomic_max(&mem->places[at], u + 1);
                hash_set(mem->shared, at);
                atomic_or(&mem->any_shared, 1u);
                break;
            }
            at = at + 1 == part->places ? 0 : at + 1;
        }
    }
    hash_barrier();
}

/* The last of update u's key, or HASH_NONE if it is the only one. */
ORDO_FN uint hash_last_of(const hash_fold_part *part, const __local hash_folded *mem, uint u)
{
    const ordo_key mixed = part->mixed[u];
    uint           at = HASH_FOLD_AT(mixed, part->places);
    for (uint tries = 0; tries < part->places; tries++) {
        const uint last = mem->places[at] - 1;
        if (last == u || part->mixed[last] == mixed)
            return hash_bit(mem->shared, at) ? last : HASH_NONE;
        at = at + 1 == part->places ? 0 : at + 1;
    }
    return HASH_NONE;
}

/* ---- words of what is combined ----------------------------------------------------------------------------------- */

/* A value as words that are combined one by one: the first is the upper one of minima and maxima, and the lower one of sums. */
ORDO_FN ordo_value hash_words_of(ordo_value value, uint how)
{
    return HASH_OP_OF(how) == HASH_SUM ? value : hash_value_bits(value, how);
}

ORDO_FN uint hash_first_word(ordo_value words, uint how)
{
#if ORDO_VALUE_BYTES == 8
    return HASH_OP_OF(how) == HASH_SUM ? (uint) words : (uint) (words >> 32);
#else
    return words;
#endif
}

ORDO_FN void hash_begin_words(const hash_fold_part *part, uint u)
{
    const ordo_value words = hash_words_of(part->values[u], part->how);
    part->index[u] = hash_first_word(words, part->how);
#if ORDO_VALUE_BYTES == 8
    part->second[u] = HASH_OP_OF(part->how) == HASH_SUM ? (uint) (words >> 32) : 0;
#endif
}

ORDO_FN void hash_bring_first(const hash_fold_part *part, uint u, uint last)
{
    const ordo_value words = hash_words_of(part->values[u], part->how);
    const uint       first = hash_first_word(words, part->how);
    if (HASH_OP_OF(part->how) != HASH_SUM) {
        ordo_max(&part->index[last], first);
        return;
    }
    const uint was = ordo_add(&part->index[last], first);
#if ORDO_VALUE_BYTES == 8
    ordo_add(&part->second[last], (uint) (words >> 32) + (was + first < was));
#else
    (void) was;
#endif
}

/* Of minima and maxima of 8 bytes, once all first words are there. */
ORDO_FN void hash_bring_second(const hash_fold_part *part, uint u, uint last)
{
#if ORDO_VALUE_BYTES == 8
    const ordo_value words = hash_words_of(part->values[u], part->how);
    if (HASH_OP_OF(part->how) != HASH_SUM && (uint) (words >> 32) == part->index[last])
        ordo_max(&part->second[last], (uint) words);
#endif
}

ORDO_FN ordo_value hash_joined(const hash_fold_part *part, uint u)
{
#if ORDO_VALUE_BYTES == 8
    const ordo_value first = part->index[u], second = part->second[u];
    if (HASH_OP_OF(part->how) == HASH_SUM)
        return second << 32 | first;
    return hash_value_from_bits(first << 32 | second, part->how);
#else
    if (HASH_OP_OF(part->how) == HASH_SUM)
        return part->index[u];
    return hash_value_from_bits(part->index[u], part->how);
#endif
}

/* ---- a partition ------------------------------------------------------------------------------------------------- */

/* Called by all work-items, which go the same way. Ends with a barrier. */
ORDO_FN void hash_fold_shared(const hash_fold_part *part, const __local hash_folded *mem)
{
    HASH_EACH (u, part->n)
        if (hash_last_of(part, mem, u) == u)
            hash_begin_words(part, u);
    hash_barrier();
    HASH_EACH (u, part->n) {
        const uint last = hash_last_of(part, mem, u);
        if (last != HASH_NONE && last != u)
            hash_bring_first(part, u, last);
    }
    hash_barrier();
    HASH_EACH (u, part->n) {
        const uint last = hash_last_of(part, mem, u);
        if (last != HASH_NONE)
            hash_bring_second(part, u, last);
    }
    hash_barrier();
    HASH_EACH (u, part->n) {
        const uint last = hash_last_of(part, mem, u);
        if (last == u)
            part->values[u] = hash_joined(part, u);
        part->index[u] = last == HASH_NONE || last == u ? part->first + u : HASH_LEFT;
    }
    hash_barrier();
}

/* bounds: of hash_bounds. values: by partition, of which those that are left are replaced. second: a word for each update, for values of 8
 * bytes; else NULL. Partitions with more updates than HASH_UPDATES_MOST are passed over. */
ORDO_KERNEL(HASH_GROUP)
void hash_fold(__global const ordo_key *mixed, __global hash_value *values, __global const uint *bounds, uint bits,
               uint how, __global uint *index, __global uint *second)
{
    __local hash_folded mem;
    for (uint p = (uint) get_group_id(0); p < 1u << bits; p += (uint) get_num_groups(0)) {
        hash_fold_part part;
        part.first = bounds[p];
        part.n = bounds[p + 1] - part.first;
        if (part.n == 0 || part.n > HASH_UPDATES_MOST)
            continue;
        part.how = how;
        part.places = min((uint) HASH_FOLD_PLACES, 2 * part.n + 32);
        part.mixed = mixed + part.first;
        part.values = values + part.first;
        part.index = index + part.first;
        part.second = second + part.first;
        hash_find_shared(&part, &mem);
        HASH_EACH (u, mem.any_shared ? 0 : part.n)
            part.index[u] = part.first + u;
        if (mem.any_shared)
            hash_fold_shared(&part, &mem);
        hash_barrier();
    }
}
