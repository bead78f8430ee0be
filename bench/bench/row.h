/* SPDX-License-Identifier: Apache-2.0 */
/* One row: measured, or taken from the file. */
#ifndef BENCH_BENCH_ROW_H
#define BENCH_BENCH_ROW_H

#include "run.h"

/* Whether the file has the row's point. */
bool row_is_there(const struct run *run, const struct row *row);
/* Sets how long the next row, or peer of a comparison, is timed. */
void row_share_time(struct run *run);
/* How long a row is timed: of the last one that was settled. */
struct timing_goal row_goal(const struct run *run);
/* Takes the row from the file if it is there; else measures it and puts it there. Counts it. `beside`: the row of a sorted array
 * at the same point, or NULL. */
void row_settle(struct run *run, struct row *row, const struct row *beside);

#endif
