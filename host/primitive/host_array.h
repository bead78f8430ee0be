/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads the inputs of a call on host arrays, and downloads its outputs. Every function whose name ends in _host
 * has this form:
 *
 *    struct ordo_host_array a[] = {
 *        ordo_host_in(in, count, bytes),
 *        ordo_host_out(out, count, bytes),
 *    };
 *    struct ordo_call call;
 *    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
 *    return ordo_host_end(&call, a, 2, ordo_scan(dev, params, a[0].slice, a[1].slice, count, NULL));
 *
 * ordo_host_begin and ordo_host_end block. They return ORDO_INVALID for NULL pointers and overlapping outputs, and
 * ORDO_TOO_LARGE for more than ORDO_MAX_COUNT elements. */
#ifndef ORDO_HOST_ARRAY_H
#define ORDO_HOST_ARRAY_H

#include "runtime/runtime.h"

struct ordo_host_array {
    const char        *name;
    const void        *from;  /* The input array, if `upload` is true. */
    void              *to;    /* The output array, if `download` is true. */
    size_t             count; /* Number of elements. A call with fewer results lowers `count` before the download. */
    size_t             bytes; /* Size of an element in bytes, or 0 if there is no array. */
    bool               upload;
    bool               download;
    bool               copied; /* If true, kernels always use a copy of the array. */
    bool               shared; /* True if kernels use the caller's memory instead of a copy. */
    struct ordo_slice  slice;  /* The array in device memory. ordo_host_begin sets it. */
    struct ordo_stage *stage;  /* A host buffer and a device buffer that hold all arrays of the call, or NULL. */
    size_t             staged_at;
    const size_t      *limit; /* Points to the maximum number of elements to download, or NULL. */
};

#define ORDO_HOST_ARRAY(array, n, element, ...)                                                                        \
    ((struct ordo_host_array) { .name = #array, .count = (n), .bytes = (element), __VA_ARGS__ })

/* Describes an input array with elements of `element` bytes. If `element` is 0, the pointer must be NULL. */
#define ordo_host_in(array, n, element) ORDO_HOST_ARRAY(array, n, element, .from = (array), .upload = true)

/* Describes an output array. The call must write all elements of the array. */
#define ordo_host_out(array, n, element) ORDO_HOST_ARRAY(array, n, element, .to = (array), .download = true)

/* Describes an array that is both input and output, or an output that the call writes only in part. */
#define ordo_host_inout(array, n, element)                                                                             \
    ORDO_HOST_ARRAY(array, n, element, .from = (array), .to = (array), .upload = true, .download = true)

/* Begins the call, creates buffers, and uploads the inputs. `last` describes a dictionary's previous call, or is
 * NULL. After an error nothing is allocated, and the device is not locked. */
ordo_status ordo_host_begin(struct ordo_call *call, ordo_device *dev, struct ordo_last_call *last,
                            struct ordo_host_array *arrays, size_t n);

/* Downloads one array before the call ends. If `status` is an error, does nothing and returns `status`. */
ordo_status ordo_host_read(struct ordo_call *call, const struct ordo_host_array *array, ordo_status status);

/* Downloads all outputs before the call ends. ordo_host_end does not download them again. */
ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n);

/* If `status` is ORDO_OK, downloads the outputs. Then frees the buffers and ends the call. Returns `status`, or the
 * error of the download. */
ordo_status ordo_host_end(struct ordo_call *call, struct ordo_host_array *arrays, size_t n, ordo_status status);

#endif
