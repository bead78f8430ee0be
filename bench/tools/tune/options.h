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

#define N_PRIMITIVES 5
extern const char *const primitive_names[N_PRIMITIVES];
#define N_SHAPES 6
extern const char *const shape_names[N_SHAPES];

/* Exits after --help and --version, and with a complaint where an option is wrong. */
struct options read_options(int argc, char **argv);

#endif
