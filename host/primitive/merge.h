/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_MERGE_H
#define ORDO_MERGE_H

#include "primitive/primitive.h"

#include "shared/merge.h"

#define ORDO_MERGE_ITEMS_MAX MERGE_ITEMS_MAX

struct ordo_merge_side {
    struct ordo_slice keys, values;
    size_t            count;
};

ordo_status ordo_merge_check_params(ordo_device *dev, const struct ordo_merge_params *params);

/* Merges a and b into out. Ignores out->count. Does not check the arguments. */
ordo_status ordo_merge_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                               const struct ordo_merge_side *a, const struct ordo_merge_side *b,
                               const struct ordo_merge_side *out);

#endif
