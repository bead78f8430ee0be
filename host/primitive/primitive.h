/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and group sizes that all primitives share. */
#ifndef ORDO_PRIMITIVE_H
#define ORDO_PRIMITIVE_H

#include "runtime/runtime.h"

static inline size_t ordo_ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static inline size_t ordo_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool        ordo_type_is_wide(ordo_type type);
const char *ordo_wide_name(ordo_type type); /* the name of a type of 16 bytes */

/* Values must have 0, 4, 8 or 16 bytes. ordo_check_narrow also refuses types of 16 bytes. */
ordo_status ordo_check_type(ordo_device *dev, ordo_type type);
ordo_status ordo_check_narrow(ordo_device *dev, ordo_type type, const char *call);
ordo_status ordo_check_value_bytes(ordo_device *dev, uint32_t bytes);
ordo_status ordo_check_pair(ordo_device *dev, ordo_type key, uint32_t value_bytes);

struct ordo_array {
    const char       *name;
    struct ordo_slice slice;
    size_t            count, bytes;
    /* Alignment in bytes that kernels need. */
    size_t align;
};

/* Checks sizes and alignments. The last n_outputs arrays are outputs, and must not overlap any other array. */
ordo_status ordo_check_arrays(ordo_device *dev, const struct ordo_array *arrays, size_t n, size_t n_outputs);

/* Returns ORDO_INVALID for an unknown type or operation, and ORDO_UNSUPPORTED for a sum of floats or a type of 16
 * bytes. */
ordo_status ordo_check_op(ordo_device *dev, ordo_type type, ordo_op op, const char *call);

/* Halves the tunable `group` until the device can run groups of this size. Sizes smaller than a sub-group become 1. */
size_t ordo_group_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_shape shape);

#endif
