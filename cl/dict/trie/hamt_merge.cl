/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a sorted batch of updates into the leaves of a HAMT. Kernel hamt_overwrite runs instead of hamt_records and
 * hamt_blocks if only values change. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/less.cl"
#include "dict/trie/hamt.cl"
#include "group/hidden.cl"

/* Built together: hamt_effects hamt_plan hamt_records hamt_blocks */

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* The effect of an update is a sum of flags and a count. The count (mask EFFECT_BELOW) is the number of lesser keys in
 * the leaf. Only the last update of a key can have EFFECT_STORES or EFFECT_TAKES. */
#define EFFECT_BELOW  0x0fffu
#define EFFECT_HIT    0x1000u /* The leaf has the update's key. */
#define EFFECT_STORES 0x2000u /* The update adds an element, or replaces its value. */
#define EFFECT_TAKES  0x4000u /* The update removes an element. */
#define EFFECT_ANY    (EFFECT_STORES | EFFECT_TAKES)

/* Returns the change of the number of elements: 1, 0 or (as an unsigned number) -1. */
ORDO_FN uint effect_more(uint effect)
{
    return (uint) ((effect & (EFFECT_STORES | EFFECT_HIT)) == EFFECT_STORES) - (uint) ((effect & EFFECT_TAKES) != 0);
}

ORDO_FN __global uint *hamt_found_in(__global ulong *plan, uint n_leaves)
{
    return ((__global hamt_plan_end *) (plan + n_leaves))->found;
}

/* more[j] becomes 1 if update j adds an element, -1 if it removes one, else 0. The trie must have leaves. */
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
            const uint          j = first + k;
            const hamt_position at = hamt_look(&node[k], key[k]);
            const bool          last = j + 1 == n || keys[j] != keys[j + 1], erases = run_is_hidden(hidden, j);
            const uint          effect = at.below | (at.there ? EFFECT_HIT : 0) |
                                (last && !erases              ? EFFECT_STORES
                                 : last && erases && at.there ? EFFECT_TAKES
                                                              : 0);
            effects[j] = (ushort) effect;
            more[j] = effect_more(effect);
        }
    }
}

/* ---- leaf with its updates --------------------------------------------------------------------------------------- */

typedef struct {
    hamt_node                node;
    __global const ordo_key *keys;
    __global const ushort   *effects;
    __global const uint     *more; /* exclusive prefix sums */
    uint                     begin, end;
} hamt_mix;

#define HAMT_BATCH                                                                                                     \
    __global const ordo_key *batch_keys, __global const ushort *batch_effects, __global const uint *batch_more,        \
        uint batch_n

#define HAMT_MIX(t, i, begin, end)                                                                                     \
    {                                                                                                                  \
        hamt_load(t, i), batch_keys, batch_effects, batch_more, begin, end                                             \
    }

ORDO_FN bool mix_is_touched(const hamt_mix *mix)
{
    uint any = 0;
    for (uint j = mix->begin; j < mix->end; j++)
        any |= mix->effects[j];
    return (any & EFFECT_ANY) != 0;
}

ORDO_FN uint mix_more(const hamt_mix *mix, uint j)
{
    return mix->more[j] - mix->more[mix->begin];
}

ORDO_FN uint mix_below(const hamt_mix *mix, ordo_key_form key)
{
    return hamt_look(&mix->node, key).below + mix_more(mix, keys_less(mix->keys, mix->begin, mix->end, key));
}

/* Returns the updated leaf's least key that is not less than `key`. There must be such a key. */
ORDO_FN ordo_key_form mix_first_from(const hamt_mix *mix, ordo_key_form key)
{
    uint p = hamt_look(&mix->node, key).below;
    for (uint j = keys_less(mix->keys, mix->begin, mix->end, key); j < mix->end; j++) {
        const ordo_key_form update = key_bits(mix->keys[j]);
        if (p < mix->node.count && hamt_key_at(&mix->node, p) < update)
            break;
        if (mix->effects[j] & EFFECT_STORES)
            return update;
        p += (mix->effects[j] & EFFECT_TAKES) != 0;
    }
    return hamt_key_at(&mix->node, p);
}

/* Considers only elements 0 to p - 1 of the leaf, and updates mix->begin to j - 1. Returns the greatest key after these
 * updates. There must be at least one key. */
ORDO_FN ordo_key_form mix_last_before(const hamt_mix *mix, uint p, uint j)
{
    for (; j > mix->begin; j--) {
        const ordo_key_form update = key_bits(mix->keys[j - 1]);
        if (p > 0 && hamt_key_at(&mix->node, p - 1) > update)
            break;
        if (mix->effects[j - 1] & EFFECT_STORES)
            return update;
        p -= (mix->effects[j - 1] & EFFECT_TAKES) != 0;
    }
    return hamt_key_at(&mix->node, p - 1);
}

ORDO_FN uint mix_count(const hamt_mix *mix)
{
    return mix->node.count + mix_more(mix, mix->end);
}

/* ---- new leaves -------------------------------------------------------------------------------------------------- */

/* An updated leaf is divided into new leaves. Elements `at` to `all` - 1 have no new leaf yet. `first` is the least of
 * their keys. mix_next halves ranges of keys. Bit b of `open` is 1 while the lower half of a range of 2^(b + 1) keys is
 * not finished. */
typedef struct {
    uint          at, all;
    ordo_key_form first, open;
} hamt_rest;

typedef struct {
    uint          at, count;
    ordo_key_form first;
    bool          wide;
} hamt_part;

ORDO_FN hamt_rest mix_rest(const hamt_mix *mix)
{
    hamt_rest rest = { 0, mix_count(mix), 0, 0 };
    if (rest.all > 0)
        rest.first = mix_first_from(mix, 0);
    return rest;
}

/* Returns the next new leaf, and removes its elements from *rest. *rest must have elements. */
ORDO_FN hamt_part mix_next(const hamt_mix *mix, hamt_rest *rest)
{
    const ordo_key_form one = 1;
    ordo_key_form       side = rest->open & (0 - rest->open), past = 0, last = 0;
    hamt_part           part = { rest->at, 0, rest->first >> HAMT_BITS << HAMT_BITS, false };
    for (bool divides = true; divides;) {
        past = side ? (rest->first | (side - 1)) + 1 : 0;
        const uint p = side ? hamt_look(&mix->node, past).below : mix->node.count;
        const uint j = side ? keys_less(mix->keys, mix->begin, mix->end, past) : mix->end;
        part.count = p + mix_more(mix, j) - part.at;
        last = mix_last_before(mix, p, j);
        divides = part.count > HAMT_LEAF && (rest->first ^ last) >> HAMT_BITS;
        side = divides ? one << (KEY_BITS - 1 - FORM_CLZ(rest->first ^ last)) : side;
        rest->open |= side;
    }
    part.wide = part.count <= HAMT_LEAF && last - part.first > 0xffff;
    rest->at += part.count;
    rest->open &= rest->open - 1;
    if (rest->at < rest->all)
        rest->first = mix_first_from(mix, past);
    return part;
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
        const uint end = i + 1 < t.n_leaves ? keys_less(batch_keys, begin, batch_n, t.leaves[i + 1].first) : batch_n;
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

ORDO_FN hamt_leaf mix_record(const hamt_mix *mix, hamt_part part, uint before, uint unit)
{
    hamt_leaf leaf = { .first = part.first, .before = before + part.at, .place = unit << 1 };
    if (part.count > HAMT_LEAF)
        for (uint s = 1; s < 4; s++)
            leaf.sectors |= (mix_below(mix, part.first + s * HAMT_SECTOR) - part.at) << (10 * (s - 1));
    else
        leaf.place |= part.wide ? HAMT_WIDE : 0;
    return leaf;
}

/* Writes the records of the updated trie. New blocks begin at byte first_unit * HAMT_UNIT of the pool. `plan` must hold
 * the exclusive prefix sums of hamt_plan's results. */
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

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

#define MIX_LANES HAMT_LANES(ORDO_CPU, ORDO_VALUE_BYTES)

/* A new leaf. `next` is the index of the leaf after it. Some compilers crash if `next` is a pointer. */
typedef struct {
    __global const hamt_leaf *leaves;
    uint                      next;
    hamt_leaf                 record;
    uint                      count;
    __global uchar           *pool, *block;
} hamt_target;

ORDO_FN void target_step(hamt_target *to)
{
    to->record = to->leaves[to->next++];
    to->count = to->leaves[to->next].before - to->record.before;
    to->block = to->pool + hamt_block_at(to->record.place);
}

ORDO_FN uint target_move(hamt_target *to, uint rank)
{
    while (rank - to->record.before >= to->count)
        target_step(to);
    return rank - to->record.before;
}

ORDO_FN void target_put_key(const hamt_target *to, uint position, ordo_key_form key)
{
    if (to->record.place & HAMT_WIDE)
        ((__global ordo_key_form *) to->block)[position] = key;
    else
        ((__global ushort *) to->block)[position] = (ushort) (key - to->record.first);
}

ORDO_FN void target_put_value(const hamt_target *to, uint position, hamt_value value)
{
    const uint at = hamt_key_bytes(to->count, (to->record.place & HAMT_WIDE) != 0);
    ((__global hamt_value *) (to->block + at))[position] = value;
}

/* Copies every MIX_LANES-th old element, from element `lane` on, to new leaves. `before` is the rank of the first new
 * leaf's first element. */
ORDO_FN void mix_put_old(const hamt_mix *mix, hamt_target to, uint before, uint lane)
{
    uint j = mix->begin;
    for (uint p = lane; p < mix->node.count; p += MIX_LANES) {
        uint effect = 0;
        while (j < mix->end) {
            effect = mix->effects[j];
            if ((effect & EFFECT_BELOW) + ((effect & EFFECT_HIT) != 0) > p)
                break;
            j++;
        }
        if (j < mix->end && (effect & EFFECT_HIT) && (effect & EFFECT_BELOW) == p)
            continue;
        const uint position = target_move(&to, before + p + mix_more(mix, j));
        if (to.count <= HAMT_LEAF)
            target_put_key(&to, position, hamt_key_at(&mix->node, p));
        if (ORDO_VALUE_BYTES)
            target_put_value(&to, position, hamt_values(&mix->node)[p]);
    }
}

ORDO_FN void mix_put_new(const hamt_mix *mix, hamt_target to, uint before, uint lane, __global const hamt_value *values)
{
    for (uint j = mix->begin + lane; j < mix->end; j += MIX_LANES) {
        const uint effect = mix->effects[j];
        if (!(effect & EFFECT_STORES))
            continue;
        const uint position = target_move(&to, before + (effect & EFFECT_BELOW) + mix_more(mix, j));
        if (to.count <= HAMT_LEAF)
            target_put_key(&to, position, key_bits(mix->keys[j]));
        if (ORDO_VALUE_BYTES)
            target_put_value(&to, position, values[j]);
    }
}

ORDO_FN uint mix_old_bits(const hamt_mix *mix, ordo_key_form from)
{
    const hamt_node *node = &mix->node;
    uint             bits = 0;
    if (node->count > HAMT_LEAF) {
        const ordo_key_form off = from - node->record.first;
        return from >= node->record.first && off >> HAMT_BITS == 0
                   ? ((__global const uint *) node->block)[(uint) off / 32]
                   : 0;
    }
    for (uint p = hamt_look(node, from).below; p < node->count; p++) {
        const ordo_key_form off = hamt_key_at(node, p) - from;
        if (off >= 32)
            break;
        bits |= 1u << (uint) off;
    }
    return bits;
}

ORDO_FN void mix_put_bits(const hamt_mix *mix, const hamt_target *to, uint lane)
{
    for (uint w = lane; w < HAMT_WORDS; w += MIX_LANES) {
        const ordo_key_form from = to->record.first + w * 32;
        uint                bits = mix_old_bits(mix, from);
        for (uint j = keys_less(mix->keys, mix->begin, mix->end, from); j < mix->end; j++) {
            const ordo_key_form off = key_bits(mix->keys[j]) - from;
            const uint          effect = mix->effects[j];
            if (off >= 32)
                break;
            bits |= effect & EFFECT_STORES ? 1u << (uint) off : 0;
            bits &= effect & EFFECT_TAKES ? ~(1u << (uint) off) : 0xffffffffu;
        }
        ((__global uint *) to->block)[w] = bits;
    }
}

ORDO_FN bool mix_has_lists(__global const hamt_leaf *leaves, uint first, uint end)
{
    bool has = false;
    for (uint k = first; k < end; k++)
        has = has || leaves[k + 1].before - leaves[k].before <= HAMT_LEAF;
    return has;
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
        const hamt_mix mix = HAMT_MIX(&t, i, begins[i], begins[i + 1]);
        if (!all && leaves[first].place == mix.node.record.place)
            continue;
        hamt_target to = { .leaves = leaves, .next = first, .pool = pool };
        target_step(&to);
        const uint before = to.record.before;
        if (ORDO_VALUE_BYTES || mix_has_lists(leaves, first, end)) {
            mix_put_old(&mix, to, before, lane);
            mix_put_new(&mix, to, before, lane, values ? values + values_at : 0);
        }
        for (uint k = first; k < end; k++) {
            if (k > first)
                target_step(&to);
            if (to.count > HAMT_LEAF)
                mix_put_bits(&mix, &to, lane);
        }
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
