/* SPDX-License-Identifier: Apache-2.0 */
/* What ordo-tune is asked to do. */
#ifndef BENCH_TUNE_OPTIONS_H
#define BENCH_TUNE_OPTIONS_H

#include <stdbool.h>

#define MOST_NAMES 16

struct options {
    const char *device, *json;
    double      budget;
    int         primitives[MOST_NAMES], n_primitives; /* none: all */
    int         shapes[MOST_NAMES], n_shapes;
    bool        dry_run, row;
};

/* id, name: the first part of the names of its tunables */
#define PRIMITIVE_MAP(X)                                                                                               \
    X(TUNE_SORT, "sort")                                                                                               \
    X(TUNE_SEARCH, "search")                                                                                           \
    X(TUNE_MERGE, "merge")                                                                                             \
    X(TUNE_SCAN, "scan")                                                                                               \
    X(TUNE_MERGE_RUNS, "merge_runs")                                                                                   \
    X(TUNE_COMPACT, "compact")                                                                                         \
    X(TUNE_BY_KEY, "by_key")                                                                                           \
    X(TUNE_TOP, "top")                                                                                                 \
    X(TUNE_BLINK, "blink")                                                                                             \
    X(TUNE_LINKS, "links")

enum tuned_primitive {
#define X(id, name) id,
    PRIMITIVE_MAP(X)
#undef X
        N_PRIMITIVES
};
extern const char *const primitive_names[N_PRIMITIVES];
#define N_SHAPES 6
extern const char *const shape_names[N_SHAPES];

/* Exits after --help and --version, and with a complaint where an option is wrong. */
struct options read_options(int argc, char **argv);

#endif
