/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a batch into an array in launches of another call, by single work-items. */
#ifndef ORDO_MERGE_BATCH_H
#define ORDO_MERGE_BATCH_H

#include "primitive/merge_runs.h"

/* Whether this device uses this merge. */
bool ordo_merge_by_batch(const ordo_device *dev, const struct ordo_merge_params *params);

/* Merges two runs as ORDO_MARKS_DEDUP does. Neither is empty; the first, the array, has distinct keys and no bits. With
 * out->combine the batch has no bits either, and all its values are combined. */
ordo_status ordo_merge_batch_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_source *array, const struct ordo_merge_source *batch,
                                     const struct ordo_merge_target *out);

#endif
