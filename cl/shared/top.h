/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernels of the selection (cl/primitive/top.cl) both know.
 *
 * Elements are ordered by key, equal keys by where they lie: by the digits of one number, highest first, whose upper bits are
 * the key's ordered form, and whose lower index_bits are the element's index. So no two elements are equal. Pass p counts digit
 * p of the *candidates*: what has the same digits before p as the element searched for. What the passes learn lies in one
 * buffer of words, zero at first:
 *
 *   +-------+----------------------------+----------------------------+
 *   | taken | pass 0: record, histogram  | pass 1: ...                |
 *   +-------+----------------------------+----------------------------+
 */
#pragma once
#include "shared/group.h"

#define TOP_TAKEN_WORDS 16 /* the first counts what has been taken */

/* A pass's record, in words. */
#define TOP_FINISHED   0 /* groups that are done */
#define TOP_LISTED     1 /* candidates that were written to its list */
#define TOP_KEY_LOW    2 /* the digits up to this one, and zeros: of the key, of the index */
#define TOP_KEY_HIGH   3
#define TOP_INDEX      4
#define TOP_NEEDED     5 /* of the elements with these digits so many are still to be taken; 0: all is done */
#define TOP_CANDIDATES 6 /* so many there are */
#define TOP_RECORD     8 /* words of a record; the histogram follows */

/* Arguments of pass `pass`: elements are told apart by digit pass - 1, those that stay have digit `pass` counted. */
struct top_pass {
    ordo_u64 keys_at, keys_out_at, index_out_at;
    ordo_u32 count, needed; /* of all elements, of those to take */
    ordo_u32 room;          /* of a list of candidates */
    ordo_u32 pass;
    ordo_u32 index_bits;
    ordo_u32 digit_shift, digit_mask, digit_above; /* digit pass - 1, and where the one before it begins */
    ordo_u32 next_shift, next_mask;                /* digit `pass`; next_mask is 0 behind the last */
};

/* Bytes of local memory of the passes: the counters of a digit of `bits` bits, the scan's words, and 3 more. */
#define TOP_LOCAL_BYTES(bits, copies, group, lanes) (4 * (((copies) << (bits)) + SCAN_WORDS(group, lanes) + 3))

/* Elements of a work-item and round, in a group: two counts of a tile share a word. */
#define TOP_ITEMS_MAX 64

/* Arguments of top_order: `count` elements, at most TOP_ORDERED, with a key and an index in local memory; words of the
 * passes' buffer, of a value. */
#define TOP_ORDERED                        1024
#define TOP_ORDERED_LOCAL_BYTES(key_bytes) (TOP_ORDERED * ((key_bytes) + 4))
struct top_order {
    ordo_u64 keys_out_at, index_out_at, values_at, values_out_at;
    ordo_u32 count, state_words, value_words, unused;
};

/* Arguments of the selection by chunks (CPUs), of `chunk` elements each: each leaves `needed` in its part of the lists. */
struct top_chunks {
    ordo_u64 keys_at;
    ordo_u32 count, chunk, needed;
    ordo_u32 room; /* of a chunk's lists: more than needed */
};

ORDO_STATIC_ASSERT(sizeof(struct top_pass) == 3 * 8 + 10 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_order) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_chunks) == 8 + 4 * 4, "no padding");
