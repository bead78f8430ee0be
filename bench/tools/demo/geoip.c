/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/workload/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t first, last;
    uint16_t country;
    size_t   line;
};

struct rows {
    struct row *row;
    size_t      count, room;
};

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

#define MALFORMED "not FIRST,LAST,COUNTRY with addresses as numbers"

/* Parses a number up to 2^32 - 1 and the comma behind it. Returns NULL, or the error; advances *at. */
static const char *parse_address(const char **at, uint32_t *out)
{
    const char *digit = skip_spaces(*at);
    char       *end = NULL;
    if (*digit < '0' || *digit > '9')
        return MALFORMED;
    const unsigned long long value = strtoull(digit, &end, 10);
    if (value > UINT32_MAX)
        return "an address above 4294967295";
    *out = (uint32_t) value;
    digit = skip_spaces(end);
    *at = digit + 1;
    return *digit == ',' ? NULL : MALFORMED;
}

static const char *parse_row(const char *at, struct row *out)
{
    const char *why = parse_address(&at, &out->first);
    why = why ? why : parse_address(&at, &out->last);
    if (why)
        return why;
    at = skip_spaces(at);
    if (strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?") < 2)
        return "the country is not two capital letters";
    out->country = (uint16_t) ((unsigned char) at[0] << 8 | (unsigned char) at[1]);
    if (*skip_spaces(at + 2))
        return "more than a country after the second comma";
    return out->last < out->first ? "the range ends before it begins" : NULL;
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

static void report_line(geoip_report_fn report, void *user, struct geoip *out, size_t line, const char *why)
{
    out->bad++;
    if (report)
        report(user, line, why);
}

/* Reads every valid line. Returns 0, or the number of the error. */
static int read_rows(FILE *file, geoip_report_fn report, void *user, struct geoip *out, struct rows *rows)
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
        const char *why = whole ? parse_row(begin, &row) : "a zero byte";
        if (why)
            report_line(report, user, out, line, why);
        else
            error = append(rows, row) ? 0 : ENOMEM;
    }
    free(text);
    return error || feof(file) ? error : errno;
}

static int by_first_then_line(const void *a_, const void *b_)
{
    const struct row *a = a_, *b = b_;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Drops each ascending row that overlaps the last kept row. */
static void drop_overlapping(struct rows *rows, geoip_report_fn report, void *user, struct geoip *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (kept && rows->row[i].first <= rows->row[kept - 1].last) {
            char why[WHY_BYTES];
            because(why, "the range overlaps that of line %zu", rows->row[kept - 1].line);
            report_line(report, user, out, rows->row[i].line, why);
        } else {
            rows->row[kept++] = rows->row[i];
        }
    }
    rows->count = kept;
}

bool geoip_read(const char *path, geoip_report_fn report, void *user, struct geoip *out, char *why)
{
    struct rows rows = { 0 };
    FILE       *file = fopen(path, "r");
    *out = (struct geoip) { 0 };
    int error = file ? read_rows(file, report, user, out, &rows) : errno;
    if (file)
        fclose(file);
    if (rows.count)
        qsort(rows.row, rows.count, sizeof *rows.row, by_first_then_line);
    drop_overlapping(&rows, report, user, out);
    out->first = malloc(rows.count * sizeof *out->first + 1);
    out->last = malloc(rows.count * sizeof *out->last + 1);
    out->country = malloc(rows.count * sizeof *out->country + 1);
    if (!error && (!out->first || !out->last || !out->country))
        error = ENOMEM;
    for (; out->count < rows.count && !error; out->count++) {
        out->first[out->count] = rows.row[out->count].first;
        out->last[out->count] = rows.row[out->count].last;
        out->country[out->count] = rows.row[out->count].country;
    }
    free(rows.row);
    if (error)
        because(why, "%s: %s", path, strerror(error));
    else if (!out->count)
        because(why, "%s: no line holds a range (%zu malformed)", path, out->bad);
    else
        return true;
    geoip_free(out);
    return false;
}

void geoip_free(struct geoip *geoip)
{
    free(geoip->first);
    free(geoip->last);
    free(geoip->country);
    *geoip = (struct geoip) { 0 };
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
