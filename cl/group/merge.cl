/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two sorted arrays a and b in local memory. Keys are in ordered form (shared/key.h). Unsorted input causes no
 * read out of bounds. Green, McColl, Bader, GPU Merge Path (ICS 2012). */

#pragma once
#include "shared/key.h"

typedef struct {
    uint a, a_end, b, b_end;
} merge_cursor;

/* Returns how many of the first `diagonal` merged elements come from a. `diagonal` is at most a_count + b_count. */
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

/* Defines the function `name`. It writes the next `items` merged keys to merged[]. Their indices in keys[] go to
 * from[]. It may read up to `items` keys after the end of a or b. */
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
