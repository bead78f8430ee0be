/* SPDX-License-Identifier: Apache-2.0 */
/* On CPUs, each bucket has a filter (shared/hash_table.h, H5). A lookup skips a bucket if one of the key's two bits in
 * its filter is 0. */
#pragma once
#include "dict/hash/table.cl"

#if ORDO_CPU

ORDO_FN __global uint *hash_filters(const hash_table *table)
{
    return (__global uint *) table->spills + HASH_SPILL_WORDS(table->starts[1u << table->bits]);
}

ORDO_FN uint hash_filter_of(ordo_key mixed)
{
    const uint x = key_digit(mixed, 0, ~0u);
    return 1u << (x & 15) | 0x10000u << ((x >> 4 & 15) * 15 >> 4);
}

/* Computes the filter of a bucket from its keys. Other work-items may change these keys at the same time. */
ORDO_FN uint hash_filter_for(const hash_table *table, uint p, uint bucket, uint spilled)
{
    __global const uint *words = (__global const uint *) hash_keys(table, bucket);
#if KEY_BITS == 32
    const uint8 mixed = (uint8) (ordo_load_uncached128(words), ordo_load_uncached128(words + 4)),
                upper = mixed >> (32 - table->bits);
#elif KEY_BITS == 64
    const ulong8 wide =
        (ulong8) (as_ulong2(ordo_load_uncached128(words)), as_ulong2(ordo_load_uncached128(words + 4)),
                  as_ulong2(ordo_load_uncached128(words + 8)), as_ulong2(ordo_load_uncached128(words + 12)));
    const uint8 mixed = convert_uint8(wide), upper = convert_uint8(wide >> (64 - table->bits));
#else
    uint4 line[HASH_SLOTS];
    for (uint s = 0; s < HASH_SLOTS; s++)
        line[s] = ordo_load_uncached128(words + 4 * s);
    const uint8 mixed =
                    (uint8) (line[0].x, line[1].x, line[2].x, line[3].x, line[4].x, line[5].x, line[6].x, line[7].x),
                upper =
                    (uint8) (line[0].w, line[1].w, line[2].w, line[3].w, line[4].w, line[5].w, line[6].w, line[7].w) >>
                    (32 - table->bits);
#endif
    const uint8 each =
        as_uint8(upper == p) & ((uint8) 1 << (mixed & 15) | (uint8) 0x10000 << ((mixed >> 4 & 15) * 15 >> 4));
    const uint4 four = each.lo | each.hi;
    const uint2 two = four.lo | four.hi;
    return two.x | two.y | (spilled ? HASH_SPILLED : 0);
}

/* Only one work-item may call this for a bucket. */
ORDO_FN void hash_filter(const hash_table *table, uint p, uint bucket)
{
    hash_filters(table)[bucket] = hash_filter_for(table, p, bucket, table->spills[bucket]);
}

/* Only one work-item may change the bucket. */
ORDO_FN void hash_filter_add(const hash_table *table, uint bucket, ordo_key mixed)
{
    hash_filters(table)[bucket] |= hash_filter_of(mixed);
}

ORDO_FN void hash_filter_empty(const hash_table *table, uint bucket)
{
    hash_filters(table)[bucket] = 0;
}

ORDO_FN void hash_filter_spill(const hash_table *table, uint bucket)
{
    hash_filters(table)[bucket] |= HASH_SPILLED;
}

/* Reads a filter rather than a spill count, because a lookup has the filter in cache. */
ORDO_FN bool hash_is_spilled(const hash_table *table, uint bucket)
{
    return (hash_filters(table)[bucket] & HASH_SPILLED) != 0;
}

ORDO_FN bool hash_is_filtered(const hash_table *table, uint p, uint bucket)
{
    return hash_filters(table)[bucket] == hash_filter_for(table, p, bucket, table->spills[bucket]);
}

ORDO_FN void hash_prefetch_filter(const hash_table *table, uint bucket)
{
    ORDO_PREFETCH(hash_filters(table) + bucket);
}

#define HASH_CHANGED_MAX (2 * HASH_CPU_IN_FLIGHT)
typedef struct {
    uint n, bucket[HASH_CHANGED_MAX], partition[HASH_CHANGED_MAX];
} hash_changed;

/* Corrects the filters of the buckets in *changed. Each work-item must call before the launch ends. Before the function
 * reads keys, it executes an atomic operation on a shared word, between two fences. The work-item whose operation comes
 * last thus reads all changed keys, and writes correct filters. */
ORDO_FN void hash_update_filters(const hash_table *table, __private hash_changed *changed)
{
    while (changed->n) {
        __global uint *filters = hash_filters(table);
        const uint     n = changed->n;
        ordo_fence_device();
        (void) ordo_or((volatile __global uint *) filters + table->starts[1u << table->bits], 0u);
        ordo_fence_device();
        changed->n = 0;
        for (uint k = 0; k < n; k++) {
            const uint p = changed->partition[k], bucket = changed->bucket[k];
            const uint is = ordo_load_uncached((volatile __global uint *) filters + bucket);
            const uint wanted = hash_filter_for(table, p, bucket, hash_load_spills(table, bucket));
            if (is == wanted)
                continue;
            (void) ordo_cas((volatile __global uint *) filters + bucket, is, wanted);
            changed->partition[changed->n] = p;
            changed->bucket[changed->n++] = bucket;
        }
    }
}

ORDO_FN void hash_note_change(const hash_table *table, uint p, uint bucket, __private hash_changed *changed)
{
    if (changed->n == HASH_CHANGED_MAX)
        hash_update_filters(table, changed);
    changed->partition[changed->n] = p;
    changed->bucket[changed->n++] = bucket;
}

#else

typedef struct {
    uint n;
} hash_changed;

#define hash_filter(table, p, bucket)               ((void) 0)
#define hash_filter_add(table, bucket, mixed)       ((void) 0)
#define hash_filter_empty(table, bucket)            ((void) 0)
#define hash_filter_spill(table, bucket)            ((void) 0)
#define hash_is_spilled(table, bucket)              ((table)->spills[bucket] != 0)
#define hash_is_filtered(table, p, bucket)          true
#define hash_prefetch_filter(table, bucket)         ((void) 0)
#define hash_update_filters(table, changed)         ((void) 0)
#define hash_note_change(table, p, bucket, changed) ((void) 0)

#endif
