/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives share on the host besides host_array.h. */
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

/* That it is one of the types, and that a value may have so many bytes: 0, 4 or 8. Else ORDO_INVALID. */
ordo_status ordo_check_type(ordo_device *dev, ordo_type type);
ordo_status ordo_check_value_bytes(ordo_device *dev, uint32_t bytes);

/* An array that a call is given. */
struct ordo_array {
    const char       *name;
    struct ordo_slice slice;
    size_t            count, bytes;
};

/* Checks every array by itself, and that each of the last n_outputs shares nothing with any before it. */
ordo_status ordo_check_arrays(ordo_device *dev, const struct ordo_array *arrays, size_t n, size_t n_outputs);

/* That type and op are known and go together: ORDO_INVALID, ORDO_UNSUPPORTED for sums of floats. */
ordo_status ordo_check_op(ordo_device *dev, ordo_type type, ordo_op op);

/* The work-group size that a tunable asks for, or what of it this device runs: halved until it fits, 1 if a group would
 * then be less than a sub-group. Kernels treat a group of 1 as one work-item that works alone. */
size_t ordo_group_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_shape shape);

#endif
