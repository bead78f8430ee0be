/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of include/ordo/dict.h. Each call is one struct ordo_method: a function that enqueues it, and a table of
 * its arrays, to check them and, over host memory, to upload and download them.
 *
 *     ordo_dict_find       -> ordo_dict_request       checks the slices, runs
 *     ordo_dict_find_host  -> ordo_dict_request_host  uploads, sets the slices, ordo_dict_request, downloads */
#ifndef ORDO_DICT_REQUEST_H
#define ORDO_DICT_REQUEST_H

#include "dict/structure.h"

struct ordo_parameter {
    const char *name; /* as in the public header */
    enum { KEY, VALUE, BYTE, UINT, ULONG } element;
    enum {
        OUT = 1,       /* written; shares no memory with another array; outputs come last */
        SPARSE = 2,    /* an output; elements that the call does not write keep their value */
        OPTIONAL = 4,  /* the slice may be ordo_none() */
        ONE_MORE = 8,  /* count + 1 elements */
        CAPACITY = 16, /* capacity elements */
        LIMITED = 32   /* host memory receives at most *results elements */
    } flags;
};

#define ORDO_PARAMETERS_MAX 12

struct ordo_request {
    struct ordo_slice a[ORDO_PARAMETERS_MAX]; /* in the order of the parameters */
    union {
        const void *in;
        void       *out;
    } host[ORDO_PARAMETERS_MAX]; /* the arrays in host memory */
    size_t  count, capacity;
    size_t *results; /* receives the number of results; NULL: the caller does not wait for it */

    ordo_relation relation;
    ordo_type     value;
    ordo_op       op;
    bool          last, descending;
    uint32_t      limit;
};

struct ordo_method {
    enum {
        ORDO_QUERY,
        ORDO_QUERY_PIECES, /* independent queries: over host memory, a call splits them if memory is short */
        ORDO_UPDATE,
        ORDO_REPLACE,   /* an update that ignores the content, so it works on a broken dictionary */
        ORDO_CONCURRENT /* an update whose results are complete only after it has stored */
    } manner;
    ordo_dict_op needs;
    bool         runs_empty; /* call `run` even if count is 0 */
    ordo_status (*check)(const ordo_dict           *dict,
                         const struct ordo_request *r); /* checks all but the arrays; NULL: nothing to check */
    ordo_status (*run)(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r);
    struct ordo_parameter parameters[ORDO_PARAMETERS_MAX + 1]; /* the last one has no name */
};

/* Return the bytes of an array's element, and the number of its elements. */
size_t ordo_parameter_bytes(const ordo_dict *dict, const struct ordo_parameter *p);
size_t ordo_parameter_count(const struct ordo_parameter *p, const struct ordo_request *r);

ordo_status ordo_dict_request(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                              const struct ordo_order *order);
/* Takes arrays in host memory: reads r->host instead of r->a. */
ordo_status ordo_dict_request_host(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r);

/* Make a request. The other arguments are the members of a struct ordo_request, from `a` on. */
#define ORDO_REQUEST(dict, method, order, ...)                                                                         \
    ordo_dict_request((dict), &(method), &(struct ordo_request) { __VA_ARGS__ }, (order))
#define ORDO_REQUEST_HOST(dict, method, ...)                                                                           \
    ordo_dict_request_host((dict), &(method), &(struct ordo_request) { __VA_ARGS__ })

#endif
