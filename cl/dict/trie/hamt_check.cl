/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of a HAMT (shared/hamt_node.h). Writes the results to `wrong` (enum hamt_finding). */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

/* Built together: hamt_check_records hamt_check_leaves hamt_check_tables */

/* Checks the order, ranks and blocks of leaves. `marks` has a bit for each HAMT_UNIT bytes of the pool. All bits must
 * be 0 before the launch. */
ORDO_KERNEL(RUN_GROUP)
void hamt_check_records(__global const hamt_leaf *leaves, uint n_leaves, uint n, uint used, __global uint *marks,
                        __global uint *wrong)
{
    RUN_EACH (uint, i, n_leaves) {
        const hamt_leaf leaf = leaves[i], next = leaves[i + 1];
        const bool      last = i == n_leaves - 1;
        if (leaf.first & ((1 << HAMT_BITS) - 1) || (!last && next.first <= leaf.first))
            ordo_min(&wrong[HAMT_WRONG_ORDER], i);
        if (next.before <= leaf.before || (i == 0 && leaf.before != 0) || (last && next.before != n)) {
            ordo_min(&wrong[HAMT_WRONG_RANKS], i);
            continue;
        }
        const uint units = hamt_units(next.before - leaf.before, (leaf.place & HAMT_WIDE) != 0);
        const uint at = leaf.place >> 1;
        bool       bad = at > used || units > used - at;
        for (uint u = at; !bad && u < at + units; u++)
            bad = ordo_or(&marks[u / 32], 1u << u % 32) >> u % 32 & 1;
        if (bad)
            ordo_min(&wrong[HAMT_WRONG_BLOCK], i);
        else
            ordo_add(&wrong[HAMT_UNITS_IN_USE], units);
    }
}

ORDO_FN bool hamt_bitmap_is_sound(const hamt_node *node)
{
    __global const uint *words = (__global const uint *) node->block;
    uint                 all = 0;
    bool                 sound = node->count <= 1 << HAMT_BITS;
    for (uint w = 0; w < HAMT_WORDS; w++) {
        if (w % (HAMT_SECTOR / 32) == 0)
            sound = sound && hamt_before_sector(node->record.sectors, w / (HAMT_SECTOR / 32)) == all;
        all += popcount(words[w]);
    }
    return sound && all == node->count;
}

ORDO_FN bool hamt_keys_are_sound(const hamt_node *node, ordo_key_form most)
{
    ordo_key_form before = 0;
    bool          sound = true;
    for (uint p = 0; p < node->count; p++) {
        const ordo_key_form key = hamt_key_at(node, p);
        sound = sound && key >= node->record.first && key <= most && (p == 0 || key > before);
        before = key;
    }
    return sound;
}

ORDO_KERNEL(RUN_GROUP)
void hamt_check_leaves(HAMT_TRIE, __global uint *wrong)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, i, t.n_leaves) {
        const hamt_node     node = hamt_load(&t, i);
        const ordo_key_form most = i + 1 < t.n_leaves ? t.leaves[i + 1].first - 1 : ~(ordo_key_form) 0;
        if (!(node.count > HAMT_LEAF ? hamt_bitmap_is_sound(&node) : hamt_keys_are_sound(&node, most)))
            ordo_min(&wrong[HAMT_WRONG_REGION], i);
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_check_tables(HAMT_TRIE, __global uint *wrong)
{
    const hamt_trie     t = HAMT_TRIE_HERE;
    const uint          cells = HAMT_FIXED_DEPTH ? 0 : 1u << t.cell_bits, ranks = 1u << t.rank_bits;
    const ordo_key_form base = t.leaves[0].first;
    const uint          key_shift = hamt_key_shift(t.leaves[t.n_leaves - 1].first - base, t.cell_bits);
    const uint          rank_shift = hamt_rank_shift(t.n, t.rank_bits);
    RUN_EACH (uint, c, cells) {
        const uint k = t.tables[c];
        if (k > t.n_leaves || (k > 0 && (t.leaves[k - 1].first - base) >> key_shift > c) ||
            (k < t.n_leaves && (t.leaves[k].first - base) >> key_shift <= c))
            ordo_min(&wrong[HAMT_WRONG_CELLS], c);
    }
    RUN_EACH (uint, r, ranks) {
        const uint k = t.tables[HAMT_RANKS_AT(t.cell_bits) + r];
        if (k > t.n_leaves || (k > 0 && t.leaves[k - 1].before >> rank_shift > r) ||
            (k < t.n_leaves && t.leaves[k].before >> rank_shift <= r))
            ordo_min(&wrong[HAMT_WRONG_CELLS_OF_RANKS], r);
    }
}
