/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL devices that there are, and which of them is meant. */
#include "choose.h"
#include "device_private.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_LISTED 64

/* Whether a call is done; if not, *failed is why. */
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

/* Every device of every platform, in the loader's order; platforms without devices are passed over. One broken driver does
 * not hide the others: *failed is the code of what failed, else CL_SUCCESS. */
static size_t list_devices(struct ordo_listed *out, cl_int *failed)
{
    cl_platform_id platforms[16];
    cl_uint        n_platforms = 0;
    size_t         n = 0;
    *failed = CL_SUCCESS;
    if (!done(clGetPlatformIDs(16, platforms, &n_platforms), failed))
        return 0;
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id ids[MAX_LISTED];
        cl_uint      n_ids = 0;
        const cl_int code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, ids, &n_ids);
        if (code == CL_DEVICE_NOT_FOUND || !done(code, failed))
            continue;
        for (cl_uint d = 0; d < n_ids && d < MAX_LISTED && n < MAX_LISTED; d++) {
            out[n] = (struct ordo_listed) { .id = ids[d], .platform = p, .device = d };
            describe(&out[n++], platforms[p], failed);
        }
    }
    return n;
}

static ordo_status refuse_selection(ordo_device *dev, const struct ordo_listed *list, size_t n, const char *select,
                                    cl_int failed)
{
    char   choices[2048] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof choices - 300; i++)
        used += (size_t) snprintf(choices + used, sizeof choices - used, "\n  %u:%u  %s%s  (%s)", list[i].platform,
                                  list[i].device, list[i].name,
                                  list[i].gpu   ? ", gpu"
                                  : list[i].cpu ? ", cpu"
                                                : "",
                                  list[i].platform_name);
    return ordo_fail(dev, ORDO_NO_DEVICE, failed, __FILE__, __LINE__,
                     "\"%s\" selects none of the devices here (by number, \"gpu\", \"cpu\" or part of a name):%s",
                     select, choices);
}

ordo_status ordo_select_device(ordo_device *dev, const char *select)
{
    struct ordo_listed *list = calloc(MAX_LISTED, sizeof *list);
    ORDO_REQUIRE_MEMORY(dev, list);
    cl_int       failed = CL_SUCCESS;
    const size_t n = list_devices(list, &failed);
    ordo_status  got = ORDO_OK;
    if (n == 0) {
        got =
            ordo_fail(dev, ORDO_NO_DEVICE, failed, __FILE__, __LINE__,
                      "there is no OpenCL device: install a driver's package, such as pocl-opencl-icd for the CPU, "
                      "nvidia-opencl-icd, intel-opencl-icd, or mesa-opencl-icd (with RUSTICL_ENABLE=radeonsi) for AMD");
    } else {
        const struct ordo_listed *chosen = ordo_choose(list, n, select);
        if (chosen)
            dev->id = chosen->id;
        else
            got = refuse_selection(dev, list, n, select, failed);
    }
    free(list);
    return got;
}
