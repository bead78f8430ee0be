/* SPDX-License-Identifier: Apache-2.0 */
/* What a B-tree in main memory does with a dictionary's workload: updates on one thread, queries on two. */
#ifndef BENCH_DICT_YARDSTICK_H
#define BENCH_DICT_YARDSTICK_H

#include "bench/workload/dict_plan.h"

/* "btree", or NULL: it was not built in (no Abseil), or has nothing to set against the workload. */
const char *dict_yardstick_name(enum workload workload);

/* Operations per second on the plan as it is; NaN where it would take too long or memory ran out. */
double dict_yardstick_rate(const struct dict_plan *plan);

#endif
