/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over independent elements. Work-item i takes element i, and every global_size-th after it. The host defines
 * ORDO_KEY, ORDO_VALUE_BYTES and RUN_GROUP for kernels of dict. */
#pragma once
#include "device/compiler.cl"
#include "shared/step.h"

#ifndef RUN_GROUP
#define RUN_GROUP 64 /* work-items per group */
#endif

/* Loops over this work-item's elements. The counter does not wrap, even if n is near the end of the type. */
#define RUN_EACH(type, i, n)                                                                                           \
    for (type i = (type) get_global_id(0), i##_stride = (type) get_global_size(0); i < (n);                            \
         i = (n) - (i) <= i##_stride ? (n) : i + i##_stride)

/* A work-item has this many queries in flight. */
#define RUN_STEP (ORDO_CPU ? RUN_STEP_CPU : 1)
/* RUN_STEPS work-items handle n queries. Work-item s takes `some` (1 to RUN_STEP) queries from s * RUN_STEP on. */
#define RUN_STEPS(n)   (((n) + (RUN_STEP - 1)) / RUN_STEP)
#define RUN_SOME(some) (RUN_STEP == 1 ? 1 : (some))

/* starts[i], ascending, is the first item of owner i. Returns the last owner in [low, high] whose first item is at most
 * c. */
ORDO_FN uint each_owner(__global const ulong *starts, uint low, uint high, ulong c)
{
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (starts[middle] <= c)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Does each_owner for [low, n - 1]. Fast if the result is near `low`. */
ORDO_FN uint each_owner_from(__global const ulong *starts, uint low, uint n, ulong c)
{
    uint step = 1;
    while (step < n - low && starts[low + step] <= c) {
        low += step;
        step *= 2;
    }
    return each_owner(starts, low, low + min(step, n - low) - 1, c);
}
