/* SPDX-License-Identifier: Apache-2.0 */
/* The plain host code of baseline.h, timed on the inputs of a workload: one thread of the machine that runs the tool. */
#ifndef BENCH_YARDSTICK_H
#define BENCH_YARDSTICK_H

#include "bench/workload/inputs.h"

/* The i-th yardstick of a workload over arrays: "radix" and "qsort" for sort, "merge", "loop", "binary" and "s-tree" (all
 * processors) for search; NULL past the last. */
const char *array_yardstick_name(enum workload workload, int i);
#define MAX_YARDSTICKS 3

/* Operations per second of a workload over arrays; NaN where it would take too long (more than a second or so) or memory ran out. */
double yardstick_rate(const struct spec *spec, const struct inputs *in, int i);

#endif
