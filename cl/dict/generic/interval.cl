/* SPDX-License-Identifier: Apache-2.0 */
/* Handles key ranges as intervals of ranks. A key's rank is the number of lesser keys. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "group/merge.cl"

/* Built together: interval_limit interval_bound interval_reverse */
/* Built together: interval_measure interval_gather interval_clip interval_erase interval_count interval_ends
 *                 interval_find interval_paint interval_push interval_tally */

#define INTERVAL_NONE 0xffffffffu

/* Range i has the ranks first[i] .. past[i] - 1. Keeps the least of these ranks: at most `limit`, and at most
 * limits[i]. lengths[i] becomes the number of kept ranks. ends[i] becomes the greatest kept rank. If `descending`,
 * keeps the greatest ranks instead, and ends[i] becomes the least kept rank. */
ORDO_KERNEL(RUN_GROUP)
void interval_limit(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                    __global const uint *first, __global const uint *past, __global const uint *limits, ulong limits_at,
                    uint limit, uint descending, __global uint *lengths, __global uint *ends)
{
    RUN_EACH (uint, i, n) {
        const bool some = key_upto(key_bits(lo[lo_at + i]), key_bits(hi[hi_at + i]));
        const uint most = limits ? min(limits[limits_at + i], limit) : limit;
        const uint length = some ? min(past[i] - first[i], most) : 0;
        lengths[i] = length;
        ends[i] = length == 0 ? 0 : descending ? past[i] - length : first[i] + length - 1;
    }
}

/* Writes bounds of the key ranges that kernel interval_limit has shortened. ends[i] must be the key with range i's
 * rank. It becomes the range's new upper bound or, if `descending`, its new lower bound. The other bound stays. An
 * empty range gets lo_out[i] > hi_out[i]. */
ORDO_KERNEL(RUN_GROUP)
void interval_bound(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                    __global const uint *lengths, __global const ordo_key *ends, uint descending,
                    __global ordo_key *lo_out, __global ordo_key *hi_out)
{
    RUN_EACH (uint, i, n) {
        const bool some = lengths[i] > 0;
        lo_out[i] = !some ? key_from_bits(key_of_digit(1, 0)) : descending ? ends[i] : lo[lo_at + i];
        hi_out[i] = !some ? key_from_bits(KEY_LEAST) : descending ? hi[hi_at + i] : ends[i];
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_outer(uint first, uint count, __global uint *ranks, __global ulong *offsets)
{
    RUN_EACH (uint, i, 2) {
        ranks[i] = first + i * (count - 1);
        offsets[i] = i * count;
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_reverse(__global const ulong *offsets, ulong offsets_at, uint n, ulong capacity,
                      __global ordo_key *keys_out, ulong keys_at, __global merge_value *values_out, ulong values_at)
{
    offsets += offsets_at;
    const ulong total = offsets[n];
    if (total > capacity)
        return;
    RUN_EACH (ulong, x, total) {
        const uint  q = each_owner(offsets, 0, n - 1, x);
        const ulong y = offsets[q] + offsets[q + 1] - 1 - x;
        if (x >= y)
            continue;
        if (keys_out) {
            const ordo_key key = keys_out[keys_at + x];
            keys_out[keys_at + x] = keys_out[keys_at + y];
            keys_out[keys_at + y] = key;
        }
#if ORDO_VALUE_BYTES
        if (values_out) {
            const merge_value value = values_out[values_at + x];
            values_out[values_at + x] = values_out[values_at + y];
            values_out[values_at + y] = value;
        }
#endif
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_within(__global const ordo_key *keys, __global const merge_value *values, __global const uchar *found,
                     uint n, __global const ordo_key *bounds, ulong bounds_at, uint forward,
                     __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out,
                     ulong values_out_at, __global uchar *found_out, ulong found_out_at)
{
    RUN_EACH (uint, i, n) {
        const ordo_key_form key = key_bits(keys[i]), bound = key_bits(bounds[bounds_at + i]);
        const bool          upto = key_upto(key, bound), from = !key_before(key, bound);
        const bool          within = found[i] && (forward ? upto : from);
        if (found_out)
            found_out[found_out_at + i] = within;
        if (!within)
            continue;
        if (keys_out)
            keys_out[keys_out_at + i] = keys[i];
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_out_at + i] = values[i];
#endif
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_measure(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                      __global const uint *first, __global uint *past, __global uint *numbers, __global ulong *lengths)
{
    RUN_EACH (uint, i, n + 1) {
        if (i == n) {
            lengths[n] = 0;
            break;
        }
        if (!key_upto(key_bits(lo[lo_at + i]), key_bits(hi[hi_at + i])))
            past[i] = first[i];
        numbers[i] = i;
        lengths[i] = past[i] - first[i];
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_gather(__global const uint *past, __global const uint *numbers, uint n, __global uint *ends)
{
    RUN_EACH (uint, j, n)
        ends[j] = past[numbers[j]];
}

/* Makes intervals of ranks disjoint. The intervals are sorted by begins[]. covered[j] is the greatest of ends[0] ..
 * ends[j - 1]. Raises begins[j] to covered[j]. lengths[j] becomes the number of ranks that interval j keeps. */
ORDO_KERNEL(RUN_GROUP)
void interval_clip(__global uint *begins, __global const uint *ends, __global const uint *covered, uint n,
                   __global ulong *lengths)
{
    RUN_EACH (uint, j, n + 1) {
        const uint begin = j < n ? max(begins[j], covered[j]) : 0;
        lengths[j] = j < n ? (ulong) max(ends[j], begin) - begin : 0;
        if (j < n)
            begins[j] = begin;
    }
}

/* Writes the bounds of disjoint intervals: the keys lo_out[j] and hi_out[j]. keys[j] must be the first key of interval
 * j. Its upper bound is the upper bound of range numbers[j]. Interval j has offsets[j + 1] - offsets[j] keys. If it is
 * empty, it gets lo_out[j] > hi_out[j]. */
ORDO_KERNEL(RUN_GROUP)
void interval_erase(__global const ordo_key *keys, __global const ordo_key *hi, ulong hi_at,
                    __global const uint *numbers, __global const ulong *offsets, uint n, __global ordo_key *lo_out,
                    __global ordo_key *hi_out)
{
    RUN_EACH (uint, j, n) {
        const bool some = offsets[j + 1] > offsets[j];
        lo_out[j] = some ? keys[j] : key_from_bits(key_of_digit(1, 0));
        hi_out[j] = some ? hi[hi_at + numbers[j]] : key_from_bits(KEY_LEAST);
    }
}

ORDO_KERNEL(RUN_GROUP)
void interval_count(__global const uint *first, __global const uint *past, uint n, __global uint *counts,
                    ulong counts_at)
{
    RUN_EACH (uint, i, n)
        counts[counts_at + i] = past[i] - first[i];
}

ORDO_KERNEL(RUN_GROUP)
void interval_ends(__global const uint *first, __global const uint *past, uint n, __global uint *ends)
{
    RUN_EACH (uint, i, n) {
        ends[i] = first[i];
        ends[(ulong) n + i] = past[i];
    }
}

ORDO_FN uint interval_less(__global const uint *sorted, uint m, uint x)
{
    uint low = 0, high = m;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Piece p has the ranks ends[p] .. ends[p + 1] - 1. Replaces the ranks first[i] and past[i] by the indices of the
 * pieces that begin there. ends[] is sorted. */
ORDO_KERNEL(RUN_GROUP)
void interval_find(__global const uint *ends, uint m, uint n, __global uint *first, __global uint *past)
{
    RUN_EACH (uint, i, n) {
        first[i] = interval_less(ends, m, first[i]);
        past[i] = interval_less(ends, m, past[i]);
    }
}

/* Interval i has the pieces first[i] .. past[i] - 1. Handles only intervals of 2^level to 2^(level + 1) - 1 pieces. Two
 * segments of 2^level pieces cover such an interval. If one of them begins at piece p, and owners[p] is greater than i,
 * owners[p] becomes i. */
ORDO_KERNEL(RUN_GROUP)
void interval_paint(__global const uint *first, __global const uint *past, uint n, uint level, __global uint *owners)
{
    RUN_EACH (uint, i, n) {
        const uint length = past[i] - first[i];
        if (length == 0 || 31 - clz(length) != level)
            continue;
        ordo_min(&owners[first[i]], i);
        ordo_min(&owners[past[i] - (1u << level)], i);
    }
}

/* A long segment is 2^(level + 1) neighbouring pieces, a short one 2^level pieces. An owner is the index of an
 * interval, or INTERVAL_NONE. from[p] is the owner of the long segment that begins at piece p, and to[p] becomes the
 * owner of the short one. A short segment is a half of two long segments, and gets the lesser of their owners. */
ORDO_KERNEL(RUN_GROUP)
void interval_push(__global const uint *from, uint m, uint level, __global uint *to)
{
    RUN_EACH (uint, p, m)
        to[p] = min(from[p], p >> level ? from[p - (1u << level)] : INTERVAL_NONE);
}

ORDO_KERNEL(RUN_GROUP)
void interval_tally(__global const uint *owners, __global const uint *ends, uint m, __global uint *counts,
                    ulong counts_at)
{
    RUN_EACH (uint, p, m - 1)
        if (owners[p] != INTERVAL_NONE && ends[p + 1] > ends[p])
            ordo_add(&counts[counts_at + owners[p]], ends[p + 1] - ends[p]);
}
