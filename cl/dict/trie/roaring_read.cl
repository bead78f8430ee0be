/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes u32 or u64 keys from the Roaring portable format (shared/roaring.h). Each kernel uses only input that an
 * earlier kernel has checked. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "shared/key.h"
#include "shared/roaring.h"

/* Built together: roaring_walk roaring_containers roaring_slices roaring_counts roaring_keys */

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

/* Counts the keys of each slice . Reports containers whose keys do not ascend. */
ORDO_KERNEL(RUN_GROUP)
void roaring_slices(__global const uchar *data, ulong data_at, __global const roaring_container *containers,
                    __global const ulong *starts, uint n, uint n_slices, __global ulong *counts, __global uint *wrong)
{
    RUN_EACH (uint, s, n_slices + 1) {
        uint count = 0;
        if (s < n_slices) {
            const uint              c = each_owner(starts, 0, n - 1, s);
            const roaring_container it = containers[c];
            const uint              begin = (s - (uint) starts[c]) * ROARING_SLICE;
            bool                    sound = true;
            for (uint j = begin; j < min(begin + ROARING_SLICE, it.units); j++) {
                uint keys;
                sound = roaring_ascends(data + data_at + it.begin, it.form, j, &keys) && sound;
                count += keys;
            }
            if (!sound)
                ordo_min(&wrong[ROARING_FAULT_ORDER], c);
        }
        counts[s] = count;
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

/* `total`, the number of keys, must not be 0. counts[s] must be the number of keys in all slices before slice s. */
ORDO_KERNEL(RUN_GROUP)
void roaring_keys(__global const uchar *data, ulong data_at, __global const roaring_container *containers,
                  __global const ulong *starts, uint n, __global const ulong *counts, uint n_slices, ulong total,
                  __global ordo_key *keys)
{
    const uint each = ROARING_SHARE(ORDO_CPU);
    RUN_EACH (ulong, share, (total + each - 1) / each) {
        const ulong    begin = share * each, end = min(begin + each, total);
        uint           slice = 0;
        ulong          stop = begin;
        roaring_cursor cursor;
        for (ulong at = begin; at < end; at++) {
            if (at == stop) {
                slice = at == begin ? each_owner(counts, 0, n_slices - 1, at)
                                    : each_owner_from(counts, slice, n_slices, at);
                stop = counts[slice + 1];
                const uint              c = each_owner(starts, 0, n - 1, slice);
                const roaring_container it = containers[c];
                roaring_move_to(&cursor, data + data_at, &it, slice - (uint) starts[c], (uint) (at - counts[slice]));
            }
            keys[at] = (ordo_key) roaring_next(&cursor);
        }
    }
}
