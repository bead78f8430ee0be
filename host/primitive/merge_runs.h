/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a merge of sorted runs to another call (struct ordo_call). Runs may lie in different buffers and contain hidden
 * (erased or replaced) elements. */
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

/* A sorted run, an input of a merge. The buffer of its keys may also contain a bitmap of hidden elements, and counts
 * of visible elements. */
struct ordo_merge_source {
    struct ordo_slice keys, values;
    size_t            count;
    /* Byte offset of the bitmap, a multiple of 256. SIZE_MAX if no element is hidden. */
    size_t hidden;
    size_t visible; /* Byte offset of the counts (only for ORDO_MARKS_FILTER). */
};

struct ordo_merge_combine {
    ordo_type type; /* The type must be as wide as a value. */
    ordo_op   op;
};

struct ordo_merge_target {
    struct ordo_slice keys, values; /* With ORDO_MARKS_FILTER, each may be ordo_none(). */
    struct ordo_slice hidden;       /* Bitmap of hidden elements, in words of 4 bytes (only for ORDO_MARKS_KEEP). */
    /* Receives the number of elements written, as a uint32_t (only for ORDO_MARKS_DEDUP). */
    cl_mem                           kept;
    const struct ordo_merge_combine *combine; /* How values are combined. If NULL, each key keeps its last value. */
};

/* Merges up to ORDO_MAX_RUNS runs, the oldest first. Does not check the arguments. An element is hidden if a newer run
 * replaces or erases it. `marks` selects the output:
 *  NONE     all elements
 *  KEEP     all elements, and a bitmap of hidden elements
 *  FILTER   only elements that are not hidden
 *  DEDUP    the last element of each key, unless it is hidden
 *
 * With FILTER, all runs must have correct bitmaps and counts (host/dict/sorted_run.h). With DEDUP, ordo_merge_can_dedup
 * must return true.
 *
 * With DEDUP and out->combine, each key gets the combination of all its values. There must be two runs, none empty. The
 * first run must have distinct keys and no hidden elements. The call overwrites the values of the second run. */
ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out);

/* Returns true if the device can merge n_runs runs with ORDO_MARKS_DEDUP, and also combine values if `combines`. */
bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines);

#endif
