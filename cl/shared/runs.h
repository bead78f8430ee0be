/* SPDX-License-Identifier: Apache-2.0 */
/* Passes sorted runs (host/dict/sorted_run.h) to kernels. A run is a sorted array with flags for erased elements. */
#pragma once
#include "shared/types.h"

/* Number of elements in a block. visible[b] is the number of visible elements (not replaced or erased by a newer run)
 * before block b. */
#define RUN_BLOCK 128

/* Maximum number of runs, equal to ORDO_MAX_RUNS. */
#define RUN_TABLE_MAX 16

/* Value of hidden_at[r] if run r has no bitmap of hidden elements. */
#define RUN_TABLE_NONE 0xffffffffu

/* Describes the runs that kernels read. Every stride-th element of a run is a sample. The samples of run r have the
 * numbers n_samples_before[r] to n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];    /* Index of run r's first key in its buffer. */
    ordo_u64 values_at[RUN_TABLE_MAX];  /* Index of run r's first value in its buffer. */
    ordo_u32 hidden_at[RUN_TABLE_MAX];  /* Byte offset / 256 of run r's hidden bits in the key buffer. */
    ordo_u32 visible_at[RUN_TABLE_MAX]; /* Byte offset / 256 of run r's array `visible` in the key buffer. */
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    /* Every window-th sample, in key order over all runs, is a splitter: it ends a tile of the merge. */
    ordo_u32 window;
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");

/* Values of the macro RUNS_HIDDEN (primitive/merge_runs.cl): what a merge does with hidden elements, which a newer run
 * replaces or erases. */
#define RUNS_PLAIN  0
#define RUNS_KEEP   1 /* The merge writes all elements and their hidden bits. */
#define RUNS_FILTER 2 /* The merge omits hidden elements. */
#define RUNS_DEDUP  3 /* The merge writes the newest element of each key, unless that is hidden. */

/* Number of elements per work-item of kernel runs_heads. */
#define MERGE_RUNS_HEADS 4

/* The elements `first` to `end` - 1 of a run, which an erasure of a key range hides. `gone` of them were visible.
 * `before` is the number of visible elements with an index less than `first`. */
typedef struct {
    ordo_u32 first, end, before, gone;
} run_interval;

#define RUN_FIRST_STAGE 1
#define RUN_LAST_STAGE  2

/* Results of kernel run_check: for each of the invariants R1, R4, R5, R6 and R7 (host/dict/sorted_run.h), the index i
 * of its first violation, or RUN_NOTHING. */
enum {
    RUN_UNSORTED,   /* R1: Element i is greater than the next element. */
    RUN_REPEATED,   /* R6: Element i has the key of the next element. */
    RUN_NOT_HIDDEN, /* R4: One of elements i to i + 31 is not hidden, although a newer element has its key. */
    RUN_TOMBSTONE,  /* R7: One of elements i to i + 31 is hidden, although it is the newest of its key. */
    RUN_MISCOUNTED, /* R5: visible[i] is wrong. */
    RUN_STALE,
    RUN_N_FINDINGS
};
#define RUN_NOTHING 0xffffffffu
