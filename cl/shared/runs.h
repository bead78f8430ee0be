/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the structures with which the host passes sorted runs to kernels. A run is a sorted array with flags for
 * erased elements. host/dict/sorted_run.h shows its layout and lists its invariants. */
#pragma once
#include "shared/types.h"

/* Number of elements per entry of the array `visible`, which counts elements that are not hidden. A kernel reads the
 * 128 hidden bits of a block as one vector of four words. */
#define RUN_BLOCK 128

/* Maximum number of runs. Equals ORDO_MAX_RUNS of include/ordo/array.h. */
#define RUN_TABLE_MAX 16

/* Value of hidden_at[r] if run r has no bitmap of hidden elements. */
#define RUN_TABLE_NONE 0xffffffffu

/* Describes all runs of a batch, for kernels. Every stride-th element of a run is a sample. The samples of all runs
 * are numbered: run r has the samples n_samples_before[r] to n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];    /* Index of the first key of run r in its buffer. */
    ordo_u64 values_at[RUN_TABLE_MAX];  /* Index of the first value of run r in its buffer. */
    ordo_u32 hidden_at[RUN_TABLE_MAX];  /* Offset of the bitmap of hidden elements in the keys' buffer, in 256 bytes. */
    ordo_u32 visible_at[RUN_TABLE_MAX]; /* Offset of the array `visible` in the keys' buffer, in 256 bytes. */
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    ordo_u32 window; /* Number of samples per tile. Every window-th sample in key order ends a tile. */
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");

/* Values of RUNS_HIDDEN, a macro of primitive/merge_runs.cl. It states what the merge does with hidden elements,
 * which are elements that a newer run replaces or erases. */
#define RUNS_PLAIN  0
#define RUNS_KEEP   1 /* The merge copies the hidden bits with their elements. */
#define RUNS_FILTER 2 /* The merge writes only elements that are not hidden. */
#define RUNS_DEDUP  3 /* The merge writes only the newest element of each key, unless it is hidden. */

/* Number of elements that a work-item of kernel runs_heads loads at once. */
#define MERGE_RUNS_HEADS 4

/* An interval of elements of one run that an erase of a key range hides: elements `first` to `end` - 1. `before` is
 * the number of visible elements before `first`. `gone` is the number of visible elements in the interval. */
typedef struct {
    ordo_u32 first, end, before, gone;
} run_interval;

#define RUN_FIRST_STAGE 1
#define RUN_LAST_STAGE  2

/* Indices of the results of kernel run_check (dict/runs/check.cl). Each word is the index of the first element that
 * violates the invariant, or RUN_NOTHING. R1 to R7 are defined in host/dict/sorted_run.h. */
enum {
    RUN_UNSORTED,   /* R1: The element is greater than the next element. */
    RUN_REPEATED,   /* R6: The element has the same key as the next element. */
    RUN_NOT_HIDDEN, /* R4: Among 32 elements from this index, one is stale but not hidden. */
    RUN_TOMBSTONE,  /* R7: Among 32 elements from this index, one is hidden but not stale. */
    RUN_MISCOUNTED, /* R5: This entry of `visible` is wrong. */
    RUN_STALE,
    RUN_N_FINDINGS
};
#define RUN_NOTHING 0xffffffffu
