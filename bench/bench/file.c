/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/workload/key_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[N_OUTCOMES] = { "ok", "WRONG", "failed", "too large", "skipped" };
    return names[outcome];
}

cJSON *row_point(const struct spec *spec)
{
    cJSON *json = cJSON_CreateObject();
    json_text(json, "workload", workload_name(spec->workload));
    json_text(json, "variant", variant_name(spec->workload, spec->variant));
    json_text(json, "key", spec_key_name(spec));
    json_exact(json, "value_bytes", spec->value_bytes);
    json_text(json, "dist", dist_name(spec->dist));
    json_exact(json, "count", (double) spec->count);
    json_exact(json, "operations", (double) spec_operations(spec));
    if (spec->tune)
        json_text(json, "tune", spec->tune);
    if (spec->lines || spec->numbers)
        json_text(json, "keys", spec->lines ? spec->lines->path : spec->numbers->path);
    if (workload_asks_strings(spec->workload))
        json_exact(json, axes[AXIS_hit_percent].key, spec->hit_percent);
    if (workload_is_dict(spec->workload))
        json_exact(json, "batch", (double) spec_batch(spec));
    for (int axis = 0; axis < N_AXES; axis++) {
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
    json_number(json, "cpu_s", timing->cpu);
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
    static const char *const names[] = { "name", "threads",     "workload", "variant",    "key",   "dist",
                                         "tune", "value_bytes", "count",    "operations", "batch", "keys" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!same_member(a, b, names[i], false))
            return false;
    for (int axis = 0; axis < N_AXES; axis++)
        if (!same_member(a, b, axes[axis].key, axes[axis].traits & AXIS_LATE))
            return false;
    return true;
}

/* A pipe is written at the end. */
static bool save_row(const struct file *file)
{
    return !file->path || !json_is_file(file->path) || json_write(file->path, file->json);
}

static void begin_process(struct file *file)
{
    file->began = now();
    file->process = json_process();
    cJSON_AddItemToObject(file->process, "sensors", read_sensors(""));
    file->process_number = cJSON_GetArraySize(file->processes);
    cJSON_AddItemToArray(file->processes, file->process);
}

void file_begin(struct file *file, const char *path, int argc, char **argv)
{
    *file = (struct file) { .path = path };
    file->json = json_head("ordo-bench", argc, argv);
    json_exact(file->json, "schema", FILE_SCHEMA);
    file->processes = cJSON_AddArrayToObject(file->json, "processes");
    file->devices = cJSON_AddArrayToObject(file->json, "devices");
    file->rows = cJSON_AddArrayToObject(file->json, "rows");
    begin_process(file);
    if (!save_row(file))
        exit(EXIT_FAILED);
}

cJSON *file_read(const char *option, const char *path)
{
    char   why[WHY_BYTES] = "";
    cJSON *json = json_read(path, why);
    if (!json)
        usage_error("%s: %s", option, why);
    if (!cJSON_IsArray(json_at(json, "rows")))
        usage_error("%s: %s was not written by ordo-bench --json", option, path);
    return json;
}

static cJSON *read_file(const char *path)
{
    cJSON *json = file_read("--resume", path);
    if (!text_is(json, "tool", "ordo-bench") || number_of(json, "schema") != FILE_SCHEMA ||
        !cJSON_IsArray(json_at(json, "processes")) || !cJSON_IsArray(json_at(json, "devices")))
        usage_error("--resume: %s was not written by this version of ordo-bench --json", path);
    return json;
}

cJSON *file_arguments(const char *path)
{
    cJSON *json = read_file(path);
    cJSON *arguments = cJSON_DetachItemFromObjectCaseSensitive(json, "arguments");
    cJSON_Delete(json);
    return arguments;
}

/* Rows that failed, were skipped or cut short. */
static void drop_unfinished(cJSON *rows)
{
    for (cJSON *row = rows ? rows->child : NULL, *next; row; row = next) {
        next = row->next;
        if (text_is(row, "check", outcome_name(FAILED)) || text_is(row, "check", outcome_name(SKIPPED)) ||
            text_is(row, "ended_by", "signal"))
            cJSON_Delete(cJSON_DetachItemViaPointer(rows, row));
    }
}

void file_resume(struct file *file, const char *path)
{
    *file = (struct file) { .path = path, .json = read_file(path) };
    cJSON *head = json_head("ordo-bench", 0, NULL);
    if (!cJSON_Compare(json_at(head, "sources"), json_at(file->json, "sources"), true))
        usage_error(
            "--resume: %s was measured by revision %s with other sources, this is %s: rows of two do not go into one "
            "file",
            path, text_of(file->json, "revision"), text_of(head, "revision"));
    cJSON_Delete(head);
    file->processes = json_at(file->json, "processes");
    file->devices = json_at(file->json, "devices");
    file->rows = json_at(file->json, "rows");
    drop_unfinished(file->rows);
    drop_unfinished(json_at(file->json, "peers"));
    begin_process(file);
}

/* Another driver or other tunables make another device. */
int file_device(struct file *file, cJSON *device)
{
    int number = 0;
    for (const cJSON *there = file->devices->child; there; there = there->next, number++)
        if (text_is(there, "name", text_of(device, "name")) &&
            text_is(there, "platform", text_of(device, "platform")) &&
            text_is(there, "driver", text_of(device, "driver")) && same_tunables(there, device)) {
            cJSON_Delete(device);
            return number;
        }
    cJSON_AddItemToArray(file->devices, device);
    return number;
}

const cJSON *file_find(const struct file *file, const char *list, int device, const cJSON *point)
{
    const cJSON *row = NULL;
    cJSON_ArrayForEach(row, json_at(file->json, list)) {
        if (number_of(row, "device") == device && rows_are_alike(row, point))
            break;
    }
    return row;
}

const cJSON *file_row(const struct file *file, int device, const struct spec *spec)
{
    cJSON       *point = row_point(spec);
    const cJSON *row = file_find(file, "rows", device, point);
    cJSON_Delete(point);
    return row;
}

bool file_add(struct file *file, const char *list, int device, cJSON *row)
{
    cJSON *rows = json_at(file->json, list);
    json_exact(row, "device", device);
    json_exact(row, "process", file->process_number);
    cJSON_AddItemToArray(rows ? rows : cJSON_AddArrayToObject(file->json, list), row);
    return save_row(file);
}

bool file_merge(struct file *file, cJSON *other)
{
    cJSON    *processes = json_at(other, "processes"), *devices = json_at(other, "devices");
    cJSON    *rows = json_at(other, "rows");
    const int process = cJSON_GetArraySize(file->processes), n_devices = cJSON_GetArraySize(devices);
    int       numbers[64];
    if (cJSON_GetArraySize(processes) != 1 || n_devices > 64 || !cJSON_IsArray(rows))
        return false;
    cJSON_AddItemToArray(file->processes, cJSON_DetachItemFromArray(processes, 0));
    for (int d = 0; d < n_devices; d++)
        numbers[d] = file_device(file, cJSON_DetachItemFromArray(devices, 0));
    for (cJSON *row = rows->child; row; row = rows->child) {
        const int device = (int) number_of(row, "device");
        cJSON_DetachItemViaPointer(rows, row);
        cJSON_ReplaceItemInObjectCaseSensitive(row, "process", cJSON_CreateNumber(process));
        cJSON_ReplaceItemInObjectCaseSensitive(
            row, "device", cJSON_CreateNumber(device >= 0 && device < n_devices ? numbers[device] : 0));
        cJSON_AddItemToArray(file->rows, row);
    }
    return save_row(file);
}

bool file_end(struct file *file, const char *ended)
{
    cJSON_ReplaceItemInObjectCaseSensitive(file->process, "ended", cJSON_CreateString(ended));
    json_number(file->process, "seconds", now() - file->began);
    cJSON_AddItemToObject(file->process, "sensors_at_end", read_sensors(""));
    const bool saved = !file->path || json_write(file->path, file->json);
    cJSON_Delete(file->json);
    file->json = NULL;
    return saved;
}
