/* SPDX-License-Identifier: Apache-2.0 */
/* Groups integer keys on a CPU without a sort, if keys differ in few low bits only:
 *
 *     by_index_fold    Each work-item fills a table. The low bits of a key are the number of its slot.
 *     by_index_join    Each work-item adds up a range of slots over all tables, and counts the range's groups.
 *     by_index_write   Each work-item writes the groups of its range. */
#pragma once
#include "group/by_key.cl"
#include "shared/by_index.h"

#define SLOT_WORDS BY_INDEX_WORDS(BY_KEY_VALUES)
#define SLOT_COUNT (SLOT_WORDS - 1)

typedef struct {
    uint begin, end;
} slot_range;

ORDO_FN slot_range by_index_range(__private const struct by_index *x)
{
    slot_range r;
    r.begin = min((uint) get_group_id(0) * x->range, 1u << x->bits);
    r.end = min(r.begin + x->range, 1u << x->bits);
    return r;
}

ORDO_FN uint by_index_slot(__private const struct by_index *x, by_key_word key)
{
    return (uint) key & ((1u << x->bits) - 1);
}

ORDO_FN void by_index_clear(__global fold_word *table, uint slots)
{
    for (uint s = 0; s < slots; s++) {
        table[s * SLOT_WORDS] = FOLD_IDENTITY;
        table[s * SLOT_WORDS + SLOT_COUNT] = 0;
    }
}

/* Fills the table of part i. If the keys of the part differ from key 0 only in the lowest x.bits bits, others[i]
 * becomes 0. Otherwise others[i] is not 0. */
ORDO_KERNEL(1)
void by_index_fold(BY_KEY_ARGS, struct by_index x, __global fold_word *tables, __global by_key_word *others)
{
    const by_key_arrays a = BY_KEY_ARRAYS;
    const uint          part = (uint) get_group_id(0), first = part * x.part;
    const uint          end = first + min(x.part, count - first);
    const by_key_word   key0 = a.keys[0];
    by_key_word         differ = 0;
    __global fold_word *table = tables + ((ulong) part << x.bits) * SLOT_WORDS;
    by_index_clear(table, 1u << x.bits);
    for (uint i = first; i < end; i++) {
        const by_key_word   key = a.keys[i];
        __global fold_word *slot = table + by_index_slot(&x, key) * SLOT_WORDS;
#if BY_KEY_VALUES
        slot[0] = fold_values(slot[0], by_key_value(&a, i));
#endif
        slot[SLOT_COUNT]++;
        differ |= key ^ key0;
    }
    others[part] = differ >> x.bits;
}

ORDO_FN bool by_index_is_exact(__private const struct by_index *x, __global const by_key_word *others)
{
    by_key_word differ = 0;
    for (uint part = 0; part < x->parts; part++)
        differ |= others[part];
    return differ == 0;
}

ORDO_FN uint by_index_add(__private const struct by_index *x, slot_range r, __global fold_word *tables)
{
    uint groups = 0;
    for (uint s = r.begin; s < r.end; s++) {
        __global fold_word *slot = tables + (ulong) s * SLOT_WORDS;
        for (uint part = 1; part < x->parts; part++) {
            __global const fold_word *other = slot + ((ulong) part << x->bits) * SLOT_WORDS;
#if BY_KEY_VALUES
            slot[0] = fold_values(slot[0], other[0]);
#endif
            slot[SLOT_COUNT] += other[SLOT_COUNT];
        }
        groups += slot[SLOT_COUNT] > 0;
    }
    return groups;
}

ORDO_FN void by_index_put(__private const by_key_arrays *a, uint number, by_key_word key, fold_word value, uint n)
{
    if (number >= a->room)
        return;
    a->keys_out[number] = key;
#if BY_KEY_VALUES
    a->values_out[number] = fold_key_of(value);
#endif
    if (a->counts)
        a->counts[number] = n;
}

ORDO_FN uint by_index_write_slots(__private const by_key_arrays *a, __private const struct by_index *x, slot_range r,
                                  uint number, __global const fold_word *table)
{
    const by_key_word above = a->keys[0] >> x->bits << x->bits;
    for (uint s = r.begin; s < r.end; s++) {
        __global const fold_word *slot = table + s * SLOT_WORDS;
        if (slot[SLOT_COUNT] > 0)
            by_index_put(a, number++, above | s, slot[0], (uint) slot[SLOT_COUNT]);
    }
    return number;
}

/* last[s] is the key of the previous element in slot s. The low bits of such a key are the number s. So the start value
 * s ^ 1 differs from all keys of the slot. */
ORDO_FN void by_index_forget(slot_range r, __global by_key_word *last)
{
    for (uint s = r.begin; s < r.end; s++)
        last[s] = s ^ 1;
}

/* Different keys can share a slot. Two successive elements of a slot are in the same group if their keys are equal.
 * Counts the groups of each slot in `table`. Returns the sum of these counts. */
ORDO_FN uint by_index_count_runs(__private const by_key_arrays *a, __private const struct by_index *x, slot_range r,
                                 __global fold_word *table, __global by_key_word *last)
{
    uint groups = 0;
    by_index_forget(r, last);
    by_index_clear(table + r.begin * SLOT_WORDS, r.end - r.begin);
    for (uint i = 0; i < a->count; i++) {
        const uint s = by_index_slot(x, a->keys[i]);
        if (s < r.begin || s >= r.end || a->keys[i] == last[s])
            continue;
        last[s] = a->keys[i];
        table[s * SLOT_WORDS + SLOT_COUNT]++;
        groups++;
    }
    return groups;
}

/* Replaces each slot's number of groups in `table` by the output index of its first group. Output indices begin at
 * `number`. Returns the index after the last group. */
ORDO_FN uint by_index_number_runs(slot_range r, uint number, __global fold_word *table)
{
    for (uint s = r.begin; s < r.end; s++) {
        const uint groups = (uint) table[s * SLOT_WORDS + SLOT_COUNT];
        table[s * SLOT_WORDS + SLOT_COUNT] = number;
        number += groups;
    }
    return number;
}

ORDO_FN void by_index_add_to(__private const by_key_arrays *a, uint number, fold_word value)
{
    if (number >= a->room)
        return;
#if BY_KEY_VALUES
    a->values_out[number] = fold_key_of(fold_values(fold_value_of(a->values_out[number]), value));
#endif
    if (a->counts)
        a->counts[number]++;
}

ORDO_FN uint by_index_write_runs(__private const by_key_arrays *a, __private const struct by_index *x, slot_range r,
                                 uint number, __global fold_word *table, __global by_key_word *last)
{
    const uint end = by_index_number_runs(r, number, table);
    by_index_forget(r, last);
    for (uint i = 0; i < a->count; i++) {
        const by_key_word key = a->keys[i];
        const uint        s = by_index_slot(x, key);
        if (s < r.begin || s >= r.end)
            continue;
        __global fold_word *next = table + s * SLOT_WORDS + SLOT_COUNT;
        if (key == last[s])
            by_index_add_to(a, (uint) *next - 1, by_key_value(a, i));
        else
            by_index_put(a, (uint) (*next)++, key, by_key_value(a, i), 1);
        last[s] = key;
    }
    return end;
}

ORDO_KERNEL(1)
void by_index_join(BY_KEY_ARGS, struct by_index x, __global fold_word *tables, __global by_key_word *others,
                   __global by_key_word *last, __global uint *groups_of)
{
    const by_key_arrays a = BY_KEY_ARRAYS;
    const slot_range    r = by_index_range(&x);
    const uint          range = (uint) get_group_id(0);
    if (by_index_is_exact(&x, others))
        groups_of[range] = by_index_add(&x, r, tables);
    else
        groups_of[range] = by_index_count_runs(&a, &x, r, tables, last);
}

ORDO_KERNEL(1)
void by_index_write(BY_KEY_ARGS, struct by_index x, __global fold_word *tables, __global by_key_word *others,
                    __global by_key_word *last, __global const uint *groups_of)
{
    const by_key_arrays a = BY_KEY_ARRAYS;
    const slot_range    r = by_index_range(&x);
    const uint          range = (uint) get_group_id(0);
    uint                number = 0;
    for (uint i = 0; i < range; i++)
        number += groups_of[i];
    if (by_index_is_exact(&x, others))
        number = by_index_write_slots(&a, &x, r, number, tables);
    else
        number = by_index_write_runs(&a, &x, r, number, tables, last);
    if (range + 1 == get_num_groups(0))
        *a.groups = number;
}
