/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over elements in which no work-item needs another's: element i belongs to work-item i, and to those as many
 * elements on as there are work-items. */
#pragma once
#include "device/compiler.cl"
#include "shared/step.h"

#ifndef RUN_GROUP
#define RUN_GROUP 64 /* work-items of a group */
#endif

/* Nothing wraps, however near n is to the end of the type. */
#define RUN_EACH(type, i, n)                                                                                           \
    for (type i = (type) get_global_id(0), i##_stride = (type) get_global_size(0); i < (n);                            \
         i = (n) - (i) <= i##_stride ? (n) : i + i##_stride)

/* Queries that a work-item has in flight. */
#define RUN_STEP (ORDO_CPU ? RUN_STEP_CPU : 1)
/* Work-items that n queries take; work-item s has `some`, 1 to RUN_STEP, from s * RUN_STEP on. */
#define RUN_STEPS(n) (((n) + (RUN_STEP - 1)) / RUN_STEP)
/* Known to the compiler where it is one. */
#define RUN_SOME(some) (RUN_STEP == 1 ? 1 : (some))

/* ---- shares of many items, some items an owner ------------------------------------------------------------------- */

/* starts[i]: where owner i's items begin, ascending. The last owner from `low` to `high` that begins at or before c. */
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

/* The same, from `low` up to the last of n; found fast near `low`. */
ORDO_FN uint each_owner_from(__global const ulong *starts, uint low, uint n, ulong c)
{
    uint step = 1;
    while (step < n - low && starts[low + step] <= c) {
        low += step;
        step *= 2;
    }
    return each_owner(starts, low, low + min(step, n - low) - 1, c);
}
