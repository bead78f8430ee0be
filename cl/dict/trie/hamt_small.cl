/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a sorted batch of few updates into a HAMT: plans only for leaves with updates. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt_mix.cl"
#include "dict/trie/hamt_tables.cl"

/* Built together: hamt_small_effects hamt_small_plan hamt_small_write hamt_small_cells */

#define SMALL_CHANGES 0x8000u /* An update of the leaf adds or removes an element. */

/* leaf_of[j] becomes the index of update j's leaf. The trie must have leaves. */
ORDO_KERNEL(RUN_GROUP)
void hamt_small_effects(HAMT_TRIE, __global const ordo_key *keys, __global const uint *hidden, ulong hidden_at, uint n,
                        __global ushort *effects, __global uint *leaf_of, __global ulong *plan)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    hidden = hidden ? hidden + hidden_at : 0;
    if (get_global_id(0) == 0)
        for (uint w = 0; w < HAMT_FOUND_WORDS; w++)
            hamt_found_in(plan, n)[w] = 0;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          leaf[RUN_STEP];
        hamt_node     node[RUN_STEP];
        hamt_load_keys(&t, keys, first, some, key, leaf, node);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            effects[first + k] = (ushort) hamt_effect(hamt_look(&node[k], key[k]), keys, hidden, n, first + k);
            leaf_of[first + k] = leaf[k];
        }
    }
}

ORDO_FN bool small_is_head(__global const uint *leaf_of, uint j)
{
    return j == 0 || leaf_of[j] != leaf_of[j - 1];
}

/* Returns the index after the last update of update j's leaf. */
ORDO_FN uint small_end(__global const uint *leaf_of, uint j, uint n)
{
    const uint leaf = leaf_of[j];
    uint       low = j + 1, step = 1;
    while (step <= n - low && leaf_of[low + step - 1] == leaf) {
        low += step;
        step *= 2;
    }
    HAMT_SEARCH(low, low + min(step - 1, n - low), i, leaf_of[i] == leaf)
    return low;
}

/* Returns the sum of the flags of the leaf's effects. more[j] becomes the change of the number of elements by the
 * leaf's updates before j. */
ORDO_FN uint small_sum(hamt_mix *mix, __global uint *more)
{
    uint any = 0;
    mix->sum = 0;
    for (uint j = mix->begin; j < mix->end; j++) {
        const uint effect = mix->effects[j], change = effect_more(effect);
        more[j] = mix->sum;
        mix->sum += change;
        any |= effect;
        if (change)
            any |= SMALL_CHANGES;
    }
    return any;
}

ORDO_FN ulong small_word(uint parts, uint sum, uint k, uint units)
{
    return (ulong) (parts + k - 1) << 46 | (ulong) (sum + k) << 28 | units;
}

/* Writes the records of the new leaves to `fresh`. Their `before` and `place` count from 0. */
ORDO_FN ulong small_divide(const hamt_mix *mix, __global hamt_leaf *fresh)
{
    hamt_rest rest = mix_rest(mix);
    uint      parts = 0, units = 0;
    while (rest.at < rest.all) {
        const hamt_part part = mix_next(mix, &rest);
        fresh[parts++] = mix_record(mix, part, 0, units);
        units += hamt_units(part.count, part.wide);
    }
    const hamt_leaf end = { .before = rest.all };
    fresh[parts] = end;
    return small_word(parts, mix->sum, mix->end - mix->begin, units);
}

/* plan[j] becomes a word of a leaf (shared/hamt_node.h), ends[j] the index after the leaf's last update, if update j is
 * the first one of its leaf. */
ORDO_KERNEL(RUN_GROUP)
void hamt_small_plan(HAMT_TRIE, __global const ordo_key *keys, __global const ushort *effects,
                     __global const uint *leaf_of, uint n, __global uint *more, __global uint *ends,
                     __global hamt_leaf *fresh, __global ulong *plan)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    __global uint  *found = hamt_found_in(plan, n);
    RUN_EACH (uint, j, n + 1) {
        if (j == n || !small_is_head(leaf_of, j)) {
            plan[j] = 0;
            continue;
        }
        const uint end = small_end(leaf_of, j, n), k = end - j;
        hamt_mix   mix = { hamt_load(&t, leaf_of[j]), keys, effects, more, j, end, 0 };
        ends[j] = end;
        plan[j] = small_word(1, 0, k, 0);
        if (k > HAMT_UPDATES_MAX) {
            ordo_max(&found[HAMT_LARGEST], k);
            continue;
        }
        const uint any = small_sum(&mix, more);
        if (!(any & EFFECT_ANY))
            continue;
        if (any & SMALL_CHANGES && ordo_load_relaxed(&found[HAMT_CHANGES]) == 0)
            ordo_or(&found[HAMT_CHANGES], 1);
        ordo_add(&found[HAMT_LEFT], hamt_units(mix.node.count, (mix.node.record.place & HAMT_WIDE) != 0));
        plan[j] = small_divide(&mix, fresh + HAMT_SMALL_FRESH * j);
    }
}

/* Returns the number of leaves of the new trie, or 0 if the host must not use it. `room`: number of free pool units. */
ORDO_FN uint small_leaves(__global ulong *plan, uint n, uint n_leaves, uint room)
{
    __global const uint *found = hamt_found_in(plan, n);
    const bool           fits = HAMT_SMALL_UNITS(plan[n]) <= room;
    return found[HAMT_CHANGES] && !found[HAMT_LARGEST] && fits ? n_leaves + HAMT_SMALL_FOLLOW(plan[n]) - n : 0;
}

/* The changed leaf whose first update is j. `plan` holds exclusive prefix sums. */
typedef struct {
    uint parts, sum, units, first_unit;
} hamt_small;

ORDO_FN hamt_small small_at(__global const ulong *plan, __global const uint *ends, uint j, uint first_unit)
{
    const uint       k = ends[j] - j;
    const ulong      word = plan[j + 1] - plan[j];
    const hamt_small s = { HAMT_SMALL_FOLLOW(word) + 1 - k, HAMT_SMALL_MORE(word) - k, HAMT_SMALL_UNITS(word),
                           first_unit + HAMT_SMALL_UNITS(plan[j]) };
    return s;
}

ORDO_FN void small_put_records(const hamt_trie *t, uint i, __global const uint *leaf_of, __global const uint *ends,
                               uint n, __global const hamt_leaf *fresh, __global const ulong *plan, uint first_unit,
                               __global hamt_leaf *leaves)
{
    uint      h = 0;
    hamt_leaf leaf = t->leaves[i];
    HAMT_SEARCH(h, n, j, leaf_of[j] < i)
    const uint to = i + HAMT_SMALL_FOLLOW(plan[h]) - h;
    leaf.before += HAMT_SMALL_MORE(plan[h]) - h;
    if (h < n && leaf_of[h] == i) {
        const hamt_small s = small_at(plan, ends, h, first_unit);
        for (uint p = 0; p < s.parts && s.units > 0; p++) {
            hamt_leaf part = fresh[HAMT_SMALL_FRESH * h + p];
            part.before += leaf.before;
            part.place += s.first_unit << 1;
            leaves[to + p] = part;
        }
        if (s.units > 0 || s.parts == 0)
            return;
    }
    leaves[to] = leaf;
}

/* `plan` must hold the exclusive prefix sums of hamt_small_plan's words. */
ORDO_KERNEL(RUN_GROUP)
void hamt_small_write(HAMT_TRIE, HAMT_BATCH, __global const hamt_value *values, ulong values_at,
                      __global const uint *leaf_of, __global const uint *ends, __global const hamt_leaf *fresh,
                      __global ulong *plan, uint first_unit, uint room, __global hamt_leaf *leaves,
                      __global uchar *pool)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    const ulong     blocks = (ulong) batch_n * MIX_LANES;
    if (small_leaves(plan, batch_n, t.n_leaves, room) == 0)
        return;
    RUN_EACH (ulong, item, blocks + t.n_leaves + 1) {
        if (item >= blocks) {
            small_put_records(&t, (uint) (item - blocks), leaf_of, ends, batch_n, fresh, plan, first_unit, leaves);
            continue;
        }
        const uint j = (uint) (item / MIX_LANES), lane = (uint) (item % MIX_LANES);
        if (!small_is_head(leaf_of, j))
            continue;
        const hamt_small s = small_at(plan, ends, j, first_unit);
        if (s.units == 0)
            continue;
        const hamt_mix    mix = { hamt_load(&t, leaf_of[j]), batch_keys, batch_effects, batch_more, j, ends[j], s.sum };
        const hamt_target to = { .leaves = fresh,
                                 .next = HAMT_SMALL_FRESH * j,
                                 .pool = pool + (ulong) s.first_unit * HAMT_UNIT };
        mix_put_blocks(&mix, to, HAMT_SMALL_FRESH * j + s.parts, values ? values + values_at : 0, lane);
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_small_cells(__global const hamt_leaf *leaves, uint old_leaves, uint old_n, uint cell_bits, uint rank_bits,
                      __global ulong *plan, uint n, uint room, __global uint *tables)
{
    const uint n_leaves = small_leaves(plan, n, old_leaves, room);
    if (n_leaves > 0)
        hamt_fill_tables(leaves, n_leaves, old_n + HAMT_SMALL_MORE(plan[n]) - n, cell_bits, rank_bits, tables);
}
