/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "bench/measure/measure.h"
#include "bench/peers/host.h"

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

/* 2^20 elements on a CPU, up to 2^26 elsewhere. */
static struct spec sized(struct spec spec, const struct ordo_facts *facts)
{
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

/* Checks one call, then times others. Returns the seconds of a call. */
static double measure(struct demo *demo, struct target *target, const char *label)
{
    const struct timing_goal goal = { .seconds = 0.5, .repetitions = 7 };
    struct timing            timing;
    char                     why[WHY_BYTES] = "";
    must(demo, label, buffers_poison(&target->arrays));
    must(demo, label, target_call(target, NULL));
    if (!target_check(target, why)) {
        demo->wrong++;
        report_error("WRONG: %s: %s", label, why);
    }
    must(demo, label, time_calls(demo->device, target_call, target, &goal, &timing));
    return timing.wall.median;
}

void demo_primitives(struct demo *demo)
{
    static const struct column columns[] = { { "primitive", 10, true },
                                             { "", 29, true },
                                             { "elements", 8, false },
                                             { "per second", 10, false },
                                             { "host, 1 thread", 14, false } };
    const struct table         table = { demo->out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(demo->json, "primitives");
    table_head(&table);
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        const struct spec spec = sized(row->spec, demo->facts);
        struct target    *target = NULL;
        char              why[WHY_BYTES];
        progress("measuring %s", row->label);
        if (target_open(demo->device, &spec, &target, why) != ORDO_OK)
            give_up(row->label, why);
        const size_t operations = spec_operations(&spec);
        const double rate = (double) operations / measure(demo, target, row->label);
        const double host_rate = baseline_rate(&spec, &target->in, 0);
        target_close(&target);
        table_row(&table, (const char *[]) { row->label, row->text, text_count(TEXT, operations), text_rate(TEXT, rate),
                                             text_rate(TEXT, host_rate) });
        cJSON *entry = json_append(list);
        json_text(entry, "workload", workload_name(spec.workload));
        json_text(entry, "variant", variant_name(spec.workload, spec.variant));
        json_exact(entry, "value_bytes", spec.value_bytes);
        json_exact(entry, "operations", (double) operations);
        json_number(entry, "per_second", rate);
        json_number(entry, "host_per_second", host_rate);
    }
}
