/* SPDX-License-Identifier: Apache-2.0 */
/* Which plots the points of a report make. */
#ifndef BENCH_PLOTS_H
#define BENCH_PLOTS_H

#include "points.h"
#include "svg.h"

/* Called with each plot in turn; `file` is a name for a file of its own, without an end. */
typedef void (*plot_fn)(void *arg, const struct plot *plot, const char *file);

/* Rates over the number of elements, a plot for each workload and each device; with the copy rate as a line where the bytes
 * that must move are known. */
void plots_over_size(const struct report *report, plot_fn fn, void *arg);
/* Rates of updates over the batch, with the batches between which another structure comes to lead. */
void plots_over_batch(const struct report *report, plot_fn fn, void *arg);
/* Rates of mixed batches over the share of updates. */
void plots_over_share(const struct report *report, plot_fn fn, void *arg);
/* Rates of queries over the number of batches that were stored before. */
void plots_over_fills(const struct report *report, plot_fn fn, void *arg);
/* The time of a call over the operations that it is given. */
void plots_over_call(const struct report *report, plot_fn fn, void *arg);
/* Device memory an element, over the number of elements. */
void plots_of_memory(const struct report *report, plot_fn fn, void *arg);

#endif
