/* SPDX-License-Identifier: Apache-2.0 */
/* Loops for dictionary kernels. Each loop distributes its indices over all work-items. The host must define ORDO_KEY
 * and ORDO_VALUE_BYTES. */
#pragma once
#include "device/compiler.cl"
#include "shared/step.h"

#ifndef RUN_GROUP
#define RUN_GROUP 64
#endif

/* Grid-stride loop over indices 0 .. n - 1. */
#define RUN_EACH(type, i, n)                                                                                           \
    for (type i = (type) get_global_id(0), i##_stride = (type) get_global_size(0); i < (n);                            \
         i = (n) - (i) <= i##_stride ? (n) : i + i##_stride)

#define RUN_STEP       (ORDO_CPU ? RUN_STEP_CPU : 1)
#define RUN_STEPS(n)   (((n) + (RUN_STEP - 1)) / RUN_STEP)
#define RUN_SOME(some) (RUN_STEP == 1 ? 1 : (some))

/* Owner i has the items starts[i] .. starts[i + 1] - 1. Returns the owner of item c, which must be between `low` and
 * `high`. */
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

/* Like each_owner with high = n - 1. Is faster if the owner is near `low`. */
ORDO_FN uint each_owner_from(__global const ulong *starts, uint low, uint n, ulong c)
{
    uint step = 1;
    while (step < n - low && starts[low + step] <= c) {
        low += step;
        step *= 2;
    }
    return each_owner(starts, low, low + min(step, n - low) - 1, c);
}
