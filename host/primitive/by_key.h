/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_BY_KEY_H
#define ORDO_BY_KEY_H

#include "primitive/primitive.h"

/* Does not check the arguments. The output arrays must have space for `count` results. */
ordo_status ordo_call_reduce_by_key(struct ordo_call *call, const struct ordo_reduce_by_key_params *params,
                                    struct ordo_slice keys, struct ordo_slice values, size_t count,
                                    struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice groups);

#endif
