/* SPDX-License-Identifier: Apache-2.0 */
/* Batched bounds and lookups in launches of another call. */
#ifndef ORDO_SEARCH_H
#define ORDO_SEARCH_H

#include "primitive/index.h"

/* The arguments of a search, a search for both bounds, or a lookup. Unchecked. */
struct ordo_search {
    ordo_type         key;
    bool              lookup, upper, sorted;
    uint32_t          value_bytes;
    ordo_scheme       scheme;
    const ordo_index *index; /* NULL: none */
    struct ordo_slice keys, queries;
    size_t            count, n_queries;
    bool              ranges;                    /* a search for both bounds */
    struct ordo_slice ranks, uppers;             /* of a search; uppers: of a search for both bounds */
    struct ordo_slice values, values_out, found; /* of a lookup */

    struct ordo_slice places; /* uint32_t: query i stands for query places[i]; ordo_none(): for itself */

    /* A lookup with other answers: a kernel file that includes cl/primitive/search_body.cl, and the arguments of its
     * ANSWERS_ARGS. NULL: none. */
    const char             *file;
    const struct ordo_args *answers;
};

/* Whether a search uses an index, if it has one. */
bool ordo_search_by_index(const struct ordo_search *search);

ordo_status ordo_call_search(struct ordo_call *call, struct ordo_search *search);

#endif
