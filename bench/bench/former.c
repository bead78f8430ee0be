/* SPDX-License-Identifier: Apache-2.0 */
#include "former.h"

#include "bench/common/complain.h"

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

double former_rate(const struct run *run, const struct spec *spec)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(run->before, "devices"), *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(run->before, "rows"))
    {
        const double number = number_of(row, "device");
        const cJSON *device = number >= 0 ? cJSON_GetArrayItem(devices, (int) number) : NULL;
        if (row_is_at(row, spec) && text_is(device, "name", ordo_device_facts(run->device)->name))
            return number_of(row, "rate");
    }
    return NAN;
}
