/* SPDX-License-Identifier: Apache-2.0 */
/* The timed calls of workloads that change a dictionary by batches in order. All draw plan->work (churn also plan->churn),
 * after the model has the table, and are false without memory. */
#ifndef BENCH_PLAN_UPDATES_H
#define BENCH_PLAN_UPDATES_H

#include "plan_draw.h"

/* Requests, each for a key that was there at first. */
bool draw_changes(struct dict_plan *plan, enum step_call call);
/* One batch of new keys. */
bool draw_inserts(struct dict_plan *plan);
/* Rounds of a batch of upserts of new keys, and a batch of finds. */
bool draw_rounds(struct dict_plan *plan);
/* Mixed batches. */
bool draw_mix(struct dict_plan *plan);
/* Some are replaced, then as many others erased (spec_churn); timed is what cleans up after it. */
bool draw_churn(struct dict_plan *plan);

#endif
