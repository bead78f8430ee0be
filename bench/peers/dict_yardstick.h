/* SPDX-License-Identifier: Apache-2.0 */
/* What maps in main memory do with a dictionary's workload: a B-tree, updates on one thread, queries on two; hash maps, each
 * of two threads half of the keys or of the queries. */
#ifndef BENCH_DICT_YARDSTICK_H
#define BENCH_DICT_YARDSTICK_H

#include "bench/workload/dict_plan.h"
#include "yardstick.h"

enum { DICT_BTREE, DICT_HASH_MAP, DICT_ROBIN_MAP, N_DICT_YARDSTICKS };

/* "btree", "flat_hash_map" and "robin_map"; or NULL: it was not built in (no Abseil, no robin-map), or has nothing to set against
 * the workload. */
const char *dict_yardstick_name(enum workload workload, int i);

/* The i-th yardstick of any workload; NULL past the last. */
const char *yardstick_name(enum workload workload, int i);

/* Operations per second on the plan as it is; NaN where it would take too long or memory ran out. */
double dict_yardstick_rate(const struct dict_plan *plan, int i);

#endif
