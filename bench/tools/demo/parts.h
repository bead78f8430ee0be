/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the demo. They print to `out`, add to `json`, and increase *wrong by wrong answers. They return an error
 * with its message in `why`. */
#ifndef BENCH_TOOLS_DEMO_PARTS_H
#define BENCH_TOOLS_DEMO_PARTS_H

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "ranges.h"

/* Changes the ranges in an LSM and a sorted array in 20 batches, with queries of all `addresses` in between, and
 * compares both. Adds "dictionaries". */
ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why);

/* Finds the longest prefixes of `addresses` in an X-fast trie and compares them with a search on the host. Adds
 * "prefixes". */
ordo_status demo_prefixes(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                          FILE *out, cJSON *json, size_t *wrong, char *why);

/* Runs, checks and times each primitive. Adds "primitives". */
ordo_status demo_primitives(ordo_device *device, FILE *out, cJSON *json, size_t *wrong, char *why);

#endif
