/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers the host arrays of a call, such as ordo_scan_host. ordo_host_begin and ordo_host_end block. ordo_host_begin
 * returns ORDO_INVALID for NULL pointers and overlapping outputs, and ORDO_TOO_LARGE for more than ORDO_MAX_COUNT
 * elements. */
#ifndef ORDO_HOST_ARRAY_H
#define ORDO_HOST_ARRAY_H

#include "runtime/runtime.h"

struct ordo_host_array {
    const char        *name;
    const void        *from;
    void              *to;
    size_t             count; /* A call with fewer results lowers `count` before the download. */
    size_t             bytes; /* Bytes per element. 0 if there is no array. */
    bool               upload;
    bool               download;
    bool               copied;
    bool               shared;
    struct ordo_slice  slice;
    struct ordo_stage *stage;
    size_t             staged_at;
    const size_t      *limit; /* Maximum number of elements to download, or NULL. */
};

#define ORDO_HOST_ARRAY(array, n, element, ...)                                                                        \
    ((struct ordo_host_array) { .name = #array, .count = (n), .bytes = (element), __VA_ARGS__ })

/* An input array with elements of `element` bytes. If `element` is 0, the pointer must be NULL. */
#define ordo_host_in(array, n, element) ORDO_HOST_ARRAY(array, n, element, .from = (array), .upload = true)

/* An output array. The call must write all its elements. */
#define ordo_host_out(array, n, element) ORDO_HOST_ARRAY(array, n, element, .to = (array), .download = true)

/* An array that is both input and output, or an output that the call writes only in part. */
#define ordo_host_inout(array, n, element)                                                                             \
    ORDO_HOST_ARRAY(array, n, element, .from = (array), .to = (array), .upload = true, .download = true)

/* Returns ORDO_INVALID or ORDO_TOO_LARGE for arrays that ordo_host_begin refuses. */
ordo_status ordo_host_check(ordo_device *dev, const struct ordo_host_array *arrays, size_t n);

/* Begins the call and uploads the inputs. `last` is the previous call on the same dictionary, or NULL for a primitive.
 * After an error, nothing remains allocated or locked. */
ordo_status ordo_host_begin(struct ordo_call *call, ordo_device *dev, struct ordo_last_call *last,
                            struct ordo_host_array *arrays, size_t n);

/* Downloads one array before the call ends. If `status` is an error, returns it without a download. */
ordo_status ordo_host_read(struct ordo_call *call, const struct ordo_host_array *array, ordo_status status);

/* Downloads all outputs before the call ends. ordo_host_end then omits them. */
ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n);

/* Downloads the outputs if `status` is ORDO_OK. Then frees the buffers and ends the call. */
ordo_status ordo_host_end(struct ordo_call *call, struct ordo_host_array *arrays, size_t n, ordo_status status);

/* Queries that do not depend on each other. The first n_whole arrays are inputs of all queries. Other arrays have one
 * element per query. If all arrays are whole, the batch is not split. */
struct ordo_host_queries {
    size_t count;
    size_t n_whole;
    /* Enqueues `count` queries. Their arrays begin at the slices of `arrays`. */
    ordo_status (*run)(const void *user, const struct ordo_host_array *arrays, size_t count,
                       const struct ordo_order *order);
    const void *user;
};

/* Uploads the inputs, answers the queries and downloads the results. Large batches in pinned memory are split, so that
 * transfers and kernels overlap. A split batch that fails may have written results. */
ordo_status ordo_host_query(ordo_device *dev, struct ordo_last_call *last, const struct ordo_host_queries *of,
                            struct ordo_host_array *arrays, size_t n);

#endif
