/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two sorted parts a and b in local memory by merge path. The merge is a path through a grid: a step right takes
 * an element of a, a step down an element of b. After d steps, the path is on diagonal d. A binary search on the
 * diagonal finds this point directly. Green, McColl, Bader, GPU Merge Path (ICS 2012). */

/* Keys must be in ordered form (shared/key.h). Unsorted input causes no read outside of a and b. */
#pragma once
#include "shared/key.h"

/* State of a merge of parts a and b of one array: the next element and the end of each part. */
typedef struct {
    uint a, a_end, b, b_end;
} merge_cursor;

/* Returns how many of the first `diagonal` elements of the merge come from a. The caller must have diagonal <=
 * a_count + b_count. */
ORDO_FN uint merge_path(__local const ordo_key_form *a, uint a_count, __local const ordo_key_form *b, uint b_count,
                        uint diagonal)
{
    uint low = diagonal - min(diagonal, b_count), high = min(diagonal, a_count);
    while (low < high) {
        const uint middle = (low + high) / 2;
        const bool is_before = key_upto(a[middle], b[diagonal - 1 - middle]);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* Defines function `name`, which merges the next `items` elements of the two parts of cursor `at`. Sets merged[] to the
 * keys, and from[] to their indices in `keys`. `keys` must be longer than the parts by `items` keys, because the
 * function may read them. */
#define MERGE_DEFINE_SERIAL(name, items)                                                                               \
    ORDO_FN void name(__local const ordo_key_form *keys, merge_cursor at, __private ordo_key_form *merged,             \
                      __private uint *from)                                                                            \
    {                                                                                                                  \
        ordo_key_form a = keys[at.a], b = keys[at.b];                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint i = 0; i < (items); i++) {                                                                           \
            const bool take_a = at.b >= at.b_end || (at.a < at.a_end && key_upto(a, b));                               \
            merged[i] = take_a ? a : b;                                                                                \
            from[i] = take_a ? at.a : at.b;                                                                            \
            const uint          next = from[i] + 1;                                                                    \
            const ordo_key_form fresh = keys[next];                                                                    \
            a = take_a ? fresh : a;                                                                                    \
            b = take_a ? b : fresh;                                                                                    \
            at.a = take_a ? next : at.a;                                                                               \
            at.b = take_a ? at.b : next;                                                                               \
        }                                                                                                              \
    }

#if ORDO_VALUE_BYTES
typedef ordo_value merge_value;
#else
typedef uchar merge_value;
#endif
