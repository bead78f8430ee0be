/* SPDX-License-Identifier: Apache-2.0 */
/* The address ranges as prefixes in an X-fast trie: to which does an address belong? */
#ifndef ORDO_BENCH_DEMO_PREFIXES_H
#define ORDO_BENCH_DEMO_PREFIXES_H

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "geoip.h"

/* Cuts the ranges into prefixes, asks for the longest prefix of each of `addresses` (count of them), and compares the rows with
 * those that a search for the range before an address finds on the host. Prints to `out` and adds "prefixes" to `json`. *wrong
 * grows by the number of wrong answers. An error is returned, with its message in `why`. */
ordo_status demo_prefixes(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                          FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes);

#endif
