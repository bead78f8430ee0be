/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables of a device that are set for one row. */
#ifndef BENCH_BENCH_TUNED_H
#define BENCH_BENCH_TUNED_H

#include "ordo/device.h"

#include <stdbool.h>

/* What they were before. */
struct tuned {
    struct ordo_tunable_info *was;
    size_t                    n;
};

/* Sets those of a list NAME=VALUE,...; NULL: none. False, and why, if there is no such tunable or it may not have that value; tuned_end
 * is called all the same. */
bool tuned_begin(ordo_device *device, const char *list, struct tuned *tuned, char *why, size_t why_bytes);
/* Sets all as they were. */
void tuned_end(ordo_device *device, struct tuned *tuned);

#endif
