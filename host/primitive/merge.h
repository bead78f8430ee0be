/* SPDX-License-Identifier: Apache-2.0 */
/* What merge.c offers to merge_runs.c. */
#ifndef ORDO_MERGE_H
#define ORDO_MERGE_H

#include "primitive/primitive.h"

#include "shared/merge.h"

#define ORDO_MERGE_ITEMS_MAX MERGE_ITEMS_MAX

/* One sorted sequence, or the room for one. values is ordo_none() where there are none. */
struct ordo_merge_side {
    struct ordo_slice keys, values;
    size_t            count;
};

/* NULL, an unknown type, or a size of values that is none: ORDO_INVALID. */
ordo_status ordo_merge_check_params(ordo_device *dev, const struct ordo_merge_params *params);

/* Merges a and b, checked before, into out (whose count is not looked at). */
ordo_status ordo_merge_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                               const struct ordo_merge_side *a, const struct ordo_merge_side *b,
                               const struct ordo_merge_side *out);

#endif
