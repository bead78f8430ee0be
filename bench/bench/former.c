/* SPDX-License-Identifier: Apache-2.0 */
#include "former.h"

#include "bench/common/complain.h"
#include "rows.h"

#include <math.h>
#include <string.h>

void former_read(struct former *former, const char *path)
{
    char   why[512] = "";
    cJSON *file = json_read(path, why, sizeof why);
    if (!file)
        usage_error("--compare: %s", why);
    if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(file, "rows")))
        usage_error("--compare: %s was not written by ordo-bench --json", path);
    if (former->n == MOST_FILES)
        usage_error("--compare: more than %d files", MOST_FILES);
    former->files[former->n++] = file;
}

void former_free(struct former *former)
{
    for (int f = 0; f < former->n; f++)
        cJSON_Delete(former->files[f]);
    former->n = 0;
}

const char *former_differs(const struct former *former, const cJSON *device)
{
    const char *why = "it was measured on another device";
    for (int f = 0; f < former->n; f++) {
        const cJSON *theirs = NULL;
        cJSON_ArrayForEach(theirs, cJSON_GetObjectItemCaseSensitive(former->files[f], "devices"))
        {
            if (strcmp(text_of(theirs, "name"), text_of(device, "name")) != 0)
                continue;
            if (strcmp(text_of(theirs, "driver"), text_of(device, "driver")) != 0)
                return "it was measured with another driver";
            if (!same_tunables(device, theirs))
                return "it was measured with other tunables";
            why = NULL;
        }
    }
    return why;
}

/* The rate of a row of this point in one process of one file; NaN if there is none. */
static double rate_in(const cJSON *file, int process, const char *device_name, const cJSON *point)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(file, "devices"), *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(file, "rows"))
    {
        const double number = number_of(row, "device"), of = number_of(row, "process");
        const cJSON *device = number >= 0 ? cJSON_GetArrayItem(devices, (int) number) : NULL;
        if ((isnan(of) ? 0 : of) == process && text_is(device, "name", device_name) && rows_are_alike(row, point) &&
            text_is(row, "check", "ok"))
            return number_of(row, "rate");
    }
    return NAN;
}

int former_each(const struct former *former, const char *device_name, const cJSON *point, double rates[MOST_PROCESSES])
{
    int n = 0;
    for (int f = 0; f < former->n; f++) {
        const int processes = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(former->files[f], "processes"));
        for (int p = 0; p < (processes ? processes : 1) && n < MOST_PROCESSES; p++)
            rates[n++] = rate_in(former->files[f], p, device_name, point);
    }
    return n;
}
