/* SPDX-License-Identifier: Apache-2.0 */
/* The timed calls of tasks, each some rounds of a few calls. As those of plan_updates.h. */
#ifndef BENCH_PLAN_TASKS_H
#define BENCH_PLAN_TASKS_H

#include "plan_draw.h"

/* One batch of intervals, which may overlap. */
bool draw_erase_ranges(struct dict_plan *plan);
/* Rounds: the first elements are taken, as many new ones put in. */
bool draw_queue(struct dict_plan *plan);
/* Keys are times. Rounds: newer keys come, and as many of the oldest go. */
bool draw_expiry(struct dict_plan *plan);
/* Rounds: quantities are added to prices, and the least and the greatest price asked for. */
bool draw_order_book(struct dict_plan *plan);

#endif
