/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/device.h"

#include <stdlib.h>
#include <string.h>

const char *primitive_name(int i)
{
#define X(id, name) name,
    static const char *const names[N_PRIMITIVES] = { PRIMITIVE_MAP(X) };
#undef X
    return names[i];
}

const char *shape_name(int i)
{
    static const char *const names[N_SHAPES] = { "k4v4", "k4v0", "k8v4", "k8v8", "k4v8", "k8v0" };
    return names[i];
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

static bool is_wanted(const int *wanted, int n, int i)
{
    for (int k = 0; k < n; k++)
        if (wanted[k] == i)
            return true;
    return n == 0;
}

/* The index of the first name that begins with (`whole`: is) a text of `length` bytes; -1 if there is none. "k4", the
 * shape of tunables that serve all values, is the first of k4's. */
static int index_of(const char *(*name)(int), int n, const char *text, size_t length, bool whole)
{
    for (int i = 0; i < n; i++)
        if (strncmp(name(i), text, length) == 0 && (!whole || strlen(name(i)) == length))
            return i;
    return -1;
}

/* The group of a tunable, made with its first one; NULL if it is not wanted. */
static struct group *group_of(struct tuner *tuner, const char *tunable)
{
    const size_t dot = strcspn(tunable, "."), length = dot + 1 + strcspn(tunable + dot + 1, ".");
    const int    primitive = index_of(primitive_name, N_PRIMITIVES, tunable, dot, true);
    const int    shape = index_of(shape_name, N_SHAPES, tunable + dot + 1, length - dot - 1, false);
    if (primitive < 0 || shape < 0 || tunable[length] != '.' ||
        !is_wanted(tuner->options->primitives, tuner->options->n_primitives, primitive) ||
        !is_wanted(tuner->options->shapes, tuner->options->n_shapes, shape))
        return NULL;
    for (int g = 0; g < tuner->n_groups; g++)
        if (strlen(tuner->groups[g].name) == length && strncmp(tuner->groups[g].name, tunable, length) == 0)
            return &tuner->groups[g];
    if (tuner->n_groups == GROUPS_MAX)
        return NULL;
    struct group *group = &tuner->groups[tuner->n_groups++];
    snprintf(group->name, sizeof group->name, "%.*s", (int) length, tunable);
    group->primitive = primitive;
    group->shape = shape;
    return group;
}

static void add_param(struct group *group, const struct ordo_tunable_info *info)
{
    if (group->n_params == PARAMS_MAX)
        return;
    struct param *param = &group->params[group->n_params++];
    snprintf(param->name, sizeof param->name, "%s", info->name);
    param->small = strstr(info->name, ".small_") != NULL;
    param->applies = info->applies;
    for (uint32_t c = 0; c < info->n_choices && c < 16; c++) {
        param->choice[param->n_choices++] = info->choice[c];
        if (info->choice[c] == info->value)
            param->at = param->before = (int) c;
    }
}

/* Each primitive comes once before any comes twice. */
static int in_order_of_work(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->shape != y->shape ? x->shape - y->shape : x->primitive - y->primitive;
}

bool list_groups(struct tuner *tuner)
{
    struct ordo_tunable_info info;
    tuner->groups = calloc(GROUPS_MAX, sizeof *tuner->groups);
    for (size_t i = 0; tuner->groups && ordo_device_tunable(tuner->device, i, &info) == ORDO_OK; i++) {
        struct group *group = group_of(tuner, info.name);
        if (group)
            add_param(group, &info);
    }
    if (tuner->groups)
        qsort(tuner->groups, (size_t) tuner->n_groups, sizeof *tuner->groups, in_order_of_work);
    return tuner->n_groups > 0;
}

/* ---- trials -------------------------------------------------------------------------------------------------- */

/* The workloads that measure each primitive. */
static const struct {
    enum tuned_primitive primitive;
    enum workload        workload;
    int                  variant;
} measures[] = {
    { TUNE_SORT, SORT, 0 },
    { TUNE_SEARCH, SEARCH, VARIANT_INDEX },
    { TUNE_SEARCH, SEARCH, VARIANT_INDEX | VARIANT_SORTED },
    { TUNE_SEARCH, LOOKUP, VARIANT_INDEX },
    { TUNE_MERGE, MERGE, 0 },
    { TUNE_SCAN, SCAN, 0 },
    { TUNE_SCAN, REDUCE, 0 },
    { TUNE_MERGE_RUNS, MERGE_RUNS, 1 },
    { TUNE_COMPACT, COMPACT, 0 },
    { TUNE_BY_KEY, GROUPBY, 1 },
    { TUNE_TOP, TOP, 0 },
    { TUNE_TOP, SELECT, 0 },
    { TUNE_BLINK, READRANDOM, BLINK },
    { TUNE_BLINK, SEEKRANDOM, BLINK },
    { TUNE_LINKS, CONCURRENTMIX, BLINK },
};

static size_t bytes_of(const char *shape, char letter, size_t otherwise)
{
    const char *at = strchr(shape, letter);
    return at ? (size_t) (at[1] - '0') : otherwise;
}

static void add_trials(struct trial *list, int *n, const struct group *group, size_t count, size_t n_queries,
                       bool small)
{
    const char  *shape = strchr(group->name, '.') + 1;
    const size_t key = bytes_of(shape, 'k', 0), value = bytes_of(shape, 'v', 4);
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        const enum workload workload = measures[m].workload;
        if ((int) measures[m].primitive != group->primitive || *n == TRIALS_MAX)
            continue;
        list[(*n)++] = (struct trial) {
            .spec = { .workload = workload,
                      .variant = measures[m].variant,
                      .type = key == 4 ? ORDO_U32 : ORDO_U64,
                      .value_bytes = workload_has_values(workload) ? (uint32_t) value : 0,
                      .count = count,
                      .n_queries = n_queries,
                      .seed = 5,
                      .hit_percent = 50,
                      .width = 16,
                      .fills = 1,
                      .update_percent = 50 },
            .small = small,
        };
    }
}

static void plan_trials(const struct tuner *tuner, struct group *group)
{
    const int    log2 = tuner->cpu ? 20 : 24;
    const size_t queries = (size_t) 1 << (log2 - 2);
    add_trials(group->trials, &group->n_trials, group, (size_t) 1 << log2, queries, false);
    if (group->primitive != TUNE_SEARCH)
        add_trials(group->trials, &group->n_trials, group, (size_t) 1 << (log2 - 4), queries, false);
    for (int small = 10; group->primitive == TUNE_SORT && small <= 14; small += 2)
        add_trials(group->trials, &group->n_trials, group, (size_t) 1 << small, queries, true);
    /* Not multiples of any tile, smaller than one and larger than many. */
    add_trials(group->checks, &group->n_checks, group, 1003, 2011, false);
    add_trials(group->checks, &group->n_checks, group, ((size_t) 1 << 17) + 77, 5003, false);
}

/* Dictionaries are made for each measurement. */
static bool open_list(const struct tuner *tuner, struct trial *list, int n, char *why)
{
    for (int t = 0; t < n; t++)
        if (!workload_is_dict(list[t].spec.workload) &&
            target_open(tuner->device, &list[t].spec, &list[t].target, why) != ORDO_OK)
            return false;
    return true;
}

bool open_trials(const struct tuner *tuner, struct group *group, char *why)
{
    plan_trials(tuner, group);
    return open_list(tuner, group->trials, group->n_trials, why) &&
           open_list(tuner, group->checks, group->n_checks, why);
}

void close_trials(struct group *group)
{
    for (int t = 0; t < TRIALS_MAX; t++) {
        target_close(&group->trials[t].target);
        target_close(&group->checks[t].target);
    }
}

/* ---- one set of values --------------------------------------------------------------------------------------- */

struct values values_in_use(const struct group *group)
{
    struct values values = { { 0 } };
    for (int p = 0; p < group->n_params; p++)
        values.at[p] = group->params[p].at;
    return values;
}

struct values values_before(const struct group *group)
{
    struct values values = { { 0 } };
    for (int p = 0; p < group->n_params; p++)
        values.at[p] = group->params[p].before;
    return values;
}

bool changed(const struct group *group)
{
    const struct values before = values_before(group), now = values_in_use(group);
    return memcmp(&before, &now, sizeof now) != 0;
}

bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why)
{
    ordo_status got = ORDO_OK;
    for (int p = 0; p < group->n_params && got == ORDO_OK; p++)
        got = ordo_device_set_tunable(tuner->device, group->params[p].name, group->params[p].choice[values->at[p]]);
    return device_why(tuner->device, got, why) == ORDO_OK;
}

/* Measures a trial on a dictionary and checks everything. */
static bool dict_trial(const struct tuner *tuner, const struct trial *trial, const struct timing_goal *goal,
                       double *seconds, char *why)
{
    struct dict_figures figures = { 0 };
    char                reason[WHY_BYTES] = "";
    const ordo_status   got = dict_measure(tuner->device, &trial->spec, goal, 0, &figures, reason);
    const bool          good = got == ORDO_OK && figures.right;
    *seconds = figures.timing.wall.low;
    dict_figures_free(&figures);
    return good || because(why, "%s%s of %zu: %.200s", got == ORDO_OK ? "WRONG: " : "",
                           workload_name(trial->spec.workload), trial->spec.count, reason);
}

static ordo_status run_once(const struct trial *trial)
{
    TRY(target_index(trial->target));
    TRY(target_poison(trial->target));
    return target_call(trial->target, NULL);
}

static bool is_right(const struct tuner *tuner, const struct trial *trial, char *why)
{
    static const struct timing_goal once = { .repetitions = 1 };
    double                          seconds = 0;
    char                            wrong[WHY_BYTES];
    if (workload_is_dict(trial->spec.workload))
        return dict_trial(tuner, trial, &once, &seconds, why);
    ordo_status got = run_once(trial);
    if (got == ORDO_OK)
        got = ordo_device_finish(tuner->device);
    if (got != ORDO_OK)
        return device_why(tuner->device, got, why) == ORDO_OK;
    return target_check(trial->target, wrong) ||
           because(why, "WRONG: %s of %zu: %.200s", workload_name(trial->spec.workload), trial->spec.count, wrong);
}

bool all_right(const struct tuner *tuner, const struct trial *list, int n, char *why)
{
    for (int t = 0; t < n; t++)
        if (!is_right(tuner, &list[t], why))
            return false;
    return true;
}

bool time_trial(const struct tuner *tuner, const struct trial *trial, double *seconds, char *why)
{
    static const struct timing_goal goal = { .seconds = 0.05, .batch_seconds = 0.005, .repetitions = 7 };
    struct timing                   timing = { .began = 0 };
    if (workload_is_dict(trial->spec.workload))
        return dict_trial(tuner, trial, &goal, seconds, why);
    ordo_status got = target_index(trial->target);
    if (got == ORDO_OK)
        got = time_calls(tuner->device, target_call, trial->target, &goal, &timing);
    *seconds = timing.wall.low;
    return device_why(tuner->device, got, why) == ORDO_OK;
}
