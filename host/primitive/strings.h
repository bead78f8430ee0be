/* SPDX-License-Identifier: Apache-2.0 */
/* Checks columns of strings, and passes them to kernels. */
#ifndef ORDO_PRIMITIVE_STRINGS_H
#define ORDO_PRIMITIVE_STRINGS_H

#include "ordo/strings.h"
#include "primitive/host_array.h"
#include "primitive/primitive.h"

struct ordo_array ordo_strings_offsets(const struct ordo_strings *column);
struct ordo_array ordo_strings_bytes(const struct ordo_strings *column);

/* Returns ORDO_INVALID if `column` is NULL or its offset_bytes is unknown, and ORDO_TOO_LARGE for too many rows. */
ordo_status ordo_strings_check(ordo_device *dev, const struct ordo_strings *column);

/* Makes the checks of ordo_strings_check. Also returns ORDO_INVALID if an array is missing, or if offsets descend or
 * exceed n_bytes. */
ordo_status ordo_strings_check_host(ordo_device *dev, const struct ordo_host_strings *column);

void ordo_strings_args(struct ordo_args *args, const struct ordo_strings *column, const cl_ulong *n_bytes);

struct ordo_launch ordo_strings_launch(const ordo_device *dev, const struct ordo_strings *column, const char *kernel,
                                       size_t count);

/* Returns ORDO_INVALID with a message about row `row`, whose offsets descend or exceed n_bytes. Waits for the
 * device. */
ordo_status ordo_strings_refuse(struct ordo_call *call, const struct ordo_strings *column, size_t row);

ordo_status ordo_call_sort_strings(struct ordo_call *call, const struct ordo_strings *column, struct ordo_slice rows);

/* Call ordo_strings_host before ordo_host_begin, and ordo_strings_device after it. */
void                ordo_strings_host(const struct ordo_host_strings *column, struct ordo_host_array arrays[2]);
struct ordo_strings ordo_strings_device(const struct ordo_host_strings *column, const struct ordo_host_array arrays[2]);

enum { ORDO_HOST_OUTPUTS = 3 };

/* The host arrays of a call that has one or two columns of queries, and outputs with one element for each query. */
struct ordo_string_queries {
    struct ordo_call       call;
    struct ordo_host_array arrays[4 + ORDO_HOST_OUTPUTS];
    size_t                 n;
    struct ordo_strings    lo, hi; /* in device memory */
    struct ordo_slice      out[ORDO_HOST_OUTPUTS];
};

/* An output for ordo_string_queries_begin, which sets the number of elements. */
#define ordo_host_result(array, element)   ordo_host_out(array, 0, element)
#define ordo_host_optional(array, element) ordo_host_result(array, (array) ? (element) : 0)

/* Checks the columns, and begins the call as ordo_host_begin does. `hi` may be NULL. */
ordo_status ordo_string_queries_begin(struct ordo_string_queries *q, ordo_device *dev, struct ordo_last_call *last,
                                      const struct ordo_host_strings *lo, const struct ordo_host_strings *hi,
                                      const struct ordo_host_array *out, size_t n_out);
ordo_status ordo_string_queries_end(struct ordo_string_queries *q, ordo_status status);

#endif
