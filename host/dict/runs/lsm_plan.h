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
    size_t arrived;  /* elements stored or erased since the last count */
    bool   resolved; /* a query since the last update has hidden all stale elements, or has failed to */
};

enum ordo_lsm_action {
    LSM_KEEP,
    LSM_MERGE,  /* merge the runs from `first` on into one */
    LSM_GATHER, /* move the live elements into one run, in one pass */
    LSM_COUNT,  /* count the live elements; clean up if more than `percent` of the stored ones are stale */
    LSM_CLEAN,  /* move the live elements into one run */
};

struct ordo_lsm_plan {
    enum ordo_lsm_action action;
    size_t               first;
    uint32_t             percent;
};

size_t ordo_lsm_stored_from(const struct ordo_lsm *lsm, size_t first);
size_t ordo_lsm_stored(const struct ordo_lsm *lsm);
bool   ordo_lsm_is_stale(const struct ordo_lsm *lsm, uint32_t percent);

/* Plans merges after a batch has become the newest run. Gathers all runs if there may be 8 stored elements per live
 * one. */
struct ordo_lsm_plan ordo_lsm_plan_batch(const struct ordo_lsm *lsm);
/* Plans a cleanup after a change: if there may be 8 stored elements per live one, or earlier by cleanup_stale_percent
 * and cleanup_doubled. Execute the plan of ordo_lsm_plan_batch first. */
struct ordo_lsm_plan ordo_lsm_plan_change(const struct ordo_lsm *lsm);

uint64_t ordo_lsm_query_cost(const struct ordo_run_set *set, size_t first, size_t n);
/* Returns the cost of a launch, in units of a merge's cost per element. */
uint64_t ordo_lsm_launch_moves(const struct ordo_lsm *lsm);
/* Returns the oldest run to merge with all newer ones: they fit into one allocation, and queries in the newer runs have
 * cost as much as the merge, with `more` added in each run. Returns the newest run if no merge is worth it. */
size_t ordo_lsm_first_paid(const struct ordo_lsm *lsm, uint64_t more);
/* Plans merges before a query that costs `more` in each run. Merges runs when queries have cost as much as the merge.
 * If the query waits, a merge of all runs drops stale elements. */
struct ordo_lsm_plan ordo_lsm_plan_query(const struct ordo_lsm *lsm, uint64_t more, bool waits);

#endif
