/* SPDX-License-Identifier: Apache-2.0 */
/* Passes host arrays to a call on device memory: uploads the inputs before the call, downloads the outputs after it,
 * and frees the buffers on every path. The device is locked from ordo_host_begin to ordo_host_end, and nothing is
 * pending in its queue. One command each way transfers all small arrays (runtime/staging.c). On a CPU, kernels use a
 * large array directly if the call only reads or only writes it, and if it shares no memory with another array. Every
 * call whose name ends in _host has this form:
 *
 *     struct ordo_host_array a[] = {
 *         ordo_host_in(in, count, bytes),
 *         ordo_host_out(out, count, bytes),
 *     };
 *     struct ordo_call call;
 *     ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
 *     return ordo_host_end(&call, a, 2, ordo_scan(dev, params, a[0].slice, a[1].slice, count, NULL));
 *
 * Both functions block and use the device's own queue. With count 0 the host pointer may be NULL. Return ORDO_INVALID
 * for a NULL pointer, or an output that shares memory with another array; ORDO_TOO_LARGE for more than ORDO_MAX_COUNT
 * elements. */
#ifndef ORDO_HOST_ARRAY_H
#define ORDO_HOST_ARRAY_H

#include "runtime/runtime.h"

struct ordo_host_array {
    const char        *name;  /* for messages */
    const void        *from;  /* the input, if `upload` */
    void              *to;    /* the output, if `download` */
    size_t             count; /* elements; the call may lower it before ordo_host_end, to download fewer */
    size_t             bytes; /* bytes per element; 0: no array, slice is ordo_none() */
    bool               upload;
    bool               download;
    bool               copied; /* never shared, because the call stores elements, after which nothing may fail */
    bool               shared; /* the slice is the caller's memory */
    struct ordo_slice  slice;  /* the argument of the device call; ordo_host_begin sets it, `shared` and `stage` */
    struct ordo_stage *stage;  /* holds all arrays of the call, or NULL */
    size_t             staged_at;
    const size_t      *limit; /* NULL, or points to the most elements to download, read after the call */
};

#define ORDO_HOST_ARRAY(array, n, element, ...)                                                                        \
    ((struct ordo_host_array) { .name = #array, .count = (n), .bytes = (element), __VA_ARGS__ })

/* An input. If `element` is 0, the pointer must be NULL. */
#define ordo_host_in(array, n, element) ORDO_HOST_ARRAY(array, n, element, .from = (array), .upload = true)

/* An output. The call writes all elements, unless ordo_host_read reads it. */
#define ordo_host_out(array, n, element) ORDO_HOST_ARRAY(array, n, element, .to = (array), .download = true)

/* An input and output, or an output that the call does not write whole. */
#define ordo_host_inout(array, n, element)                                                                             \
    ORDO_HOST_ARRAY(array, n, element, .from = (array), .to = (array), .upload = true, .download = true)

/* Begins the call, creates buffers, uploads. `last` records the last call on the dictionary, or is NULL. On error no
 * buffer remains, and nothing is locked. */
ordo_status ordo_host_begin(struct ordo_call *call, ordo_device *dev, struct ordo_last_call *last,
                            struct ordo_host_array *arrays, size_t n);

/* Downloads one array now, when it gives the sizes of the others. Returns `status` if it is an error. Frees nothing. */
ordo_status ordo_host_read(struct ordo_call *call, const struct ordo_host_array *array, ordo_status status);

/* Downloads all outputs, so ordo_host_end downloads nothing. `call` may be a nested call. */
ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n);

/* If `status` is ORDO_OK, downloads and waits. Frees the buffers and ends the call. Returns `status` or the download's
 * error. */
ordo_status ordo_host_end(struct ordo_call *call, struct ordo_host_array *arrays, size_t n, ordo_status status);

#endif
