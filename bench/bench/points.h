/* SPDX-License-Identifier: Apache-2.0 */
/* The points of the axes that the options ask for. */
#ifndef BENCH_BENCH_POINTS_H
#define BENCH_BENCH_POINTS_H

#include "run.h"

/* All sizes of one point of the other axes. */
struct series {
    struct spec spec;
    struct row  rows[MOST_SIZES];
    cJSON      *peers;
    bool        asked; /* the peer */
};

/* Whether the options name the variant, or none of the workload's. */
bool variant_wanted(const struct options *options, enum workload workload, int variant);
/* Whether it can do the workload on this device. */
bool variant_can(const struct run *run, enum workload workload, int variant);

/* Goes over to a part's options; how many rows it has. */
int begin_part(struct run *run, const struct options *part);

/* Adds the series of one workload to `list`, or only counts them if it is NULL. */
int list_series(const struct run *run, enum workload workload, struct series *list);

/* The same axes but for the variant. What the options give once for all series is not compared. */
bool same_but_variant(const struct spec *a, const struct spec *b);
/* Whether a series before it in the list is of the same points by another structure: what they do is planned once for all. */
bool series_follows(const struct series *list, int s);

#endif
