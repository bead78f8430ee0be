/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench compare: all structures at one point in one table, beside them what the host's processors do with it. */
#ifndef BENCH_BENCH_COMPARE_H
#define BENCH_BENCH_COMPARE_H

#include "run.h"

/* A table for each point of the workload; rows and peers go to the file too. */
void compare_workload(struct run *run, enum workload workload);

#endif
