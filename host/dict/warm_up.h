/* SPDX-License-Identifier: Apache-2.0 */
/* The warm-up pass: each operation of a dictionary once, so that its kernels are built, or on a dry-run device known. */
#ifndef ORDO_DICT_WARM_UP_H
#define ORDO_DICT_WARM_UP_H

#include "dict/structure.h"
#include "ordo/prepare.h"

/* Inputs and outputs of a call: 8 bytes for each of 2 * count + 1 elements. On a dry-run device (ordo_rehearsal_open) they
 * take no memory. */
#define ORDO_WARM_UP_ARRAYS 13
struct ordo_warm_up_arrays {
    ordo_device *dev;
    size_t       count;
    /* [0]: distinct keys; [2], [11] and [12]: codes, [11] without ranges, [12] of single keys; the others: anything */
    struct ordo_slice at[ORDO_WARM_UP_ARRAYS];
};
ordo_status ordo_warm_up_arrays_create(ordo_device *dev, size_t count, struct ordo_warm_up_arrays *out);
void        ordo_warm_up_arrays_destroy(struct ordo_warm_up_arrays *arrays);

/* Makes the calls of `operations`, the most usual ones first, all of them even if one fails. Returns the first error other
 * than ORDO_UNSUPPORTED and ORDO_TOO_SMALL. */
ordo_status ordo_dict_warm_up(ordo_dict *dict, uint32_t operations, const struct ordo_warm_up_arrays *arrays);

/* The same on a dry-run device, once for each of a few made-up answers of its kernels. `config` is the structure's. */
void ordo_dict_rehearse(ordo_device *dry, const struct ordo_structure *structure, const void *config,
                        uint32_t operations, size_t count);

#endif
