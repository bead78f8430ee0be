/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's look at each primitive on this device: a table of rates and a chart. */
#ifndef ORDO_BENCH_DEMO_PRIMITIVES_H
#define ORDO_BENCH_DEMO_PRIMITIVES_H

#include "bench/common/json.h"
#include "bench/common/terminal.h"

/* Runs, checks and times each primitive; prints to `out` and adds "primitives" to `json`. *wrong grows by the number of
 * primitives that gave a wrong answer. An error of the device is returned, with its message in `why`. */
ordo_status demo_primitives(ordo_device *device, FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

#endif
