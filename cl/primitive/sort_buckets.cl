/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort for CPUs. First, sort_bucket_scatter moves the elements to buckets by the highest digit that
 * varies. Then one work-item sorts each bucket in its core's cache. */

/* If there is a long bucket, the kernels set the state in `plan` to SORT_BUCKET_NONE, and the kernels of
 * sort_chunked.cl sort instead. */
#pragma once
#include "device/atomic.cl"
#include "group/exchange.cl"
#include "shared/key.h"
#include "shared/sort.h"

#define BUCKETS_MAX (1 << SORT_BUCKET_BITS_MAX)

/* Returns the bits of an ordered form that the sort compares. */
ORDO_FN ordo_key_form bucket_bits(ordo_key_form form, struct sort_buckets b)
{
    return key_above(form, b.first_bit) & key_above(KEY_GREATEST, KEY_BITS - b.bits);
}

ORDO_FN ordo_key_form bucket_form(ordo_key key, struct sort_buckets b)
{
    return bucket_bits(key_bits(key), b);
}

/* The spare buffer holds ordered forms. So does a bucket of the output, until bucket_sort converts them to keys. */

/* 1 if keys and values have the same size. Then the spare buffer stores each value after its key, because a scatter of
 * such pairs is faster. */
#define PAIRED (8 * ORDO_VALUE_BYTES == KEY_BITS)

typedef struct {
    ordo_key_form form;
    ordo_value    value;
} bucket_element;

typedef struct {
    __global ordo_key_form  *forms;
    __global ordo_value     *values;
    __global bucket_element *pairs;
} bucket_elements;

ORDO_FN bucket_element bucket_load(bucket_elements from, bool paired, uint at)
{
    if (PAIRED && paired)
        return from.pairs[at];
    return (bucket_element) { from.forms[at], ORDO_VALUE_BYTES ? from.values[at] : (ordo_value) 0 };
}

/* Converts an element of the input, whose member `form` is the key. */
ORDO_FN bucket_element bucket_convert(bucket_element element)
{
    return (bucket_element) { key_bits(element.form), element.value };
}

ORDO_FN void bucket_store(bucket_elements to, bool paired, uint at, bucket_element element)
{
    if (PAIRED && paired) {
        to.pairs[at] = element;
        return;
    }
    to.forms[at] = element.form;
    if (ORDO_VALUE_BYTES)
        to.values[at] = element.value;
}

ORDO_FN ordo_key_form bucket_form_at(bucket_elements from, bool paired, uint at)
{
    return PAIRED && paired ? from.pairs[at].form : from.forms[at];
}

typedef struct {
    uint first, end;
} bucket_part;

ORDO_FN bucket_part bucket_chunk(struct sort_buckets b, uint chunk)
{
    const uint first = chunk * b.chunk;
    return (bucket_part) { first, first + min(b.count - first, b.chunk) };
}

/* Only every b.step-th work-group has a chunk. Some drivers run up to 32 consecutive work-groups on one thread. */
ORDO_FN bool bucket_has_chunk(struct sort_buckets b)
{
    return get_group_id(0) % b.step == 0;
}

ORDO_FN uint bucket_of(ordo_key_form form, uint shift, struct sort_buckets b)
{
    return key_digit(form, shift, (1u << b.bucket_bits) - 1);
}

/* Returns the lowest bit of the digit that chooses the bucket. Bits of `span` are 1 where keys differ. */
ORDO_FN uint bucket_shift(ordo_key_form span, struct sort_buckets b)
{
    return b.first_bit + max(key_width(span), b.bucket_bits) - b.bucket_bits;
}

#define SAMPLE 512u

ORDO_KERNEL(1)
void sort_bucket_sample(__global const ordo_key *keys, __global uint *plan, struct sort_buckets b)
{
    uint                count[BUCKETS_MAX], longest = 0;
    const uint          step = b.count / SAMPLE;
    const ordo_key_form one = bucket_form(keys[b.keys_in_at], b);
    ordo_key_form       span = KEY_LEAST;
    keys += b.keys_in_at;
    for (uint i = 0; i < SAMPLE; i++)
        span |= bucket_form(keys[i * step], b) ^ one;
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        count[i] = 0;
    for (uint i = 0; i < SAMPLE; i++)
        count[bucket_of(key_bits(keys[i * step]), bucket_shift(span, b), b)]++;
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        longest = max(longest, count[i]);
    /* The sample only estimates bucket sizes. So the limit is b.longest plus a quarter. */
    const bool skip =
        !key_same(span, KEY_LEAST) && (ulong) longest * b.count > (ulong) b.longest * (SAMPLE + SAMPLE / 4);
    plan[SORT_BUCKET_STATE] = skip ? SORT_BUCKET_NONE : key_width(span) == b.bits ? SORT_BUCKET_WIDE : SORT_BUCKET_SOME;
    plan[SORT_BUCKET_SHIFT] = bucket_shift(span, b);
    plan[SORT_BUCKET_NEXT] = 0;
}

ORDO_KERNEL(1)
void sort_bucket_span(__global const ordo_key *keys, __global const uint *plan, __global ordo_key_form *spans,
                      struct sort_buckets b)
{
    const uint          chunk = (uint) get_group_id(0) / b.step;
    const bucket_part   part = bucket_chunk(b, chunk);
    const ordo_key_form one = bucket_form(keys[b.keys_in_at], b);
    ordo_key_form       span = KEY_LEAST;
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME || !bucket_has_chunk(b))
        return;
    keys += b.keys_in_at;
    for (uint e = part.first; e < part.end; e++)
        span |= bucket_form(keys[e], b) ^ one;
    spans[chunk] = span;
}

/* Sets SORT_BUCKET_SHIFT, or the state SORT_BUCKET_ONE if all keys are equal. */
ORDO_FN void bucket_find_digit(__global const ordo_key_form *spans, __global uint *plan, struct sort_buckets b)
{
    ordo_key_form span = KEY_LEAST;
    for (uint chunk = 0; chunk < b.chunks; chunk++)
        span |= spans[chunk];
    plan[SORT_BUCKET_SHIFT] = bucket_shift(span, b);
    if (key_same(span, KEY_LEAST))
        plan[SORT_BUCKET_STATE] = SORT_BUCKET_ONE;
}

ORDO_KERNEL(1)
void sort_bucket_digit(__global const ordo_key_form *spans, __global uint *plan, struct sort_buckets b)
{
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_SOME)
        bucket_find_digit(spans, plan, b);
    else if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_WIDE)
        plan[SORT_BUCKET_STATE] = SORT_BUCKET_SOME;
}

ORDO_KERNEL(1)
void sort_bucket_count(__global const ordo_key *keys, __global const uint *plan, __global uint *counts,
                       struct sort_buckets b)
{
    uint              count[BUCKETS_MAX];
    const uint        chunk = (uint) get_group_id(0) / b.step, shift = plan[SORT_BUCKET_SHIFT];
    const bucket_part part = bucket_chunk(b, chunk);
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME || !bucket_has_chunk(b))
        return;
    keys += b.keys_in_at;
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        count[i] = 0;
    for (uint e = part.first; e < part.end; e++)
        count[bucket_of(key_bits(keys[e]), shift, b)]++;
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
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
    for (uint i = 0; i < 1u << b.bucket_bits; i++) {
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

/* Copies the elements of chunk `part` from `from` to `to`. Elements of bucket i go to consecutive indices, from
 * firsts[i * b.chunks] on. */
ORDO_FN void bucket_scatter_chunk(bucket_elements from, bucket_elements to, bucket_part part, uint shift,
                                  __global const uint *firsts, struct sort_buckets b)
{
    uint next[BUCKETS_MAX];
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        next[i] = firsts[i * b.chunks];
    for (uint e = part.first; e < part.end; e++) {
        const bucket_element element = bucket_convert(bucket_load(from, false, e));
        bucket_store(to, PAIRED, next[bucket_of(element.form, shift, b)]++, element);
    }
}

#if KEY_BITS / 8 + ORDO_VALUE_BYTES <= SORT_BLOCK_PAIR_MAX

/* If the array exceeds the cache, the scatter collects BLOCK elements of a bucket in private memory, and then writes
 * full cache lines. */
#define LINE_BYTES  64
#define LEAST_BYTES (ORDO_VALUE_BYTES && 8 * ORDO_VALUE_BYTES < KEY_BITS ? ORDO_VALUE_BYTES : KEY_BITS / 8)
#define BLOCK       (LINE_BYTES / (PAIRED ? 2 * LEAST_BYTES : LEAST_BYTES))

typedef struct __attribute__((aligned(LINE_BYTES))) {
#if PAIRED
    bucket_element pairs[BLOCK];
#else
    ordo_key_form forms[BLOCK];
#if ORDO_VALUE_BYTES
    ordo_value    values[BLOCK];
#endif
#endif
} bucket_block;

ORDO_FN void bucket_put(__private bucket_block *block, uint place, bucket_element element)
{
#if PAIRED
    block->pairs[place] = element;
#else
    block->forms[place] = element.form;
#if ORDO_VALUE_BYTES
    block->values[place] = element.value;
#endif
#endif
}

ORDO_FN bucket_element bucket_get(const __private bucket_block *block, uint place)
{
#if PAIRED
    return block->pairs[place];
#elif ORDO_VALUE_BYTES
    return (bucket_element) { block->forms[place], block->values[place] };
#else
    return (bucket_element) { block->forms[place], 0 };
#endif
}

#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define LINE_STORE(line, to) __builtin_nontemporal_store(line, to)
#endif
#endif
#ifndef LINE_STORE
#define LINE_STORE(line, to) (*(to) = (line))
#endif

/* Both addresses must be multiples of LINE_BYTES. */
ORDO_FN void line_copy(const __private void *from, __global void *to, uint bytes)
{
    const __private ulong8 *lines = (const __private ulong8 *) from;
    __global ulong8        *lines_to = (__global ulong8 *) to;
    for (uint i = 0; i < bytes / LINE_BYTES; i++)
        LINE_STORE(lines[i], lines_to + i);
}

ORDO_FN void block_write(const __private bucket_block *block, bucket_elements to, uint at)
{
#if PAIRED
    line_copy(block->pairs, to.pairs + at, sizeof block->pairs);
#else
    line_copy(block->forms, to.forms + at, sizeof block->forms);
#if ORDO_VALUE_BYTES
    line_copy(block->values, to.values + at, sizeof block->values);
#endif
#endif
}

ORDO_FN void block_write_part(const __private bucket_block *block, bucket_elements to, uint first, uint end)
{
    for (uint at = first; at < end; at++)
        bucket_store(to, PAIRED, at, bucket_get(block, at % BLOCK));
}

/* Does the same as bucket_scatter_chunk, but writes whole blocks. Blocks are aligned, so two chunks may share a block.
 * Each work-item then writes only its chunk's part. */
ORDO_FN void bucket_scatter_blocks(bucket_elements from, bucket_elements to, bucket_part part, uint shift,
                                   __global const uint *firsts, struct sort_buckets b)
{
    bucket_block blocks[BUCKETS_MAX];
    uint         next[BUCKETS_MAX];
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        next[i] = firsts[i * b.chunks];
    for (uint e = part.first; e < part.end; e++) {
        const bucket_element element = bucket_convert(bucket_load(from, false, e));
        const uint           bucket = bucket_of(element.form, shift, b), at = next[bucket]++;
        bucket_put(blocks + bucket, at % BLOCK, element);
        if (at % BLOCK < BLOCK - 1)
            continue;
        if (at - (BLOCK - 1) >= firsts[bucket * b.chunks])
            block_write(blocks + bucket, to, at - (BLOCK - 1));
        else
            block_write_part(blocks + bucket, to, firsts[bucket * b.chunks], at + 1);
    }
    for (uint i = 0; i < 1u << b.bucket_bits; i++)
        block_write_part(blocks + i, to, max(firsts[i * b.chunks], next[i] - next[i] % BLOCK), next[i]);
}

#else
#define bucket_scatter_blocks bucket_scatter_chunk
#endif

ORDO_KERNEL(1)
void sort_bucket_scatter(PAIRS_IN(in), PAIRS_OUT(spare), PAIRS_OUT(out), __global const uint *plan,
                         __global const uint *counts, struct sort_buckets b)
{
    const uint            chunk = (uint) get_group_id(0) / b.step;
    const bucket_part     part = bucket_chunk(b, chunk);
    const bucket_elements from = { (__global ordo_key *) keys_in + b.keys_in_at,
                                   (__global ordo_value *) PAIR_VALUES(in, b.values_in_at), 0 };
    const bucket_elements to = { keys_spare, PAIR_VALUES(spare, 0), (__global bucket_element *) keys_spare };
    const bucket_elements copy = { keys_out + b.keys_out_at, PAIR_VALUES(out, b.values_out_at), 0 };
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_NONE || !bucket_has_chunk(b))
        return;
    if (plan[SORT_BUCKET_STATE] == SORT_BUCKET_ONE) {
        for (uint e = part.first; e < part.end; e++)
            bucket_store(copy, false, e, bucket_load(from, false, e));
        return;
    }
    if (!b.blocks) {
        bucket_scatter_chunk(from, to, part, plan[SORT_BUCKET_SHIFT], counts + chunk, b);
        return;
    }
    bucket_scatter_blocks(from, to, part, plan[SORT_BUCKET_SHIFT], counts + chunk, b);
    ordo_fence_device(); /* orders the non-temporal stores before the next kernel */
}

/* Maximum bits per digit. The counters of wider digits would fill the L1 cache. */
#define DIGIT_BITS   9
#define DIGITS       (1 << DIGIT_BITS)
#define DIGIT_PASSES ((KEY_BITS + DIGIT_BITS - 1) / DIGIT_BITS)

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
        const ordo_key_form  form = bucket_bits(element.form, b);
        uint                 at = e;
        if (key_before(form, last) && moves <= most) {
            for (; at > 0 && key_before(form, bucket_bits(out.forms[at - 1], b)); at--)
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

/* The bits of `span` are 1 where keys differ. Chooses digits that contain at least `bits` of these bits, the highest
 * ones. */
ORDO_FN bucket_digits bucket_digits_of(ordo_key_form span, uint bits, struct sort_buckets b)
{
    bucket_digits d;
    uint          varying = 0;
    for (d.passes = 0; !key_same(span, KEY_LEAST) && varying < bits; d.passes++) {
        const uint top = key_width(span), width = min(top, (uint) DIGIT_BITS), low = top - width;
        d.low[d.passes] = b.first_bit + low;
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
                            uint low, uint width, __private uint *next)
{
    uint before = 0;
    for (uint digit = 0; digit < 1u << width; digit++) {
        const uint here = next[digit];
        next[digit] = before;
        before += here;
    }
    for (uint e = 0; e < count; e++) {
        const bucket_element element = bucket_load(from, from_paired, e);
        bucket_store(to, to_paired, next[bucket_digit(element.form, low, width)]++, element);
    }
}

/* Sorts the elements of `spare` by the digits `d`. The result is in `other` if d.passes is odd, else in
 * `spare`. */
ORDO_FN void bucket_passes(bucket_elements spare, bucket_elements other, bool paired, uint count, bucket_digits d)
{
    uint counts[DIGIT_PASSES][DIGITS];
    for (uint pass = 0; pass < d.passes; pass++)
        for (uint digit = 0; digit < 1u << d.width[pass]; digit++)
            counts[pass][digit] = 0;
    for (uint e = 0; e < count; e++) {
        const ordo_key_form form = bucket_form_at(spare, PAIRED, e);
        for (uint pass = 0; pass < d.passes; pass++)
            counts[pass][bucket_digit(form, d.low[pass], d.width[pass])]++;
    }
    for (uint pass = d.passes; pass-- > 0;)
        if ((d.passes - pass) % 2 == 1)
            bucket_scatter(spare, PAIRED, other, paired, count, d.low[pass], d.width[pass], counts[pass]);
        else
            bucket_scatter(other, paired, spare, PAIRED, count, d.low[pass], d.width[pass], counts[pass]);
}

ORDO_FN bool bucket_end(bucket_elements spare, bucket_elements other, bool paired, bucket_elements out, uint passes,
                        uint count, ulong most, struct sort_buckets b)
{
    return passes % 2 ? bucket_insert(other, paired, out, count, most, b)
                      : bucket_insert(spare, PAIRED, out, count, most, b);
}

/* Sorts the elements of `spare` into `out` by several digits. The bits of `span` are 1 where keys differ. If `paired`,
 * `other` stores each value after its key. If `other` is `out`, `paired` must be false. */
ORDO_FN void bucket_sort_by_digits(bucket_elements spare, bucket_elements other, bool paired, bucket_elements out,
                                   uint count, ordo_key_form span, struct sort_buckets b)
{
    /* Radix passes sort by the highest bits that differ between keys, about log2(count) + 2 of them. */
    const bucket_digits some = bucket_digits_of(span, 34 - (uint) clz(count), b),
                        all = bucket_digits_of(span, KEY_BITS, b);
    bucket_passes(spare, other, paired, count, some);
    if (bucket_end(spare, other, paired, out, some.passes, count, 4 * (ulong) count, b))
        return;
    for (uint e = 0; e < count; e++)
        bucket_store(spare, PAIRED, e, bucket_load(out, false, e));
    bucket_passes(spare, other, paired, count, all);
    bucket_end(spare, other, paired, out, all.passes, count, ~(ulong) 0, b);
}

#if KEY_BITS / 8 + ORDO_VALUE_BYTES <= SORT_BLOCK_PAIR_MAX

/* Maximum bits of the digit, and maximum elements with the same digit. */
#define EXCHANGE_BITS 12
#define EXCHANGE_MOST 24

/* Sorts the elements of `spare` into `out` by one digit, and then by exchanges of neighbours. Returns false, and
 * changes nothing, if too many elements have the same digit. 2^22 keys of 4 bytes take 4.9 ns of processor time each,
 * and 6.4 by several digits (PoCL). */
ORDO_FN bool bucket_sort_by_exchange(bucket_elements spare, bucket_elements out, uint count, ordo_key_form span,
                                     struct sort_buckets b)
{
    const uint top = key_width(span), width = min(min(top, (uint) EXCHANGE_BITS), 30 - (uint) clz(count));
    const uint low = top - width;
    uint       next[1 << EXCHANGE_BITS], rounds = 0;
    if (b.bits < KEY_BITS)
        return false;
    for (uint digit = 0; digit < 1u << width; digit++)
        next[digit] = 0;
    for (uint e = 0; e < count; e++)
        next[bucket_digit(bucket_form_at(spare, PAIRED, e), low, width)]++;
    if (low > 0)
        for (uint digit = 0; digit < 1u << width; digit++)
            rounds = max(rounds, next[digit]);
    if (rounds > EXCHANGE_MOST)
        return false;
    bucket_scatter(spare, PAIRED, out, false, count, low, width, next);
    exchange_sort(out.forms, out.values, count, rounds);
    return true;
}

#else
#define bucket_sort_by_exchange(spare, out, count, span, b) false
#endif

/* Sorts the elements of `spare` into `out`. bucket_sort_by_digits describes the other parameters. */
ORDO_FN void bucket_sort(bucket_elements spare, bucket_elements other, bool paired, bucket_elements out, uint count,
                         struct sort_buckets b)
{
    ordo_key_form       span = KEY_LEAST;
    const ordo_key_form one = bucket_bits(bucket_form_at(spare, PAIRED, 0), b);
    for (uint e = 1; e < count; e++)
        span |= bucket_bits(bucket_form_at(spare, PAIRED, e), b) ^ one;
    if (count < INSERTED || key_same(span, KEY_LEAST))
        bucket_insert(spare, PAIRED, out, count, ~(ulong) 0, b);
    else if (!bucket_sort_by_exchange(spare, out, count, span, b))
        bucket_sort_by_digits(spare, other, paired, out, count, span, b);
    for (uint e = 0; e < count; e++)
        out.forms[e] = key_from_bits(out.forms[e]);
}

/* If keys and values have the same size, they are sorted as pairs. A bucket of at most b.room elements is then sorted
 * between `spare` and the array `room`. Larger buckets use `out` in its place. Passes that write keys and values to two
 * arrays take up to twice as long. */
ORDO_KERNEL(1)
void sort_bucket_sort(PAIRS_OUT(spare), PAIRS_OUT(out), volatile __global uint *plan, struct sort_buckets b)
{
    const uint            group = (uint) get_group_id(0) / b.sort_step;
    const bucket_elements room = { 0, 0, (__global bucket_element *) keys_spare + b.count + group * b.room };
    if (plan[SORT_BUCKET_STATE] != SORT_BUCKET_SOME || get_group_id(0) % b.sort_step != 0)
        return;
    for (uint bucket; (bucket = ordo_add(plan + SORT_BUCKET_NEXT, 1)) < 1u << b.bucket_bits;) {
        const uint            first = bucket ? plan[SORT_BUCKET_ENDS + bucket - 1] : 0;
        const uint            count = plan[SORT_BUCKET_ENDS + bucket] - first;
        const bucket_elements spare = { keys_spare + first, PAIR_VALUES(spare, first),
                                        (__global bucket_element *) keys_spare + first };
        const bucket_elements out = { keys_out + b.keys_out_at + first, PAIR_VALUES(out, b.values_out_at + first), 0 };
        if (count == 0)
            continue;
        if (PAIRED && count <= b.room)
            bucket_sort(spare, room, true, out, count, b);
        else
            bucket_sort(spare, out, false, out, count, b);
    }
}
