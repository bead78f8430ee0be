/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of other GPU libraries for the same workloads, measured by ordo-peer on the same device. */
#pragma once

#include "bench/workload/workload.h"

#include <cjson/cJSON.h>

/* The path of ordo-peer: $ORDO_PEER, next to this program, or in PATH. NULL with the reason in `why`. The caller
 * frees it. */
char *peer_program(char *why);

/* Runs it for a point and `n` counts on the named CUDA device, within about `seconds`. Returns rows with "count",
 * "name", "rate" (operations a second), "device_rate", "wall_s", "device_s", "check"; none if it has no peer. NULL
 * with the reason in `why` after a failure or the time limit (see $ORDO_PEER_SECONDS). The caller deletes it. */
cJSON *peer_rows(const char *program, const char *device_name, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why);

/* The fastest row of `count`, or NULL. */
const cJSON *peer_row(const cJSON *rows, size_t count);
