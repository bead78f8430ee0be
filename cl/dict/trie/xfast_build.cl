/* SPDX-License-Identifier: Apache-2.0 */
/* Builds an X-fast trie (shared/xfast.h) from sorted distinct keys. */
#pragma once
#include "dict/less.cl"
#include "dict/trie/xfast.cl"

ORDO_KERNEL(RUN_GROUP)
void xfast_flat(__global const ordo_key *keys, xfast_shape shape, __global uint *flat)
{
    const uint all = 1u << shape.flat_bits;
    RUN_EACH (uint, p, all + 1)
        flat[p] =
            p == all ? shape.count : keys_less(keys, 0, shape.count, (ordo_key_form) p << (KEY_BITS - shape.flat_bits));
}

/* This struct describes the entries whose first key is a given key. These entries are on levels first + 1 to first + n,
 * one per level. */
typedef struct {
    uint first, n;
} xfast_begins;

ORDO_FN xfast_begins xfast_begin_with(__global const ordo_key *keys, const xfast_shape *shape, uint i)
{
    const ordo_key_form form = key_bits(keys[i]);
    const uint          bits = shape->flat_bits;
    const uint          before = i > 0 ? xfast_common(form, key_bits(keys[i - 1])) : 0;
    const bool          many = shape->count - i > XFAST_LEAF_MAX;
    const uint          after = many ? xfast_common(form, key_bits(keys[i + XFAST_LEAF_MAX])) : 0;
    const uint          last = after > bits ? min((after - bits) / shape->group, shape->levels) : 0;
    xfast_begins        begins = { before > bits ? (before - bits) / shape->group : 0, 0 };
    begins.n = max(last, begins.first) - begins.first;
    return begins;
}

ORDO_KERNEL(RUN_GROUP)
void xfast_count(__global const ordo_key *keys, xfast_shape shape, __global uint *counts)
{
    RUN_EACH (uint, i, shape.count + 1)
        counts[i] = i < shape.count ? xfast_begin_with(keys, &shape, i).n : 0;
}

ORDO_FN uint xfast_end_of(__global const ordo_key *keys, uint count, ordo_key_form form, uint length, uint from)
{
    const ordo_key_form last = form | (~(ordo_key_form) 0 >> length);
    uint                step = 1, low = from + 1;
    while (step < count - low && key_bits(keys[low + step - 1]) <= last) {
        low += step;
        step *= 2;
    }
    return last == ~(ordo_key_form) 0 ? count : keys_less(keys, low, low + min(step, count - low), last + 1);
}

#if XFAST_LEVEL_TABLES
/* The slots of the level tables must be 0. */
ORDO_KERNEL(RUN_GROUP)
void xfast_fill_levels(__global const ordo_key *keys, xfast_shape shape, XFAST_TABLE)
{
    const xfast_table table = XFAST_TABLE_HERE;
    RUN_EACH (uint, i, shape.count) {
        const xfast_begins  begins = xfast_begin_with(keys, &shape, i);
        const ordo_key_form form = key_bits(keys[i]);
        xfast_range         leaves = { i, i + 1 };
        for (uint level = begins.first + begins.n; level > begins.first; level--) {
            const uint length = shape.flat_bits + level * shape.group;
            leaves.end = xfast_end_of(keys, shape.count, form, length, leaves.end - 1);
            xfast_level_put(&table, &shape, length, xfast_word(form, length), leaves);
        }
    }
}
#else
/* Writes the entries whose first key is key i, from index offsets[i] on. `words` gets hash keys, and `entries` gets
 * ranges of keys. */
ORDO_KERNEL(RUN_GROUP)
void xfast_entries(__global const ordo_key *keys, xfast_shape shape, __global const uint *offsets,
                   __global ordo_key *words, __global ulong *entries)
{
    RUN_EACH (uint, i, shape.count) {
        const xfast_begins  begins = xfast_begin_with(keys, &shape, i);
        const ordo_key_form form = key_bits(keys[i]);
        uint                end = i + XFAST_LEAF + 1;
        for (uint level = begins.first + begins.n; level > begins.first; level--) {
            const uint length = shape.flat_bits + level * shape.group;
            const uint at = offsets[i] + level - begins.first - 1;
            end = xfast_end_of(keys, shape.count, form, length, end - 1);
            words[at] = xfast_word(form, length);
            entries[at] = (ulong) end << 32 | i;
        }
    }
}
#endif
