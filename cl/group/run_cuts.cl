/* SPDX-License-Identifier: Apache-2.0 */
/* A merge of sorted runs writes its output in tiles. Finds the part of each run that belongs to a tile. */
#pragma once
#include "group/runs.cl"

/* Copies the table of runs to local memory, because compilers copy an indexed kernel argument to private memory. The
 * whole group must call. Ends with a barrier. */
ORDO_FN void runs_load_table(__private const run_table *from, __local run_table *to)
{
    if (get_local_id(0) == 0) {
        ORDO_UNROLL
        for (uint r = 0; r < RUN_TABLE_MAX; r++) {
            to->count[r] = from->count[r];
            to->n_samples_before[r] = from->n_samples_before[r];
        }
        to->n_samples_before[RUN_TABLE_MAX] = from->n_samples_before[RUN_TABLE_MAX];
        to->n_runs = from->n_runs;
        to->stride = from->stride;
        to->window = from->window;
    }
#if RUNS_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* Returns the greatest i < n with starts[i] <= x. `starts` ascends, starts[0] <= x, and n is a power of two. */
ORDO_FN uint runs_last_start(__local const uint *starts, uint n, uint x)
{
    uint found = 0;
    for (uint step = n / 2; step > 0; step /= 2)
        if (starts[found + step] <= x)
            found += step;
    return found;
}

/* Returns how many of keys[0] .. keys[high - 1] are less than x, or with `ties` at most x. The result must be at least
 * `low`. */
ORDO_FN uint runs_count_before(__global const ordo_key *keys, uint low, uint high, ordo_key_form x, bool ties)
{
    while (low < high) {
        const uint          middle = low + (high - low) / 2;
        const ordo_key_form key = key_bits(keys[middle]);
        const bool          is_before = key_before(key, x) || (ties && key_same(key, x));
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* samples[] contains one key per table->stride keys of a run. Returns how many samples of run r come before sample x of
 * run `own`. Equal keys are ordered by run. */
ORDO_FN uint runs_samples_before(__local const run_table *table, __global const ordo_key *samples, uint r,
                                 ordo_key_form x, uint own)
{
    const uint first = table->n_samples_before[r], count = table->n_samples_before[r + 1] - first;
    return runs_count_before(samples + first, 0, count, x, r < own);
}

typedef struct {
    uint begin, end;
} runs_part;

ORDO_FN runs_part runs_part_of(__local const run_table *table, __global const uint *splits, uint tile, uint n_tiles,
                               uint r)
{
    const uint count = table->count[r];
    runs_part  part = { 0, count };
    if (tile > 0)
        part.begin = min(splits[(tile - 1) * table->n_runs + r], count);
    if (tile + 1 < n_tiles)
        part.end = clamp(splits[tile * table->n_runs + r], part.begin, count);
    return part;
}
