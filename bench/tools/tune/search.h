/* SPDX-License-Identifier: Apache-2.0 */
/* The search for better values of one group. */
#ifndef BENCH_TUNE_SEARCH_H
#define BENCH_TUNE_SEARCH_H

#include "group.h"

/* Leaves the best values that were found set on the device. False if even the present values do not work. */
bool tune_group(struct tuner *tuner, struct group *group);

#endif
