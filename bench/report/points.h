/* SPDX-License-Identifier: Apache-2.0 */
/* What any number of files measured, by device and point. */
#ifndef BENCH_POINTS_OF_FILES_H
#define BENCH_POINTS_OF_FILES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define MOST_REPORT_FILES   256
#define MOST_REPORT_DEVICES 32

struct report_device {
    const cJSON *json;   /* as the newest file describes it */
    double       copy;   /* bytes a second; NaN: not measured */
    int          points; /* of it that have a rate */
};

/* A point on a device. Of several processes of one file the median; of several files the newest, and the rate in the one
 * before it (NaN: there is none). */
struct report_point {
    const cJSON *row;
    const char  *workload, *key; /* of the row, and so are these: */
    double       value_bytes, count;
    int          device, file;
    double       rate;
    int          file_before;
    double       rate_before;
};

struct report {
    const char          *names[MOST_REPORT_FILES];
    cJSON               *files[MOST_REPORT_FILES];
    int                  n_files;
    struct report_device devices[MOST_REPORT_DEVICES];
    int                  n_devices;
    struct report_point *points;
    size_t               n_points;
    size_t rows, wrong, failed, left_out; /* of all files: WRONG, peers too; failed; too large or skipped */
};

/* Takes files, which the report deletes later. False with the reason in `why`: one is not of ordo-bench, or too many. */
bool report_add(struct report *report, const char *name, cJSON *file, char *why, size_t why_bytes);
/* After the last: false without memory. */
bool report_sort_out(struct report *report);
void report_free(struct report *report);

/* What the bytes of a row have to take at the limits of its device, in seconds: of arrays on the device at its copy rate, from and to
 * host memory at the rates of that; *limit says which. NaN: not known. */
double report_least_seconds(const struct report *report, int device, const cJSON *row, const char **limit);

/* The other library's row beside a row; NULL: there is none, or its results were not right. */
const cJSON *report_peer(const cJSON *row);

/* "sort", "find by lsm": what it does and by what, without sizes; the caller gives at least 120 bytes. */
void report_label(const cJSON *row, char *label, size_t bytes);

#endif
