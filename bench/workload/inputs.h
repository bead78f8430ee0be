/* SPDX-License-Identifier: Apache-2.0 */
/* What workloads over arrays get.
 *
 *     struct spec spec = { .workload = SORT, .type = ORDO_U32, .value_bytes = 4, .count = 1 << 20, .seed = 1 };
 *     struct inputs in;
 *     if (inputs_make(&spec, &in)) ... run something, which fills `out` ...
 *     if (!answer_check(&spec, &in, &out, why, sizeof why)) puts(why);
 *     inputs_free(&in);
 */
#ifndef BENCH_WORKLOAD_INPUTS_H
#define BENCH_WORKLOAD_INPUTS_H

#include "workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inputs {
    void    *keys;   /* count elements; sorted as the workload needs it. Dictionaries: in the order of arrival */
    void    *values; /* count values (value_of), or NULL */
    uint8_t *flags;  /* compact: count bytes, or NULL */
    void  *queries; /* n_queries keys, or NULL; a lookup's and an equal range's are in the array seven times in eight */
    void  *rows;    /* gather: count rows; keys are then the indices, of 4 bytes */
    size_t kept;    /* compact: how many flags are set */
};

/* False if memory ran out; then *in is empty. */
bool inputs_make(const struct spec *spec, struct inputs *in);
void inputs_free(struct inputs *in);

/* What workloads over arrays give, and whether it is right. */

/* What a run left, in host memory. Not all are used by each workload. */
struct answer {
    const void     *keys;   /* count elements (scan's output too; gather's rows); groupby: one per group; select: one */
    const void     *values; /* count values; lookup: n_queries */
    const uint32_t *ranks;  /* n_queries */
    const uint8_t  *found;  /* n_queries */
    const void     *total;  /* reduce: one element */
    uint32_t        kept;   /* groupby: groups */
    const uint32_t *uppers; /* equal_range: n_queries */
    const uint32_t *counts; /* groupby: one per group */
};

/* Whether an answer is right, completely: every element is looked at, and for sorts and merges that each input came out
 * once, in order, equal keys in their order (with values exactly; without, by a hash of the set of keys). If not,
 * `why` says the first thing that is wrong. Takes time proportional to the input.
 * ties_may_swap: a merge that promises no order among equal keys. */
bool answer_check(const struct spec *spec, const struct inputs *in, const struct answer *answer, bool ties_may_swap,
                  char *why, size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
