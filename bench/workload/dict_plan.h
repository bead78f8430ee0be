/* SPDX-License-Identifier: Apache-2.0 */
/* A workload on a dictionary, spelled out: what is put in beforehand and the calls to be timed, with all that they get
 * and all that they must give. Knows no dictionary but the model. */
#ifndef BENCH_DICT_PLAN_H
#define BENCH_DICT_PLAN_H

#include "plan_draw.h"

/* Draws the table and, unless the workload is one of queries, everything else; the model goes through it all. False
 * without memory: then *plan is empty. */
bool plan_make(const struct spec *spec, struct dict_plan *plan);
void plan_free(struct dict_plan *plan);

/* Whether the workload is one of queries, which are timed at several fills of the dictionary. */
bool plan_has_fills(enum workload workload);
/* The number of such fills, and how many of the table's batches the i-th has: ascending. */
size_t plan_fills(const struct dict_plan *plan);
size_t plan_fill(const struct dict_plan *plan, size_t i);
/* Brings the model from the fill before to the i-th, and draws the queries for that; or takes those that were drawn for it before. False
 * without memory. */
bool plan_advance(struct dict_plan *plan, size_t i);

/* The plan of a point, as plan_make makes it: that of the call before, where both differ in nothing but the structure. It belongs to
 * this module, and the next call may change it. NULL without memory. */
struct dict_plan *plan_borrow(const struct spec *spec);
/* To be called when the plan is done with: it stays for the next call if all went well with it and it is small beside the host's
 * memory. */
void plan_return(bool good);

/* Bytes of all that a device must hold for it, roughly, and of the largest buffer: for one that may be too small. */
struct workload_bytes plan_bytes(const struct spec *spec);

#endif
