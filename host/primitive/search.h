/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_SEARCH_H
#define ORDO_SEARCH_H

#include "primitive/index.h"

struct ordo_search {
    ordo_type         key;
    bool              lookup, upper, sorted;
    uint32_t          value_bytes;
    ordo_scheme       scheme;
    const ordo_index *index;
    struct ordo_slice keys, queries;
    size_t            count, n_queries;
    bool              ranges; /* Search for lower and upper bounds. */
    struct ordo_slice ranks, uppers;
    struct ordo_slice values, values_out, found;

    /* If given, the result of query i is stored at index places[i] (uint32_t) instead of i. */
    struct ordo_slice places;

    /* If not NULL, a lookup uses the kernels of this file. It must include cl/primitive/search_body.cl. `answers` has
     * the additional kernel arguments. */
    const char             *file;
    const struct ordo_args *answers;
};

/* A packed search reads a compressed index instead of the keys. */
static inline bool ordo_search_is_packed(const struct ordo_search *search)
{
    return search->index && search->index->packed;
}

bool ordo_search_by_index(const struct ordo_search *search);

/* Returns true if the search may build an index, which should then serve many queries. */
bool ordo_search_may_build_index(const ordo_device *dev, const struct ordo_search *search);

/* Ignores search->scheme, and never reorders the queries. */
ordo_status ordo_search_in_order(struct ordo_call *call, const struct ordo_search *search);
/* Reorders the queries first if search->scheme requires this. */
ordo_status ordo_call_search(struct ordo_call *call, struct ordo_search *search);

#endif
