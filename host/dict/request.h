/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the calls of include/ordo/dict.h as data: a struct ordo_method has a function `run`, which enqueues
 * commands, and a table of arrays. Two functions execute a method:
 *
 *     ordo_dict_request        for arrays in device memory (ordo_dict_find): checks them, calls `run`
 *     ordo_dict_request_host   for arrays in host memory (ordo_dict_find_host): uploads, requests, downloads */
#ifndef ORDO_DICT_REQUEST_H
#define ORDO_DICT_REQUEST_H

#include "dict/structure.h"

struct ordo_parameter {
    const char *name; /* as in the public header */
    enum { KEY, VALUE, BYTE, UINT, ULONG } element;
    enum {
        OUT = 1,       /* The call writes the array. Outputs overlap no other array and come last. */
        SPARSE = 2,    /* The array keeps elements that the call does not write. */
        OPTIONAL = 4,  /* the slice may be ordo_none() */
        ONE_MORE = 8,  /* count + 1 elements */
        CAPACITY = 16, /* capacity elements */
        LIMITED = 32   /* A download to host memory copies at most *results elements. */
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
    size_t *results; /* Receives the number of results. If NULL, the caller does not wait for the number. */

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
        ORDO_REPLACE,   /* An update that ignores the old content, so it works on a broken dictionary. */
        ORDO_CONCURRENT /* An update that may still write results after it has changed the dictionary. */
    } manner;
    ordo_dict_op needs;
    bool         runs_empty; /* call `run` even if count is 0 */
    /* Checks the request, except its arrays. May be NULL. */
    ordo_status (*check)(const ordo_dict *dict, const struct ordo_request *r);
    ordo_status (*run)(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r);
    struct ordo_parameter parameters[ORDO_PARAMETERS_MAX + 1]; /* the last one has no name */
};

size_t ordo_parameter_bytes(const ordo_dict *dict, const struct ordo_parameter *p);
size_t ordo_parameter_count(const struct ordo_parameter *p, const struct ordo_request *r);

/* Makes a request over device memory: checks the arrays, then calls m->run. */
ordo_status ordo_dict_request(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                              const struct ordo_order *order);
/* Makes a request whose arrays are in host memory (r->host). */
ordo_status ordo_dict_request_host(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r);

/* Make a request. The variable arguments initialise a struct ordo_request from its first member, `a`, on. */
#define ORDO_REQUEST(dict, method, order, ...)                                                                         \
    ordo_dict_request((dict), &(method), &(struct ordo_request) { __VA_ARGS__ }, (order))
#define ORDO_REQUEST_HOST(dict, method, ...)                                                                           \
    ordo_dict_request_host((dict), &(method), &(struct ordo_request) { __VA_ARGS__ })

#endif
