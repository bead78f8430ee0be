/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "bench/workload/dict_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[N_OUTCOMES] = { "ok", "WRONG", "failed", "too large", "skipped" };
    return names[outcome];
}

static const char *const end_names[] = { "number", "time", "interval", "signal" };

void row_empty(struct row *row, const struct spec *spec)
{
    const struct spread unknown = { NAN, NAN, NAN };
    *row = (struct row) { .spec = *spec,
                          .rate = NAN,
                          .bytes_per_second = NAN,
                          .copy_share = NAN,
                          .transfer_share = NAN,
                          .before = NAN,
                          .array_rate = NAN };
    row->timing.wall = row->timing.device = unknown;
    for (int i = 0; i < MAX_YARDSTICKS; i++)
        row->yardstick[i] = NAN;
}

/* ---- to JSON ------------------------------------------------------------------------------------------------- */

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
    if (spec->tune)
        cJSON_AddStringToObject(json, "tune", spec->tune);
    if (!workload_is_dict(spec->workload))
        return;
    cJSON_AddNumberToObject(json, "batch", (double) spec_batch(spec));
    cJSON_AddNumberToObject(json, "hit_percent", spec->hit_percent);
    cJSON_AddNumberToObject(json, "width", spec->width);
    cJSON_AddNumberToObject(json, "growth", spec->growth);
    if (spec->load_percent)
        cJSON_AddNumberToObject(json, "load_percent", spec->load_percent);
    if (spec->raise_percent)
        cJSON_AddNumberToObject(json, "raise_percent", spec->raise_percent);
    if (spec->chunk)
        cJSON_AddNumberToObject(json, "chunk", spec->chunk);
    if (spec->group)
        cJSON_AddNumberToObject(json, "group", spec->group);
    if (spec->fixed_depth)
        cJSON_AddBoolToObject(json, "fixed_depth", true);
    if (spec->first_calls)
        cJSON_AddBoolToObject(json, "first_calls", true);
    if (workload_has_updates(spec->workload))
        cJSON_AddNumberToObject(json, "update_percent", spec->update_percent);
    if (spec->stale_percent)
        cJSON_AddNumberToObject(json, "stale_percent", spec->stale_percent);
    if (spec->workload == DELETERANDOM)
        cJSON_AddNumberToObject(json, "erase_percent", spec->erase_percent);
    if (plan_has_fills(spec->workload))
        cJSON_AddNumberToObject(json, "most_fills", spec->fills);
}

static void json_samples(cJSON *json, const char *name, const double *seconds, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(json, name);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, json_cut(seconds[i]));
}

static void json_statistics(cJSON *json, const struct ordo_statistics *statistics)
{
    cJSON_AddNumberToObject(json, "elements", (double) statistics->elements);
    cJSON_AddNumberToObject(json, "stale", (double) statistics->stale);
    cJSON_AddNumberToObject(json, "tombstones", (double) statistics->tombstones);
    cJSON_AddNumberToObject(json, "runs", (double) statistics->runs);
    cJSON_AddNumberToObject(json, "bytes_data", (double) statistics->bytes_data);
    cJSON_AddNumberToObject(json, "bytes_index", (double) statistics->bytes_index);
    cJSON_AddNumberToObject(json, "bytes_marks", (double) statistics->bytes_marks);
    cJSON_AddNumberToObject(json, "bytes_spare", (double) statistics->bytes_spare);
    cJSON_AddNumberToObject(json, "bytes_peak", (double) statistics->bytes_peak);
    cJSON_AddNumberToObject(json, "cleanups", (double) statistics->cleanups);
    cJSON_AddNumberToObject(json, "leaves", (double) statistics->leaves);
    cJSON_AddNumberToObject(json, "levels", (double) statistics->levels);
    cJSON_AddNumberToObject(json, "restarts", (double) statistics->restarts);
}

static void json_dict(cJSON *json, const struct row *row)
{
    const struct dict_figures *dict = &row->dict;
    json_number(json, "rate_of_sorted_array", row->array_rate);
    json_number(json, "rebuild_s", dict->rebuild_seconds);
    json_statistics(cJSON_AddObjectToObject(json, "statistics"), &dict->statistics);
    if (dict->n_batches)
        json_samples(json, "batches_s", dict->batch_seconds, dict->n_batches);
    cJSON *fills = dict->n_fills ? cJSON_AddArrayToObject(json, "fills") : NULL;
    for (int i = 0; i < dict->n_fills; i++) {
        cJSON *fill = cJSON_CreateObject();
        cJSON_AddNumberToObject(fill, "batches", (double) dict->fills[i].batches);
        cJSON_AddNumberToObject(fill, "elements", (double) dict->fills[i].elements);
        json_number(fill, "first_call_s", dict->fills[i].first_seconds);
        json_number(fill, "rate", (double) spec_operations(&row->spec) / dict->fills[i].seconds);
        json_samples(fill, "samples_s", dict->fills[i].sample, (size_t) dict->fills[i].repetitions);
        cJSON_AddItemToArray(fills, fill);
    }
}

void json_timing(cJSON *json, double rate, const struct timing *timing)
{
    json_number(json, "rate", rate);
    cJSON_AddItemToObject(json, "wall_s", json_spread(&timing->wall));
    cJSON_AddItemToObject(json, "device_s", json_spread(&timing->device));
    json_number(json, "first_call_s", timing->first_call);
    cJSON_AddNumberToObject(json, "repetitions", timing->repetitions);
    cJSON_AddNumberToObject(json, "calls_per_repetition", timing->batch);
    cJSON_AddStringToObject(json, "ended_by", end_names[timing->end]);
    json_samples(json, "samples_s", timing->sample, (size_t) timing->repetitions);
    json_samples(json, "interval_s", timing->interval, isnan(timing->interval[0]) ? 0 : 2);
}

static void json_measured(cJSON *json, const struct row *row)
{
    json_timing(json, row->rate, &row->timing);
    if (workload_is_dict(row->spec.workload))
        json_dict(json, row);
    if (workload_is_host(row->spec.workload)) {
        json_number(json, "bytes_to_device", row->transfers.to_device);
        json_number(json, "bytes_from_device", row->transfers.from_device);
        json_number(json, "bytes_per_s", row->bytes_per_second);
        json_number(json, "share_of_transfer_rate", row->transfer_share);
    } else if (!workload_is_dict(row->spec.workload)) {
        json_number(json, "bytes_counted", spec_bytes(&row->spec));
        json_number(json, "bytes_per_s", row->bytes_per_second);
        json_number(json, "share_of_copy_rate", row->copy_share);
    }
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

cJSON *row_to_json(const struct row *row)
{
    cJSON *json = cJSON_CreateObject();
    json_point(json, &row->spec);
    cJSON_AddStringToObject(json, "check", outcome_name(row->outcome));
    if (row->why[0])
        cJSON_AddStringToObject(json, "why", row->why);
    if (row->outcome == GOOD || row->outcome == WRONG)
        json_measured(json, row);
    return json;
}

/* ---- and back ------------------------------------------------------------------------------------------------ */

/* Old files lack some: those are not compared. */
static bool same_unless_missing(const cJSON *a, const cJSON *b, const char *name)
{
    const double x = number_of(a, name), y = number_of(b, name);
    return isnan(x) || isnan(y) || x == y;
}

bool rows_are_alike(const cJSON *a, const cJSON *b)
{
    static const char *const texts[] = { "workload", "variant", "key", "dist", "tune" };
    static const char *const numbers[] = { "value_bytes",   "count",        "operations", "batch",
                                           "hit_percent",   "width",        "growth",     "update_percent",
                                           "stale_percent", "load_percent", "group",      "raise_percent",
                                           "chunk" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(text_of(a, texts[i]), text_of(b, texts[i])) != 0)
            return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double x = number_of(a, numbers[i]), y = number_of(b, numbers[i]);
        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return is_true(a, "first_calls") == is_true(b, "first_calls") &&
           is_true(a, "fixed_depth") == is_true(b, "fixed_depth") && same_unless_missing(a, b, "erase_percent") &&
           same_unless_missing(a, b, "most_fills");
}

cJSON *row_point(const struct spec *spec)
{
    cJSON *json = cJSON_CreateObject();
    json_point(json, spec);
    return json;
}

static void word(struct command *command, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void word(struct command *command, const char *option, const char *format, ...)
{
    va_list args;
    if (command->n + 2 > MOST_WORDS)
        return;
    snprintf(command->words[command->n++], WORD_BYTES, "%s", option);
    va_start(args, format);
    vsnprintf(command->words[command->n++], WORD_BYTES, format, args);
    va_end(args);
}

static void number_word(struct command *command, const char *option, const cJSON *row, const char *name)
{
    const double number = number_of(row, name);
    if (number > 0 || (number == 0 && strcmp(name, "growth") != 0))
        word(command, option, "%.0f", number);
}

static void dict_words(struct command *command, const cJSON *row)
{
    if (!text_is(row, "workload", workload_name(CONCURRENTFILL)) && !text_is(row, "workload", workload_name(BUILD)) &&
        !text_is(row, "workload", workload_name(HOSTBUILD)))
        word(command, "--batch", "=%.0f", number_of(row, "batch"));
    number_word(command, "--hit-rate", row, "hit_percent");
    number_word(command, "--width", row, "width");
    number_word(command, "--growth", row, "growth");
    number_word(command, "--load", row, "load_percent");
    number_word(command, "--group", row, "group");
    number_word(command, "--raise", row, "raise_percent");
    number_word(command, "--chunk", row, "chunk");
    number_word(command, "--updates", row, "update_percent");
    number_word(command, "--erase", row, "erase_percent");
    number_word(command, "--stale", row, "stale_percent");
    number_word(command, "--fills", row, "most_fills");
    if (is_true(row, "fixed_depth") && command->n < MOST_WORDS)
        snprintf(command->words[command->n++], WORD_BYTES, "--fixed-depth");
    if (is_true(row, "first_calls") && command->n < MOST_WORDS)
        snprintf(command->words[command->n++], WORD_BYTES, "--first-calls");
}

void row_command(const cJSON *row, struct command *command)
{
    const bool dict = !isnan(number_of(row, "batch"));
    command->n = 0;
    word(command, "-w", "%s", text_of(row, "workload"));
    if (*text_of(row, "variant"))
        word(command, dict ? "-s" : "--variant", "%s", text_of(row, "variant"));
    word(command, "-n", "=%.0f", number_of(row, "count"));
    word(command, "-t", "%s", text_of(row, "key"));
    word(command, "-v", "%.0f", number_of(row, "value_bytes"));
    if (!text_is(row, "workload", workload_name(FILLSEQ)))
        word(command, "-D", "%s", text_of(row, "dist"));
    if (*text_of(row, "tune"))
        word(command, "--tune", "%s", text_of(row, "tune"));
    for (int w = 0; w < N_ALL_WORKLOADS; w++)
        if (workload_has_queries((enum workload) w) && text_is(row, "workload", workload_name((enum workload) w)))
            word(command, "-q", "=%.0f", number_of(row, "operations"));
    if (dict)
        dict_words(command, row);
}

struct spread spread_from_json(const cJSON *row, const char *name)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(row, name);
    return (struct spread) { number_of(json, "median"), number_of(json, "p10"), number_of(json, "p90") };
}

static size_t whole(const cJSON *json, const char *name)
{
    const double number = number_of(json, name);
    return number > 0 ? (size_t) number : 0;
}

static void fills_from(struct row *row, const cJSON *json)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "fills"), *fill = NULL;
    const int    n = cJSON_GetArraySize(list);
    row->dict.fills = n ? calloc((size_t) n, sizeof *row->dict.fills) : NULL;
    if (!row->dict.fills)
        return;
    cJSON_ArrayForEach(fill, list) row->dict.fills[row->dict.n_fills++] =
        (struct dict_fill) { .batches = whole(fill, "batches"),
                             .elements = whole(fill, "elements"),
                             .seconds = (double) spec_operations(&row->spec) / number_of(fill, "rate"),
                             .first_seconds = number_of(fill, "first_call_s") };
}

static void statistics_from(struct ordo_statistics *statistics, const cJSON *json)
{
    statistics->elements = whole(json, "elements");
    statistics->bytes_data = whole(json, "bytes_data");
    statistics->bytes_index = whole(json, "bytes_index");
    statistics->bytes_marks = whole(json, "bytes_marks");
    statistics->bytes_spare = whole(json, "bytes_spare");
    statistics->bytes_peak = whole(json, "bytes_peak");
}

void row_from_json(struct row *row, const cJSON *json)
{
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(json, "host_rates");
    for (int o = 0; o < N_OUTCOMES; o++)
        if (text_is(json, "check", outcome_name((enum outcome) o)))
            row->outcome = (enum outcome) o;
    snprintf(row->why, sizeof row->why, "%s", text_of(json, "why"));
    row->rate = number_of(json, "rate");
    row->bytes_per_second = number_of(json, "bytes_per_s");
    row->copy_share = number_of(json, "share_of_copy_rate");
    row->transfer_share = number_of(json, "share_of_transfer_rate");
    row->timing.wall = spread_from_json(json, "wall_s");
    row->timing.device = spread_from_json(json, "device_s");
    row->array_rate = number_of(json, "rate_of_sorted_array");
    for (int i = 0; i < MAX_YARDSTICKS; i++)
        if (yardstick_name(row->spec.workload, i))
            row->yardstick[i] = number_of(host, yardstick_name(row->spec.workload, i));
    row->peer = cJSON_GetObjectItemCaseSensitive(json, "peer");
    row->dict.rebuild_seconds = number_of(json, "rebuild_s");
    statistics_from(&row->dict.statistics, cJSON_GetObjectItemCaseSensitive(json, "statistics"));
    fills_from(row, json);
}
