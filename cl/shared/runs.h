/* SPDX-License-Identifier: Apache-2.0 */
/* Formats in which kernels get sorted runs. A run is a sorted array with a *hidden bit* per element
 * (host/dict/sorted_run.h). Elements with hidden bit 1 are not in the dictionary. */
#pragma once
#include "shared/types.h"

/* A run has blocks of RUN_BLOCK elements. visible[b] is the number of elements before block b whose hidden bit is 0. */
#define RUN_BLOCK 128

/* Maximum number of runs, equal to ORDO_MAX_RUNS. */
#define RUN_TABLE_MAX 16

/* hidden_at[r] has this value if run r has no hidden elements. */
#define RUN_TABLE_NONE 0xffffffffu

/* The runs that a kernel reads. `hidden_at` and `visible_at` are offsets in the key buffer, in units of 256 bytes.
 * Every `stride`-th element of a run is a sample. Run r has samples n_samples_before[r] to
 * n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];
    ordo_u64 values_at[RUN_TABLE_MAX];
    ordo_u32 hidden_at[RUN_TABLE_MAX];
    ordo_u32 visible_at[RUN_TABLE_MAX];
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    /* A merge divides its output into parts. Each part but the last has `window` samples, and ends with a sample. */
    ordo_u32 window;
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");

/* Values of the macro RUNS_HIDDEN (primitive/merge_runs.cl). */
#define RUNS_PLAIN  0
#define RUNS_KEEP   1 /* The merge writes all elements and their hidden bits. */
#define RUNS_FILTER 2 /* The merge omits hidden elements. */
#define RUNS_DEDUP  3 /* The merge writes each key's newest element, unless it is hidden. */

#define MERGE_RUNS_HEADS 4

/* Kernel run_hide sets the hidden bits of elements `first` to `end` - 1 of a run to 1. Two members count elements
 * whose hidden bit is 0 when the kernel starts:
 *
 *  before  among elements 0 to `first` - 1
 *  gone    among elements `first` to `end` - 1 */
typedef struct {
    ordo_u32 first, end, before, gone;
} run_interval;

#define RUN_FIRST_STAGE 1
#define RUN_LAST_STAGE  2

/* Kernel run_check checks rules of host/dict/sorted_run.h (R1, R4 ...). For each rule, it writes the first index i for
 * which the sentence below is true, or RUN_NOTHING. */
enum {
    RUN_UNSORTED,   /* R1: Element i is greater than the next element. */
    RUN_REPEATED,   /* R6: Element i has the key of the next element. */
    RUN_NOT_HIDDEN, /* R4: Of elements i to i + 31, one is not hidden, although a newer element has its key. */
    RUN_TOMBSTONE,  /* R7: One of elements i to i + 31 is hidden, but is the newest of its key. */
    RUN_MISCOUNTED, /* R5: visible[i] is wrong. */
    RUN_STALE,
    RUN_N_FINDINGS
};
#define RUN_NOTHING 0xffffffffu
