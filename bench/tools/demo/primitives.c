/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "bench/common/device.h"
#include "bench/measure/measure.h"
#include "bench/peers/host.h"

#include <math.h>

struct row {
    const char *label, *text;
    struct spec spec; /* without type and sizes */
};

static const struct row rows[] = {
    { "scan", "prefix sums", { .workload = SCAN } },
    { "sort keys", "u32 keys", { .workload = SORT } },
    { "sort pairs", "u32 keys, u32 values", { .workload = SORT, .value_bytes = 4 } },
    { "merge", "two sorted halves of pairs", { .workload = MERGE, .value_bytes = 4 } },
    { "search", "random queries, by an index", { .workload = SEARCH, .variant = VARIANT_INDEX } },
    { "  sorted", "ascending queries, no index", { .workload = SEARCH, .variant = VARIANT_SORTED } },
};
#define N_ROWS ((int) (sizeof rows / sizeof rows[0]))

/* 2^20 elements on a CPU, up to 2^26 elsewhere. */
static struct spec sized(const struct row *row, const struct ordo_facts *facts)
{
    struct spec spec = row->spec;
    spec.type = ORDO_U32;
    spec.seed = 1;
    for (size_t count = (size_t) 1 << (facts->cpu ? 20 : 26); count >= 1 << 10; count /= 2) {
        spec.count = count;
        spec.n_queries = workload_has_queries(spec.workload) ? count : 0;
        const struct workload_bytes size = target_bytes(&spec);
        if (size.largest <= facts->max_alloc_bytes && size.all <= facts->global_bytes / 3)
            break;
    }
    return spec;
}

/* Checks one call, then times others. */
static ordo_status measure(ordo_device *device, struct target *target, double *seconds, bool *right, char *why)
{
    const struct timing_goal goal = { .seconds = 0.5, .repetitions = 7 };
    struct timing            timing;
    ordo_status              got = target_poison(target);
    if (got == ORDO_OK)
        got = target_call(target, NULL);
    *right = got == ORDO_OK && target_check(target, why);
    if (got == ORDO_OK)
        got = time_calls(device, target_call, target, &goal, &timing);
    if (got == ORDO_OK)
        *seconds = timing.wall.median;
    return device_why(device, got, why);
}

static void add_json(cJSON *list, const struct row *row, const struct spec *spec, double rate, double host_rate)
{
    cJSON *entry = json_append(list);
    json_text(entry, "workload", workload_name(row->spec.workload));
    json_text(entry, "variant", variant_name(row->spec.workload, row->spec.variant));
    json_exact(entry, "value_bytes", row->spec.value_bytes);
    json_exact(entry, "operations", (double) spec_operations(spec));
    json_number(entry, "per_second", rate);
    json_number(entry, "host_per_second", host_rate);
}

ordo_status demo_primitives(ordo_device *device, FILE *out, cJSON *json, size_t *wrong, char *why)
{
    static const struct column columns[] = { { "primitive", 10, true },
                                             { "", 29, true },
                                             { "elements", 8, false },
                                             { "per second", 10, false },
                                             { "host, 1 thread", 14, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof columns[0] };
    cJSON                     *list = cJSON_AddArrayToObject(json, "primitives");

    table_head(&table);
    for (int r = 0; r < N_ROWS; r++) {
        const struct spec spec = sized(&rows[r], ordo_device_facts(device));
        struct target    *target = NULL;
        double            seconds = NAN, host_rate = NAN;
        bool              right = false;
        progress("measuring %s", rows[r].label);
        ordo_status got = target_open(device, &spec, &target, why);
        if (got == ORDO_OK) {
            got = measure(device, target, &seconds, &right, why);
            host_rate = baseline_rate(&spec, target_inputs(target), 0);
            target_close(&target);
        }
        if (got != ORDO_OK)
            return got;
        if (!right) {
            (*wrong)++;
            report_error("WRONG: %s: %s", rows[r].label, why);
        }

        char         rate[TEXT_BYTES];
        const double per_second = (double) spec_operations(&spec) / seconds;
        table_row(&table, (const char *[]) { rows[r].label, rows[r].text, text_count(TEXT, spec_operations(&spec)),
                                             text_rate(rate, per_second), text_rate(TEXT, host_rate) });
        add_json(list, &rows[r], &spec, per_second, host_rate);
    }
    return ORDO_OK;
}
