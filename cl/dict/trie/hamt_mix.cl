/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a leaf of a HAMT with its updates into new leaves. */
#pragma once
#include "dict/less.cl"
#include "dict/trie/hamt.cl"
#include "group/hidden.cl"

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* The effect of an update is a sum of flags and a count. The count (mask EFFECT_BELOW) is the number of lesser keys in
 * the leaf. Only the last update of a key can have EFFECT_STORES or EFFECT_TAKES. */
#define EFFECT_BELOW  0x0fffu
#define EFFECT_HIT    0x1000u /* The leaf has the update's key. */
#define EFFECT_STORES 0x2000u /* The update adds an element, or replaces its value. */
#define EFFECT_TAKES  0x4000u /* The update removes an element. */
#define EFFECT_ANY    (EFFECT_STORES | EFFECT_TAKES)

/* Returns 1, 0 or -1: the change of the number of elements. */
ORDO_FN uint effect_more(uint effect)
{
    return (uint) ((effect & (EFFECT_STORES | EFFECT_HIT)) == EFFECT_STORES) - (uint) ((effect & EFFECT_TAKES) != 0);
}

ORDO_FN __global uint *hamt_found_in(__global ulong *plan, uint n_leaves)
{
    return ((__global hamt_plan_end *) (plan + n_leaves))->found;
}

ORDO_FN uint hamt_effect(hamt_position at, __global const ordo_key *keys, __global const uint *hidden, uint n, uint j)
{
    const bool last = j + 1 == n || keys[j] != keys[j + 1], erases = run_is_hidden(hidden, j);
    return at.below | (at.there ? EFFECT_HIT : 0) |
           (last && !erases              ? EFFECT_STORES
            : last && erases && at.there ? EFFECT_TAKES
                                         : 0);
}

/* ---- leaf with its updates --------------------------------------------------------------------------------------- */

typedef struct {
    hamt_node                node;
    __global const ordo_key *keys;
    __global const ushort   *effects;
    __global const uint     *more; /* exclusive prefix sums */
    uint                     begin, end;
    uint                     sum; /* change of the number of elements */
} hamt_mix;

#define HAMT_BATCH                                                                                                     \
    __global const ordo_key *batch_keys, __global const ushort *batch_effects, __global const uint *batch_more,        \
        uint batch_n

#define HAMT_MIX(t, i, begin, end)                                                                                     \
    {                                                                                                                  \
        hamt_load(t, i), batch_keys, batch_effects, batch_more, begin, end, batch_more[end] - batch_more[begin]        \
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
    return j == mix->end ? mix->sum : mix->more[j] - mix->more[mix->begin];
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
    return mix->node.count + mix->sum;
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

/* Copies the lane's old elements to new leaves. `before` is the rank of the first new leaf's first element. */
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

/* Writes the lane's part of the blocks of new leaves to.next to end - 1. */
ORDO_FN void mix_put_blocks(const hamt_mix *mix, hamt_target to, uint end, __global const hamt_value *values, uint lane)
{
    const uint first = to.next;
    target_step(&to);
    const uint before = to.record.before;
    if (ORDO_VALUE_BYTES || mix_has_lists(to.leaves, first, end)) {
        mix_put_old(mix, to, before, lane);
        mix_put_new(mix, to, before, lane, values);
    }
    for (uint k = first; k < end; k++) {
        if (k > first)
            target_step(&to);
        if (to.count > HAMT_LEAF)
            mix_put_bits(mix, &to, lane);
    }
}
