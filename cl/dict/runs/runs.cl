/* SPDX-License-Identifier: Apache-2.0 */
/* All runs of a set in local memory, and places in them. The host gives ORDO_KEY, ORDO_VALUE_BYTES and RUN_GROUP to every
 * kernel of this folder. Each kernel is a loop over elements in which no work-item needs another's. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/less.cl"
#include "group/runs.cl"

typedef struct {
    runs_keys   key_of[RUN_TABLE_MAX];
    runs_values value_of[RUN_TABLE_MAX];
    runs_words  hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
} range_runs;

ORDO_FN void range_barrier(void)
{
#if RUN_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* How many of the elements 0 .. i - 1 of run r are visible. */
ORDO_FN uint range_visible(__local const range_runs *runs, uint r, uint i)
{
    return runs->hidden_of[r] ? run_visible_before(runs->hidden_of[r], runs->visible_of[r], i) : i;
}
