/* SPDX-License-Identifier: Apache-2.0 */
/* Counts all digits of a radix sort in one read of the keys. For keys of 8 and 16 bytes, also plans the passes
 * (shared/sort.h): a digit that is equal in all keys needs no pass. */

/* A plan may end with a *local pass*. If the top digits divide the keys into small segments, passes sort by these
 * digits only. The local pass (sort_local.cl) then sorts each segment. Stehle and Jacobsen, A Memory
 * Bandwidth-Efficient Hybrid Radix Sort on GPUs (SIGMOD 2017). */
#pragma once
#include "group/last_group.cl"
#include "group/sort_tile.cl"

#ifndef HISTOGRAM_COPIES
#define HISTOGRAM_COPIES 1
#endif
#define PASSES_MAX     HISTOGRAM_PASSES_MAX(KEY_BITS, RANK_BITS)
#define COUNTERS_WORDS COUNTER_WORDS(KEY_BITS, RANK_BITS, HISTOGRAM_COPIES)

typedef struct {
    /* `greatest` is the greatest digit plus 1, `least` is RANK_RADIX minus the least digit. Atomic max updates both. */
    uint greatest, least;
} histogram_digit;

typedef struct {
    uint            counts[COUNTERS_WORDS];
    uint            scratch[GROUP_SCAN_WORDS];
    uint            shared; /* by the whole group, for one result at a time */
    histogram_digit digit[PASSES_MAX];
    sort_digit      passes[PASSES_MAX];
} histogram_local;

#ifndef HISTOGRAM_BYTES
#define HISTOGRAM_BYTES HISTOGRAM_LOCAL_BYTES(KEY_BITS, RANK_BITS, HISTOGRAM_COPIES, GROUP_SIZE, TEAM_WIDTH)
#endif
ORDO_STATIC_ASSERT(sizeof(histogram_local) <= HISTOGRAM_BYTES,
                   "the host reserves less local memory than the histogram needs");

#define HISTOGRAM_AHEAD 4

/* Reads the digit positions from l->passes. To compute them for each key would slow a sort of 2^26 keys of 4 bytes from
 * 1.43 to 1.74 ms on an H200. */
ORDO_FN void histogram_count(__global const ordo_key *keys, struct sort_histogram h, __local histogram_local *l)
{
    const ulong stride = get_global_size(0);
    const uint  copy = get_local_id(0) % HISTOGRAM_COPIES;
    for (ulong first = get_global_id(0); first < h.count; first += HISTOGRAM_AHEAD * stride) {
        ordo_key_form form[HISTOGRAM_AHEAD];
        ORDO_UNROLL
        for (uint i = 0; i < HISTOGRAM_AHEAD; i++)
            form[i] = key_bits(keys[min(first + i * stride, (ulong) h.count - 1)]);
        for (uint pass = 0; pass < h.passes; pass++) {
            const sort_digit d = l->passes[pass];
            ORDO_UNROLL
            for (uint i = 0; i < HISTOGRAM_AHEAD; i++) {
                const uint digit = rank_digit(form[i], d.shift, d.mask);
                if (first + i * stride < h.count)
                    ordo_local_add(&l->counts[(pass * RANK_RADIX + digit) * HISTOGRAM_COPIES + copy], 1);
            }
        }
    }
}

/* Writes the output index of each digit's first element to `control`, and zeroes the counts. Only the group that
 * finishes last may call. */
ORDO_FN void histogram_scan(__global uint *counts, __global uint *control, struct sort_histogram h,
                            __local histogram_local *l)
{
    for (uint pass = get_local_id(0); pass < PASSES_MAX; pass += GROUP_SIZE) {
        l->digit[pass].greatest = 0;
        l->digit[pass].least = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint pass = 0; pass < h.passes; pass++) {
        uint count[RANK_DIGITS_PER_ITEM], sum = 0, all;
        RANK_FOR_MY_DIGITS(digit, j)
        {
            count[j] = ordo_exchange(&counts[pass * RANK_RADIX + digit], 0);
            sum += count[j];
            if (SORT_PLANNED && count[j]) {
                ordo_local_max(&l->digit[pass].greatest, digit + 1);
                ordo_local_max(&l->digit[pass].least, RANK_RADIX - digit);
            }
        }
        uint before = group_scan_add(sum, l->scratch, &all);
        RANK_FOR_MY_DIGITS(digit, j)
        {
            control[h.bases_word + 2 * pass * RANK_RADIX + digit] = before;
            before += count[j];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN bool histogram_varies(__local const histogram_local *l, uint digit)
{
    return l->digit[digit].greatest + l->digit[digit].least != RANK_RADIX + 1;
}

#define SAMPLE_CELLS (COUNTERS_WORDS >= 8192 ? 8192 : COUNTERS_WORDS >= 4096 ? 4096 : 2048)

#if SORT_PLANNED && COUNTERS_WORDS >= 2048
typedef struct {
    float mean;    /* For an average element, the number of other elements that have its prefix. */
    float fullest; /* Fraction of all elements with the most frequent prefix. */
} sample_prefixes;

#define SAMPLE_AHEAD 8

/* Estimates from a sample how many elements have equal prefixes. A prefix is the ordered form of a key without its
 * `shift` lowest bits. The whole group must call. */
ORDO_FN sample_prefixes sample_by_prefix(__global const ordo_key *keys, uint count, uint shift,
                                         __local histogram_local *l)
{
    const uint      n = sort_sample_size(count), step = count / n, lid = get_local_id(0);
    uint            pairs = 0, fullest = 0;
    sample_prefixes out;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint cell = lid; cell < SAMPLE_CELLS; cell += GROUP_SIZE)
        l->counts[cell] = 0;
    if (lid == 0)
        l->shared = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = lid; first < n; first += SAMPLE_AHEAD * GROUP_SIZE) {
        ulong hash[SAMPLE_AHEAD];
        ORDO_UNROLL
        for (uint i = 0; i < SAMPLE_AHEAD; i++)
            hash[i] =
                key_hash(key_above(key_bits(keys[sort_sample_at(min(first + i * GROUP_SIZE, n - 1), step)]), shift));
        ORDO_UNROLL
        for (uint i = 0; i < SAMPLE_AHEAD; i++)
            if (first + i * GROUP_SIZE < n)
                ordo_local_add(&l->counts[(uint) (hash[i] >> 32) * 0x85ebca6bu >> 16 & (SAMPLE_CELLS - 1)], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint cell = lid; cell < SAMPLE_CELLS; cell += GROUP_SIZE) {
        const uint here = l->counts[cell];
        pairs += here ? min(here * (here - 1), 0xffffffffu / SAMPLE_CELLS) : 0;
        fullest = max(fullest, here);
    }
    ordo_local_max(&l->shared, fullest);
    const uint all = group_reduce_add(pairs, l->scratch);
    barrier(CLK_LOCAL_MEM_FENCE);
    const float ordered_pairs = (float) n * (float) (n - 1);
    out.mean = ((float) all / ordered_pairs - 1.0f / (float) SAMPLE_CELLS) * (float) count;
    out.fullest = (float) l->shared / (float) n;
    return out;
}

/* One work-group sorts each segment. If a segment exceeded this fraction of all elements, the other groups would finish
 * early and idle. */
#define SAMPLE_SHARE_MAX (1.0f / 400.0f)
/* Maximum mean number of comparisons per element in the local pass. The local pass compares each element with all
 * others of its bin (elements with similar keys). With 64 comparisons, an H200 sorts 3.3 G pairs with 16-byte keys per
 * second (2^26 pairs), and 4.3 G without a local pass (2^24 pairs). */
#define SAMPLE_BIN_MAX (KEY_BITS > 64 ? 24.0f : 96.0f)
/* plan_top_digits estimates the sizes of bins. It assumes that keys with equal top digits and equal next
 * SAMPLE_BIN_BITS bits share a bin. */
#define SAMPLE_BIN_BITS 8

#if KEY_BITS > 64
#define PLAN_DIGITS_MAX 10

/* Returns the number of top digits to sort by before a local pass (sort_local.cl), counted from digit `top` down.
 * Returns 0 if a local pass is not worthwhile. The whole group must call. */
ORDO_FN uint plan_top_digits(__global const ordo_key *keys, struct sort_histogram h, uint top, uint varying,
                             __local histogram_local *l)
{
    uint found = 0, digits = 2, passes = 2;
    bool bins = false, searches = varying >= SORT_LOCAL_DIGITS;
    while (searches) {
        const uint            low = sort_digit_of(top + 1 - digits, h.first_bit, h.bits, h.passes).shift;
        const sample_prefixes alike =
            sample_by_prefix(keys, h.count, bins ? low - min(low, (uint) SAMPLE_BIN_BITS) : low, l);
        const bool few =
            alike.mean <= (bins ? SAMPLE_BIN_MAX : (float) h.segment_limit) && alike.fullest <= SAMPLE_SHARE_MAX;
        found = few && bins ? digits : 0;
        bins = few && !bins;
        if (!bins && found == 0) {
            digits++;
            passes += digits <= top + 1 && histogram_varies(l, top + 1 - min(digits, top + 1));
        }
        searches = bins || (found == 0 && digits <= min(top + 1, (uint) PLAN_DIGITS_MAX) &&
                            passes + SORT_LOCAL_DIGITS - 2 <= varying);
    }
    return found;
}
#else
ORDO_FN uint plan_top_digits(__global const ordo_key *keys, struct sort_histogram h, uint top, uint varying,
                             __local histogram_local *l)
{
    uint found = 0, digits = 1;
    bool searches = varying >= SORT_LOCAL_DIGITS;
    while (searches) {
        const bool            bins = digits == 1;
        const uint            low = sort_digit_of(top + 1 - max(digits, 2u), h.first_bit, h.bits, h.passes).shift;
        const sample_prefixes alike =
            sample_by_prefix(keys, h.count, bins ? low - min(low, (uint) SAMPLE_BIN_BITS) : low, l);
        const bool few =
            alike.mean <= (bins ? SAMPLE_BIN_MAX : (float) h.segment_limit) && alike.fullest <= SAMPLE_SHARE_MAX;
        found = few && !bins ? digits : 0;
        digits++;
        searches = found == 0 && few == bins && digits <= 3 && digits + SORT_LOCAL_DIGITS - 2 <= varying;
    }
    return found;
}
#endif
#else
ORDO_FN uint plan_top_digits(__global const ordo_key *keys, struct sort_histogram h, uint top, uint varying,
                             __local histogram_local *l)
{
    (void) keys, (void) h, (void) top, (void) varying, (void) l;
    return 0;
}
#endif

ORDO_FN void plan_local(__global uint *plan, struct sort_histogram h, uint low, uint top,
                        __local const histogram_local *l)
{
    uint passes = 0;
    for (uint digit = low; digit <= top; digit++)
        if (histogram_varies(l, digit))
            plan[SORT_PLAN_DIGITS + passes++] = digit;
    plan[SORT_PLAN_LOCAL] = sort_digit_of(low, h.first_bit, h.bits, h.passes).shift;
    plan[SORT_PLAN_PASSES] = passes;
    for (uint pass = passes; pass < h.passes; pass++)
        plan[SORT_PLAN_DIGITS + pass] = SORT_IDLE;
}

/* Plans a pass for each digit that differs between keys, and at least one pass. Passes write to two buffers in turn.
 * The last pass writes to the output only if an even number of the h.passes passes is omitted. */
ORDO_FN void plan_all(__global uint *plan, struct sort_histogram h, uint varying, __local const histogram_local *l)
{
    const uint wanted = max(varying, 1u), passes = wanted + (h.passes - wanted) % 2;
    uint       spare = passes - varying, pass = 0;
    for (uint digit = 0; digit < h.passes; digit++) {
        const bool varies = histogram_varies(l, digit);
        if (!varies && spare == 0)
            continue;
        spare -= varies ? 0 : 1;
        plan[SORT_PLAN_DIGITS + pass++] = digit;
    }
    for (; pass < h.passes; pass++)
        plan[SORT_PLAN_DIGITS + pass] = SORT_IDLE;
    plan[SORT_PLAN_LOCAL] = SORT_NO_LOCAL;
    plan[SORT_PLAN_PASSES] = passes;
}

/* The whole group that finishes last must call. A barrier must precede, so that l->digit is visible. */
ORDO_FN void histogram_plan(__global const ordo_key *keys, __global uint *plan, struct sort_histogram h,
                            __local histogram_local *l)
{
    uint varying = 0, top = 0;
    for (uint digit = 0; digit < h.passes; digit++) {
        varying += histogram_varies(l, digit);
        top = histogram_varies(l, digit) ? digit : top;
    }
    const uint digits = h.segment_limit ? plan_top_digits(keys, h, top, varying, l) : 0;
    if (get_local_id(0) != 0)
        return;
    if (digits)
        plan_local(plan, h, top + 1 - digits, top, l);
    else
        plan_all(plan, h, varying, l);
}

/* Zeroes the first h.bases_word words of `control`. `counters` has 1 + h.passes * RANK_RADIX words. They must be 0
 * before, and are 0 after. */
ORDO_KERNEL(GROUP_SIZE)
void sort_histogram(__global const ordo_key *keys, __global uint *counters, __global uint *control,
#if SORT_PLANNED
                    __global uint *plan,
#endif
                    struct sort_histogram h)
{
    __local histogram_local l;
    const uint              lid = get_local_id(0), words = h.passes * RANK_RADIX;
    const ulong             stride = get_global_size(0);
    for (ulong i = get_global_id(0); i < h.bases_word; i += stride)
        control[i] = 0;
    for (uint i = lid; i < words * HISTOGRAM_COPIES; i += GROUP_SIZE)
        l.counts[i] = 0;
    for (uint pass = lid; pass < h.passes; pass += GROUP_SIZE)
        l.passes[pass] = sort_digit_of(pass, h.first_bit, h.bits, h.passes);
    barrier(CLK_LOCAL_MEM_FENCE);

    keys += h.keys_at;
    histogram_count(keys, h, &l);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = lid; i < words; i += GROUP_SIZE) {
        uint sum = 0;
        for (uint copy = 0; copy < HISTOGRAM_COPIES; copy++)
            sum += l.counts[i * HISTOGRAM_COPIES + copy];
        if (sum)
            ordo_add(&counters[1 + i], sum);
    }
    if (group_is_last(&counters[0], (uint) get_num_groups(0), &l.shared)) {
        histogram_scan(counters + 1, control, h, &l);
#if SORT_PLANNED
        histogram_plan(keys, plan, h, &l);
#endif
    }
}
