/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the stored keys that begin with given bits. Also finds the longest stored prefix of a query. ORDO_KEY must be
 * u32 or u64. */
#pragma once
#include "dict/trie/xfast.cl"
#include "dict/value.cl"

/* Returns the range of keys that begin with the first `length` bits of `form`. `length` must be 1 to flat_bits. */
ORDO_FN xfast_range xfast_under_flat(const xfast_trie *trie, ordo_key_form form, uint length)
{
    const uint        bits = trie->shape.flat_bits, at = (uint) (form >> (KEY_BITS - bits));
    const uint        first = at >> (bits - length) << (bits - length);
    const xfast_range leaves = { trie->flat[first], trie->flat[first + (1u << (bits - length))] };
    return leaves;
}

/* Counts the keys that begin with the first `length` bits of `form`. `length` must be greater than flat_bits. */
ORDO_FN uint xfast_under_table(const xfast_trie *trie, ordo_key_form form, uint length)
{
    const uint          bits = trie->shape.flat_bits;
    const ordo_key_form rest = length < KEY_BITS ? ~(ordo_key_form) 0 >> length : 0;
    xfast_range         leaves;
    if (length < KEY_BITS && (length - bits) % trie->shape.group == 0 && XFAST_HAS_ENTRIES(trie) &&
        xfast_lookup(trie, form, length, &leaves))
        return leaves.end - leaves.first;
    return xfast_rank(trie, form | rest, true) - xfast_rank(trie, form & ~rest, false);
}

ORDO_KERNEL(RUN_GROUP)
void xfast_under(XFAST_TRIE, __global const ordo_key *keys, ulong keys_at, __global const uchar *lengths,
                 ulong lengths_at, uint n, __global uint *counts, ulong counts_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const ordo_key_form form = key_bits(keys[keys_at + i]);
        const uint          length = min((uint) lengths[lengths_at + i], (uint) KEY_BITS);
        uint                count = trie.shape.count;
        if (length > trie.shape.flat_bits) {
            count = xfast_under_table(&trie, form, length);
        } else if (length > 0) {
            const xfast_range leaves = xfast_under_flat(&trie, form, length);
            count = leaves.end - leaves.first;
        }
        counts[counts_at + i] = count;
    }
}

ORDO_FN ordo_key_form xfast_up_to(uint length)
{
    return length >= KEY_BITS - 1 ? ~(ordo_key_form) 0 : ((ordo_key_form) 2 << length) - 1;
}

/* A key encodes a prefix: the bits of the prefix, then a 1, then zeros. Returns the number of bits of the prefix, or
 * KEY_BITS - 1 for key 0. */
ORDO_FN uint xfast_length_of(ordo_key_form word)
{
    return word == 0 ? KEY_BITS - 1 : (uint) clz(word & (0 - word));
}

ORDO_FN ordo_key_form xfast_mask_of(const xfast_trie *trie, ordo_key_form word)
{
    const uint    most = xfast_length_of(word);
    ordo_key_form mask = 0;
    for (uint length = 0; length <= most; length++)
        if (xfast_place(trie, xfast_word(word, length)) != XFAST_NONE)
            mask |= (ordo_key_form) 1 << length;
    return mask;
}

ORDO_FN ordo_key_form xfast_shared(ordo_key_form mask, ordo_key_form neighbour, ordo_key_form word)
{
    return mask & xfast_up_to(min(xfast_common(neighbour, word), xfast_length_of(word)));
}

/* Bit l of masks[i] becomes 1 if the first l bits of key i's prefix are also a stored prefix. */
ORDO_KERNEL(RUN_GROUP)
void xfast_masks(XFAST_TRIE, __global ordo_key *masks)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    const uint       count = trie.shape.count, shares = (count - 1) / XFAST_MASKS_SHARE + 1;
    RUN_EACH (uint, s, shares) {
        const uint    first = s * XFAST_MASKS_SHARE, end = first + min(count - first, (uint) XFAST_MASKS_SHARE);
        ordo_key_form near = key_bits(trie.keys[first]), mask = xfast_mask_of(&trie, near);
        masks[first] = mask;
        for (uint i = first + 1; i < end; i++) {
            const ordo_key_form word = key_bits(trie.keys[i]);
            mask = xfast_shared(mask, near, word) | (word ? (ordo_key_form) 1 << xfast_length_of(word) : 0);
            masks[i] = mask;
            near = word;
        }
        mask = xfast_mask_of(&trie, near);
        masks[end - 1] |= mask;
        for (uint i = end - 1; i-- > first;) {
            const ordo_key_form word = key_bits(trie.keys[i]);
            mask = masks[i] | xfast_shared(mask, near, word);
            masks[i] = mask;
            near = word;
        }
    }
}

/* Finds the longest stored prefix that keys[at] and the query share. Returns its length plus 1, or 0 if there is
 * none. */
ORDO_FN uint xfast_match_at(const xfast_trie *trie, __global const ordo_key *masks, uint at, ordo_key_form query)
{
    if (at >= trie->shape.count)
        return 0;
    const ordo_key_form there = masks[at] & xfast_up_to(xfast_common(key_bits(trie->keys[at]), query));
    return (uint) KEY_BITS - (uint) clz(there);
}

/* Finds the longest prefix of each query that is stored as a key. If there is none, writes only found[i]. */
ORDO_KERNEL(RUN_GROUP)
void xfast_matches(XFAST_TRIE, __global const ordo_key *masks, __global const uchar *values, ulong values_at,
                   uint value_bytes, __global const ordo_key *keys, ulong keys_at, uint n,
                   __global ordo_key *prefixes_out, ulong prefixes_out_at, __global uchar *values_out,
                   ulong values_out_at, __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const ordo_key_form query = key_bits(keys[keys_at + i]);
        /* For rank 0, rank - 1 wraps, and xfast_match_at returns 0. */
        const uint rank = xfast_rank(&trie, query, true);
        const uint before = xfast_match_at(&trie, masks, rank - 1, query);
        const uint after = xfast_match_at(&trie, masks, rank, query);
        const uint best = max(before, after);
        if (found)
            found[found_at + i] = best > 0;
        if (best == 0)
            continue;
        const ordo_key_form word = xfast_word(query, best - 1);
        if (prefixes_out)
            prefixes_out[prefixes_out_at + i] = key_from_bits(word);
        if (values_out)
            value_copy(values, values_at + xfast_place(&trie, word), value_bytes, values_out, values_out_at + i);
    }
}
