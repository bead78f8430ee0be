/* SPDX-License-Identifier: Apache-2.0 */
/* Merging by merge path within a work-group's local memory, and by one work-item in global memory.
 *
 * The stable merge of a and b is a path through the grid of their elements, one step to the right for an element of a,
 * one down for one of b. Its first d steps end on the d-th diagonal; where on it, a binary search tells without knowing
 * the path. Green, McColl, Bader, GPU Merge Path (ICS 2012).
 *
 * Keys are compared in their ordered form (shared/key.h). If a or b is not in order, every function here still stays
 * within a and b.
 */
#pragma once
#include "shared/key.h"

/* Where a merge stands in one array that holds both parts: the next element of each, and where each part ends. */
typedef struct {
    uint a, a_end, b, b_end;
} merge_cursor;

/* How many of the first `diagonal` elements of the merge of a and b are a's. diagonal <= a_count + b_count.
 * Callable from anywhere. */
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

/* Defines `name`, which takes the next `items` elements of the merge at a cursor: merged[i] is an element, from[i]
 * where in `keys` it stood. Once both parts are used up, what is left of merged and from has no meaning, and keys is
 * read up to `items` places past a part's end: it must have that much room. Callable from anywhere. (A macro,
 * because register arrays need a constant length.) */
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

/* How a kernel without values spells their type: its pointers are never followed. */
#if ORDO_VALUE_BYTES
typedef ordo_value merge_value;
#else
typedef uchar merge_value;
#endif
