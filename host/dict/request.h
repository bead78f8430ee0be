/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of include/ordo/dict.h. Each is one struct ordo_method: a table of its arrays, by which its arguments are checked
 * and, for the call over host memory, uploaded and downloaded, and a function that enqueues it.
 *
 *     ordo_dict_find       -> ordo_dict_request       checks the slices, runs
 *     ordo_dict_find_host  -> ordo_dict_request_host  uploads, sets the slices, ordo_dict_request, downloads
 */
#ifndef ORDO_DICT_REQUEST_H
#define ORDO_DICT_REQUEST_H

#include "dict/structure.h"

struct ordo_parameter {
    const char *name; /* as in the public header */
    enum { KEY, VALUE, BYTE, UINT, ULONG } element;
    enum {
        OUT = 1,       /* written; shares no memory with another array; outputs come last */
        SPARSE = 2,    /* an output, some elements of which the call does not write: they keep what they had */
        OPTIONAL = 4,  /* may be absent */
        ONE_MORE = 8,  /* has count + 1 elements, instead of count */
        CAPACITY = 16, /* has capacity elements, instead of count */
        LIMITED = 32   /* host memory receives *results elements at most */
    } flags;
};

#define ORDO_PARAMETERS_MAX 12

struct ordo_request {
    struct ordo_slice a[ORDO_PARAMETERS_MAX]; /* in the order of the parameters */
    union {
        const void *in;
        void       *out;
    } host[ORDO_PARAMETERS_MAX]; /* the same in host memory */
    size_t  count, capacity;
    size_t *results; /* receives the number of results; NULL: the caller does not wait for it */

    /* What some methods take in addition. */
    ordo_relation relation;
    ordo_type     value;
    ordo_op       op;
    bool          last, descending;
    uint32_t      limit;
};

struct ordo_method {
    enum {
        ORDO_QUERY,
        ORDO_QUERY_PIECES, /* a query for each element: if memory lacks, a call over host memory makes it in pieces */
        ORDO_UPDATE,
        ORDO_REPLACE,   /* an update that does not depend on the content, which may be unsound */
        ORDO_CONCURRENT /* an update that has no results before it stores */
    } manner;
    ordo_dict_op needs;
    bool         runs_empty;                                                   /* run even if count is 0 */
    ordo_status (*check)(const ordo_dict *dict, const struct ordo_request *r); /* of all but arrays; NULL: nothing */
    ordo_status (*run)(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r);
    struct ordo_parameter parameters[ORDO_PARAMETERS_MAX + 1]; /* the last one has no name */
};

/* Bytes of an element of an array, and its number of elements. */
size_t ordo_parameter_bytes(const ordo_dict *dict, const struct ordo_parameter *p);
size_t ordo_parameter_count(const struct ordo_parameter *p, const struct ordo_request *r);

ordo_status ordo_dict_request(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                              const struct ordo_order *order);
/* r: with host, instead of a. */
ordo_status ordo_dict_request_host(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r);

#endif
