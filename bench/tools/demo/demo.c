/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-demo: sorts the address ranges of all countries on the device, maps millions of addresses to countries, and
 * checks every answer on the host; changes the ranges in two dictionaries; finds prefixes; runs the primitives. */
#include "step.h"

#include "bench/common/options.h"
#include "bench/common/threads.h"
#include "bench/measure/measure.h"
#include "bench/peers/host.h"
#include "bench/workload/keys.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Cuts all ranges into prefixes with their rows (NULL: only counts them). Keys hold IPv4 addresses in the upper
 * half. */
static size_t cut(const struct geoip *geoip, uint64_t *prefixes, uint32_t *rows)
{
    size_t n = 0;
    for (size_t row = 0; row < geoip->count; row++)
        for (uint64_t at = geoip->first[row]; at <= geoip->last[row]; n++) {
            unsigned length = 32; /* the longest prefix within the range */
            while (length > 0 && (at & ((1ull << (33 - length)) - 1)) == 0 &&
                   at + (1ull << (33 - length)) - 1 <= geoip->last[row])
                length--;
            if (prefixes) {
                prefixes[n] = ordo_prefix_u64(at << 32, length);
                rows[n] = (uint32_t) row;
            }
            at += 1ull << (32 - length);
        }
    return n;
}

static ordo_dict *make_trie(const struct demo *demo, size_t n)
{
    uint64_t  *prefixes = room(n * sizeof *prefixes);
    uint32_t  *rows = room(n * sizeof *rows);
    ordo_dict *trie = NULL;
    cut(&demo->geoip, prefixes, rows);
    must(demo, "prefixes", ordo_xfast_create(demo->device, ordo_xfast_config(.dict = { ORDO_U64, 4 }), &trie));
    must(demo, "prefixes", ordo_dict_build_host(trie, prefixes, rows, n));
    free(prefixes);
    free(rows);
    return trie;
}

/* Finds the longest prefixes of the first `count` addresses in an X-fast trie and compares them with a search on the
 * host. Adds "prefixes". */
static void demo_prefixes(struct demo *demo, size_t count)
{
    const size_t   n = cut(&demo->geoip, NULL, NULL);
    ordo_dict     *trie = make_trie(demo, n);
    uint64_t      *keys = room(count * sizeof *keys);
    uint32_t      *rows = room(count * sizeof *rows);
    uint8_t       *found = room(count);
    struct verdict verdict = { 0 };
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t) demo->addresses[i] << 32;
    const cl_mem at[] = { on_device(demo, count * 8, keys), on_device(demo, count * 4, NULL),
                          on_device(demo, count, NULL) };
    double       seconds = 0;
    for (int time = 0; time < 2; time++) { /* the first query computes how prefixes are nested */
        const double begin = now();
        must(demo, "prefixes",
             ordo_xfast_longest_prefix(trie, ordo_at(at[0], 0), count, ordo_none(), ordo_at(at[1], 0),
                                       ordo_at(at[2], 0), NULL));
        seconds = seconds_since(demo, "prefixes", begin);
    }
    struct answers answers = { from_device(demo, at[2], found, count), from_device(demo, at[1], rows, count * 4) };
    check_answers(&demo->geoip, ASK_ROW, NULL, demo->addresses, count, &answers, 1, &verdict);
    cJSON *json = cJSON_AddObjectToObject(demo->json, "prefixes");
    json_exact(json, "prefixes", (double) n);
    json_exact(json, "addresses", (double) count);
    json_number(json, "seconds", seconds);
    say(demo->out, 9, "prefixes %s of the ranges; the longest of each of %s addresses in %s, %s a second",
        text_grouped(TEXT, n), text_grouped(TEXT, count), text_seconds(TEXT, seconds),
        text_rate(TEXT, (double) count / seconds));
    if (keep_verdict(demo, &verdict, json))
        say(demo->out, 4, "ok: all are of the range that begins before the address\n");
    ordo_dict_destroy(&trie);
    device_release(at, 3);
    free(keys);
    free(rows);
    free(found);
}

struct primitive {
    const char *label, *text;
    struct spec spec; /* without type and sizes */
};

static const struct primitive primitives[] = {
    { "scan", "prefix sums", { .workload = SCAN } },
    { "sort keys", "u32 keys", { .workload = SORT } },
    { "sort pairs", "u32 keys, u32 values", { .workload = SORT, .value_bytes = 4 } },
    { "merge", "two sorted halves of pairs", { .workload = MERGE, .value_bytes = 4 } },
    { "search", "random queries, by an index", { .workload = SEARCH, .variant = VARIANT_INDEX } },
    { "  sorted", "ascending queries, no index", { .workload = SEARCH, .variant = VARIANT_SORTED } },
};

/* 2^20 elements on a CPU, up to 2^26 elsewhere. */
static struct spec sized(struct spec spec, const struct ordo_facts *facts)
{
    spec.type = ORDO_U32;
    spec.seed = 1;
    for (size_t count = (size_t) 1 << (facts->cpu ? 20 : 26); count >= 1 << 10; count /= 2) {
        spec.count = count;
        spec.n_queries = workload_has_queries(spec.workload) ? count : 0;
        const struct workload_bytes size = target_bytes(&spec);
        if (size.largest <= facts->max_alloc_bytes && size.all <= facts->global_bytes / 3)
            break;
    }
    return spec;
}

/* Checks one call, then times others. Returns the seconds of a call. */
static double measure(struct demo *demo, struct target *target, const char *label)
{
    const struct timing_goal goal = { .seconds = 0.5, .repetitions = 7 };
    struct timing            timing;
    char                     why[WHY_BYTES] = "";
    must(demo, label, buffers_poison(&target->arrays));
    must(demo, label, target_call(target, NULL));
    if (!target_check(target, why)) {
        demo->wrong++;
        report_error("WRONG: %s: %s", label, why);
    }
    must(demo, label, time_calls(demo->device, target_call, target, &goal, &timing));
    return timing.wall.median;
}

/* Runs, checks and times each primitive. Adds "primitives". */
static void demo_primitives(struct demo *demo)
{
    static const struct column columns[] = { { "primitive", 10, true },
                                             { "", 29, true },
                                             { "elements", 8, false },
                                             { "per second", 10, false },
                                             { "host, 1 thread", 14, false } };
    const struct table         table = { demo->out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(demo->json, "primitives");
    table_head(&table);
    for (const struct primitive *row = primitives; row < primitives + sizeof primitives / sizeof *primitives; row++) {
        const struct spec spec = sized(row->spec, demo->facts);
        struct target    *target = NULL;
        char              why[WHY_BYTES];
        progress("measuring %s", row->label);
        if (target_open(demo->device, &spec, &target, why) != ORDO_OK)
            give_up(row->label, why);
        const size_t operations = spec_operations(&spec);
        const double rate = (double) operations / measure(demo, target, row->label);
        const double host_rate = baseline_rate(&spec, &target->in, 0);
        target_close(&target);
        table_row(&table, (const char *[]) { row->label, row->text, text_count(TEXT, operations), text_rate(TEXT, rate),
                                             text_rate(TEXT, host_rate) });
        cJSON *entry = json_append(list);
        json_text(entry, "workload", workload_name(spec.workload));
        json_text(entry, "variant", variant_name(spec.workload, spec.variant));
        json_exact(entry, "value_bytes", spec.value_bytes);
        json_exact(entry, "operations", (double) operations);
        json_number(entry, "per_second", rate);
        json_number(entry, "host_per_second", host_rate);
    }
}

#define DEFAULT_FILE   "/usr/share/tor/geoip"
#define DEFAULT_COUNT  16000000
#define CPU_COUNT      4000000 /* default on a CPU */
#define TOP_COUNTRIES  10
#define REPORTED_LINES 5

struct options {
    const char *file;
    const char *device; /* NULL: Ordo's choice */
    const char *json;   /* NULL: none */
    size_t      count;  /* 0: by device */
};

static void open_demo(struct demo *demo, const char *select)
{
    demo->device = open_device(select ? select : "");
    if (!demo->device)
        exit(EXIT_FAILED);
    demo->facts = ordo_device_facts(demo->device);
}

/* Opens the device twice, to show the effect of caches. */
static void start(struct demo *demo, const char *select)
{
    progress("opening the device");
    open_demo(demo, select);
    const struct ordo_facts first = *demo->facts;
    ordo_device_close(&demo->device);
    open_demo(demo, select);
    const struct ordo_facts *facts = demo->facts;
    const char *cold = text_seconds(TEXT, first.open_ms / 1e3), *warm = text_seconds(TEXT, facts->open_ms / 1e3);
    say(demo->out, 9, "device   %s (%s), %s, %" PRIu32 " compute units, %s", facts->name, facts->platform,
        facts->cpu ? "a CPU" : "a GPU", facts->compute_units, text_bytes(TEXT, (double) facts->global_bytes));
    say(demo->out, 9, "lanes    %s, sub-groups of %" PRIu32 "; atomics: %s", lanes_name(facts->lanes), facts->sub_group,
        atomics_name(facts->atomics));
    if (first.self_test_remembered)
        say(demo->out, 9, "opened   in %s with what an earlier run has found out, a second time in %s", cold, warm);
    else
        say(demo->out, 9, "opened   in %s (building kernels %s, self-test %s), a second time in %s", cold,
            text_seconds(TEXT, first.build_ms / 1e3), text_seconds(TEXT, first.self_test_ms / 1e3), warm);
    if (facts->dropped[0])
        say(demo->out, 9, "dropped  %s", facts->dropped);
    fprintf(demo->out, "\n");
    cJSON_AddItemToObject(demo->json, "device", json_device(facts));
    json_number(demo->json, "first_open_seconds", first.open_ms / 1e3);
    json_number(demo->json, "second_open_seconds", facts->open_ms / 1e3);
}

static void report_line(void *demo_, size_t line, const char *why)
{
    const struct demo *demo = demo_;
    if (demo->geoip.bad <= REPORTED_LINES)
        report_error("%s, line %zu: %s; left out", demo->file, line, why);
}

static void read_ranges(struct demo *demo)
{
    char         why[WHY_BYTES];
    const double begin = now();
    progress("reading %s", demo->file);
    if (!geoip_read(demo->file, report_line, demo, &demo->geoip, why)) {
        const bool missing = access(demo->file, F_OK) != 0;
        report_error("%s%s", why,
                     missing ? "\nDebian's package tor-geoipdb has " DEFAULT_FILE "; --file names another" : "");
        exit(EXIT_FAILED);
    }
    if (demo->geoip.bad > REPORTED_LINES)
        report_error("left out %zu lines of %s in total", demo->geoip.bad, demo->file);
    say(demo->out, 9, "ranges   %s from %s, read in %s", text_grouped(TEXT, demo->geoip.count), demo->file,
        text_seconds(TEXT, now() - begin));
    json_exact(demo->json, "ranges", (double) demo->geoip.count);
    json_exact(demo->json, "lines_left_out", (double) demo->geoip.bad);
}

struct mapping {
    struct demo   *demo;
    struct table   table;
    cJSON         *json;
    cl_mem         shuffled_first, shuffled_row, first, row; /* ranges, shuffled and sorted */
    cl_mem         addresses, ranks;
    size_t         asked;
    ordo_index    *index;
    struct verdict verdict;
    size_t         by_country[N_COUNTRIES], unlisted; /* addresses */
};

static ordo_status sort_ranges(struct mapping *m)
{
    return ordo_sort(m->demo->device, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4),
                     ordo_at(m->shuffled_first, 0), ordo_at(m->shuffled_row, 0), ordo_at(m->first, 0),
                     ordo_at(m->row, 0), m->demo->geoip.count, NULL);
}

static ordo_status build_index(struct mapping *m)
{
    ordo_index_destroy(&m->index);
    return ordo_index_build(m->demo->device, ORDO_U32, ordo_at(m->first, 0), m->demo->geoip.count, NULL, &m->index);
}

static ordo_status map_addresses(struct mapping *m)
{
    return ordo_search(m->demo->device, ordo_search_params(.key = ORDO_U32, .upper = true, .index = m->index),
                       ordo_at(m->first, 0), m->demo->geoip.count, ordo_at(m->addresses, 0), m->asked,
                       ordo_at(m->ranks, 0), NULL);
}

/* `first` NaN: one run. */
static void show_step(const struct mapping *m, const char *name, size_t items, double first, double seconds)
{
    table_row(&m->table, (const char *[]) { name, text_grouped(TEXT, items), text_seconds(TEXT, first),
                                            text_seconds(TEXT, seconds), text_rate(TEXT, (double) items / seconds) });
    cJSON *step = json_append(m->json);
    json_text(step, "step", name);
    json_exact(step, "items", (double) items);
    json_number(step, "first_run_seconds", first);
    json_number(step, "seconds", seconds);
}

/* Runs a step twice, because the first run builds kernels. */
static void run_step(struct mapping *m, const char *name, size_t items, ordo_status (*step)(struct mapping *m))
{
    double seconds[2];
    for (int run = 0; run < 2; run++) {
        progress("%s%s", name, run ? " again" : ", building kernels");
        const double begin = now();
        must(m->demo, name, step(m));
        seconds[run] = seconds_since(m->demo, name, begin);
    }
    show_step(m, name, items, seconds[0], seconds[1]);
}

static void sort_on_device(struct mapping *m)
{
    struct demo *demo = m->demo;
    const size_t count = demo->geoip.count, bytes = count * sizeof(uint32_t);
    uint32_t    *rows = room(bytes), *firsts = room(bytes);
    numbers_shuffle(0, count, rows);
    for (size_t i = 0; i < count; i++)
        firsts[i] = demo->geoip.first[rows[i]];
    m->shuffled_first = on_device(demo, bytes, firsts);
    m->shuffled_row = on_device(demo, bytes, rows);
    m->first = on_device(demo, bytes, NULL);
    m->row = on_device(demo, bytes, NULL);
    table_head(&m->table);
    run_step(m, "sort the shuffled ranges", count, sort_ranges);
    run_step(m, "build the search index", count, build_index);
    const size_t wrong =
        check_sort(&demo->geoip, from_device(demo, m->first, firsts, bytes), from_device(demo, m->row, rows, bytes));
    if (wrong)
        report_error("WRONG: %zu of %zu ranges are out of place after the sort", wrong, count);
    m->verdict.wrong += wrong;
    free(rows);
    free(firsts);
}

/* Returns the seconds of the check. */
static double map_and_check(struct mapping *m, const char *name, const uint32_t *addresses, size_t count)
{
    const struct geoip *geoip = &m->demo->geoip;
    const size_t        bytes = count * sizeof *addresses;
    if (count == 0)
        return 0;
    uint32_t *ranks = room(bytes);
    m->asked = count;
    m->addresses = on_device(m->demo, bytes, addresses);
    m->ranks = on_device(m->demo, bytes, NULL);
    run_step(m, name, count, map_addresses);
    progress("checking %s answers", text_grouped(TEXT, count));
    const struct answers answers = { NULL, from_device(m->demo, m->ranks, ranks, bytes) };
    device_release((const cl_mem[]) { m->addresses, m->ranks }, 2);
    const double begin = now();
    check_answers(geoip, ASK_RANK, NULL, addresses, count, &answers, 1, &m->verdict);
    const double seconds = now() - begin;
    m->unlisted += count_countries(geoip, addresses, ranks, count, m->by_country);
    free(ranks);
    return seconds;
}

/* Maps random addresses and addresses of busy hosts. Then lets them alternate. */
static void map_all(struct mapping *m)
{
    const size_t count = m->demo->count, half = count / 2;
    uint32_t    *addresses = m->demo->addresses = room(count * sizeof *addresses), *repeated = room(half * 4);
    char         name[64];
    progress("drawing addresses");
    random_addresses(addresses, count);
    repeated_addresses(&m->demo->geoip, repeated, half);
    double seconds = map_and_check(m, "map random addresses", addresses, count - half);
    seconds += map_and_check(m, "map addresses of busy hosts", repeated, half);
    snprintf(name, sizeof name, "check on the host, %d thread%s", processors(), processors() == 1 ? "" : "s");
    show_step(m, name, count, NAN, seconds);
    for (size_t i = 0; i < half; i++)
        addresses[2 * i] = repeated[i];
    free(repeated);
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
static void show_countries(struct mapping *m)
{
    static const struct column columns[] = {
        { "country", 8, true }, { "addresses", 10, false }, { "share", 7, false }, { "", 40, true }
    };
    const struct demo *demo = m->demo;
    const struct table table = { demo->out, columns, sizeof columns / sizeof *columns };
    cJSON             *list = cJSON_AddArrayToObject(demo->json, "countries");
    uint16_t           country = most_frequent(m->by_country);
    const double       most = (double) m->by_country[country];
    fprintf(demo->out, "\n");
    table_head(&table);
    for (int place = 0; place < TOP_COUNTRIES && m->by_country[country]; place++) {
        const double count = (double) m->by_country[country];
        char         name[3], bar[41] = "";
        geoip_country_name(country, name);
        memset(bar, '#', (size_t) (40.0 * count / most + 0.5));
        table_row(&table, (const char *[]) { name, text_grouped(TEXT, m->by_country[country]),
                                             text_percent(TEXT, count / (double) m->verdict.checked), bar });
        cJSON *entry = json_append(list);
        json_text(entry, "country", name);
        json_exact(entry, "addresses", count);
        m->by_country[country] = 0;
        country = most_frequent(m->by_country);
    }
    fprintf(demo->out, "%s addresses lie in no range\n\n", text_grouped(TEXT, m->unlisted));
    json_exact(demo->json, "in_no_range", (double) m->unlisted);
}

/* Sorts the ranges, and maps all addresses to countries. */
static void map_countries(struct demo *demo)
{
    static const struct column columns[] = { { "", 30, true },
                                             { "items", 10, false },
                                             { "first run", 9, false },
                                             { "time", 9, false },
                                             { "per second", 10, false } };
    static struct mapping      m;
    m.demo = demo;
    m.table = (struct table) { demo->out, columns, sizeof columns / sizeof *columns };
    m.json = cJSON_AddArrayToObject(demo->json, "steps");
    sort_on_device(&m);
    map_all(&m);
    show_countries(&m);
    if (keep_verdict(demo, &m.verdict, demo->json))
        say(demo->out, 4, "ok: all %s answers agree with a binary search on the host\n\n",
            text_grouped(TEXT, m.verdict.checked));
    ordo_index_destroy(&m.index);
    device_release((const cl_mem[]) { m.shuffled_first, m.shuffled_row, m.first, m.row }, 4);
}

static const char *const help[] = {
#include "demo_help.h"
};

#define AT(name) offsetof(struct options, name)
static const struct option_row rows[] = {
    { "--file", 0, true, take_text, false, AT(file), 0, 0 },
    { "--count", 0, true, take_size, false, AT(count), 1, (double) ORDO_MAX_COUNT },
    { "--device", 0, true, take_text, false, AT(device), 0, 0 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
};

int main(int argc, char **argv)
{
    tool_name("ordo-demo");
    progress_in_lines();
    struct options options = { .file = DEFAULT_FILE };
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    struct demo demo = { .file = options.file,
                         .out = options.json && !strcmp(options.json, "-") ? stderr : stdout,
                         .json = must_have(json_head("ordo-demo", argc, argv)) };
    read_ranges(&demo);
    start(&demo, options.device);
    demo.count = options.count ? options.count : demo.facts->cpu ? CPU_COUNT : DEFAULT_COUNT;
    map_countries(&demo);
    demo_dicts(&demo);
    fprintf(demo.out, "\n");
    demo_prefixes(&demo, demo.facts->cpu ? (demo.count + 3) / 4 : demo.count); /* to save time */
    fprintf(demo.out, "\n");
    demo_primitives(&demo);
    if (demo.facts->cpu)
        say(demo.out, 0, "\nThis device is a CPU: the figures show that it works, not how fast a GPU is.");
    const bool written = !options.json || json_write(options.json, demo.json);
    ordo_device_close(&demo.device);
    geoip_free(&demo.geoip);
    free(demo.addresses);
    cJSON_Delete(demo.json);
    return demo.wrong || !written ? EXIT_FAILED : EXIT_GOOD;
}
