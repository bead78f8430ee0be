/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the OpenCL devices, and selects one. */
#include "choose.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_LISTED 64

static bool done(cl_int code, cl_int *failed)
{
    if (code != CL_SUCCESS)
        *failed = code;
    return code == CL_SUCCESS;
}

static void describe(struct ordo_listed *entry, cl_platform_id platform, cl_int *failed)
{
    cl_device_type type = 0;
    char           text[512] = "";
    if (done(clGetDeviceInfo(entry->id, CL_DEVICE_TYPE, sizeof type, &type, NULL), failed)) {
        entry->gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
        entry->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    }
    if (done(clGetDeviceInfo(entry->id, CL_DEVICE_NAME, sizeof text - 1, text, NULL), failed))
        snprintf(entry->name, sizeof entry->name, "%.127s", text);
    if (done(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL), failed))
        snprintf(entry->platform_name, sizeof entry->platform_name, "%.127s", text);
}

struct listing {
    struct ordo_listed device[MAX_LISTED];
    size_t             n;
    char               missing[1024];
    cl_int             failed;
};

static void note_missing(struct listing *list, cl_platform_id platform)
{
    char         name[256] = "", why[600];
    const size_t used = strlen(list->missing);
    (void) clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    ordo_no_device(name[0] ? name : "an OpenCL platform", why, sizeof why);
    snprintf(list->missing + used, sizeof list->missing - used, "%s%s", used ? "\n  " : "", why);
}

static void list_devices(struct listing *list)
{
    cl_int        *failed = &list->failed;
    cl_platform_id platforms[16];
    cl_uint        n_platforms = 0;
    if (!done(clGetPlatformIDs(16, platforms, &n_platforms), failed))
        return;
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id ids[MAX_LISTED];
        cl_uint      n_ids = 0;
        const cl_int code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, ids, &n_ids);
        if (code == CL_DEVICE_NOT_FOUND || !done(code, failed)) {
            note_missing(list, platforms[p]);
            continue;
        }
        for (cl_uint d = 0; d < n_ids && d < MAX_LISTED && list->n < MAX_LISTED; d++) {
            list->device[list->n] = (struct ordo_listed) { .id = ids[d], .platform = p, .device = d };
            describe(&list->device[list->n++], platforms[p], failed);
        }
    }
}

static ordo_status refuse_selection(ordo_device *dev, const struct listing *list, const char *select)
{
    char   choices[2048] = "";
    size_t used = 0;
    for (size_t i = 0; i < list->n && used < sizeof choices - 300; i++) {
        const struct ordo_listed *d = &list->device[i];
        used += (size_t) snprintf(choices + used, sizeof choices - used, "\n  %u:%u  %s%s  (%s)", d->platform,
                                  d->device, d->name,
                                  d->gpu   ? ", gpu"
                                  : d->cpu ? ", cpu"
                                           : "",
                                  d->platform_name);
    }
    return ordo_fail(dev, ORDO_NO_DEVICE, list->failed, __FILE__, __LINE__,
                     "\"%s\" selects none of the devices here (by number, \"gpu\", \"cpu\" or part of a name):%s%s%s",
                     select, choices, list->missing[0] ? "\n  " : "", list->missing);
}

static ordo_status refuse_all(ordo_device *dev, const struct listing *list)
{
    if (list->missing[0])
        return ordo_fail(dev, ORDO_NO_DEVICE, list->failed, __FILE__, __LINE__, "%s", list->missing);
    return ordo_fail(dev, ORDO_NO_DEVICE, list->failed, __FILE__, __LINE__,
                     "there is no OpenCL device: install a driver's package, such as pocl-opencl-icd for the CPU, "
                     "nvidia-opencl-icd, intel-opencl-icd, or mesa-opencl-icd (with RUSTICL_ENABLE=radeonsi) for AMD");
}

ordo_status ordo_select_device(ordo_device *dev, const char *select)
{
    struct listing *list = calloc(1, sizeof *list);
    ORDO_REQUIRE_MEMORY(dev, list);
    list_devices(list);
    const struct ordo_listed *chosen = list->n ? ordo_choose(list->device, list->n, select) : NULL;
    ordo_status               got = ORDO_OK;
    if (chosen)
        dev->id = chosen->id;
    else
        got = list->n ? refuse_selection(dev, list, select) : refuse_all(dev, list);
    free(list);
    return got;
}
