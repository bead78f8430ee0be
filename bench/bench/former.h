/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of files, to compare with: of one point, what each process measured. */
#ifndef BENCH_BENCH_FORMER_H
#define BENCH_BENCH_FORMER_H

#include "bench/common/json.h"

#define MOST_FILES     64
#define MOST_PROCESSES 64
struct former {
    cJSON *files[MOST_FILES];
    int    n;
};

/* Ends the program if the file is none of ordo-bench. */
void former_read(struct former *former, const char *path);
void former_free(struct former *former);

/* NULL if what it has of a device can be compared with this one; else why not: another device, driver, or tunables. */
const char *former_differs(const struct former *former, const cJSON *device);

/* The rate of a point on a device of that name in each process, NaN in those that lack it; the number of processes. */
int former_each(const struct former *former, const char *device_name, const cJSON *point, double rates[MOST_PROCESSES]);

#endif
