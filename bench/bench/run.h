/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of ordo-bench share of one run. */
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

#include "file.h"
#include "options.h"
#include "rows.h"

#include <stdio.h>

/* What is common to the rows of one device. */
struct run {
    const struct options *options;
    FILE                 *out;
    struct file           file;
    cJSON                *before;       /* the file to compare with, or NULL */
    char                 *peer_program; /* NULL: none */

    ordo_device     *device;
    int              device_number; /* in the file */
    struct copy_rate copy;
    const size_t    *sizes;
    int              n_sizes;
    size_t           n_queries;

    bool   file_failed; /* could not be written */
    double deadline;    /* INFINITY: none */
    int    devices;     /* measured so far */
    int    rows, rows_left, kept, wrong, failed, skipped, slower;
    double row_seconds; /* for the timing of the next row */
};

#endif
