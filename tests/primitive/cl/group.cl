/* SPDX-License-Identifier: Apache-2.0 */
/* group/scan.cl, one call per kernel, for tests/primitive/group.c. Each kernel calls twice with the same scratch, as
 * loops over tiles do. The first call's result is the second call's input. */
#include "group/scan.cl"

#define LATER_(a, b) max((a), (b))
GROUP_SCAN_DEFINE(max, uint, , LATER_, 0u)
GROUP_SCAN_DEFINE(max64, ulong, 64, LATER_, 0ul)

#define TEST_KERNELS(name, type)                                                                                       \
    ORDO_KERNEL(GROUP_SIZE) void scan_##name(__global const type *in, __global type *out, __global type *totals)       \
    {                                                                                                                  \
        __local type scratch[GROUP_SCAN_WORDS];                                                                        \
        const uint   i = (uint) get_global_id(0);                                                                      \
        type         total;                                                                                            \
        const type   once = group_scan_##name(in[i], scratch, &total);                                                 \
        totals[2 * i] = total;                                                                                         \
        out[i] = group_scan_##name(once ^ in[i], scratch, &total);                                                     \
        totals[2 * i + 1] = total;                                                                                     \
    }                                                                                                                  \
    ORDO_KERNEL(GROUP_SIZE) void reduce_##name(__global const type *in, __global type *out)                            \
    {                                                                                                                  \
        __local type scratch[GROUP_SCAN_WORDS];                                                                        \
        const uint   i = (uint) get_global_id(0);                                                                      \
        const type   once = group_reduce_##name(in[i], scratch);                                                       \
        out[2 * i] = once;                                                                                             \
        out[2 * i + 1] = group_reduce_##name(once ^ in[i], scratch);                                                   \
    }

TEST_KERNELS(add, uint)
TEST_KERNELS(add64, ulong)
TEST_KERNELS(max, uint)
TEST_KERNELS(max64, ulong)
