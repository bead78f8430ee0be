/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of shared/xfast.h. Also counts the entries that the hash table must have. */
#pragma once
#include "device/atomic.cl"
#include "dict/trie/xfast_build.cl"
#include "dict/trie/xfast_prefix.cl"

ORDO_KERNEL(RUN_GROUP)
void xfast_check(XFAST_TRIE, __global const ordo_key *masks, __global uint *wrong)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    const uint       all = 1u << trie.shape.flat_bits;
    uint             entries = 0;

    RUN_EACH (uint, p, all + 1) {
        const ordo_key_form from = (ordo_key_form) p << (KEY_BITS - trie.shape.flat_bits);
        const uint          right = p == all ? trie.shape.count : keys_less(trie.keys, 0, trie.shape.count, from);
        if (trie.flat[p] != right)
            ordo_min(&wrong[XFAST_WRONG_FLAT], p);
    }
    RUN_EACH (uint, i, trie.shape.count) {
        const xfast_begins  begins = xfast_begin_with(trie.keys, &trie.shape, i);
        const ordo_key_form form = key_bits(trie.keys[i]);
        for (uint level = begins.first + 1; level <= begins.first + begins.n; level++) {
            const uint  length = trie.shape.flat_bits + level * trie.shape.group;
            xfast_range leaves = { 0, 0 };
            const bool  there = XFAST_HAS_ENTRIES(&trie) && xfast_lookup(&trie, form, length, &leaves);
            if (!there || leaves.first != i || leaves.end != xfast_end_of(trie.keys, trie.shape.count, form, length, i))
                ordo_min(&wrong[XFAST_WRONG_ENTRY], i);
        }
        entries += begins.n;
    }
    if (entries)
        ordo_add(&wrong[XFAST_ENTRIES], entries);
#if XFAST_LEVEL_TABLES
    uint used = 0;
    RUN_EACH (ulong, s, XFAST_SLOTS(trie.shape))
        used += trie.table.slots[s].end != 0;
    if (used)
        ordo_add(&wrong[XFAST_USED], used);
#endif
    if (!masks)
        return;
    RUN_EACH (uint, i, trie.shape.count)
        if (masks[i] != xfast_mask_of(&trie, key_bits(trie.keys[i])))
            ordo_min(&wrong[XFAST_WRONG_MASK], i);
}
