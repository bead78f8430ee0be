/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_options.h"

#include "report.h"

#include <getopt.h>
#include <stdlib.h>

/* After the workloads, two names for many of them. */
#define N_WORKLOAD_NAMES (N_ALL_WORKLOADS + 2)
static const char *workload_any(int i)
{
    return i == N_ALL_WORKLOADS ? "arrays" : i > N_ALL_WORKLOADS ? "dicts" : workload_name((enum workload) i);
}
static const char *type_any(int i)
{
    return type_name((ordo_type) i);
}
static const char *dist_any(int i)
{
    return dist_name((enum dist) i);
}
/* Those of arrays, then the structures. */
#define N_ARRAY_VARIANTS 7
const char *variant_any(int i)
{
    if (i >= N_ARRAY_VARIANTS)
        return variant_name(FILLRANDOM, i - N_ARRAY_VARIANTS);
    return i < 3 ? variant_name(MERGE_RUNS, i) : variant_name(SEARCH, i - 3);
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

static const char *percent_any(int i)
{
    static const char *const names[] = { "0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100" };
    return names[i];
}

static void print_help(void)
{
    printf(
        "Usage: ordo-bench [OPTION]...\n"
        "Measures sorting, merging, scanning, searching and dictionaries on OpenCL devices, and checks every result.\n"
        "\n"
        "What to measure (lists are separated by commas):\n"
        "  -w, --workload LIST     of sort, merge, merge_runs, scan, reduce, compact, search, lookup (arrays);\n"
        "                          fillrandom, fillseq, overwrite, deleterandom, insertrandom, readrandom, "
        "readmissing,\n"
        "                          seekrandom, countrandom, rangerandom, concurrentread, readwhilewriting, mixed,\n"
        "                          cleanup, concurrentfill, concurrentinsert, concurrentmix (dicts) (default: all)\n"
        "      --variant LIST      of 4-runs, 8-runs, 16-runs; random, sorted, random+index, sorted+index (all)\n"
        "  -n, --sizes LIST        numbers of elements: 12 means 2^12, 12..27 every power between, =1000 just that\n"
        "                          (default: 16,20,24; on a CPU 12,16,20)\n"
        "  -t, --types LIST        of u32, u64, i32, i64, f32, f64 (u32)\n"
        "  -v, --value-bytes LIST  of 0, 4, 8 (4); scan, reduce and search have no values\n"
        "  -D, --dist LIST         of uniform, few, sorted, reverse, zipf, sequential, clustered (uniform); of\n"
        "                          dictionaries also which keys are asked for: zipf some more often, sorted,\n"
        "                          reverse and sequential in order\n"
        "  -q, --queries N         queries of a search, lookup, read, seek, count or range, written like a size\n"
        "                          (24; on a CPU 20)\n"
        "  -d, --device LIST       0:1, gpu, cpu, part of a name, or all (ORDO_DEVICE, else the first GPU)\n"
        "      --seed N            of the random inputs (1)\n"
        "\n"
        "Dictionaries only:\n"
        "  -s, --structure LIST    of sorted_array, lsm, blink (all)\n"
        "      --batch LIST        elements of an update, written like sizes (a sixteenth of the size)\n"
        "      --hit-rate PERCENT  how many of the keys to find are there (100)\n"
        "      --erase PERCENT     how many elements deleterandom erases (100)\n"
        "      --updates LIST      of 0, 10, 20 to 100: of a concurrentmix, how many percent are updates (20,60,100)\n"
        "      --width N           elements that a count or range finds, in the mean (8)\n"
        "      --fills N           queries are timed after so many numbers of batches, spread over all (16); 1: after "
        "all\n"
        "      --growth N          of the LSM (its default)\n"
        "\n"
        "How long:\n"
        "  -r, --reps N            repetitions at most (20); three at least\n"
        "  -b, --budget SECONDS    for everything; rows that no longer fit are named and skipped (none)\n"
        "\n"
        "Beside it:\n"
        "      --peers             CUB and Thrust on the same device, and a GPU LSM made of CUB's calls (needs "
        "ordo-peer,\n"
        "                          built where there is nvcc)\n"
        "      --no-host           leave out the plain host code\n"
        "      --no-array          leave out the sorted array beside queries of other structures\n"
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
        "  ordo-bench -w fillrandom,readrandom -s lsm -n 24 --batch 16,18,20\n"
        "  ordo-bench -w concurrentfill,concurrentmix -s blink -n 20,24 --updates 20,100\n"
        "  ordo-bench --budget 60 --json new.json --compare old.json\n"
        "\n"
        "Exit status: 0; 1 if a result was wrong or a call failed; 2 for bad arguments.\n");
}

static int names_option(const char *option, const char *text, const char *(*name)(int), int n_names, int *chosen)
{
    char      why[1024];
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

static void updates_option(struct options *o, const char *text)
{
    int chosen[MOST_NAMES];
    o->n_updates = names_option("--updates", text, percent_any, 11, chosen);
    for (int i = 0; i < o->n_updates; i++)
        o->update_percents[i] = (uint32_t) chosen[i] * 10;
}

static void choose_workload(struct options *o, int workload)
{
    if (o->n_workloads < MOST_NAMES)
        o->workloads[o->n_workloads++] = workload;
}

/* One workload, or all of arrays or of dictionaries. */
static void choose_workloads(struct options *o, int name)
{
    if (name < N_ALL_WORKLOADS) {
        choose_workload(o, name);
        return;
    }
    const int from = name == N_ALL_WORKLOADS ? 0 : N_WORKLOADS;
    const int to = name == N_ALL_WORKLOADS ? N_WORKLOADS : N_ALL_WORKLOADS;
    for (int w = from; w < to; w++)
        choose_workload(o, w);
}

static void workloads_option(struct options *o, const char *text)
{
    int       chosen[MOST_NAMES];
    const int n = names_option("--workload", text, workload_any, N_WORKLOAD_NAMES, chosen);
    o->n_workloads = 0;
    for (int i = 0; i < n; i++)
        choose_workloads(o, chosen[i]);
}

/* --variant and --structure add to one list. */
static void variants_option(struct options *o, const char *option, const char *text, const char *(*name)(int), int n,
                            int first)
{
    int       chosen[MOST_NAMES];
    const int n_chosen = names_option(option, text, name, n, chosen);
    for (int i = 0; i < n_chosen && o->n_variants < MOST_NAMES; i++)
        o->variants[o->n_variants++] = first + chosen[i];
}

enum {
    OPT_VARIANT = 256,
    OPT_BATCH,
    OPT_HIT_RATE,
    OPT_ERASE,
    OPT_UPDATES,
    OPT_WIDTH,
    OPT_FILLS,
    OPT_GROWTH,
    OPT_SEED,
    OPT_PEERS,
    OPT_NO_HOST,
    OPT_NO_ARRAY,
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
    { "structure", required_argument, NULL, 's' },
    { "batch", required_argument, NULL, OPT_BATCH },
    { "hit-rate", required_argument, NULL, OPT_HIT_RATE },
    { "erase", required_argument, NULL, OPT_ERASE },
    { "updates", required_argument, NULL, OPT_UPDATES },
    { "width", required_argument, NULL, OPT_WIDTH },
    { "fills", required_argument, NULL, OPT_FILLS },
    { "growth", required_argument, NULL, OPT_GROWTH },
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
    { "no-array", no_argument, NULL, OPT_NO_ARRAY },
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
        workloads_option(o, optarg);
        break;
    case OPT_VARIANT:
        variants_option(o, "--variant", optarg, variant_any, N_ARRAY_VARIANTS, 0);
        break;
    case 's':
        variants_option(o, "--structure", optarg, structure_any, N_STRUCTURES, N_ARRAY_VARIANTS);
        break;
    case OPT_BATCH:
        o->n_batches = sizes_option("--batch", optarg, o->batches, MOST_SIZES);
        break;
    case OPT_HIT_RATE:
        o->hit_percent = (uint32_t) option_number("--hit-rate", optarg, 0, 100);
        break;
    case OPT_ERASE:
        o->erase_percent = (uint32_t) option_number("--erase", optarg, 1, 100);
        break;
    case OPT_UPDATES:
        updates_option(o, optarg);
        break;
    case OPT_WIDTH:
        o->width = (uint32_t) option_number("--width", optarg, 1, 1 << 20);
        break;
    case OPT_FILLS:
        o->fills = (uint32_t) option_number("--fills", optarg, 1, 64);
        break;
    case OPT_GROWTH:
        o->growth = (uint32_t) option_number("--growth", optarg, 2, 16);
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
    case OPT_NO_ARRAY:
        o->no_array = true;
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
                         .hit_percent = 100,
                         .erase_percent = 100,
                         .n_updates = 3,
                         .update_percents = { 20, 60, 100 },
                         .width = 8,
                         .fills = 16 };
    choose_workloads(&o, N_ALL_WORKLOADS);
    choose_workloads(&o, N_ALL_WORKLOADS + 1);
    for (int option; (option = getopt_long(argc, argv, "w:s:n:t:v:D:q:d:r:b:h", long_options, NULL)) != -1;)
        take_option(&o, option);
    if (optind < argc)
        usage_error("'%s' is no option; everything is said by options", argv[optind]);
    return o;
}
