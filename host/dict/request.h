/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the calls of include/ordo/dict.h as data. A struct ordo_method has a function `run`, which enqueues
 * commands, and a table of arrays. It is executed by:
 *
 *     ordo_dict_request        for arrays in device memory (ordo_dict_find)
 *     ordo_dict_request_host   for arrays in host memory (ordo_dict_find_host) */
#ifndef ORDO_DICT_REQUEST_H
#define ORDO_DICT_REQUEST_H

#include "dict/structure.h"

struct ordo_parameter {
    const char *name;
    enum { KEY, VALUE, BYTE, UINT, ULONG } element;
    enum {
        OUT = 1,    /* The call writes the array. Outputs come last, and overlap no array. */
        SPARSE = 2, /* The call writes only some elements. The others keep their old values. */
        OPTIONAL = 4,
        ONE_MORE = 8,
        CAPACITY = 16,
        LIMITED = 32 /* downloads at most *results elements to host memory */
    } flags;
};

#define ORDO_PARAMETERS_MAX 12

struct ordo_request {
    struct ordo_slice a[ORDO_PARAMETERS_MAX]; /* in the order of the parameters */
    union {
        const void *in;
        void       *out;
    } host[ORDO_PARAMETERS_MAX];
    size_t  count, capacity;
    size_t *results; /* receives the number of results; if NULL, the call does not wait for it */

    ordo_relation relation;
    ordo_type     value;
    ordo_op       op;
    bool          last, descending;
    uint32_t      limit;
};

struct ordo_method {
    enum {
        ORDO_QUERY,
        /* Independent queries. If memory is short, ordo_dict_request_host splits the batch. */
        ORDO_QUERY_PIECES,
        ORDO_UPDATE,
        ORDO_REPLACE,   /* an update that discards the old content, and also works on a broken dictionary */
        ORDO_CONCURRENT /* an update that may write results after it has changed the dictionary */
    } manner;
    ordo_dict_op needs;
    bool         runs_empty;
    /* Checks all but the arrays. May be NULL. */
    ordo_status (*check)(const ordo_dict *dict, const struct ordo_request *r);
    ordo_status (*run)(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r);
    struct ordo_parameter parameters[ORDO_PARAMETERS_MAX + 1]; /* the last one has no name */
};

size_t ordo_parameter_bytes(const ordo_dict *dict, const struct ordo_parameter *p);
size_t ordo_parameter_count(const struct ordo_parameter *p, const struct ordo_request *r);

ordo_status ordo_dict_request(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                              const struct ordo_order *order);
ordo_status ordo_dict_request_host(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r);

#define ORDO_REQUEST(dict, method, order, ...)                                                                         \
    ordo_dict_request((dict), &(method), &(struct ordo_request) { __VA_ARGS__ }, (order))
#define ORDO_REQUEST_HOST(dict, method, ...)                                                                           \
    ordo_dict_request_host((dict), &(method), &(struct ordo_request) { __VA_ARGS__ })

#endif
