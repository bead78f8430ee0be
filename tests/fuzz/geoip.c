/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's lists of address ranges. */
#include "fuzz.h"

#include "bench/common/why.h"
#include "bench/tools/demo/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t reported;

static void take_report(void *user, size_t line, const char *why)
{
    FUZZ_EXPECT(user == &reported && line > 0 && strlen(why) > 0);
    reported++;
}

static void check_rows(const struct geoip *is)
{
    char name[3];
    for (size_t row = 0; row < is->count; row++) {
        FUZZ_EXPECT(is->first[row] <= is->last[row] && (row == 0 || is->last[row - 1] < is->first[row]));
        geoip_country_name(is->country[row], name);
        FUZZ_EXPECT(strlen(name) == 2);
    }
}

/* Compares the rank and the row at the bounds of every range with a linear search. */
static void check_search(const struct geoip *is)
{
    for (size_t i = 0; i < 4 * is->count && i < 256; i++) {
        const uint32_t address = (i & 1 ? is->last[i / 4] : is->first[i / 4]) + (i & 2 ? 1 : 0) - (i % 4 == 0 ? 1 : 0);
        size_t         rank = 0, row = is->count;
        for (size_t r = 0; r < is->count; r++) {
            rank += is->first[r] <= address;
            if (is->first[r] <= address && address <= is->last[r])
                row = r;
        }
        FUZZ_EXPECT(geoip_rank(is, address) == rank && geoip_row(is, address, rank) == row);
    }
}

/* A list that is written and read again is the same. */
static void check_again(const struct geoip *is)
{
    char         path[FUZZ_PATH], why[WHY_BYTES] = "", name[3];
    struct geoip again;
    fuzz_write("again", "", 0, path);
    FILE *file = fopen(path, "w");
    FUZZ_EXPECT(file != NULL);
    for (size_t row = is->count; row-- > 0;) {
        geoip_country_name(is->country[row], name);
        (void) fprintf(file, "%u,%u,%s\n", is->first[row], is->last[row], name);
    }
    (void) fclose(file);
    FUZZ_EXPECT(geoip_read(path, NULL, NULL, &again, why));
    FUZZ_EXPECT(again.count == is->count && again.bad == 0);
    FUZZ_EXPECT(memcmp(again.first, is->first, is->count * sizeof *is->first) == 0);
    FUZZ_EXPECT(memcmp(again.last, is->last, is->count * sizeof *is->last) == 0);
    FUZZ_EXPECT(memcmp(again.country, is->country, is->count * sizeof *is->country) == 0);
    geoip_free(&again);
}

static void read_ip4(const char *path)
{
    char         why[WHY_BYTES] = "";
    struct geoip is;
    reported = 0;
    if (!geoip_read(path, take_report, &reported, &is, why)) {
        FUZZ_EXPECT(strlen(why) > 0 && is.count == 0 && !is.first);
        return;
    }
    FUZZ_EXPECT(is.count > 0 && is.bad == reported);
    check_rows(&is);
    check_search(&is);
    check_again(&is);
    geoip_free(&is);
}

static void read_ip6(const char *path)
{
    char          why[WHY_BYTES] = "", name[3];
    struct geoip6 is;
    reported = 0;
    if (!geoip6_read(path, take_report, &reported, &is, why)) {
        FUZZ_EXPECT(strlen(why) > 0 && is.count == 0 && !is.first);
        return;
    }
    FUZZ_EXPECT(is.count > 0 && is.bad == reported);
    for (size_t row = 0; row < is.count; row++) {
        FUZZ_EXPECT(ip6_order(&is.first[row], &is.last[row]) <= 0);
        FUZZ_EXPECT(row == 0 || ip6_order(&is.last[row - 1], &is.first[row]) < 0);
        FUZZ_EXPECT(geoip6_rank(&is, &is.first[row]) == row + 1 && geoip6_rank(&is, &is.last[row]) == row + 1);
        FUZZ_EXPECT(geoip6_row(&is, &is.last[row], row + 1) == row);
        geoip_country_name(is.country[row], name);
        FUZZ_EXPECT(strlen(name) == 2);
    }
    geoip6_free(&is);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[FUZZ_PATH];
    fuzz_write("geoip", data, bytes, path);
    read_ip4(path);
    read_ip6(path);
    return 0;
}
