/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/options.h"
#include "bench/workload/key_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names for groups of workloads, and measurements in processes of their own. */
enum {
    ALL_ARRAYS = N_ALL_WORKLOADS,
    ALL_DICTS,
    ALL_PREFIXES,
    ALL_HOST,
    ALL_STRINGS,
    FIRST_OPEN,
    FIRST_PREPARE,
    N_WORKLOAD_NAMES
};
static const char *workload_any(int i)
{
    static const char *const more[] = { "arrays", "dicts", "prefix", "host", "strings", "open", "prepare" };
    return i >= N_ALL_WORKLOADS ? more[i - N_ALL_WORKLOADS] : workload_name((enum workload) i);
}
/* Array variants, each name once, then structures. */
#define N_ARRAY_VARIANTS 22
const char *variant_any(int i)
{
    static const struct {
        enum workload workload;
        int           variant;
    } named[N_ARRAY_VARIANTS] = { { MERGE_RUNS, 0 },  { MERGE_RUNS, 1 },  { MERGE_RUNS, 2 },  { SEARCH, 0 },
                                  { SEARCH, 1 },      { SEARCH, 2 },      { SEARCH, 3 },      { SEARCH, 4 },
                                  { SEARCH, 5 },      { SEARCH, 6 },      { GROUPBY, 0 },     { TOP, 0 },
                                  { TOP, 1 },         { GATHER, 0 },      { GATHER, 1 },      { GATHER, 2 },
                                  { SORTSTRINGS, 1 }, { SORTSTRINGS, 2 }, { SORTSTRINGS, 3 }, { SORTSTRINGS, 4 },
                                  { SORTSTRINGS, 5 }, { SORTSTRINGS, 6 } };
    if (i >= N_ARRAY_VARIANTS)
        return variant_name(FILLRANDOM, i - N_ARRAY_VARIANTS);
    return variant_name(named[i].workload, named[i].variant);
}
static const char *structure_any(int i)
{
    return variant_any(N_ARRAY_VARIANTS + i);
}
static const char *value_bytes_any(int i)
{
    return ((const char *[]) { "0", "4", "8" })[i];
}

static const char *const help[] = {
#include "bench_help.h"
};

static void take_power(void *options, const struct option_row *row, const char *text)
{
    const uint32_t *number = (const uint32_t *) ((char *) options + row->at);
    take_uint32(options, row, text);
    if (*number & (*number - 1))
        usage_error("%s: %u is not a power of two", row->name, *number);
}

static int take_names(const struct option_row *row, const char *text, const char *(*name)(int), int names, int *chosen)
{
    char      why[WHY_BYTES];
    const int n = parse_names(text, name, names, chosen, NAMES_MAX, why);
    if (n < 0)
        usage_error("%s: %s", row->name, why);
    return n;
}

/* One list of sizes, `high` at most. */
static void take_sizes(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    size_t         *sizes = (size_t *) ((char *) options + row->at);
    char            why[WHY_BYTES];
    const int       n = parse_sizes(text, sizes, (int) row->high, why);
    if (n < 0)
        usage_error("%s: %s", row->name, why);
    if (sizes == o->sizes)
        o->n_sizes = n;
    else if (sizes == o->batches)
        o->n_batches = n;
}

/* Adds one workload, or each workload of a group. */
static void choose_workloads(struct options *o, int name)
{
    o->first_open = o->first_open || name == FIRST_OPEN;
    o->first_prepare = o->first_prepare || name == FIRST_PREPARE;
    for (int i = 0; i < N_ALL_WORKLOADS && o->n_workloads < NAMES_MAX; i++) {
        const enum workload w = (enum workload) i;
        const bool          dict = workload_is_dict(w), strings = workload_is_strings(w);
        if (name == i || (name == ALL_ARRAYS && !dict && !strings) || (name == ALL_DICTS && dict) ||
            (name == ALL_STRINGS && strings) || (name == ALL_PREFIXES && workload_asks_prefixes(w)) ||
            (name == ALL_HOST && workload_is_host(w)))
            o->workloads[o->n_workloads++] = i;
    }
}

static void take_workloads(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    int             chosen[NAMES_MAX];
    const int       n = take_names(row, text, workload_any, N_WORKLOAD_NAMES, chosen);
    o->n_workloads = 0;
    for (int i = 0; i < n; i++)
        choose_workloads(o, chosen[i]);
}

/* --variant and --structure add to one list; `low` is the first of the names. */
static void take_variants(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    const int       first = (int) row->low, names = (int) row->high - first;
    int             chosen[NAMES_MAX];
    const int       n = take_names(row, text, first ? structure_any : variant_any, names, chosen);
    for (int i = 0; i < n && o->n_variants < NAMES_MAX; i++)
        o->variants[o->n_variants++] = first + chosen[i];
}

static void take_types(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    o->n_types = take_names(row, text, type_name, N_TYPES, o->types);
}

static void take_dists(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    o->n_dists = take_names(row, text, dist_name, N_DISTS, o->dists);
}

static void take_value_bytes(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    int             chosen[NAMES_MAX];
    o->n_value_bytes = take_names(row, text, value_bytes_any, 3, chosen);
    o->n_value_bytes = o->n_value_bytes > 3 ? 3 : o->n_value_bytes;
    for (int i = 0; i < o->n_value_bytes; i++)
        o->value_bytes[i] = (uint32_t) chosen[i] * 4;
}

static void take_updates(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    char            percent[8];
    o->n_updates = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(percent, sizeof percent, "%.*s", (int) length, at);
        take_uint32(options, row, percent);
        if (o->n_updates < NAMES_MAX)
            o->update_percents[o->n_updates++] = o->update_percent;
        at += length;
        if (!*at)
            return;
    }
}

static void take_compare(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    if (o->n_compare == 64)
        usage_error("%s: more than 64 files", row->name);
    o->compare[o->n_compare++] = text;
}

static void take_wide(void *options, const struct option_row *row, const char *text)
{
    (void) options, (void) row, (void) text;
    show_wide();
}

#define AT(name) offsetof(struct options, name)
#define WITH     true
#define WITHOUT  false
#define TAKE(high, traits)                                                                                             \
    ((traits) &AXIS_LIST ? take_updates : (traits) &AXIS_POWER ? take_power : (high) != 0 ? take_uint32 : take_one)
static const struct option_row rows[] = {
#define X(member, option, key, low, high, initial, has, traits)                                                        \
    { option, 0, (high) != 0 ? WITH : WITHOUT, TAKE(high, traits), true, AT(member), low, high },
    AXIS_MAP(X)
#undef X
        { "--workload", 'w', WITH, take_workloads, true, 0, 0, 0 },
    { "--variant", 0, WITH, take_variants, true, 0, 0, N_ARRAY_VARIANTS },
    { "--structure", 's', WITH, take_variants, true, 0, N_ARRAY_VARIANTS, N_ARRAY_VARIANTS + N_VARIANTS },
    { "--batch", 0, WITH, take_sizes, true, AT(batches), 0, SIZES_MAX },
    { "--full", 0, WITHOUT, take_flag, true, AT(full), 0, 0 },
    { "--sizes", 'n', WITH, take_sizes, true, AT(sizes), 0, SIZES_MAX },
    { "--types", 't', WITH, take_types, true, 0, 0, 0 },
    { "--value-bytes", 'v', WITH, take_value_bytes, true, 0, 0, 0 },
    { "--dist", 'D', WITH, take_dists, true, 0, 0, 0 },
    { "--queries", 'q', WITH, take_sizes, true, AT(n_queries), 0, 1 },
    { "--keys", 0, WITH, take_text, true, AT(keys), 0, 0 },
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
    { "--beside", 0, WITH, take_text, false, AT(beside), 0, 0 },
    { "--slower-by", 0, WITH, take_double, false, AT(slower_by), 0.1, 90 },
    { "--processes", 0, WITH, take_uint32, false, AT(processes), 1, 32 },
    { "--json", 0, WITH, take_json, false, AT(json), 0, 0 },
    { "--resume", 0, WITH, take_text, false, AT(resume), 0, 0 },
    { "--chart", 0, WITHOUT, take_flag, false, AT(chart), 0, 0 },
    { "--no-chart", 0, WITHOUT, take_flag, false, AT(no_chart), 0, 0 },
    { "--wide", 0, WITHOUT, take_wide, false, 0, 0, 0 },
    { "--list", 0, WITHOUT, take_flag, false, AT(list), 0, 0 },
    { "--describe", 0, WITHOUT, take_flag, false, AT(describe), 0, 0 },
};
static const struct option_table table = { rows, sizeof rows / sizeof *rows, help };

static bool is_command(int argc, char **argv, const char *name)
{
    return argc > 1 && strcmp(argv[1], name) == 0;
}

/* The number of words of the command: "suite", "compare", "paper NAME". */
static int command_words(int argc, char **argv)
{
    if (is_command(argc, argv, "paper"))
        return argc > 2 && argv[2][0] != '-' ? 2 : 1;
    return is_command(argc, argv, "suite") || is_command(argc, argv, "compare");
}

int repeat_options(int argc, char **argv, bool how, const char *const *without, const char **out)
{
    const int command = command_words(argc, argv);
    return list_options(&table, argc - command, argv + command, how, without, out);
}

/* Options of a process that continues a file. */
static const char *const with_resume[] = { "--resume", "--budget", "--wide", "--chart", "--no-chart", NULL };

struct options resume_options(const char *path, int *argc, char ***argv)
{
    static const char *const without[] = { "--json", NULL };
    static cJSON            *arguments; /* stays, as the words do */
    static const char      **all;
    cJSON                   *argument = NULL;
    arguments = file_arguments(path);
    const int    n_old = cJSON_GetArraySize(arguments);
    const char **old = calloc((size_t) n_old + 1, sizeof *old);
    int          n = 1, words = 1;
    all = calloc(2 * (size_t) (n_old + *argc), sizeof *all);
    if (!old || !all)
        usage_error("out of memory");
    if (command_words(*argc, *argv) || repeat_options(*argc, *argv, false, with_resume, all))
        usage_error("%s: the file has the options; with --resume use only --budget, --wide, --chart and --no-chart",
                    *all ? *all : (*argv)[1]);
    old[0] = all[0] = **argv;
    cJSON_ArrayForEach(argument, arguments)
        if (cJSON_IsString(argument))
            old[n++] = argument->valuestring;
    for (; words <= command_words(n, (char **) old); words++)
        all[words] = old[words];
    words += repeat_options(n, (char **) old, false, without, all + words);
    for (int i = command_words(n, (char **) old) + optind; i < n; i++) /* files of --compare */
        all[words++] = old[i];
    words += repeat_options(*argc, *argv, false, NULL, all + words);
    free(old);
    *argc = words;
    *argv = (char **) all;
    return read_options(words, *argv);
}

/* Exits unless the file has enough keys. Takes all of them unless sizes are given. */
static void check_sizes(struct options *o, size_t count, const char *what)
{
    for (int i = 0; i < o->n_sizes; i++)
        if (o->sizes[i] > count)
            usage_error("--keys: %s has %zu %s, fewer than the %zu of --sizes", o->keys, count, what, o->sizes[i]);
    if (o->n_sizes == 0)
        o->sizes[o->n_sizes++] = count;
}

/* Reads lines once. They stay, as the arguments do. */
static void read_lines(struct options *o)
{
    static struct string_lines *lines;
    char                        why[WHY_BYTES] = "";
    if (lines)
        lines_free(lines);
    o->lines = lines = lines_read(o->keys, why);
    if (!lines)
        usage_error("--keys: %s", why);
    for (int w = 0; w < o->n_workloads; w++)
        if (!workload_is_strings((enum workload) o->workloads[w]))
            usage_error("--keys: %s has no strings; use -w strings", workload_name((enum workload) o->workloads[w]));
    check_sizes(o, lines->count, "lines");
}

/* Reads numbers once. They stay, as the arguments do. */
static void read_numbers(struct options *o)
{
    static struct number_file *numbers;
    const size_t               bytes = type_bytes((ordo_type) o->types[0]);
    char                       why[WHY_BYTES] = "";
    for (int w = 0; w < o->n_workloads; w++)
        if (!workload_takes_numbers((enum workload) o->workloads[w]))
            usage_error("--keys: %s takes no keys of a file", workload_name((enum workload) o->workloads[w]));
    if (o->n_types != 1)
        usage_error("--keys: a file has keys of one type; see --types");
    if (numbers)
        numbers_free(numbers);
    o->numbers = numbers = numbers_read(o->keys, why);
    if (!numbers)
        usage_error("--keys: %s", why);
    if (numbers->n_bytes % bytes != 0)
        usage_error("--keys: %s has %zu bytes, which are not whole keys of type %s", o->keys, numbers->n_bytes,
                    type_name(o->types[0]));
    o->n_dists = 1;
    o->dists[0] = KEYS_FILE;
    check_sizes(o, numbers->n_bytes / bytes, "keys");
}

static void read_keys(struct options *o)
{
    bool strings = o->n_workloads == 0;
    for (int w = 0; w < o->n_workloads; w++)
        strings |= workload_is_strings((enum workload) o->workloads[w]);
    if (strings)
        read_lines(o);
    else
        read_numbers(o);
}

static void check_dists(const struct options *o)
{
    for (int d = 0; d < o->n_dists; d++) {
        const enum dist dist = (enum dist) o->dists[d];
        bool            fits = false;
        for (int i = 0; i < o->n_types; i++)
            fits |= type_bytes((ordo_type) o->types[i]) >= dist_key_bytes(dist);
        if (!fits)
            usage_error("--dist: %s needs keys of at least %zu bytes; see --types", dist_name(dist),
                        dist_key_bytes(dist));
    }
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
    const int command = command_words(argc, argv);
    o.suite = is_command(argc, argv, "suite");
    o.side_by_side = is_command(argc, argv, "compare");
    choose_workloads(&o, o.side_by_side ? (int) READRANDOM : ALL_ARRAYS);
    if (o.side_by_side) { /* queries after all batches, as peers run them */
        o.fills = 1;
        o.no_array = true; /* it has a row */
    } else {
        choose_workloads(&o, ALL_DICTS);
        choose_workloads(&o, ALL_STRINGS);
    }
    int next = take_options(&table, argc - command, argv + command, &o);
    if (is_command(argc, argv, "paper") && command < 2)
        usage_error("paper: a name is missing: ordo-bench paper NAME");
    o.paper = command == 2 ? argv[2] : NULL;
    argc -= command;
    argv += command;
    while (next < argc && o.n_compare) /* --compare old*.json */
        take_compare(&o, &(struct option_row) { .name = "--compare" }, argv[next++]);
    if (next < argc)
        usage_error("unexpected argument '%s'", argv[next]);
    if (o.n_compare && o.against)
        usage_error("--compare and --against cannot be used together");
    if (o.slower_by > 0 && !o.n_compare && !o.against)
        usage_error("--slower-by needs --compare or --against");
    if (o.side_by_side && (o.processes > 1 || o.n_compare || o.against))
        usage_error("compare: structures and peers are compared in one process; with other builds and files what is "
                    "measured without it");
    if (o.side_by_side && (o.fills != 1 || o.first_calls))
        usage_error("compare: --fills and --first-calls cannot be used: queries are timed after all batches");
    if (o.side_by_side && (o.first_open || o.first_prepare))
        usage_error("compare: open and prepare have no peers");
    check_dists(&o);
    if (o.keys && !o.suite && !o.paper)
        read_keys(&o);
    if (o.n_compare || o.against) /* all processes do the same */
        o.no_host = o.no_array = true;
    if (o.processes == 0)
        o.processes = o.n_compare || o.against ? 5 : 1;
    o.budget /= o.processes * (o.against ? 2.0 : 1);
    return o;
}

struct options options_of(const char *program, const char *const *how, int n_how, const char *text)
{
    static cJSON *kept;
    cJSON        *copy = cJSON_CreateString(text);
    const char  **argv = calloc((size_t) n_how + strlen(text) / 2 + 3, sizeof *argv);
    int           n = 1;
    kept = kept ? kept : cJSON_CreateArray();
    if (!argv || !cJSON_AddItemToArray(kept, copy))
        usage_error("out of memory");
    argv[0] = program;
    for (int i = 0; i < n_how; i++)
        argv[n++] = how[i];
    for (char *rest = NULL, *word = strtok_r(copy->valuestring, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    const struct options options = read_options(n, (char **) argv);
    free(argv);
    return options;
}

/* Options of each part of the suite, and sizes on a GPU and on a CPU ("": none). */
struct part {
    const char *words, *gpu, *cpu;
};

static const struct part suite[] = {
    /* Arrays: sizes, types, values, distributions. */
    { "-w sort,merge,scan,reduce,compact", "12,16,20,24,27", "12,16,20,22" },
    { "-w search,lookup --variant random+index,random,sorted", "12,16,20,24,27", "12,16,20" },
    { "-w sort -v 0,8 --no-host", "20,24", "20" },
    { "-w sort,merge -t u64 -v 0,4,8 --no-host", "16,20,24,26", "16,20" },
    { "-w sort,lookup --variant random+index -D clustered,zipf --no-host", "24", "20" },
    { "-w merge_runs --variant 8-runs --no-host", "20,24", "20" },
    /* Dictionaries: updates over the batch, queries over the size and over fills. */
    { "-w fillrandom --batch 18,20,22 --no-host", "24", "" },
    { "-w fillrandom --batch 10,12,14,16 --no-host", "20", "" },
    { "-w fillrandom --batch 14,16,18", "", "18" },
    { "-w fillrandom --batch 8,10,12", "", "14" },
    { "-w readrandom --fills 4 -q 22", "20,24,26", "" },
    { "-w readmissing,seekrandom,countrandom,rangerandom --fills 4 -q 20", "20,24", "" },
    { "-w readrandom --fills 4 -q 16", "", "16,18,20" },
    { "-w readmissing,seekrandom,countrandom,rangerandom --fills 4 -q 16", "", "18" },
    { "-w readrandom -D clustered,zipf --fills 1 --no-host -q 20", "24", "18" },
    { "-w prefix -s xfast --fills 1 --no-host -q 20", "20", "" },
    { "-w prefix -s xfast --fills 1 --no-host -q 14", "", "14" },
    { "-w overwrite,deleterandom,mixed,readwhilewriting --no-host", "22", "16" },
    { "-w cleanup,compactall --no-host", "22", "16" },
    { "-w concurrentfill,concurrentread,concurrentmix --fills 1 --batch 20 -q 20 --no-host", "24", "" },
    { "-w concurrentfill,concurrentread,concurrentmix --fills 1 --batch 14 -q 14 --no-host", "", "16" },
    /* End to end, with arrays in host memory. */
    { "-w hostsort --no-host", "16,20,24,27", "12,16,20" },
    { "-w hostbuild,hostexport -s sorted_array,lsm,hash --no-host", "20,24", "16" },
    { "-w hostread -s sorted_array,lsm,hash --fills 1 --no-host --no-array -q 20", "20,24", "" },
    { "-w hostread -s sorted_array,lsm,hash --fills 1 --no-host --no-array -q 16", "", "16" },
    { "-w hostinsert -s sorted_array,lsm,blink,hash --batch =1,10,20 --no-host", "20", "" },
    { "-w hostinsert -s sorted_array,lsm,blink,hash --batch =1,10,14 --no-host", "", "16" },
    /* Latency: small batches. */
    { "-w insertrandom --batch =1,=32,10,15,20 --no-host", "20", "16" },
    { "-w readrandom --fills 1 -q =1 --no-host --no-array", "20", "16" },
    { "-w readrandom --fills 1 -q =1000 --no-host --no-array", "20", "16" },
    /* Other keys and values, with kernels of their own. */
    { "-w fillrandom,readrandom -v 0,8 --fills 1 --no-host -q 20", "24", "18" },
    { "-w fillrandom,readrandom -t u64 -v 4,8 --fills 1 --no-host -q 20", "24", "18" },
    /* First use with empty and filled caches; first_measure reads the options of the last part. */
    { "-w open", "20", "16" },
};

int suite_parts(int argc, char **argv, bool cpu, struct options parts[SUITE_PARTS_MAX])
{
    const char **how = calloc((size_t) argc * 2 + 1, sizeof *how);
    int          n = 0;
    if (!how)
        usage_error("out of memory");
    const int n_all = repeat_options(argc, argv, false, NULL, how);
    const int n_how = repeat_options(argc, argv, true, NULL, how);
    if (n_how < n_all)
        usage_error("'suite' selects the measurements itself: use no options that select them");
    for (size_t p = 0; p < sizeof suite / sizeof *suite && n < SUITE_PARTS_MAX; p++) {
        const char *sizes = cpu ? suite[p].cpu : suite[p].gpu;
        if (*sizes) {
            char text[400];
            snprintf(text, sizeof text, "%s --sizes %s", suite[p].words, sizes);
            parts[n++] = options_of(argv[0], how, n_how, text);
        }
    }
    free(how);
    return n;
}
