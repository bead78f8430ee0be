/* SPDX-License-Identifier: Apache-2.0 */
/* A workload on a dictionary, spelled out: what is put in beforehand and the calls to be timed, with all that they get
 * and all that they must give. Knows no dictionary but the model. */
#ifndef BENCH_DICT_PLAN_H
#define BENCH_DICT_PLAN_H

#include "model.h"

struct dict_plan {
    struct spec spec;
    /* Upserts in batches of spec_batch, by which a dictionary gets its content. */
    struct script table;
    /* What happens to it before the timed calls, such as that elements become stale. */
    struct script churn;
    /* The timed calls. */
    struct script work;
    /* After the table's batches that were done so far; in the end, after all that is to be timed. */
    struct model model;
};

/* Draws the table and, unless the workload is one of queries, everything else; the model goes through it all. False
 * without memory: then *plan is empty. */
bool plan_make(const struct spec *spec, struct dict_plan *plan);
void plan_free(struct dict_plan *plan);

/* Whether the workload is one of queries, which are timed at several fills of the dictionary. */
bool plan_has_fills(enum workload workload);
/* The number of such fills, and how many of the table's batches the i-th has: ascending. */
size_t plan_fills(const struct dict_plan *plan);
size_t plan_fill(const struct dict_plan *plan, size_t i);
/* Brings the model from `from` batches to `to`, and draws the queries for that. False without memory. */
bool plan_advance(struct dict_plan *plan, size_t from, size_t to);

/* Bytes of all that a device must hold for it, roughly, and of the largest buffer: for one that may be too small. */
struct subject_size plan_size(const struct spec *spec);

#endif
