/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/common/threads.h"

#include <math.h>
#include <stdlib.h>

#define HOSTS 100000

/* The finalizer of splitmix64. */
static uint64_t mixed(uint64_t stream, uint64_t place)
{
    uint64_t x = (stream << 48) + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

enum { STREAM_SHUFFLE, STREAM_RANDOM, STREAM_HOST, STREAM_HOST_OFFSET, STREAM_VISIT };

static void random_at(void *addresses, size_t i)
{
    ((uint32_t *) addresses)[i] = (uint32_t) (mixed(STREAM_RANDOM, i) >> 32);
}

void mapping_random(uint32_t *addresses, size_t count)
{
    for_each(count, random_at, addresses);
}

struct visits {
    uint32_t *addresses;
    uint32_t *hosts;
};

static void visit_at(void *visits_, size_t i)
{
    const struct visits *visits = visits_;
    const double         share = (double) (mixed(STREAM_VISIT, i) >> 11) * 0x1p-53; /* 0 <= share < 1 */
    /* (HOSTS + 1)^share - 1 lies in [r - 1, r) with probability proportional to log(1 + 1/r), about 1/r. */
    const size_t host = (size_t) (exp(share * log(HOSTS + 1.0)) - 1.0);
    visits->addresses[i] = visits->hosts[host < HOSTS ? host : HOSTS - 1];
}

bool mapping_repeated(const struct geoip *geoip, uint32_t *addresses, size_t count)
{
    uint32_t *hosts = malloc(HOSTS * sizeof *hosts);
    if (!hosts)
        return false;
    for (size_t h = 0; h < HOSTS; h++) {
        const size_t   row = mixed(STREAM_HOST, h) % geoip->count;
        const uint64_t length = (uint64_t) geoip->last[row] - geoip->first[row] + 1;
        hosts[h] = geoip->first[row] + (uint32_t) (mixed(STREAM_HOST_OFFSET, h) % length);
    }
    for_each(count, visit_at, &(struct visits) { addresses, hosts });
    free(hosts);
    return true;
}

void mapping_shuffle(uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at = mixed(STREAM_SHUFFLE, i) % (i + 1);
        rows[i] = (uint32_t) i;
        rows[i] = rows[at];
        rows[at] = (uint32_t) i;
    }
}

size_t mapping_check_sort(const struct geoip *geoip, struct mapping_table table)
{
    /* Ranges begin at distinct addresses, so one answer is right. */
    size_t wrong = 0;
    for (size_t i = 0; i < geoip->count; i++)
        wrong += table.row[i] != i || table.first[i] != geoip->first[i];
    return wrong;
}

bool mapping_result_make(struct mapping_result *result)
{
    *result = (struct mapping_result) { .by_country = calloc(MAPPING_COUNTRIES, sizeof *result->by_country) };
    return result->by_country;
}

void mapping_result_free(struct mapping_result *result)
{
    free(result->by_country);
    *result = (struct mapping_result) { 0 };
}

struct check {
    const struct geoip   *geoip;
    struct mapping_table  table;
    const uint32_t       *addresses, *ranks;
    struct mapping_result result[MAX_PARTS];
};

/* The row for a rank in the device's table; geoip->count if none holds the address. */
static size_t answered_row(const struct check *check, uint32_t address, size_t rank)
{
    const size_t none = check->geoip->count;
    if (rank == 0 || rank > none)
        return none;
    const size_t row = check->table.row[rank - 1];
    return row < none && address <= check->geoip->last[row] ? row : none;
}

static void check_span(void *check_, size_t from, size_t to, int part)
{
    struct check          *check = check_;
    struct mapping_result *result = &check->result[part];
    for (size_t i = from; i < to; i++) {
        const uint32_t address = check->addresses[i];
        const size_t   rank = geoip_rank(check->geoip, address);
        const size_t   row = answered_row(check, address, check->ranks[i]);
        if (check->ranks[i] != rank || row != geoip_row(check->geoip, address, rank)) {
            if (result->wrong++ == 0) {
                result->example = address;
                result->example_rank = check->ranks[i];
            }
        } else if (row == check->geoip->count) {
            result->unlisted++;
        } else {
            result->by_country[check->geoip->country[row]]++;
        }
    }
    result->checked = to - from;
}

static void add_result(struct mapping_result *sum, const struct mapping_result *part)
{
    if (sum->wrong == 0 && part->wrong) {
        sum->example = part->example;
        sum->example_rank = part->example_rank;
    }
    sum->checked += part->checked;
    sum->wrong += part->wrong;
    sum->unlisted += part->unlisted;
    for (size_t c = 0; c < MAPPING_COUNTRIES; c++)
        sum->by_country[c] += part->by_country[c];
}

bool mapping_check(const struct geoip *geoip, struct mapping_table table, const uint32_t *addresses,
                   const uint32_t *ranks, size_t count, struct mapping_result *result)
{
    struct check check = { .geoip = geoip, .table = table, .addresses = addresses, .ranks = ranks };
    int          made = 0;
    while (made < MAX_PARTS && mapping_result_make(&check.result[made]))
        made++;
    const bool fits = made == MAX_PARTS;
    const int  parts = fits ? for_spans(count, check_span, &check) : 0;
    for (int part = 0; part < parts; part++)
        add_result(result, &check.result[part]);
    for (int part = 0; part < made; part++)
        mapping_result_free(&check.result[part]);
    return fits;
}
