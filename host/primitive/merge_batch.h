/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a batch of updates into a sorted array: any batch on CPUs, small batches on GPUs. */
#ifndef ORDO_MERGE_BATCH_H
#define ORDO_MERGE_BATCH_H

#include "primitive/merge_runs.h"

/* Returns true if ordo_merge_batch_enqueue is the fastest merge for arrays of these sizes.
 * `combines` says whether struct ordo_merge_target has `combine`. */
bool ordo_merge_by_batch(const ordo_device *dev, const struct ordo_merge_params *params, size_t array_count,
                         size_t batch_count, bool combines);

/* Merges `batch` into the older `array`. Neither may be empty. `array` must have distinct keys and no hidden (erased)
 * elements.
 *
 * Writes the last element of each key to `out`, unless it is hidden. With out->combine, combines all values of the key
 * instead. Then `batch` must have no hidden elements, either. */
ordo_status ordo_merge_batch_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_source *array, const struct ordo_merge_source *batch,
                                     const struct ordo_merge_target *out);

#endif
