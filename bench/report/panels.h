/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a report: shares of what a device can do at most, old files against new ones, the papers. Nothing is written where
 * nothing was measured but for a sentence that says so. */
#ifndef BENCH_PANELS_H
#define BENCH_PANELS_H

#include "plots.h"
#include "points.h"

#include <stdio.h>

void put_limits(FILE *out, const struct report *report);
/* What ordo-bench compare set beside structures; nothing if no file has it. */
void put_host_peers(FILE *out, const struct report *report);
void put_changes(FILE *out, const struct report *report);
/* Of each paper that a file ran again: its claims with their verdicts, and the figures. */
void put_papers(FILE *out, const struct report *report);
/* The paper's lines beside the ones here, on the same axes. */
void plots_of_papers(const struct report *report, plot_fn fn, void *arg);

#endif
