/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of address ranges with their countries, as in Debian's tor-geoipdb:
 *
 *     # a comment
 *     16777216,16777471,AU
 *     2001:200::,2001:200:ffff:ffff:ffff:ffff:ffff:ffff,JP
 *
 * First and last address, of IPv4 as numbers, and two letters, digits or ?. Accepts LF and CRLF, spaces around fields,
 * empty lines and a missing last line end. */
#pragma once

#include "verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An IPv6 address in network byte order. */
struct ip6 {
    uint8_t byte[16];
};
/* The order of memcmp. */
int ip6_order(const struct ip6 *a, const struct ip6 *b);

/* Disjoint ranges in ascending order: row r is first[r]..last[r] in country[r]. */
struct geoip {
    size_t    count;
    uint32_t *first;
    uint32_t *last;
    uint16_t *country; /* see geoip_country_name */
    size_t    bad;     /* rejected lines */
};
struct geoip6 {
    size_t      count;
    struct ip6 *first;
    struct ip6 *last;
    uint16_t   *country;
    size_t      bad;
};

/* Receives a rejected line: number from 1, and reason. */
typedef void (*geoip_report_fn)(void *user, size_t line, const char *why);

/* Reads a file in any order. If ranges overlap, the one that begins later (or stands later) is rejected. `report`
 * may be NULL. False with the reason in `why` without a file, a valid line or memory; then *out is empty. */
bool geoip_read(const char *path, geoip_report_fn report, void *user, struct geoip *out, char *why);
void geoip_free(struct geoip *geoip);
bool geoip6_read(const char *path, geoip_report_fn report, void *user, struct geoip6 *out, char *why);
void geoip6_free(struct geoip6 *geoip);

void geoip_country_name(uint16_t country, char name[3]);

/* The number of ranges that begin at or before the address. */
size_t geoip_rank(const struct geoip *geoip, uint32_t address);
size_t geoip6_rank(const struct geoip6 *geoip, const struct ip6 *address);
/* The row of an address with that rank; count if none holds it. */
size_t geoip_row(const struct geoip *geoip, uint32_t address, size_t rank);
size_t geoip6_row(const struct geoip6 *geoip, const struct ip6 *address, size_t rank);

/* Addresses to look up, the same in every run. */

void random_addresses(uint32_t *addresses, size_t count);
/* Addresses of 100,000 hosts within the ranges; the r-th busiest has a share of about 1/r. */
void repeated_addresses(const struct geoip *geoip, uint32_t *addresses, size_t count);
void repeated_addresses6(const struct geoip6 *geoip, struct ip6 *addresses, size_t count);
/* The first and the last address of random ranges, and the addresses just outside. */
void bounds6(const struct geoip6 *geoip, struct ip6 *addresses, size_t count);

/* The addresses in each country, by their ranks, added to N_COUNTRIES counters. Returns the number of addresses in no
 * range. */
#define N_COUNTRIES 65536
size_t count_countries(const struct geoip *geoip, const uint32_t *addresses, const uint32_t *ranks, size_t count,
                       size_t *by_country);
size_t count_countries6(const struct geoip6 *geoip, const struct ip6 *addresses, const uint32_t *ranks, size_t count,
                        size_t *by_country);

/* The number of wrong places in the device's table: ranges sorted by first address, with their rows. */
size_t check_sort(const struct geoip *geoip, const uint32_t *first, const uint32_t *rows);
size_t check_sort6(const struct geoip6 *geoip, const struct ip6 *first, const uint32_t *rows);

enum question {
    ASK_RANK,    /* geoip_rank */
    ASK_ROW,     /* geoip_row */
    ASK_NEAREST, /* the row `nearest` of the last range that begins at or before the address */
};

/* The answers of one structure: a word for each address, and whether there is one. */
struct answers {
    const uint8_t  *found; /* NULL: there always is */
    const uint32_t *words;
};

/* Compares the answers of `n` structures with a binary search on the host and adds to the verdict. nearest: for
 * ASK_NEAREST, a row for each row; geoip->count: none. */
void check_answers(const struct geoip *geoip, enum question question, const uint32_t *nearest,
                   const uint32_t *addresses, size_t count, const struct answers *answers, int n,
                   struct verdict *verdict);
/* Compares ranks by an upper bound with geoip6_rank and adds to the verdict. */
void check_ranks6(const struct geoip6 *geoip, const struct ip6 *addresses, const uint32_t *ranks, size_t count,
                  struct verdict *verdict);
