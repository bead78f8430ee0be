/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the buffers and arguments of a selection (cl/primitive/top.cl).
 *
 * Elements are ordered by key, and equal keys by index: by a number whose upper bits are the key's ordered form and
 * whose lower index_bits are the index. Passes inspect its digits, the highest first. Pass p counts digit p of the
 * *candidates*, the elements that agree with the searched element in all earlier digits. Results lie in one buffer of
 * words, zero at first:
 *
 *   +-------+----------------------------+----------------------------+
 *   | taken | pass 0: record, histogram  | pass 1: ...                |
 *   +-------+----------------------------+----------------------------+ */
#pragma once
#include "shared/group.h"

#define TOP_TAKEN_WORDS 16 /* only the first is used: it counts taken elements */

/* Words of a pass's record. */
#define TOP_FINISHED   0 /* finished groups */
#define TOP_LISTED     1 /* candidates in the list of the pass */
#define TOP_KEY_LOW    2 /* the searched key and index: digits up to this pass's, then zeros */
#define TOP_KEY_HIGH   3
#define TOP_INDEX      4
#define TOP_NEEDED     5 /* elements with these digits still to take; 0: finished */
#define TOP_CANDIDATES 6
#define TOP_RECORD     8 /* size in words; then the histogram follows */

/* Arguments of pass `pass`, which separates candidates by digit pass - 1, and counts digit `pass` of the rest. */
struct top_pass {
    ordo_u64 keys_at, keys_out_at, index_out_at;
    ordo_u32 count, needed;
    ordo_u32 room;
    ordo_u32 pass;
    ordo_u32 index_bits;
    ordo_u32 digit_shift, digit_mask, digit_above; /* digit pass - 1; lowest bit of digit pass - 2 */
    ordo_u32 next_shift, next_mask;                /* digit `pass`; next_mask is 0 after the last digit */
};

/* The bytes of local memory of a pass. */
#define TOP_LOCAL_BYTES(bits, copies, group, lanes) (4 * (((copies) << (bits)) + SCAN_WORDS(group, lanes) + 3))

/* Maximum elements per work-item and round. Two counts of a tile share a word. */
#define TOP_ITEMS_MAX 64

/* Arguments of top_order, which sorts `count` elements, at most TOP_ORDERED, in local memory. state_words is the size
 * of the passes' buffer. */
#define TOP_ORDERED                        1024
#define TOP_ORDERED_LOCAL_BYTES(key_bytes) (TOP_ORDERED * ((key_bytes) + 4))
struct top_order {
    ordo_u64 keys_out_at, index_out_at, values_at, values_out_at;
    ordo_u32 count, state_words, value_words, unused;
};

/* Arguments of a selection on CPUs, by chunks of `chunk` elements. A chunk's lists keep `needed` elements. */
struct top_chunks {
    ordo_u64 keys_at;
    ordo_u32 count, chunk, needed;
    ordo_u32 room;
};

ORDO_STATIC_ASSERT(sizeof(struct top_pass) == 3 * 8 + 10 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_order) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_chunks) == 8 + 4 * 4, "no padding");
