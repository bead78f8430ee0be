/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the radix sort's buffers and arguments.
 *
 * A *pass* sorts by one digit. Each work-group sorts a *tile* of elements. The control buffer connects passes:
 *
 *   one-sweep        +---------+---------------------------+------------------------+
 *                    | tickets | status                    | bases                  |
 *                    | launches| tiles x RADIX             | passes x 2 x RADIX     |
 *                    +---------+---------------------------+------------------------+
 *                    '------ zeroed by the histogram ------'
 *   reduce-then-scan | totals: RADIX | counts: RADIX x tiles (digit-major)
 *
 * One-sweep also has counters, zero between launches: finished groups, then passes x RADIX.
 *
 * The look-back status of a tile and a digit is a word with a code in its top two bits, and a count of elements below
 * them. The count fits, because a launch covers at most SORT_LAUNCH_MAX elements.
 *
 *   S1  A word goes from "nothing" to "own count" to "count up to here", each by one store, and never back in a launch.
 *   S2  After a launch all words of its tiles are "count up to here". Even and odd passes have different codes for
 *       this, and read the other's code as "nothing". So the words are zeroed once, not for each pass. */
#pragma once
#include "shared/group.h"

#define SORT_RADIX_MAX  256
#define SORT_LAUNCH_MAX (1u << 29)

#define SORT_COUNT_BITS 30
#define SORT_COUNT_MASK ((1u << SORT_COUNT_BITS) - 1)
#define SORT_CODE_OWN   2u
/* The count up to and including this tile. */
#define SORT_CODE_UPTO(pass) ((pass) % 2 ? 1u : 3u)

/* Arguments of one pass. `_at` members count elements of a buffer, `_word` members words of the control buffer. */
struct sort_pass {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count; /* all elements */
    ordo_u32 first_tile;
    ordo_u32 end_tile;
    ordo_u32 tiles;
    ordo_u32 pass;              /* from 0 */
    ordo_u32 shift, digit_mask; /* the pass's digit is (ordered form >> shift) & digit_mask */
    ordo_u32 ticket_word;       /* the launch's ticket */
    ordo_u32 status_word;
    /* Where the launch reads bases, and writes them for the next launch. A plan adds its digit's offset. */
    ordo_u32 bases_in_word, bases_out_word;
    ordo_u32 unused;
};

/* Arguments of a planned pass. */
struct sort_planned {
    ordo_u32 first_bit, bits, passes;
};

/* The plan, which the histogram writes and the passes read.
 *
 *   S3  Passes 0 .. PASSES - 1 each sort by the digit in the plan; later passes are idle. If there is no local pass,
 *       PASSES is at least 1, and odd exactly if the number of all passes is odd, so that the last pass writes the
 *       output. To make PASSES odd or even, one pass may sort by a digit that all keys share: it only copies.
 *   S4  LOCAL is SORT_NO_LOCAL, or the lowest bit (in the ordered form) of the passes' digits. All keys agree above
 *       these digits, and the local pass sorts by the bits below. PASSES may then be odd or even. */
#define SORT_PLAN_LOCAL  0
#define SORT_PLAN_PASSES 1
#define SORT_PLAN_DIGITS 2 /* the digit of each pass, or SORT_IDLE */
#define SORT_PLAN_WORDS  (SORT_PLAN_DIGITS + 24)
#define SORT_NO_LOCAL    0xffffffffu
#define SORT_IDLE        0xffffffffu

/* Minimum number of varying digits for a local pass. It saves at least three passes and costs about two. */
#define SORT_LOCAL_DIGITS 5

struct sort_histogram {
    ordo_u64 keys_at;
    ordo_u32 count, first_bit, bits, passes;
    ordo_u32 bases_word;    /* the histogram zeroes the control buffer before this word */
    ordo_u32 segment_limit; /* maximum mean size of a segment for a local pass; 0: no local pass */
};

/* Arguments of the local pass. A *segment* is the elements that agree in the passes' digits. One work-group sorts range
 * r: the segments that begin in elements r * step .. (r + 1) * step - 1. If passes - PASSES is odd, the elements are in
 * the spare buffers, else in the output. */
struct sort_local {
    ordo_u64 keys_out_at, values_out_at;
    ordo_u32 count, first_bit, passes;
    ordo_u32 step, ranges;
    ordo_u32 range_max; /* sort_large sorts longer ranges */
};

/* Arguments of a sort in one launch. */
struct sort_small {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, first_bit, bits, passes;
};

/* Arguments of a pass on CPUs by chunks of `chunk` elements. The control buffer has counts[digit * chunks + chunk]. */
struct sort_chunks {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, shift, digit_mask;
    ordo_u32 unused;
};

/* Arguments of the kernels of sort_buckets.cl. */
struct sort_buckets {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, first_bit, bits;
    ordo_u32 longest; /* maximum elements of a bucket; else sort_chunked.cl sorts */
};

/* The plan of the buckets: a state, the lowest bit of the digit, and the ends of the buckets. */
#define SORT_BUCKET_BITS  8
#define SORT_BUCKET_STATE 0
#define SORT_BUCKET_SHIFT 1
#define SORT_BUCKET_ENDS  2
#define SORT_BUCKET_WORDS (SORT_BUCKET_ENDS + (1 << SORT_BUCKET_BITS))
enum {
    SORT_BUCKET_NONE, /* sort_chunked.cl sorts */
    SORT_BUCKET_ONE,
    SORT_BUCKET_SOME
};

/* Rusticl of Mesa 22 requires structs without padding at the end. */
ORDO_STATIC_ASSERT(sizeof(struct sort_pass) == 4 * 8 + 12 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_planned) == 12, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_local) == 2 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_histogram) == 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_small) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_chunks) == 4 * 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_buckets) == 4 * 8 + 6 * 4, "no padding");

/* The number of bits below digit `pass`. Digits differ by at most one bit in width. */
#define SORT_BITS_BELOW(bits, passes, pass) ((bits) * (pass) / (passes))

/* The bytes of local memory of a pass. The teams' counts of each digit and the tile's elements share memory. */
#define SORT_TILE_WORDS                            5
#define SORT_COUNT_BYTES(group, lanes, digit_bits) (((group) > (lanes) ? (group) / (lanes) : 2) * (4 << (digit_bits)))
#define SORT_LOCAL_BYTES(group, lanes, items, digit_bits, element_bytes)                                               \
    (SHARED_ROUND_UP(SHARED_MAX(SORT_COUNT_BYTES(group, lanes, digit_bits), (group) * (items) * (element_bytes)), 8) + \
     SHARED_ROUND_UP(4 * (SCAN_WORDS(group, lanes) + (1 << (digit_bits)) + SORT_TILE_WORDS), 8))

/* The bytes of local memory of the histogram. */
#define HISTOGRAM_PASSES_MAX(key_bits, digit_bits) (SHARED_CEIL_DIV(key_bits, digit_bits) + 1)
#define HISTOGRAM_WORDS(key_bits, digit_bits, copies)                                                                  \
    (HISTOGRAM_PASSES_MAX(key_bits, digit_bits) * (copies) << (digit_bits))
#define HISTOGRAM_LOCAL_BYTES(key_bits, digit_bits, copies, group, lanes)                                              \
    (4 * (HISTOGRAM_WORDS(key_bits, digit_bits, copies) + SCAN_WORDS(group, lanes) + 1 +                               \
          2 * HISTOGRAM_PASSES_MAX(key_bits, digit_bits)))

/* The bytes of local memory of the local pass. Each element has a bin and an index of 2 bytes. */
#define SORT_RANGE_LOCAL_BYTES(group, lanes, items) (4 * ((group) * (items) + SCAN_WORDS(group, lanes) + 1))
