/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a trie from sorted distinct elements and from the unchanged leaves of an old trie. All prefix sums are
 * exclusive. */
#pragma once
#include "dict/each.cl"
#include "dict/less.cl"
#include "dict/trie/hamt_tables.cl"

/* Built together: hamt_heads hamt_starts hamt_shape hamt_replace hamt_keep hamt_add hamt_before hamt_fill hamt_cells */
/* Built together: hamt_sizes hamt_move */

/* ---- new leaves -------------------------------------------------------------------------------------------------- */

ORDO_FN uint hamt_differ(ordo_key_form a, ordo_key_form b)
{
    return KEY_BITS - FORM_CLZ(a ^ b);
}

ORDO_FN void hamt_region(const hamt_trie *t, ordo_key_form key, ordo_key_form *least, ordo_key_form *most)
{
    *least = 0;
    *most = ~(ordo_key_form) 0;
    if (t->n_leaves == 0)
        return;
    const uint leaf = hamt_leaf_of(t, key);
    if (leaf > 0)
        *least = t->leaves[leaf].first;
    if (leaf + 1 < t->n_leaves)
        *most = t->leaves[leaf + 1].first - 1;
}

/* keys[m - 1] and keys[m] must differ only in their lowest `bits` bits. Returns whether more than HAMT_LEAF keys from
 * `least` to `most` differ from keys[m] only in these bits. Then keys[m - 1] and keys[m] need different leaves. */
ORDO_FN bool hamt_divides(__global const ordo_key *keys, uint n, uint m, uint bits, ordo_key_form least,
                          ordo_key_form most)
{
    const ordo_key_form key = key_bits(keys[m]);
    const ordo_key_form low = bits == KEY_BITS ? 0 : key >> bits << bits;
    const ordo_key_form from = max(low, least), to = min(low | (~(ordo_key_form) 0 >> (KEY_BITS - bits)), most);
    uint                left = 0, right = 0;
    for (uint step = HAMT_LEAF; step > 0; step /= 2)
        if (left + step <= HAMT_LEAF && left + step <= m && key_bits(keys[m - left - step]) >= from)
            left += step;
    for (uint step = HAMT_LEAF; step > 0; step /= 2)
        if (right + step <= HAMT_LEAF && right + step <= n - m && key_bits(keys[m + right + step - 1]) <= to)
            right += step;
    return HAMT_LEAF == 0 || left + right > HAMT_LEAF;
}

ORDO_KERNEL(RUN_GROUP)
void hamt_heads(HAMT_TRIE, __global const ordo_key *keys, uint n, __global uint *heads)
{
    const hamt_trie old = HAMT_TRIE_HERE;
    RUN_EACH (uint, m, n + 1) {
        bool head = m == 0;
        if (m > 0 && m < n) {
            const ordo_key_form key = key_bits(keys[m]), last = key_bits(keys[m - 1]);
            const uint          bits = hamt_differ(key, last);
            ordo_key_form       least, most;
            if (bits > HAMT_BITS) {
                hamt_region(&old, key, &least, &most);
                head = last < least || hamt_divides(keys, n, m, bits, least, most);
            }
        }
        heads[m] = head;
    }
}

/* starts[k] becomes the index of new leaf k's first element. `number` must hold the prefix sums of hamt_heads'
 * flags. */
ORDO_KERNEL(RUN_GROUP)
void hamt_starts(__global const uint *number, uint n, __global uint *starts)
{
    RUN_EACH (uint, m, n + 1)
        if (m == n || number[m + 1] != number[m])
            starts[number[m]] = m;
}

/* Writes the records of new leaves:
 *
 *   fresh[k]   record of new leaf k; its member `before` is temporarily the leaf's number of elements
 *   units[k]   size of the leaf's block in units of HAMT_UNIT bytes
 *   owner[k]   index of the old leaf that the new leaf replaces in whole or in part */
ORDO_KERNEL(RUN_GROUP)
void hamt_shape(HAMT_TRIE, __global const ordo_key *keys, __global const uint *starts, uint n_new,
                __global hamt_leaf *fresh, __global uint *units, __global uint *owner)
{
    const hamt_trie old = HAMT_TRIE_HERE;
    RUN_EACH (uint, k, n_new + 1) {
        uint its_units = 0;
        if (k < n_new) {
            const uint          begin = starts[k], end = starts[k + 1], count = end - begin;
            const ordo_key_form key = key_bits(keys[begin]);
            hamt_leaf           leaf = { .first = key >> HAMT_BITS << HAMT_BITS, .before = count };
            if (count > HAMT_LEAF)
                for (uint s = 1; s < 4; s++)
                    leaf.sectors |= (keys_less(keys, begin, end, leaf.first + s * HAMT_SECTOR) - begin)
                                    << (10 * (s - 1));
            else
                leaf.place = key_bits(keys[end - 1]) - leaf.first > 0xffff ? HAMT_WIDE : 0;
            its_units = hamt_units(count, leaf.place != 0);
            fresh[k] = leaf;
            owner[k] = old.n_leaves ? hamt_leaf_of(&old, key) : 0;
        }
        units[k] = its_units;
    }
}

/* ---- the trie ---------------------------------------------------------------------------------------------------- */

ORDO_FN uint hamt_lower(__global const uint *words, uint n, uint word)
{
    uint low = 0;
    HAMT_SEARCH(low, n, i, words[i] < word)
    return low;
}

/* For each old leaf in `touched`, `follow` gets the number of new leaves that replace it. All counts in `follow` must
 * be 1 before the launch. */
ORDO_KERNEL(RUN_GROUP)
void hamt_replace(__global const uint *touched, uint n_touched, __global const uint *owner, uint n_new,
                  __global uint *follow)
{
    RUN_EACH (uint, k, n_touched) {
        const uint leaf = touched[k];
        follow[leaf] = hamt_lower(owner, n_new, leaf + 1) - hamt_lower(owner, n_new, leaf);
    }
}

#define HAMT_NEW 0xffffffffu

/* Leaves follow[i] to follow[i + 1] - 1 of the new trie take the place of old leaf i. If this is a single leaf, copies
 * old leaf i's record to it. If the batch changes old leaf i, hamt_add must later overwrite this record. */
ORDO_KERNEL(RUN_GROUP)
void hamt_keep(HAMT_TRIE, __global const uint *follow, __global hamt_leaf *leaves, __global uint *counts,
               __global uint *from)
{
    const hamt_trie old = HAMT_TRIE_HERE;
    RUN_EACH (uint, i, old.n_leaves) {
        const uint to = follow[i];
        if (follow[i + 1] != to + 1)
            continue;
        leaves[to] = old.leaves[i];
        counts[to] = old.leaves[i + 1].before - old.leaves[i].before;
        if (from)
            from[to] = old.leaves[i].place >> 1;
    }
}

/* Adds the records of new leaves. Their blocks begin at byte first_unit * HAMT_UNIT of the pool. `follow` is NULL if no
 * old leaf stays.
 *
 *   units[k]    total size of the blocks of new leaves 0 to k - 1, in units of HAMT_UNIT bytes
 *   follow[o]   index of the first leaf that takes the place of old leaf o in the new trie
 *   places[k]   becomes the index of new leaf k in the new trie */
ORDO_KERNEL(RUN_GROUP)
void hamt_add(__global const hamt_leaf *fresh, __global const uint *units, __global const uint *owner, uint n_new,
              uint first_unit, __global const uint *follow, __global hamt_leaf *leaves, __global uint *counts,
              __global uint *from, __global uint *places)
{
    RUN_EACH (uint, k, n_new) {
        const uint to = follow ? follow[owner[k]] + k - hamt_lower(owner, n_new, owner[k]) : k;
        hamt_leaf  leaf = fresh[k];
        counts[to] = leaf.before;
        leaf.place |= (first_unit + units[k]) << 1;
        leaves[to] = leaf;
        places[k] = to;
        if (from)
            from[to] = HAMT_NEW;
    }
}

/* Writes the member `before` (rank of the leaf's first element) of all records, and the record after the last leaf.
 * `counts` must hold the prefix sums of the leaves' numbers of elements. */
ORDO_KERNEL(RUN_GROUP)
void hamt_before(__global const uint *counts, uint n_leaves, __global hamt_leaf *leaves)
{
    RUN_EACH (uint, i, n_leaves + 1) {
        if (i == n_leaves) {
            leaves[i].first = 0;
            leaves[i].place = leaves[i].sectors = 0;
        }
        leaves[i].before = counts[i];
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_sizes(__global const hamt_leaf *leaves, uint n_leaves, __global uint *sizes)
{
    RUN_EACH (uint, i, n_leaves + 1)
        sizes[i] =
            i < n_leaves ? hamt_units(leaves[i + 1].before - leaves[i].before, (leaves[i].place & HAMT_WIDE) != 0) : 0;
}

/* Copies the blocks of old leaves to a new pool. from[i] is the index of the old block's first unit (HAMT_UNIT bytes),
 * or HAMT_NEW for a new leaf. `sizes` must hold the prefix sums of hamt_sizes' results. */
ORDO_KERNEL(RUN_GROUP)
void hamt_move(__global const uint *sizes, __global const uint *from, uint n_leaves, __global const uint4 *old_pool,
               __global hamt_leaf *leaves, __global uint4 *pool)
{
    RUN_EACH (uint, i, n_leaves) {
        const uint to = sizes[i];
        leaves[i].place = to << 1 | (leaves[i].place & HAMT_WIDE);
        if (from[i] != HAMT_NEW)
            for (uint u = 0; u < sizes[i + 1] - to; u++)
                pool[(ulong) to + u] = old_pool[(ulong) from[i] + u];
    }
}

ORDO_FN void hamt_no_keys(__global uint *words, uint from, uint to)
{
    for (uint w = from; w < to; w++)
        words[w] = 0;
}

ORDO_FN void hamt_fill_word(__global const ordo_key *keys, uint begin, uint end, uint m, ordo_key_form first,
                            __global uint *words)
{
    const uint word = (uint) (key_bits(keys[m]) - first) / 32;
    const uint last = m > begin ? (uint) (key_bits(keys[m - 1]) - first) / 32 : 0;
    if (m == end - 1)
        hamt_no_keys(words, word + 1, HAMT_WORDS);
    if (m > begin && last == word)
        return;
    hamt_no_keys(words, m > begin ? last + 1 : 0, word);
    uint bits = 0;
    for (uint e = m; e < end; e++) {
        const uint off = (uint) (key_bits(keys[e]) - first);
        if (off / 32 != word)
            break;
        bits |= 1u << off % 32;
    }
    words[word] = bits;
}

ORDO_KERNEL(RUN_GROUP)
void hamt_fill(__global const ordo_key *keys, __global const hamt_value *values, ulong values_at, uint n,
               __global const uint *number, __global const uint *starts, __global const uint *places,
               __global const hamt_leaf *leaves, __global uchar *pool)
{
    RUN_EACH (uint, m, n) {
        const uint      k = number[m + 1] - 1, begin = starts[k], end = starts[k + 1], count = end - begin;
        const hamt_leaf leaf = leaves[places[k]];
        __global uchar *block = pool + hamt_block_at(leaf.place);
        if (count > HAMT_LEAF)
            hamt_fill_word(keys, begin, end, m, leaf.first, (__global uint *) block);
        else if (leaf.place & HAMT_WIDE)
            ((__global ordo_key_form *) block)[m - begin] = key_bits(keys[m]);
        else
            ((__global ushort *) block)[m - begin] = (ushort) (key_bits(keys[m]) - leaf.first);
        if (ORDO_VALUE_BYTES)
            ((__global hamt_value *) (block + hamt_key_bytes(count, (leaf.place & HAMT_WIDE) != 0)))[m - begin] =
                values[values_at + m];
    }
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

ORDO_KERNEL(RUN_GROUP)
void hamt_cells(__global const hamt_leaf *leaves, uint n_leaves, uint n, uint cell_bits, uint rank_bits,
                __global uint *tables)
{
    hamt_fill_tables(leaves, n_leaves, n, cell_bits, rank_bits, tables);
}
