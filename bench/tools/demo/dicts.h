/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's dictionaries: the address ranges in an LSM and in a sorted array, with batches of change and questions in
 * turns; then where the one is ahead and where the other. */
#ifndef ORDO_BENCH_DEMO_DICT_H
#define ORDO_BENCH_DEMO_DICT_H

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "geoip.h"

/* Asks for `addresses` (count of them) between 20 batches of change, checks every answer, prints to `out` and adds
 * "dictionaries" to `json`. *wrong grows by the number of wrong answers. An error is returned, with its message in `why`. */
ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

#endif
