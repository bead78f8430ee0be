/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as tables for people. */
#ifndef BENCH_BENCH_SHOW_H
#define BENCH_BENCH_SHOW_H

#include "bench/common/terminal.h"
#include "run.h"

/* The columns of one workload: those without anything to say are left out. */
struct layout {
    struct column columns[MOST_COLUMNS];
    int           n;
};
struct layout lay_out(const struct run *run, enum workload workload);

void show_row(const struct run *run, const struct table *table, const struct row *row);

/* A chart of the rates of `n` rows that differ in size; nothing if fewer than two are known. */
void draw_rows(const struct run *run, const struct row *rows, int n);

#endif
