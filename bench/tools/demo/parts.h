/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's dictionaries: the address ranges in an LSM and in a sorted array, with batches of change and questions in
 * turns; then where the one is ahead and where the other. */
#ifndef BENCH_TOOLS_DEMO_PARTS_H
#define BENCH_TOOLS_DEMO_PARTS_H

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "ranges.h"

/* Asks for `addresses` (count of them) between 20 batches of change, checks every answer, prints to `out` and adds
 * "dictionaries" to `json`. *wrong grows by the number of wrong answers. An error is returned, with its message in `why`. */
ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

/* The address ranges as prefixes in an X-fast trie: to which does an address belong? */

/* Cuts the ranges into prefixes, asks for the longest prefix of each of `addresses` (count of them), and compares the rows with
 * those that a search for the range before an address finds on the host. Prints to `out` and adds "prefixes" to `json`. *wrong
 * grows by the number of wrong answers. An error is returned, with its message in `why`. */
ordo_status demo_prefixes(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                          FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

/* The demo's look at each primitive on this device: a table of rates and a chart. */

/* Runs, checks and times each primitive; prints to `out` and adds "primitives" to `json`. *wrong grows by the number of
 * primitives that gave a wrong answer. An error of the device is returned, with its message in `why`. */
ordo_status demo_primitives(ordo_device *device, FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

#endif
