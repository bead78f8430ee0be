/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/workload/baseline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* IPv4 addresses are in the last 4 bytes. */
struct row {
    struct ip6 first, last;
    uint16_t   country;
    size_t     line;
};

/* Parses an address and the comma behind it. Returns NULL, or the error; advances *at. */
typedef const char *(*parse_fn)(const char **at, struct ip6 *out);

/* Rows of a file, and the caller's function for rejected lines. */
struct rows {
    struct row     *row;
    size_t          count, room, bad;
    parse_fn        parse;
    geoip_report_fn report; /* NULL: none */
    void           *user;
};

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

#define MALFORMED  "not FIRST,LAST,COUNTRY with addresses as numbers"
#define MALFORMED6 "not FIRST,LAST,COUNTRY with IPv6 addresses"

/* Parses a number up to 2^32 - 1. */
static const char *parse_address(const char **at, struct ip6 *out)
{
    const char *digit = skip_spaces(*at);
    char       *end = NULL;
    if (*digit < '0' || *digit > '9')
        return MALFORMED;
    const unsigned long long value = strtoull(digit, &end, 10);
    if (value > UINT32_MAX)
        return "an address above 4294967295";
    const uint32_t bytes = htonl((uint32_t) value);
    memcpy(out->byte + 12, &bytes, 4);
    digit = skip_spaces(end);
    *at = digit + 1;
    return *digit == ',' ? NULL : MALFORMED;
}

static const char *parse_address6(const char **at, struct ip6 *out)
{
    const char  *begin = skip_spaces(*at);
    const size_t length = strcspn(begin, ", \t");
    const char  *end = skip_spaces(begin + length);
    char         text[INET6_ADDRSTRLEN] = "";
    if (length >= sizeof text || *end != ',')
        return MALFORMED6;
    memcpy(text, begin, length);
    *at = end + 1;
    return inet_pton(AF_INET6, text, out->byte) == 1 ? NULL : MALFORMED6;
}

static const char *parse_row(parse_fn parse, const char *at, struct row *out)
{
    const char *why = parse(&at, &out->first);
    why = why ? why : parse(&at, &out->last);
    if (why)
        return why;
    at = skip_spaces(at);
    if (strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?") < 2)
        return "the country is not two capital letters";
    out->country = (uint16_t) ((unsigned char) at[0] << 8 | (unsigned char) at[1]);
    if (*skip_spaces(at + 2))
        return "more than a country after the second comma";
    return ip6_order(&out->last, &out->first) < 0 ? "the range ends before it begins" : NULL;
}

static bool append(struct rows *rows, struct row row)
{
    if (rows->count == rows->room) {
        const size_t room = rows->room ? 2 * rows->room : 4096;
        struct row  *more = realloc(rows->row, room * sizeof *more);
        if (!more)
            return false;
        rows->row = more;
        rows->room = room;
    }
    rows->row[rows->count++] = row;
    return true;
}

static void report_line(struct rows *rows, size_t line, const char *why)
{
    rows->bad++;
    if (rows->report)
        rows->report(rows->user, line, why);
}

/* Reads every valid line. Returns 0, or the number of the error. */
static int read_lines(FILE *file, struct rows *rows)
{
    char   *text = NULL;
    size_t  text_room = 0;
    ssize_t length;
    int     error = 0;
    for (size_t line = 1; !error && (length = getline(&text, &text_room, file)) >= 0; line++) {
        while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
            text[--length] = 0;
        const bool  whole = strlen(text) == (size_t) length;
        const char *begin = skip_spaces(text);
        if ((*begin == 0 && whole) || *begin == '#')
            continue;
        struct row  row = { .line = line };
        const char *why = whole ? parse_row(rows->parse, begin, &row) : "a zero byte";
        if (why)
            report_line(rows, line, why);
        else
            error = append(rows, row) ? 0 : ENOMEM;
    }
    free(text);
    return error || feof(file) ? error : errno;
}

static int by_first_then_line(const void *a_, const void *b_)
{
    const struct row *a = a_, *b = b_;
    const int         order = ip6_order(&a->first, &b->first);
    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* Drops each ascending row that overlaps the last kept row. */
static void drop_overlapping(struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (kept && ip6_order(&rows->row[i].first, &rows->row[kept - 1].last) <= 0) {
            char why[WHY_BYTES];
            because(why, "the range overlaps that of line %zu", rows->row[kept - 1].line);
            report_line(rows, rows->row[i].line, why);
        } else {
            rows->row[kept++] = rows->row[i];
        }
    }
    rows->count = kept;
}

/* Reads, sorts and filters all rows. Returns 0, or the number of the error. */
static int read_rows(const char *path, struct rows *rows)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return errno;
    const int error = read_lines(file, rows);
    fclose(file);
    if (rows->count)
        qsort(rows->row, rows->count, sizeof *rows->row, by_first_then_line);
    drop_overlapping(rows);
    return error;
}

static void *array_of(size_t count, size_t bytes, int *error)
{
    void *array = malloc(count * bytes + 1);
    if (!array && !*error)
        *error = ENOMEM;
    return array;
}

/* Frees the rows. Returns whether `count` rows are in the caller's arrays, else the reason in `why`. */
static bool end_reading(const char *path, int error, struct rows *rows, size_t count, char *why)
{
    free(rows->row);
    if (error)
        because(why, "%s: %s", path, strerror(error));
    else if (!count)
        because(why, "%s: no line holds a range (%zu malformed)", path, rows->bad);
    return !error && count;
}

static uint32_t ip4_of(const struct ip6 *address)
{
    uint32_t bytes;
    memcpy(&bytes, address->byte + 12, 4);
    return ntohl(bytes);
}

bool geoip_read(const char *path, geoip_report_fn report, void *user, struct geoip *out, char *why)
{
    struct rows rows = { .parse = parse_address, .report = report, .user = user };
    int         error = read_rows(path, &rows);
    *out = (struct geoip) { .bad = rows.bad };
    out->first = array_of(rows.count, sizeof *out->first, &error);
    out->last = array_of(rows.count, sizeof *out->last, &error);
    out->country = array_of(rows.count, sizeof *out->country, &error);
    for (; out->count < rows.count && !error; out->count++) {
        out->first[out->count] = ip4_of(&rows.row[out->count].first);
        out->last[out->count] = ip4_of(&rows.row[out->count].last);
        out->country[out->count] = rows.row[out->count].country;
    }
    if (end_reading(path, error, &rows, out->count, why))
        return true;
    geoip_free(out);
    return false;
}

bool geoip6_read(const char *path, geoip_report_fn report, void *user, struct geoip6 *out, char *why)
{
    struct rows rows = { .parse = parse_address6, .report = report, .user = user };
    int         error = read_rows(path, &rows);
    *out = (struct geoip6) { .bad = rows.bad };
    out->first = array_of(rows.count, sizeof *out->first, &error);
    out->last = array_of(rows.count, sizeof *out->last, &error);
    out->country = array_of(rows.count, sizeof *out->country, &error);
    for (; out->count < rows.count && !error; out->count++) {
        out->first[out->count] = rows.row[out->count].first;
        out->last[out->count] = rows.row[out->count].last;
        out->country[out->count] = rows.row[out->count].country;
    }
    if (end_reading(path, error, &rows, out->count, why))
        return true;
    geoip6_free(out);
    return false;
}

void geoip_free(struct geoip *geoip)
{
    free(geoip->first);
    free(geoip->last);
    free(geoip->country);
    *geoip = (struct geoip) { 0 };
}

void geoip6_free(struct geoip6 *geoip)
{
    free(geoip->first);
    free(geoip->last);
    free(geoip->country);
    *geoip = (struct geoip6) { 0 };
}

void geoip_country_name(uint16_t country, char name[3])
{
    name[0] = (char) (country >> 8);
    name[1] = (char) (country & 0xff);
    name[2] = 0;
}

size_t geoip_rank(const struct geoip *geoip, uint32_t address)
{
    return host_lower_bound(geoip->first, 4, geoip->count, (uint64_t) address + 1);
}

size_t geoip_row(const struct geoip *geoip, uint32_t address, size_t rank)
{
    return rank && address <= geoip->last[rank - 1] ? rank - 1 : geoip->count;
}

int ip6_order(const struct ip6 *a, const struct ip6 *b)
{
    return memcmp(a->byte, b->byte, sizeof a->byte);
}

size_t geoip6_rank(const struct geoip6 *geoip, const struct ip6 *address)
{
    size_t from = 0, to = geoip->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (ip6_order(&geoip->first[middle], address) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

size_t geoip6_row(const struct geoip6 *geoip, const struct ip6 *address, size_t rank)
{
    return rank && ip6_order(address, &geoip->last[rank - 1]) <= 0 ? rank - 1 : geoip->count;
}
