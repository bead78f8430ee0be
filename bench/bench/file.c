/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdlib.h>
#include <string.h>

static bool save(const struct file *file)
{
    char why[WHY_BYTES];
    if (!file->path || json_write(file->path, file->json, why))
        return true;
    report_error("%s", why);
    return false;
}

/* A pipe is written at the end. */
static bool save_row(const struct file *file)
{
    return !file->path || !json_is_file(file->path) || save(file);
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
static bool same_device(const cJSON *a, const cJSON *b)
{
    return text_is(a, "name", text_of(b, "name")) && text_is(a, "platform", text_of(b, "platform")) &&
           text_is(a, "driver", text_of(b, "driver")) && same_tunables(a, b);
}

int file_device(struct file *file, cJSON *device)
{
    int number = 0;
    for (const cJSON *there = file->devices->child; there; there = there->next, number++)
        if (same_device(there, device)) {
            cJSON_Delete(device);
            return number;
        }
    cJSON_AddItemToArray(file->devices, device);
    return number;
}

void file_limits(struct file *file, int device, cJSON *limits, const char *when)
{
    cJSON *list = json_at(cJSON_GetArrayItem(file->devices, device), "limits");
    json_exact(limits, "process", file->process_number);
    json_text(limits, "when", when);
    cJSON_AddItemToArray(list, limits);
}

void file_disturbed(struct file *file, const char *names)
{
    json_text(file->process, "disturbed", names);
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
    const bool saved = save(file);
    cJSON_Delete(file->json);
    file->json = NULL;
    return saved;
}
