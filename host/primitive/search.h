/* SPDX-License-Identifier: Apache-2.0 */
/* Batched bounds and lookups within a call. */
#ifndef ORDO_SEARCH_H
#define ORDO_SEARCH_H

#include "primitive/index.h"

/* The arguments of a search, a search for both bounds, or a lookup. Nothing checks them. */
struct ordo_search {
    ordo_type         key;
    bool              lookup, upper, sorted;
    uint32_t          value_bytes;
    ordo_scheme       scheme;
    const ordo_index *index; /* NULL: no index */
    struct ordo_slice keys, queries;
    size_t            count, n_queries;
    bool              ranges;                    /* a search for both bounds */
    struct ordo_slice ranks, uppers;             /* results of a search; uppers only for both bounds */
    struct ordo_slice values, values_out, found; /* of a lookup only */

    struct ordo_slice places; /* uint32_t: the answer of query i goes to index places[i]; ordo_none(): to index i */

    /* A lookup that writes other answers: a kernel file that includes cl/primitive/search_body.cl, and the arguments of
     * its ANSWERS_ARGS. NULL: the usual answers. */
    const char             *file;
    const struct ordo_args *answers;
};

/* Whether the search would use an index that it is given. */
bool ordo_search_by_index(const struct ordo_search *search);

ordo_status ordo_call_search(struct ordo_call *call, struct ordo_search *search);

#endif
