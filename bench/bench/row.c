/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/peers/peers.h"
#include "bench/peers/rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets NAME=VALUE,... False with the reason in `why`. */
static bool tune(ordo_device *device, const char *list, char *why)
{
    for (const char *at = list; *at; at += *at == ',') {
        char       name[64];
        unsigned   value = 0;
        int        end = 0;
        const bool reads = sscanf(at, "%63[^=,]=%u%n", name, &value, &end) == 2 && (at[end] == ',' || !at[end]);
        if (!reads || ordo_device_set_tunable(device, name, value) != ORDO_OK) {
            if (!reads || ordo_device_last_error(device, why, WHY_BYTES) <= 1)
                because(why, "--tune: '%.*s' is not NAME=VALUE", (int) strcspn(at, ","), at);
            return false;
        }
        at += end;
    }
    return true;
}

/* Stop when the median is known to this share. */
#define NARROW 0.01
/* Seconds for the repetitions of a row of the suite, at most. */
#define SUITE_SECONDS 0.2
/* The length of a repetition, from the number that should fit. */
#define BATCHES   24
#define BATCH_MIN 0.004
#define BATCH_MAX 0.02

static void failed_call(struct run *run, struct row *row, ordo_status status)
{
    const bool full = status == ORDO_UNSUPPORTED && row->spec.variant == CUCKOO;
    row->outcome = status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE ? TOO_LARGE : full ? SKIPPED : FAILED;
    if (full)
        because(row->why, "%s", CUCKOO_FULL);
    if (!row->why[0])
        device_why(run->device, status, row->why);
}

struct timing_goal row_goal(const struct run *run)
{
    return (struct timing_goal) { .seconds = run->row_seconds,
                                  .narrow = NARROW,
                                  .batch_seconds = fmin(BATCH_MAX, fmax(BATCH_MIN, run->row_seconds / BATCHES)),
                                  .repetitions = (int) run->options->repetitions,
                                  .device_too = true };
}

/* Adds the figures that all rows have. Returns the rate. */
static double add_timing(const struct run *run, const struct spec *spec, const struct timing *timing, cJSON *json)
{
    struct ordo_memory memory = { 0 };
    const double       rate = (double) spec_operations(spec) / timing->wall.median;
    json_timing(json, rate, timing);
    if (timing->repetitions)
        json_number(json, "began_s", timing->began - run->file.began);
    (void) ordo_device_memory(run->device, &memory);
    json_exact(json, "scratch_bytes", (double) memory.scratch_peak_bytes);
    return rate;
}

static void add_known(cJSON *json, const char *name, double number)
{
    if (!isnan(number))
        json_number(json, name, number);
}

/* Adds the transferred bytes, and their share of the time. */
static void add_transfers(const struct run *run, const struct spec *spec, size_t stored, double seconds, cJSON *json)
{
    const struct transfers moved = spec_transfers(spec, stored);
    const struct limits   *limits = &run->limits;
    const double           to_rate = spec->pinned ? limits->pinned_to : limits->to_device;
    const double           from_rate = spec->pinned ? limits->pinned_from : limits->from_device;
    const double           to = moved.to_device > 0 ? moved.to_device / to_rate : 0;
    const double           from = moved.from_device > 0 ? moved.from_device / from_rate : 0;
    json_number(json, "bytes_to_device", moved.to_device);
    json_number(json, "bytes_from_device", moved.from_device);
    json_number(json, "bytes_per_s", (moved.to_device + moved.from_device) / seconds);
    json_number(json, "share_of_transfer_rate", (to + from) / seconds);
}

static void add_string_dict(const struct target *target, cJSON *json)
{
    struct ordo_string_dict_statistics statistics;
    if (ordo_string_dict_get_statistics(target->string_dict, &statistics) != ORDO_OK)
        return;
    json_exact(json, "ids", (double) statistics.strings);
    json_exact(json, "stale", (double) statistics.stale);
    json_exact(json, "runs", (double) statistics.runs);
    json_exact(json, "index_bytes", (double) statistics.bytes_index);
    json_number(json, "index_bytes_per_key", (double) statistics.bytes_index / (double) statistics.strings);
}

static void add_strings(const struct target *target, cJSON *json)
{
    struct ordo_string_index_statistics statistics;
    json_exact(json, "string_bytes", (double) target->in.strings.n_bytes);
    if (target->string_dict)
        add_string_dict(target, json);
    if (!target->strings || ordo_string_index_get_statistics(target->strings, &statistics) != ORDO_OK)
        return;
    json_exact(json, "ids", (double) statistics.ids);
    json_exact(json, "index_bytes", (double) statistics.bytes);
    json_number(json, "index_bytes_per_key", (double) statistics.bytes / (double) statistics.ids);
    json_number(json, "candidates", (double) statistics.candidates / (double) statistics.ids);
    json_number(json, "compared", (double) statistics.compared / (double) statistics.ids);
    if (workload_has_queries(target->spec.workload))
        json_number(json, "index_build_s", target->index_seconds);
}

static void add_array(const struct run *run, struct row *row, struct target *target, const struct timing *timing,
                      cJSON *json)
{
    const struct spec *spec = &row->spec;
    add_timing(run, spec, timing, json);
    if (workload_is_host(spec->workload)) {
        add_transfers(run, spec, 0, timing->wall.median, json);
    } else if (spec_bytes(spec) > 0) {
        const double rate = spec_bytes(spec) / timing->wall.median;
        json_number(json, "bytes_counted", spec_bytes(spec));
        json_number(json, "bytes_per_s", rate);
        json_number(json, "share_of_copy_rate", rate / run->limits.copy.bytes_per_second);
    }
    if (target->index) {
        json_exact(json, "index_bytes", (double) ordo_index_bytes(target->index));
        json_number(json, "index_build_s", target->index_seconds);
    }
    if (workload_is_strings(spec->workload))
        add_strings(target, json);
    progress("checking");
    row->outcome = target_check(target, row->why) ? GOOD : WRONG;
    cJSON *rates = cJSON_AddObjectToObject(json, "host_rates");
    for (int i = 0; i < BASELINES_MAX && !run->options->no_host && !run->options->side_by_side; i++)
        if (baseline_name(spec->workload, i))
            add_known(
                rates, baseline_name(spec->workload, i),
                (workload_is_strings(spec->workload) ? string_baseline_rate : baseline_rate)(spec, &target->in, i));
}

static void measure_arrays(struct run *run, struct row *row, cJSON *json)
{
    const bool         host = workload_is_host(row->spec.workload);
    struct target     *target = NULL;
    struct timing      timing;
    struct timing_goal goal = row_goal(run);
    goal.prepare = host || workload_is_strings(row->spec.workload) ? target_prepare : NULL;
    goal.device_too = !host;
    ordo_status got = target_open(run->device, &row->spec, &target, row->why);
    if (got == ORDO_OK)
        got = time_calls(run->device, target_call, target, &goal, &timing);
    if (got == ORDO_OK)
        add_array(run, row, target, &timing, json);
    else
        failed_call(run, row, got);
    target_close(&target);
}

/* Progress: "row 3 of 12, 2 min left: sort, 2^20: timing". */
static void announce(const struct run *run, const struct spec *spec)
{
    char         left[32] = "";
    const char  *variant = variant_name(spec->workload, spec->variant);
    const int    done = run->rows - run->rows_left, measured = done - run->kept;
    const double seconds = measured ? (now() - run->file.began) / measured * run->rows_left : 0;
    if (seconds >= 90)
        snprintf(left, sizeof left, ", %.0f min left", seconds / 60);
    else if (seconds >= 1)
        snprintf(left, sizeof left, ", %.0f s left", seconds);
    progress_about("row %d of %d%s: %s%s%s, %s", done + 1, run->rows, left, workload_name(spec->workload),
                   *variant ? " " : "", variant, text_count(TEXT, spec->count));
    progress("timing");
}

/* The rate of the sorted array at the point; NaN on failure. */
static double rate_of_sorted_array(struct run *run, const struct spec *point)
{
    char                     why[WHY_BYTES] = "";
    struct spec              spec = *point;
    struct dict_figures      figures;
    const struct timing_goal goal = row_goal(run);
    spec.variant = SORTED_ARRAY;
    spec.first_calls = false;
    spec.workload = point->workload == CONCURRENTREAD ? READRANDOM : point->workload;
    announce(run, &spec);
    const ordo_status got = dict_measure(run->device, &spec, &goal, 0, &figures, why);
    dict_figures_free(&figures);
    if (got == ORDO_OK && figures.right)
        return (double) spec_operations(&spec) / figures.timing.wall.median;
    report_error("%s with a sorted array: %s", workload_name(spec.workload), why);
    return NAN;
}

/* `beside`: the row of a sorted array at the point, or NULL. */
static void measure_dict(struct run *run, struct row *row, const struct row *beside, cJSON *json)
{
    const struct spec         *spec = &row->spec;
    const struct dict_figures *dict = &row->dict;
    const struct timing_goal   goal = row_goal(run);
    const bool                 no_host = run->options->no_host || run->options->side_by_side;
    /* Hash maps run beside structures without order; a B-tree unless a row has it. */
    const unsigned    maps = structure_is(spec->variant, ORDO_NO_ORDER) ? DICT_HASH_MAPS : 0;
    const unsigned    host = no_host ? 0 : maps | (beside ? 0 : 1u << DICT_BTREE);
    const ordo_status got = dict_measure(run->device, spec, &goal, host, &row->dict, row->why);
    if (got != ORDO_OK) {
        failed_call(run, row, got);
        return;
    }
    row->outcome = dict->right ? GOOD : WRONG;
    const double rate = add_timing(run, spec, &dict->timing, json);
    double       array_rate = spec->variant == SORTED_ARRAY ? rate : beside ? number_of(beside->json, "rate") : NAN;
    json_dict(json, spec, dict);
    if (workload_is_host(spec->workload))
        add_transfers(run, spec, dict->statistics.elements, dict->timing.wall.median, json);
    cJSON *rates = cJSON_AddObjectToObject(json, "host_rates");
    for (int i = 0; i < N_DICT_BASELINES; i++)
        if (baseline_name(spec->workload, i))
            add_known(rates, baseline_name(spec->workload, i),
                      beside && i == DICT_BTREE
                          ? number_of(json_at(beside->json, "host_rates"), baseline_name(spec->workload, i))
                          : dict->baseline[i]);
    if (isnan(array_rate) && plan_has_fills(spec->workload) && row->outcome == GOOD && !run->options->no_array)
        array_rate = rate_of_sorted_array(run, spec);
    json_number(json, "rate_of_sorted_array", array_rate);
}

static bool fits(const struct run *run, struct row *row)
{
    const struct ordo_facts    *facts = ordo_device_facts(run->device);
    const struct workload_bytes size =
        workload_is_dict(row->spec.workload) ? plan_bytes(&row->spec) : target_bytes(&row->spec);
    char need[TEXT_BYTES], has[TEXT_BYTES];
    if (size.largest > facts->max_alloc_bytes)
        return because(row->why, "needs a buffer of %s, this device allows %s", text_bytes(need, (double) size.largest),
                       text_bytes(has, (double) facts->max_alloc_bytes));
    if ((double) size.all * 1.5 > (double) facts->global_bytes * 0.9)
        return because(row->why, "needs %s with its scratch, this device has %s",
                       text_bytes(need, (double) size.all * 1.5), text_bytes(has, (double) facts->global_bytes));
    return true;
}

void row_share_time(struct run *run)
{
    const double left = run->deadline - now();
    const int    rows = run->sharing > 0 ? run->sharing-- : run->rows_left;
    /* Inputs, checks and host code take about as long as the timing. */
    run->row_seconds = isinf(left) ? 1 : left / rows * 0.5;
    if (run->suite)
        run->row_seconds = fmin(run->row_seconds, SUITE_SECONDS);
}

/* Elements and answers, for which a row takes time. */
static double work_of_row(const cJSON *row)
{
    const int fills = cJSON_GetArraySize(json_at(row, "fills"));
    return number_of(row, "count") + number_of(row, "operations") * (fills ? fills : 1);
}

static double work_of_spec(const struct spec *spec)
{
    const size_t batches = spec->count / spec_table_batch(spec);
    const bool   fills = plan_has_fills(spec->workload) && spec->fills > 1;
    return (double) spec->count + (double) spec_operations(spec) * (fills ? fmin(spec->fills, (double) batches) : 1);
}

/* Smaller rows tell nothing, because the constant part of their time is too large. */
#define ALIKE 8

/* The seconds that a row will take, from the row of its workload and variant with the most similar work; 0: unknown. */
static double seconds_of(const struct run *run, const struct spec *spec)
{
    const cJSON *row = NULL;
    const double own = workload_is_dict(spec->workload) ? work_of_spec(spec) : (double) spec->count;
    double       nearest = 1.0 / ALIKE, seconds = 0;
    cJSON_ArrayForEach(row, run->file.rows) {
        const double work = workload_is_dict(spec->workload) ? work_of_row(row) : number_of(row, "count");
        const double near = fmin(work, own) / fmax(work, own), took = number_of(row, "took_s");
        const double once = number_of(row, "first_call_s"); /* builds kernels */
        if (number_of(row, "device") != run->device_number || isnan(took) || !(near >= nearest) ||
            !text_is(row, "workload", workload_name(spec->workload)) ||
            !text_is(row, "variant", variant_name(spec->workload, spec->variant)))
            continue;
        nearest = near;
        seconds = once + (took - once) * fmax(1, own / work);
    }
    return seconds;
}

/* Whether the row begins: there is time left, and it will probably suffice. The first row of a process always begins,
 * so that --resume comes to each row. */
static bool has_time(const struct run *run, struct row *row)
{
    const double left = run->deadline - now(), needs = isinf(left) ? 0 : seconds_of(run, &row->spec);
    if (left <= 0)
        return because(row->why, "the time for all of it is spent (--budget)");
    if (needs > left && run->measured)
        return because(row->why, "it takes about %.0f s, and %.0f s are left (--budget)", needs, left);
    return true;
}

static void run_row(struct run *run, struct row *row, const struct row *beside, cJSON *json)
{
    row_share_time(run);
    if (!has_time(run, row)) {
        row->outcome = SKIPPED;
        return;
    }
    if (!fits(run, row)) {
        row->outcome = TOO_LARGE;
        return;
    }
    cJSON                   *was = cJSON_CreateObject(); /* the tunables */
    const cJSON             *tunable = NULL;
    struct ordo_tunable_info info;
    for (size_t i = 0; row->spec.tune && ordo_device_tunable(run->device, i, &info) == ORDO_OK; i++)
        json_exact(was, info.name, info.value);
    announce(run, &row->spec);
    ordo_device_trim(run->device);
    if (row->spec.tune && !tune(run->device, row->spec.tune, row->why))
        row->outcome = FAILED;
    else if (workload_is_dict(row->spec.workload))
        measure_dict(run, row, beside, json);
    else
        measure_arrays(run, row, json);
    cJSON_ArrayForEach(tunable, was)
        (void) ordo_device_set_tunable(run->device, tunable->string, (uint32_t) tunable->valuedouble);
    cJSON_Delete(was);
}

cJSON *ask_peer(const struct run *run, const struct spec *spec, const size_t *counts, int n, double seconds,
                double share)
{
    char         why[WHY_BYTES] = "";
    const double left = run->deadline - now();
    const bool   wide_dict = workload_is_dict(spec->workload) && type_is_wide(spec->type);
    if (!run->peer_programs || left <= 0 || workload_is_strings(spec->workload) || wide_dict)
        return NULL;
    progress_about("%s", workload_name(spec->workload));
    progress("the peer's turn");
    cJSON *rows =
        peer_rows(run->peer_programs, run->device, spec, counts, n, isinf(left) ? seconds : left * share, why);
    const cJSON *row = NULL;
    if (*why)
        report_error("%s", why);
    cJSON_ArrayForEach(row, rows) {
        if (*text_of(row, "why"))
            report_error("%s, %.0f elements: %s: %s", text_of(row, "name"), number_of(row, "count"),
                         text_of(row, "check"), text_of(row, "why"));
    }
    return rows;
}

void row_settle(struct run *run, struct row *row, const struct row *beside)
{
    row->json = file_row(&run->file, run->device_number, &row->spec);
    if (row->json) {
        while (row->outcome + 1 < N_OUTCOMES && !text_is(row->json, "check", outcome_name(row->outcome)))
            row->outcome++;
        because(row->why, "%s", text_of(row->json, "why"));
        run->kept++;
    } else {
        cJSON *json = row_point(&row->spec);
        json_text(json, "check", "");
        const double before = now();
        run_row(run, row, beside, json);
        if (row->outcome <= WRONG)
            json_number(json, "took_s", now() - before);
        run->measured += row->outcome <= WRONG;
        cJSON_ReplaceItemInObjectCaseSensitive(json, "check", cJSON_CreateString(outcome_name(row->outcome)));
        if (row->why[0])
            json_text(json, "why", row->why);
        if (row->peer && row->outcome <= WRONG)
            cJSON_AddItemToObject(json, "peer", cJSON_Duplicate(row->peer, true));
        if (row->outcome <= WRONG)
            add_known(json, "rate_before", row->before);
        run->file_failed |= !file_add(&run->file, "rows", run->device_number, json);
        row->json = json;
    }
    run->rows_left--;
    run->wrong += row->outcome == WRONG;
    run->failed += row->outcome == FAILED;
    run->skipped += row->outcome == SKIPPED;
}
