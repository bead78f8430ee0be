/* SPDX-License-Identifier: Apache-2.0 */
/* The timed calls of workloads of concurrent batches: one batch each. Draw plan->work after the model has the table; false
 * without memory. */
#ifndef BENCH_PLAN_CONCURRENT_H
#define BENCH_PLAN_CONCURRENT_H

#include "plan_draw.h"

/* Upserts. Which of equal keys is the first there is no telling: nobody asks what was found. */
bool draw_concurrent_upserts(struct dict_plan *plan, int from_stream);
/* Operations of every kind, each of which has a key, and what is near it, for itself. */
bool draw_concurrent_mix(struct dict_plan *plan);

/* Keys of a range of spec.count, in ordered form, and back. */
uint64_t range_key(const struct dict_plan *plan, size_t i);
size_t   range_place(const struct dict_plan *plan, uint64_t key);
/* Half of them as the table; inserts, erases and finds of any of them, of which only explain.h knows whether what they
 * return is right. */
bool draw_half_of_range(struct dict_plan *plan);
bool draw_concurrent_points(struct dict_plan *plan);

#endif
