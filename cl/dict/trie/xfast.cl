/* SPDX-License-Identifier: Apache-2.0 */
/* Searches an X-fast trie (shared/xfast.h): a sorted array of keys, and an index of key prefixes. The host must define
 * ORDO_VALUE_BYTES as XFAST_ENTRY_BYTES. */
#pragma once
#include "dict/each.cl"
#include "dict/hash/table.cl"
#include "shared/xfast.h"

/* If 1, each prefix length has its own hash table. If 0, all lengths share one table. */
#ifndef XFAST_LEVEL_TABLES
#define XFAST_LEVEL_TABLES 0
#endif

typedef struct {
    uint first, end;
} xfast_range;

#if XFAST_LEVEL_TABLES
#include "dict/trie/xfast_levels.cl"
#define XFAST_LEAF_MAX          0
#define XFAST_HAS_ENTRIES(trie) true
#else
#define XFAST_TABLE             HASH_TABLE
#define XFAST_TABLE_HERE        HASH_TABLE_HERE
#define XFAST_LEAF_MAX          XFAST_LEAF
#define XFAST_HAS_ENTRIES(trie) ((trie)->table.starts != 0)
typedef hash_table xfast_table;
#endif

#define XFAST_TRIE                                                                                                     \
    __global const ordo_key *trie_keys, __global const uint *trie_flat, xfast_shape trie_shape, XFAST_TABLE
#define XFAST_TRIE_HERE                                                                                                \
    {                                                                                                                  \
        trie_keys, trie_flat, trie_shape, XFAST_TABLE_HERE                                                             \
    }

typedef struct {
    __global const ordo_key *keys;
    __global const uint     *flat;
    xfast_shape              shape;
    xfast_table              table;
} xfast_trie;

ORDO_FN uint xfast_common(ordo_key_form a, ordo_key_form b)
{
    return (uint) clz(a ^ b);
}

/* Returns the hash table's key for the first `length` bits of `form`: these bits, a 1, then zeros. `length` must be
 * less than KEY_BITS. */
ORDO_FN ordo_key_form xfast_word(ordo_key_form form, uint length)
{
    const uint below = KEY_BITS - 1 - length;
    return (form >> below | 1) << below;
}

ORDO_FN bool xfast_lookup(const xfast_trie *trie, ordo_key_form form, uint length, xfast_range *leaves)
{
#if XFAST_LEVEL_TABLES
    return xfast_level_lookup(&trie->table, &trie->shape, length, xfast_word(form, length), leaves);
#else
    const hash_place place = hash_lookup(&trie->table, hash_mix(xfast_word(form, length), trie->table.seed));
    if (place.slot == HASH_NONE)
        return false;
    const ulong entry = hash_values(&trie->table, place.bucket)[place.slot];
    leaves->first = (uint) entry;
    leaves->end = (uint) (entry >> 32);
    return true;
#endif
}

ORDO_FN xfast_range xfast_flat_range(const xfast_trie *trie, ordo_key_form form)
{
    const uint        at = (uint) (form >> (KEY_BITS - trie->shape.flat_bits));
    const xfast_range leaves = { trie->flat[at], trie->flat[at + 1] };
    return leaves;
}

ORDO_FN bool xfast_is_deep(const xfast_trie *trie, xfast_range leaves)
{
    return XFAST_HAS_ENTRIES(trie) && leaves.end - leaves.first > XFAST_LEAF_MAX;
}

/* Finds the longest prefix of `form` in the index, of at most *length bits. Sets *length to its number of bits. Returns
 * the range of keys with this prefix. */
ORDO_FN xfast_range xfast_longest(const xfast_trie *trie, ordo_key_form form, uint *length)
{
    const uint  bits = trie->shape.flat_bits;
    xfast_range leaves = xfast_flat_range(trie, form);
    uint        low = 0;
    if (xfast_is_deep(trie, leaves)) {
        uint high = min(trie->shape.levels, (*length - bits) / trie->shape.group);
        while (low < high) {
            const uint middle = low + (high - low + 1) / 2;
            const bool there = xfast_lookup(trie, form, bits + middle * trie->shape.group, &leaves);
            low = there ? middle : low;
            high = there ? high : middle - 1;
        }
    }
    *length = bits + low * trie->shape.group;
    return leaves;
}

/* `leaves` and `length` must be from xfast_longest. Returns the part of `leaves` where `form` belongs. */
ORDO_FN xfast_range xfast_narrow(const xfast_trie *trie, ordo_key_form form, uint length, xfast_range leaves)
{
    if (trie->shape.group == 1 && length < KEY_BITS - 1 && leaves.end - leaves.first > XFAST_LEAF_MAX) {
        /* The first length + 1 bits of `form` have no entry. So at most XFAST_LEAF_MAX keys begin with these bits. They
         * lie at the end of `leaves` if the last of these bits is 1, else at the start. */
        if (form >> (KEY_BITS - 1 - length) & 1)
            leaves.first = leaves.end - XFAST_LEAF_MAX;
        else
            leaves.end = leaves.first + XFAST_LEAF_MAX;
    }
    return leaves;
}

ORDO_FN xfast_range xfast_around(const xfast_trie *trie, ordo_key_form form)
{
    uint              length = KEY_BITS - 1;
    const xfast_range leaves = xfast_longest(trie, form, &length);
    return xfast_narrow(trie, form, length, leaves);
}

/* Returns the number of keys less than `form`. If `upper`, also counts a key equal to `form`. The result must lie in
 * `leaves`. */
ORDO_FN uint xfast_search(const xfast_trie *trie, xfast_range leaves, ordo_key_form form, bool upper)
{
    while (leaves.first < leaves.end) {
        const uint          middle = leaves.first + (leaves.end - leaves.first) / 2;
        const ordo_key_form there = key_bits(trie->keys[middle]);
        const bool          before = there < form || (upper && there == form);
        leaves.first = before ? middle + 1 : leaves.first;
        leaves.end = before ? leaves.end : middle;
    }
    return leaves.first;
}

ORDO_FN uint xfast_rank(const xfast_trie *trie, ordo_key_form form, bool upper)
{
    return xfast_search(trie, xfast_around(trie, form), form, upper);
}

ORDO_FN uint xfast_rank_or_search(const xfast_trie *trie, ordo_key_form form, bool upper)
{
    xfast_range leaves = { 0, trie->shape.count };
    if (trie->flat)
        leaves = xfast_around(trie, form);
    return xfast_search(trie, leaves, form, upper);
}

#define XFAST_NONE 0xffffffffu

ORDO_FN uint xfast_place_at(const xfast_trie *trie, ordo_key_form form, uint rank)
{
    return rank < trie->shape.count && key_bits(trie->keys[rank]) == form ? rank : XFAST_NONE;
}

ORDO_FN uint xfast_place(const xfast_trie *trie, ordo_key_form form)
{
    return xfast_place_at(trie, form, xfast_rank(trie, form, false));
}
