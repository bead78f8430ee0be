/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the work-group that finishes last, so that it can combine what all groups have stored. No group waits. */
#pragma once
#include "device/atomic.cl"

#ifndef GROUP_SIZE
#define GROUP_SIZE 64
#endif

/* Returns whether the calling work-item is the last of `groups` callers. Orders memory as group_is_last does. */
ORDO_FN bool last_group_leave(volatile __global uint *finished, uint groups)
{
    ordo_fence_device();
    if (ordo_add(finished, 1) != groups - 1)
        return false;
    ordo_fence_device();
    ordo_store_relaxed(finished, 0);
    return true;
}

/* Returns true in the group that calls last, else false. `groups` groups must call, and all work-items of each. In the
 * last group, accesses after the call happen after all accesses that any of the groups made before its call. *finished
 * must be 0 before a launch, and is 0 after. *is_last needs a barrier before its next use. */
ORDO_FN bool group_is_last(volatile __global uint *finished, uint groups, __local uint *is_last)
{
#if GROUP_SIZE == 1
    (void) is_last;
    return last_group_leave(finished, groups);
#else
    ordo_barrier_release();
    if (get_local_id(0) == 0)
        *is_last = last_group_leave(finished, groups);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *is_last;
#endif
}
