/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a multi-way merge, as a kernel argument. Some may be empty. */
#pragma once
#include "shared/types.h"

/* ORDO_MAX_RUNS of include/ordo/array.h, in a word that both compilers know. */
#define RUN_TABLE_MAX 16

/* No bits: hidden_at of a run without. */
#define RUN_TABLE_NONE 0xffffffffu

/* Every `stride`-th element of a run, from its element stride - 1 on, is a sample. The samples of all runs are numbered
 * run by run: those of run r are n_samples_before[r] to n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];    /* the first element of run r in its buffer of keys; of unused entries 0 */
    ordo_u64 values_at[RUN_TABLE_MAX];  /* and in that of values */
    ordo_u32 hidden_at[RUN_TABLE_MAX];  /* hidden bits, in 256 bytes from the start of the buffer of keys */
    ordo_u32 visible_at[RUN_TABLE_MAX]; /* visible counts, likewise */
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    ordo_u32 window; /* samples per tile: every window-th in key order ends a tile */
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");
