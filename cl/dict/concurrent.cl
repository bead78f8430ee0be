/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of concurrent kernels:
 *
 *   CONCURRENT_HISTORY 1   records when each operation begins and ends
 *   CONCURRENT_FAULTS 1    injects the faults in the argument `faults` (enum ordo_fault) */
#pragma once
#include "device/atomic.cl"
#include "dict/codes.cl"
#include "shared/faults.h"

#ifndef CONCURRENT_HISTORY
#define CONCURRENT_HISTORY 0
#endif
#ifndef CONCURRENT_FAULTS
#define CONCURRENT_FAULTS 0
#endif

typedef struct {
    uint kinds;
    uint dice;
} concurrent_faults;

ORDO_FN bool concurrent_has(const concurrent_faults *faults, uint kind)
{
    return CONCURRENT_FAULTS && (faults->kinds & kind);
}

ORDO_FN bool concurrent_strikes(concurrent_faults *faults, uint kind, uint one_in)
{
    if (!concurrent_has(faults, kind))
        return false;
    faults->dice = faults->dice * 1664525u + 1013904223u;
    return (faults->dice >> 8) % one_in == 0;
}

ORDO_FN void concurrent_wait(volatile __global uint *clock, uint ticks, uint looks)
{
    const uint since = ordo_load_relaxed(clock);
    for (uint k = 0; k < looks && ordo_load_relaxed(clock) - since < ticks; k++)
        ordo_pause();
}

#define CONCURRENT_PAUSE_TICKS 16
#define CONCURRENT_PAUSE_LOOKS (ORDO_CPU ? 1000 : 100)

ORDO_FN concurrent_faults concurrent_begin(volatile __global uint *clock, uint kinds)
{
    concurrent_faults faults = { kinds, 0 };
    if (CONCURRENT_FAULTS)
        faults.dice = (uint) get_global_id(0) * 2654435761u + ordo_add(clock, 1) * 40503u;
    if (concurrent_has(&faults, FAULT_LATE_START) && get_global_id(0) % 64 == 0)
        concurrent_wait(clock, 1, ORDO_CPU ? 2000000 : 1000);
    return faults;
}

/* Records the begin (end = 0) or end (end = 1) of operation i. */
ORDO_FN void concurrent_tick(__global uint *history, volatile __global uint *clock, uint i, uint end)
{
    if (CONCURRENT_HISTORY) {
        ordo_fence_device();
        history[2 * i + end] = ordo_add(clock, 1);
        ordo_fence_device();
    }
}

ORDO_FN void concurrent_outcome(__global uchar *outcomes, __global uint *history, volatile __global uint *clock, uint i,
                                uint outcome)
{
    concurrent_tick(history, clock, i, 1);
    if (outcomes)
        outcomes[i] = (uchar) outcome;
}
