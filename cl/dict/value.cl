/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "device/compiler.cl"

ORDO_FN void value_copy(__global const uchar *values, ulong from, uint bytes, __global uchar *out, ulong to)
{
    if (bytes == 4)
        ((__global uint *) out)[to] = ((__global const uint *) values)[from];
    else if (bytes == 8)
        ((__global ulong *) out)[to] = ((__global const ulong *) values)[from];
    else if (bytes == 16)
        ((__global ulong2 *) out)[to] = ((__global const ulong2 *) values)[from];
}

ORDO_FN void value_clear(uint bytes, __global uchar *out, ulong to)
{
    if (bytes == 4)
        ((__global uint *) out)[to] = 0;
    else if (bytes == 8)
        ((__global ulong *) out)[to] = 0;
    else if (bytes == 16)
        ((__global ulong2 *) out)[to] = 0;
}
