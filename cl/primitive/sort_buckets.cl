/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort for CPUs. First, sort_bucket_scatter moves the elements to buckets by the highest digit that
 * varies. Then one work-item sorts each bucket in its core's cache. */

/* One core would sort a long bucket while other cores are idle. If there is a long bucket, the kernels set the state in
 * `plan` to SORT_BUCKET_NONE, and the kernels of sort_chunked.cl sort instead. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/sort.h"

#define BUCKETS (1 << SORT_BUCKET_BITS)

ORDO_FN ordo_key_form bucket_form(ordo_key key, struct sort_buckets b)
{
    return key_above(key_bits(key), b.first_bit) & key_above(KEY_GREATEST, KEY_BITS - b.bits);
}

/* 1 if keys and values have the same size. Then the spare buffer stores each value after its key, because a scatter of
 * such pairs is faster. */
#define PAIRED (ORDO_VALUE_BYTES == sizeof(ordo_key))

typedef struct {
    ordo_key   key;
    ordo_value value;
} bucket_element;

typedef struct {
    __global ordo_key       *keys;
    __global ordo_value     *values;
    __global bucket_element *pairs;
} bucket_elements;

ORDO_FN bucket_element bucket_load(bucket_elements from, bool paired, uint at)
{
    if (paired)
        return from.pairs[at];
    return (bucket_element) { from.keys[at], ORDO_VALUE_BYTES ? from.values[at] : 0 };
}

ORDO_FN void bucket_store(bucket_elements to, bool paired, uint at, bucket_element element)
{
    if (paired) {
        to.pairs[at] = element;
        return;
    }
    to.keys[at] = element.key;
    if (ORDO_VALUE_BYTES)
        to.values[at] = element.value;
}

ORDO_FN ordo_key bucket_key(bucket_elements from, bool paired, uint at)
{
    return paired ? from.pairs[at].key : from.keys[at];
}

typedef struct {
    uint first, end;
} bucket_part;

ORDO_FN bucket_part bucket_chunk(struct sort_buckets b, uint chunk)
{
    const uint first = chunk * b.chunk;
    return (bucket_part) { first, first + min(b.count - first, b.chunk) };
}

ORDO_FN uint bucket_of(ordo_key_form form, uint shift)
{
    return key_digit(form, shift, BUCKETS - 1);
}

ORDO_FN uint bucket_shift(ordo_key_form span)
{
    return max(key_width(span), (uint) SORT_BUCKET_BITS) - SORT_BUCKET_BITS;
}

#define SAMPLE 512u

ORDO_KERNEL(1)
void sort_bucket_sample(__global const ordo_key *keys, __global uint *plan, struct sort_buckets b)
{
    uint                count[BUCKETS], longest = 0;
    const uint          step = b.count / SAMPLE;
    const ordo_key_form one = bucket_form(keys[b.keys_in_at], b);
    ordo_key_form       span = KEY_LEAST;
    keys += b.keys_in_at;
    for (uint i = 0; i < SAMPLE; i++)
        span |= bucket_form(keys[i * step], b) ^ one;
    for (uint i = 0; i < BUCKETS; i++)
        count[i] = 0;
    for (uint i = 0; i < SAMPLE; i++)
        count[bucket_of(bucket_form(keys[i * step], b), bucket_shift(span))]++;
    for (uint i = 0; i < BUCKETS; i++)
        longest = max(longest, count[i]);
    /* The sample only estimates bucket sizes, so the estimate may exceed b.longest by a quarter. */
    const bool skip =
        !key_same(span, KEY_LEAST) && (ulong) longest * b.count > (ulong) b.longest * (SAMPLE + SAMPLE / 4);
    plan[SORT_BUCKET_STATE] = skip ? SORT_BUCKET_NONE : SORT_BUCKET_SOME;
}

ORDO_KERNEL(1)
void sort_bucket_span(__global const ordo_key *keys, __global const uint *plan, __global ordo_key_form *spans,
                      struct sort_buckets b)
{
    const uint          chunk = (uint) get_group_id(0);
    const bucket_part   part = bucket_chunk(b, chunk);
    const ordo_key_form one = bucket_form(keys[b.keys_in_at], b);
    ordo_key_form       span = KEY_LEAST;
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_NONE)
        return;
    keys += b.keys_in_at;
    for (uint e = part.first; e < part.end; e++)
        span |= bucket_form(keys[e], b) ^ one;
    spans[chunk] = span;
}

ORDO_KERNEL(1)
void sort_bucket_digit(__global const ordo_key_form *spans, __global uint *plan, struct sort_buckets b)
{
    ordo_key_form span = KEY_LEAST;
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_NONE)
        return;
    for (uint chunk = 0; chunk < b.chunks; chunk++)
        span |= spans[chunk];
    plan[SORT_BUCKET_SHIFT] = bucket_shift(span);
    if (key_same(span, KEY_LEAST))
        plan[SORT_BUCKET_STATE] = SORT_BUCKET_ONE;
}

ORDO_KERNEL(1)
void sort_bucket_count(__global const ordo_key *keys, __global const uint *plan, __global uint *counts,
                       struct sort_buckets b)
{
    uint              count[BUCKETS];
    const uint        chunk = (uint) get_group_id(0), shift = plan[SORT_BUCKET_SHIFT];
    const bucket_part part = bucket_chunk(b, chunk);
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME)
        return;
    keys += b.keys_in_at;
    for (uint i = 0; i < BUCKETS; i++)
        count[i] = 0;
    for (uint e = part.first; e < part.end; e++)
        count[bucket_of(bucket_form(keys[e], b), shift)]++;
    for (uint i = 0; i < BUCKETS; i++)
        counts[i * b.chunks + chunk] = count[i];
}

/* Before the kernel, counts[i * b.chunks + chunk] is the number of the chunk's elements in bucket i. After the kernel,
 * it is the index of the first of these elements in the spare buffer. */
ORDO_KERNEL(1)
void sort_bucket_scan(__global uint *plan, __global uint *counts, struct sort_buckets b)
{
    uint before = 0, longest = 0;
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME)
        return;
    for (uint i = 0; i < BUCKETS; i++) {
        const uint begin = before;
        for (uint chunk = 0; chunk < b.chunks; chunk++) {
            const uint count = counts[i * b.chunks + chunk];
            counts[i * b.chunks + chunk] = before;
            before += count;
        }
        plan[SORT_BUCKET_ENDS + i] = before;
        longest = max(longest, before - begin);
    }
    if (longest > b.longest)
        plan[SORT_BUCKET_STATE] = SORT_BUCKET_NONE;
}

ORDO_KERNEL(1)
void sort_bucket_scatter(PAIRS_IN(in), PAIRS_OUT(spare), PAIRS_OUT(out), __global const uint *plan,
                         __global const uint *counts, struct sort_buckets b)
{
    uint                  next[BUCKETS];
    const uint            chunk = (uint) get_group_id(0), shift = plan[SORT_BUCKET_SHIFT];
    const bucket_part     part = bucket_chunk(b, chunk);
    const bucket_elements from = { (__global ordo_key *) keys_in + b.keys_in_at,
                                   (__global ordo_value *) PAIR_VALUES(in, b.values_in_at), 0 };
    const bucket_elements to = { keys_spare, PAIR_VALUES(spare, 0), (__global bucket_element *) keys_spare };
    const bucket_elements copy = { keys_out + b.keys_out_at, PAIR_VALUES(out, b.values_out_at), 0 };
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_NONE)
        return;
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_ONE) {
        for (uint e = part.first; e < part.end; e++)
            bucket_store(copy, false, e, bucket_load(from, false, e));
        return;
    }
    for (uint i = 0; i < BUCKETS; i++)
        next[i] = counts[i * b.chunks + chunk];
    for (uint e = part.first; e < part.end; e++) {
        const bucket_element element = bucket_load(from, false, e);
        bucket_store(to, PAIRED, next[bucket_of(bucket_form(element.key, b), shift)]++, element);
    }
}

/* Maximum bits per digit. The counters of wider digits would fill the L1 cache. */
#define DIGIT_BITS   9
#define DIGITS       (1 << DIGIT_BITS)
#define DIGIT_PASSES ((KEY_BITS + DIGIT_BITS - 1) / DIGIT_BITS)
/* Buckets with fewer than INSERTED elements are sorted by insertion only. */
#define INSERTED 24

/* Sorts the elements of `from` by insertion. Writes them to `out`, which may be the same array. If the sort needs more
 * than `most` moves, copies the remaining elements unsorted, and returns false. */
ORDO_FN bool bucket_insert(bucket_elements from, bool paired, bucket_elements out, uint count, ulong most,
                           struct sort_buckets b)
{
    ulong         moves = 0;
    ordo_key_form last = KEY_LEAST;
    for (uint e = 0; e < count; e++) {
        const bucket_element element = bucket_load(from, paired, e);
        const ordo_key_form  form = bucket_form(element.key, b);
        uint                 at = e;
        if (key_before(form, last) && moves <= most) {
            for (; at > 0 && key_before(form, bucket_form(out.keys[at - 1], b)); at--)
                bucket_store(out, false, at, bucket_load(out, false, at - 1));
            moves += e - at;
        } else {
            last = form;
        }
        bucket_store(out, false, at, element);
    }
    return moves <= most;
}

typedef struct {
    uint passes, low[DIGIT_PASSES], width[DIGIT_PASSES];
} bucket_digits;

/* Divides keys into digits, from the highest bit that is 1 in `span` down. Stops when the digits cover `bits` of the
 * bits that are 1 in `span`, or all of them. */
ORDO_FN bucket_digits bucket_digits_of(ordo_key_form span, uint bits)
{
    bucket_digits d;
    uint          varying = 0;
    for (d.passes = 0; !key_same(span, KEY_LEAST) && varying < bits; d.passes++) {
        const uint top = key_width(span), width = min(top, (uint) DIGIT_BITS), low = top - width;
        d.low[d.passes] = low;
        d.width[d.passes] = width;
        varying += key_ones(key_above(span, low));
        span &= key_low_bits(low);
    }
    return d;
}

ORDO_FN uint bucket_digit(ordo_key_form form, uint low, uint width)
{
    return key_digit(form, low, (1u << width) - 1);
}

/* Sorts by one digit. next[d] must be the number of elements with digit d. */
ORDO_FN void bucket_scatter(bucket_elements from, bool from_paired, bucket_elements to, bool to_paired, uint count,
                            uint low, uint width, __private uint next[DIGITS], struct sort_buckets b)
{
    uint before = 0;
    for (uint digit = 0; digit < 1u << width; digit++) {
        const uint here = next[digit];
        next[digit] = before;
        before += here;
    }
    for (uint e = 0; e < count; e++) {
        const bucket_element element = bucket_load(from, from_paired, e);
        bucket_store(to, to_paired, next[bucket_digit(bucket_form(element.key, b), low, width)]++, element);
    }
}

/* Sorts the elements of `spare` by the digits `d`. The result is in `out` if d.passes is odd, else in `spare`. */
ORDO_FN void bucket_passes(bucket_elements spare, bucket_elements out, uint count, bucket_digits d,
                           struct sort_buckets b)
{
    uint counts[DIGIT_PASSES][DIGITS];
    for (uint pass = 0; pass < d.passes; pass++)
        for (uint digit = 0; digit < DIGITS; digit++)
            counts[pass][digit] = 0;
    for (uint e = 0; e < count; e++) {
        const ordo_key_form form = bucket_form(bucket_key(spare, PAIRED, e), b);
        for (uint pass = 0; pass < d.passes; pass++)
            counts[pass][bucket_digit(form, d.low[pass], d.width[pass])]++;
    }
    for (uint pass = d.passes; pass-- > 0;)
        if ((d.passes - pass) % 2 == 1)
            bucket_scatter(spare, PAIRED, out, false, count, d.low[pass], d.width[pass], counts[pass], b);
        else
            bucket_scatter(out, false, spare, PAIRED, count, d.low[pass], d.width[pass], counts[pass], b);
}

ORDO_FN bool bucket_end(bucket_elements spare, bucket_elements out, uint passes, uint count, ulong most,
                        struct sort_buckets b)
{
    return passes % 2 ? bucket_insert(out, false, out, count, most, b)
                      : bucket_insert(spare, PAIRED, out, count, most, b);
}

ORDO_FN void bucket_sort(bucket_elements spare, bucket_elements out, uint count, struct sort_buckets b)
{
    ordo_key_form       span = KEY_LEAST;
    const ordo_key_form one = bucket_form(bucket_key(spare, PAIRED, 0), b);
    for (uint e = 1; e < count; e++)
        span |= bucket_form(bucket_key(spare, PAIRED, e), b) ^ one;
    if (count < INSERTED || key_same(span, KEY_LEAST)) {
        bucket_end(spare, out, 0, count, ~(ulong) 0, b);
        return;
    }
    /* First sorts by the highest bits that differ between keys: two more bits than the number `count` has. Few elements
     * agree in all these bits, so the insertion sort needs few moves. If it needs too many, passes by all bits
     * follow. */
    const bucket_digits some = bucket_digits_of(span, 34 - (uint) clz(count)), all = bucket_digits_of(span, KEY_BITS);
    bucket_passes(spare, out, count, some, b);
    if (bucket_end(spare, out, some.passes, count, 4 * (ulong) count, b))
        return;
    for (uint e = 0; e < count; e++)
        bucket_store(spare, PAIRED, e, bucket_load(out, false, e));
    bucket_passes(spare, out, count, all, b);
    bucket_end(spare, out, all.passes, count, ~(ulong) 0, b);
}

ORDO_KERNEL(1)
void sort_bucket_sort(PAIRS_OUT(spare), PAIRS_OUT(out), __global const uint *plan, struct sort_buckets b)
{
    const uint bucket = (uint) get_group_id(0), first = bucket ? plan[SORT_BUCKET_ENDS + bucket - 1] : 0;
    const uint count = plan[SORT_BUCKET_ENDS + bucket] - first;
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME || count == 0)
        return;
    const bucket_elements spare = { keys_spare + first, PAIR_VALUES(spare, first),
                                    (__global bucket_element *) keys_spare + first };
    const bucket_elements out = { keys_out + b.keys_out_at + first, PAIR_VALUES(out, b.values_out_at + first), 0 };
    bucket_sort(spare, out, count, b);
}
