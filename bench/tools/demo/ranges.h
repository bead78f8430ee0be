/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of IPv4 ranges with their countries, as in Debian's tor-geoipdb:
 *
 *     # a comment
 *     16777216,16777471,AU
 *
 * First and last address as numbers, and two letters, digits or ?. Accepts LF and CRLF, spaces around fields, empty
 * lines and a missing last line end. */
#ifndef BENCH_TOOLS_DEMO_RANGES_H
#define BENCH_TOOLS_DEMO_RANGES_H

#include "bench/common/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Disjoint ranges in ascending order: row r is first[r]..last[r] in country[r]. */
struct geoip {
    size_t    count;
    uint32_t *first;
    uint32_t *last;
    uint16_t *country; /* see geoip_country_name */
    size_t    bad;     /* rejected lines */
};

/* Receives a rejected line: number from 1, and reason. */
typedef void (*geoip_report_fn)(void *user, size_t line, const char *why);

/* Reads a file in any order. If ranges overlap, the one that begins later (or stands later) is rejected. `report`
 * may be NULL. False with the reason in `why` without a file, a valid line or memory; then *out is empty. */
bool geoip_read(const char *path, geoip_report_fn report, void *user, struct geoip *out, char *why);
void geoip_free(struct geoip *geoip);

/* Writes two characters and a 0. */
void geoip_country_name(uint16_t country, char name[3]);

/* The number of ranges that begin at or before the address. */
size_t geoip_rank(const struct geoip *geoip, uint32_t address);
/* The row of an address with that rank; count if none holds it. */
size_t geoip_row(const struct geoip *geoip, uint32_t address, size_t rank);

/* Addresses to look up, and the check of the answers. */

/* Uniform addresses, the same in every run. */
void mapping_random(uint32_t *addresses, size_t count);

/* Addresses of 100,000 hosts within the ranges; the r-th busiest has a share of about 1/r. False without memory. */
bool mapping_repeated(const struct geoip *geoip, uint32_t *addresses, size_t count);

/* Rows 0..count-1 in random order, the same in every run. */
void mapping_shuffle(uint32_t *rows, size_t count);

/* The device's result: ranges sorted by first address, with their rows. */
struct mapping_table {
    const uint32_t *first;
    const uint32_t *row;
};

/* The number of wrong places in the sorted table. */
size_t mapping_check_sort(const struct geoip *geoip, struct mapping_table table);

#define MAPPING_COUNTRIES 65536

struct mapping_result {
    size_t   checked;
    size_t   wrong;
    size_t   unlisted;     /* addresses in no range */
    size_t  *by_country;   /* MAPPING_COUNTRIES counters */
    uint32_t example;      /* a wrongly answered address */
    size_t   example_rank; /* its rank on the device */
};

/* False without memory. */
bool mapping_result_make(struct mapping_result *result);
void mapping_result_free(struct mapping_result *result);

/* Finds each country by the device's rank (ranges that begin at or before the address), compares with the host, and
 * adds to the result. False without memory. */
bool mapping_check(const struct geoip *geoip, struct mapping_table table, const uint32_t *addresses,
                   const uint32_t *ranks, size_t count, struct mapping_result *result);

/* Announced and withdrawn ranges, and the check of predecessor queries. */

struct change {
    const struct geoip *geoip;
    uint32_t           *rows; /* announced rows first */
    size_t              announced;
    uint32_t           *nearest; /* per row: the nearest announced row at or before it, or NO_ROW */
    uint64_t            draws;   /* so far */
};
#define NO_ROW UINT32_MAX

/* Announces nine tenths of the ranges, the same in every run. False without memory; then *change is empty. */
bool change_make(const struct geoip *geoip, struct change *change);
void change_free(struct change *change);

/* Announces `count` ranges and withdraws as many others, at most a tenth of all. */
void change_next(struct change *change, size_t count, uint32_t *announced, uint32_t *withdrawn);

/* A structure's answers: whether a range begins at or before each address, and the row of the last one. */
struct change_answers {
    const uint8_t  *found;
    const uint32_t *rows;
};

struct change_result {
    size_t   checked, wrong; /* answers */
    size_t   withdrawn;      /* addresses in a withdrawn range */
    uint32_t example;        /* a wrongly answered address */
};

/* Compares the answers of `n` structures with a search on the host and adds to the result. */
void change_check(const struct change *change, const uint32_t *addresses, size_t count,
                  const struct change_answers *answers, int n, struct change_result *result);

#endif
