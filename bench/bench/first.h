/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench -w open,prepare: what opening and first calls cost, with caches that are empty and that are filled. */
#ifndef BENCH_BENCH_FIRST_H
#define BENCH_BENCH_FIRST_H

#include "run.h"

/* Those of the run's options, on its device; tables, and rows of their own in the file ("first"). `select` is what the device was
 * opened by. */
void first_measure(struct run *run, const char *select);

#endif
