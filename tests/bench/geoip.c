/* SPDX-License-Identifier: Apache-2.0 */
/* The range reader of the demo: accepted input, errors, and the line numbers of errors. */
#include "bench/tools/demo/ranges.h"

#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reports {
    size_t count;
    size_t line[16];
    char   why[16][80];
};

static void note(void *user, size_t line, const char *why)
{
    struct reports *reports = user;
    cr_assert_lt(reports->count, 16);
    reports->line[reports->count] = line;
    snprintf(reports->why[reports->count++], sizeof reports->why[0], "%s", why);
}

static struct geoip   ranges;
static struct reports reports;
static char           why[WHY_BYTES];

static bool read_bytes(const char *text, size_t bytes)
{
    char      path[] = "/tmp/ordo-geoip-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0, "no temporary file");
    cr_assert_eq(write(fd, text, bytes), (ssize_t) bytes);
    close(fd);
    reports = (struct reports) { 0 };
    why[0] = 0;
    const bool good = geoip_read(path, note, &reports, &ranges, why);
    unlink(path);
    return good;
}

static bool read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void expect_row(size_t row, uint32_t first, uint32_t last, const char *country)
{
    char name[3];
    cr_assert_lt(row, ranges.count);
    geoip_country_name(ranges.country[row], name);
    cr_assert(ranges.first[row] == first && ranges.last[row] == last && !strcmp(name, country),
              "row %zu is %u..%u %s, not %u..%u %s", row, ranges.first[row], ranges.last[row], name, first, last,
              country);
}

static void expect_report(size_t i, size_t line, const char *part)
{
    cr_assert_lt(i, reports.count, "only %zu lines were reported", reports.count);
    cr_assert_eq(reports.line[i], line, "report %zu is on line %zu (%s), not %zu", i, reports.line[i], reports.why[i],
                 line);
    cr_assert(strstr(reports.why[i], part), "line %zu: \"%s\" says nothing of \"%s\"", line, reports.why[i], part);
}

Test(geoip, plain_lines_comments_and_blanks)
{
    cr_assert(read_text("# comment, with, commas\n\n1,2,AU\n   \n 10 , 20 , ?? \n#1,2,CN\n4294967295,4294967295,A1\n"));
    cr_assert_eq(ranges.count, 3);
    cr_assert_eq(reports.count, 0);
    expect_row(0, 1, 2, "AU");
    expect_row(1, 10, 20, "??");
    expect_row(2, 4294967295u, 4294967295u, "A1");
    geoip_free(&ranges);
    cr_assert_eq(ranges.count, 0);
}

Test(geoip, crlf_and_a_missing_last_newline)
{
    cr_assert(read_text("# windows\r\n0,0,DE\r\n\r\n1,5,FR"));
    cr_assert_eq(ranges.count, 2);
    cr_assert_eq(reports.count, 0);
    expect_row(0, 0, 0, "DE");
    expect_row(1, 1, 5, "FR");
    geoip_free(&ranges);
}

Test(geoip, malformed_lines_are_reported_and_the_rest_is_used)
{
    cr_assert(read_text("1,2,AU\n"
                        "nonsense\n"                               /* 2 */
                        "3,4\n"                                    /* 3 */
                        "5,6,\n"                                   /* 4 */
                        "7,8,U\n"                                  /* 5 */
                        "9,10,USA\n"                               /* 6 */
                        "12,11,US\n"                               /* 7 */
                        "13,4294967296,US\n"                       /* 8 */
                        "-1,14,US\n"                               /* 9 */
                        "15,1x6,US\n"                              /* 10 */
                        "17,18,us\n"                               /* 11 */
                        "19,20,US,extra\n"                         /* 12 */
                        "0x15,22,US\n"                             /* 13 */
                        "99999999999999999999999999999999,23,US\n" /* 14 */
                        "30,31,NZ\n"));
    cr_assert_eq(ranges.count, 2);
    expect_row(0, 1, 2, "AU");
    expect_row(1, 30, 31, "NZ");
    static const char *const part[] = { "FIRST,LAST", "FIRST,LAST", "country",   "country", "more than",
                                        "before",     "4294967295", "FIRST",     "FIRST",   "country",
                                        "more than",  "FIRST",      "4294967295" };
    cr_assert_eq(reports.count, sizeof part / sizeof part[0]);
    cr_assert_eq(ranges.bad, reports.count);
    for (size_t i = 0; i < reports.count; i++)
        expect_report(i, i + 2, part[i]);
    geoip_free(&ranges);
}

Test(geoip, a_zero_byte_spoils_only_its_line)
{
    static const char text[] = "1,2,AU\n3,4,\0FR\n\0\n5,6,FR\n";
    cr_assert(read_bytes(text, sizeof text - 1));
    cr_assert_eq(ranges.count, 2);
    cr_assert_eq(reports.count, 2);
    expect_report(0, 2, "zero");
    expect_report(1, 3, "zero");
    geoip_free(&ranges);
}

Test(geoip, lines_in_any_order_come_out_ascending)
{
    cr_assert(read_text("50,59,CC\n10,19,AA\n70,70,DD\n30,39,BB\n"));
    cr_assert_eq(reports.count, 0);
    cr_assert_eq(ranges.count, 4);
    expect_row(0, 10, 19, "AA");
    expect_row(1, 30, 39, "BB");
    expect_row(2, 50, 59, "CC");
    expect_row(3, 70, 70, "DD");
    geoip_free(&ranges);
}

Test(geoip, of_overlapping_ranges_the_first_stays)
{
    cr_assert(read_text("10,19,AA\n19,25,BB\n20,29,CC\n22,23,DD\n10,19,EE\n30,30,FF\n"));
    cr_assert_eq(ranges.count, 3);
    expect_row(0, 10, 19, "AA");
    expect_row(1, 20, 29, "CC");
    expect_row(2, 30, 30, "FF");
    cr_assert_eq(reports.count, 3);
    expect_report(0, 5, "line 1");
    expect_report(1, 2, "line 1");
    expect_report(2, 4, "line 3");
    geoip_free(&ranges);
}

Test(geoip, nothing_to_work_with_is_an_error)
{
    static const char *const empty[] = { "", "\n\n", "# only a comment", "nonsense\n1,2\n" };
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        cr_assert_not(read_text(empty[i]), "\"%s\" was taken", empty[i]);
        cr_assert(strstr(why, "no line holds a range"), "\"%s\"", why);
        cr_assert_eq(ranges.count, 0);
    }
    cr_assert_not(geoip_read("/nowhere/at/all", NULL, NULL, &ranges, why));
    cr_assert(strstr(why, "/nowhere/at/all: No such file"), "\"%s\"", why);
    cr_assert_not(geoip_read("/tmp", NULL, NULL, &ranges, why));
    cr_assert(strstr(why, "/tmp: Is a directory"), "\"%s\"", why);
}

Test(geoip, a_long_line_does_no_harm)
{
    static char text[200000];
    memset(text, '1', sizeof text);
    memcpy(text + sizeof text - 10, "\n7,8,AT\n", 9);
    cr_assert(read_bytes(text, sizeof text - 2));
    cr_assert_eq(ranges.count, 1);
    expect_row(0, 7, 8, "AT");
    expect_report(0, 1, "4294967295");
    geoip_free(&ranges);
}

Test(geoip, rank_and_row_find_an_address)
{
    cr_assert(read_text("10,19,AA\n20,20,BB\n4294967290,4294967295,CC\n"));
    static const struct {
        uint32_t address;
        size_t   row; /* 3: none */
    } cases[] = { { 0, 3 },  { 9, 3 },  { 10, 0 },          { 15, 0 },          { 19, 0 },
                  { 20, 1 }, { 21, 3 }, { 4294967289u, 3 }, { 4294967290u, 2 }, { 4294967295u, 2 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_assert_eq(geoip_row(&ranges, cases[i].address, geoip_rank(&ranges, cases[i].address)), cases[i].row,
                     "address %u", cases[i].address);
    geoip_free(&ranges);
}

/* ---- IPv6 ---------------------------------------------------------------------------------------------------- */

static struct geoip6 ranges6;

static bool read_text6(const char *text)
{
    char      path[] = "/tmp/ordo-geoip-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0, "no temporary file");
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    close(fd);
    reports = (struct reports) { 0 };
    why[0] = 0;
    const bool good = geoip6_read(path, note, &reports, &ranges6, why);
    unlink(path);
    return good;
}

static void expect_row6(size_t row, const char *first, const char *last, const char *country)
{
    struct ip6 want_first, want_last;
    char       name[3];
    cr_assert_eq(inet_pton(AF_INET6, first, want_first.byte), 1);
    cr_assert_eq(inet_pton(AF_INET6, last, want_last.byte), 1);
    cr_assert_lt(row, ranges6.count);
    geoip_country_name(ranges6.country[row], name);
    cr_assert(ip6_order(&ranges6.first[row], &want_first) == 0 && ip6_order(&ranges6.last[row], &want_last) == 0 &&
                  !strcmp(name, country),
              "row %zu is not %s..%s %s", row, first, last, country);
}

Test(geoip6, lines_in_any_order_come_out_ascending)
{
    cr_assert(read_text6("# comment\n2001:200::,2001:200:ffff:ffff:ffff:ffff:ffff:ffff,JP\r\n\n"
                         " 100:: , 100::ff , AU\n::ffff:1.2.3.4,::ffff:1.2.3.5,??"));
    cr_assert_eq(reports.count, 0);
    cr_assert_eq(ranges6.count, 3);
    expect_row6(0, "::ffff:102:304", "::ffff:102:305", "??");
    expect_row6(1, "100::", "100::ff", "AU");
    expect_row6(2, "2001:200::", "2001:200:ffff:ffff:ffff:ffff:ffff:ffff", "JP");
    geoip6_free(&ranges6);
    cr_assert_eq(ranges6.count, 0);
}

Test(geoip6, wrong_lines_are_reported_and_the_rest_is_used)
{
    cr_assert(read_text6("1::,2::,AU\n"
                         "16777216,16777471,AU\n"                                       /* 2 */
                         "3::,4:::,AU\n"                                                /* 3 */
                         "3::\n"                                                        /* 4 */
                         ",3::,AU\n"                                                    /* 5 */
                         "4::,3::,AU\n"                                                 /* 6 */
                         "3::,4::,usa\n"                                                /* 7 */
                         "3:00000000000000000000000000000000000000000000000::,4::,AU\n" /* 8 */
                         "2::,3::,AU\n"                                                 /* 9 */
                         "5::,6::,NZ\n"));
    cr_assert_eq(ranges6.count, 2);
    expect_row6(0, "1::", "2::", "AU");
    expect_row6(1, "5::", "6::", "NZ");
    static const char *const part[] = { "IPv6", "IPv6", "IPv6", "IPv6", "before", "country", "IPv6", "line 1" };
    cr_assert_eq(reports.count, sizeof part / sizeof part[0]);
    cr_assert_eq(ranges6.bad, reports.count);
    for (size_t i = 0; i < reports.count; i++)
        expect_report(i, i + 2, part[i]);
    geoip6_free(&ranges6);
}

Test(geoip6, nothing_to_work_with_is_an_error)
{
    cr_assert_not(read_text6("1,2,AU\n"));
    cr_assert(strstr(why, "no line holds a range (1 malformed)"), "\"%s\"", why);
    cr_assert_not(geoip6_read("/nowhere/at/all", NULL, NULL, &ranges6, why));
    cr_assert(strstr(why, "/nowhere/at/all: No such file"), "\"%s\"", why);
}

Test(geoip6, rank_and_row_find_an_address)
{
    cr_assert(read_text6("1::,1::5,AA\n1::6,1::6,BB\n"
                         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,CC\n"));
    static const struct {
        const char *address;
        size_t      row; /* 3: none */
    } cases[] = { { "::", 3 },   { "1::", 0 },  { "1::5", 0 },
                  { "1::6", 1 }, { "1::7", 3 }, { "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 2 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ip6 address;
        cr_assert_eq(inet_pton(AF_INET6, cases[i].address, address.byte), 1);
        cr_assert_eq(geoip6_row(&ranges6, &address, geoip6_rank(&ranges6, &address)), cases[i].row, "address %s",
                     cases[i].address);
    }
    geoip6_free(&ranges6);
}
