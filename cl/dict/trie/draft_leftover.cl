/* SPDX-License-Identifier: Apache-2.0 */
/* In a concurrent batch, an update gives up after too many tries, or if memory is short. The host then executes it in
 * an ordered batch. These kernels copy such updates to the ordered batch, and copy its results back. */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/value.cl"
#include "shared/key.h"

/* Built together: draft_gather draft_scatter */

ORDO_KERNEL(RUN_GROUP)
void draft_gather(__global const uint *pending, uint first, uint count, __global const uchar *codes, ulong codes_at,
                  __global const ordo_key *keys, ulong keys_at, __global const uchar *values, ulong values_at,
                  __global uchar *codes_out, __global ordo_key *keys_out, __global uchar *values_out)
{
    RUN_EACH (uint, l, count) {
        const uint i = pending[first + l], code = codes[codes_at + i];
        codes_out[l] = (uchar) code;
        keys_out[l] = keys[keys_at + i];
        if (values && code != CODE_ERASE)
            value_copy(values, values_at + i, ORDO_VALUE_BYTES, values_out, l);
        else
            value_clear(ORDO_VALUE_BYTES, values_out, l);
    }
}

/* results[l] belongs to operation pending[first + l] of the concurrent batch. `results` is NULL if the updates were not
 * stored. */
ORDO_KERNEL(RUN_GROUP)
void draft_scatter(__global const uint *pending, uint first, uint count, __global const uchar *results,
                   __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                   __global uint *history, uint tick)
{
    RUN_EACH (uint, l, count) {
        const uint i = pending[first + l];
        if (found && results)
            found[found_at + i] = results[l];
        if (outcomes)
            outcomes[outcomes_at + i] = results ? OUTCOME_DONE : OUTCOME_NOT_STORED;
        if (history)
            history[2 * i + 1] = tick + l;
    }
}
