/* SPDX-License-Identifier: Apache-2.0 */
#include "points.h"

#include "bench/common/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool report_add(struct report *report, const char *name, cJSON *file, char *why, size_t why_bytes)
{
    const bool good = text_is(file, "tool", "ordo-bench") &&
                      cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(file, "devices")) &&
                      cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(file, "rows"));
    if (!good)
        snprintf(why, why_bytes, "%s was not written by ordo-bench --json", name);
    else if (report->n_files == MOST_REPORT_FILES)
        snprintf(why, why_bytes, "more than %d files", MOST_REPORT_FILES);
    if (!good || report->n_files == MOST_REPORT_FILES) {
        cJSON_Delete(file);
        return false;
    }
    report->names[report->n_files] = name;
    report->files[report->n_files++] = file;
    return true;
}

void report_free(struct report *report)
{
    for (int f = 0; f < report->n_files; f++)
        cJSON_Delete(report->files[f]);
    free(report->points);
    *report = (struct report) { .n_files = 0 };
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static double copy_rate(const cJSON *device)
{
    const cJSON *limits = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(device, "limits"), 0);
    const double rate = number_of(limits, "copy_bytes_per_s");
    if (!isnan(rate))
        return rate;
    return number_of(cJSON_GetObjectItemCaseSensitive(device, "copy"), "bytes_per_s"); /* older files */
}

/* Another platform is another device: so the same CPU by two drivers. */
static int device_of(struct report *report, const cJSON *json)
{
    int d = 0;
    while (d < report->n_devices &&
           (strcmp(text_of(report->devices[d].json, "name"), text_of(json, "name")) != 0 ||
            strcmp(text_of(report->devices[d].json, "platform"), text_of(json, "platform")) != 0))
        d++;
    if (d == MOST_REPORT_DEVICES)
        return -1;
    if (d == report->n_devices)
        report->devices[report->n_devices++] = (struct report_device) { .json = json, .copy = NAN };
    report->devices[d].json = json;
    if (!isnan(copy_rate(json)))
        report->devices[d].copy = copy_rate(json);
    return d;
}

/* ---- points -------------------------------------------------------------------------------------------------- */

/* The fields that say where a row lies, as text: what is alike is the same. */
static void key_of(const cJSON *row, char *key, size_t bytes)
{
    static const char *const texts[] = { "workload", "variant", "key", "dist", "tune" };
    static const char *const numbers[] = { "value_bytes",   "count",         "operations",    "batch",
                                           "hit_percent",   "width",         "growth",        "update_percent",
                                           "erase_percent", "most_fills",    "stale_percent", "load_percent",
                                           "group",         "raise_percent", "chunk" };
    size_t                   used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && used < bytes; i++)
        used += (size_t) snprintf(key + used, bytes - used, "%s ", text_of(row, texts[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && used < bytes; i++)
        used += (size_t) snprintf(key + used, bytes - used, "%.0f ", number_of(row, numbers[i]));
    if (used < bytes)
        snprintf(key + used, bytes - used, "%d%d", is_true(row, "first_calls"), is_true(row, "fixed_depth"));
}

/* A row to be sorted: by device, point, file and rate. */
struct entry {
    char         key[320];
    const cJSON *row;
    int          device, file;
    double       rate;
};

static int in_order(const void *a_, const void *b_)
{
    const struct entry *a = a_, *b = b_;
    const int           keys = strcmp(a->key, b->key);
    if (a->device != b->device)
        return a->device - b->device;
    if (keys)
        return keys;
    if (a->file != b->file)
        return a->file - b->file;
    return a->rate < b->rate ? -1 : a->rate > b->rate;
}

static int by_date(const void *a, const void *b)
{
    return strcmp(text_of(*(cJSON *const *) a, "date"), text_of(*(cJSON *const *) b, "date"));
}

/* Files by date, with their names; rows of equal dates stay as given. */
static void sort_files(struct report *report)
{
    for (int f = 1; f < report->n_files; f++)
        for (int g = f; g > 0 && by_date(&report->files[g - 1], &report->files[g]) > 0; g--) {
            cJSON      *file = report->files[g];
            const char *name = report->names[g];
            report->files[g] = report->files[g - 1];
            report->names[g] = report->names[g - 1];
            report->files[g - 1] = file;
            report->names[g - 1] = name;
        }
}

static size_t add_entries(struct report *report, int f, struct entry *entries)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(report->files[f], "devices"), *device = NULL, *row = NULL;
    int          numbers[MOST_REPORT_DEVICES], n_devices = 0;
    size_t       n = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(report->files[f], "peers")) report->wrong +=
        text_is(row, "check", "WRONG");
    cJSON_ArrayForEach(device, devices) if (n_devices < MOST_REPORT_DEVICES) numbers[n_devices++] =
        device_of(report, device);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(report->files[f], "rows"))
    {
        const double number = number_of(row, "device");
        report->rows++;
        report->wrong +=
            text_is(row, "check", "WRONG") + text_is(cJSON_GetObjectItemCaseSensitive(row, "peer"), "check", "WRONG");
        report->failed += text_is(row, "check", "failed");
        report->left_out += text_is(row, "check", "skipped") || text_is(row, "check", "too large");
        if (!text_is(row, "check", "ok") || !(number_of(row, "rate") > 0) || !(number >= 0) || number >= n_devices ||
            numbers[(int) number] < 0)
            continue;
        entries[n] = (struct entry) { "", row, numbers[(int) number], f, number_of(row, "rate") };
        key_of(row, entries[n].key, sizeof entries[n].key);
        n++;
    }
    return n;
}

/* Of the entries from .. to - 1, all of one point: the newest file's, and the one in the middle of these. */
static const struct entry *middle(const struct entry *entries, size_t from, size_t to)
{
    size_t first = to - 1;
    while (first > from && entries[first - 1].file == entries[to - 1].file)
        first--;
    return &entries[first + (to - 1 - first) / 2];
}

bool report_sort_out(struct report *report)
{
    size_t rows = 0, n = 0;
    sort_files(report);
    for (int f = 0; f < report->n_files; f++)
        rows += (size_t) cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(report->files[f], "rows"));
    struct entry *entries = calloc(rows + 1, sizeof *entries);
    report->points = calloc(rows + 1, sizeof *report->points);
    if (!entries || !report->points) {
        free(entries);
        return false;
    }
    for (int f = 0; f < report->n_files; f++)
        n += add_entries(report, f, entries + n);
    qsort(entries, n, sizeof *entries, in_order);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1;
             to < n && entries[to].device == entries[from].device && strcmp(entries[to].key, entries[from].key) == 0;)
            to++;
        const struct entry *entry = middle(entries, from, to);
        size_t              newest = to;
        while (newest > from && entries[newest - 1].file == entry->file)
            newest--;
        const struct entry *before = newest > from ? middle(entries, from, newest) : NULL;
        report->points[report->n_points++] = (struct report_point) { entry->row,
                                                                     text_of(entry->row, "workload"),
                                                                     text_of(entry->row, "key"),
                                                                     number_of(entry->row, "value_bytes"),
                                                                     number_of(entry->row, "count"),
                                                                     entry->device,
                                                                     entry->file,
                                                                     entry->rate,
                                                                     before ? before->file : 0,
                                                                     before ? before->rate : NAN };
        report->devices[entry->device].points++;
    }
    free(entries);
    return true;
}

/* 0 for no bytes, whatever the rate. */
static double seconds_for(double bytes, double rate)
{
    return bytes > 0 ? bytes / rate : 0;
}

double report_least_seconds(const struct report *report, int device, const cJSON *row, const char **limit)
{
    const cJSON *limits =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report->devices[device].json, "limits"), 0);
    const double bytes = number_of(row, "bytes_counted"), copy = report->devices[device].copy;
    const double to = number_of(row, "bytes_to_device"), from = number_of(row, "bytes_from_device");
    *limit = to + from >= 0 ? "to the device and back" : "copies";
    const double seconds = to + from >= 0 ? seconds_for(to, number_of(limits, "to_device_bytes_per_s")) +
                                                seconds_for(from, number_of(limits, "from_device_bytes_per_s"))
                                          : bytes / copy;
    return seconds > 0 && isfinite(seconds) ? seconds : NAN;
}

const cJSON *report_peer(const cJSON *row)
{
    const cJSON *peer = cJSON_GetObjectItemCaseSensitive(row, "peer");
    return text_is(peer, "check", "WRONG") || text_is(peer, "check", "failed") ? NULL : peer;
}

void report_label(const cJSON *row, char *label, size_t bytes)
{
    const char *variant = text_of(row, "variant"), *dist = text_of(row, "dist");
    const bool  uniform = strcmp(dist, "uniform") == 0 || text_is(row, "workload", "fillseq");
    snprintf(label, bytes, "%s%s%s %s+%.0f%s%s", text_of(row, "workload"), *variant ? " " : "", variant,
             text_of(row, "key"), number_of(row, "value_bytes"), uniform ? "" : " ", uniform ? "" : dist);
}
