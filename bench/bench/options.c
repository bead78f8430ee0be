/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include "bench/workload/workload.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* After workloads: all of arrays, all of dictionaries, all of prefixes, all from and to host memory, and what is measured in processes
 * of its own (first.h). */
enum { ALL_ARRAYS = N_ALL_WORKLOADS, ALL_DICTS, ALL_PREFIXES, ALL_HOST, FIRST_OPEN, FIRST_PREPARE, N_WORKLOAD_NAMES };
static const char *workload_any(int i)
{
    static const char *const more[] = { "arrays", "dicts", "prefix", "host", "open", "prepare" };
    return i >= N_ALL_WORKLOADS ? more[i - N_ALL_WORKLOADS] : workload_name((enum workload) i);
}
static const char *type_any(int i)
{
    return type_name((ordo_type) i);
}
static const char *dist_any(int i)
{
    return dist_name((enum dist) i);
}
/* Those of arrays, each name once, then the structures. */
#define N_ARRAY_VARIANTS 16
const char *variant_any(int i)
{
    static const struct {
        enum workload workload;
        int           variant;
    } named[N_ARRAY_VARIANTS] = { { MERGE_RUNS, 0 }, { MERGE_RUNS, 1 }, { MERGE_RUNS, 2 }, { SEARCH, 0 },
                                  { SEARCH, 1 },     { SEARCH, 2 },     { SEARCH, 3 },     { SEARCH, 4 },
                                  { SEARCH, 5 },     { SEARCH, 6 },     { GROUPBY, 0 },    { TOP, 0 },
                                  { TOP, 1 },        { GATHER, 0 },     { GATHER, 1 },     { GATHER, 2 } };
    if (i >= N_ARRAY_VARIANTS)
        return variant_name(FILLRANDOM, i - N_ARRAY_VARIANTS);
    return variant_name(named[i].workload, named[i].variant);
}
static const char *structure_any(int i)
{
    return variant_name(FILLRANDOM, i);
}
static const char *value_bytes_any(int i)
{
    static const char *const names[] = { "0", "4", "8" };
    return names[i];
}

static const char *const help[] = {
#include "bench_help.h"
};

struct option_row {
    const char *name;     /* with its dashes */
    char        letter;   /* 0: none */
    int         argument; /* getopt_long's word */
    void (*take)(struct options *o, const struct option_row *row, const char *text);
    bool   what; /* it says what is measured, not how */
    size_t at;   /* of the member that it sets, where `take` does not know */
    double low, high;
};

static void take_flag(struct options *o, const struct option_row *row, const char *text)
{
    (void) text;
    *(bool *) ((char *) o + row->at) = true;
}

static void take_text(struct options *o, const struct option_row *row, const char *text)
{
    *(const char **) ((char *) o + row->at) = text;
}

static void take_json(struct options *o, const struct option_row *row, const char *text)
{
    (void) row;
    o->json = json_option(text);
}

static double whole_number(const struct option_row *row, const char *text)
{
    const double number = option_number(row->name, text, row->low, row->high);
    if (number != floor(number))
        usage_error("%s: '%s' is not a whole number", row->name, text);
    return number;
}

static void take_uint32(struct options *o, const struct option_row *row, const char *text)
{
    *(uint32_t *) ((char *) o + row->at) = (uint32_t) whole_number(row, text);
}

static void take_power(struct options *o, const struct option_row *row, const char *text)
{
    const uint32_t number = (uint32_t) whole_number(row, text);
    if (number & (number - 1))
        usage_error("%s: %u is not a power of two", row->name, number);
    *(uint32_t *) ((char *) o + row->at) = number;
}

static void take_one(struct options *o, const struct option_row *row, const char *text)
{
    (void) text;
    *(uint32_t *) ((char *) o + row->at) = 1;
}

static void take_uint64(struct options *o, const struct option_row *row, const char *text)
{
    *(uint64_t *) ((char *) o + row->at) = (uint64_t) whole_number(row, text);
}

static void take_double(struct options *o, const struct option_row *row, const char *text)
{
    *(double *) ((char *) o + row->at) = option_number(row->name, text, row->low, row->high);
}

static int take_names(const struct option_row *row, const char *text, const char *(*name)(int), int names, int *chosen)
{
    char      why[1024];
    const int n = parse_names(text, name, names, chosen, MOST_NAMES, why, sizeof why);
    if (n < 0)
        usage_error("%s: %s", row->name, why);
    return n;
}

static int take_some_sizes(const struct option_row *row, const char *text, size_t *sizes, int room)
{
    char      why[512];
    const int n = parse_sizes(text, sizes, room, why, sizeof why);
    if (n < 0)
        usage_error("%s: %s", row->name, why);
    return n;
}

static void choose_workload(struct options *o, int workload)
{
    if (o->n_workloads < MOST_NAMES)
        o->workloads[o->n_workloads++] = workload;
}

/* Whether a name for many workloads has this one among them. */
static bool is_one_of(int name, enum workload workload)
{
    if (name == ALL_PREFIXES)
        return workload_asks_prefixes(workload);
    if (name == ALL_HOST)
        return workload_is_host(workload);
    return workload_is_dict(workload) == (name == ALL_DICTS);
}

/* One workload, or all that a name stands for. */
static void choose_workloads(struct options *o, int name)
{
    if (name < N_ALL_WORKLOADS) {
        choose_workload(o, name);
        return;
    }
    o->first_open = o->first_open || name == FIRST_OPEN;
    o->first_prepare = o->first_prepare || name == FIRST_PREPARE;
    if (name == FIRST_OPEN || name == FIRST_PREPARE)
        return;
    for (int w = 0; w < N_ALL_WORKLOADS; w++)
        if (is_one_of(name, (enum workload) w))
            choose_workload(o, w);
}

static void take_workloads(struct options *o, const struct option_row *row, const char *text)
{
    int       chosen[MOST_NAMES];
    const int n = take_names(row, text, workload_any, N_WORKLOAD_NAMES, chosen);
    o->n_workloads = 0;
    for (int i = 0; i < n; i++)
        choose_workloads(o, chosen[i]);
}

/* --variant and --structure add to one list. */
static void choose_variants(struct options *o, const int *chosen, int n, int first)
{
    for (int i = 0; i < n && o->n_variants < MOST_NAMES; i++)
        o->variants[o->n_variants++] = first + chosen[i];
}

static void take_variants(struct options *o, const struct option_row *row, const char *text)
{
    int chosen[MOST_NAMES];
    choose_variants(o, chosen, take_names(row, text, variant_any, N_ARRAY_VARIANTS, chosen), 0);
}

static void take_structures(struct options *o, const struct option_row *row, const char *text)
{
    int chosen[MOST_NAMES];
    choose_variants(o, chosen, take_names(row, text, structure_any, N_VARIANTS, chosen), N_ARRAY_VARIANTS);
}

static void take_types(struct options *o, const struct option_row *row, const char *text)
{
    o->n_types = take_names(row, text, type_any, N_TYPES, o->types);
}

static void take_dists(struct options *o, const struct option_row *row, const char *text)
{
    o->n_dists = take_names(row, text, dist_any, N_DISTS, o->dists);
}

static void take_value_bytes(struct options *o, const struct option_row *row, const char *text)
{
    int chosen[MOST_NAMES];
    o->n_value_bytes = take_names(row, text, value_bytes_any, 3, chosen);
    o->n_value_bytes = o->n_value_bytes > 3 ? 3 : o->n_value_bytes;
    for (int i = 0; i < o->n_value_bytes; i++)
        o->value_bytes[i] = (uint32_t) chosen[i] * 4;
}

static void take_updates(struct options *o, const struct option_row *row, const char *text)
{
    char percent[8];
    o->n_updates = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(percent, sizeof percent, "%.*s", (int) length, at);
        if (o->n_updates < MOST_NAMES)
            o->update_percents[o->n_updates++] = (uint32_t) whole_number(row, percent);
        at += length;
        if (!*at)
            return;
    }
}

static void take_sizes(struct options *o, const struct option_row *row, const char *text)
{
    o->n_sizes = take_some_sizes(row, text, o->sizes, MOST_SIZES);
}

static void take_batches(struct options *o, const struct option_row *row, const char *text)
{
    o->n_batches = take_some_sizes(row, text, o->batches, MOST_SIZES);
}

static void take_queries(struct options *o, const struct option_row *row, const char *text)
{
    take_some_sizes(row, text, &o->n_queries, 1);
}

static void take_compare(struct options *o, const struct option_row *row, const char *text)
{
    if (o->n_compare == 64)
        usage_error("%s: more than 64 files", row->name);
    o->compare[o->n_compare++] = text;
}

static void take_wide(struct options *o, const struct option_row *row, const char *text)
{
    (void) o, (void) row, (void) text;
    show_wide();
}

static void take_help(struct options *o, const struct option_row *row, const char *text)
{
    (void) o, (void) row, (void) text;
    print_lines(help);
    exit(EXIT_GOOD);
}

static void take_version(struct options *o, const struct option_row *row, const char *text)
{
    (void) o, (void) row, (void) text;
    print_version();
    exit(EXIT_GOOD);
}

#define AT(name) offsetof(struct options, name)
#define WITH     required_argument
#define WITHOUT  no_argument
#define TAKE(high, traits)                                                                                             \
    ((traits) &AXIS_LIST ? take_updates : (traits) &AXIS_POWER ? take_power : (high) ? take_uint32 : take_one)
static const struct option_row rows[] = {
#define X(member, option, key, low, high, initial, has, traits)                                                        \
    { option, 0, (high) ? WITH : WITHOUT, TAKE(high, traits), true, AT(member), low, high },
    AXIS_MAP(X)
#undef X
        { "--workload", 'w', WITH, take_workloads, true, 0, 0, 0 },
    { "--variant", 0, WITH, take_variants, true, 0, 0, 0 },
    { "--structure", 's', WITH, take_structures, true, 0, 0, 0 },
    { "--batch", 0, WITH, take_batches, true, 0, 0, 0 },
    { "--full", 0, WITHOUT, take_flag, true, AT(full), 0, 0 },
    { "--sizes", 'n', WITH, take_sizes, true, 0, 0, 0 },
    { "--types", 't', WITH, take_types, true, 0, 0, 0 },
    { "--value-bytes", 'v', WITH, take_value_bytes, true, 0, 0, 0 },
    { "--dist", 'D', WITH, take_dists, true, 0, 0, 0 },
    { "--queries", 'q', WITH, take_queries, true, 0, 0, 0 },
    { "--tune", 0, WITH, take_text, true, AT(tune), 0, 0 },
    { "--device", 'd', WITH, take_text, false, AT(device), 0, 0 },
    { "--seed", 0, WITH, take_uint64, false, AT(seed), 0, 0x1p53 },
    { "--reps", 'r', WITH, take_uint32, false, AT(repetitions), 3, 64 },
    { "--budget", 'b', WITH, take_double, false, AT(budget), 0.1, 1e6 },
    { "--peers", 0, WITHOUT, take_flag, false, AT(peers), 0, 0 },
    { "--no-host", 0, WITHOUT, take_flag, false, AT(no_host), 0, 0 },
    { "--no-array", 0, WITHOUT, take_flag, false, AT(no_array), 0, 0 },
    { "--no-limits", 0, WITHOUT, take_flag, false, AT(no_limits), 0, 0 },
    { "--compare", 0, WITH, take_compare, false, 0, 0, 0 },
    { "--against", 0, WITH, take_text, false, AT(against), 0, 0 },
    { "--slower-by", 0, WITH, take_double, false, AT(slower_by), 0.1, 90 },
    { "--processes", 0, WITH, take_uint32, false, AT(processes), 1, 32 },
    { "--json", 0, WITH, take_json, false, 0, 0, 0 },
    { "--resume", 0, WITH, take_text, false, AT(resume), 0, 0 },
    { "--chart", 0, WITHOUT, take_flag, false, AT(chart), 0, 0 },
    { "--no-chart", 0, WITHOUT, take_flag, false, AT(no_chart), 0, 0 },
    { "--wide", 0, WITHOUT, take_wide, false, 0, 0, 0 },
    { "--list", 0, WITHOUT, take_flag, false, AT(list), 0, 0 },
    { "--describe", 0, WITHOUT, take_flag, false, AT(describe), 0, 0 },
    { "--help", 'h', WITHOUT, take_help, false, 0, 0, 0 },
    { "--version", 0, WITHOUT, take_version, false, 0, 0, 0 },
};
#define N_ROWS (sizeof rows / sizeof *rows)

/* What getopt_long returns for a row. */
static int code_of(size_t row)
{
    return rows[row].letter ? rows[row].letter : 256 + (int) row;
}

static void take_option(struct options *o, int code)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (code == code_of(i)) {
            rows[i].take(o, &rows[i], optarg);
            return;
        }
    fprintf(stderr, "Try 'ordo-bench --help'.\n"); /* getopt has said what is wrong */
    exit(EXIT_USAGE);
}

/* The options as getopt_long wants them. */
struct getopt_names {
    struct option names[N_ROWS + 1];
    char          letters[2 * N_ROWS + 1];
};

static struct getopt_names getopt_names(void)
{
    struct getopt_names g = { .letters = "" };
    for (size_t i = 0, at = 0; i < N_ROWS; i++) {
        g.names[i] = (struct option) { rows[i].name + 2, rows[i].argument, NULL, code_of(i) };
        if (rows[i].letter)
            g.letters[at++] = rows[i].letter;
        if (rows[i].letter && rows[i].argument == required_argument)
            g.letters[at++] = ':';
    }
    optind = 0; /* from the beginning, each time */
    return g;
}

static bool is_command(int argc, char **argv, const char *name)
{
    return argc > 1 && strcmp(argv[1], name) == 0;
}

int command_words(int argc, char **argv)
{
    if (is_command(argc, argv, "paper"))
        return argc > 2 && argv[2][0] != '-' ? 2 : 1;
    return is_command(argc, argv, "suite") || is_command(argc, argv, "compare");
}

static void take_options(struct options *o, int argc, char **argv)
{
    const struct getopt_names g = getopt_names();
    for (int code; (code = getopt_long(argc, argv, g.letters, g.names, NULL)) != -1;)
        take_option(o, code);
}

static bool is_in(const char *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

int repeat_options(int argc, char **argv, bool how, const char *const *without, const char **out)
{
    const struct getopt_names g = getopt_names();
    const int                 command = command_words(argc, argv);
    int                       n = 0;
    for (int code; (code = getopt_long(argc - command, argv + command, g.letters, g.names, NULL)) != -1;)
        for (size_t i = 0; i < N_ROWS; i++) {
            if (code != code_of(i) || (how && rows[i].what) || is_in(without, rows[i].name))
                continue;
            out[n++] = rows[i].name;
            if (rows[i].argument == required_argument)
                out[n++] = optarg;
        }
    return n;
}

void only_with_resume(int argc, char **argv)
{
    static const char *const alone[] = { "--wide", "--chart", "--no-chart" };
    static const char *const with_argument[] = { "--resume", "--budget", "-b" };
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
            known |= strcmp(argv[i], alone[k]) == 0;
        for (size_t k = 0; k < sizeof with_argument / sizeof *with_argument && !known; k++) {
            const size_t length = strlen(with_argument[k]);
            known = strncmp(argv[i], with_argument[k], length) == 0 && (argv[i][length] == 0 || argv[i][length] == '=');
            i += known && argv[i][length] == 0;
        }
        if (!known)
            usage_error("%s: the file says what is measured; beside --resume there are --budget, --wide, --chart and "
                        "--no-chart",
                        argv[i]);
    }
}

/* One workload, and queries after all batches, as peers answer them. */
static void begin_side_by_side(struct options *o)
{
    o->n_workloads = 0;
    choose_workload(o, READRANDOM);
    o->fills = 1;
    o->no_array = true; /* it is a row like the others */
}

static void check_side_by_side(const struct options *o)
{
    if (o->processes > 1 || o->n_compare || o->against)
        usage_error("compare: structures and peers are compared in one process; with other builds and files what is "
                    "measured without it");
    if (o->fills != 1 || o->first_calls)
        usage_error("compare: --fills and --first-calls cannot be used: queries are timed after all batches");
    if (o->first_open || o->first_prepare)
        usage_error("compare: open and prepare have no peers");
}

struct options read_options(int argc, char **argv)
{
    struct options o = { .n_types = 1,
                         .types = { ORDO_U32 },
                         .n_dists = 1,
                         .dists = { UNIFORM },
                         .n_value_bytes = 1,
                         .value_bytes = { 4 },
                         .repetitions = 20,
                         .seed = 1,
                         .n_updates = 3,
#define X(member, option, key, low, high, initial, has, traits) .member = (initial),
                         AXIS_MAP(X)
#undef X
                             .update_percents = { 20, 60, 100 } };
    choose_workloads(&o, N_ALL_WORKLOADS);
    choose_workloads(&o, N_ALL_WORKLOADS + 1);
    const int command = command_words(argc, argv);
    o.suite = is_command(argc, argv, "suite");
    o.side_by_side = is_command(argc, argv, "compare");
    if (o.side_by_side)
        begin_side_by_side(&o);
    take_options(&o, argc - command, argv + command);
    if (is_command(argc, argv, "paper") && command < 2)
        usage_error("paper: a name is missing: ordo-bench paper NAME");
    o.paper = command == 2 ? argv[2] : NULL;
    argc -= command;
    argv += command;
    while (optind < argc && o.n_compare) /* --compare old*.json */
        take_compare(&o, &(struct option_row) { .name = "--compare" }, argv[optind++]);
    if (optind < argc)
        usage_error("unexpected argument '%s'", argv[optind]);
    if (o.n_compare && o.against)
        usage_error("--compare and --against cannot be used together");
    if (o.slower_by > 0 && !o.n_compare && !o.against)
        usage_error("--slower-by needs --compare or --against");
    if (o.side_by_side)
        check_side_by_side(&o);
    if (o.n_compare || o.against) /* all processes do the same, and have time for it */
        o.no_host = o.no_array = true;
    if (o.processes == 0)
        o.processes = o.n_compare || o.against ? 5 : 1;
    o.budget /= o.processes * (o.against ? 2.0 : 1);
    return o;
}
