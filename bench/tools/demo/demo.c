/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-demo: maps millions of addresses to countries, changes the ranges in two dictionaries and finds prefixes; maps
 * IPv6 addresses; searches paths; runs the primitives. Checks every answer on the host. */
#include "step.h"

#include "bench/common/options.h"
#include "bench/measure/measure.h"
#include "bench/peers/host.h"

#include <inttypes.h>
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
#define DEFAULT_FILE6  "/usr/share/tor/geoip6"
#define DEFAULT_PATHS  "/usr/share/dict/words"
#define DEFAULT_COUNT  16000000
#define CPU_COUNT      4000000 /* default on a CPU */
#define REPORTED_LINES 5

enum { COUNTRIES, IPV6, PATHS, PRIMITIVES, N_ACTS };
static const char *const act_names[N_ACTS] = { "countries", "ipv6", "paths", "primitives" };

struct options {
    const char *file, *file6, *paths; /* NULL: the default */
    const char *device;               /* NULL: Ordo's choice */
    const char *json;                 /* NULL: none */
    size_t      count;                /* 0: by device */
    size_t      lines;                /* 0: all */
    bool        chosen;               /* --act is given */
    bool        acts[N_ACTS];         /* if chosen */
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
    cJSON_AddItemToObject(demo->json, "device", json_device(facts));
    json_number(demo->json, "first_open_seconds", first.open_ms / 1e3);
    json_number(demo->json, "second_open_seconds", facts->open_ms / 1e3);
}

struct reading {
    const char *file;
    size_t      reported;
};

static void report_line(void *reading_, size_t line, const char *why)
{
    struct reading *reading = reading_;
    if (++reading->reported <= REPORTED_LINES)
        report_error("%s, line %zu: %s; left out", reading->file, line, why);
}

static void say_ranges(const struct demo *demo, const char *name, const char *file, size_t count, size_t bad,
                       double seconds, cJSON *json)
{
    if (bad > REPORTED_LINES)
        report_error("left out %zu lines of %s in total", bad, file);
    say(demo->out, 9, "%-8s %s from %s, read in %s", name, text_grouped(TEXT, count), file,
        text_seconds(TEXT, seconds));
    json_exact(json, "ranges", (double) count);
    json_exact(json, "lines_left_out", (double) bad);
}

static _Noreturn void no_ranges(const char *file, const char *why)
{
    report_error("%s%s", why,
                 access(file, F_OK) ? "\nDebian's package tor-geoipdb has " DEFAULT_FILE " and " DEFAULT_FILE6
                                      "; --file and --file6 name others"
                                    : "");
    exit(EXIT_FAILED);
}

static void read_ranges(struct demo *demo)
{
    char           why[WHY_BYTES];
    struct reading reading = { .file = demo->file };
    const double   begin = now();
    progress("reading %s", demo->file);
    if (!geoip_read(demo->file, report_line, &reading, &demo->geoip, why))
        no_ranges(demo->file, why);
    say_ranges(demo, "ranges", demo->file, demo->geoip.count, demo->geoip.bad, now() - begin, demo->json);
}

static void read_ranges6(struct demo *demo)
{
    char           why[WHY_BYTES];
    struct reading reading = { .file = demo->file6 };
    const double   begin = now();
    progress("reading %s", demo->file6);
    if (!geoip6_read(demo->file6, report_line, &reading, &demo->geoip6, why))
        no_ranges(demo->file6, why);
    say_ranges(demo, "IPv6", demo->file6, demo->geoip6.count, demo->geoip6.bad, now() - begin,
               cJSON_AddObjectToObject(demo->json, "ipv6"));
}

/* Without a choice of acts, leaves out an act whose default file is missing. Ranges are never left out. */
static void choose_acts(const struct demo *demo, struct options *options)
{
    for (int a = 0; a < N_ACTS && !options->chosen; a++)
        options->acts[a] = true;
    if (!options->chosen && !options->file6 && access(DEFAULT_FILE6, R_OK)) {
        options->acts[IPV6] = false;
        say(demo->out, 9, "IPv6     left out: no " DEFAULT_FILE6 "; --file6 names another");
    }
    if (!options->chosen && !options->paths && access(DEFAULT_PATHS, R_OK)) {
        options->acts[PATHS] = false;
        say(demo->out, 9, "paths    left out: no " DEFAULT_PATHS "; --paths names another");
    }
}

static const char *const help[] = {
#include "demo_help.h"
};

/* Takes names of acts, separated by commas. */
static void take_acts(void *options_, const struct option_row *row, const char *text)
{
    struct options *options = options_;
    options->chosen = true;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int          a = 0;
        while (a < N_ACTS && (strlen(act_names[a]) != length || strncmp(at, act_names[a], length) != 0))
            a++;
        if (a == N_ACTS)
            usage_error("%s: '%.*s' is not countries, ipv6, paths or primitives", row->name, (int) length, at);
        options->acts[a] = true;
        at += length;
        if (!*at)
            break;
    }
}

#define AT(name) offsetof(struct options, name)
static const struct option_row rows[] = {
    { "--act", 0, true, take_acts, false, 0, 0, 0 },
    { "--file", 0, true, take_text, false, AT(file), 0, 0 },
    { "--file6", 0, true, take_text, false, AT(file6), 0, 0 },
    { "--paths", 0, true, take_text, false, AT(paths), 0, 0 },
    { "--count", 0, true, take_size, false, AT(count), 1, (double) ORDO_MAX_COUNT },
    { "--lines", 0, true, take_size, false, AT(lines), 1, (double) ORDO_MAX_COUNT },
    { "--device", 0, true, take_text, false, AT(device), 0, 0 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
};

static void play_countries(struct demo *demo)
{
    demo_countries(demo);
    fprintf(demo->out, "\n");
    demo_dicts(demo);
    fprintf(demo->out, "\n");
    demo_prefixes(demo, demo->facts->cpu ? (demo->count + 3) / 4 : demo->count); /* to save time */
}

static void play(struct demo *demo, const bool acts[N_ACTS])
{
    static void (*const play_act[N_ACTS])(struct demo *) = { play_countries, demo_ipv6, demo_paths, demo_primitives };
    for (int a = 0; a < N_ACTS; a++) {
        if (!acts[a])
            continue;
        fprintf(demo->out, "\n");
        play_act[a](demo);
    }
    if (demo->facts->cpu)
        say(demo->out, 0, "\nThis device is a CPU: the figures show that it works, not how fast a GPU is.");
}

int main(int argc, char **argv)
{
    tool_name("ordo-demo");
    progress_in_lines();
    struct options options = { 0 };
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    struct demo demo = { .file = options.file ? options.file : DEFAULT_FILE,
                         .file6 = options.file6 ? options.file6 : DEFAULT_FILE6,
                         .paths = options.paths ? options.paths : DEFAULT_PATHS,
                         .lines = options.lines,
                         .out = options.json && !strcmp(options.json, "-") ? stderr : stdout,
                         .json = must_have(json_head("ordo-demo", argc, argv)) };
    choose_acts(&demo, &options);
    if (options.acts[COUNTRIES])
        read_ranges(&demo);
    if (options.acts[IPV6])
        read_ranges6(&demo);
    start(&demo, options.device);
    demo.count = options.count ? options.count : demo.facts->cpu ? CPU_COUNT : DEFAULT_COUNT;
    play(&demo, options.acts);
    const bool written = !options.json || json_write(options.json, demo.json);
    ordo_device_close(&demo.device);
    geoip_free(&demo.geoip);
    geoip6_free(&demo.geoip6);
    free(demo.addresses);
    cJSON_Delete(demo.json);
    return demo.wrong || !written ? EXIT_FAILED : EXIT_GOOD;
}
