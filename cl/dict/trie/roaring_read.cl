/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the leaves of a HAMT from the Roaring portable format (shared/roaring.h), with keys of 32 or 64 bits. Each
 * kernel uses only input that an earlier kernel has checked. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt.cl"
#include "shared/key.h"
#include "shared/roaring.h"

/* Built together: roaring_walk roaring_containers roaring_slices roaring_counts roaring_divide */
/* Built together: roaring_shape roaring_fill_leaves */

ORDO_FN uint roaring_16(__global const uchar *bytes, ulong at)
{
    return (uint) bytes[at] | (uint) bytes[at + 1] << 8;
}

ORDO_FN uint roaring_32(__global const uchar *bytes, ulong at)
{
    return roaring_16(bytes, at) | roaring_16(bytes, at + 2) << 16;
}

/* ---- bitmaps ----------------------------------------------------------------------------------------------------- */

ORDO_FN ulong roaring_descriptors(const roaring_part *part)
{
    return part->begin + (part->with_runs ? 4 + (part->containers + 7) / 8 : 8);
}

ORDO_FN ulong roaring_offsets(const roaring_part *part)
{
    return roaring_descriptors(part) + 4 * (ulong) part->containers;
}

ORDO_FN bool roaring_has_offsets(const roaring_part *part)
{
    return !part->with_runs || part->containers >= ROARING_OFFSETS_FROM;
}

ORDO_FN ulong roaring_data(const roaring_part *part)
{
    return roaring_offsets(part) + (roaring_has_offsets(part) ? 4 * (ulong) part->containers : 0);
}

ORDO_FN uint roaring_form_of(__global const uchar *bytes, const roaring_part *part, uint i)
{
    if (part->with_runs && bytes[part->begin + 4 + i / 8] >> i % 8 & 1)
        return ROARING_RUNS;
    return roaring_16(bytes, roaring_descriptors(part) + 4 * (ulong) i + 2) < ROARING_ARRAY_MAX ? ROARING_ARRAY
                                                                                                : ROARING_BITMAP;
}

/* Returns the size in bytes of container i, which begins at byte offset `at`. */
ORDO_FN ulong roaring_bytes(__global const uchar *bytes, const roaring_part *part, uint i, ulong at, ulong end)
{
    switch (roaring_form_of(bytes, part, i)) {
    case ROARING_ARRAY:
        return 2 * (ulong) roaring_16(bytes, roaring_descriptors(part) + 4 * (ulong) i + 2) + 2;
    case ROARING_BITMAP:
        return 2 * ROARING_BITMAP_WORDS;
    default:
        return at > end || end - at < 2 ? 2 : 2 + 4 * (ulong) roaring_16(bytes, at);
    }
}

/* Returns the byte offset of container i, from unchecked input. The caller must check that the container lies in the
 * bitmap. The bitmap's header must end before `end`. */
ORDO_FN ulong roaring_begin(__global const uchar *bytes, const roaring_part *part, uint i, ulong end)
{
    if (roaring_has_offsets(part))
        return part->begin + roaring_32(bytes, roaring_offsets(part) + 4 * (ulong) i);
    ulong at = roaring_data(part);
    for (uint k = 0; k < i; k++)
        at += roaring_bytes(bytes, part, k, at, end);
    return at;
}

ORDO_FN uint roaring_cookie(__global const uchar *bytes, ulong size, roaring_part *part)
{
    if (size - part->begin < 8)
        return ROARING_FAULT_CUT;
    const uint cookie = roaring_32(bytes, part->begin), count = roaring_32(bytes, part->begin + 4);
    part->with_runs = (cookie & 0xffff) == ROARING_WITH_RUNS;
    if (!part->with_runs && cookie != ROARING_PLAIN)
        return ROARING_FAULT_COOKIE;
    if (!part->with_runs && count > ROARING_CONTAINERS)
        return ROARING_FAULT_MANY;
    part->containers = part->with_runs ? (cookie >> 16) + 1 : count;
    return ROARING_FAULT_WORDS;
}

ORDO_FN uint roaring_measure(__global const uchar *bytes, ulong size, roaring_part *part)
{
    const uint fault = roaring_cookie(bytes, size, part);
    if (fault != ROARING_FAULT_WORDS)
        return fault;
    part->end = roaring_data(part);
    if (part->end > size)
        return ROARING_FAULT_CUT;
    if (part->containers > 0) {
        const uint  last = part->containers - 1;
        const ulong at = roaring_begin(bytes, part, last, size);
        part->end = at + roaring_bytes(bytes, part, last, at, size);
        if (at < roaring_data(part) || part->end > size)
            return ROARING_FAULT_CUT;
    }
    return ROARING_FAULT_WORDS;
}

/* One work-item finds the bounds of bitmaps `from` to `stop` - 1. `walk` keeps its state between launches. If `wide` is
 * 1, keys have 64 bits. Then the 4 bytes before a bitmap are the upper 32 bits of all its keys. */
ORDO_KERNEL(RUN_GROUP)
void roaring_walk(__global const uchar *data, ulong data_at, ulong size, uint wide, uint n, uint from, uint stop,
                  __global ulong *walk, __global roaring_part *parts, __global uint *wrong)
{
    if (get_global_id(0) != 0)
        return;
    __global const uchar *bytes = data + data_at;
    ulong                 at = walk[ROARING_AT];
    uint                  found = (uint) walk[ROARING_FOUND], fault = ROARING_FAULT_WORDS;
    for (uint p = from; p < stop && at <= size; p++) {
        roaring_part part = { .begin = at, .first = found };
        if (wide && size - at < 4) {
            fault = ROARING_FAULT_CUT;
        } else {
            part.high = wide ? roaring_32(bytes, at) : 0;
            part.begin += wide ? 4 : 0;
            fault = p > 0 && part.high <= walk[ROARING_HIGH] ? ROARING_FAULT_HIGH : roaring_measure(bytes, size, &part);
        }
        if (fault == ROARING_FAULT_WORDS && p == n - 1 && part.end != size)
            fault = ROARING_FAULT_LEFT;
        if (fault != ROARING_FAULT_WORDS) {
            wrong[fault] = p;
            at = size + 1; /* An offset behind the data makes later launches return at once. */
            break;
        }
        parts[p] = part;
        found += part.containers;
        at = part.end;
        walk[ROARING_HIGH] = part.high;
    }
    walk[ROARING_AT] = at;
    walk[ROARING_FOUND] = found;
}

/* ---- containers -------------------------------------------------------------------------------------------------- */

ORDO_FN uint roaring_part_of(__global const roaring_part *parts, uint n_parts, uint c)
{
    uint low = 0, high = n_parts - 1;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (parts[middle].first <= c)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

ORDO_FN bool roaring_is_in_place(__global const uchar *bytes, const roaring_part *part, uint i, ulong at)
{
    if (at < roaring_data(part) || at > part->end || (i == 0 && at != roaring_data(part)))
        return false;
    const ulong end = at + roaring_bytes(bytes, part, i, at, part->end);
    return end == (i + 1 < part->containers ? roaring_begin(bytes, part, i + 1, part->end) : part->end);
}

/* Decodes each container's descriptor. A container is divided into slices. A slice has ROARING_SLICE elements, runs or
 * bitmap words. slices[c] becomes the number of slices of container c, or 0 if the container is faulty. */
ORDO_KERNEL(RUN_GROUP)
void roaring_containers(__global const uchar *data, ulong data_at, __global const roaring_part *parts, uint n_parts,
                        uint n, __global roaring_container *containers, __global ulong *slices, __global uint *wrong)
{
    __global const uchar *bytes = data + data_at;
    RUN_EACH (uint, c, n + 1) {
        if (c == n) {
            slices[c] = 0;
            continue;
        }
        const roaring_part part = parts[roaring_part_of(parts, n_parts, c)];
        const uint         i = c - part.first;
        const ulong        at = roaring_begin(bytes, &part, i, part.end);
        const ulong        descriptor = roaring_descriptors(&part) + 4 * (ulong) i;
        const uint         key = roaring_16(bytes, descriptor);
        roaring_container  it = { .begin = at, .count = roaring_16(bytes, descriptor + 2) + 1 };
        const bool         ascends = i == 0 || key > roaring_16(bytes, descriptor - 4);
        const bool         fits = roaring_is_in_place(bytes, &part, i, at);
        if (!ascends)
            ordo_min(&wrong[ROARING_FAULT_KEY], c);
        if (!fits)
            ordo_min(&wrong[ROARING_FAULT_PLACE], c);
        it.key = (ulong) part.high << 32 | (ulong) key << 16;
        it.form = roaring_form_of(bytes, &part, i);
        it.units = it.form == ROARING_ARRAY ? it.count : ROARING_BITMAP_WORDS;
        if (it.form == ROARING_RUNS) {
            it.units = fits ? roaring_16(bytes, at) : 0;
            it.begin += 2;
        }
        containers[c] = it;
        slices[c] = ascends && fits ? (it.units + ROARING_SLICE - 1) / ROARING_SLICE : 0;
    }
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* Returns the first and the last key of run j. If the last key exceeds 65535, the caller must report a fault. */
ORDO_FN uint2 roaring_run(__global const uchar *units, uint j)
{
    const uint first = roaring_16(units, 4 * (ulong) j);
    return (uint2) (first, first + roaring_16(units, 4 * (ulong) j + 2));
}

/* Sets *count to the number of keys in unit j (array element, run or bitmap word). Returns false if an element or run
 * does not exceed the previous one. */
ORDO_FN bool roaring_ascends(__global const uchar *units, uint form, uint j, uint *count)
{
    if (form == ROARING_RUNS) {
        const uint2 run = roaring_run(units, j);
        *count = run.y - run.x + 1;
        return run.y < 65536 && (j == 0 || run.x > roaring_run(units, j - 1).y);
    }
    const uint word = roaring_16(units, 2 * (ulong) j);
    *count = form == ROARING_ARRAY ? 1 : popcount(word);
    return form != ROARING_ARRAY || j == 0 || word > roaring_16(units, 2 * (ulong) j - 2);
}

/* Sets *count to the number of keys in units `begin` to end - 1. Returns false if they do not ascend. */
ORDO_FN bool roaring_slice_ascends(__global const uchar *units, uint form, uint begin, uint end, uint *count)
{
    bool sound = true;
    *count = 0;
    if (form == ROARING_ARRAY) {
        for (uint j = max(begin, 1u); j < end; j++)
            sound &= roaring_16(units, 2 * (ulong) j) > roaring_16(units, 2 * (ulong) j - 2);
        *count = end - begin;
        return sound;
    }
    for (uint j = begin; j < end; j++) {
        uint keys;
        sound = roaring_ascends(units, form, j, &keys) && sound;
        *count += keys;
    }
    return sound;
}

/* Counts the keys of each slice. Reports containers whose keys do not ascend. */
ORDO_KERNEL(RUN_GROUP)
void roaring_slices(__global const uchar *data, ulong data_at, __global const roaring_container *containers,
                    __global const ulong *starts, uint n, uint n_slices, __global ulong *counts, __global uint *wrong)
{
    const uint each = ROARING_SHARE(ORDO_CPU);
    RUN_EACH (uint, share, n_slices / each + 1) {
        const uint first = share * each;
        uint       c = first < n_slices ? each_owner(starts, 0, n - 1, first) : 0;
        for (uint k = 0; k < min(each, n_slices - first); k++) {
            c = each_owner_from(starts, c, n, first + k);
            const roaring_container it = containers[c];
            const uint              begin = (first + k - (uint) starts[c]) * ROARING_SLICE;
            uint                    count;
            if (!roaring_slice_ascends(data + data_at + it.begin, it.form, begin, min(begin + ROARING_SLICE, it.units),
                                       &count))
                ordo_min(&wrong[ROARING_FAULT_ORDER], c);
            counts[first + k] = count;
        }
        if (n_slices - first < each)
            counts[n_slices] = 0;
    }
}

/* Reports containers whose number of keys differs from the descriptor. `counts` must hold the exclusive prefix sums of
 * roaring_slices' counts. */
ORDO_KERNEL(RUN_GROUP)
void roaring_counts(__global const roaring_container *containers, __global const ulong *starts,
                    __global const ulong *counts, uint n, __global uint *wrong)
{
    RUN_EACH (uint, c, n)
        if (counts[starts[c + 1]] - counts[starts[c]] != containers[c].count)
            ordo_min(&wrong[ROARING_FAULT_COUNT], c);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

typedef struct {
    __global const uchar *units;
    ulong                 key;
    uint                  form, unit;
    uint                  bits;
    uint                  next, last;
} roaring_cursor;

/* Moves to key number `skip` of the slice, counted from 0. This key must exist. */
ORDO_FN void roaring_move_to(roaring_cursor *cursor, __global const uchar *bytes, const roaring_container *it,
                             uint slice, uint skip)
{
    cursor->units = bytes + it->begin;
    cursor->key = it->key;
    cursor->form = it->form;
    cursor->unit = slice * ROARING_SLICE;
    cursor->bits = 0;
    cursor->next = 1;
    cursor->last = 0;
    if (it->form == ROARING_ARRAY) {
        cursor->unit += skip;
        return;
    }
    uint count;
    for (roaring_ascends(cursor->units, it->form, cursor->unit, &count); skip >= count;
         roaring_ascends(cursor->units, it->form, cursor->unit, &count)) {
        skip -= count;
        cursor->unit++;
    }
    if (it->form == ROARING_RUNS) {
        const uint2 run = roaring_run(cursor->units, cursor->unit++);
        cursor->next = run.x + skip;
        cursor->last = run.y;
        return;
    }
    cursor->bits = roaring_16(cursor->units, 2 * (ulong) cursor->unit++);
    for (; skip > 0; skip--)
        cursor->bits &= cursor->bits - 1;
}

ORDO_FN ulong roaring_next(roaring_cursor *cursor)
{
    if (cursor->form == ROARING_ARRAY)
        return cursor->key | roaring_16(cursor->units, 2 * (ulong) cursor->unit++);
    if (cursor->form == ROARING_RUNS) {
        if (cursor->next > cursor->last) {
            const uint2 run = roaring_run(cursor->units, cursor->unit++);
            cursor->next = run.x;
            cursor->last = run.y;
        }
        return cursor->key | cursor->next++;
    }
    while (cursor->bits == 0)
        cursor->bits = roaring_16(cursor->units, 2 * (ulong) cursor->unit++);
    const uint lowest = 31 - clz(cursor->bits & (0 - cursor->bits));
    cursor->bits &= cursor->bits - 1;
    return cursor->key | ((cursor->unit - 1) * 16 + lowest);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* A checked set of n containers. counts[s] must be the number of keys in all slices before slice s. `leaf_max` is the
 * largest number of keys in a leaf without a bitmap. */
#define ROARING_SET                                                                                                    \
    __global const uchar *data, ulong data_at, __global const roaring_container *containers,                           \
        __global const ulong *starts, __global const ulong *counts, uint n, uint leaf_max
#define ROARING_SET_HERE                                                                                               \
    {                                                                                                                  \
        data + data_at, containers, starts, counts, n, leaf_max                                                        \
    }
typedef struct {
    __global const uchar             *bytes;
    __global const roaring_container *containers;
    __global const ulong             *starts, *counts;
    uint                              n, leaf_max;
} roaring_set;

ORDO_FN ulong roaring_rank(const roaring_set *s, uint c)
{
    return s->counts[s->starts[c]];
}

/* Returns whether the keys of containers a and b differ in their lowest `bits` bits alone. */
ORDO_FN bool roaring_is_near(const roaring_set *s, uint a, uint b, uint bits)
{
    return bits == 64 || (s->containers[a].key ^ s->containers[b].key) >> bits == 0;
}

/* Returns whether the first key of container c begins a leaf: whether more than leaf_max keys have the bits that it
 * shares with the key before. */
ORDO_FN bool roaring_parts_before(const roaring_set *s, uint c)
{
    if (c == 0)
        return true;
    const uint bits = 64 - (uint) clz(s->containers[c].key ^ s->containers[c - 1].key);
    uint       from = c - 1, to = c + 1;
    while (from > 0 && roaring_is_near(s, from - 1, c, bits) &&
           roaring_rank(s, to) - roaring_rank(s, from) <= s->leaf_max)
        from--;
    while (to < s->n && roaring_is_near(s, to, c, bits) && roaring_rank(s, to) - roaring_rank(s, from) <= s->leaf_max)
        to++;
    return roaring_rank(s, to) - roaring_rank(s, from) > s->leaf_max;
}

/* upto[b] becomes the number of keys of container c before block b. */
ORDO_FN void roaring_blocks(const roaring_set *s, uint c, uint upto[ROARING_BLOCKS + 1])
{
    const roaring_container it = s->containers[c];
    __global const uchar   *units = s->bytes + it.begin;
    uint                    u = 0, keys = 0;
    upto[0] = 0;
    for (uint b = 0; b < ROARING_BLOCKS; b++) {
        const uint end = (b + 1) << HAMT_BITS;
        if (it.form == ROARING_BITMAP) {
            upto[b + 1] = (uint) (s->counts[s->starts[c] + b + 1] - s->counts[s->starts[c]]);
        } else if (it.form == ROARING_ARRAY) {
            while (u < it.units && roaring_16(units, 2 * (ulong) u) < end)
                u++;
            upto[b + 1] = u;
        } else {
            for (; u < it.units && roaring_run(units, u).y < end; u++)
                keys += roaring_run(units, u).y - roaring_run(units, u).x + 1;
            upto[b + 1] = keys + (u < it.units ? end - min(end, roaring_run(units, u).x) : 0);
        }
    }
}

/* Returns the number of leaves that begin in container c. Writes them to `leaves` unless it is NULL. */
ORDO_FN uint roaring_divide_one(const roaring_set *s, uint c, __global roaring_start *leaves)
{
    roaring_start leaf = { (uint) roaring_rank(s, c), c };
    const uint    rank = leaf.rank;
    uint          found = 0, last = ROARING_BLOCKS, upto[ROARING_BLOCKS + 1];
    if (roaring_parts_before(s, c)) {
        if (leaves)
            leaves[found] = leaf;
        found++;
    }
    if (s->containers[c].count <= s->leaf_max)
        return found;
    roaring_blocks(s, c, upto);
    for (uint b = 0; b < ROARING_BLOCKS; b++) {
        if (upto[b + 1] == upto[b])
            continue;
        const uint some = last < ROARING_BLOCKS ? 2u << (31 - clz(last ^ b)) : 1, low = b & ~(some - 1);
        const bool parts = last < ROARING_BLOCKS && upto[low + some] - upto[low] > s->leaf_max;
        leaf.rank = rank + upto[b];
        if (parts && leaves)
            leaves[found] = leaf;
        found += parts;
        last = b;
    }
    return found;
}

/* The first launch (`leaves` is NULL) counts the leaves that begin in each container. The second launch, with the
 * prefix sums of these counts, lists them. They are the leaves that hamt_heads would find. */
ORDO_KERNEL(RUN_GROUP)
void roaring_divide(ROARING_SET, __global uint *number, __global roaring_start *leaves)
{
    const roaring_set s = ROARING_SET_HERE;
    RUN_EACH (uint, c, n + 1) {
        const roaring_start end = { (uint) roaring_rank(&s, n), n };
        if (leaves && c == n)
            leaves[number[c]] = end;
        else if (leaves)
            roaring_divide_one(&s, c, leaves + number[c]);
        else
            number[c] = c < n ? roaring_divide_one(&s, c, 0) : 0;
    }
}

/* Moves to the key of this rank, which must be in container c. */
ORDO_FN void roaring_seek(const roaring_set *s, roaring_cursor *cursor, uint c, ulong rank)
{
    const roaring_container it = s->containers[c];
    const uint              first = (uint) s->starts[c];
    uint                    slice = first + (uint) (rank - s->counts[first]) / ROARING_SLICE;
    if (it.form != ROARING_ARRAY)
        slice = each_owner(s->counts, first, (uint) s->starts[c + 1] - 1, rank);
    roaring_move_to(cursor, s->bytes, &it, slice - first, (uint) (rank - s->counts[slice]));
}

ORDO_FN ordo_key_form roaring_key_of(const roaring_set *s, uint c, ulong rank)
{
    roaring_cursor cursor;
    roaring_seek(s, &cursor, c, rank);
    return (ordo_key_form) roaring_next(&cursor);
}

/* Writes the records of new leaves, with the number of keys instead of the rank, and the sizes of their blocks in units
 * of HAMT_UNIT bytes. */
ORDO_KERNEL(RUN_GROUP)
void roaring_shape(ROARING_SET, __global const roaring_start *leaves, uint n_leaves, __global hamt_leaf *fresh,
                   __global uint *units)
{
    const roaring_set s = ROARING_SET_HERE;
    RUN_EACH (uint, k, n_leaves + 1) {
        if (k == n_leaves) {
            units[k] = 0;
            continue;
        }
        const roaring_start begin = leaves[k], end = leaves[k + 1];
        const uint          n_keys = end.rank - begin.rank;
        const uint last = end.rank == (uint) roaring_rank(&s, end.container) ? end.container - 1 : end.container;
        const ordo_key_form first = roaring_key_of(&s, begin.container, begin.rank) >> HAMT_BITS << HAMT_BITS;
        const bool          wide = last > begin.container && roaring_key_of(&s, last, end.rank - 1) - first > 0xffff;
        const hamt_leaf     leaf = { .first = first, .before = n_keys, .place = wide ? HAMT_WIDE : 0 };
        fresh[k] = leaf;
        units[k] = n_keys > leaf_max ? hamt_units(1 << HAMT_BITS, false) : hamt_units(n_keys, wide);
    }
}

/* Returns the first unit of an array or a list of runs whose last key is not less than `key`. */
ORDO_FN uint roaring_unit_of(__global const uchar *units, const roaring_container *it, uint key)
{
    uint low = 0;
    HAMT_SEARCH(low, it->units, i,
                (it->form == ROARING_RUNS ? roaring_run(units, i).y : roaring_16(units, 2 * (ulong) i)) < key)
    return low;
}

/* Returns the keys from `key` to key + 31 as bits. *unit must be the first unit that may have one of them. */
ORDO_FN uint roaring_bits(__global const uchar *units, const roaring_container *it, uint key, uint *unit)
{
    uint bits = 0;
    if (it->form == ROARING_BITMAP)
        return roaring_32(units, key / 8);
    for (; *unit < it->units; ++*unit) {
        const uint  one = it->form == ROARING_ARRAY ? roaring_16(units, 2 * (ulong) *unit) : 0;
        const uint2 run = it->form == ROARING_ARRAY ? (uint2) (one, one) : roaring_run(units, *unit);
        if (run.x > key + 31)
            break;
        const uint from = max(run.x, key) - key, to = min(run.y, key + 31) - key;
        bits |= (0xffffffff >> (31 - to)) & (0xffffffff << from);
        if (run.y > key + 31)
            break;
    }
    return bits;
}

ORDO_FN void roaring_fill_bitmap(const roaring_set *s, uint c, __global hamt_leaf *leaf, __global uint *words)
{
    const roaring_container it = s->containers[c];
    __global const uchar   *units = s->bytes + it.begin;
    const uint              first = (uint) leaf->first & 0xffff;
    uint keys = 0, sectors = 0, unit = it.form == ROARING_BITMAP ? 0 : roaring_unit_of(units, &it, first);
    for (uint w = 0; w < HAMT_WORDS; w++) {
        if (w > 0 && w % (HAMT_SECTOR / 32) == 0)
            sectors |= keys << (10 * (w / (HAMT_SECTOR / 32) - 1));
        words[w] = roaring_bits(units, &it, first + 32 * w, &unit);
        keys += popcount(words[w]);
    }
    leaf->sectors = sectors;
}

ORDO_FN void roaring_fill_list(const roaring_set *s, roaring_start begin, uint end, const hamt_leaf *leaf,
                               __global uchar *block)
{
    uint c = begin.container, rank = begin.rank;
    while (rank < end) {
        const uint     stop = min(end, (uint) roaring_rank(s, c + 1));
        roaring_cursor cursor;
        roaring_seek(s, &cursor, c++, rank);
        for (; rank < stop; rank++) {
            const ordo_key_form key = (ordo_key_form) roaring_next(&cursor);
            if (leaf->place & HAMT_WIDE)
                ((__global ordo_key_form *) block)[rank - begin.rank] = key;
            else
                ((__global ushort *) block)[rank - begin.rank] = (ushort) (key - leaf->first);
        }
    }
}

/* Writes the blocks of new leaves, and the members `sectors` of their records. */
ORDO_KERNEL(RUN_GROUP)
void roaring_fill_leaves(ROARING_SET, __global const roaring_start *leaves, uint n_leaves, __global hamt_leaf *records,
                         __global uchar *pool)
{
    const roaring_set s = ROARING_SET_HERE;
    RUN_EACH (uint, k, n_leaves) {
        const roaring_start begin = leaves[k];
        const uint          end = leaves[k + 1].rank;
        const hamt_leaf     leaf = records[k];
        __global uchar     *block = pool + hamt_block_at(leaf.place);
        if (end - begin.rank > leaf_max)
            roaring_fill_bitmap(&s, begin.container, &records[k], (__global uint *) block);
        else
            roaring_fill_list(&s, begin, end, &leaf, block);
    }
}
