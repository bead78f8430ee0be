/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that ranks answer: run_count, run_seek and run_rank make one run's part of the answers. */
#pragma once
#include "dict/runs/runs.cl"

/* counts[i] (+)= visible elements between the ranks of lo[i] and hi[i], which are ranks[i] and ranks[n + i]. */
ORDO_KERNEL(RUN_GROUP)
void run_count(__global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
               __global const uint *ranks, __global const uint *hidden, ulong hidden_at, __global const uint *visible,
               ulong visible_at, uint first, __global uint *counts, ulong counts_at)
{
    if (hidden)
        hidden += hidden_at;
    visible += visible_at;
    counts += counts_at;
    RUN_EACH (uint, i, n) {
        const bool some = key_bits(lo[lo_at + i]) <= key_bits(hi[hi_at + i]);
        uint       count = first ? 0 : counts[i];
        if (some)
            count += run_visible_between(hidden, visible, ranks[i], ranks[n + i]);
        counts[i] = count;
    }
}

/* The nearest visible element of this run at or after its rank (the first n_forward), or before it, if it is nearer than what
 * the runs before have found. */
ORDO_KERNEL(RUN_GROUP)
void run_seek(__global const ordo_key *keys, __global const merge_value *values, ulong values_at, uint count,
              __global const uint *hidden, ulong hidden_at, __global const uint *visible, ulong visible_at,
              __global const uint *ranks, uint n, uint n_forward, uint first, __global ordo_key *keys_out,
              ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global uchar *found,
              ulong found_at)
{
    if (hidden)
        hidden += hidden_at;
    visible += visible_at;
    RUN_EACH (uint, i, n) {
        const bool forward = i < n_forward;
        const uint place = forward ? run_next_visible(hidden, visible, ranks[i], count)
                                   : run_last_visible(hidden, visible, ranks[i]) - 1;
        const bool before = !first && found[found_at + i];
        if (place < count) {
            const ordo_key_form mine = key_bits(keys[place]);
            const ordo_key_form other = before ? key_bits(keys_out[keys_out_at + i]) : 0;
            if (!before || (forward ? mine < other : mine > other)) {
                keys_out[keys_out_at + i] = key_from_bits(mine);
#if ORDO_VALUE_BYTES
                if (values_out)
                    values_out[values_out_at + i] = values[values_at + place];
#endif
            }
        }
        found[found_at + i] = before || place < count;
    }
}

/* ranks[i] (+)= visible elements before local_ranks[i]. */
ORDO_KERNEL(RUN_GROUP)
void run_rank(__global const uint *local_ranks, uint n, __global const uint *hidden, ulong hidden_at,
              __global const uint *visible, ulong visible_at, uint first, __global uint *ranks, ulong ranks_at)
{
    RUN_EACH (uint, i, n) {
        const uint here =
            hidden ? run_visible_before(hidden + hidden_at, visible + visible_at, local_ranks[i]) : local_ranks[i];
        ranks[ranks_at + i] = (first ? 0 : ranks[ranks_at + i]) + here;
    }
}
