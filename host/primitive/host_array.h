/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in host memory as arguments of a call on device memory: uploaded before it, downloaded after it, the device
 * buffers freed on every path. Upload, call and download are one call: the device is locked from ordo_host_begin to
 * ordo_host_end, and nothing is pending in its queue. Small arrays go together, in one command each way (runtime/staging.c). Of large ones a CPU works
 * in the arrays themselves, where each is only read or only written and none shares memory with another. Every call whose
 * name ends in _host is made of this:
 *
 *     struct ordo_host_array a[] = {
 *         ordo_host_in(in, count, bytes),
 *         ordo_host_out(out, count, bytes),
 *     };
 *     struct ordo_call call;
 *     ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
 *     return ordo_host_end(&call, a, 2, ordo_scan(dev, params, a[0].slice, a[1].slice, count, NULL));
 *
 * Both functions block and use the device's own queue. They work for count 0 (the host pointer may then be NULL) and
 * refuse a NULL pointer otherwise (ORDO_INVALID), more than ORDO_MAX_COUNT elements (ORDO_TOO_LARGE), and what is downloaded
 * into memory of another array (ORDO_INVALID).
 */
#ifndef ORDO_HOST_ARRAY_H
#define ORDO_HOST_ARRAY_H

#include "runtime/runtime.h"

struct ordo_host_array {
    const char       *name;  /* for messages */
    const void       *from;  /* uploaded, if `upload` */
    void             *to;    /* receives, if `download` */
    size_t            count; /* elements; may be lowered before ordo_host_end to receive fewer */
    size_t            bytes; /* of one element; 0: no array, slice is ordo_none() */
    bool              upload;
    bool              download;
    bool              copied; /* never shared with the device: of a call that stores, after which nothing may fail */
    bool              shared; /* slice is the array itself; set by ordo_host_begin */
    struct ordo_slice slice;  /* what the device call takes; set by ordo_host_begin */
    struct ordo_stage
                 *stage; /* the slice lies in, with the other arrays of the call, or NULL; set by ordo_host_begin */
    size_t        staged_at;
    const size_t *limit; /* if not NULL: no more than *limit elements are received, as it is then */
};

#define ORDO_HOST_ARRAY(array, n, element, ...)                                                                        \
    ((struct ordo_host_array) { .name = #array, .count = (n), .bytes = (element), __VA_ARGS__ })

/* Read by the call. bytes 0: not there (values of a sort of keys alone), and the pointer has to be NULL. */
#define ordo_host_in(array, n, element) ORDO_HOST_ARRAY(array, n, element, .from = (array), .upload = true)

/* Written by the call, all of it (but see ordo_host_read). */
#define ordo_host_out(array, n, element) ORDO_HOST_ARRAY(array, n, element, .to = (array), .download = true)

/* Read and written, or written only in places. */
#define ordo_host_inout(array, n, element)                                                                             \
    ORDO_HOST_ARRAY(array, n, element, .from = (array), .to = (array), .upload = true, .download = true)

/* Begins the call, creates the buffers and uploads. `last`: of the object that the call is on, or NULL. After an error no
 * buffer is left, and nothing is locked. */
ordo_status ordo_host_begin(struct ordo_call *call, ordo_device *dev, struct ordo_last_call *last,
                            struct ordo_host_array *arrays, size_t n);

/* Downloads one array now: for a call that returns how much of the others is worth having. `status` is that of the
 * call before it: if it is an error, nothing is read and it is returned. Frees nothing. */
ordo_status ordo_host_read(struct ordo_call *call, const struct ordo_host_array *array, ordo_status status);

/* Downloads all that is to be downloaded; ordo_host_end then has nothing left to download. `call` may be one within. */
ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n);

/* Downloads if `status` (the device call's) is ORDO_OK, waits, frees the buffers either way, and ends the call. Returns
 * `status`, or the download's error. */
ordo_status ordo_host_end(struct ordo_call *call, struct ordo_host_array *arrays, size_t n, ordo_status status);

#endif
