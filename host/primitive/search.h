/* SPDX-License-Identifier: Apache-2.0 */
/* Batched bounds and finds as part of another call's launches. */
#ifndef ORDO_SEARCH_H
#define ORDO_SEARCH_H

#include "primitive/index.h"

/* What ordo_search and ordo_lookup have in common, and what each answers with. Nothing is checked. */
struct ordo_search {
    ordo_type         key;
    bool              lookup, upper, sorted;
    uint32_t          value_bytes;
    ordo_scheme       scheme;
    const ordo_index *index; /* NULL: none */
    struct ordo_slice keys, queries;
    size_t            count, n_queries;
    bool              ranges;                    /* a search for both bounds */
    struct ordo_slice ranks, uppers;             /* of a search; uppers: of one for both */
    struct ordo_slice values, values_out, found; /* of a lookup */

    struct ordo_slice places; /* uint32_t: query i stands for query places[i]; ordo_none(): for itself */

    /* A lookup with answers of its own: a kernel file that includes cl/primitive/search_body.cl, and the arguments that its
     * ANSWERS_ARGS name. NULL: none. */
    const char             *file;
    const struct ordo_args *answers;
};

/* Whether a search makes use of an index, if there is one. */
bool ordo_search_by_index(const struct ordo_search *search);

ordo_status ordo_call_search(struct ordo_call *call, struct ordo_search *search);

#endif
