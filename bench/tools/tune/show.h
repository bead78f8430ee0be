/* SPDX-License-Identifier: Apache-2.0 */
/* What the search of a group brought. */
#ifndef BENCH_TUNE_SHOW_H
#define BENCH_TUNE_SHOW_H

#include "group.h"

void   show_group(const struct tuner *tuner, const struct group *group);
cJSON *json_group(const struct group *group);
/* The values of all groups that were tuned, as a row of the table in host/runtime/profile.c. */
void print_row(const struct tuner *tuner);

#endif
