/* SPDX-License-Identifier: Apache-2.0 */
/* The warm-up makes each call of a dictionary once, so that its kernels are built. On a dry-run device it only lists
 * them. */
#ifndef ORDO_DICT_WARM_UP_H
#define ORDO_DICT_WARM_UP_H

#include "dict/structure.h"
#include "ordo/prepare.h"

/* Arrays for inputs and outputs of calls, each of 2 * count + 1 elements of 8 bytes. On a dry-run device
 * (ordo_dry_run_open) no memory is allocated. */
#define ORDO_WARM_UP_ARRAYS 13
struct ordo_warm_up_arrays {
    ordo_device *dev;
    size_t       count;
    /* [0]: distinct keys; [2]: codes; [11]: codes without ranges; [12]: codes of single keys; others: anything */
    struct ordo_slice at[ORDO_WARM_UP_ARRAYS];
};
ordo_status ordo_warm_up_arrays_create(ordo_device *dev, size_t count, struct ordo_warm_up_arrays *out);
void        ordo_warm_up_arrays_destroy(struct ordo_warm_up_arrays *arrays);

/* Makes the calls of `operations`, the most usual first. Returns the first error except ORDO_UNSUPPORTED and
 * ORDO_TOO_SMALL, after all calls. */
ordo_status ordo_dict_warm_up(ordo_dict *dict, uint32_t operations, const struct ordo_warm_up_arrays *arrays);

/* Warms up on a dry-run device, once for each of a few invented results of kernels. config: the structure's own
 * type. */
void ordo_dict_dry_run(ordo_device *dry, const struct ordo_structure *structure, const void *config,
                       uint32_t operations, size_t count);

#endif
