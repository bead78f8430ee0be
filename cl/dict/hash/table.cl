/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table in memory, and lookups in it; shared/hash_table.h draws it and has the invariants.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES. */
#pragma once
#include "device/atomic.cl"
#include "shared/hash_table.h"
#include "shared/key.h"

#define HASH_NONE 0xffffffffu

/* What a kernel is given of a table. starts is NULL where nothing was ever stored. */
#define HASH_TABLE                                                                                                     \
    __global uchar *table_buckets, __global uchar *table_spills, __global uint *table_starts,                          \
        __global uint *table_counts, uint table_bits, ulong table_seed
#define HASH_TABLE_HERE                                                                                                \
    {                                                                                                                  \
        table_buckets, table_spills, table_starts, table_counts, table_bits, table_seed                                \
    }

typedef struct {
    __global uchar *buckets, *spills;
    __global uint  *starts, *counts;
    uint            bits; /* of a partition's number: 1 at least */
    ulong           seed;
} hash_table;

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Bijections, after C. Wellons' search for the least bias (32 bits) and D. Stafford's thirteenth mixer (64). */
#if KEY_BITS == 32
ORDO_FN ordo_key hash_mix(ordo_key key, ulong seed)
{
    uint x = key ^ (uint) seed;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15 ^ (uint) (seed >> 32)) * 0x846ca68bu;
    return x ^ x >> 16;
}

ORDO_FN ordo_key hash_unmix(ordo_key mixed, ulong seed)
{
    uint x = (mixed ^ mixed >> 16) * 0x43021123u;
    x ^= (uint) (seed >> 32);
    x = (x ^ x >> 15 ^ x >> 30) * 0x1d69e2a5u;
    return x ^ x >> 16 ^ (uint) seed;
}

/* Bits that are as good as the mixed key's, and others. */
ORDO_FN uint hash_again(ordo_key mixed)
{
    const uint x = mixed * 0x9e3779b1u;
    return (x ^ x >> 15) * 0x85ebca77u;
}

/* The bits below the partition's number, moved up. */
ORDO_FN uint hash_within(ordo_key mixed, uint bits)
{
    return mixed << bits;
}
#else
ORDO_FN ordo_key hash_mix(ordo_key key, ulong seed)
{
    ulong x = key ^ seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ x >> 27 ^ seed >> 7) * 0x94d049bb133111ebul;
    return x ^ x >> 31;
}

ORDO_FN ordo_key hash_unmix(ordo_key mixed, ulong seed)
{
    ulong x = (mixed ^ mixed >> 31 ^ mixed >> 62) * 0x319642b2d24d8ec3ul;
    x ^= seed >> 7;
    x = (x ^ x >> 27 ^ x >> 54) * 0x96de1b173f119089ul;
    return x ^ x >> 30 ^ x >> 60 ^ seed;
}

ORDO_FN uint hash_again(ordo_key mixed)
{
    return (uint) (mixed * 0x9e3779b97f4a7c15ul >> 32);
}

ORDO_FN uint hash_within(ordo_key mixed, uint bits)
{
    return (uint) (mixed << bits >> 32);
}
#endif

ORDO_FN uint hash_partition(ordo_key mixed, uint bits)
{
    return (uint) (mixed >> (KEY_BITS - bits));
}

/* H2: what stands in the empty slots of a partition. */
ORDO_FN ordo_key hash_empty(uint partition, uint bits)
{
    return (ordo_key) (partition ^ 1) << (KEY_BITS - bits);
}

/* x as a share of n: as evenly among 0 to n - 1 as the values of x. (Twenty instructions came of mul_hi on a CPU.) */
ORDO_FN uint hash_share(uint x, uint n)
{
#if ORDO_CPU
    return (uint) ((ulong) x * n >> 32);
#else
    return mul_hi(x, n);
#endif
}

/* A key's buckets in a partition that has `n` of them. */
ORDO_FN uint hash_home(ordo_key mixed, uint bits, uint n)
{
    return hash_share(hash_within(mixed, bits), n);
}

ORDO_FN uint hash_second(ordo_key mixed, uint first, uint n)
{
    const uint second = first + 1 + hash_share(hash_again(mixed), n - 1);
    return n == 1 ? 0 : second < n ? second : second - n;
}

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

#define HASH_BUCKET_BYTES ((ulong) HASH_SLOTS * (KEY_BITS / 8 + ORDO_VALUE_BYTES))

ORDO_FN __global ordo_key *hash_keys(const hash_table *table, uint bucket)
{
    return (__global ordo_key *) (table->buckets + bucket * HASH_BUCKET_BYTES);
}

#if ORDO_VALUE_BYTES
ORDO_FN __global ordo_value *hash_values(const hash_table *table, uint bucket)
{
    return (__global ordo_value *) (hash_keys(table, bucket) + HASH_SLOTS);
}
typedef ordo_value hash_value;
#else
typedef uint hash_value; /* of pointers that are NULL */
#endif

/* While others change it. */
ORDO_FN uint hash_load_spills(const hash_table *table, uint bucket)
{
    return ordo_peek((volatile __global uint *) table->spills + bucket / 4) >> bucket % 4 * 8 & 0xff;
}

/* ---- filters (H5) ------------------------------------------------------------------------------------------------ */

/* Elsewhere than on CPUs there are none, and nothing is to be done. */
#if ORDO_CPU
ORDO_FN __global uint *hash_filters(const hash_table *table)
{
    return (__global uint *) table->spills + HASH_SPILL_WORDS(table->starts[1u << table->bits]);
}

/* A key's bits in the filter of the bucket that it is in: one of the lower 16, and one of the next 15. */
ORDO_FN uint hash_filter_of(ordo_key mixed)
{
    const uint x = (uint) mixed;
    return 1u << (x & 15) | 0x10000u << ((x >> 4 & 15) * 15 >> 4);
}

/* What the filter of a bucket of partition p is to be, from which so many have spilled; others may change it meanwhile. */
ORDO_FN uint hash_filter_for(const hash_table *table, uint p, uint bucket, uint spilled)
{
    __global const uint *words = (__global const uint *) hash_keys(table, bucket);
#if KEY_BITS == 32
    const uint8 mixed = (uint8) (ordo_peek128(words), ordo_peek128(words + 4)), upper = mixed >> (32 - table->bits);
#else
    const ulong8           wide = (ulong8) (as_ulong2(ordo_peek128(words)), as_ulong2(ordo_peek128(words + 4)),
                                  as_ulong2(ordo_peek128(words + 8)), as_ulong2(ordo_peek128(words + 12)));
    const uint8            mixed = convert_uint8(wide), upper = convert_uint8(wide >> (64 - table->bits));
#endif
    const uint8 each =
        as_uint8(upper == p) & ((uint8) 1 << (mixed & 15) | (uint8) 0x10000 << ((mixed >> 4 & 15) * 15 >> 4));
    const uint4 four = each.lo | each.hi;
    const uint2 two = four.lo | four.hi;
    return two.x | two.y | (spilled ? HASH_SPILLED : 0);
}
#endif

/* Whether the filter of a bucket of partition p is right. */
ORDO_FN bool hash_is_filtered(const hash_table *table, uint p, uint bucket)
{
#if ORDO_CPU
    return hash_filters(table)[bucket] == hash_filter_for(table, p, bucket, table->spills[bucket]);
#else
    return true;
#endif
}

/* After each change of a bucket of partition p, or of its spills; by the work-item that made it, the only one (where there
 * are filters, a partition's work-group has one). */
ORDO_FN void hash_filter(const hash_table *table, uint p, uint bucket)
{
#if ORDO_CPU
    hash_filters(table)[bucket] = hash_filter_for(table, p, bucket, table->spills[bucket]);
#endif
}

/* Buckets that a work-item has changed where others change them too, and their partitions. */
#define HASH_CHANGED_MAX (2 * HASH_CPU_IN_FLIGHT)
typedef struct {
#if ORDO_CPU
    uint n, bucket[HASH_CHANGED_MAX], partition[HASH_CHANGED_MAX];
#else
    uint n;
#endif
} hash_changed;

/* What becomes of their filters: before the launch ends. All work-items update one word, behind the filters, before they look. So
 * whoever looks last at a bucket sees all its changes, and leaves the filter as it is to be: others who would change it after that
 * would look again. That is at most once for each change of the bucket. */
ORDO_FN void hash_update_filters(const hash_table *table, __private hash_changed *changed)
{
#if ORDO_CPU
    while (changed->n) { /* else there may be no table */
        __global uint *filters = hash_filters(table);
        const uint     n = changed->n;
        ordo_fence_device();
        (void) ordo_or((volatile __global uint *) filters + table->starts[1u << table->bits], 0u);
        ordo_fence_device();
        changed->n = 0;
        for (uint k = 0; k < n; k++) {
            const uint p = changed->partition[k], bucket = changed->bucket[k];
            const uint is = ordo_peek((volatile __global uint *) filters + bucket);
            const uint wanted = hash_filter_for(table, p, bucket, hash_load_spills(table, bucket));
            if (is == wanted)
                continue;
            (void) ordo_cas((volatile __global uint *) filters + bucket, is, wanted);
            changed->partition[changed->n] = p;
            changed->bucket[changed->n++] = bucket;
        }
    }
#endif
}

ORDO_FN void hash_note_change(const hash_table *table, uint p, uint bucket, __private hash_changed *changed)
{
#if ORDO_CPU
    if (changed->n == HASH_CHANGED_MAX)
        hash_update_filters(table, changed);
    changed->partition[changed->n] = p;
    changed->bucket[changed->n++] = bucket;
#endif
}

/* ---- lookups ----------------------------------------------------------------------------------------------------- */

/* The slot of a bucket that has the key, or HASH_NONE. Buckets are aligned to 32 bytes: so many of them, or 16, at a time. */
#if ORDO_CPU
ORDO_FN uint hash_slot_of(const hash_table *table, uint bucket, ordo_key mixed)
{
    /* A byte of ones where the key is; there is one at most. (clz of none is 64.) */
#if KEY_BITS == 32
    const char8 same = convert_char8(*(const __global uint8 *) hash_keys(table, bucket) == mixed);
#else
    const __global ulong4 *line = (const __global ulong4 *) hash_keys(table, bucket);
    const char8            same = (char8) (convert_char4(line[0] == mixed), convert_char4(line[1] == mixed));
#endif
    return (uint) ((63 - (int) clz(as_ulong(same))) >> 3);
}
#else
ORDO_FN uint hash_slot_of(const hash_table *table, uint bucket, ordo_key mixed)
{
    uint                  slot = HASH_NONE;
#if KEY_BITS == 32
    const __global uint4 *line = (const __global uint4 *) hash_keys(table, bucket);
    const uint4           a = line[0], b = line[1];
    slot = a.s0 == mixed ? 0 : slot;
    slot = a.s1 == mixed ? 1 : slot;
    slot = a.s2 == mixed ? 2 : slot;
    slot = a.s3 == mixed ? 3 : slot;
    slot = b.s0 == mixed ? 4 : slot;
    slot = b.s1 == mixed ? 5 : slot;
    slot = b.s2 == mixed ? 6 : slot;
    slot = b.s3 == mixed ? 7 : slot;
#else
    const __global ulong2 *line = (const __global ulong2 *) hash_keys(table, bucket);
    const ulong2           a = line[0], b = line[1], c = line[2], d = line[3];
    slot = a.s0 == mixed ? 0 : slot;
    slot = a.s1 == mixed ? 1 : slot;
    slot = b.s0 == mixed ? 2 : slot;
    slot = b.s1 == mixed ? 3 : slot;
    slot = c.s0 == mixed ? 4 : slot;
    slot = c.s1 == mixed ? 5 : slot;
    slot = d.s0 == mixed ? 6 : slot;
    slot = d.s1 == mixed ? 7 : slot;
#endif
    return slot;
}
#endif

/* Where an element is: its bucket of the table and its slot there, HASH_NONE if it is not. */
typedef struct {
    uint bucket, slot;
} hash_place;

ORDO_FN hash_place hash_find_stashed(const hash_table *table, uint start, uint n, ordo_key mixed)
{
    hash_place place = { 0, HASH_NONE };
    for (uint b = 0; b < n && place.slot == HASH_NONE; b++) {
        place.bucket = start + b;
        place.slot = hash_slot_of(table, place.bucket, mixed);
    }
    return place;
}

/* The same where it is not in its first bucket, from which elements have spilled: `first` of the partition's n from `start` on. */
ORDO_FN hash_place hash_look_on(const hash_table *table, uint start, uint n, uint first, ordo_key mixed)
{
    hash_place place = { start + hash_second(mixed, first, n), HASH_NONE };
    place.slot = hash_slot_of(table, place.bucket, mixed);
    if (place.slot == HASH_NONE && table->spills[start + first] == HASH_SCAN)
        place = hash_find_stashed(table, start, n, mixed);
    return place;
}

/* The same by a mixed key's partition, which has n buckets from `start` on: some at least. */
ORDO_FN hash_place hash_look(const hash_table *table, uint start, uint n, ordo_key mixed)
{
    const uint first = hash_home(mixed, table->bits, n);
    hash_place place = { start + first, 0 };

    place.slot = hash_slot_of(table, place.bucket, mixed);
    if (place.slot == HASH_NONE && table->spills[place.bucket])
        return hash_look_on(table, start, n, first, mixed);
    return place;
}

ORDO_FN hash_place hash_lookup(const hash_table *table, ordo_key mixed)
{
    const uint p = hash_partition(mixed, table->bits);
    const uint start = table->starts[p], n = table->starts[p + 1] - start;
    if (n == 0) {
        const hash_place none = { 0, HASH_NONE };
        return none;
    }
    return hash_look(table, start, n, mixed);
}
