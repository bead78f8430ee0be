/* SPDX-License-Identifier: Apache-2.0 */
/* A file of an earlier run, to compare with. */
#ifndef BENCH_BENCH_FORMER_H
#define BENCH_BENCH_FORMER_H

#include "run.h"

/* Ends the program if it is none. The caller deletes it. */
cJSON *read_former(const char *path);
/* The former rate of the same point on a device of the same name; NaN if there is none. */
double former_rate(const struct run *run, const struct spec *spec);

#endif
