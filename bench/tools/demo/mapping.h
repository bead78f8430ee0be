/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's job beside the device: addresses to look up, and the check of every answer against a host binary search. */
#ifndef ORDO_BENCH_MAPPING_H
#define ORDO_BENCH_MAPPING_H

#include "geoip.h"

/* The i-th address is drawn from all 2^32, each equally likely. The same ones in every run. */
void mapping_random(uint32_t *addresses, size_t count);

/* Addresses of some 100,000 hosts within the ranges; the r-th busiest host has about a share of 1/r. False without
 * memory. */
bool mapping_repeated(const struct geoip *geoip, uint32_t *addresses, size_t count);

/* The rows 0..count-1 in random order, the same in every run. */
void mapping_shuffle(uint32_t *rows, size_t count);

/* What the device said of the ranges: sorted by first address, with the row that each came from. */
struct mapping_table {
    const uint32_t *first;
    const uint32_t *row;
};

/* How many places of the sorted table are wrong: not ascending, or a row that is not its own. */
size_t mapping_check_sort(const struct geoip *geoip, struct mapping_table table);

#define MAPPING_COUNTRIES 65536

struct mapping_result {
    size_t   checked;
    size_t   wrong;
    size_t   unlisted;     /* addresses in no range */
    size_t  *by_country;   /* MAPPING_COUNTRIES counters, by country as in struct geoip */
    uint32_t example;      /* an address that was answered wrongly, if there is one */
    size_t   example_rank; /* what the device said of it */
};

/* False without memory. */
bool mapping_result_make(struct mapping_result *result);
void mapping_result_free(struct mapping_result *result);

/* Maps each address to its country by the device's rank (the number of ranges that begin at or before it) and compares
 * with the host's; adds to the result. Works on every processor. False without memory. */
bool mapping_check(const struct geoip *geoip, struct mapping_table table, const uint32_t *addresses,
                   const uint32_t *ranks, size_t count, struct mapping_result *result);

#endif
