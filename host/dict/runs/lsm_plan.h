/* SPDX-License-Identifier: Apache-2.0 */
/* The plans of the GPU LSM decide when lsm.c merges runs. An element is stale if it is replaced or erased, else
 * live. */
#ifndef ORDO_LSM_PLAN_H
#define ORDO_LSM_PLAN_H

#include "dict/runs/runs.h"
#include "ordo/lsm.h"

struct ordo_lsm {
    struct ordo_runs       runs; /* Must be first. */
    struct ordo_lsm_config config;
    /* Lower bound of the number of live elements: the last count minus later erasures. */
    size_t live;
    size_t arrived;  /* Number of elements stored or erased since the last count. */
    bool   resolved; /* True if a query since the last update has hidden all stale elements, or has failed to. */
};

enum ordo_lsm_action {
    LSM_KEEP,   /* do nothing */
    LSM_MERGE,  /* Merge the runs from `first` on into one. */
    LSM_GATHER, /* Move the live elements into one run, in one pass. */
    LSM_COUNT,  /* Count the live elements. Clean up if more than `percent` of the stored elements are stale. */
    LSM_CLEAN,  /* Move the live elements into one run. */
};

struct ordo_lsm_plan {
    enum ordo_lsm_action action;
    size_t               first;
    uint32_t             percent;
};

size_t ordo_lsm_stored_from(const struct ordo_lsm *lsm, size_t first);
size_t ordo_lsm_stored(const struct ordo_lsm *lsm);
/* Returns whether more than `percent` of the stored elements may be stale. */
bool ordo_lsm_is_stale(const struct ordo_lsm *lsm, uint32_t percent);

/* Decides which runs to merge with a batch that has become the newest run. If there may be 8 stored elements for each
 * live one, merges all runs (LSM_GATHER). */
struct ordo_lsm_plan ordo_lsm_plan_batch(const struct ordo_lsm *lsm);
/* Decides whether to clean up after a change: if there may be 8 stored elements for each live one, or earlier by the
 * options cleanup_stale_percent and cleanup_doubled. After an update, the plan of ordo_lsm_plan_batch must be executed
 * first. */
struct ordo_lsm_plan ordo_lsm_plan_change(const struct ordo_lsm *lsm);

uint64_t ordo_lsm_query_cost(const struct ordo_run_set *set, size_t first, size_t n);
/* Returns the cost of a launch, in units of the time in which a merge moves one element. */
uint64_t ordo_lsm_launch_moves(const struct ordo_lsm *lsm);
/* Returns the oldest run r that is worth a merge with all newer runs: they fit into one allocation, and queries in the
 * newer runs have cost as much as the merge. `more` counts as part of each run's past cost. If there is no such run,
 * returns the newest run. */
size_t ordo_lsm_first_paid(const struct ordo_lsm *lsm, uint64_t more);
/* Decides which runs to merge before a query, which costs `more` in each run. Runs are merged when queries have cost as
 * much as the merge. If all runs are merged, and the query waits for the device (`waits`), the merge also drops stale
 * elements. */
struct ordo_lsm_plan ordo_lsm_plan_query(const struct ordo_lsm *lsm, uint64_t more, bool waits);

#endif
