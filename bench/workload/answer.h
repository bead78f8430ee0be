/* SPDX-License-Identifier: Apache-2.0 */
/* What workloads over arrays give, and whether it is right. */
#ifndef BENCH_ANSWER_H
#define BENCH_ANSWER_H

#include "inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

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
