/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "bench/common/threads.h"
#include "bench/workload/keys.h"

#include <string.h>

#define TOP_COUNTRIES 10

/* Addresses of IPv4 or IPv6. */
struct family {
    ordo_type   key;
    size_t      bytes;      /* of an address */
    const char *queries[2]; /* names of the steps that map addresses of both kinds */
    size_t      count;      /* ranges */
    const void *first;      /* addresses */
    void (*draw)(const struct demo *demo, bool busy, void *addresses, size_t count);
    size_t (*check_sort)(const struct demo *demo, const void *first, const uint32_t *rows);
    void (*check_ranks)(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                        struct verdict *verdict);
    size_t (*count_countries)(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                              size_t *by_country);
};

/* The arrays on the host belong to the current step. */
struct mapping {
    struct demo         *demo;
    const struct family *family;
    struct steps         steps;
    cl_mem               shuffled_first, shuffled_row, first, row; /* ranges, shuffled and sorted */
    cl_mem               asked, ranks;
    void                *host_first, *host_asked;
    uint32_t            *host_row, *host_ranks;
    size_t               n_asked;
    ordo_index          *index;
    size_t               by_country[N_COUNTRIES], unlisted; /* addresses */
};

static ordo_status sort_ranges(void *m_)
{
    struct mapping *m = m_;
    return ordo_sort(m->demo->device, ordo_sort_params(.key = m->family->key, .value_bytes = 4),
                     ordo_at(m->shuffled_first, 0), ordo_at(m->shuffled_row, 0), ordo_at(m->first, 0),
                     ordo_at(m->row, 0), m->family->count, NULL);
}

static void fetch_ranges(void *m_)
{
    struct mapping *m = m_;
    from_device(m->demo, m->first, m->host_first, m->family->count * m->family->bytes);
    from_device(m->demo, m->row, m->host_row, m->family->count * 4);
}

static void check_ranges(void *m_, struct verdict *verdict)
{
    struct mapping *m = m_;
    const size_t    wrong = m->family->check_sort(m->demo, m->host_first, m->host_row);
    if (wrong)
        because(verdict->example, "places of %zu sorted ranges", wrong);
    verdict->wrong += wrong;
}

static ordo_status build_index(void *m_)
{
    struct mapping *m = m_;
    ordo_index_destroy(&m->index);
    return ordo_index_build(m->demo->device, m->family->key, ordo_at(m->first, 0), m->family->count, NULL, &m->index);
}

static ordo_status map_addresses(void *m_)
{
    struct mapping *m = m_;
    return ordo_search(m->demo->device, ordo_search_params(.key = m->family->key, .upper = true, .index = m->index),
                       ordo_at(m->first, 0), m->family->count, ordo_at(m->asked, 0), m->n_asked, ordo_at(m->ranks, 0),
                       NULL);
}

static void fetch_ranks(void *m_)
{
    struct mapping *m = m_;
    from_device(m->demo, m->ranks, m->host_ranks, m->n_asked * 4);
}

static void check_ranks(void *m_, struct verdict *verdict)
{
    struct mapping *m = m_;
    m->family->check_ranks(m->demo, m->host_asked, m->host_ranks, m->n_asked, verdict);
}

static void sort_on_device(struct mapping *m)
{
    const size_t count = m->family->count, bytes = m->family->bytes;
    m->host_row = room(count * 4);
    m->host_first = room(count * bytes);
    numbers_shuffle(0, count, m->host_row);
    for (size_t i = 0; i < count; i++)
        memcpy((char *) m->host_first + i * bytes, (const char *) m->family->first + m->host_row[i] * bytes, bytes);
    m->shuffled_first = on_device(m->demo, count * bytes, m->host_first);
    m->shuffled_row = on_device(m->demo, count * 4, m->host_row);
    m->first = on_device(m->demo, count * bytes, NULL);
    m->row = on_device(m->demo, count * 4, NULL);
    take_step(&m->steps,
              &(struct demo_step) { "sort the shuffled ranges", count, sort_ranges, fetch_ranges, check_ranges }, m);
    take_step(&m->steps, &(struct demo_step) { "build the search index", count, build_index }, m);
    free(m->host_row);
    free(m->host_first);
}

static void map_and_check(struct mapping *m, bool busy, size_t count)
{
    const size_t bytes = count * m->family->bytes;
    if (count == 0)
        return;
    progress("drawing addresses");
    m->n_asked = count;
    m->host_asked = room(bytes);
    m->host_ranks = room(count * 4);
    m->family->draw(m->demo, busy, m->host_asked, count);
    m->asked = on_device(m->demo, bytes, m->host_asked);
    m->ranks = on_device(m->demo, count * 4, NULL);
    take_step(&m->steps,
              &(struct demo_step) { m->family->queries[busy], count, map_addresses, fetch_ranks, check_ranks }, m);
    m->unlisted += m->family->count_countries(m->demo, m->host_asked, m->host_ranks, count, m->by_country);
    device_release((const cl_mem[]) { m->asked, m->ranks }, 2);
    free(m->host_asked);
    free(m->host_ranks);
}

static uint16_t most_frequent(const size_t *by_country)
{
    uint16_t most = 0;
    for (size_t c = 1; c < N_COUNTRIES; c++)
        if (by_country[c] > by_country[most])
            most = (uint16_t) c;
    return most;
}

/* Clears the printed counters. */
static void show_countries(struct mapping *m, cJSON *json)
{
    static const struct column columns[] = {
        { "country", 8, true }, { "addresses", 10, false }, { "share", 7, false }, { "", BAR_WIDTH, true }
    };
    const struct demo *demo = m->demo;
    const struct table table = { demo->out, columns, sizeof columns / sizeof *columns };
    cJSON             *list = cJSON_AddArrayToObject(json, "countries");
    uint16_t           country = most_frequent(m->by_country);
    const double       most = (double) m->by_country[country];
    fprintf(demo->out, "\n");
    table_head(&table);
    for (int place = 0; place < TOP_COUNTRIES && m->by_country[country]; place++) {
        const double count = (double) m->by_country[country];
        char         name[3], bar[BAR_WIDTH + 1];
        geoip_country_name(country, name);
        table_row(&table, (const char *[]) { name, text_grouped(TEXT, m->by_country[country]),
                                             text_percent(TEXT, count / (double) demo->count),
                                             bar_text(bar, BAR_WIDTH, count / most) });
        cJSON *entry = json_append(list);
        json_text(entry, "country", name);
        json_exact(entry, "addresses", count);
        m->by_country[country] = 0;
        country = most_frequent(m->by_country);
    }
    fprintf(demo->out, "%s addresses lie in no range\n\n", text_grouped(TEXT, m->unlisted));
    json_exact(json, "in_no_range", (double) m->unlisted);
}

static void map_countries(struct demo *demo, const struct family *family, cJSON *json)
{
    struct mapping *m = must_have(calloc(1, sizeof *m));
    m->demo = demo;
    m->family = family;
    steps_begin(&m->steps, demo, json);
    sort_on_device(m);
    map_and_check(m, false, demo->count - demo->count / 2);
    map_and_check(m, true, demo->count / 2);
    steps_end(&m->steps);
    show_countries(m, json);
    if (keep_verdict(demo, &m->steps.verdict, json))
        say(demo->out, 4, "ok: all %s answers agree with a binary search on the host, %d thread%s\n",
            text_grouped(TEXT, m->steps.verdict.checked), processors(), processors() == 1 ? "" : "s");
    ordo_index_destroy(&m->index);
    device_release((const cl_mem[]) { m->shuffled_first, m->shuffled_row, m->first, m->row }, 4);
    free(m);
}

/* ---- IPv4 ---------------------------------------------------------------------------------------------------- */

static void draw4(const struct demo *demo, bool busy, void *addresses, size_t count)
{
    if (busy)
        repeated_addresses(&demo->geoip, addresses, count);
    else
        random_addresses(addresses, count);
}

static size_t check_sort4(const struct demo *demo, const void *first, const uint32_t *rows)
{
    return check_sort(&demo->geoip, first, rows);
}

static void check_ranks4(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                         struct verdict *verdict)
{
    check_answers(&demo->geoip, ASK_RANK, NULL, addresses, count, &(struct answers) { NULL, ranks }, 1, verdict);
}

static size_t count4(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                     size_t *by_country)
{
    return count_countries(&demo->geoip, addresses, ranks, count, by_country);
}

/* Lets random addresses and addresses of busy hosts alternate. */
static void keep_addresses(struct demo *demo)
{
    const size_t count = demo->count, half = count / 2;
    uint32_t    *addresses = demo->addresses = room(count * sizeof *addresses), *busy = room(half * sizeof *busy);
    random_addresses(addresses, count);
    repeated_addresses(&demo->geoip, busy, half);
    for (size_t i = 0; i < half; i++)
        addresses[2 * i] = busy[i];
    free(busy);
}

void demo_countries(struct demo *demo)
{
    const struct family ip4 = { .key = ORDO_U32,
                                .bytes = 4,
                                .queries = { "map random addresses", "map addresses of busy hosts" },
                                .count = demo->geoip.count,
                                .first = demo->geoip.first,
                                .draw = draw4,
                                .check_sort = check_sort4,
                                .check_ranks = check_ranks4,
                                .count_countries = count4 };
    map_countries(demo, &ip4, demo->json);
    keep_addresses(demo);
}

/* ---- IPv6 ---------------------------------------------------------------------------------------------------- */

/* Random addresses would lie in hardly any range. */
static void draw6(const struct demo *demo, bool busy, void *addresses, size_t count)
{
    if (busy)
        repeated_addresses6(&demo->geoip6, addresses, count);
    else
        bounds6(&demo->geoip6, addresses, count);
}

static size_t check_sort16(const struct demo *demo, const void *first, const uint32_t *rows)
{
    return check_sort6(&demo->geoip6, first, rows);
}

static void check_ranks16(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                          struct verdict *verdict)
{
    check_ranks6(&demo->geoip6, addresses, ranks, count, verdict);
}

static size_t count16(const struct demo *demo, const void *addresses, const uint32_t *ranks, size_t count,
                      size_t *by_country)
{
    return count_countries6(&demo->geoip6, addresses, ranks, count, by_country);
}

void demo_ipv6(struct demo *demo)
{
    const struct family ip6 = { .key = ORDO_BYTES16,
                                .bytes = sizeof(struct ip6),
                                .queries = { "map bounds of ranges", "map addresses of busy hosts" },
                                .count = demo->geoip6.count,
                                .first = demo->geoip6.first,
                                .draw = draw6,
                                .check_sort = check_sort16,
                                .check_ranks = check_ranks16,
                                .count_countries = count16 };
    map_countries(demo, &ip6, json_at(demo->json, "ipv6"));
}
