/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-demo: sorts the address ranges of all countries on the device, maps millions of addresses to countries, and
 * checks every answer on the host; changes the ranges in two dictionaries; finds prefixes; runs the primitives. */
#include "bench/common/device.h"
#include "bench/common/options.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"
#include "parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct demo {
    struct options           options;
    FILE                    *out; /* stderr if standard output carries JSON */
    ordo_device             *device;
    const struct ordo_facts *facts;
    struct geoip             geoip;
    cl_mem                   first, row; /* sorted ranges on the device */
    ordo_index              *index;
    uint32_t                *sorted_first, *sorted_row; /* the same on the host */
    struct mapping_result    result;
    cJSON                   *json, *json_steps;
};

/* ---- what can go wrong --------------------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *what, const char *why)
{
    progress_clear();
    report_error("%s: %s", what, why);
    exit(EXIT_FAILED);
}

/* Exits with the device's error unless `status` is ORDO_OK. */
static void must(struct demo *demo, const char *what, ordo_status status)
{
    if (status == ORDO_OK)
        return;
    char text[4096] = "";
    ordo_device_last_error(demo->device, text, sizeof text);
    give_up(what, *text ? text : ordo_status_string(status));
}

static void *must_have(void *memory)
{
    if (!memory)
        give_up("host", ordo_status_string(ORDO_NO_HOST_MEMORY));
    return memory;
}

/* ---- buffers: an Ordo device is an ordinary OpenCL device ---------------------------------------------------- */

/* Creates a buffer of `count` words, with content unless `from` is NULL. */
static cl_mem words_on_device(struct demo *demo, size_t count, const uint32_t *from)
{
    cl_mem mem = NULL;
    must(demo, "a buffer", device_buffer(demo->device, count * sizeof *from, &mem));
    if (from)
        must(demo, "to the device", device_write(demo->device, mem, from, count * sizeof *from));
    return mem;
}

static uint32_t *words_from_device(struct demo *demo, cl_mem mem, size_t count)
{
    uint32_t *words = must_have(malloc((count ? count : 1) * sizeof *words));
    must(demo, "from the device", device_read(demo->device, mem, words, count * sizeof *words));
    return words;
}

/* ---- steps and their times ----------------------------------------------------------------------------------- */

static const struct column step_columns[] = { { "", 30, true },
                                              { "items", 10, false },
                                              { "first run", 9, false },
                                              { "time", 9, false },
                                              { "per second", 10, false } };

static struct table step_table(const struct demo *demo)
{
    return (struct table) { demo->out, step_columns, sizeof step_columns / sizeof step_columns[0] };
}

/* `first` NaN: one run. */
static void show_step(struct demo *demo, const char *name, size_t items, double first, double seconds)
{
    char               time_text[TEXT_BYTES];
    const struct table table = step_table(demo);
    table_row(&table, (const char *[]) { name, text_grouped(TEXT, items), text_seconds(TEXT, first),
                                         text_seconds(time_text, seconds), text_rate(TEXT, (double) items / seconds) });

    cJSON *step = json_append(demo->json_steps);
    json_text(step, "step", name);
    json_exact(step, "items", (double) items);
    json_number(step, "first_run_seconds", first);
    json_number(step, "seconds", seconds);
}

typedef ordo_status (*step_fn)(struct demo *demo, void *arg);

/* Runs a step twice, because the first run builds kernels. */
static void run_step(struct demo *demo, const char *name, size_t items, step_fn step, void *arg)
{
    double seconds[2];
    for (int run = 0; run < 2; run++) {
        progress("%s%s", name, run ? " again" : ", building kernels");
        const double begin = now();
        must(demo, name, step(demo, arg));
        must(demo, name, ordo_device_finish(demo->device));
        seconds[run] = now() - begin;
    }
    show_step(demo, name, items, seconds[0], seconds[1]);
}

/* ---- the device ---------------------------------------------------------------------------------------------- */

static void open_demo(struct demo *demo)
{
    demo->device = open_device(demo->options.device ? demo->options.device : "");
    if (!demo->device)
        exit(EXIT_FAILED);
    demo->facts = ordo_device_facts(demo->device);
}

/* Opens the device twice, to show the effect of caches. */
static void start(struct demo *demo)
{
    progress("opening the device");
    open_demo(demo);
    const struct ordo_facts first = *demo->facts;
    ordo_device_close(&demo->device);
    open_demo(demo);
    const struct ordo_facts *facts = demo->facts;

    char cold[TEXT_BYTES], build[TEXT_BYTES], warm[TEXT_BYTES];
    progress_clear();
    say(demo->out, 9, "device   %s (%s), %s, %" PRIu32 " compute units, %s", facts->name, facts->platform,
        facts->cpu ? "a CPU" : "a GPU", facts->compute_units, text_bytes(TEXT, (double) facts->global_bytes));
    say(demo->out, 9, "lanes    %s, sub-groups of %" PRIu32 "; atomics: %s", lanes_name(facts->lanes), facts->sub_group,
        atomics_name(facts->atomics));
    text_seconds(cold, first.open_ms / 1e3);
    text_seconds(warm, facts->open_ms / 1e3);
    if (first.self_test_remembered)
        say(demo->out, 9, "opened   in %s with what an earlier run has found out, a second time in %s", cold, warm);
    else
        say(demo->out, 9, "opened   in %s (building kernels %s, self-test %s), a second time in %s", cold,
            text_seconds(build, first.build_ms / 1e3), text_seconds(TEXT, first.self_test_ms / 1e3), warm);
    if (facts->dropped[0])
        say(demo->out, 9, "dropped  %s", facts->dropped);
    fprintf(demo->out, "\n");
    cJSON_AddItemToObject(demo->json, "device", json_device(facts));
    json_number(demo->json, "first_open_seconds", first.open_ms / 1e3);
    json_number(demo->json, "second_open_seconds", facts->open_ms / 1e3);
}

/* ---- the ranges ---------------------------------------------------------------------------------------------- */

static void report_line(void *demo_, size_t line, const char *why)
{
    const struct demo *demo = demo_;
    if (demo->geoip.bad <= REPORTED_LINES)
        report_error("%s, line %zu: %s; left out", demo->options.file, line, why);
}

static void read_ranges(struct demo *demo)
{
    char         why[WHY_BYTES];
    const double begin = now();
    progress("reading %s", demo->options.file);
    if (!geoip_read(demo->options.file, report_line, demo, &demo->geoip, why)) {
        const bool missing = access(demo->options.file, F_OK) != 0;
        report_error("%s%s", why,
                     missing ? "\nDebian's package tor-geoipdb has " DEFAULT_FILE "; --file names another" : "");
        exit(EXIT_FAILED);
    }
    char time[TEXT_BYTES];
    progress_clear();
    if (demo->geoip.bad > REPORTED_LINES)
        report_error("left out %zu lines of %s in total", demo->geoip.bad, demo->options.file);
    say(demo->out, 9, "ranges   %s from %s, read in %s", text_grouped(TEXT, demo->geoip.count), demo->options.file,
        text_seconds(time, now() - begin));
    json_exact(demo->json, "ranges", (double) demo->geoip.count);
    json_exact(demo->json, "lines_left_out", (double) demo->geoip.bad);
}

struct sort_step {
    cl_mem first, row;
};

static ordo_status sort_ranges(struct demo *demo, void *step_)
{
    const struct sort_step *step = step_;
    return ordo_sort(demo->device, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4), ordo_at(step->first, 0),
                     ordo_at(step->row, 0), ordo_at(demo->first, 0), ordo_at(demo->row, 0), demo->geoip.count, NULL);
}

static ordo_status build_index(struct demo *demo, void *unused)
{
    (void) unused;
    ordo_index_destroy(&demo->index);
    return ordo_index_build(demo->device, ORDO_U32, ordo_at(demo->first, 0), demo->geoip.count, NULL, &demo->index);
}

/* Sorts shuffled ranges on the device. */
static void sort_on_device(struct demo *demo)
{
    const size_t count = demo->geoip.count;
    uint32_t    *rows = must_have(malloc(count * sizeof *rows));
    uint32_t    *firsts = must_have(malloc(count * sizeof *firsts));
    mapping_shuffle(rows, count);
    for (size_t i = 0; i < count; i++)
        firsts[i] = demo->geoip.first[rows[i]];
    struct sort_step step = { words_on_device(demo, count, firsts), words_on_device(demo, count, rows) };
    demo->first = words_on_device(demo, count, NULL);
    demo->row = words_on_device(demo, count, NULL);
    free(rows);
    free(firsts);

    const struct table table = step_table(demo);
    table_head(&table);
    run_step(demo, "sort the shuffled ranges", count, sort_ranges, &step);
    run_step(demo, "build the search index", count, build_index, NULL);

    demo->sorted_first = words_from_device(demo, demo->first, count);
    demo->sorted_row = words_from_device(demo, demo->row, count);
    const size_t wrong = mapping_check_sort(
        &demo->geoip, (struct mapping_table) { .first = demo->sorted_first, .row = demo->sorted_row });
    if (wrong)
        report_error("WRONG: %zu of %zu ranges are out of place after the sort", wrong, count);
    demo->result.wrong += wrong;
    device_release((const cl_mem[]) { step.first, step.row }, 2);
}

/* ---- the addresses ------------------------------------------------------------------------------------------- */

struct map_step {
    cl_mem addresses, ranks;
    size_t count;
};

static ordo_status map_addresses(struct demo *demo, void *step_)
{
    const struct map_step *step = step_;
    return ordo_search(demo->device, ordo_search_params(.key = ORDO_U32, .upper = true, .index = demo->index),
                       ordo_at(demo->first, 0), demo->geoip.count, ordo_at(step->addresses, 0), step->count,
                       ordo_at(step->ranks, 0), NULL);
}

/* Returns the seconds of the check. */
static double map_and_check(struct demo *demo, const char *name, const uint32_t *addresses, size_t count)
{
    struct map_step step = { words_on_device(demo, count, addresses), words_on_device(demo, count, NULL), count };
    run_step(demo, name, count, map_addresses, &step);
    progress("checking %s answers", text_grouped(TEXT, count));
    uint32_t *ranks = words_from_device(demo, step.ranks, count);
    device_release((const cl_mem[]) { step.addresses, step.ranks }, 2);
    const double begin = now();
    if (!mapping_check(&demo->geoip, (struct mapping_table) { demo->sorted_first, demo->sorted_row }, addresses, ranks,
                       count, &demo->result))
        must_have(NULL);
    free(ranks);
    return now() - begin;
}

static void map_all(struct demo *demo)
{
    const size_t repeated = demo->options.count / 2;
    const size_t random = demo->options.count - repeated;
    uint32_t    *addresses = must_have(malloc(random * sizeof *addresses));

    progress("drawing addresses");
    mapping_random(addresses, random);
    double seconds = map_and_check(demo, "map random addresses", addresses, random);
    progress("drawing addresses");
    if (!mapping_repeated(&demo->geoip, addresses, repeated))
        must_have(NULL);
    if (repeated)
        seconds += map_and_check(demo, "map addresses of busy hosts", addresses, repeated);
    free(addresses);

    char name[64];
    snprintf(name, sizeof name, "check on the host, %d thread%s", processors(), processors() == 1 ? "" : "s");
    show_step(demo, name, demo->options.count, NAN, seconds);
}

/* ---- what came out ------------------------------------------------------------------------------------------- */

static uint16_t most_frequent(const size_t *by_country)
{
    uint16_t most = 0;
    for (size_t c = 1; c < MAPPING_COUNTRIES; c++)
        if (by_country[c] > by_country[most])
            most = (uint16_t) c;
    return most;
}

/* Clears the printed counters. */
static void show_countries(struct demo *demo)
{
    static const struct column columns[] = {
        { "country", 8, true }, { "addresses", 10, false }, { "share", 7, false }, { "", 40, true }
    };
    const struct table table = { demo->out, columns, sizeof columns / sizeof columns[0] };
    cJSON             *list = cJSON_AddArrayToObject(demo->json, "countries");
    size_t            *by_country = demo->result.by_country;
    const double       most = (double) by_country[most_frequent(by_country)];
    fprintf(demo->out, "\n");
    table_head(&table);
    for (int place = 0; place < TOP_COUNTRIES; place++) {
        const uint16_t country = most_frequent(by_country);
        const size_t   count = by_country[country];
        if (count == 0)
            break;
        char name[3], share[TEXT_BYTES], bar[41] = "";
        geoip_country_name(country, name);
        memset(bar, '#', (size_t) (40.0 * (double) count / most + 0.5));
        table_row(&table,
                  (const char *[]) { name, text_grouped(TEXT, count),
                                     text_percent(share, (double) count / (double) demo->result.checked), bar });
        cJSON *entry = json_append(list);
        json_text(entry, "country", name);
        json_exact(entry, "addresses", (double) count);
        by_country[country] = 0;
    }
    fprintf(demo->out, "%s addresses lie in no range\n\n", text_grouped(TEXT, demo->result.unlisted));
    json_exact(demo->json, "in_no_range", (double) demo->result.unlisted);
}

static void show_verdict(struct demo *demo)
{
    const struct mapping_result *result = &demo->result;
    char                         checked[TEXT_BYTES];
    text_grouped(checked, result->checked);
    if (result->wrong)
        say(demo->out, 7,
            "WRONG: %zu of %s answers differ from the host's, such as rank %zu for address %" PRIu32 "\n\n",
            result->wrong, checked, result->example_rank, result->example);
    else
        say(demo->out, 4, "ok: all %s answers agree with a binary search on the host\n\n", checked);
    json_exact(demo->json, "checked", (double) result->checked);
    json_exact(demo->json, "wrong", (double) result->wrong);
}

/* ---- ranges that change -------------------------------------------------------------------------------------- */

/* Random addresses and addresses of busy hosts alternate. */
static uint32_t *draw_addresses(struct demo *demo)
{
    const size_t count = demo->options.count, half = count / 2;
    uint32_t    *addresses = must_have(malloc((count + 1) * sizeof *addresses));
    uint32_t    *repeated = must_have(malloc((half + 1) * sizeof *repeated));
    progress("drawing addresses");
    mapping_random(addresses, count);
    if (!mapping_repeated(&demo->geoip, repeated, half))
        must_have(NULL);
    for (size_t i = 0; i < half; i++)
        addresses[2 * i] = repeated[i];
    free(repeated);
    return addresses;
}

static void change_ranges(struct demo *demo, size_t *wrong)
{
    char      why[WHY_BYTES] = "";
    uint32_t *addresses = draw_addresses(demo);
    if (demo_dict(demo->device, &demo->geoip, addresses, demo->options.count, demo->out, demo->json, wrong, why) !=
        ORDO_OK)
        give_up("dictionaries", why);
    fprintf(demo->out, "\n");
    const size_t asked = demo->facts->cpu ? (demo->options.count + 3) / 4 : demo->options.count; /* to save time */
    if (demo_prefixes(demo->device, &demo->geoip, addresses, asked, demo->out, demo->json, wrong, why) != ORDO_OK)
        give_up("prefixes", why);
    free(addresses);
    fprintf(demo->out, "\n");
}

/* ---- the program --------------------------------------------------------------------------------------------- */

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

static void release(struct demo *demo)
{
    ordo_index_destroy(&demo->index);
    device_release((const cl_mem[]) { demo->first, demo->row }, 2);
    ordo_device_close(&demo->device);
    free(demo->sorted_first);
    free(demo->sorted_row);
    geoip_free(&demo->geoip);
    mapping_result_free(&demo->result);
    cJSON_Delete(demo->json);
}

int main(int argc, char **argv)
{
    tool_name("ordo-demo");
    progress_in_lines();
    struct demo demo = { .options = { .file = DEFAULT_FILE } };
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &demo.options);
    const bool json_on_stdout = demo.options.json && !strcmp(demo.options.json, "-");
    demo.out = json_on_stdout ? stderr : stdout;
    demo.json = must_have(json_head("ordo-demo", argc, argv));
    demo.json_steps = must_have(cJSON_AddArrayToObject(demo.json, "steps"));
    if (!mapping_result_make(&demo.result))
        must_have(NULL);

    read_ranges(&demo);
    start(&demo);
    if (demo.options.count == 0)
        demo.options.count = demo.facts->cpu ? CPU_COUNT : DEFAULT_COUNT;
    sort_on_device(&demo);
    map_all(&demo);
    show_countries(&demo);
    show_verdict(&demo);

    size_t wrong = demo.result.wrong;
    char   why[WHY_BYTES] = "";
    change_ranges(&demo, &wrong);
    if (demo_primitives(demo.device, demo.out, demo.json, &wrong, why) != ORDO_OK)
        give_up("primitives", why);
    if (demo.facts->cpu)
        say(demo.out, 0, "\nThis device is a CPU: the figures show that it works, not how fast a GPU is.");
    if (demo.options.json && !json_write(demo.options.json, demo.json, why))
        give_up(demo.options.json, why);
    release(&demo);
    return wrong ? EXIT_FAILED : EXIT_GOOD;
}
