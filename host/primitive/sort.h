/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_SORT_H
#define ORDO_SORT_H

#include "primitive/primitive.h"

/* Adds the launches of ordo_sort to `call`. Checks neither `params` nor `count`. */
ordo_status ordo_call_sort(struct ordo_call *call, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                           struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                           size_t count);

#endif
