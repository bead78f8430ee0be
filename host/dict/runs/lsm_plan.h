/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when the LSM (lsm.c) merges runs. A stale element is replaced or erased, a live one is not. */
#ifndef ORDO_LSM_PLAN_H
#define ORDO_LSM_PLAN_H

#include "dict/runs/runs.h"
#include "ordo/lsm.h"

struct ordo_lsm {
    struct ordo_runs       runs; /* must be first */
    struct ordo_lsm_config config;
    /* lower bound of the live elements: the last count minus later erasures */
    size_t live;
    size_t arrived; /* elements stored or erased since the last count */
    /* Since the last update, a call has started to hide all stale elements. This call may have failed. */
    bool resolved;
};

enum ordo_lsm_action {
    LSM_KEEP,
    LSM_MERGE,  /* merge the runs from `first` on into one */
    LSM_GATHER, /* move the live elements into one run by one merge */
    LSM_COUNT,  /* count the live elements; clean up if more than `percent` of the stored ones are stale */
    LSM_CLEAN,  /* move the live elements into one run, or several if memory is short */
};

struct ordo_lsm_plan {
    enum ordo_lsm_action action;
    size_t               first;
    uint32_t             percent;
};

size_t ordo_lsm_stored_from(const struct ordo_lsm *lsm, size_t first);
size_t ordo_lsm_stored(const struct ordo_lsm *lsm);
bool   ordo_lsm_is_stale(const struct ordo_lsm *lsm, uint32_t percent);

/* Plans merges after a batch has become the newest run. */
struct ordo_lsm_plan ordo_lsm_plan_batch(const struct ordo_lsm *lsm);
/* Plans a cleanup after a change. Execute the plan of ordo_lsm_plan_batch first. */
struct ordo_lsm_plan ordo_lsm_plan_change(const struct ordo_lsm *lsm);

uint64_t ordo_lsm_query_cost(const struct ordo_run_set *set, size_t first, size_t n);
/* Returns the cost of a launch, in units of a merge's cost per element. */
uint64_t ordo_lsm_launch_moves(const struct ordo_lsm *lsm);
/* A merge from run r on joins run r and all newer runs. It is due when the newer runs' query_cost, plus `more` for each
 * of them, reaches the cost of the merge. Returns the least r whose merge is due and whose merged run fits into one
 * allocation. Without such an r, returns the index of the newest run. */
size_t ordo_lsm_first_paid(const struct ordo_lsm *lsm, uint64_t more);
/* Plans merges before a query that adds `more` to each run's query_cost. Stale elements may be dropped only if `waits`
 * is true, because dropping them waits for the device. */
struct ordo_lsm_plan ordo_lsm_plan_query(const struct ordo_lsm *lsm, uint64_t more, bool waits);

#endif
