/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[N_OUTCOMES] = { "ok", "WRONG", "failed", "too large", "skipped" };
    return names[outcome];
}

void row_empty(struct row *row, const struct spec *spec)
{
    *row = (struct row) { .spec = *spec, .before = NAN };
}

cJSON *row_point(const struct spec *spec)
{
    cJSON *json = cJSON_CreateObject();
    json_text(json, "workload", workload_name(spec->workload));
    json_text(json, "variant", variant_name(spec->workload, spec->variant));
    json_text(json, "key", type_name(spec->type));
    json_exact(json, "value_bytes", spec->value_bytes);
    json_text(json, "dist", dist_name(spec->dist));
    json_exact(json, "count", (double) spec->count);
    json_exact(json, "operations", (double) spec_operations(spec));
    if (spec->tune)
        json_text(json, "tune", spec->tune);
    if (workload_is_dict(spec->workload))
        json_exact(json, "batch", (double) spec_batch(spec));
    for (int axis = 0; axis < N_AXES && workload_is_dict(spec->workload); axis++) {
        const uint32_t number = spec_axis(spec, axis);
        if (!has_axis(axis, spec->workload, spec->variant) || (!number && !(axes[axis].traits & AXIS_ZERO)))
            continue;
        if (axes[axis].high)
            json_exact(json, axes[axis].key, number);
        else
            json_flag(json, axes[axis].key, true);
    }
    return json;
}

static void json_samples(cJSON *json, const char *name, const double *seconds, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(json, name);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_cut(seconds[i]));
}

#define STATISTICS(X)                                                                                                  \
    X(elements)                                                                                                        \
    X(stale)                                                                                                           \
    X(tombstones)                                                                                                      \
    X(runs)                                                                                                            \
    X(bytes_data) X(bytes_index) X(bytes_marks) X(bytes_spare) X(bytes_peak) X(cleanups) X(leaves) X(levels) X(restarts)

void json_dict(cJSON *json, const struct spec *spec, const struct dict_figures *dict)
{
    cJSON *statistics = cJSON_AddObjectToObject(json, "statistics");
#define X(member) json_exact(statistics, #member, (double) dict->statistics.member);
    STATISTICS(X)
#undef X
    json_number(json, "rebuild_s", dict->rebuild_seconds);
    if (dict->n_batches)
        json_samples(json, "batches_s", dict->batch_seconds, dict->n_batches);
    cJSON *fills = dict->n_fills ? cJSON_AddArrayToObject(json, "fills") : NULL;
    for (int i = 0; i < dict->n_fills; i++) {
        cJSON *fill = json_append(fills);
        json_exact(fill, "batches", (double) dict->fills[i].batches);
        json_exact(fill, "elements", (double) dict->fills[i].elements);
        json_number(fill, "first_call_s", dict->fills[i].first_seconds);
        json_number(fill, "rate", (double) spec_operations(spec) / dict->fills[i].seconds);
        json_samples(fill, "samples_s", dict->fills[i].sample, (size_t) dict->fills[i].repetitions);
    }
}

static void json_spread(cJSON *json, const char *name, const struct spread *spread)
{
    cJSON *object = cJSON_AddObjectToObject(json, name);
    json_number(object, "median", spread->median);
    json_number(object, "p10", spread->low);
    json_number(object, "p90", spread->high);
}

struct spread spread_from_json(const cJSON *row, const char *name)
{
    const cJSON *json = json_at(row, name);
    return (struct spread) { number_of(json, "median"), number_of(json, "p10"), number_of(json, "p90") };
}

void json_timing(cJSON *json, double rate, const struct timing *timing)
{
    static const char *const end_names[] = { "number", "time", "interval", "signal" };
    json_number(json, "rate", rate);
    json_spread(json, "wall_s", &timing->wall);
    json_spread(json, "device_s", &timing->device);
    json_number(json, "first_call_s", timing->first_call);
    json_exact(json, "repetitions", timing->repetitions);
    json_exact(json, "calls_per_repetition", timing->batch);
    json_text(json, "ended_by", end_names[timing->end]);
    json_samples(json, "samples_s", timing->sample, (size_t) timing->repetitions);
    json_samples(json, "interval_s", timing->interval, isnan(timing->interval[0]) ? 0 : 2);
}

/* Whether both have the same value, or neither has one. */
static bool same_member(const cJSON *a, const cJSON *b, const char *name, bool unless_missing)
{
    const cJSON *x = json_at(a, name), *y = json_at(b, name);
    return x && y ? cJSON_Compare(x, y, true) : x == y || unless_missing;
}

bool rows_are_alike(const cJSON *a, const cJSON *b)
{
    static const char *const names[] = { "name", "threads",     "workload", "variant",    "key",  "dist",
                                         "tune", "value_bytes", "count",    "operations", "batch" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!same_member(a, b, names[i], false))
            return false;
    for (int axis = 0; axis < N_AXES; axis++)
        if (!same_member(a, b, axes[axis].key, axes[axis].traits & AXIS_LATE))
            return false;
    return true;
}
