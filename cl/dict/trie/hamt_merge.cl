/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a sorted batch of updates into the leaves of a HAMT. Kernel hamt_overwrite runs instead of hamt_records and
 * hamt_blocks if only values change. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt_mix.cl"

/* Built together: hamt_effects hamt_plan hamt_records hamt_blocks */

/* The trie must have leaves. */
ORDO_KERNEL(RUN_GROUP)
void hamt_effects(HAMT_TRIE, __global const ordo_key *keys, __global const uint *hidden, ulong hidden_at, uint n,
                  __global ushort *effects, __global uint *more, __global ulong *plan)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    hidden = hidden ? hidden + hidden_at : 0;
    if (get_global_id(0) == 0) {
        more[n] = 0;
        for (uint w = 0; w < HAMT_FOUND_WORDS; w++)
            hamt_found_in(plan, t.n_leaves)[w] = 0;
    }
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          leaf[RUN_STEP];
        hamt_node     node[RUN_STEP];
        hamt_load_keys(&t, keys, first, some, key, leaf, node);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            const uint j = first + k;
            const uint effect = hamt_effect(hamt_look(&node[k], key[k]), keys, hidden, n, j);
            effects[j] = (ushort) effect;
            more[j] = effect_more(effect);
        }
    }
}

/* Plans the leaves that replace each leaf. If `all`, unchanged leaves also get new blocks.
 *
 *   begins[i]   becomes the index of leaf i's first update
 *   plan[i]     upper half: number of new leaves; lower half: size of their blocks in units of HAMT_UNIT bytes */
ORDO_KERNEL(RUN_GROUP)
void hamt_plan(HAMT_TRIE, HAMT_BATCH, uint all, __global uint *begins, __global ulong *plan)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    __global uint  *found = hamt_found_in(plan, t.n_leaves);
    RUN_EACH (uint, i, t.n_leaves + 1) {
        if (i == t.n_leaves) {
            begins[i] = batch_n;
            plan[i] = 0;
            found[HAMT_MORE] = batch_more[batch_n];
            continue;
        }
        const uint begin = i > 0 ? keys_less(batch_keys, 0, batch_n, t.leaves[i].first) : 0;
        const uint end =
            i + 1 < t.n_leaves ? keys_less_near(batch_keys, begin, batch_n, t.leaves[i + 1].first) : batch_n;
        begins[i] = begin;
        if (end - begin > HAMT_UPDATES_MAX) {
            ordo_max(&found[HAMT_LARGEST], end - begin);
            plan[i] = 0;
            continue;
        }
        const hamt_mix mix = HAMT_MIX(&t, i, begin, end);
        const uint     units = hamt_units(mix.node.count, (mix.node.record.place & HAMT_WIDE) != 0);
        if (!mix_is_touched(&mix)) {
            plan[i] = (ulong) 1 << 32 | (all ? units : 0);
            continue;
        }
        bool changes = false;
        for (uint j = begin; j < end; j++)
            changes = changes || effect_more(mix.effects[j]) != 0;
        if (changes && ordo_load_relaxed(&found[HAMT_CHANGES]) == 0)
            ordo_or(&found[HAMT_CHANGES], 1);
        if (!all)
            ordo_add(&found[HAMT_LEFT], units);
        ulong     follow = 0;
        hamt_rest rest = mix_rest(&mix);
        while (rest.at < rest.all) {
            const hamt_part part = mix_next(&mix, &rest);
            follow += (ulong) 1 << 32 | hamt_units(part.count, part.wide);
        }
        plan[i] = follow;
    }
}

/* New blocks begin at byte first_unit * HAMT_UNIT of the pool. `plan` must hold the exclusive prefix sums of
 * hamt_plan's results. */
ORDO_KERNEL(RUN_GROUP)
void hamt_records(HAMT_TRIE, HAMT_BATCH, uint all, __global const uint *begins, __global const ulong *plan,
                  uint first_unit, uint n, __global hamt_leaf *leaves)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, i, t.n_leaves + 1) {
        uint to = (uint) (plan[i] >> 32), unit = first_unit + (uint) plan[i];
        if (i == t.n_leaves) {
            const hamt_leaf end = { .before = n };
            leaves[to] = end;
            continue;
        }
        const hamt_mix mix = HAMT_MIX(&t, i, begins[i], begins[i + 1]);
        const uint     before = mix.node.record.before + batch_more[mix.begin];
        if (!mix_is_touched(&mix)) {
            hamt_leaf leaf = mix.node.record;
            leaf.before = before;
            leaf.place = all ? unit << 1 | (leaf.place & HAMT_WIDE) : leaf.place;
            leaves[to] = leaf;
            continue;
        }
        hamt_rest rest = mix_rest(&mix);
        while (rest.at < rest.all) {
            const hamt_part part = mix_next(&mix, &rest);
            leaves[to++] = mix_record(&mix, part, before, unit);
            unit += hamt_units(part.count, part.wide);
        }
    }
}

ORDO_FN void hamt_copy_block(const hamt_trie *t, uint i, uint lane, uint place, __global uint4 *pool)
{
    const hamt_node       node = hamt_load(t, i);
    const uint            units = hamt_units(node.count, (place & HAMT_WIDE) != 0);
    __global const uint4 *from = (__global const uint4 *) node.block;
    for (uint u = lane; u < units; u += MIX_LANES)
        pool[(ulong) (place >> 1) + u] = from[u];
}

ORDO_KERNEL(RUN_GROUP)
void hamt_blocks(HAMT_TRIE, HAMT_BATCH, __global const hamt_value *values, ulong values_at, uint all,
                 __global const uint *begins, __global const ulong *plan, __global const hamt_leaf *leaves,
                 __global uchar *pool)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (ulong, item, (ulong) t.n_leaves * MIX_LANES) {
        const uint i = (uint) (item / MIX_LANES), lane = (uint) (item % MIX_LANES);
        const uint first = (uint) (plan[i] >> 32), end = (uint) (plan[i + 1] >> 32);
        if (first == end)
            continue;
        if (begins[i] == begins[i + 1]) {
            if (all)
                hamt_copy_block(&t, i, lane, leaves[first].place, (__global uint4 *) pool);
            continue;
        }
        const hamt_mix mix = HAMT_MIX(&t, i, begins[i], begins[i + 1]);
        if (!all && leaves[first].place == mix.node.record.place)
            continue;
        const hamt_target to = { .leaves = leaves, .next = first, .pool = pool };
        mix_put_blocks(&mix, to, end, values ? values + values_at : 0, lane);
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_overwrite(HAMT_TRIE, HAMT_BATCH, __global const hamt_value *values, ulong values_at, __global uchar *pool)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, j, batch_n) {
        const uint effect = batch_effects[j];
        if (!(effect & EFFECT_STORES))
            continue;
        const hamt_node node = hamt_load(&t, hamt_leaf_of(&t, key_bits(batch_keys[j])));
        const uint      keys = hamt_key_bytes(node.count, (node.record.place & HAMT_WIDE) != 0);
        ((__global hamt_value *) (pool + hamt_block_at(node.record.place) + keys))[effect & EFFECT_BELOW] =
            values[values_at + j];
    }
}
