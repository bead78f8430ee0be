/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/device.h"

#include <stdlib.h>
#include <string.h>

/* The workloads that measure each primitive, in the order of work. */
static const struct {
    const char   *primitive;
    enum workload workload;
    int           variant;
} measures[] = {
    { "sort", SORT, 0 },
    { "search", SEARCH, VARIANT_INDEX },
    { "search", SEARCH, VARIANT_INDEX | VARIANT_SORTED },
    { "search", LOOKUP, VARIANT_INDEX },
    { "merge", MERGE, 0 },
    { "scan", SCAN, 0 },
    { "scan", REDUCE, 0 },
    { "merge_runs", MERGE_RUNS, 1 },
    { "compact", COMPACT, 0 },
    { "by_key", GROUPBY, 1 },
    { "top", TOP, 0 },
    { "top", SELECT, 0 },
    { "blink", READRANDOM, BLINK },
    { "blink", SEEKRANDOM, BLINK },
    { "links", CONCURRENTMIX, BLINK },
};
#define N_MEASURES (sizeof measures / sizeof *measures)

const char *primitive_name(int i)
{
    size_t m = 0;
    for (; i > 0; m++) /* the i-th that differs from the one before */
        i -= strcmp(measures[m].primitive, measures[m + 1].primitive) != 0;
    return measures[m].primitive;
}

const char *shape_name(int i)
{
    static const char *const names[N_SHAPES] = { "k4v4", "k4v0", "k8v4", "k8v8", "k4v8", "k8v0" };
    return names[i];
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
    const struct options *options = tuner->options;
    const size_t          dot = strcspn(tunable, "."), length = dot + 1 + strcspn(tunable + dot + 1, ".");
    const int             primitive = index_of(primitive_name, N_PRIMITIVES, tunable, dot, true);
    const int             shape = index_of(shape_name, N_SHAPES, tunable + dot + 1, length - dot - 1, false);
    if (primitive < 0 || shape < 0 || tunable[length] != '.' || !(options->primitives >> primitive & 1) ||
        !(options->shapes >> shape & 1))
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

/* Each primitive comes once before any comes twice. */
static int in_order_of_work(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->shape != y->shape ? x->shape - y->shape : x->primitive - y->primitive;
}

void list_groups(struct tuner *tuner)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(tuner->device, i, &info) == ORDO_OK; i++) {
        struct group *group = group_of(tuner, info.name);
        if (!group || group->n_params == PARAMS_MAX)
            continue;
        struct param *param = &group->params[group->n_params];
        snprintf(param->name, sizeof param->name, "%s", info.name);
        param->small = strstr(info.name, ".small_") != NULL;
        param->applies = info.applies;
        for (uint32_t c = 0; c < info.n_choices && c < 16; c++) {
            param->choice[param->n_choices++] = info.choice[c];
            if (info.choice[c] == info.value)
                group->before.at[group->n_params] = (int) c;
        }
        group->n_params++;
        group->in_use = group->before;
    }
    qsort(tuner->groups, (size_t) tuner->n_groups, sizeof *tuner->groups, in_order_of_work);
}

static void add_trials(struct group *group, size_t count, size_t n_queries, bool small)
{
    const char    *shape = strchr(group->name, '.') + 1, *values = strchr(shape, 'v'); /* "k4v8", "k4" */
    const uint32_t value = values ? (uint32_t) (values[1] - '0') : 4;
    for (size_t m = 0; m < N_MEASURES && group->n_all < TRIALS_MAX; m++)
        if (strcmp(measures[m].primitive, primitive_name(group->primitive)) == 0)
            group->trials[group->n_all++] = (struct trial) {
                .spec = { .workload = measures[m].workload,
                          .variant = measures[m].variant,
                          .type = shape[1] == '4' ? ORDO_U32 : ORDO_U64,
                          .value_bytes = workload_has_values(measures[m].workload) ? value : 0,
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

bool open_trials(const struct tuner *tuner, struct group *group, char *why)
{
    const int    log2 = tuner->cpu ? 20 : 24;
    const size_t queries = (size_t) 1 << (log2 - 2);
    const char  *primitive = primitive_name(group->primitive);
    add_trials(group, (size_t) 1 << log2, queries, false);
    if (strcmp(primitive, "search") != 0)
        add_trials(group, (size_t) 1 << (log2 - 4), queries, false);
    for (int small = 10; strcmp(primitive, "sort") == 0 && small <= 14; small += 2)
        add_trials(group, (size_t) 1 << small, queries, true);
    group->n_trials = group->n_all;
    /* Not multiples of any tile, smaller than one and larger than many. */
    add_trials(group, 1003, 2011, false);
    add_trials(group, ((size_t) 1 << 17) + 77, 5003, false);
    for (struct trial *t = group->trials; t < group->trials + group->n_all; t++)
        if (!workload_is_dict(t->spec.workload) && /* dictionaries are made for each measurement */
            target_open(tuner->device, &t->spec, &t->target, why) != ORDO_OK)
            return false;
    return true;
}

void close_trials(struct group *group)
{
    for (int t = 0; t < group->n_all; t++)
        target_close(&group->trials[t].target);
}

uint32_t value_at(const struct group *group, const struct values *values, int param)
{
    return group->params[param].choice[values->at[param]];
}

bool changed(const struct group *group)
{
    return memcmp(&group->before, &group->in_use, sizeof group->before) != 0;
}

bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why)
{
    ordo_status got = ORDO_OK;
    for (int p = 0; p < group->n_params && got == ORDO_OK; p++)
        got = ordo_device_set_tunable(tuner->device, group->params[p].name, value_at(group, values, p));
    return device_why(tuner->device, got, why) == ORDO_OK;
}

/* Runs a trial that is not on a dictionary, several times or (`timing` NULL) once. */
static ordo_status run_target(const struct tuner *tuner, const struct trial *trial, const struct timing_goal *goal,
                              struct timing *timing)
{
    TRY(target_index(trial->target));
    if (timing)
        return time_calls(tuner->device, target_call, trial->target, goal, timing);
    TRY(buffers_poison(&trial->target->arrays));
    TRY(target_call(trial->target, NULL));
    return ordo_device_finish(tuner->device);
}

bool run_trial(const struct tuner *tuner, const struct trial *trial, double *seconds, char *why)
{
    static const struct timing_goal once = { .repetitions = 1 };
    static const struct timing_goal several = { .seconds = 0.05, .batch_seconds = 0.005, .repetitions = 7 };
    const struct timing_goal       *goal = seconds ? &several : &once;
    struct dict_figures             figures = { .right = true };
    char                            reason[WHY_BYTES] = "";
    ordo_status                     got;
    if (workload_is_dict(trial->spec.workload)) {
        got = dict_measure(tuner->device, &trial->spec, goal, 0, &figures, reason);
    } else {
        got = run_target(tuner, trial, goal, seconds ? &figures.timing : NULL);
        device_why(tuner->device, got, reason);
        figures.right = got != ORDO_OK || seconds || target_check(trial->target, reason);
    }
    if (seconds)
        *seconds = figures.timing.wall.low;
    dict_figures_free(&figures);
    if (got == ORDO_OK && figures.right)
        return true;
    return because(why, "%s%s of %zu: %.1000s", got == ORDO_OK ? "WRONG: " : "", workload_name(trial->spec.workload),
                   trial->spec.count, reason);
}

bool all_right(const struct tuner *tuner, const struct group *group, bool checks_only, char *why)
{
    for (int t = checks_only ? group->n_trials : 0; t < group->n_all; t++)
        if (!run_trial(tuner, &group->trials[t], NULL, why))
            return false;
    return true;
}
