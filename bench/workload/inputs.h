/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of array workloads.
 *
 *     struct spec spec = { .workload = SORT, .type = ORDO_U32, .value_bytes = 4, .count = 1 << 20, .seed = 1 };
 *     struct inputs in;
 *     if (inputs_make(&spec, &in)) ... run something, which fills `out` ...
 *     if (!answer_check(&spec, &in, &out, why)) puts(why);
 *     inputs_free(&in);
 */
#pragma once

#include "string_keys.h"
#include "workload.h"

struct inputs {
    void    *keys;    /* count elements, sorted if the workload needs it; for dictionaries in order of arrival */
    void    *values;  /* count values (value_of), or NULL */
    uint8_t *flags;   /* compact: count bytes, or NULL */
    void    *queries; /* n_queries keys, or NULL; seven of eight queries of lookup and equal_range hit */
    /* gather: count rows; keys are then 4-byte indices. columns: three arrays (inputs_column). readroaring and
     * writeroaring: a set of the keys, which ascend and differ. */
    void  *rows;
    size_t kept;      /* compact: number of set flags; readroaring, writeroaring: of keys */
    size_t set_bytes; /* readroaring, writeroaring: of rows */

    /* Workloads of strings have only these. */
    struct string_column strings, asked;
};

/* False without memory; then *in is empty. */
bool inputs_make(const struct spec *spec, struct inputs *in);
void inputs_free(struct inputs *in);

/* columns: the types of the columns. Their arrays of `count` elements follow one another in `rows`. */
#define TABLE_COLUMN_TYPES                                                                                             \
    {                                                                                                                  \
        ORDO_U32, ORDO_F32, ORDO_U64                                                                                   \
    }
#define N_TABLE_COLUMNS 3
/* The first element of column c, counted in elements of its type. */
size_t inputs_column(const struct spec *spec, int c);

/* Results in host memory. A workload uses some of them. */
struct answer {
    const void *keys;   /* count elements (also scan's output and gather's rows); groupby: one per group; select: one */
    const void *values; /* count values; lookup: n_queries */
    const uint32_t *ranks;  /* n_queries */
    const uint8_t  *found;  /* n_queries */
    const void     *total;  /* reduce: one element */
    uint32_t        kept;   /* groupby: groups; readroaring: keys; writeroaring: bytes, which are in `keys` */
    const uint32_t *uppers; /* equal_range: n_queries */
    const uint32_t *counts; /* groupby: one per group */

    struct string_answer strings; /* workloads of strings use only this */
};

/* Checks an answer completely, in linear time. `why` gets the first error. ties_may_swap: the sort or merge promises no
 * order of equal keys. */
bool answer_check(const struct spec *spec, const struct inputs *in, const struct answer *answer, bool ties_may_swap,
                  char *why);
