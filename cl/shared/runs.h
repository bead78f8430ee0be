/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden bits and visible counts of sorted runs. host/dict/runs.h draws a run and has the invariants. */
#pragma once
#include "shared/types.h"

#define RUN_BLOCK 512 /* elements per entry of `visible` */

#ifdef __OPENCL_C_VERSION__
#include "device/compiler.cl"

/* Whether element i is hidden; hidden NULL: none is. */
ORDO_FN bool run_is_hidden(__global const uint *hidden, uint i)
{
    return hidden && (hidden[i >> 5] >> (i & 31) & 1);
}

/* How many of the elements 0 .. i - 1 are visible, where there are bits and a directory (R4). */
ORDO_FN uint run_visible_before(__global const uint *hidden, __global const uint *visible, uint i)
{
    const uint first = i / RUN_BLOCK * (RUN_BLOCK / 32), last = i >> 5;
    uint       n = visible[i / RUN_BLOCK];

    for (uint word = first; word < last; word++)
        n += popcount(~hidden[word]);
    return i & 31 ? n + popcount(~hidden[last] & ((1u << (i & 31)) - 1)) : n;
}
#endif
