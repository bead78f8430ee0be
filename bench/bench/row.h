/* SPDX-License-Identifier: Apache-2.0 */
/* One row, measured. */
#ifndef BENCH_BENCH_ROW_H
#define BENCH_BENCH_ROW_H

#include "run.h"

/* `beside`: the row of a sorted array at the same point, or NULL. */
void run_row(struct run *run, struct row *row, const struct row *beside);

#endif
