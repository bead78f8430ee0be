/* SPDX-License-Identifier: Apache-2.0 */
#include "former.h"

#include <math.h>

cJSON *read_former(const char *path)
{
    char   why[512] = "";
    cJSON *former = json_read(path, why, sizeof why);
    if (!former)
        usage_error("--compare: %s", why);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(former, "rows")))
        usage_error("--compare: %s was not written by ordo-bench --json", path);
    return former;
}

static bool same_dict_point(const cJSON *row, const struct spec *spec)
{
    return number_of(row, "batch") == (double) spec_batch(spec) && number_of(row, "hit_percent") == spec->hit_percent &&
           number_of(row, "width") == spec->width && number_of(row, "growth") == spec->growth &&
           cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "first_calls")) == spec->first_calls &&
           (spec->workload != CONCURRENTMIX || number_of(row, "update_percent") == spec->update_percent);
}

static bool same_point(const cJSON *row, const struct spec *spec)
{
    return text_is(row, "workload", workload_name(spec->workload)) &&
           text_is(row, "variant", variant_name(spec->workload, spec->variant)) &&
           text_is(row, "key", type_name(spec->type)) && text_is(row, "dist", dist_name(spec->dist)) &&
           number_of(row, "value_bytes") == spec->value_bytes && number_of(row, "count") == (double) spec->count &&
           number_of(row, "operations") == (double) spec_operations(spec) &&
           (!workload_is_dict(spec->workload) || same_dict_point(row, spec));
}

double former_rate(const struct run *run, const struct spec *spec)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->before, "devices"), *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run->before, "rows"))
    {
        const double number = number_of(row, "device");
        const cJSON *device = number >= 0 ? cJSON_GetArrayItem(devices, (int) number) : NULL;
        if (same_point(row, spec) && text_is(device, "name", ordo_device_facts(run->device)->name))
            return number_of(row, "rate");
    }
    return NAN;
}
