/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <math.h>
#include <string.h>

/* A first trial that is this much slower ends a candidate. */
#define HOPELESS 1.4

/* ---- candidates ---------------------------------------------------------------------------------------------- */

/* Whether another candidate of average duration would end too late. */
static bool out_of_time(const struct tuner *tuner, const struct group *group)
{
    return now() + (group->tried ? group->seconds_trying / group->tried : 0) >= tuner->deadline;
}

/* The params that differ from the ones in use, as "items=15 group=256". */
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

static void drop(struct tuner *tuner, struct group *group, const char *values, const char *why)
{
    cJSON *json = json_append(tuner->drops);
    group->dropped++;
    say(tuner->out, 4, "dropped %s %s: %.*s", group->name, values, (int) strcspn(why, "\n"), why);
    json_text(json, "group", group->name);
    json_text(json, "values", values);
    json_text(json, "why", why);
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
        if (!time_trial(tuner, trial, &seconds[t], why))
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
        if (group->trials[t].small == small && !time_trial(tuner, &group->trials[t], &group->trials[t].seconds, why))
            return false;
    return true;
}

/* Whether a candidate that looked better still is, right after the values in use. */
static bool confirmed(const struct tuner *tuner, struct group *group, const struct values *values, bool small,
                      double seconds[TRIALS_MAX], char *why)
{
    const struct values in_use = values_in_use(group);
    return set_values(tuner, group, &in_use, why) && time_in_use(tuner, group, small, why) &&
           set_values(tuner, group, values, why) && time_candidate(tuner, group, small, seconds, why) < WORTH_IT;
}

/* Tries a candidate and takes it if it is better. Leaves the values in use set. */
static bool try_values(struct tuner *tuner, struct group *group, const struct values *values, bool small)
{
    const struct values in_use = values_in_use(group);
    const double        start = now();
    double              seconds[TRIALS_MAX] = { 0 }, ratio = NAN;
    char                why[WHY_BYTES] = "", what[200];

    describe(group, values, what, sizeof what);
    progress("%s: %s (%d tried, %.0f s left)", group->name, what, group->tried, tuner->whole_deadline - now());
    group->tried++;
    if (set_values(tuner, group, values, why) && all_right(tuner, group->checks, group->n_checks, why))
        ratio = time_candidate(tuner, group, small, seconds, why);
    const bool taken = ratio < WORTH_IT && confirmed(tuner, group, values, small, seconds, why);
    group->seconds_trying += now() - start;
    if (isnan(ratio))
        drop(tuner, group, what, why);
    if (!taken)
        set_values(tuner, group, &in_use, why);
    for (int p = 0; p < group->n_params && taken; p++)
        group->params[p].at = values->at[p];
    for (int t = 0; t < group->n_trials && taken; t++)
        if (group->trials[t].small == small)
            group->trials[t].seconds = seconds[t];
    return taken;
}

/* ---- the search of a group ----------------------------------------------------------------------------------- */

/* The param with this end of its name, or NULL. */
static struct param *param_ending(struct group *group, const char *end)
{
    for (int p = 0; p < group->n_params; p++)
        if (strcmp(group->params[p].name + strlen(group->name), end) == 0)
            return &group->params[p];
    return NULL;
}

/* Whether other values of a param can be faster. Items of a launch that is not used change nothing. */
static bool worth_searching(struct group *group, const struct param *param)
{
    const struct param *launch = param_ending(group, ".small_group");
    const bool          unused = launch && launch->choice[launch->at] == 1;
    return param->applies && !(unused && param == param_ending(group, ".small_items"));
}

/* Tries all other values of a param, the nearest first. True if one was taken. */
static bool search_param(struct tuner *tuner, struct group *group, int p)
{
    const struct param *param = &group->params[p];
    const int           from = param->at;
    bool                taken = false;
    for (int distance = 1; distance < (int) param->n_choices && worth_searching(group, param); distance++)
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

/* Work-items per group and items per work-item limit each other (registers, local memory). Tries pairs of about the
 * same product. */
static bool search_pairs(struct tuner *tuner, struct group *group, const char *first, const char *second, bool small)
{
    const struct param *a = param_ending(group, first), *b = param_ending(group, second);
    if (!a || !b || !worth_searching(group, a) || !worth_searching(group, b))
        return false;
    const int    from_a = a->at, from_b = b->at;
    const double product = (double) a->choice[from_a] * b->choice[from_b];
    bool         taken = false;
    for (int i = 0; i < (int) a->n_choices; i++)
        for (int k = 0; k < (int) b->n_choices; k++) {
            const double here = (double) a->choice[i] * b->choice[k];
            if (i == from_a || k == from_b || here < product * 0.6 || here > product * 1.7)
                continue;
            if (out_of_time(tuner, group))
                return taken;
            struct values values = values_in_use(group);
            values.at[a - group->params] = i;
            values.at[b - group->params] = k;
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
    const struct values before = values_before(group);
    char                why[WHY_BYTES];
    for (int p = 0; p < group->n_params; p++)
        group->params[p].at = before.at[p];
    set_values(tuner, group, &before, why);
}

/* Times all trials with the old or the new values. Keeps the least and the most. */
static bool time_all(const struct tuner *tuner, struct group *group, const struct values *values, bool after, char *why)
{
    if (!set_values(tuner, group, values, why))
        return false;
    for (int t = 0; t < group->n_trials; t++) {
        struct trial *trial = &group->trials[t];
        double       *least = after ? &trial->after : &trial->before, seconds = 0;
        if (!time_trial(tuner, trial, &seconds, why))
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
    const struct values before = values_before(group), after = values_in_use(group);
    for (int t = 0; t < group->n_trials && !changed(group); t++)
        group->trials[t].before = group->trials[t].after = group->trials[t].seconds;
    if (!changed(group))
        return true;
    progress("%s: old and new in turns", group->name);
    for (int turn = 0; turn < TURNS; turn++)
        if (!time_all(tuner, group, &before, false, why) || !time_all(tuner, group, &after, true, why))
            return false;
    if (!all_right(tuner, group->trials, group->n_trials, why))
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
    const bool good = open_trials(tuner, group, why) && all_right(tuner, group->checks, group->n_checks, why) &&
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
