/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a paper claims holds of figures measured here. */
#ifndef BENCH_PAPERS_CLAIMS_H
#define BENCH_PAPERS_CLAIMS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum verdict {
    HOLDS,   /* as the paper says, to a tenth */
    BY_LESS, /* in the same direction */
    DOES_NOT,
    CANNOT_BE_ASKED,
    N_VERDICTS
};
const char *verdict_name(enum verdict verdict);

struct judgement {
    enum verdict verdict;
    double       here;     /* the figure that stands beside the claim's "paper"; NaN: none */
    char         why[240]; /* what was seen; of what cannot be asked why not */
};

/* `figures` has an array of figures (figures.h) by the id of each experiment, `limits` those of the device. */
struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits);

#endif
