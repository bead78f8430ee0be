/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-way merge in launches of another call. Each run may lie in its own buffer and have hidden bits. */
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

/* A run. Its hidden bits and visible counts lie in the buffer of its keys. */
struct ordo_merge_source {
    struct ordo_slice keys, values;
    size_t            count;
    size_t            hidden; /* bytes from the buffer's start, a multiple of 256; SIZE_MAX: no bits, all are visible */
    size_t            visible; /* likewise; only for ORDO_MARKS_FILTER */
};

/* The combination of equal keys' values: COMBINE_TYPE and COMBINE_OP of cl/group/value.cl. */
struct ordo_merge_combine {
    ordo_type type; /* as wide as the values */
    ordo_op   op;
};

struct ordo_merge_target {
    struct ordo_slice                keys, values; /* for ORDO_MARKS_FILTER each may be ordo_none() */
    struct ordo_slice                hidden;       /* uint32_t words, for ORDO_MARKS_KEEP; overwritten whole */
    cl_mem                           kept;    /* for ORDO_MARKS_DEDUP: a uint32_t, the number of elements written */
    const struct ordo_merge_combine *combine; /* for ORDO_MARKS_DEDUP of two runs; NULL: the last value is the key's */
};

/* Merges up to ORDO_MAX_RUNS runs, oldest first. Checks nothing.
 *   none     writes keys and values
 *   keep     writes keys, values and hidden bits
 *   filter   writes visible elements of resolved runs (host/dict/sorted_run.h)
 *   dedup    writes the last element of each key, if its hidden bit is 0. The target has capacity for all. Needs
 *            ordo_merge_can_dedup. With out->combine there are two runs, neither empty, the first of distinct keys,
 *            without hidden elements: a key's value combines all its elements. The second run's values change. */
ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out);

/* Whether the device can dedup n_runs runs, and combine if `combines`: by groups, with look-back. */
bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines);

#endif
