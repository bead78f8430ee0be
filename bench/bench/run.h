/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of ordo-bench share this: what one run knows, and what it measured of each point of the axes. */
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

#include "bench/common/complain.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"
#include "bench/measure/dict_measure.h"
#include "bench/peers/yardstick.h"
#include "options.h"

/* ---- rows ---------------------------------------------------------------------------------------------------- */

enum outcome { GOOD, WRONG, FAILED, TOO_LARGE, SKIPPED };

struct row {
    struct spec         spec;
    enum outcome        outcome;
    char                why[512];
    struct timing       timing;
    double              rate, bytes_per_second, copy_share; /* by the wall clock; NaN where nothing was measured */
    double              yardstick[MAX_YARDSTICKS];          /* operations a second */
    uint64_t            scratch_bytes;
    size_t              index_bytes;
    double              index_seconds;
    struct dict_figures dict;       /* of a dictionary's workload */
    double              array_rate; /* the same by a sorted array; NaN: not known */
    const cJSON        *peer;       /* NULL: none */
    double              before;     /* rate in the file to compare with; NaN: not there */
};

/* What is common to the rows of one device. */
struct run {
    const struct options *options;
    FILE                 *out;
    cJSON                *json, *devices, *rows, *before; /* before: the file to compare with, or NULL */
    char                 *peer_program;                   /* NULL: none */

    ordo_device     *device;
    int              device_number; /* in `devices` */
    struct copy_rate copy;
    const size_t    *sizes;
    int              n_sizes;
    size_t           n_queries;

    double deadline; /* INFINITY: none */
    int    rows_left, wrong, failed, skipped, slower;
    double row_seconds; /* for the timing of the next row */
};

#endif
