/* SPDX-License-Identifier: Apache-2.0 */
/* RUN_EACH of cl/dict/each.cl in a launch of `size` work-items. This launch runs the work-items from `first` on
 * (tests/primitive/group.c), so counts near 2^32 are quick. steps[w]: iterations of work-item w, none after STEPS_MAX;
 * wrong[w]: iterations that were not one stride on. */
#include "dict/each.cl"

#define STEPS_MAX          400
#define get_global_id(d)   (first + w)
#define get_global_size(d) (size)

ORDO_KERNEL(1) void each_stride(uint n, uint first, uint size, __global uint *steps, __global uint *wrong)
{
    const uint w = (uint) get_group_id(0);
    uint       turns = 0, bad = 0, last = 0;
    RUN_EACH (uint, i, n) {
        const ulong want = (ulong) first + w + (ulong) turns * size;
        bad += i != want;
        last = i;
        if (++turns > STEPS_MAX)
            break;
    }
    steps[w] = turns;
    wrong[w] = bad + (turns > 0 && (ulong) last + size < n);
}
