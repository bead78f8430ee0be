/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-tune: finds faster tunables for a device by trying them, within a budget of time, and keeps what is both right
 * and faster in the user's profile.
 *
 * Tunables that work together ("sort.k4v4.*") form a group. A group's search goes tunable by tunable, nearest values
 * first, then over pairs of a group's size and its items, until nothing is better or the time is over. A candidate is
 * checked before it is timed, must be 2 % faster to be taken, and must be so twice. */
#include "bench/common/devices.h"
#include "bench/common/report.h"
#include "bench/common/timing.h"
#include "bench/measure/subject.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a candidate must save to be worth another set of values. */
#define WORTH_IT 0.98
/* A first trial that is so much slower ends a candidate without the others. */
#define HOPELESS 1.4

/* ---- options ------------------------------------------------------------------------------------------------- */

#define MOST_NAMES 16

struct options {
    const char *device, *json;
    double      budget;
    int         primitives[MOST_NAMES], n_primitives; /* none: all */
    int         shapes[MOST_NAMES], n_shapes;
    bool        dry_run, row;
};

static const char *const primitive_names[] = { "sort", "search", "merge", "scan", "merge_runs" };
#define N_PRIMITIVES 5
static const char *const shape_names[] = { "k4v4", "k4v0", "k8v4", "k8v8", "k4v8", "k8v0" };
#define N_SHAPES 6

static const char *primitive_any(int i)
{
    return primitive_names[i];
}
static const char *shape_any(int i)
{
    return shape_names[i];
}

static const char *const help[] = {
#include "tune_help.h"
};

enum { OPT_DRY_RUN = 256, OPT_ROW, OPT_JSON, OPT_VERSION };

static int names_option(const char *option, const char *text, const char *(*name)(int), int n_names, int *chosen)
{
    char      why[512];
    const int n = parse_names(text, name, n_names, chosen, MOST_NAMES, why, sizeof why);
    if (n < 0)
        usage_error("%s: %s", option, why);
    return n;
}

static void take_option(struct options *o, int option)
{
    switch (option) {
    case 'd':
        o->device = optarg;
        break;
    case 'b':
        o->budget = option_number("--budget", optarg, 0.1, 1e6);
        break;
    case 'p':
        o->n_primitives = names_option("--primitives", optarg, primitive_any, N_PRIMITIVES, o->primitives);
        break;
    case 's':
        o->n_shapes = names_option("--shapes", optarg, shape_any, N_SHAPES, o->shapes);
        break;
    case OPT_DRY_RUN:
        o->dry_run = true;
        break;
    case OPT_ROW:
        o->row = true;
        break;
    case OPT_JSON:
        o->json = json_option(optarg);
        break;
    case 'h':
        print_lines(help);
        exit(EXIT_GOOD);
    case OPT_VERSION:
        print_version();
        exit(EXIT_GOOD);
    default: /* getopt has said what is wrong */
        fprintf(stderr, "Try 'ordo-tune --help'.\n");
        exit(EXIT_USAGE);
    }
}

static struct options read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "device", required_argument, NULL, 'd' },     { "budget", required_argument, NULL, 'b' },
        { "primitives", required_argument, NULL, 'p' }, { "shapes", required_argument, NULL, 's' },
        { "dry-run", no_argument, NULL, OPT_DRY_RUN },  { "row", no_argument, NULL, OPT_ROW },
        { "json", required_argument, NULL, OPT_JSON },  { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },  { NULL, 0, NULL, 0 },
    };
    struct options o = { .budget = 60 };
    for (int option; (option = getopt_long(argc, argv, "d:b:p:s:h", long_options, NULL)) != -1;)
        take_option(&o, option);
    if (optind < argc)
        usage_error("'%s' is no option", argv[optind]);
    return o;
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

#define MOST_GROUPS 32
#define MOST_PARAMS 12
#define MOST_TRIALS 8

struct param {
    char     name[48]; /* "sort.k4v4.items" */
    bool     small;    /* matters to small inputs only */
    uint32_t choice[16];
    uint32_t n_choices;
    int      at;     /* index of the value in use */
    int      before; /* ... at the beginning */
};

/* One workload of a fixed size on which a group is judged. */
struct trial {
    struct spec     spec;
    bool            small; /* the judge of params that are `small`; the others judge the rest */
    struct subject *subject;
    double          seconds;       /* of a call with the values in use */
    double          before, after; /* ... measured once more at the end, side by side */
};

struct group {
    char         name[24]; /* "sort.k4v4" */
    int          primitive, shape;
    struct param params[MOST_PARAMS];
    int          n_params;
    struct trial trials[MOST_TRIALS]; /* timed */
    int          n_trials;
    struct trial checks[MOST_TRIALS]; /* checked before a candidate is timed */
    int          n_checks;
    int          tried, dropped;
    double       seconds_trying;
    bool         started, finished, better;
};

struct tuner {
    const struct options *options;
    FILE                 *out;
    ordo_device          *device;
    bool                  cpu;
    double                deadline;       /* of the group at work */
    double                whole_deadline; /* of all */
    struct group         *groups;
    int                   n_groups;
    cJSON                *drops;
};

static size_t bytes_of(const char *shape, char letter)
{
    const char *at = strchr(shape, letter);
    return at ? (size_t) (at[1] - '0') : 0;
}

static bool is_wanted(const int *wanted, int n, int i)
{
    for (int k = 0; k < n; k++)
        if (wanted[k] == i)
            return true;
    return n == 0;
}

/* The place of a shape in the order of work: "k4v4" is 0; "k4", of tunables that are one for all values, is the first
 * of k4's. */
static int shape_number(const char *shape, size_t length)
{
    for (int s = 0; s < N_SHAPES; s++)
        if (strncmp(shape_names[s], shape, length) == 0)
            return s;
    return -1;
}

static struct group *group_named(struct tuner *tuner, const char *name, size_t length)
{
    for (int g = 0; g < tuner->n_groups; g++)
        if (strlen(tuner->groups[g].name) == length && strncmp(tuner->groups[g].name, name, length) == 0)
            return &tuner->groups[g];
    return NULL;
}

/* The group of a tunable, made when its first one comes; NULL if it is not wanted. */
static struct group *group_of(struct tuner *tuner, const char *tunable)
{
    const size_t before_shape = strcspn(tunable, "."),
                 length = before_shape + 1 + strcspn(tunable + before_shape + 1, ".");
    int primitive = -1;
    for (int p = 0; p < N_PRIMITIVES; p++)
        if (strlen(primitive_names[p]) == before_shape && strncmp(primitive_names[p], tunable, before_shape) == 0)
            primitive = p;
    const int shape = shape_number(tunable + before_shape + 1, length - before_shape - 1);
    if (primitive < 0 || shape < 0 || tunable[length] != '.' ||
        !is_wanted(tuner->options->primitives, tuner->options->n_primitives, primitive) ||
        !is_wanted(tuner->options->shapes, tuner->options->n_shapes, shape))
        return NULL;

    struct group *group = group_named(tuner, tunable, length);
    if (group || tuner->n_groups == MOST_GROUPS)
        return group;
    group = &tuner->groups[tuner->n_groups++];
    snprintf(group->name, sizeof group->name, "%.*s", (int) length, tunable);
    group->primitive = primitive;
    group->shape = shape;
    return group;
}

static void add_param(struct group *group, const struct ordo_tunable_info *info)
{
    if (group->n_params == MOST_PARAMS)
        return;
    struct param *param = &group->params[group->n_params++];
    snprintf(param->name, sizeof param->name, "%s", info->name);
    param->small = strstr(info->name, ".small_") != NULL;
    for (uint32_t c = 0; c < info->n_choices && c < 16; c++) {
        param->choice[param->n_choices++] = info->choice[c];
        if (info->choice[c] == info->value)
            param->at = param->before = (int) c;
    }
}

static int in_order_of_work(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    /* Every primitive once before any twice. */
    return x->shape != y->shape ? x->shape - y->shape : x->primitive - y->primitive;
}

static bool list_groups(struct tuner *tuner)
{
    struct ordo_tunable_info info;
    tuner->groups = calloc(MOST_GROUPS, sizeof *tuner->groups);
    for (size_t i = 0; tuner->groups && ordo_device_tunable(tuner->device, i, &info) == ORDO_OK; i++) {
        struct group *group = group_of(tuner, info.name);
        if (group)
            add_param(group, &info);
    }
    if (tuner->groups)
        qsort(tuner->groups, (size_t) tuner->n_groups, sizeof *tuner->groups, in_order_of_work);
    return tuner->groups && tuner->n_groups > 0;
}

/* ---- trials -------------------------------------------------------------------------------------------------- */

static void add_trial(struct trial *list, int *n, const struct group *group, enum workload workload, int variant,
                      size_t count, size_t n_queries, bool small)
{
    const char  *shape = strchr(group->name, '.') + 1;
    const size_t key = bytes_of(shape, 'k'), value = strchr(shape, 'v') ? bytes_of(shape, 'v') : 4;
    if (*n == MOST_TRIALS)
        return;
    list[(*n)++] = (struct trial) {
        .spec = { .workload = workload,
                  .variant = variant,
                  .type = key == 4 ? ORDO_U32 : ORDO_U64,
                  .value_bytes = workload_has_values(workload) ? (uint32_t) value : 0,
                  .count = count,
                  .n_queries = n_queries,
                  .seed = 5 },
        .small = small,
    };
}

/* What a group is judged on at sizes of about 2^log2. */
static void add_trials(struct trial *list, int *n, const struct group *group, size_t count, size_t n_queries,
                       bool small)
{
    switch (group->primitive) {
    case 0:
        add_trial(list, n, group, SORT, 0, count, 0, small);
        break;
    case 1:
        add_trial(list, n, group, SEARCH, VARIANT_INDEX, count, n_queries, small);
        add_trial(list, n, group, SEARCH, VARIANT_INDEX | VARIANT_SORTED, count, n_queries, small);
        add_trial(list, n, group, LOOKUP, VARIANT_INDEX, count, n_queries, small);
        break;
    case 2:
        add_trial(list, n, group, MERGE, 0, count, 0, small);
        break;
    case 3:
        add_trial(list, n, group, SCAN, 0, count, 0, small);
        add_trial(list, n, group, COMPACT, 0, count, 0, small);
        break;
    default:
        add_trial(list, n, group, MERGE_RUNS, 1, count, 0, small);
        break;
    }
}

static void plan_trials(const struct tuner *tuner, struct group *group)
{
    const bool   cpu = tuner->cpu;
    const size_t large = (size_t) 1 << (cpu ? 20 : 24), middle = (size_t) 1 << (cpu ? 16 : 20);
    const size_t queries = (size_t) 1 << (cpu ? 18 : 22);

    add_trials(group->trials, &group->n_trials, group, large, queries, false);
    if (group->primitive != 1)
        add_trials(group->trials, &group->n_trials, group, middle, queries, false);
    if (group->primitive == 0)
        for (int log2 = 10; log2 <= 14; log2 += 2)
            add_trials(group->trials, &group->n_trials, group, (size_t) 1 << log2, queries, true);
    /* Off the seams of any tile, below one and over many. */
    add_trials(group->checks, &group->n_checks, group, 1003, 2011, false);
    add_trials(group->checks, &group->n_checks, group, ((size_t) 1 << 17) + 77, 5003, false);
}

static ordo_status open_trials(const struct tuner *tuner, struct trial *list, int n, char *why, size_t why_bytes)
{
    for (int t = 0; t < n; t++) {
        const ordo_status got = subject_open(tuner->device, &list[t].spec, &list[t].subject, why, why_bytes);
        if (got != ORDO_OK)
            return got;
    }
    return ORDO_OK;
}

static void close_trials(struct trial *list, int n)
{
    for (int t = 0; t < n; t++)
        if (list[t].subject)
            subject_close(&list[t].subject);
}

/* ---- one set of values --------------------------------------------------------------------------------------- */

/* Indices into the params' choices. */
struct values {
    int at[MOST_PARAMS];
};

static struct values values_in_use(const struct group *group)
{
    struct values values = { { 0 } };
    for (int p = 0; p < group->n_params; p++)
        values.at[p] = group->params[p].at;
    return values;
}

static struct values values_before(const struct group *group)
{
    struct values values = { { 0 } };
    for (int p = 0; p < group->n_params; p++)
        values.at[p] = group->params[p].before;
    return values;
}

static bool fail_why(ordo_device *device, ordo_status status, char *why, size_t why_bytes)
{
    if (ordo_device_last_error(device, why, why_bytes) <= 1)
        snprintf(why, why_bytes, "%s", ordo_status_string(status));
    return false;
}

static bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why,
                       size_t why_bytes)
{
    for (int p = 0; p < group->n_params; p++) {
        const struct param *param = &group->params[p];
        const ordo_status   got = ordo_device_set_tunable(tuner->device, param->name, param->choice[values->at[p]]);
        if (got != ORDO_OK)
            return fail_why(tuner->device, got, why, why_bytes);
    }
    return true;
}

/* Runs a trial once and checks all of its output. */
static bool is_right(const struct tuner *tuner, const struct trial *trial, char *why, size_t why_bytes)
{
    ordo_status got = subject_index(trial->subject);
    if (got == ORDO_OK)
        got = subject_poison(trial->subject);
    if (got == ORDO_OK)
        got = subject_call(trial->subject, NULL);
    if (got == ORDO_OK)
        got = ordo_device_finish(tuner->device);
    if (got != ORDO_OK)
        return fail_why(tuner->device, got, why, why_bytes);
    char wrong[200];
    if (subject_check(trial->subject, wrong, sizeof wrong))
        return true;
    snprintf(why, why_bytes, "WRONG: %s of %zu: %s", workload_name(trial->spec.workload), trial->spec.count, wrong);
    return false;
}

static bool all_right(const struct tuner *tuner, const struct trial *list, int n, char *why, size_t why_bytes)
{
    for (int t = 0; t < n; t++)
        if (!is_right(tuner, &list[t], why, why_bytes))
            return false;
    return true;
}

/* The least of several repetitions: what else the machine does only ever adds. */
static bool time_trial(const struct tuner *tuner, const struct trial *trial, double *seconds, char *why,
                       size_t why_bytes)
{
    static const struct timing_goal goal = { .seconds = 0.05, .batch_seconds = 0.005, .repetitions = 7 };
    struct timing                   timing;
    ordo_status                     got = subject_index(trial->subject);
    if (got == ORDO_OK)
        got = time_calls(tuner->device, subject_call, trial->subject, &goal, &timing);
    if (got != ORDO_OK)
        return fail_why(tuner->device, got, why, why_bytes);
    *seconds = timing.wall.low;
    return true;
}

/* ---- candidates ---------------------------------------------------------------------------------------------- */

/* Whether another candidate, if it takes as long as those before did on average, would outlast the time. */
static bool out_of_time(const struct tuner *tuner, const struct group *group)
{
    return now() + (group->tried ? group->seconds_trying / group->tried : 0) >= tuner->deadline;
}

/* The params that differ from those in use, as "items=15 group=256". */
static void describe(const struct group *group, const struct values *values, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (int p = 0; p < group->n_params && used < bytes; p++)
        if (values->at[p] != group->params[p].at)
            used += (size_t) snprintf(text + used, bytes - used, "%s%s=%u", used ? " " : "",
                                      group->params[p].name + strlen(group->name) + 1,
                                      group->params[p].choice[values->at[p]]);
}

static void drop(struct tuner *tuner, struct group *group, const struct values *values, const char *why)
{
    char what[200];
    describe(group, values, what, sizeof what);
    group->dropped++;
    progress_clear();
    fprintf(tuner->out, "dropped %s %s: %.*s\n", group->name, what, (int) strcspn(why, "\n"), why);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "group", group->name);
    cJSON_AddStringToObject(json, "values", what);
    cJSON_AddStringToObject(json, "why", why);
    cJSON_AddItemToArray(tuner->drops, json);
}

/* Times the trials that judge a candidate. Returns the mean of its times over those in use, INFINITY if it is hopeless,
 * NAN with `why` if a call failed. */
static double time_candidate(const struct tuner *tuner, struct group *group, bool small, double seconds[MOST_TRIALS],
                             char *why, size_t why_bytes)
{
    double logs = 0;
    int    n = 0;
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        if (trial->small != small)
            continue;
        if (!time_trial(tuner, trial, &seconds[t], why, why_bytes))
            return NAN;
        logs += log(seconds[t] / trial->seconds);
        n++;
        if (n == 1 && seconds[t] > trial->seconds * HOPELESS)
            return INFINITY;
    }
    return n ? exp(logs / n) : INFINITY;
}

/* The values in use, measured anew beside a candidate: clocks of devices drift. */
static bool time_in_use(const struct tuner *tuner, struct group *group, bool small, char *why, size_t why_bytes)
{
    for (int t = 0; t < group->n_trials; t++)
        if (group->trials[t].small == small &&
            !time_trial(tuner, &group->trials[t], &group->trials[t].seconds, why, why_bytes))
            return false;
    return true;
}

/* Whether a candidate that looked better still is, right after the values in use. */
static bool confirmed(const struct tuner *tuner, struct group *group, const struct values *values, bool small,
                      double seconds[MOST_TRIALS], char *why, size_t why_bytes)
{
    const struct values in_use = values_in_use(group);
    return set_values(tuner, group, &in_use, why, why_bytes) && time_in_use(tuner, group, small, why, why_bytes) &&
           set_values(tuner, group, values, why, why_bytes) &&
           time_candidate(tuner, group, small, seconds, why, why_bytes) < WORTH_IT;
}

/* Tries one candidate and takes it if it is better. Leaves the values in use set. */
static bool try_values(struct tuner *tuner, struct group *group, const struct values *values, bool small)
{
    const struct values in_use = values_in_use(group);
    const double        start = now();
    double              seconds[MOST_TRIALS] = { 0 };
    char                why[4096] = "", what[200];
    bool                good = set_values(tuner, group, values, why, sizeof why);
    bool                taken = false;

    describe(group, values, what, sizeof what);
    progress("%s: %s (%d tried, %.0f s left)", group->name, what, group->tried, tuner->whole_deadline - now());
    group->tried++;
    good = good && all_right(tuner, group->checks, group->n_checks, why, sizeof why);
    if (good) {
        const double ratio = time_candidate(tuner, group, small, seconds, why, sizeof why);
        good = !isnan(ratio);
        taken = good && ratio < WORTH_IT && confirmed(tuner, group, values, small, seconds, why, sizeof why);
    }
    group->seconds_trying += now() - start;
    if (!good)
        drop(tuner, group, values, why);
    if (!taken) {
        set_values(tuner, group, &in_use, why, sizeof why);
        return false;
    }
    for (int p = 0; p < group->n_params; p++)
        group->params[p].at = values->at[p];
    for (int t = 0; t < group->n_trials; t++)
        if (group->trials[t].small == small)
            group->trials[t].seconds = seconds[t];
    return true;
}

/* ---- the search of a group ----------------------------------------------------------------------------------- */

static int param_ending(const struct group *group, const char *end)
{
    for (int p = 0; p < group->n_params; p++)
        if (strcmp(group->params[p].name + strlen(group->name), end) == 0)
            return p;
    return -1;
}

static bool is_one(const struct group *group, const char *end)
{
    const int p = param_ending(group, end);
    return p >= 0 && group->params[p].choice[group->params[p].at] == 1;
}

static bool ends_with(const struct param *param, const char *end)
{
    const size_t length = strlen(param->name), end_length = strlen(end);
    return length >= end_length && strcmp(param->name + length - end_length, end) == 0;
}

/* Whether other values of a param could be faster at all. A CPU runs the work-items of a group one after another, and
 * compiles barriers into loops: groups of one, and what goes with them, are not put in question. Items of a launch that is
 * not used change nothing. */
static bool worth_searching(const struct tuner *tuner, const struct group *group, const struct param *param)
{
    if (tuner->cpu && is_one(group, ".group") && (ends_with(param, ".method") || ends_with(param, "group")))
        return false;
    return !(ends_with(param, ".small_items") && is_one(group, ".small_group"));
}

/* Tries all other values of one param, the nearest first; true if one was taken. */
static bool search_param(struct tuner *tuner, struct group *group, int p)
{
    const struct param *param = &group->params[p];
    const int           from = param->at;
    bool                taken = false;
    if (!worth_searching(tuner, group, param))
        return false;
    for (int distance = 1; distance < (int) param->n_choices; distance++)
        for (int side = 1; side >= -1; side -= 2) {
            struct values values = values_in_use(group);
            values.at[p] = from + side * distance;
            if (values.at[p] < 0 || values.at[p] >= (int) param->n_choices || values.at[p] == param->at)
                continue;
            if (out_of_time(tuner, group))
                return taken;
            taken |= try_values(tuner, group, &values, param->small);
        }
    return taken;
}

/* Work-items per group and items per work-item bound each other (registers, local memory): a larger one of these may
 * only pay with a smaller one of those. Tries pairs whose product is about the same. */
static bool search_pairs(struct tuner *tuner, struct group *group, const char *first, const char *second, bool small)
{
    const int a = param_ending(group, first), b = param_ending(group, second);
    if (a < 0 || b < 0 || !worth_searching(tuner, group, &group->params[a]) ||
        !worth_searching(tuner, group, &group->params[b]))
        return false;
    const struct param *pa = &group->params[a], *pb = &group->params[b];
    const int           from_a = pa->at, from_b = pb->at;
    const double        product = (double) pa->choice[from_a] * pb->choice[from_b];
    bool                taken = false;
    for (int i = 0; i < (int) pa->n_choices; i++)
        for (int k = 0; k < (int) pb->n_choices; k++) {
            const double here = (double) pa->choice[i] * pb->choice[k];
            if (i == from_a || k == from_b || here < product * 0.6 || here > product * 1.7)
                continue;
            if (out_of_time(tuner, group))
                return taken;
            struct values values = values_in_use(group);
            values.at[a] = i;
            values.at[b] = k;
            taken |= try_values(tuner, group, &values, small);
        }
    return taken;
}

static void search_group(struct tuner *tuner, struct group *group)
{
    bool again = true;
    while (again && !out_of_time(tuner, group)) {
        again = false;
        for (int p = 0; p < group->n_params; p++)
            again |= search_param(tuner, group, p);
        if (again)
            continue;
        again |= search_pairs(tuner, group, ".group", ".items", false);
        again |= search_pairs(tuner, group, ".small_group", ".small_items", true);
    }
    group->finished = !out_of_time(tuner, group);
}

static bool changed(const struct group *group)
{
    for (int p = 0; p < group->n_params; p++)
        if (group->params[p].at != group->params[p].before)
            return true;
    return false;
}

static void go_back(const struct tuner *tuner, struct group *group)
{
    const struct values before = values_before(group);
    char                why[200];
    for (int p = 0; p < group->n_params; p++)
        group->params[p].at = group->params[p].before;
    set_values(tuner, group, &before, why, sizeof why);
}

/* Times all trials with one set of values into `before` or `after`, unless there is a lesser time already. */
static bool time_all(const struct tuner *tuner, struct group *group, const struct values *values, bool after, char *why,
                     size_t why_bytes)
{
    if (!set_values(tuner, group, values, why, why_bytes))
        return false;
    for (int t = 0; t < group->n_trials; t++) {
        double *least = after ? &group->trials[t].after : &group->trials[t].before, seconds = 0;
        if (!time_trial(tuner, &group->trials[t], &seconds, why, why_bytes))
            return false;
        *least = *least > 0 && *least < seconds ? *least : seconds;
    }
    return true;
}

/* Whether a param was changed that is judged by the small (or the other) trials. */
static bool changed_for(const struct group *group, bool small)
{
    for (int p = 0; p < group->n_params; p++)
        if (group->params[p].small == small && group->params[p].at != group->params[p].before)
            return true;
    return false;
}

#define ROUNDS 3

/* Old and new values once more by turns, with every output checked: what does not hold up is given back. */
static bool settle_group(struct tuner *tuner, struct group *group, char *why, size_t why_bytes)
{
    const struct values before = values_before(group), after = values_in_use(group);
    double              logs = 0;
    int                 judges = 0;
    if (!changed(group)) {
        for (int t = 0; t < group->n_trials; t++)
            group->trials[t].before = group->trials[t].after = group->trials[t].seconds;
        return true;
    }
    progress("%s: old and new by turns", group->name);
    for (int round = 0; round < ROUNDS; round++)
        if (!time_all(tuner, group, &before, false, why, why_bytes) ||
            !time_all(tuner, group, &after, true, why, why_bytes))
            return false;
    if (!all_right(tuner, group->trials, group->n_trials, why, why_bytes))
        return false;
    for (int t = 0; t < group->n_trials; t++)
        if (changed_for(group, group->trials[t].small)) {
            logs += log(group->trials[t].after / group->trials[t].before);
            judges++;
        }
    group->better = exp(logs / judges) < WORTH_IT;
    return true;
}

/* False if even the present values do not work. */
static bool tune_group(struct tuner *tuner, struct group *group)
{
    char why[4096] = "";
    group->started = true;
    plan_trials(tuner, group);
    progress("%s: making inputs", group->name);
    bool good = open_trials(tuner, group->trials, group->n_trials, why, sizeof why) == ORDO_OK &&
                open_trials(tuner, group->checks, group->n_checks, why, sizeof why) == ORDO_OK &&
                all_right(tuner, group->checks, group->n_checks, why, sizeof why) &&
                time_in_use(tuner, group, false, why, sizeof why) && time_in_use(tuner, group, true, why, sizeof why);
    if (good) {
        search_group(tuner, group);
        if (!settle_group(tuner, group, why, sizeof why)) {
            complain("%s: the new values failed in the end and are given back: %s", group->name, why);
            go_back(tuner, group);
        } else if (changed(group) && !group->better) {
            go_back(tuner, group);
        }
    } else {
        complain("%s with its present values: %s", group->name, why);
    }
    close_trials(group->trials, group->n_trials);
    close_trials(group->checks, group->n_checks);
    ordo_device_trim(tuner->device);
    return good;
}

/* ---- showing ------------------------------------------------------------------------------------------------- */

static void describe_trial(const struct spec *spec, char *text, size_t bytes)
{
    char        count[TEXT_BYTES];
    const char *variant = variant_name(spec->workload, spec->variant);
    snprintf(text, bytes, "%s%s%s %s", workload_name(spec->workload), *variant ? " " : "", variant,
             text_count(count, spec->count));
}

static void show_group(const struct tuner *tuner, const struct group *group)
{
    static const struct column columns[] = {
        { "", 28, true }, { "before", 9, false }, { "after", 9, false }, { "gain", 7, false }
    };
    const struct table table = { tuner->out, columns, 4 };
    progress_clear();
    fprintf(tuner->out, "\n%s: %d candidates tried, %d dropped%s\n", group->name, group->tried, group->dropped,
            group->finished ? "" : "; out of time");
    for (int p = 0; p < group->n_params; p++) {
        const struct param *param = &group->params[p];
        if (param->at != param->before)
            fprintf(tuner->out, "  %s: %u -> %u\n", param->name, param->choice[param->before],
                    param->choice[param->at]);
    }
    if (!changed(group))
        fprintf(tuner->out, "  nothing is faster by more than 2 %%: as it was\n");
    table_head(&table);
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        char                what[64], before[TEXT_BYTES], after[TEXT_BYTES], gain[TEXT_BYTES];
        const double        operations = (double) spec_operations(&trial->spec);
        const double        now_takes = changed(group) ? trial->after : trial->before;
        describe_trial(&trial->spec, what, sizeof what);
        const char *cells[] = { what, text_rate(before, operations / trial->before),
                                text_rate(after, operations / now_takes), text_ratio(gain, trial->before / now_takes) };
        table_row(&table, cells);
    }
}

static cJSON *json_group(const struct group *group)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "group", group->name);
    cJSON_AddNumberToObject(json, "tried", group->tried);
    cJSON_AddNumberToObject(json, "dropped", group->dropped);
    cJSON_AddBoolToObject(json, "finished", group->finished);
    cJSON *values = cJSON_AddArrayToObject(json, "values"), *trials = cJSON_AddArrayToObject(json, "trials");
    for (int p = 0; p < group->n_params; p++) {
        const struct param *param = &group->params[p];
        cJSON              *value = cJSON_CreateObject();
        cJSON_AddStringToObject(value, "name", param->name);
        cJSON_AddNumberToObject(value, "before", param->choice[param->before]);
        cJSON_AddNumberToObject(value, "after", param->choice[param->at]);
        cJSON_AddItemToArray(values, value);
    }
    for (int t = 0; t < group->n_trials; t++) {
        char   what[64];
        cJSON *trial = cJSON_CreateObject();
        describe_trial(&group->trials[t].spec, what, sizeof what);
        cJSON_AddStringToObject(trial, "trial", what);
        json_number(trial, "before_s", group->trials[t].before);
        json_number(trial, "after_s", group->trials[t].after);
        cJSON_AddItemToArray(trials, trial);
    }
    return json;
}

/* The values of all groups that were tuned, as a row of the table in host/runtime/profile.c. */
static void print_row(const struct tuner *tuner)
{
    const char *device = ordo_device_facts(tuner->device)->name;
    int         width = 0;
    fprintf(tuner->out, "\n    { %s, -1, \"%s\", ORDO_ORIGIN_SHIPPED,\n      \"", tuner->cpu ? "CPU" : "GPU", device);
    for (int g = 0; g < tuner->n_groups; g++) {
        const struct group *group = &tuner->groups[g];
        for (int p = 0; p < group->n_params && group->started; p++) {
            const struct param *param = &group->params[p];
            char                text[64];
            const int           length = snprintf(text, sizeof text, "%s=%u ", param->name, param->choice[param->at]);
            if (width + length > 105) {
                fprintf(tuner->out, "\"\n      \"");
                width = 0;
            }
            fprintf(tuner->out, "%s", text);
            width += length;
        }
    }
    fprintf(tuner->out, "\" },\n");
}

/* ---- the profile --------------------------------------------------------------------------------------------- */

static int count_changed(const struct tuner *tuner)
{
    int n = 0;
    for (int g = 0; g < tuner->n_groups; g++)
        n += changed(&tuner->groups[g]);
    return n;
}

/* Sets what is better on a freshly opened device, so that nothing else is written, and saves. */
static ordo_status write_profile(const struct tuner *tuner, ordo_device *fresh, char *path, size_t path_bytes)
{
    for (int g = 0; g < tuner->n_groups; g++)
        for (int p = 0; p < tuner->groups[g].n_params; p++) {
            const struct param *param = &tuner->groups[g].params[p];
            if (param->at == param->before)
                continue;
            const ordo_status got = ordo_device_set_tunable(fresh, param->name, param->choice[param->at]);
            if (got != ORDO_OK)
                return got;
        }
    return ordo_device_save_profile(fresh, path, path_bytes);
}

/* Whether a device that is opened now has the values that were found. */
static bool took_effect(const struct tuner *tuner, ordo_device *fresh)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(fresh, i, &info) == ORDO_OK; i++)
        for (int g = 0; g < tuner->n_groups; g++)
            for (int p = 0; p < tuner->groups[g].n_params; p++) {
                const struct param *param = &tuner->groups[g].params[p];
                if (strcmp(param->name, info.name) == 0 && param->choice[param->at] != info.value)
                    return false;
            }
    return true;
}

static int save(const struct tuner *tuner, const char *select)
{
    char         path[4096] = "", why[4096] = "";
    ordo_device *fresh = open_device(select);
    if (!fresh)
        return EXIT_FAILED;
    const ordo_status got = write_profile(tuner, fresh, path, sizeof path);
    if (got != ORDO_OK) {
        fail_why(fresh, got, why, sizeof why);
        complain("the profile was not written: %s", why);
    }
    ordo_device_close(&fresh);
    if (got != ORDO_OK)
        return EXIT_FAILED;

    fresh = open_device(select);
    const bool good = fresh && took_effect(tuner, fresh);
    ordo_device_close(&fresh);
    if (!good) {
        complain("%s was written, but a device opened after it has other values", path);
        return EXIT_FAILED;
    }
    fprintf(tuner->out, "\nWritten to %s, and in use from now on; delete it to go back.\n", path);
    return EXIT_GOOD;
}

/* ---- the program --------------------------------------------------------------------------------------------- */

/* False if a group's present values do not work. */
static bool tune_all(struct tuner *tuner)
{
    bool good = true;
    int  n = 0;
    while (n < tuner->n_groups && now() < tuner->whole_deadline) {
        struct group *group = &tuner->groups[n];
        tuner->deadline = now() + (tuner->whole_deadline - now()) / (tuner->n_groups - n);
        if (tune_group(tuner, group))
            show_group(tuner, group);
        else
            good = false;
        n++;
    }
    progress_clear();
    if (n < tuner->n_groups) {
        fprintf(tuner->out, "\nNot reached within %g s:", tuner->options->budget);
        for (; n < tuner->n_groups; n++)
            fprintf(tuner->out, " %s", tuner->groups[n].name);
        fprintf(tuner->out, "\n");
    }
    return good;
}

static int conclude(const struct tuner *tuner, const char *select, int argc, char **argv)
{
    int  code = EXIT_GOOD;
    char why[512];
    if (tuner->options->row)
        print_row(tuner);
    if (tuner->options->dry_run)
        fprintf(tuner->out, "\nNothing is written (--dry-run).\n");
    else if (count_changed(tuner) == 0)
        fprintf(tuner->out, "\nNothing better was found; your profile stays as it is.\n");
    else
        code = save(tuner, select);
    if (!tuner->options->json)
        return code;

    cJSON *json = json_head("ordo-tune", argc, argv), *groups = cJSON_AddArrayToObject(json, "groups");
    cJSON_AddItemToObject(json, "device", json_device(ordo_device_facts(tuner->device)));
    for (int g = 0; g < tuner->n_groups; g++)
        if (tuner->groups[g].started)
            cJSON_AddItemToArray(groups, json_group(&tuner->groups[g]));
    cJSON_AddItemToObject(json, "dropped", cJSON_Duplicate(tuner->drops, true));
    if (!json_write(tuner->options->json, json, why, sizeof why)) {
        complain("%s", why);
        code = EXIT_FAILED;
    }
    cJSON_Delete(json);
    return code;
}

int main(int argc, char **argv)
{
    tool_name("ordo-tune");
    const struct options options = read_options(argc, argv);
    char                 selected[MOST_SELECTED][SELECT_BYTES];
    if (select_devices(options.device, selected) != 1)
        usage_error("--device: one device at a time");

    struct tuner tuner = { .options = &options,
                           .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout,
                           .device = open_device(selected[0]) };
    if (!tuner.device)
        return EXIT_FAILED;
    tuner.cpu = ordo_device_facts(tuner.device)->cpu;
    tuner.drops = cJSON_CreateArray();
    tuner.whole_deadline = now() + options.budget;
    fprintf(tuner.out, "%s (%s), %g s\n", ordo_device_facts(tuner.device)->name,
            ordo_device_facts(tuner.device)->platform, options.budget);

    int code = EXIT_FAILED;
    if (!list_groups(&tuner))
        complain("this device has no such tunables");
    else
        code = tune_all(&tuner) ? EXIT_GOOD : EXIT_FAILED;
    if (tuner.n_groups > 0 && conclude(&tuner, selected[0], argc, argv) != EXIT_GOOD)
        code = EXIT_FAILED;
    free(tuner.groups);
    cJSON_Delete(tuner.drops);
    ordo_device_close(&tuner.device);
    return code;
}
