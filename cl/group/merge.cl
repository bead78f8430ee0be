/* SPDX-License-Identifier: Apache-2.0 */
/* Merges in local memory by merge path. The stable merge of a and b is a path through the grid of their elements: a
 * step right takes an element of a, a step down takes an element of b. The first d steps end on the d-th diagonal,
 * where a binary search finds their end without following the path. Green, McColl, Bader, GPU Merge Path (ICS 2012).
 *
 * Keys are compared in their ordered form (shared/key.h). If a or b is not in order, every function still stays within
 * their bounds. */
#pragma once
#include "shared/key.h"

/* The state of a merge of parts a and b of one array: the index of each part's next element, and each part's end. */
typedef struct {
    uint a, a_end, b, b_end;
} merge_cursor;

/* The number of a's elements among the first `diagonal` <= a_count + b_count elements of the merge. */
ORDO_FN uint merge_path(__local const ordo_key_form *a, uint a_count, __local const ordo_key_form *b, uint b_count,
                        uint diagonal)
{
    uint low = diagonal - min(diagonal, b_count), high = min(diagonal, a_count);
    while (low < high) {
        const uint middle = (low + high) / 2;
        const bool is_before = a[middle] <= b[diagonal - 1 - middle];
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* Defines the function `name`. It returns the next `items` elements of the merge from cursor `at` on: keys in merged[],
 * their indices in `keys` in from[]. After both parts are used up, results are meaningless. It reads up to `items` keys
 * past a part's end, so `keys` must be that much longer. A macro, because register arrays need a constant length. */
#define MERGE_DEFINE_SERIAL(name, items)                                                                               \
    ORDO_FN void name(__local const ordo_key_form *keys, merge_cursor at, __private ordo_key_form *merged,             \
                      __private uint *from)                                                                            \
    {                                                                                                                  \
        ordo_key_form a = keys[at.a], b = keys[at.b];                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint i = 0; i < (items); i++) {                                                                           \
            const bool take_a = at.b >= at.b_end || (at.a < at.a_end && a <= b);                                       \
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

/* The type of values. Kernels without values never dereference merge_value pointers. */
#if ORDO_VALUE_BYTES
typedef ordo_value merge_value;
#else
typedef uchar merge_value;
#endif
