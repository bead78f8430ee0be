/* SPDX-License-Identifier: Apache-2.0 */
/* The local pass of the hybrid radix sort (sort_histogram.cl). Earlier passes leave segments of elements with equal top
 * digits. Each work-group sorts a range of whole segments in four steps:
 *
 *    1  count    maps the keys to bins, in ascending order, and counts each bin's keys
 *    2  spread   puts each element's index into its bin, in any order
 *    3  rank     compares each element with the others of its bin, by key and then by index
 *    4  gather   writes keys and values in sorted order */
#pragma once
#include "device/atomic.cl"
#include "group/scan.cl"
#include "shared/key.h"
#include "shared/sort.h"

/* Built together: sort_bounds sort_local */

#ifndef LOCAL_ITEMS
#define LOCAL_ITEMS 8
#endif
#define LOCAL_TILE (GROUP_SIZE * LOCAL_ITEMS)
#if LOCAL_TILE > 32768 || LOCAL_ITEMS % 2
#error "LOCAL_ITEMS must be even, and a range at most 32768 elements: an index and a count have 16 bits"
#endif

/* The kernel sort_large sorts a range that has a bin of more elements, because each element is compared with all others
 * of its bin. */
#define LOCAL_BIN_MAX 256

/* Ranges of 16-byte keys are sorted by up to two launches of sort_local. The first one divides the interval of a
 * range's keys into bins, and leaves ranges that have a bin of more than LOCAL_CROWDED elements. The second one
 * (LOCAL_SEGMENTS 1) maps each segment of such a range to other bins. 8-byte keys have no second launch, because their
 * plans have few such ranges. */
#define LOCAL_CROWDED 48
#ifndef LOCAL_SEGMENTS
#define LOCAL_SEGMENTS 0
#endif
#define LOCAL_FULL (KEY_BITS > 64 && !LOCAL_SEGMENTS ? LOCAL_CROWDED : LOCAL_BIN_MAX)

/* A segment is a sequence of keys that have equal bits from `local_bit` up. Returns the index after the segment that
 * contains keys[at - 1]. */
ORDO_FN uint local_segment_end(__global const ordo_key *keys, uint count, uint at, uint local_bit)
{
    const ordo_key_form segment = key_above(key_bits(keys[at - 1]), local_bit);
    uint                step = 64, first = at, end = at;
    while (end < count && key_same(key_above(key_bits(keys[end]), local_bit), segment)) {
        first = end + 1;
        end = count - end > step ? end + step : count;
        step *= 2;
    }
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (key_same(key_above(key_bits(keys[middle]), local_bit), segment))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Sets bounds[r] to the first element of range r (the part that one work-group sorts), and bounds[ranges] to
 * `count`. */
ORDO_KERNEL(GROUP_SIZE)
void sort_bounds(__global const ordo_key *keys_out, __global const ordo_key *keys_spare, __global const uint *plan,
                 __global uint *bounds, struct sort_local s)
{
    const uint range = (uint) get_global_id(0), local_bit = plan[SORT_PLAN_LOCAL];
    if (local_bit == SORT_NO_LOCAL || range > s.ranges)
        return;
    const bool               from_out = (s.passes - plan[SORT_PLAN_PASSES]) % 2 == 0;
    __global const ordo_key *keys = from_out ? keys_out + s.keys_out_at : keys_spare;
    bounds[range] = range == 0          ? 0
                    : range == s.ranges ? s.count
                                        : local_segment_end(keys, s.count, range * s.step, local_bit);
}

typedef struct {
    uint heads[LOCAL_TILE / 32]; /* bit e is 1 if a segment begins at element e of the range */
    uint width[LOCAL_TILE / 4];  /* word e / 4 belongs to the segments that begin at element e */
} local_segments;

typedef struct {
    /* Each word has two bins, in 16 bits each: first the bin's size, later the index of its first element. */
    uint bins[LOCAL_TILE / 2];
    union {
        ushort         index[LOCAL_TILE];
        local_segments segments;
    } of;
    uint scratch[GROUP_SCAN_WORDS];
    uint fullest;
} local_memory;

#ifndef LOCAL_BYTES
#define LOCAL_BYTES SORT_RANGE_LOCAL_BYTES(GROUP_SIZE, TEAM_WIDTH, LOCAL_ITEMS)
#endif
ORDO_STATIC_ASSERT(sizeof(local_memory) <= LOCAL_BYTES, "the host reserves less local memory than a range needs");

typedef struct {
    ordo_key_form least;
    uint          first_bit, bits, scale;
} local_map;

ORDO_FN local_map local_map_of(ordo_key_form least, ordo_key_form greatest, uint first_bit)
{
    local_map           m = { least, first_bit, 0, 0 };
    const ordo_key_form span = key_minus(greatest, least);
    m.bits = key_width(span | key_low_bits(1));
    const uint top = key_top(span, m.bits);
    m.scale = (uint) (4294967296.0f * (float) LOCAL_TILE / ((float) top + 1.0f));
    return m;
}

ORDO_FN uint local_bin(local_map m, ordo_key_form form)
{
    const uint top = key_top(key_minus(form, m.least), m.bits);
    return min(mul_hi(top, m.scale), (uint) LOCAL_TILE - 1);
}

ORDO_FN uint local_half(__local const uint *bins, uint bin)
{
    return bins[bin / 2] >> bin % 2 * 16 & 0xffff;
}

/* Sets which[i] to the bin of this work-item's key i. Bins divide the interval of the range's keys evenly. */
ORDO_FN void local_bins_of_range(local_map m, const ordo_key_form *form, uint *which)
{
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++)
        which[i] = local_bin(m, form[i]);
}

/* Marks the first element of each segment. Clears the widths of segments. */
ORDO_FN void local_mark_heads(__local local_segments *l, __global const ordo_key *keys, uint count, uint local_bit)
{
    for (uint i = get_local_id(0); i < LOCAL_TILE / 32; i += GROUP_SIZE)
        l->heads[i] = 0;
    for (uint i = get_local_id(0); i < LOCAL_TILE / 4; i += GROUP_SIZE)
        l->width[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint          e = min((uint) get_local_id(0) + i * GROUP_SIZE, count - 1);
        const ordo_key_form here = key_above(key_bits(keys[e]), local_bit);
        if (e == 0 || !key_same(here, key_above(key_bits(keys[e - 1]), local_bit)))
            ordo_local_or(&l->heads[e / 32], 1u << e % 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Returns the index of the first element of e's segment in the upper half, and the segment's size in the lower half. */
ORDO_FN uint local_segment_of(__local const local_segments *l, uint count, uint e)
{
    const uint upto = (2u << e % 32) - 1;
    uint       first = e / 32, last = e / 32, before = l->heads[first] & upto, after = l->heads[last] & ~upto;

    while (!before)
        before = l->heads[--first];
    while (!after && ++last < LOCAL_TILE / 32)
        after = l->heads[last];
    first = first * 32 + 31 - clz(before);
    return first << 16 | ((after ? last * 32 + 31 - clz(after & (0 - after)) : count) - first);
}

/* Returns a number that ascends with the logarithm of the low `width` bits of `form`. It is less than
 * (width + 1) << 24. */
ORDO_FN uint local_logarithm(ordo_key_form form, uint width)
{
    const ordo_key_form low = form & key_low_bits(width);
    const uint          its_width = key_same(low, key_low_bits(0)) ? 0 : key_width(low);
    return its_width << 24 | key_top(low, its_width) << 1 >> 8;
}

/* Returns a key's bin of the `size` bins of its segment. The keys differ in their low `width` bits. The value of these
 * bits selects the bin as much as their logarithm does, because small numbers may lie beside great ones. */
ORDO_FN uint local_bin_of_segment(ordo_key_form form, uint width, uint size)
{
    const uint even = mul_hi(key_top(form, width), size);
    const uint curved = mul_hi(local_logarithm(form, width), (size << 8) / (width + 1));
    return (even + curved) / 2;
}

/* Sets which[i] to the bin of this work-item's key i. Each segment has a bin for each of its elements. The whole group
 * must call. */
ORDO_FN void local_bins_of_segments(__local local_segments *l, __global const ordo_key *keys, uint count,
                                    uint first_bit, uint local_bit, const ordo_key_form *form, uint *which)
{
    local_mark_heads(l, keys, count, local_bit);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        which[i] = local_segment_of(l, count, min((uint) get_local_id(0) + i * GROUP_SIZE, count - 1));
        const uint          first = which[i] >> 16;
        const ordo_key_form differ = form[i] ^ key_above(key_bits(keys[first]), first_bit);
        if (!key_same(differ, key_low_bits(0)))
            ordo_local_max(&l->width[first / 4], key_width(differ));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint e = get_local_id(0) + i * GROUP_SIZE, first = which[i] >> 16, width = l->width[first / 4];
        /* Equal keys keep their order. */
        which[i] = width ? first + local_bin_of_segment(form[i], width, which[i] & 0xffff) : min(e, count - 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Step 1 (count). which[i] is the bin of this work-item's key i. Afterwards, its upper half is the bin, and its lower
 * half is a unique index in this bin. */
ORDO_FN void local_count(__local local_memory *l, uint count, uint *which)
{
    for (uint i = get_local_id(0); i < LOCAL_TILE / 2; i += GROUP_SIZE)
        l->bins[i] = 0;
    if (get_local_id(0) == 0)
        l->fullest = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint bin = which[i], shift = bin % 2 * 16;
        which[i] = bin << 16;
        if (get_local_id(0) + i * GROUP_SIZE < count)
            which[i] |= ordo_local_add(&l->bins[bin / 2], 1u << shift) >> shift & 0xffff;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Replaces each bin's count by the index of its first element. Sets l->fullest to the greatest count if it exceeds
 * LOCAL_FULL. Ends with a barrier. */
ORDO_FN void local_place(__local local_memory *l)
{
    __local uint *mine = l->bins + get_local_id(0) * (LOCAL_ITEMS / 2);
    uint          two[LOCAL_ITEMS / 2], sum = 0, fullest = 0, all;
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS / 2; i++) {
        two[i] = mine[i];
        sum += (two[i] & 0xffff) + (two[i] >> 16);
        fullest = max(fullest, max(two[i] & 0xffff, two[i] >> 16));
    }
    uint before = group_scan_add(sum, l->scratch, &all);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS / 2; i++) {
        const uint low = two[i] & 0xffff;
        mine[i] = before | (before + low) << 16;
        before += low + (two[i] >> 16);
    }
    if (fullest > LOCAL_FULL)
        ordo_local_max(&l->fullest, fullest);
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN void local_spread(__local local_memory *l, uint count, const uint *which)
{
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint e = get_local_id(0) + i * GROUP_SIZE;
        if (e < count)
            l->of.index[local_half(l->bins, which[i] >> 16) + (which[i] & 0xffff)] = (ushort) e;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN uint local_rank(__local const local_memory *l, __global const ordo_key *keys, uint count, uint first_bit,
                        uint e, ordo_key_form form, uint bin)
{
    const uint first = local_half(l->bins, bin);
    const uint end = bin + 1 < LOCAL_TILE ? local_half(l->bins, bin + 1) : count;
    uint       place = first;
    if (end - first == 1)
        return first;
    for (uint at = first; at < end; at++) {
        const uint          other = l->of.index[at];
        const ordo_key_form its = key_above(key_bits(keys[other]), first_bit);
        place += key_before(its, form) || (key_same(its, form) && other < e);
    }
    return place;
}

/* Step 3 (rank). */
ORDO_FN void local_sort(__local local_memory *l, __global const ordo_key *keys, uint count, uint first_bit,
                        const ordo_key_form *form, uint *which)
{
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint e = get_local_id(0) + i * GROUP_SIZE;
        if (e < count)
            which[i] = local_rank(l, keys, count, first_bit, e, form[i], which[i] >> 16);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint e = get_local_id(0) + i * GROUP_SIZE;
        if (e < count)
            l->of.index[which[i]] = (ushort) e;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Elements with similar keys share a bin. If a bin gets more than LOCAL_FULL elements, the next launch must sort the
 * range: bounds[s.ranges + 1 + range] becomes 1. The output may be the input, because all reads precede the writes. */
ORDO_KERNEL(GROUP_SIZE)
void sort_local(PAIRS_OUT(out), PAIRS_IN(spare), __global const uint *plan, __global uint *bounds, struct sort_local s)
{
    __local local_memory l;
    const uint           local_bit = plan[SORT_PLAN_LOCAL], range = (uint) get_group_id(0), lid = get_local_id(0);
    if (local_bit == SORT_NO_LOCAL)
        return;
    const uint first = bounds[range], count = bounds[range + 1] - first;
    if (count == 0 || count > s.range_max)
        return;
    if (LOCAL_SEGMENTS && !bounds[s.ranges + 1 + range])
        return;
    const bool from_out = (s.passes - plan[SORT_PLAN_PASSES]) % 2 == 0;
    keys_out += s.keys_out_at + first;
    __global const ordo_key *keys = from_out ? keys_out : keys_spare + first;
    const ordo_key_form      below = key_low_bits(local_bit);
    const local_map          m = local_map_of(key_above(key_bits(keys[0]) & ~below, s.first_bit),
                                              key_above(key_bits(keys[count - 1]) | below, s.first_bit), s.first_bit);
    ordo_key_form            form[LOCAL_ITEMS];
    uint                     which[LOCAL_ITEMS];
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++)
        form[i] = key_above(key_bits(keys[min(lid + i * GROUP_SIZE, count - 1)]), s.first_bit);
    if (LOCAL_SEGMENTS)
        local_bins_of_segments(&l.of.segments, keys, count, s.first_bit, local_bit, form, which);
    else
        local_bins_of_range(m, form, which);
    local_count(&l, count, which);
    local_place(&l);
    const bool left = l.fullest > 0;
    if (lid == 0)
        bounds[s.ranges + 1 + range] = left;
    if (left)
        return;
    local_spread(&l, count, which);
    local_sort(&l, keys, count, s.first_bit, form, which);

    __global ordo_value       *out_values = PAIR_VALUES(out, s.values_out_at + first);
    __global const ordo_value *spare_values = PAIR_VALUES(spare, first), *values = from_out ? out_values : spare_values;
    ordo_key                   key[LOCAL_ITEMS];
    ordo_value                 value[LOCAL_ITEMS];
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint index = l.of.index[min(lid + i * GROUP_SIZE, count - 1)];
        key[i] = keys[index];
        if (ORDO_VALUE_BYTES)
            value[i] = values[index];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < LOCAL_ITEMS; i++) {
        const uint place = lid + i * GROUP_SIZE;
        if (place < count) {
            keys_out[place] = key[i];
            if (ORDO_VALUE_BYTES)
                out_values[place] = value[i];
        }
    }
}
