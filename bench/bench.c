/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench: how fast the primitives are on a device, beside how fast it copies, the host and other libraries. */
#include "devices.h"
#include "peers.h"
#include "report.h"
#include "subject.h"
#include "timing.h"
#include "yardstick.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------------------------- */

#define MOST_SIZES 64
#define MOST_NAMES 16

struct options {
    int         workloads[MOST_NAMES], n_workloads;
    int         variants[MOST_NAMES], n_variants; /* indices of variant_any; none: all */
    int         types[MOST_NAMES], n_types;
    int         dists[MOST_NAMES], n_dists;
    uint32_t    value_bytes[3];
    int         n_value_bytes;
    size_t      sizes[MOST_SIZES];
    int         n_sizes;   /* 0: the device's default */
    size_t      n_queries; /* 0: the device's default */
    const char *device, *json, *compare;
    int         repetitions;
    double      budget; /* seconds; 0: none */
    uint64_t    seed;
    bool        peers, no_host, chart, no_chart, list;
};

static const char *workload_any(int i)
{
    return workload_name((enum workload) i);
}
static const char *type_any(int i)
{
    return type_name((ordo_type) i);
}
static const char *dist_any(int i)
{
    return dist_name((enum dist) i);
}
/* The names of all variants of all workloads. */
#define N_VARIANTS 7
static const char *variant_any(int i)
{
    return i < 3 ? variant_name(MERGE_RUNS, i) : variant_name(SEARCH, i - 3);
}
static const char *value_bytes_any(int i)
{
    static const char *const names[] = { "0", "4", "8" };
    return names[i];
}

static void print_help(void)
{
    printf(
        "Usage: ordo-bench [OPTION]...\n"
        "Measures sorting, merging, scanning and searching on OpenCL devices, and checks every result.\n"
        "\n"
        "What to measure (lists are separated by commas):\n"
        "  -w, --workload LIST     of sort, merge, merge_runs, scan, reduce, compact, search, lookup (default: all)\n"
        "      --variant LIST      of 4-runs, 8-runs, 16-runs; random, sorted, random+index, sorted+index (all)\n"
        "  -n, --sizes LIST        numbers of elements: 12 means 2^12, 12..27 every power between, =1000 just that\n"
        "                          (default: 16,20,24; on a CPU 12,16,20)\n"
        "  -t, --types LIST        of u32, u64, i32, i64, f32, f64 (u32)\n"
        "  -v, --value-bytes LIST  of 0, 4, 8 (4); scan, reduce and search have no values\n"
        "  -D, --dist LIST         of uniform, few, sorted, reverse, zipf (uniform)\n"
        "  -q, --queries N         queries of a search or lookup, written like a size (24; on a CPU 20)\n"
        "  -d, --device LIST       0:1, gpu, cpu, part of a name, or all (ORDO_DEVICE, else the first GPU)\n"
        "      --seed N            of the random inputs (1)\n"
        "\n"
        "How long:\n"
        "  -r, --reps N            repetitions at most (20); three at least\n"
        "  -b, --budget SECONDS    for everything; rows that no longer fit are named and skipped (none)\n"
        "\n"
        "Beside it:\n"
        "      --peers             CUB and Thrust on the same device (needs ordo-peer, built where there is nvcc)\n"
        "      --no-host           leave out the plain host code\n"
        "      --compare FILE      a former --json: prints new rate / old rate, and marks what is over 5 %% slower\n"
        "\n"
        "Output:\n"
        "      --json FILE         everything as JSON as well; - is standard output (tables then go to stderr)\n"
        "      --chart, --no-chart bars of rate over size at the end (default: on a terminal)\n"
        "      --list              names workloads, variants and devices, and ends\n"
        "  -h, --help, --version\n"
        "\n"
        "Examples:\n"
        "  ordo-bench -w sort,merge -n 12..27\n"
        "  ordo-bench -w search --variant random+index -n 20,24,27 --peers\n"
        "  ordo-bench --budget 60 --json new.json --compare old.json\n"
        "\n"
        "Exit status: 0; 1 if a result was wrong or a call failed; 2 for bad arguments.\n");
}

static int names_option(const char *option, const char *text, const char *(*name)(int), int n_names, int *chosen)
{
    char      why[512];
    const int n = parse_names(text, option + 2, name, n_names, chosen, MOST_NAMES, why, sizeof why);
    if (n < 0)
        usage_error("%s: %s", option, why);
    return n;
}

static int sizes_option(const char *option, const char *text, size_t *sizes, int room)
{
    char      why[512];
    const int n = parse_sizes(text, sizes, room, why, sizeof why);
    if (n < 0)
        usage_error("%s: %s", option, why);
    return n;
}

static void value_bytes_option(struct options *o, const char *text)
{
    int chosen[MOST_NAMES];
    o->n_value_bytes = names_option("--value-bytes", text, value_bytes_any, 3, chosen);
    o->n_value_bytes = o->n_value_bytes > 3 ? 3 : o->n_value_bytes;
    for (int i = 0; i < o->n_value_bytes; i++)
        o->value_bytes[i] = (uint32_t) chosen[i] * 4;
}

enum {
    OPT_VARIANT = 256,
    OPT_SEED,
    OPT_PEERS,
    OPT_NO_HOST,
    OPT_COMPARE,
    OPT_JSON,
    OPT_CHART,
    OPT_NO_CHART,
    OPT_LIST,
    OPT_VERSION
};

static const struct option long_options[] = {
    { "workload", required_argument, NULL, 'w' },
    { "variant", required_argument, NULL, OPT_VARIANT },
    { "sizes", required_argument, NULL, 'n' },
    { "types", required_argument, NULL, 't' },
    { "value-bytes", required_argument, NULL, 'v' },
    { "dist", required_argument, NULL, 'D' },
    { "queries", required_argument, NULL, 'q' },
    { "device", required_argument, NULL, 'd' },
    { "seed", required_argument, NULL, OPT_SEED },
    { "reps", required_argument, NULL, 'r' },
    { "budget", required_argument, NULL, 'b' },
    { "peers", no_argument, NULL, OPT_PEERS },
    { "no-host", no_argument, NULL, OPT_NO_HOST },
    { "compare", required_argument, NULL, OPT_COMPARE },
    { "json", required_argument, NULL, OPT_JSON },
    { "chart", no_argument, NULL, OPT_CHART },
    { "no-chart", no_argument, NULL, OPT_NO_CHART },
    { "list", no_argument, NULL, OPT_LIST },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, OPT_VERSION },
    { NULL, 0, NULL, 0 },
};

static void take_option(struct options *o, int option)
{
    switch (option) {
    case 'w':
        o->n_workloads = names_option("--workload", optarg, workload_any, N_WORKLOADS, o->workloads);
        break;
    case OPT_VARIANT:
        o->n_variants = names_option("--variant", optarg, variant_any, N_VARIANTS, o->variants);
        break;
    case 'n':
        o->n_sizes = sizes_option("--sizes", optarg, o->sizes, MOST_SIZES);
        break;
    case 't':
        o->n_types = names_option("--types", optarg, type_any, N_TYPES, o->types);
        break;
    case 'v':
        value_bytes_option(o, optarg);
        break;
    case 'D':
        o->n_dists = names_option("--dist", optarg, dist_any, N_DISTS, o->dists);
        break;
    case 'q':
        sizes_option("--queries", optarg, &o->n_queries, 1);
        break;
    case 'd':
        o->device = optarg;
        break;
    case OPT_SEED:
        o->seed = (uint64_t) option_number("--seed", optarg, 0, 0x1p53);
        break;
    case 'r':
        o->repetitions = (int) option_number("--reps", optarg, 3, 64);
        break;
    case 'b':
        o->budget = option_number("--budget", optarg, 0.1, 1e6);
        break;
    case OPT_PEERS:
        o->peers = true;
        break;
    case OPT_NO_HOST:
        o->no_host = true;
        break;
    case OPT_COMPARE:
        o->compare = optarg;
        break;
    case OPT_JSON:
        o->json = optarg;
        break;
    case OPT_CHART:
        o->chart = true;
        break;
    case OPT_NO_CHART:
        o->no_chart = true;
        break;
    case OPT_LIST:
        o->list = true;
        break;
    case 'h':
        print_help();
        exit(EXIT_GOOD);
    case OPT_VERSION:
        printf("ordo-bench %s\n", ordo_version());
        exit(EXIT_GOOD);
    default: /* getopt has said what is wrong */
        fprintf(stderr, "Try 'ordo-bench --help'.\n");
        exit(EXIT_USAGE);
    }
}

static struct options read_options(int argc, char **argv)
{
    struct options o = { .n_types = 1,
                         .types = { ORDO_U32 },
                         .n_dists = 1,
                         .dists = { UNIFORM },
                         .n_value_bytes = 1,
                         .value_bytes = { 4 },
                         .repetitions = 20,
                         .seed = 1,
                         .n_workloads = N_WORKLOADS };
    for (int w = 0; w < N_WORKLOADS; w++)
        o.workloads[w] = w;
    for (int option; (option = getopt_long(argc, argv, "w:n:t:v:D:q:d:r:b:h", long_options, NULL)) != -1;)
        take_option(&o, option);
    if (optind < argc)
        usage_error("'%s' is no option; everything is said by options", argv[optind]);
    return o;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

enum outcome { GOOD, WRONG, FAILED, TOO_LARGE, SKIPPED };
static const char *const outcome_names[] = { "ok", "WRONG", "failed", "too large", "skipped" };

struct row {
    struct spec   spec;
    enum outcome  outcome;
    char          why[512];
    struct timing timing;
    double        rate, bytes_per_second, copy_share; /* by the wall clock; NaN where nothing was measured */
    double        yardstick[MAX_YARDSTICKS];          /* operations a second */
    uint64_t      scratch_bytes;
    size_t        index_bytes;
    double        index_seconds;
    const cJSON  *peer;   /* NULL: none */
    double        before; /* rate in the file to compare with; NaN: not there */
};

/* What is common to the rows of one device. */
struct run {
    const struct options *options;
    FILE                 *out;
    cJSON                *json, *devices, *rows, *before; /* before: the file to compare with, or NULL */
    char                 *peer_program;                   /* NULL: none */

    ordo_device     *device;
    int              device_number; /* in `devices` */
    struct copy_rate copy;
    const size_t    *sizes;
    int              n_sizes;
    size_t           n_queries;

    double deadline; /* INFINITY: none */
    int    rows_left, wrong, failed, skipped, slower;
    double row_seconds; /* for the timing of the next row */
};

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

static bool text_is(const cJSON *object, const char *name, const char *text)
{
    const char *got = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return got && strcmp(got, text) == 0;
}

/* ---- comparing with a former run ----------------------------------------------------------------------------- */

static cJSON *read_former(const char *path)
{
    char   why[512] = "";
    cJSON *former = json_read(path, why, sizeof why);
    if (!former)
        usage_error("--compare: %s", why);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(former, "rows")))
        usage_error("--compare: %s was not written by ordo-bench --json", path);
    return former;
}

static bool same_point(const cJSON *row, const struct spec *spec)
{
    return text_is(row, "workload", workload_name(spec->workload)) &&
           text_is(row, "variant", variant_name(spec->workload, spec->variant)) &&
           text_is(row, "key", type_name(spec->type)) && text_is(row, "dist", dist_name(spec->dist)) &&
           number_of(row, "value_bytes") == spec->value_bytes && number_of(row, "count") == (double) spec->count &&
           number_of(row, "operations") == (double) spec_operations(spec);
}

/* The former rate of the same point on a device of the same name; NaN if there is none. */
static double former_rate(const struct run *run, const struct spec *spec)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->before, "devices"), *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run->before, "rows"))
    {
        const double number = number_of(row, "device");
        const cJSON *device = number >= 0 ? cJSON_GetArrayItem(devices, (int) number) : NULL;
        if (same_point(row, spec) && text_is(device, "name", ordo_device_facts(run->device)->name))
            return number_of(row, "rate");
    }
    return NAN;
}

/* ---- measuring ----------------------------------------------------------------------------------------------- */

static void failed_call(struct run *run, struct row *row, ordo_status status)
{
    row->outcome = status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE ? TOO_LARGE : FAILED;
    if (!row->why[0] && ordo_device_last_error(run->device, row->why, sizeof row->why) <= 1)
        snprintf(row->why, sizeof row->why, "%s", ordo_status_string(status));
}

static void measure(struct run *run, struct row *row, struct subject *subject)
{
    const struct timing_goal goal = { .seconds = run->row_seconds,
                                      .repetitions = run->options->repetitions,
                                      .device_too = true };
    const ordo_status        got = time_calls(run->device, subject_call, subject, &goal, &row->timing);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    struct ordo_memory memory = { 0 };
    if (ordo_device_memory(run->device, &memory) == ORDO_OK)
        row->scratch_bytes = memory.scratch_peak_bytes;
    row->index_bytes = subject_index_bytes(subject);
    row->index_seconds = subject_index_seconds(subject);

    progress("%s %s: checking", workload_name(row->spec.workload), variant_name(row->spec.workload, row->spec.variant));
    row->outcome = subject_check(subject, row->why, sizeof row->why) ? GOOD : WRONG;
    row->rate = (double) spec_operations(&row->spec) / row->timing.wall.median;
    row->bytes_per_second = spec_bytes(&row->spec) / row->timing.wall.median;
    row->copy_share = row->bytes_per_second / run->copy.bytes_per_second;
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(row->spec.workload, i))
            row->yardstick[i] = yardstick_rate(&row->spec, subject_inputs(subject), i);
}

/* Whether inputs, outputs and scratch of about the input's size have room; if not, says so. */
static bool fits(const struct run *run, struct row *row)
{
    const struct ordo_device_facts *facts = ordo_device_facts(run->device);
    const struct subject_size       size = subject_size(&row->spec);
    char                            need[TEXT_BYTES], has[TEXT_BYTES];
    if (size.largest > facts->max_alloc_bytes) {
        snprintf(row->why, sizeof row->why, "needs a buffer of %s, this device allows %s",
                 text_bytes(need, (double) size.largest), text_bytes(has, (double) facts->max_alloc_bytes));
        return false;
    }
    if ((double) size.bytes * 1.5 > (double) facts->global_bytes * 0.9) {
        snprintf(row->why, sizeof row->why, "needs %s with its scratch, this device has %s",
                 text_bytes(need, (double) size.bytes * 1.5), text_bytes(has, (double) facts->global_bytes));
        return false;
    }
    return true;
}

static void run_row(struct run *run, struct row *row)
{
    const double left = run->deadline - now();
    /* Inputs, checks and the host's code take about as long as the timing. */
    run->row_seconds = isinf(left) ? 1 : left / run->rows_left * 0.5;
    if (left <= 0) {
        row->outcome = SKIPPED;
        snprintf(row->why, sizeof row->why, "the budget of %g s is spent", run->options->budget);
        return;
    }
    if (!fits(run, row)) {
        row->outcome = TOO_LARGE;
        return;
    }

    char count[TEXT_BYTES];
    progress("%s %s, %s: %d rows left", workload_name(row->spec.workload),
             variant_name(row->spec.workload, row->spec.variant), text_count(count, row->spec.count), run->rows_left);
    struct subject *subject = NULL;
    ordo_device_trim(run->device);
    const ordo_status got = subject_open(run->device, &row->spec, &subject, row->why, sizeof row->why);
    if (got != ORDO_OK)
        failed_call(run, row, got);
    else
        measure(run, row, subject);
    subject_close(&subject);
}

/* ---- showing ------------------------------------------------------------------------------------------------- */

static cJSON *json_spread(const struct spread *spread)
{
    cJSON *json = cJSON_CreateObject();
    json_number(json, "median", spread->median);
    json_number(json, "p10", spread->low);
    json_number(json, "p90", spread->high);
    return json;
}

static void json_point(cJSON *json, const struct spec *spec)
{
    cJSON_AddStringToObject(json, "workload", workload_name(spec->workload));
    cJSON_AddStringToObject(json, "variant", variant_name(spec->workload, spec->variant));
    cJSON_AddStringToObject(json, "key", type_name(spec->type));
    cJSON_AddNumberToObject(json, "value_bytes", spec->value_bytes);
    cJSON_AddStringToObject(json, "dist", dist_name(spec->dist));
    cJSON_AddNumberToObject(json, "count", (double) spec->count);
    cJSON_AddNumberToObject(json, "operations", (double) spec_operations(spec));
}

static void json_measured(cJSON *json, const struct row *row)
{
    json_number(json, "rate", row->rate);
    cJSON_AddItemToObject(json, "wall_s", json_spread(&row->timing.wall));
    cJSON_AddItemToObject(json, "device_s", json_spread(&row->timing.device));
    json_number(json, "first_call_s", row->timing.first_call);
    cJSON_AddNumberToObject(json, "repetitions", row->timing.repetitions);
    cJSON_AddNumberToObject(json, "calls_per_repetition", row->timing.batch);
    json_number(json, "bytes_counted", spec_bytes(&row->spec));
    json_number(json, "bytes_per_s", row->bytes_per_second);
    json_number(json, "share_of_copy_rate", row->copy_share);
    cJSON_AddNumberToObject(json, "scratch_bytes", (double) row->scratch_bytes);
    if (row->index_bytes) {
        cJSON_AddNumberToObject(json, "index_bytes", (double) row->index_bytes);
        json_number(json, "index_build_s", row->index_seconds);
    }
    cJSON *host = cJSON_AddObjectToObject(json, "host_rates");
    for (int i = 0; i < MAX_YARDSTICKS; i++)
        if (yardstick_name(row->spec.workload, i) && !isnan(row->yardstick[i]))
            json_number(host, yardstick_name(row->spec.workload, i), row->yardstick[i]);
    if (row->peer)
        cJSON_AddItemToObject(json, "peer", cJSON_Duplicate(row->peer, true));
    if (!isnan(row->before))
        json_number(json, "rate_before", row->before);
}

static void json_row(const struct run *run, const struct row *row)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "device", run->device_number);
    json_point(json, &row->spec);
    cJSON_AddStringToObject(json, "check", outcome_names[row->outcome]);
    if (row->why[0])
        cJSON_AddStringToObject(json, "why", row->why);
    if (row->outcome == GOOD || row->outcome == WRONG)
        json_measured(json, row);
    cJSON_AddItemToArray(run->rows, json);
}

#define MOST_COLUMNS 16

/* The columns of one workload: those without anything to say are left out. */
struct layout {
    struct column columns[MOST_COLUMNS];
    int           n;
};

static void add_column(struct layout *layout, const char *title, int width, bool left)
{
    struct column *column = &layout->columns[layout->n++];
    snprintf(column->title, sizeof column->title, "%s", title);
    column->width = width;
    column->left = left;
}

static struct layout lay_out(const struct run *run, enum workload workload)
{
    struct layout layout = { .n = 0 };
    if (variant_name(workload, 1))
        add_column(&layout, "variant", 12, true);
    add_column(&layout, "data", run->options->n_dists > 1 || run->options->dists[0] != UNIFORM ? 13 : 5, true);
    add_column(&layout, workload_has_queries(workload) ? "keys" : "count", 6, false);
    add_column(&layout, "rate /s", 7, false);
    add_column(&layout, "time", 8, false);
    add_column(&layout, "+-", 6, false);
    add_column(&layout, "device", 8, false);
    add_column(&layout, "GB/s", 5, false);
    add_column(&layout, "copy", 6, false);
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(workload, i)) {
            char title[16];
            snprintf(title, sizeof title, "/ %s", yardstick_name(workload, i));
            add_column(&layout, title, 8, false);
        }
    if (run->peer_program)
        add_column(&layout, "/ peer", 7, false);
    if (run->before)
        add_column(&layout, "/ before", 8, false);
    add_column(&layout, "check", 5, true);
    return layout;
}

static double peer_rate(const struct row *row)
{
    return row->peer ? number_of(row->peer, "rate") : NAN;
}

static void show_row(struct run *run, const struct table *table, const struct row *row)
{
    const enum workload  workload = row->spec.workload;
    const struct timing *t = &row->timing;
    char                 text[MOST_COLUMNS][80];
    const char          *cells[MOST_COLUMNS];
    int                  n = 0;
    const bool           slower = row->rate / row->before < 0.95;

    if (variant_name(workload, 1))
        snprintf(text[n++], sizeof *text, "%s", variant_name(workload, row->spec.variant));
    snprintf(text[n], sizeof *text, row->spec.value_bytes ? "%s+%u" : "%s", type_name(row->spec.type),
             row->spec.value_bytes);
    if (row->spec.dist != UNIFORM)
        snprintf(text[n] + strlen(text[n]), 20, " %s", dist_name(row->spec.dist));
    n++;
    text_count(text[n++], row->spec.count);
    text_rate(text[n++], row->rate);
    text_seconds(text[n++], t->wall.median);
    text_percent(text[n++], (t->wall.high - t->wall.low) / 2 / t->wall.median);
    text_seconds(text[n++], t->device.median);
    text_giga(text[n++], row->bytes_per_second);
    text_percent(text[n++], row->copy_share);
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(workload, i))
            text_ratio(text[n++], row->rate / row->yardstick[i]);
    if (run->peer_program)
        text_ratio(text[n++], row->rate / peer_rate(row));
    if (run->before)
        text_ratio(text[n++], row->rate / row->before);
    snprintf(text[n++], sizeof *text, "%s%s", outcome_names[row->outcome], slower ? ", slower" : "");
    for (int c = 0; c < n; c++)
        cells[c] = text[c];
    table_row(table, cells);
    if (row->why[0])
        fprintf(table->out, "    %s\n", row->why);
    run->slower += slower;
}

static void draw_series(const struct run *run, const struct row *rows)
{
    struct bar  bars[MOST_SIZES];
    char        title[128];
    const char *variant = variant_name(rows->spec.workload, rows->spec.variant);
    int         known = 0;
    for (int i = 0; i < run->n_sizes; i++) {
        text_count(bars[i].label, rows[i].spec.count);
        bars[i].value = rows[i].rate;
        known += !isnan(rows[i].rate);
    }
    if (known < 2)
        return;
    char values[32] = "";
    if (rows->spec.value_bytes)
        snprintf(values, sizeof values, " and values of %u bytes", rows->spec.value_bytes);
    snprintf(title, sizeof title, "\n%s%s%s: %s keys%s, %s", workload_name(rows->spec.workload), *variant ? " " : "",
             variant, type_name(rows->spec.type), values, dist_name(rows->spec.dist));
    chart(run->out, title, bars, run->n_sizes, 50);
}

/* ---- going through the axes ---------------------------------------------------------------------------------- */

/* All sizes of one point of the other axes. */
struct series {
    struct spec spec;
    struct row  rows[MOST_SIZES];
    cJSON      *peers;
};

static void count_outcome(struct run *run, const struct row *row)
{
    run->rows_left--;
    run->wrong += row->outcome == WRONG;
    run->failed += row->outcome == FAILED;
    run->skipped += row->outcome == SKIPPED;
}

static void ask_peer(struct run *run, struct series *series)
{
    char         why[512] = "";
    const double left = run->deadline - now();
    if (!run->peer_program || left <= 0)
        return;
    progress("%s: the peer's turn", workload_name(series->spec.workload));
    series->peers =
        peer_rows(run->peer_program, ordo_device_facts(run->device)->name, &series->spec, run->sizes, run->n_sizes,
                  isinf(left) ? run->n_sizes : left / run->rows_left * run->n_sizes * 0.3, why, sizeof why);
    if (!series->peers)
        complain("%s", why);
}

static void run_series(struct run *run, struct series *series, const struct table *table)
{
    ask_peer(run, series);
    for (int i = 0; i < run->n_sizes; i++) {
        struct row *row = &series->rows[i];
        *row = (struct row) { .spec = series->spec,
                              .rate = NAN,
                              .bytes_per_second = NAN,
                              .copy_share = NAN,
                              .before = NAN,
                              .yardstick = { NAN, NAN } };
        row->timing.wall = row->timing.device = (struct spread) { NAN, NAN, NAN };
        row->spec.count = run->sizes[i];
        if (run->before)
            row->before = former_rate(run, &row->spec);
        row->peer = peer_row(series->peers, row->spec.count);
        run_row(run, row);
        count_outcome(run, row);
        show_row(run, table, row);
        json_row(run, row);
    }
}

static bool variant_wanted(const struct options *o, enum workload workload, int variant)
{
    bool any = false;
    for (int i = 0; i < o->n_variants; i++)
        for (int v = 0; variant_name(workload, v); v++)
            if (strcmp(variant_any(o->variants[i]), variant_name(workload, v)) == 0) {
                any = true;
                if (v == variant)
                    return true;
            }
    return !any; /* none of this workload's variants was named */
}

/* Adds the series of one workload to `list`, or only counts them if it is NULL. */
static int list_series(const struct run *run, enum workload workload, struct series *list)
{
    const struct options *o = run->options;
    const int             n_values = workload_has_values(workload) ? o->n_value_bytes : 1;
    int                   n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        if (!variant_wanted(o, workload, variant))
            continue;
        for (int t = 0; t < o->n_types; t++)
            for (int v = 0; v < n_values; v++)
                for (int d = 0; d < o->n_dists; d++, n++)
                    if (list)
                        list[n].spec = (struct spec) {
                            .workload = workload,
                            .variant = variant,
                            .type = (ordo_type) o->types[t],
                            .value_bytes = workload_has_values(workload) ? o->value_bytes[v] : 0,
                            .dist = (enum dist) o->dists[d],
                            .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                            .seed = o->seed,
                        };
    }
    return n;
}

static void run_workload(struct run *run, enum workload workload)
{
    const int           n = list_series(run, workload, NULL);
    struct series      *list = calloc((size_t) n + 1, sizeof *list);
    const struct layout layout = lay_out(run, workload);
    const struct table  table = { run->out, layout.columns, layout.n };
    char                queries[TEXT_BYTES];

    if (!list) {
        complain("out of memory");
        exit(EXIT_FAILED);
    }
    list_series(run, workload, list);
    progress_clear();
    fprintf(run->out, "\n%s: %s", workload_name(workload), workload_text(workload));
    if (workload_has_queries(workload))
        fprintf(run->out, " (%s queries)", text_count(queries, run->n_queries));
    fprintf(run->out, "\n");
    table_head(&table);
    for (int s = 0; s < n; s++)
        run_series(run, &list[s], &table);
    for (int s = 0; s < n; s++) {
        if (!run->options->no_chart && (run->options->chart || isatty(fileno(run->out))))
            draw_series(run, list[s].rows);
        cJSON_Delete(list[s].peers);
    }
    free(list);
}

static void introduce_device(const struct run *run, const struct ordo_device_facts *facts)
{
    char copy[TEXT_BYTES], command[TEXT_BYTES], kernel[TEXT_BYTES], size[TEXT_BYTES];
    progress_clear();
    fprintf(run->out, "%s (%s, driver %s)\n", facts->name, facts->platform, facts->driver);
    fprintf(run->out, "copies its memory at %s GB/s, read and written (by command %s, by kernel %s; %s)\n",
            text_giga(copy, run->copy.bytes_per_second), text_giga(command, run->copy.by_command),
            text_giga(kernel, run->copy.by_kernel), text_bytes(size, (double) run->copy.bytes));
}

static void json_begin_device(struct run *run, const struct ordo_device_facts *facts)
{
    cJSON *device = json_device(facts), *copy = cJSON_AddObjectToObject(device, "copy");
    json_number(copy, "bytes_per_s", run->copy.bytes_per_second);
    json_number(copy, "by_command", run->copy.by_command);
    json_number(copy, "by_kernel", run->copy.by_kernel);
    cJSON_AddNumberToObject(copy, "bytes", (double) run->copy.bytes);

    cJSON                   *tunables = cJSON_AddObjectToObject(device, "tunables");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(run->device, i, &info) == ORDO_OK; i++)
        cJSON_AddNumberToObject(tunables, info.name, info.value);
    cJSON_AddItemToArray(run->devices, device);
}

static void use_default_sizes(struct run *run, bool cpu)
{
    static const size_t on_gpu[] = { 1 << 16, 1 << 20, 1 << 24 }, on_cpu[] = { 1 << 12, 1 << 16, 1 << 20 };
    run->sizes = run->options->n_sizes ? run->options->sizes : cpu ? on_cpu : on_gpu;
    run->n_sizes = run->options->n_sizes ? run->options->n_sizes : 3;
    run->n_queries = run->options->n_queries ? run->options->n_queries : (size_t) 1 << (cpu ? 20 : 24);
}

static void run_device(struct run *run)
{
    const struct ordo_device_facts *facts = ordo_device_facts(run->device);
    use_default_sizes(run, facts->cpu);
    run->rows_left = 0;
    for (int w = 0; w < run->options->n_workloads; w++)
        run->rows_left += list_series(run, (enum workload) run->options->workloads[w], NULL) * run->n_sizes;

    progress("measuring how fast %s copies", facts->name);
    if (measure_copy_rate(run->device, &run->copy) != ORDO_OK) {
        complain("cannot measure how fast %s copies its memory", facts->name);
        run->copy.bytes_per_second = NAN;
    }
    introduce_device(run, facts);
    json_begin_device(run, facts);
    for (int w = 0; w < run->options->n_workloads; w++)
        run_workload(run, (enum workload) run->options->workloads[w]);
}

/* ---- the program --------------------------------------------------------------------------------------------- */

static void print_list(void)
{
    char selected[MOST_SELECTED][SELECT_BYTES];
    printf("Workloads and their variants:\n");
    for (int w = 0; w < N_WORKLOADS; w++) {
        printf("  %-10s  %s\n", workload_any(w), workload_text((enum workload) w));
        for (int v = 0; variant_name((enum workload) w, v) && variant_name((enum workload) w, 1); v++)
            printf("  %-10s    %s\n", "", variant_name((enum workload) w, v));
    }
    const int n = select_devices("all", selected);
    printf("Devices (ordo-info says more):%s\n", n ? "" : " none");
    for (int i = 0; i < n; i++) {
        ordo_device *device = NULL;
        if (ordo_device_open(&(struct ordo_device_config) { .select = selected[i], .no_self_test = true }, &device) ==
            ORDO_OK)
            printf("  %s  %s\n", selected[i], ordo_device_facts(device)->name);
        ordo_device_close(&device);
    }
}

static void conclude(const struct run *run)
{
    fprintf(
        run->out,
        "\n"
        "rate    elements (of searches: queries) a second by the wall clock, the median of the repetitions\n"
        "+-      half the way from their 10th to their 90th percentile\n"
        "device  the time of a call on the device's own clock\n"
        "GB/s    10^9 bytes a second, counting those that have to move at least; copy: as a share of the copy rate\n"
        "/ x     this rate over that of x on one thread of the host%s\n"
        "check   whether all of the output was right\n",
        run->peer_program ? "; peer: CUB or Thrust on this device" : "");
    if (run->slower)
        fprintf(run->out, "%d rows are more than 5 %% slower than in %s.\n", run->slower, run->options->compare);
    if (run->skipped)
        fprintf(run->out, "%d rows were skipped: the budget was spent.\n", run->skipped);
    if (run->wrong)
        fprintf(run->out, "%d rows are WRONG.\n", run->wrong);
    if (run->failed)
        fprintf(run->out, "%d rows failed.\n", run->failed);
}

static int save_json(const struct run *run)
{
    char why[512];
    if (!run->options->json || json_write(run->options->json, run->json, why, sizeof why))
        return EXIT_GOOD;
    complain("%s", why);
    return EXIT_FAILED;
}

static int run_all(struct run *run)
{
    char selected[MOST_SELECTED][SELECT_BYTES];
    int  n = select_devices(run->options->device, selected), code = EXIT_GOOD;
    if (n == 0) {
        complain("there is no OpenCL device; ordo-info says what would bring one");
        return EXIT_FAILED;
    }
    const double whole = run->options->budget / n;
    for (int i = 0; i < n; i++) {
        progress("opening the device");
        run->device = open_device(selected[i]);
        if (!run->device) {
            code = EXIT_FAILED;
            continue;
        }
        run->deadline = run->options->budget > 0 ? now() + whole : (double) INFINITY;
        if (cJSON_GetArraySize(run->devices))
            fprintf(run->out, "\n");
        run->device_number = cJSON_GetArraySize(run->devices);
        run_device(run);
        ordo_device_close(&run->device);
    }
    if (cJSON_GetArraySize(run->devices))
        conclude(run);
    if (save_json(run) != EXIT_GOOD || run->wrong || run->failed)
        code = EXIT_FAILED;
    return code;
}

int main(int argc, char **argv)
{
    tool_name("ordo-bench");
    const struct options options = read_options(argc, argv);
    if (options.list) {
        print_list();
        return EXIT_GOOD;
    }

    struct run run = { .options = &options, .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout };
    char       why[512] = "";
    if (options.compare)
        run.before = read_former(options.compare);
    if (options.peers && !(run.peer_program = peer_program(why, sizeof why)))
        usage_error("--peers: %s", why);
    run.json = json_head("ordo-bench", argc, argv);
    run.devices = cJSON_AddArrayToObject(run.json, "devices");
    run.rows = cJSON_AddArrayToObject(run.json, "rows");

    const int code = run_all(&run);
    cJSON_Delete(run.json);
    cJSON_Delete(run.before);
    free(run.peer_program);
    return code;
}
