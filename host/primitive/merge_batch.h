/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a batch into an array within a call. A work-item merges each tile, for CPUs. */
#ifndef ORDO_MERGE_BATCH_H
#define ORDO_MERGE_BATCH_H

#include "primitive/merge_runs.h"

/* Whether the device merges by single work-items, as this file does. */
bool ordo_merge_by_batch(const ordo_device *dev, const struct ordo_merge_params *params);

/* Merges as ORDO_MARKS_DEDUP does. Neither run is empty. The array has distinct keys and no hidden bits. If
 * out->combine is set, the batch has no hidden bits either, and all values of a key are combined. */
ordo_status ordo_merge_batch_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_source *array, const struct ordo_merge_source *batch,
                                     const struct ordo_merge_target *out);

#endif
