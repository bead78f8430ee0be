/* SPDX-License-Identifier: Apache-2.0 */
/* The plans of the GPU LSM (lsm.c): which runs are merged, and when.
 *
 *   trigger                                            action
 *   update                                             MERGE the batch with the newest runs (`growth`)
 *   update, ORDO_MAX_RUNS runs are stored              first merge the batch and the newest run, or two neighbours
 *   update, more than ORDO_MAX_COUNT would be stored   first CLEAN
 *   update, memory is short                            CLEAN, if elements may be stale
 *   change, 8 elements are stored for each live one    GATHER the batch and all runs if one pass can, else COUNT
 *   change, cleanup_stale_percent may be stale         COUNT, then CLEAN if more are stale
 *   change, cleanup_doubled: 2 for each live one       CLEAN
 *   queries have cost as much as a merge               MERGE the newest runs, or GATHER all runs if the call waits */
#ifndef ORDO_LSM_PLAN_H
#define ORDO_LSM_PLAN_H

#include "dict/runs/runs.h"
#include "ordo/lsm.h"

struct ordo_lsm {
    struct ordo_runs runs; /* first, so that a dictionary, a struct ordo_runs and a struct ordo_lsm have one address */
    struct ordo_lsm_config config;
    size_t                 live;     /* lower bound: visible elements at the last count, less erasures since */
    size_t                 arrived;  /* elements since the last count */
    bool                   resolved; /* a query has resolved the runs, or tried to, since the last update */
};

enum ordo_lsm_action {
    LSM_KEEP,   /* nothing */
    LSM_MERGE,  /* the runs from `first` on become one */
    LSM_GATHER, /* the visible elements become one run, in one pass */
    LSM_COUNT,  /* the live elements are counted; LSM_CLEAN if more than `percent` of the stored ones are stale */
    LSM_CLEAN,  /* the visible elements become one run */
};

struct ordo_lsm_plan {
    enum ordo_lsm_action action;
    size_t               first;
    uint32_t             percent;
};

size_t ordo_lsm_stored_from(const struct ordo_lsm *lsm, size_t first);
size_t ordo_lsm_stored(const struct ordo_lsm *lsm);
/* Whether more than this share of the stored elements may be stale. */
bool ordo_lsm_is_stale(const struct ordo_lsm *lsm, uint32_t percent);

/* The plan after a batch has become the newest run. */
struct ordo_lsm_plan ordo_lsm_plan_batch(const struct ordo_lsm *lsm);
/* The plan after a change, and after the action of ordo_lsm_plan_batch. */
struct ordo_lsm_plan ordo_lsm_plan_change(const struct ordo_lsm *lsm);

/* The sum of query_cost of n runs from `first` on. */
uint64_t ordo_lsm_query_cost(const struct ordo_run_set *set, size_t first, size_t n);
/* The cost of a launch, in moves of an element by a merge. */
uint64_t ordo_lsm_launch_moves(const struct ordo_lsm *lsm);
/* The oldest run r such that queries, with `more` for each run, have paid for a merge of the runs from r on, and these
 * fit into one run. The newest run if there is none. */
size_t ordo_lsm_first_paid(const struct ordo_lsm *lsm, uint64_t more);
/* The plan before a query that costs `more` for each run. A merge of all runs in a call that waits drops stale
 * elements: that takes no longer, and later queries do not search them. */
struct ordo_lsm_plan ordo_lsm_plan_query(const struct ordo_lsm *lsm, uint64_t more, bool waits);

#endif
