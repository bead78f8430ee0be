/* SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

#include "complain.h"

#include <stdio.h>
#include <string.h>

#define MOST_PLATFORMS 16

static int select_all(char selected[MOST_SELECTED][SELECT_BYTES])
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint        n_platforms = 0;
    int            n = 0;

    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < n_platforms && p < MOST_PLATFORMS; p++) {
        cl_uint n_devices = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &n_devices) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n_devices && n < MOST_SELECTED; d++)
            snprintf(selected[n++], SELECT_BYTES, "%u:%u", p, d);
    }
    return n;
}

int select_devices(const char *list, char selected[MOST_SELECTED][SELECT_BYTES])
{
    int n = 0;
    if (!list) {
        selected[0][0] = 0;
        return 1;
    }
    if (strcmp(list, "all") == 0)
        return select_all(selected);
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        if (n == MOST_SELECTED || length == 0 || length >= SELECT_BYTES)
            usage_error("--device: '%s' is not a list of devices", list);
        snprintf(selected[n++], SELECT_BYTES, "%.*s", (int) length, at);
        if (!at[length])
            return n;
        at += length + 1;
    }
}

ordo_device *open_device(const char *select)
{
    char                            message[4096] = "";
    ordo_device                    *device = NULL;
    const struct ordo_device_config config = { .select = *select ? select : NULL,
                                               .message = message,
                                               .message_bytes = sizeof message };
    const ordo_status               got = ordo_device_open(&config, &device);
    if (got != ORDO_OK)
        complain("%s", *message ? message : ordo_status_string(got));
    return device;
}
