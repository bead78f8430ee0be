/* SPDX-License-Identifier: Apache-2.0 */
/* Merges sorted runs, which may lie in different buffers and contain hidden (erased or replaced) elements. */
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

/* A sorted run. Its key buffer may also contain a bitmap of hidden elements and counts of visible elements. */
struct ordo_merge_source {
    struct ordo_slice keys, values;
    size_t            count;
    /* Byte offset of the bitmap, a multiple of 256. SIZE_MAX if no element is hidden. */
    size_t hidden;
    /* Byte offset of the counts of visible elements, a multiple of 256. Only ORDO_MARKS_FILTER needs it. */
    size_t visible;
};

struct ordo_merge_combine {
    ordo_type type; /* Must be as wide as a value. */
    ordo_op   op;
};

struct ordo_merge_target {
    struct ordo_slice keys, values; /* ORDO_MARKS_FILTER does not write an array that is ordo_none(). */
    struct ordo_slice hidden;       /* Bitmap of hidden elements, in 4-byte words. Only ORDO_MARKS_KEEP writes it. */
    /* Number of elements written, as a uint32_t. Only ORDO_MARKS_DEDUP writes it. */
    cl_mem                           kept;
    const struct ordo_merge_combine *combine; /* If NULL, each key keeps its last value. */
};

/* Merges up to ORDO_MAX_RUNS runs, the oldest first. Does not check the arguments. `marks` selects the output:
 *  NONE     all elements
 *  KEEP     all elements, and a bitmap of hidden elements
 *  FILTER   only elements that are not hidden
 *  DEDUP    the last element of each key, unless it is hidden
 *
 * FILTER needs correct bitmaps and counts in all runs (host/dict/sorted_run.h). DEDUP needs ordo_merge_can_dedup.
 *
 * With out->combine, DEDUP writes the combination of all values of each key. This needs two runs, none empty. The first
 * must have distinct keys and no hidden elements. The values of the second are overwritten. */
ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out);

/* Returns true if the device can merge n_runs runs with ORDO_MARKS_DEDUP, and combine values if `combines`. */
bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines);

#endif
