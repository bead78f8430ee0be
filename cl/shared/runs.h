/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs as kernel arguments, and results of kernels about runs. host/dict/sorted_run.h draws a run and has the
 * invariants. */
#pragma once
#include "shared/types.h"

/* Elements per entry of `visible`: four words of bits, one load. (Counts of 1024 elements ran at 1.06 to 1.15 times the
 * rate of 512 on an H200.) */
#define RUN_BLOCK 128

/* ORDO_MAX_RUNS of include/ordo/array.h. */
#define RUN_TABLE_MAX 16

/* hidden_at of a run without bits. */
#define RUN_TABLE_NONE 0xffffffffu

/* Every `stride`-th element of a run, from element stride - 1 on, is a sample. Run r has samples n_samples_before[r] to
 * n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];    /* the first element of run r in its buffer of keys; unused: 0 */
    ordo_u64 values_at[RUN_TABLE_MAX];  /* and in its buffer of values */
    ordo_u32 hidden_at[RUN_TABLE_MAX];  /* hidden bits, in units of 256 bytes from the start of the buffer of keys */
    ordo_u32 visible_at[RUN_TABLE_MAX]; /* visible counts, likewise */
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    ordo_u32 window; /* every window-th sample in key order ends a tile */
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");

/* Ways to merge runs with hidden bits (RUNS_HIDDEN of primitive/merge_runs.cl). */
#define RUNS_PLAIN  0 /* no bits */
#define RUNS_KEEP   1 /* bits move with their elements */
#define RUNS_FILTER 2 /* of resolved runs, writes elements whose bits are 0 */
#define RUNS_DEDUP  3 /* of any runs, writes the last element of each key if its bit is 0 */

/* Elements of a work-item of runs_heads, loaded together. */
#define MERGE_RUNS_HEADS 4

/* An interval of keys in a run: elements first .. end - 1, the visible ones before them, and the number of (to be)
 * erased ones among them. */
typedef struct {
    ordo_u32 first, end, before, gone;
} run_interval;

/* Stages of a find over several runs (dict/runs/find.cl). */
#define RUN_FIRST_STAGE 1
#define RUN_LAST_STAGE  2

/* Findings of run_check (dict/runs/check.cl): the first element that breaks an invariant, or RUN_NOTHING. */
enum {
    RUN_UNSORTED,   /* R1: is greater than the next */
    RUN_REPEATED,   /* R6: equals the next */
    RUN_NOT_HIDDEN, /* R4: the first of 32 elements with a stale one that is not hidden */
    RUN_TOMBSTONE,  /* R7: the first of 32 elements with a hidden one that is not stale */
    RUN_MISCOUNTED, /* R5: a wrong entry of the directory */
    RUN_STALE,      /* the number of stale elements */
    RUN_N_FINDINGS
};
#define RUN_NOTHING 0xffffffffu
