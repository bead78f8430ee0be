/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a HAMT (an ordered radix trie, shared/hamt_node.h) by key and by rank. */
#pragma once
#include "dict/each.cl"
#include "shared/hamt_node.h"
#include "shared/key.h"

typedef struct {
    ordo_key_form first;
    uint          before, place, sectors;
} hamt_leaf;
ORDO_STATIC_ASSERT(sizeof(hamt_leaf) == HAMT_RECORD(KEY_BITS / 8), "the host allocates records of this size");
#define FORM_CLZ(x) ((uint) clz(x))

/* The pointers are NULL if the trie has no leaf. */
#define HAMT_TRIE                                                                                                      \
    __global const hamt_leaf *trie_leaves, __global const uint *trie_tables, __global const uchar *trie_pool,          \
        uint trie_n_leaves, uint trie_n, uint trie_cell_bits, uint trie_rank_bits
#define HAMT_TRIE_HERE                                                                                                 \
    {                                                                                                                  \
        trie_leaves, trie_tables, trie_pool, trie_n_leaves, trie_n, trie_cell_bits, trie_rank_bits                     \
    }

typedef struct {
    __global const hamt_leaf *leaves;
    __global const uint      *tables;
    __global const uchar     *pool;
    uint                      n_leaves, n, cell_bits, rank_bits;
} hamt_trie;

#if ORDO_VALUE_BYTES
typedef ordo_value hamt_value;
#else
typedef uint hamt_value;
#endif

/* ---- forms of leaves --------------------------------------------------------------------------------------------- */

ORDO_FN uint hamt_key_bytes(uint count, bool wide)
{
    const uint each = wide ? KEY_BITS / 8 : 2;
    const uint align = ORDO_VALUE_BYTES == 16 ? 16 : 8; /* of values */
    return count > HAMT_LEAF ? HAMT_WORDS * 4 : (count * each + align - 1) & ~(align - 1);
}

ORDO_FN uint hamt_units(uint count, bool wide)
{
    return (hamt_key_bytes(count, wide) + count * ORDO_VALUE_BYTES + HAMT_UNIT - 1) / HAMT_UNIT;
}

ORDO_FN ulong hamt_block_at(uint place)
{
    return (ulong) (place >> 1) * HAMT_UNIT;
}

ORDO_FN uint hamt_before_sector(uint sectors, uint sector)
{
    return sector == 0 ? 0 : sectors >> (10 * (sector - 1)) & 1023;
}

#define HAMT_SEARCH(low, high, i, before)                                                                              \
    for (uint end_ = (high); low < end_;) {                                                                            \
        const uint i = low + (end_ - low) / 2;                                                                         \
        if (before)                                                                                                    \
            low = i + 1;                                                                                               \
        else                                                                                                           \
            end_ = i;                                                                                                  \
    }

/* ---- leaves by key and rank -------------------------------------------------------------------------------------- */

ORDO_FN uint hamt_key_shift(ordo_key_form span, uint bits)
{
    const uint has = KEY_BITS - FORM_CLZ(span);
    return max(has, bits) - bits;
}

ORDO_FN uint hamt_rank_shift(uint n, uint bits)
{
    const uint has = 32 - clz(n - 1);
    return max(has, bits) - bits;
}

ORDO_FN uint hamt_slot(ordo_key_form key, uint level)
{
    return (uint) (key >> (HAMT_BITS + HAMT_LEVEL_BITS * level)) & (HAMT_NODE - 1);
}

ORDO_FN __global const uint *hamt_nodes_of(const hamt_trie *t)
{
    return t->tables + HAMT_NODES_AT(HAMT_HEADER_BITS, t->rank_bits);
}

/* Does the work of hamt_leaf_of if HAMT_FIXED_DEPTH is 1. `key` must be greater than the first key of leaf 0. */
ORDO_FN uint hamt_leaf_by_nodes(const hamt_trie *t, ordo_key_form key)
{
    uint on = 0;
    /* Becomes false at a node without a child for the key. */
    bool has = true;
    for (uint level = HAMT_LEVELS(KEY_BITS); level-- > 0;) {
        __global const uint *words = hamt_nodes_of(t) + (ulong) t->tables[level] * HAMT_NODE;
        const ulong          at = (ulong) on * HAMT_NODE + (has ? hamt_slot(key, level) : HAMT_NODE - 1);
        const uint           up_to = words[at];
        has = has && up_to != (at > 0 ? words[at - 1] : 0);
        on = up_to - 1;
    }
    return on;
}

/* Returns the last leaf whose first key is at most `key`, or 0 if there is none. The trie must have leaves. */
ORDO_FN uint hamt_leaf_of(const hamt_trie *t, ordo_key_form key)
{
    const ordo_key_form base = t->leaves[0].first, last = t->leaves[t->n_leaves - 1].first;
    if (key <= base)
        return 0;
    if (HAMT_FIXED_DEPTH)
        return hamt_leaf_by_nodes(t, key);
    const uint cell = (uint) ((min(key, last) - base) >> hamt_key_shift(last - base, t->cell_bits));
    uint       low = cell ? t->tables[cell - 1] : 0;
    HAMT_SEARCH(low, t->tables[cell], i, t->leaves[i].first <= key)
    return low - 1;
}

/* The rank must be less than t->n. */
ORDO_FN uint hamt_leaf_of_rank(const hamt_trie *t, uint rank)
{
    __global const uint *ranks = t->tables + HAMT_RANKS_AT(t->cell_bits);
    const uint           cell = rank >> hamt_rank_shift(t->n, t->rank_bits);
    uint                 low = cell ? ranks[cell - 1] : 0;
    HAMT_SEARCH(low, ranks[cell], i, t->leaves[i].before <= rank)
    return low - 1;
}

/* ---- elements of leaves ------------------------------------------------------------------------------------------ */

typedef struct {
    hamt_leaf             record;
    uint                  count;
    __global const uchar *block;
} hamt_node;

ORDO_FN hamt_node hamt_load(const hamt_trie *t, uint leaf)
{
    hamt_node node;
    node.record = t->leaves[leaf];
    node.count = t->leaves[leaf + 1].before - node.record.before;
    node.block = t->pool + hamt_block_at(node.record.place);
    return node;
}

/* The trie must have leaves. */
ORDO_FN void hamt_load_each(const hamt_trie *t, const ordo_key_form key[RUN_STEP], uint n, uint leaf[RUN_STEP],
                            hamt_node node[RUN_STEP])
{
    if (RUN_STEP == 1 || HAMT_FIXED_DEPTH) {
        for (uint k = 0; k < RUN_SOME(n); k++) {
            leaf[k] = hamt_leaf_of(t, key[k]);
            node[k] = hamt_load(t, leaf[k]);
        }
        return;
    }
    const ordo_key_form base = t->leaves[0].first, last = t->leaves[t->n_leaves - 1].first;
    const uint          shift = hamt_key_shift(last - base, t->cell_bits);
    uint                end[RUN_STEP], most = 0;
    for (uint k = 0; k < n; k++) {
        const uint cell = (uint) ((max(min(key[k], last), base) - base) >> shift);
        leaf[k] = key[k] <= base ? 1 : cell ? t->tables[cell - 1] : 0;
        end[k] = key[k] <= base ? 1 : t->tables[cell];
        most = max(most, end[k] - leaf[k]);
    }
    for (; most > 0; most /= 2)
        for (uint k = 0; k < n; k++) {
            const uint middle = leaf[k] + (end[k] - leaf[k]) / 2;
            const bool before = leaf[k] < end[k] && t->leaves[min(middle, t->n_leaves - 1)].first <= key[k];
            leaf[k] = before ? middle + 1 : leaf[k];
            end[k] = before ? end[k] : middle;
        }
    for (uint k = 0; k < n; k++)
        node[k] = hamt_load(t, --leaf[k]);
    for (uint k = 0; k < n; k++) { /* Prefetches the cache line that hamt_look reads first. */
        __global const volatile uchar *middle = node[k].block + min(node[k].count, (uint) HAMT_LEAF) / 2 * 2;
        (void) *middle;
    }
}

ORDO_FN void hamt_keys(__global const ordo_key *keys, ulong at, uint some, ordo_key_form key[RUN_STEP])
{
    for (uint k = 0; k < RUN_SOME(some); k++)
        key[k] = key_bits(keys[at + k]);
}

ORDO_FN void hamt_load_keys(const hamt_trie *t, __global const ordo_key *keys, ulong at, uint some,
                            ordo_key_form key[RUN_STEP], uint leaf[RUN_STEP], hamt_node node[RUN_STEP])
{
    hamt_keys(keys, at, some, key);
    if (t->n_leaves)
        hamt_load_each(t, key, some, leaf, node);
}

typedef struct {
    uint below;
    bool there;
} hamt_position;

ORDO_FN hamt_position hamt_in_bitmap(const hamt_node *node, ordo_key_form key)
{
    __global const uint *words = (__global const uint *) node->block;
    const ordo_key_form  off = key - node->record.first;
    hamt_position        at = { node->count, false };
    if (off >> HAMT_BITS)
        return at;
    const uint word = (uint) off / 32, bits = words[word], bit = (uint) off % 32;
    at.below = hamt_before_sector(node->record.sectors, (uint) off / HAMT_SECTOR);
    for (uint w = word & ~7u; w < word; w++)
        at.below += popcount(words[w]);
    at.below += popcount(bits & ((1u << bit) - 1));
    at.there = bits >> bit & 1;
    return at;
}

ORDO_FN hamt_position hamt_in_short(const hamt_node *node, ordo_key_form key)
{
    __global const ushort *keys = (__global const ushort *) node->block;
    const ordo_key_form    off = key - node->record.first;
    const uint             wanted = (uint) min(off, (ordo_key_form) 65536);
    uint                   low = 0, n = node->count;
    while (n > 1) {
        const uint part = n / 2;
        low = keys[low + part - 1] < wanted ? low + part : low;
        n -= part;
    }
    low += keys[low] < wanted;
    const hamt_position at = { low, low < node->count && keys[low] == wanted };
    return at;
}

ORDO_FN hamt_position hamt_in_whole(const hamt_node *node, ordo_key_form key)
{
    __global const ordo_key_form *keys = (__global const ordo_key_form *) node->block;
    uint                          low = 0;
    HAMT_SEARCH(low, node->count, i, keys[i] < key)
    const hamt_position at = { low, low < node->count && keys[low] == key };
    return at;
}

ORDO_FN hamt_position hamt_look(const hamt_node *node, ordo_key_form key)
{
    const hamt_position none = { 0, false };
    if (key < node->record.first)
        return none;
    if (node->count > HAMT_LEAF)
        return hamt_in_bitmap(node, key);
    return node->record.place & HAMT_WIDE ? hamt_in_whole(node, key) : hamt_in_short(node, key);
}

/* Returns the position of set bit number n, counted from 0. This bit must exist. */
ORDO_FN uint hamt_nth_bit(uint bits, uint n)
{
    uint at = 0;
    for (uint width = 16; width > 0; width /= 2) {
        const uint low = popcount(bits >> at & ((1u << width) - 1));
        if (n >= low) {
            n -= low;
            at += width;
        }
    }
    return at;
}

ORDO_FN ordo_key_form hamt_key_at(const hamt_node *node, uint position)
{
    if (node->count <= HAMT_LEAF)
        return node->record.place & HAMT_WIDE ? ((__global const ordo_key_form *) node->block)[position]
                                              : node->record.first + ((__global const ushort *) node->block)[position];
    __global const uint *words = (__global const uint *) node->block;
    const uint           s = node->record.sectors;
    const uint           sector =
        (uint) (position >= (s & 1023)) + (uint) (position >= (s >> 10 & 1023)) + (uint) (position >= s >> 20);
    uint word = sector * (HAMT_SECTOR / 32), left = position - hamt_before_sector(s, sector), bits = words[word];
    while (word < HAMT_WORDS - 1 && left >= popcount(bits)) {
        left -= popcount(bits);
        bits = words[++word];
    }
    return node->record.first + word * 32 + hamt_nth_bit(bits, left);
}

ORDO_FN __global const hamt_value *hamt_values(const hamt_node *node)
{
    return (__global const hamt_value *) (node->block +
                                          hamt_key_bytes(node->count, (node->record.place & HAMT_WIDE) != 0));
}

ORDO_FN void hamt_take(const hamt_node *node, uint position, __global ordo_key *keys_out, ulong keys_at,
                       __global hamt_value *values_out, ulong values_at)
{
    if (keys_out)
        keys_out[keys_at] = key_from_bits(hamt_key_at(node, position));
    if (ORDO_VALUE_BYTES && values_out)
        values_out[values_at] = hamt_values(node)[position];
}
