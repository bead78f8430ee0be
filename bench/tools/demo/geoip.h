/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of IPv4 ranges with their countries, as in Debian's tor-geoipdb:
 *
 *     # a comment
 *     16777216,16777471,AU
 *
 * first and last address as numbers, and two letters (digits and ? too). Line ends are LF or CRLF, the last one may be
 * missing; spaces around fields and empty lines are skipped.
 */
#ifndef ORDO_BENCH_GEOIP_H
#define ORDO_BENCH_GEOIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges in ascending order that share no address: row r is first[r]..last[r], in country country[r]. */
struct geoip {
    size_t    count;
    uint32_t *first;
    uint32_t *last;
    uint16_t *country; /* see geoip_country_name */
    size_t    bad;     /* lines that were reported and left out */
};

/* Receives a line that is left out: its number from 1 up, and why. */
typedef void (*geoip_report_fn)(void *user, size_t line, const char *why);

/* Reads a file, in whatever order its lines are. Of two ranges that overlap, the one that begins later is left out (of
 * two that begin together, the one that stands later). `report` may be NULL. False if there is nothing to work with (no
 * file, no usable line, no memory): `why` says so, and *out is empty. */
bool geoip_read(const char *path, geoip_report_fn report, void *user, struct geoip *out, char *why, size_t why_bytes);
void geoip_free(struct geoip *geoip);

/* Two characters and a 0. */
void geoip_country_name(uint16_t country, char name[3]);

/* How many ranges begin at or before the address, by binary search. */
size_t geoip_rank(const struct geoip *geoip, uint32_t address);
/* The row that holds an address of that rank; count if none does. */
size_t geoip_row(const struct geoip *geoip, uint32_t address, size_t rank);

#endif
