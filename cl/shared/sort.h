/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the buffers and the kernel arguments of the radix sort. A *pass* sorts the array by one digit of the key. In
 * a pass, each work-group sorts a *tile* of elements. */

/* All passes share one control buffer of words. RADIX is the number of values of a digit:
 *
 *   sort_onesweep.cl   tickets   one word per launch, zeroed by the histogram kernel
 *                      status    tiles x RADIX words, zeroed by the histogram kernel
 *                      bases     passes x 2 x RADIX words
 *   sort_scatter.cl    totals    RADIX words
 *                      counts    RADIX x tiles words: counts of digit value 0 in all tiles, then of value 1, ...
 *
 * The histogram kernel has another buffer: the number of finished groups, then passes x RADIX counts. */

/* In sort_onesweep.cl, each tile has a status word for each digit value. Later tiles compute their output indices from
 * these words (look-back). The top two bits of a word are a code, the other bits a number of elements.
 *
 *   S1  A word changes from "nothing" to "count of this tile" to "count up to this tile". Each change is one store.
 *   S2  After a pass, all words are "count up to this tile". In the next pass this code means "nothing", and
 *       another code means "count up to this tile". So the words are zeroed once, not for each pass. */
#pragma once
#include "shared/group.h"

#define SORT_RADIX_MAX  256
#define SORT_LAUNCH_MAX (1u << 29)

#define SORT_COUNT_BITS 30
#define SORT_COUNT_MASK ((1u << SORT_COUNT_BITS) - 1)
#define SORT_CODE_OWN   2u
/* Code of a status word that counts the elements of its tile and all earlier tiles (see S1 and S2). */
#define SORT_CODE_UPTO(pass) ((pass) % 2 ? 1u : 3u)

/* Arguments of a pass. Members `..._at` are indices of elements, members `..._word` are indices of words in the control
 * buffer. */
struct sort_pass {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count;
    ordo_u32 first_tile;
    ordo_u32 end_tile;
    ordo_u32 tiles;
    ordo_u32 pass;              /* Number of the pass, from 0. */
    ordo_u32 shift, digit_mask; /* The pass's digit is key_digit(ordered form, shift, digit_mask). */
    ordo_u32 ticket_word;       /* Counter that hands out the launch's tiles. */
    ordo_u32 status_word;
    /* Word offsets of two arrays of RADIX words, with the output index of each digit value's first element. The launch
     * reads the array at bases_in_word, and writes the array at bases_out_word for the next launch. With a plan, these
     * arrays belong to digit 0, and the arrays of digit d are 2 * RADIX * d words further on. */
    ordo_u32 bases_in_word, bases_out_word;
    ordo_u32 unused;
};

/* Arguments of a pass with a plan. The plan is the array in which kernel sort_histogram lists the digits to sort by. */
struct sort_planned {
    ordo_u32 first_bit, bits, passes;
};

#define SORT_PLAN_LOCAL  0
#define SORT_PLAN_PASSES 1
#define SORT_PLAN_DIGITS 2 /* Word SORT_PLAN_DIGITS + p is the index of pass p's digit, or SORT_IDLE without a digit. */
#define SORT_PLAN_WORDS  (SORT_PLAN_DIGITS + 40)
#define SORT_NO_LOCAL    0xffffffffu
#define SORT_IDLE        0xffffffffu

/* A plan has a local pass (struct sort_local) only if keys differ in at least this number of digits. */
#define SORT_LOCAL_DIGITS 5

struct sort_histogram {
    ordo_u64 keys_at;
    ordo_u32 count, first_bit, bits, passes;
    ordo_u32 bases_word;    /* First word of `bases` in the control buffer. The kernel zeroes the words before. */
    ordo_u32 segment_limit; /* Maximum mean segment size for a local pass (struct sort_local). 0: no local pass. */
};

/* Arguments of the local pass, which completes the sort in local memory. It sorts each *segment*: neighbours whose keys
 * are equal in all digits of earlier passes. Work-group r sorts the segments that begin in the `step` elements from
 * element r * step on. If passes - plan[SORT_PLAN_PASSES] is even, the elements are in the output. Otherwise they are
 * in the spare buffers, which the sort uses beside the output. */
struct sort_local {
    ordo_u64 keys_out_at, values_out_at;
    ordo_u32 count, first_bit, passes;
    ordo_u32 step, ranges;
    ordo_u32 range_max; /* Kernel sort_large sorts longer ranges. */
};

/* Arguments of a sort in one launch. */
struct sort_small {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, first_bit, bits, passes;
};

/* Arguments of a pass on CPUs over `chunks` chunks of `chunk` elements. Word digit * chunks + c of the control buffer
 * counts the digit in chunk c. */
struct sort_chunks {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, shift, digit_mask;
    ordo_u32 unused;
};

struct sort_buckets {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, first_bit, bits;
    ordo_u32 longest; /* Maximum size of a bucket. If a bucket is larger, sort_chunked.cl sorts instead. */
};

/* Words of the plan of sort_buckets.cl, which first distributes the keys by one digit: a state (the enum below), the
 * digit's lowest bit, and the end index of each bucket. */
#define SORT_BUCKET_BITS  8
#define SORT_BUCKET_STATE 0
#define SORT_BUCKET_SHIFT 1
#define SORT_BUCKET_ENDS  2
#define SORT_BUCKET_WORDS (SORT_BUCKET_ENDS + (1 << SORT_BUCKET_BITS))
enum {
    SORT_BUCKET_NONE, /* The kernels of sort_chunked.cl sort instead. */
    SORT_BUCKET_ONE,
    SORT_BUCKET_SOME
};

/* Rusticl of Mesa 22 rejects kernel arguments that are structs with padding at the end. */
ORDO_STATIC_ASSERT(sizeof(struct sort_pass) == 4 * 8 + 12 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_planned) == 12, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_local) == 2 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_histogram) == 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_small) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_chunks) == 4 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_buckets) == 4 * 8 + 6 * 4, "no padding");

/* The number of key bits below digit `pass`. Widths of digits differ by at most one bit. */
#define SORT_BITS_BELOW(bits, passes, pass) ((bits) * (pass) / (passes))

#define SORT_TILE_WORDS                            5
#define SORT_COUNT_BYTES(group, lanes, digit_bits) (((group) > (lanes) ? (group) / (lanes) : 2) * (4 << (digit_bits)))
#define SORT_LOCAL_BYTES(group, lanes, items, digit_bits, element_bytes)                                               \
    (SHARED_ROUND_UP(SHARED_MAX(SORT_COUNT_BYTES(group, lanes, digit_bits), (group) * (items) * (element_bytes)), 8) + \
     SHARED_ROUND_UP(4 * (SCAN_WORDS(group, lanes) + (1 << (digit_bits)) + SORT_TILE_WORDS),                           \
                     SHARED_MAX(8, element_bytes)))

#define HISTOGRAM_PASSES_MAX(key_bits, digit_bits) (SHARED_CEIL_DIV(key_bits, digit_bits) + 1)
#define HISTOGRAM_WORDS(key_bits, digit_bits, copies)                                                                  \
    (HISTOGRAM_PASSES_MAX(key_bits, digit_bits) * (copies) << (digit_bits))
#define HISTOGRAM_LOCAL_BYTES(key_bits, digit_bits, copies, group, lanes)                                              \
    (4 * (HISTOGRAM_WORDS(key_bits, digit_bits, copies) + SCAN_WORDS(group, lanes) + 1 +                               \
          5 * HISTOGRAM_PASSES_MAX(key_bits, digit_bits)))

#define SORT_RANGE_LOCAL_BYTES(group, lanes, items) (4 * ((group) * (items) + SCAN_WORDS(group, lanes) + 1))
