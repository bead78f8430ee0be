/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernels of the radix sort both know.
 *
 * A *pass* sorts by one digit. Elements are cut into *tiles*, one per work-group. Between passes lies one buffer of
 * words, the control buffer:
 *
 *   one-sweep        +---------+---------------------------+------------------------+
 *                    | tickets | status                    | bases                  |
 *                    | launches| tiles x RADIX             | passes x 2 x RADIX     |
 *                    +---------+---------------------------+------------------------+
 *                    '------ zeroed by the histogram ------'
 *   reduce-then-scan | totals: RADIX | counts: RADIX x tiles (digit-major)
 *
 * and, for one-sweep, the counters: finished groups, then passes x RADIX. They are zero between launches.
 *
 * Look-back status of (tile, digit): a code in the top two bits, a count of elements in the others. A launch covers at
 * most SORT_LAUNCH_MAX elements, so the count has room.
 *
 *   S1  A word goes from "nothing" to "own count" to "count up to here", each in one store, and never back in a launch.
 *   S2  At the end of a launch every word of its tiles says "count up to here". Passes use two different codes for that in
 *       turn, and each reads the other's as "nothing": so the words are cleared once, not once per pass.
 */
#pragma once
#include "shared/types.h"

#define SORT_RADIX_MAX  256
#define SORT_LAUNCH_MAX (1u << 29)

#define SORT_COUNT_BITS 30
#define SORT_COUNT_MASK ((1u << SORT_COUNT_BITS) - 1)
#define SORT_CODE_OWN   2u /* the tile's own count */
/* Count up to and with this tile, in passes of even and of odd number. */
#define SORT_CODE_UPTO(pass) ((pass) % 2 ? 1u : 3u)

/* Arguments of one pass. `at`s are in elements; `_word`s in words of the control buffer. */
struct sort_pass {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count;      /* of all elements */
    ordo_u32 first_tile; /* this launch covers tiles first_tile .. end_tile - 1 */
    ordo_u32 end_tile;
    ordo_u32 tiles;
    ordo_u32 shift;       /* the digit's lowest bit in the key's ordered form */
    ordo_u32 digit_mask;  /* its width, as a mask */
    ordo_u32 pass;        /* its number, from 0 */
    ordo_u32 ticket_word; /* where this launch draws its tiles */
    ordo_u32 status_word;
    ordo_u32 bases_in_word, bases_out_word; /* where each digit's elements begin, before and after this launch */
    ordo_u32 unused;
};

/* Arguments of the histogram of all passes. */
struct sort_histogram {
    ordo_u64 keys_at;
    ordo_u32 count, first_bit, bits, passes;
    ordo_u32 bases_word; /* of the control buffer; what lies before is zeroed */
    ordo_u32 unused;
};

/* Arguments of a sort in one launch. */
struct sort_small {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, first_bit, bits, passes;
};

/* Arguments of one pass over chunks (CPUs): chunk c has elements c * chunk .. (c + 1) * chunk - 1. The control
 * buffer holds counts[digit * chunks + chunk]. */
struct sort_chunks {
    ordo_u64 keys_in_at, keys_out_at, values_in_at, values_out_at;
    ordo_u32 count, chunk, chunks, shift, digit_mask;
    ordo_u32 unused;
};

/* No padding at the end: the Rusticl of Mesa 22 takes such a struct only without it. */
ORDO_STATIC_ASSERT(sizeof(struct sort_pass) == 4 * 8 + 12 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_histogram) == 8 + 6 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_small) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct sort_chunks) == 4 * 8 + 6 * 4, "no padding");

/* Bits of the key below digit `pass` of `passes`: digits are as wide as each other, or one bit wider. */
#define SORT_BITS_BELOW(bits, passes, pass) ((bits) * (pass) / (passes))
