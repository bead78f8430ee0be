/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-way merge as part of another call's launches, of runs in buffers of their own, with hidden bits. */
#ifndef ORDO_MERGE_RUNS_H
#define ORDO_MERGE_RUNS_H

#include "primitive/primitive.h"
#include "shared/runs.h"

enum ordo_merge_marks {
    ORDO_MARKS_NONE = RUNS_PLAIN,
    ORDO_MARKS_KEEP = RUNS_KEEP,
    ORDO_MARKS_FILTER = RUNS_FILTER,
    ORDO_MARKS_DEDUP = RUNS_DEDUP
};

/* One run that is merged. Its hidden bits and its visible counts lie in the buffer of its keys. */
struct ordo_merge_source {
    struct ordo_slice keys, values;
    size_t            count;
    size_t            hidden; /* bytes from the buffer's start, a multiple of 256; SIZE_MAX: no bits, all are visible */
    size_t            visible; /* likewise; looked at only to filter */
};

/* How the values of equal keys are combined: COMBINE_TYPE and COMBINE_OP of cl/group/value.cl. */
struct ordo_merge_combine {
    ordo_type type; /* as wide as the values */
    ordo_op   op;
};

struct ordo_merge_target {
    struct ordo_slice                keys, values; /* to filter, each may be ordo_none() */
    struct ordo_slice                hidden;       /* uint32_t words, to keep; overwritten whole */
    cl_mem                           kept;         /* to dedup: a uint32_t, how many elements are written */
    const struct ordo_merge_combine *combine;      /* to dedup two runs, see there; NULL: the last value is the key's */
};

/* Merges up to ORDO_MAX_RUNS runs, oldest first, checked before.
 *   none     keys and values
 *   keep     and the hidden bits
 *   filter   only what is visible; the runs are resolved (host/dict/sorted_run.h)
 *   dedup     the same of runs that need not be resolved: of each key only the last element, if its hidden bit is 0. The
 *            target has room for all. Of devices that can (ordo_merge_can_dedup). With out->combine there are two runs, neither
 *            empty, the first of distinct keys, none hidden: a key's value is what all its elements have together. The second
 *            run's values change. */
ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out);

/* Whether the device can dedup so many runs, and combine if asked for: their tiles are made by groups, and these learn from each other. */
bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines);

#endif
