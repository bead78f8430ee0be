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

#endif
