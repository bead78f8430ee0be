/* SPDX-License-Identifier: Apache-2.0 */
/* Defines how kernels get sorted runs. host/dict/sorted_run.h draws a run and lists its invariants. */
#pragma once
#include "shared/types.h"

/* Elements per entry of `visible`. Their hidden bits are four words, one load. */
#define RUN_BLOCK 128

/* Equals ORDO_MAX_RUNS of include/ordo/array.h. */
#define RUN_TABLE_MAX 16

/* The hidden_at of a run that has no hidden bits. */
#define RUN_TABLE_NONE 0xffffffffu

/* Elements stride - 1, 2 * stride - 1, ... of a run are samples. Run r has samples n_samples_before[r] to
 * n_samples_before[r + 1] - 1. */
typedef struct {
    ordo_u64 keys_at[RUN_TABLE_MAX];    /* index of run r's first key in its buffer of keys, or 0 */
    ordo_u64 values_at[RUN_TABLE_MAX];  /* index of its first value in its buffer of values */
    ordo_u32 hidden_at[RUN_TABLE_MAX];  /* offset of hidden bits in the buffer of keys, in units of 256 bytes */
    ordo_u32 visible_at[RUN_TABLE_MAX]; /* offset of visible counts, in the same units */
    ordo_u32 count[RUN_TABLE_MAX];
    ordo_u32 n_samples_before[RUN_TABLE_MAX + 1];
    ordo_u32 n_runs;
    ordo_u32 stride;
    ordo_u32 window; /* every window-th sample in key order ends a tile */
} run_table;

ORDO_STATIC_ASSERT(sizeof(run_table) == (8 * 2 + 4 * 3) * 16 + 4 * 17 + 3 * 4, "both compilers lay a table out alike");

/* Ways to merge runs with hidden bits (RUNS_HIDDEN of primitive/merge_runs.cl). */
#define RUNS_PLAIN  0
#define RUNS_KEEP   1 /* bits move with their elements */
#define RUNS_FILTER 2 /* writes only elements whose bit is 0; needs resolved runs */
#define RUNS_DEDUP  3 /* writes only the last element of each key, if its bit is 0 */

/* Elements per work-item of runs_heads. It loads them together. */
#define MERGE_RUNS_HEADS 4

/* An interval of a run that is erased or to be erased: elements first .. end - 1. `before` counts the visible elements
 * before `first`, `gone` the visible elements of the interval. */
typedef struct {
    ordo_u32 first, end, before, gone;
} run_interval;

#define RUN_FIRST_STAGE 1
#define RUN_LAST_STAGE  2

/* Findings of run_check (dict/runs/check.cl). Each is the first element that breaks the invariant, or RUN_NOTHING. */
enum {
    RUN_UNSORTED,   /* R1: an element greater than the next */
    RUN_REPEATED,   /* R6: an element equal to the next */
    RUN_NOT_HIDDEN, /* R4: the first of 32 elements with a stale one that is not hidden */
    RUN_TOMBSTONE,  /* R7: the first of 32 elements with a hidden one that is not stale */
    RUN_MISCOUNTED, /* R5: a wrong entry of `visible` */
    RUN_STALE,
    RUN_N_FINDINGS
};
#define RUN_NOTHING 0xffffffffu
