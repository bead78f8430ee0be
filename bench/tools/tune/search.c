/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <math.h>
#include <string.h>

/* A first trial that is this much slower ends a candidate. */
#define HOPELESS 1.4

/* Whether another candidate of average duration would end too late. */
static bool out_of_time(const struct tuner *tuner, const struct group *group)
{
    return now() + (group->tried ? group->seconds_trying / group->tried : 0) >= tuner->deadline;
}

/* Times the trials that measure a candidate. Returns the mean of its times over the times in use, INFINITY if it is
 * hopeless, NAN with `why` if a call failed. */
static double time_candidate(const struct tuner *tuner, const struct group *group, bool small,
                             double seconds[TRIALS_MAX], char *why)
{
    double logs = 0;
    int    n = 0;
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        if (trial->small != small)
            continue;
        if (!run_trial(tuner, trial, &seconds[t], why))
            return NAN;
        logs += log(seconds[t] / trial->seconds);
        if (n++ == 0 && seconds[t] > trial->seconds * HOPELESS)
            return INFINITY;
    }
    return n ? exp(logs / n) : INFINITY;
}

/* Times the values in use next to a candidate, because clocks of devices drift. */
static bool time_in_use(const struct tuner *tuner, struct group *group, bool small, char *why)
{
    for (int t = 0; t < group->n_trials; t++)
        if (group->trials[t].small == small && !run_trial(tuner, &group->trials[t], &group->trials[t].seconds, why))
            return false;
    return true;
}

/* Tries a candidate and takes it if it is better. Leaves the values in use set. */
static bool try_values(struct tuner *tuner, struct group *group, const struct values *values, bool small)
{
    const double start = now();
    double       seconds[TRIALS_MAX] = { 0 }, ratio = NAN;
    char         why[WHY_BYTES] = "", what[200] = ""; /* "items=15 group=256" */
    size_t       used = 0;
    for (int p = 0; p < group->n_params && used < sizeof what; p++)
        if (values->at[p] != group->in_use.at[p])
            used += (size_t) snprintf(what + used, sizeof what - used, "%s%s=%u", used ? " " : "",
                                      group->params[p].name + strlen(group->name) + 1, value_at(group, values, p));
    progress("%s: %s (%d tried, %.0f s left)", group->name, what, group->tried, tuner->whole_deadline - now());
    group->tried++;
    if (set_values(tuner, group, values, why) && all_right(tuner, group, true, why))
        ratio = time_candidate(tuner, group, small, seconds, why);
    /* A candidate that looked better must be so again, right after the values in use. */
    const bool taken = ratio < WORTH_IT && set_values(tuner, group, &group->in_use, why) &&
                       time_in_use(tuner, group, small, why) && set_values(tuner, group, values, why) &&
                       time_candidate(tuner, group, small, seconds, why) < WORTH_IT;
    group->seconds_trying += now() - start;
    if (isnan(ratio)) {
        cJSON *json = json_append(tuner->drops);
        group->dropped++;
        say(tuner->out, 4, "dropped %s %s: %.*s", group->name, what, (int) strcspn(why, "\n"), why);
        json_text(json, "group", group->name);
        json_text(json, "values", what);
        json_text(json, "why", why);
    }
    if (taken)
        group->in_use = *values;
    else
        set_values(tuner, group, &group->in_use, why);
    for (int t = 0; t < group->n_trials && taken; t++)
        if (group->trials[t].small == small)
            group->trials[t].seconds = seconds[t];
    return taken;
}

/* The param with this end of its name, or -1. */
static int param_ending(const struct group *group, const char *end)
{
    int p = group->n_params - 1;
    while (p >= 0 && strcmp(group->params[p].name + strlen(group->name), end) != 0)
        p--;
    return p;
}

/* Whether other values of a param can be faster. Items of a launch that is not used change nothing. */
static bool worth_searching(const struct group *group, int p)
{
    const int  launch = param_ending(group, ".small_group");
    const bool unused = launch >= 0 && value_at(group, &group->in_use, launch) == 1;
    return p >= 0 && group->params[p].applies && !(unused && p == param_ending(group, ".small_items"));
}

/* Tries all other values of a param, the nearest first. True if one was taken. */
static bool search_param(struct tuner *tuner, struct group *group, int p)
{
    const struct param *param = &group->params[p];
    const int           from = group->in_use.at[p];
    bool                taken = false;
    for (int distance = 1; distance < (int) param->n_choices && worth_searching(group, p); distance++)
        for (int side = 1; side >= -1; side -= 2) {
            struct values values = group->in_use;
            values.at[p] = from + side * distance;
            if (values.at[p] < 0 || values.at[p] >= (int) param->n_choices || values.at[p] == group->in_use.at[p])
                continue;
            if (out_of_time(tuner, group))
                return taken;
            taken |= try_values(tuner, group, &values, param->small);
        }
    return taken;
}

/* Work-items per group and items per work-item limit each other (registers, local memory). Tries pairs of about the
 * same product. */
static bool search_pairs(struct tuner *tuner, struct group *group, const char *first, const char *second, bool small)
{
    const int           a = param_ending(group, first), b = param_ending(group, second);
    const struct values from = group->in_use;
    bool                taken = false;
    if (!worth_searching(group, a) || !worth_searching(group, b))
        return false;
    const double product = (double) value_at(group, &from, a) * value_at(group, &from, b);
    for (int i = 0; i < (int) group->params[a].n_choices; i++)
        for (int k = 0; k < (int) group->params[b].n_choices; k++) {
            struct values values = group->in_use;
            values.at[a] = i;
            values.at[b] = k;
            const double here = (double) value_at(group, &values, a) * value_at(group, &values, b);
            if (i == from.at[a] || k == from.at[b] || here < product * 0.6 || here > product * 1.7)
                continue;
            if (out_of_time(tuner, group))
                return taken;
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

static void go_back(const struct tuner *tuner, struct group *group)
{
    char why[WHY_BYTES];
    group->in_use = group->before;
    set_values(tuner, group, &group->before, why);
}

/* Times all trials with the old or the new values. Keeps the least and the most. */
static bool time_all(const struct tuner *tuner, struct group *group, bool after, char *why)
{
    if (!set_values(tuner, group, after ? &group->in_use : &group->before, why))
        return false;
    for (int t = 0; t < group->n_trials; t++) {
        struct trial *trial = &group->trials[t];
        double       *least = after ? &trial->after : &trial->before, seconds = 0;
        if (!run_trial(tuner, trial, &seconds, why))
            return false;
        *least = *least > 0 && *least < seconds ? *least : seconds;
        if (!after)
            trial->before_most = fmax(trial->before_most, seconds);
    }
    return true;
}

#define TURNS 3

/* Measures old and new values in turns and checks every output. Goes back to the old ones unless the new are better. */
static bool finish_group(struct tuner *tuner, struct group *group, char *why)
{
    for (int t = 0; t < group->n_trials && !changed(group); t++)
        group->trials[t].before = group->trials[t].after = group->trials[t].seconds;
    if (!changed(group))
        return true;
    progress("%s: old and new in turns", group->name);
    for (int turn = 0; turn < TURNS; turn++)
        if (!time_all(tuner, group, false, why) || !time_all(tuner, group, true, why))
            return false;
    if (!all_right(tuner, group, false, why))
        return false;
    group->disturbed = group_is_disturbed(group);
    if (group->disturbed || !group_is_better(group))
        go_back(tuner, group);
    return true;
}

bool tune_group(struct tuner *tuner, struct group *group)
{
    char why[WHY_BYTES] = "";
    group->started = true;
    progress("%s: making inputs", group->name);
    const bool good = open_trials(tuner, group, why) && all_right(tuner, group, true, why) &&
                      time_in_use(tuner, group, false, why) && time_in_use(tuner, group, true, why);
    if (good)
        search_group(tuner, group);
    else
        report_error("%s with its present values: %s", group->name, why);
    if (good && !finish_group(tuner, group, why)) {
        report_error("%s: the new values failed in the end and are given back: %s", group->name, why);
        go_back(tuner, group);
    }
    close_trials(group);
    ordo_device_trim(tuner->device);
    return good;
}
