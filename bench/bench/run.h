/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of ordo-bench share of one run. */
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

#include "bench/common/limits.h"
#include "file.h"
#include "former.h"
#include "options.h"
#include "rows.h"

#include <stdio.h>

/* What is common to the rows of one device. */
struct run {
    const struct options *options; /* of the part at hand */
    const struct options *parts;   /* of all: one, but for the suite */
    int                   n_parts;
    struct options       *suite; /* room for the suite's parts, which depend on the device; NULL: it is not asked for */
    int                   argc;
    char                **argv;
    FILE                 *out;
    struct file           file;
    struct former         before;       /* what is compared with; n 0: nothing */
    char                 *peer_program; /* NULL: none */
    struct paper_run     *paper;        /* NULL: none is measured again */

    ordo_device  *device;
    int           device_number; /* in the file */
    struct limits limits;        /* of its beginning; NaN with --no-limits */
    const size_t *sizes;
    int           n_sizes;
    size_t        n_queries;

    bool   file_failed; /* could not be written */
    double deadline;    /* INFINITY: none */
    int    devices;     /* measured so far */
    int    rows, rows_left, kept, wrong, failed, skipped;
    int    compared;    /* rows that a former file has too */
    int    sharing;     /* rows and peers left of a comparison's table, to which the deadline applies; 0: rows_left */
    double row_seconds; /* for the timing of the next row */
};

#endif
