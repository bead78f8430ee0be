/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and kernel arguments of a selection (cl/primitive/top.cl). For a given k, it finds the k-th element in key
 * order. Each pass finds one digit of this element. */

/* Each element has a number. Its low index_bits bits are the element's index. The higher bits are the ordered form of
 * the key (shared/key.h). A number is divided into digits. Digit 0 has the highest bits. A *candidate* of pass p agrees
 * with the k-th element in digits 0 to p - 1. Pass p counts how many candidates have each value of digit p. The results
 * lie in one buffer, which must be 0 before a selection:
 *
 *     | taken | pass 0: record, histogram | pass 1: ... | */
#pragma once
#include "shared/group.h"

#define TOP_TAKEN_WORDS 16 /* Size of `taken` above, in words. Word 0 counts the elements written to the output. */

/* Words of a pass's record. The record has the digits of the k-th element that this pass and earlier passes have found,
 * as bits of its key and index. All other bits are 0. TOP_KEY(w) has bits 32 * w to 32 * w + 31 of the key, TOP_INDEX
 * the index. */
#define TOP_FINISHED          0
#define TOP_LISTED            1
#define TOP_KEY(w)            ((w) < 2 ? 2 + (w) : 5 + (w))
#define TOP_INDEX             4
#define TOP_NEEDED            5 /* number of candidates that must still be selected */
#define TOP_CANDIDATES        6
#define TOP_RECORD(key_bytes) ((key_bytes) > 8 ? 9 : 8)

struct top_pass {
    ordo_u64 keys_at, keys_out_at, index_out_at;
    ordo_u32 count, needed;
    ordo_u32 room;
    ordo_u32 pass;
    ordo_u32 index_bits;
    /* digit_shift and digit_mask select the digit that the previous pass counted. The digits of all earlier passes are
     * the bits from bit digit_above up. */
    ordo_u32 digit_shift, digit_mask, digit_above;
    /* Select the next digit, which this pass counts. If there is none, next_mask is 0. */
    ordo_u32 next_shift, next_mask;
};

#define TOP_LOCAL_BYTES(bits, copies, group, lanes) (4 * (((copies) << (bits)) + SCAN_WORDS(group, lanes) + 3))

/* Maximum number of elements that a work-item handles in one tile. Two counts of a tile share a word, so tiles must
 * be small. */
#define TOP_ITEMS_MAX 64

/* Arguments of kernel top_order. One work-group sorts up to TOP_ORDERED selected elements. */
#define TOP_ORDERED                        1024
#define TOP_ORDERED_LOCAL_BYTES(key_bytes) (TOP_ORDERED * ((key_bytes) + 4))
struct top_order {
    ordo_u64 keys_out_at, index_out_at, values_at, values_out_at;
    ordo_u32 count, state_words, value_words, unused;
};

/* Arguments of a selection on CPUs. */
struct top_chunks {
    ordo_u64 keys_at;
    ordo_u32 count, chunk, needed;
    ordo_u32 room;
};

ORDO_STATIC_ASSERT(sizeof(struct top_pass) == 3 * 8 + 10 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_order) == 4 * 8 + 4 * 4, "no padding");
ORDO_STATIC_ASSERT(sizeof(struct top_chunks) == 8 + 4 * 4, "no padding");
