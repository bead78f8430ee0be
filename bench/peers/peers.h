/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of other libraries for the same workloads, measured by ordo-peer and ordo-peer-cl on the same device. */
#pragma once

#include "bench/workload/workload.h"

#include "ordo/ordo.h"

#include <cjson/cJSON.h>

/* The paths of ordo-peer and ordo-peer-cl, with a colon between them: $ORDO_PEER, else those next to this program or in
 * PATH. NULL with the reason in `why`. The caller frees it. */
char *peer_programs(char *why);

/* Runs them for a point and `n` counts on the device, within about `seconds` each. Returns rows with "count", "name",
 * "check", and unless the peer failed "rate" (operations a second), "wall_s", "cpu_s", of CUDA "device_rate" and
 * "device_s"; none if there is no peer. Rows that are not ok have "why". `why` gets the reason of a failed program, or
 * of one past the time limit (see $ORDO_PEER_SECONDS), else "". NULL without memory. The caller deletes the rows. */
cJSON *peer_rows(const char *programs, ordo_device *device, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why);

/* The fastest right row of `count`, or NULL. */
const cJSON *peer_row(const cJSON *rows, size_t count);
