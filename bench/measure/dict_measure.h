/* SPDX-License-Identifier: Apache-2.0 */
/* One point of the axes on a dictionary: the plan is made, gone through and timed, and everything is checked. */
#ifndef BENCH_DICT_MEASURE_H
#define BENCH_DICT_MEASURE_H

#include "bench/common/timing.h"
#include "bench/workload/workload.h"

#include "ordo/ordo.h"

#define MOST_FILLS 64

/* What queries took when the dictionary had so many of its batches. */
struct dict_fill {
    size_t batches, elements; /* put in */
    double seconds;           /* a call with all queries */
    double first_seconds;     /* the first such call after the updates; of the first fill with building kernels */
    int    repetitions;
    double sample[MOST_REPETITIONS]; /* seconds a call, in their order */
};

struct dict_figures {
    bool right;
    /* Of queries: the mean over all fills, so that rates are harmonic means; host's clock only. */
    struct timing          timing;
    int                    n_fills;
    struct dict_fill      *fills;
    size_t                 n_batches;       /* of updates in several batches, done once more: ... */
    double                *batch_seconds;   /* ... the time of each, waiting for its end */
    double                 rebuild_seconds; /* cleanup: what building it anew takes; NaN otherwise */
    double                 yardstick[3];    /* operations a second by dict_yardstick.h's; NaN: not known */
    struct ordo_statistics statistics;      /* at the end */
};

void dict_figures_free(struct dict_figures *figures);

/* Returns the first error, with its reason in `why`; with a wrong answer ORDO_OK, and `why` says what is wrong.
 * host: yardsticks to be taken too, 1 << DICT_BTREE and so on. The caller frees *out with dict_figures_free in any case. */
ordo_status dict_measure(ordo_device *device, const struct spec *spec, const struct timing_goal *goal, unsigned host,
                         struct dict_figures *out, char *why, size_t why_bytes);

#endif
