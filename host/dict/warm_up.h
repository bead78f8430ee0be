/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each call of a dictionary once, to build its kernels before their first use. A dry-run device only lists the
 * kernels. */
#ifndef ORDO_DICT_WARM_UP_H
#define ORDO_DICT_WARM_UP_H

#include "dict/structure.h"
#include "ordo/prepare.h"

/* Arrays for inputs and outputs, each of 2 * count + 1 elements of 8 bytes. */
#define ORDO_WARM_UP_ARRAYS 13
struct ordo_warm_up_arrays {
    ordo_device *dev;
    size_t       count;
    /* Some arrays have a fixed content:
     *
     *     at[0]    distinct keys
     *     at[2]    operation codes
     *     at[11]   operation codes other than ranges
     *     at[12]   codes of single-key operations */
    struct ordo_slice at[ORDO_WARM_UP_ARRAYS];
};
ordo_status ordo_warm_up_arrays_create(ordo_device *dev, size_t count, struct ordo_warm_up_arrays *out);
void        ordo_warm_up_arrays_destroy(struct ordo_warm_up_arrays *arrays);

/* Makes the calls of `operations` (a sum of ORDO_PREPARE_...), with the most usual calls first. Returns the first error
 * except ORDO_UNSUPPORTED and ORDO_TOO_SMALL. */
ordo_status ordo_dict_warm_up(ordo_dict *dict, uint32_t operations, const struct ordo_warm_up_arrays *arrays);

/* Calls ordo_dict_warm_up several times on the dry-run device. `config` must have the type of the structure's
 * configuration. */
void ordo_dict_dry_run(ordo_device *dry, const struct ordo_structure *structure, const void *config,
                       uint32_t operations, size_t count);

#endif
