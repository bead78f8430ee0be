/* SPDX-License-Identifier: Apache-2.0 */
/* Looks keys up in a hash table (shared/hash_table.h). */
#pragma once
#include "device/atomic.cl"
#include "shared/hash_table.h"
#include "shared/key.h"

#define HASH_NONE 0xffffffffu

/* Kernel parameters of a hash table. table_starts is NULL if the table is empty. */
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
    uint            bits;
    ulong           seed;
} hash_table;

/* hash_mix is a bijection that makes keys look random, and hash_unmix is its inverse. The 32-bit version is by C.
 * Wellons, the 64-bit one is D. Stafford's variant 13. The 128-bit version is a Feistel network of this variant. */
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

ORDO_FN uint hash_again(ordo_key mixed)
{
    const uint x = mixed * 0x9e3779b1u;
    return (x ^ x >> 15) * 0x85ebca77u;
}

/* Removes the partition number, which is the top `bits` bits of a mixed key. */
ORDO_FN uint hash_within(ordo_key mixed, uint bits)
{
    return mixed << bits;
}
#elif KEY_BITS == 64
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
#else
ORDO_FN ulong hash_scramble(ulong x, ulong seed)
{
    x ^= seed;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ x >> 27) * 0x94d049bb133111ebul;
    return x ^ x >> 31;
}

ORDO_FN ordo_key hash_mix(ordo_key key, ulong seed)
{
    key.y ^= hash_scramble(key.x, seed);
    key.x ^= hash_scramble(key.y, seed + 0x9e3779b97f4a7c15ul);
    key.y ^= hash_scramble(key.x, seed ^ 0xc2b2ae3d27d4eb4ful);
    return key;
}

ORDO_FN ordo_key hash_unmix(ordo_key mixed, ulong seed)
{
    mixed.y ^= hash_scramble(mixed.x, seed ^ 0xc2b2ae3d27d4eb4ful);
    mixed.x ^= hash_scramble(mixed.y, seed + 0x9e3779b97f4a7c15ul);
    mixed.y ^= hash_scramble(mixed.x, seed);
    return mixed;
}

ORDO_FN uint hash_again(ordo_key mixed)
{
    return (uint) (mixed.x * 0x9e3779b97f4a7c15ul >> 32);
}

/* For keys of 16 bytes, keys that agree in their top 32 bits have the same home bucket. */
ORDO_FN uint hash_within(ordo_key mixed, uint bits)
{
    return key_digit(mixed, KEY_BITS - 32, ~0u) << bits;
}
#endif

ORDO_FN uint hash_partition(ordo_key mixed, uint bits)
{
    return key_digit(mixed, KEY_BITS - bits, ~0u);
}

ORDO_FN ordo_key hash_empty(uint partition, uint bits)
{
    return key_of_digit(partition ^ 1, KEY_BITS - bits);
}

/* Maps x evenly to 0 .. n - 1. */
ORDO_FN uint hash_share(uint x, uint n)
{
#if ORDO_CPU
    return (uint) ((ulong) x * n >> 32);
#else
    return mul_hi(x, n);
#endif
}

ORDO_FN uint hash_home(ordo_key mixed, uint bits, uint n)
{
    return hash_share(hash_within(mixed, bits), n);
}

ORDO_FN uint hash_second(ordo_key mixed, uint first, uint n)
{
    const uint second = first + 1 + hash_share(hash_again(mixed), n - 1);
    return n == 1 ? 0 : second < n ? second : second - n;
}

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
typedef uint hash_value;
#endif

/* Returns a bucket's spill count (the number of its keys that are in another bucket). Other work-items may change this
 * count at the same time. */
ORDO_FN uint hash_load_spills(const hash_table *table, uint bucket)
{
    return ordo_load_uncached((volatile __global uint *) table->spills + bucket / 4) >> bucket % 4 * 8 & 0xff;
}

#if ORDO_CPU
ORDO_FN uint hash_slot_of(const hash_table *table, uint bucket, ordo_key mixed)
{
#if KEY_BITS == 32
    const char8 same = convert_char8(*(const __global uint8 *) hash_keys(table, bucket) == mixed);
#elif KEY_BITS == 64
    const __global ulong4 *line = (const __global ulong4 *) hash_keys(table, bucket);
    const char8            same = (char8) (convert_char4(line[0] == mixed), convert_char4(line[1] == mixed));
#else
    const __global ulong4 *line = (const __global ulong4 *) hash_keys(table, bucket);
    const ulong4           a = line[0], b = line[1], c = line[2], d = line[3];
    const ulong8 low = (ulong8) (a.even, b.even, c.even, d.even), high = (ulong8) (a.odd, b.odd, c.odd, d.odd);
    const char8  same = convert_char8(((low ^ mixed.x) | (high ^ mixed.y)) == 0);
#endif
    /* If no slot holds the key, clz returns 64. The result is then -1, which is HASH_NONE. */
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
#elif KEY_BITS == 64
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
#else
    const __global ordo_key *line = hash_keys(table, bucket);
    ordo_key                 keys[HASH_SLOTS];
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++)
        keys[s] = line[s];
    ORDO_UNROLL
    for (uint s = 0; s < HASH_SLOTS; s++)
        slot = key_same(keys[s], mixed) ? s : slot;
#endif
    return slot;
}
#endif

/* `slot` is HASH_NONE if the key is absent. */
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

/* Searches for a key that its home bucket does not have. The index of the home bucket is start + first. Its spill count
 * must not be 0. */
ORDO_FN hash_place hash_look_on(const hash_table *table, uint start, uint n, uint first, ordo_key mixed)
{
    hash_place place = { start + hash_second(mixed, first, n), HASH_NONE };
    place.slot = hash_slot_of(table, place.bucket, mixed);
    if (place.slot == HASH_NONE && table->spills[start + first] == HASH_SCAN)
        place = hash_find_stashed(table, start, n, mixed);
    return place;
}

/* Searches a partition for a key. The partition has n buckets, from bucket `start` on. n must not be 0. */
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
