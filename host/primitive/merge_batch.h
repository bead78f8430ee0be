/* SPDX-License-Identifier: Apache-2.0 */
/* The merge of a batch into an array as part of another call's launches, where work-items work alone. */
#ifndef ORDO_MERGE_BATCH_H
#define ORDO_MERGE_BATCH_H

#include "primitive/merge_runs.h"

/* Whether that is how this device merges so. */
bool ordo_merge_by_batch(const ordo_device *dev, const struct ordo_merge_params *params);

/* The same as ORDO_MARKS_DEDUP makes of two runs, neither empty, of which the first, the array, has distinct keys and no bits.
 * With out->combine each of the batch's values is combined; the batch has no bits then. */
ordo_status ordo_merge_batch_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_source *array, const struct ordo_merge_source *batch,
                                     const struct ordo_merge_target *out);

#endif
