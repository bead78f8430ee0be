/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and kernel arguments of the radix sort. A *pass* sorts the array by one digit of the key. For this, it
 * divides the array into *tiles*, one per work-group. */

/* All passes share a control buffer of words, with these parts. RADIX is the number of values of a digit:
 *
 *   sort_onesweep.cl   tickets   one word per launch
 *                      status    RADIX words per tile
 *                      bases     two arrays of RADIX words per pass
 *   sort_scatter.cl    totals    RADIX words
 *                      counts    a word per tile for digit value 0, then for value 1, ...
 *
 * The histogram kernel zeroes `tickets` and `status`. Its own counts lie in another buffer: the number of finished
 * work-groups, then RADIX words per pass. */

/* In sort_onesweep.cl, each tile has a status word per digit value. Its top two bits are a code: "nothing", "count
 * of this tile", or "sum up to this tile". The other bits are a number of elements.
 *
 *  S1  A word changes from "nothing" to "count of this tile" to "sum up to this tile". Each change is one store.
 *  S2  After a pass, all words are "sum up to this tile". The next pass must read them as "nothing". So it uses a
 *      different code for "sum up to this tile", and takes the old code as "nothing". */
#pragma once
#include "shared/group.h"

#define SORT_RADIX_MAX  256
#define SORT_LAUNCH_MAX (1u << 29)

#define SORT_COUNT_BITS      30
#define SORT_COUNT_MASK      ((1u << SORT_COUNT_BITS) - 1)
#define SORT_CODE_OWN        2u
#define SORT_CODE_UPTO(pass) ((pass) % 2 ? 1u : 3u)

/* Size of the sample of keys from which the histogram kernel estimates the sizes of segments. */
ORDO_FN ordo_u32 sort_sample_size(ordo_u32 count)
{
    const ordo_u32 least = count / 2 < 16384 ? count / 2 : 16384, size = count >> 10;

    return size < least ? least : size < 65536 ? size : 65536;
}

/* Returns the index of key k of the sample. `step` is the number of keys divided by the sample's size. The distance of
 * two indices varies, so that keys that repeat in a pattern do not all look alike. */
ORDO_FN ordo_u32 sort_sample_at(ordo_u32 k, ordo_u32 step)
{
    return k * step + (ordo_u32) ((ordo_u64) (k * 0x9e3779b1u) * step >> 32);
}

/* Arguments of a pass. Members ..._at are indices of elements. Members ..._word are indices in the control buffer. */
struct sort_pass {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count;
    ordo_u32 first_tile;
    ordo_u32 end_tile;
    ordo_u32 tiles;
    ordo_u32 pass;
    ordo_u32 shift, digit_mask;
    ordo_u32 ticket_word;
    ordo_u32 status_word;
    /* Two arrays with the output index of each digit value's first element. With a plan (struct sort_planned), the
     * arrays of digit d begin 2 * RADIX * d words later. */
    ordo_u32 bases_in_word, bases_out_word;
    ordo_u32 unused;
};

/* Additional arguments of a pass with a plan. A plan lists the digits to sort by. */
struct sort_planned {
    ordo_u32 first_bit, bits, passes;
};

#define SORT_PLAN_LOCAL  0
#define SORT_PLAN_PASSES 1
#define SORT_PLAN_DIGITS 2 /* Word SORT_PLAN_DIGITS + p is the digit of pass p, or SORT_IDLE if there is no pass p. */
#define SORT_PLAN_WORDS  (SORT_PLAN_DIGITS + 40)
#define SORT_NO_LOCAL    0xffffffffu
#define SORT_IDLE        0xffffffffu

/* A local pass (struct sort_local) needs keys that differ in at least this many digits. */
#define SORT_LOCAL_DIGITS 5

struct sort_histogram {
    ordo_u64 keys_at;
    ordo_u32 count, first_bit, bits, passes;
    ordo_u32 bases_word;    /* First word of `bases` in the control buffer. */
    ordo_u32 segment_limit; /* Maximum mean size of segments (see below) for a local pass. 0 disables it. */
};

/* Arguments of the local pass, which completes the sort in local memory. A *segment* is a group of neighbours with
 * equal digits in all earlier passes. Work-group r sorts *range* r: the segments that begin at indices r * step to
 * (r + 1) * step - 1. Before this pass, the elements lie in the output if the difference of `passes` and
 * plan[SORT_PLAN_PASSES] is even, else in the spare buffers. */
struct sort_local {
    ordo_u64 keys_out_at, values_out_at;
    ordo_u32 count, first_bit, passes;
    ordo_u32 step, ranges;
    ordo_u32 range_max; /* Kernel sort_large sorts ranges with more elements. */
};

struct sort_small {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, first_bit, bits, passes;
};

struct sort_merge {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, tile, first_bit, bits;
};

/* Arguments of a pass on CPUs, which divides the array into chunks. Word d * chunks + c of the control buffer counts
 * digit value d in chunk number c. */
struct sort_chunks {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, shift, digit_mask;
    ordo_u32 unused;
};

struct sort_buckets {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, first_bit, bits;
    ordo_u32 bucket_bits;
    ordo_u32 longest;   /* If a bucket has more elements, sort_chunked.cl sorts the array instead. */
    ordo_u32 step;      /* Only every step-th work-group works. */
    ordo_u32 blocks;    /* 1 if the scatter collects full cache lines, else 0 */
    ordo_u32 sort_step; /* Only every sort_step-th work-group of kernel sort_bucket_sort sorts. */
    ordo_u32 room;      /* The spare buffer has `count` elements, then `room` elements per work-group that sorts. */
    ordo_u32 unused;
};

/* The plan of sort_buckets.cl, which first distributes the keys to buckets by one digit. SORT_BUCKET_STATE to
 * SORT_BUCKET_ENDS are words of the plan. */
#define SORT_BUCKET_BITS_MIN 8
#define SORT_BUCKET_BITS_MAX 11
/* If a key and its value have more than SORT_BLOCK_PAIR_MAX bytes, member `blocks` of struct sort_buckets must be 0.
 * With 16 bytes, blocks are slower: 2^22 pairs take 62 instead of 47 ms (PoCL, two cores). */
#define SORT_BLOCK_PAIR_MAX 12
#define SORT_BUCKET_STATE   0 /* a value of the enum below */
#define SORT_BUCKET_SHIFT   1
#define SORT_BUCKET_NEXT    2
#define SORT_BUCKET_ENDS    3
#define SORT_BUCKET_WORDS   (SORT_BUCKET_ENDS + (1 << SORT_BUCKET_BITS_MAX))
enum {
    SORT_BUCKET_NONE, /* sort_chunked.cl sorts. */
    SORT_BUCKET_ONE,  /* All keys are equal. */
    SORT_BUCKET_SOME, /* There are several buckets. */
    SORT_BUCKET_WIDE  /* There are several buckets, and the highest bit varies. */
};

/* Rusticl of Mesa 22 rejects struct arguments with padding at the end. */
ORDO_STATIC_ASSERT(sizeof(struct sort_pass) == 4 * 8 + 12 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_planned) == 12, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_local) == 2 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_histogram) == 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_small) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_merge) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_chunks) == 4 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_buckets) == 4 * 8 + 12 * 4, "no padding");

/* Number of key bits below the digit of a pass. */
#define SORT_BITS_BELOW(bits, passes, pass) ((bits) * (pass) / (passes))

#define SORT_TILE_WORDS                            5
#define SORT_COUNT_BYTES(group, lanes, digit_bits) (((group) > (lanes) ? (group) / (lanes) : 1) * (4 << (digit_bits)))
#define SORT_LOCAL_BYTES(group, lanes, items, digit_bits, element_bytes)                                               \
    (SHARED_ROUND_UP(SHARED_MAX(SORT_COUNT_BYTES(group, lanes, digit_bits), (group) * (items) * (element_bytes)), 8) + \
     SHARED_ROUND_UP(4 * (SCAN_WORDS(group, lanes) + (1 << (digit_bits)) + SORT_TILE_WORDS),                           \
                     SHARED_MAX(8, element_bytes)))

#define HISTOGRAM_PASSES_MAX(key_bits, digit_bits) (SHARED_CEIL_DIV(key_bits, digit_bits) + 1)
#define COUNTER_WORDS(key_bits, digit_bits, copies)                                                                    \
    (HISTOGRAM_PASSES_MAX(key_bits, digit_bits) * (copies) << (digit_bits))
#define HISTOGRAM_LOCAL_BYTES(key_bits, digit_bits, copies, group, lanes)                                              \
    (4 * (COUNTER_WORDS(key_bits, digit_bits, copies) + SCAN_WORDS(group, lanes) + 1 +                                 \
          5 * HISTOGRAM_PASSES_MAX(key_bits, digit_bits)))

#define SORT_RANGE_LOCAL_BYTES(group, lanes, items) (4 * ((group) * (items) + SCAN_WORDS(group, lanes) + 1))
