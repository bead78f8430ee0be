/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-way merge within a call. Runs may lie in different buffers and have hidden bits. */
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
    size_t            hidden;  /* offset of hidden bits, in bytes from the buffer's start, a multiple of 256; SIZE_MAX:
                                  all visible */
    size_t            visible; /* offset of visible counts, as `hidden`; only for ORDO_MARKS_FILTER */
};

/* COMBINE_TYPE and COMBINE_OP of cl/group/value.cl. */
struct ordo_merge_combine {
    ordo_type type; /* has the bytes of a value */
    ordo_op   op;
};

struct ordo_merge_target {
    struct ordo_slice keys, values; /* for ORDO_MARKS_FILTER each may be ordo_none() */
    struct ordo_slice hidden;       /* for ORDO_MARKS_KEEP: uint32_t words, all overwritten */
    cl_mem            kept;         /* for ORDO_MARKS_DEDUP: the number of elements written, a uint32_t
                                                    */
    const struct ordo_merge_combine
        *combine; /* combines the values of a key; needs ORDO_MARKS_DEDUP, two runs. NULL: last value */
};

/* Merges up to ORDO_MAX_RUNS runs, oldest first. Checks nothing. `marks` selects the output:
 *   NONE     all keys and values
 *   KEEP     all keys, values and hidden bits
 *   FILTER   the visible elements of resolved runs (host/dict/sorted_run.h)
 *   DEDUP    the last element of each key, if its hidden bit is 0. The target has capacity for all elements. Needs
 *            ordo_merge_can_dedup. With out->combine a key's value combines all its values. That needs two runs,
 *            neither empty; the first has distinct keys and no hidden elements. It changes the second run's values. */
ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out);

/* Whether the device can merge n_runs runs by ORDO_MARKS_DEDUP, with out->combine if `combines`. That takes work-groups
 * and look-back. */
bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines);

#endif
