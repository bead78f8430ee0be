/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/device.h"
#include "bench/common/timing.h"
#include "bench/measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups -------------------------------------------------------------------------------------------------- */

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
    param->applies = info->applies;
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

bool list_groups(struct tuner *tuner)
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
                  .seed = 5,
                  .hit_percent = 50,
                  .width = 16,
                  .fills = 1,
                  .update_percent = 50 },
        .small = small,
    };
}

/* What a group is measured on at sizes of about 2^log2. */
static void add_trials(struct trial *list, int *n, const struct group *group, size_t count, size_t n_queries,
                       bool small)
{
    switch (group->primitive) {
    case TUNE_SORT:
        add_trial(list, n, group, SORT, 0, count, 0, small);
        break;
    case TUNE_SEARCH:
        add_trial(list, n, group, SEARCH, VARIANT_INDEX, count, n_queries, small);
        add_trial(list, n, group, SEARCH, VARIANT_INDEX | VARIANT_SORTED, count, n_queries, small);
        add_trial(list, n, group, LOOKUP, VARIANT_INDEX, count, n_queries, small);
        break;
    case TUNE_MERGE:
        add_trial(list, n, group, MERGE, 0, count, 0, small);
        break;
    case TUNE_SCAN:
        add_trial(list, n, group, SCAN, 0, count, 0, small);
        add_trial(list, n, group, REDUCE, 0, count, 0, small);
        break;
    case TUNE_MERGE_RUNS:
        add_trial(list, n, group, MERGE_RUNS, 1, count, 0, small);
        break;
    case TUNE_COMPACT:
        add_trial(list, n, group, COMPACT, 0, count, 0, small);
        break;
    case TUNE_BY_KEY:
        add_trial(list, n, group, GROUPBY, 1, count, 0, small);
        break;
    case TUNE_TOP:
        add_trial(list, n, group, TOP, 0, count, 0, small);
        add_trial(list, n, group, SELECT, 0, count, 0, small);
        break;
    case TUNE_BLINK:
        add_trial(list, n, group, READRANDOM, BLINK, count, n_queries, small);
        add_trial(list, n, group, SEEKRANDOM, BLINK, count, n_queries, small);
        break;
    default:
        add_trial(list, n, group, CONCURRENTMIX, BLINK, count, n_queries, small);
        break;
    }
}

void plan_trials(const struct tuner *tuner, struct group *group)
{
    const bool   cpu = tuner->cpu;
    const size_t large = (size_t) 1 << (cpu ? 20 : 24), middle = (size_t) 1 << (cpu ? 16 : 20);
    const size_t queries = (size_t) 1 << (cpu ? 18 : 22);

    add_trials(group->trials, &group->n_trials, group, large, queries, false);
    if (group->primitive != TUNE_SEARCH)
        add_trials(group->trials, &group->n_trials, group, middle, queries, false);
    if (group->primitive == TUNE_SORT)
        for (int log2 = 10; log2 <= 14; log2 += 2)
            add_trials(group->trials, &group->n_trials, group, (size_t) 1 << log2, queries, true);
    /* Off the seams of any tile, below one and over many. */
    add_trials(group->checks, &group->n_checks, group, 1003, 2011, false);
    add_trials(group->checks, &group->n_checks, group, ((size_t) 1 << 17) + 77, 5003, false);
}

ordo_status open_trials(const struct tuner *tuner, struct trial *list, int n, char *why)
{
    for (int t = 0; t < n; t++) {
        if (workload_is_dict(list[t].spec.workload)) /* measured by itself: dict_trial */
            continue;
        const ordo_status got = subject_open(tuner->device, &list[t].spec, &list[t].subject, why);
        if (got != ORDO_OK)
            return got;
    }
    return ORDO_OK;
}

void close_trials(struct trial *list, int n)
{
    for (int t = 0; t < n; t++)
        if (list[t].subject)
            subject_close(&list[t].subject);
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

bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why)
{
    for (int p = 0; p < group->n_params; p++) {
        const struct param *param = &group->params[p];
        const ordo_status   got = ordo_device_set_tunable(tuner->device, param->name, param->choice[values->at[p]]);
        if (got != ORDO_OK)
            return device_why(tuner->device, got, why) == ORDO_OK;
    }
    return true;
}

/* Measures a trial on a dictionary, which is built for it, and checks everything. */
static bool dict_trial(const struct tuner *tuner, const struct trial *trial, const struct timing_goal *goal,
                       double *seconds, char *why)
{
    struct dict_figures figures = { 0 };
    char                reason[WHY_BYTES] = "";
    const ordo_status   got = dict_measure(tuner->device, &trial->spec, goal, 0, &figures, reason);
    const bool          good = got == ORDO_OK && figures.right;
    *seconds = figures.timing.wall.low;
    if (!good)
        because(why, "%s%s of %zu: %.200s", got == ORDO_OK ? "WRONG: " : "", workload_name(trial->spec.workload),
                trial->spec.count, reason);
    dict_figures_free(&figures);
    return good;
}

/* Runs a trial once and checks all of its output. */
static bool is_right(const struct tuner *tuner, const struct trial *trial, char *why)
{
    static const struct timing_goal once = { .repetitions = 1 };
    double                          seconds = 0;
    if (workload_is_dict(trial->spec.workload))
        return dict_trial(tuner, trial, &once, &seconds, why);
    ordo_status got = subject_index(trial->subject);
    if (got == ORDO_OK)
        got = subject_poison(trial->subject);
    if (got == ORDO_OK)
        got = subject_call(trial->subject, NULL);
    if (got == ORDO_OK)
        got = ordo_device_finish(tuner->device);
    if (got != ORDO_OK)
        return device_why(tuner->device, got, why) == ORDO_OK;
    char wrong[WHY_BYTES];
    if (subject_check(trial->subject, wrong))
        return true;
    return because(why, "WRONG: %s of %zu: %.200s", workload_name(trial->spec.workload), trial->spec.count, wrong);
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
    struct timing                   timing;
    if (workload_is_dict(trial->spec.workload))
        return dict_trial(tuner, trial, &goal, seconds, why);
    ordo_status got = subject_index(trial->subject);
    if (got == ORDO_OK)
        got = time_calls(tuner->device, subject_call, trial->subject, &goal, &timing);
    if (got != ORDO_OK)
        return device_why(tuner->device, got, why) == ORDO_OK;
    *seconds = timing.wall.low;
    return true;
}

bool changed(const struct group *group)
{
    for (int p = 0; p < group->n_params; p++)
        if (group->params[p].at != group->params[p].before)
            return true;
    return false;
}
