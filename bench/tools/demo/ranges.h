/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of IPv4 ranges with their countries, as in Debian's tor-geoipdb:
 *
 *     # a comment
 *     16777216,16777471,AU
 *
 * first and last address as numbers, and two letters (digits and ? too). Line ends are LF or CRLF, the last one may be
 * missing; spaces around fields and empty lines are skipped.
 */
#ifndef BENCH_TOOLS_DEMO_RANGES_H
#define BENCH_TOOLS_DEMO_RANGES_H

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

/* The demo's job beside the device: addresses to look up, and the check of every answer against a host binary search. */

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

/* Address ranges that come and go: which of a list's ranges are announced at the moment, batches of withdrawals and
 * announcements, and the check of predecessor queries between them. */

struct change {
    const struct geoip *geoip;
    uint32_t           *rows; /* all rows: those announced first, then the others */
    size_t              announced;
    uint32_t           *nearest; /* of each row, itself if it is announced, else the nearest before it; NO_ROW: none */
    uint64_t            draws;   /* so far */
};
#define NO_ROW UINT32_MAX

/* Nine tenths of the ranges are announced, at random but in every run the same. False without memory: then *change is
 * empty. */
bool change_make(const struct geoip *geoip, struct change *change);
void change_free(struct change *change);

/* One batch: announces `count` ranges that were not, and withdraws as many that were. Both lists receive rows, no row is in
 * both. `count` may be a tenth of all ranges at most. */
void change_next(struct change *change, size_t count, uint32_t *announced, uint32_t *withdrawn);

/* What a structure said of `count` addresses: whether a range begins at or before each, and the row of the last that does. */
struct change_answers {
    const uint8_t  *found;
    const uint32_t *rows;
};

struct change_result {
    size_t   checked, wrong; /* answers */
    size_t   withdrawn;      /* addresses whose range is in the list, but not announced */
    uint32_t example;        /* an address that was answered wrongly, if there is one */
};

/* Compares what `n` structures said with a binary search in the list, on every processor; adds to the result. */
void change_check(const struct change *change, const uint32_t *addresses, size_t count,
                  const struct change_answers *answers, int n, struct change_result *result);

#endif
