/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/tools/prepare/prepare.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void add_platform_text(cJSON *json, const char *name, cl_platform_id id, cl_platform_info what)
{
    char text[256] = "";
    clGetPlatformInfo(id, what, sizeof text, text, NULL);
    json_text(json, name, text);
}

static int answer_platforms(void)
{
    cl_platform_id ids[PLATFORMS_MAX];
    cl_uint        n = 0;
    cJSON         *list = cJSON_CreateArray();
    if (clGetPlatformIDs(PLATFORMS_MAX, ids, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint p = 0; p < n && p < PLATFORMS_MAX; p++) {
        cJSON *platform = json_append(list);
        json_exact(platform, "number", p);
        add_platform_text(platform, "name", ids[p], CL_PLATFORM_NAME);
        add_platform_text(platform, "vendor", ids[p], CL_PLATFORM_VENDOR);
        add_platform_text(platform, "version", ids[p], CL_PLATFORM_VERSION);
    }
    return child_answer(list);
}

static cJSON *describe_device(cl_device_id id, const char *select)
{
    cJSON         *device = cJSON_CreateObject();
    cl_device_type type = 0;
    cl_uint        vendor_id = 0;
    char           name[256] = "", vendor[256] = "", version[256] = "", c_version[256] = "";
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VENDOR_ID, sizeof vendor_id, &vendor_id, NULL);
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version, version, NULL);
    clGetDeviceInfo(id, CL_DEVICE_OPENCL_C_VERSION, sizeof c_version, c_version, NULL);
    json_text(device, "select", select);
    json_text(device, "name", name);
    json_text(device, "type",
              type & CL_DEVICE_TYPE_GPU           ? "gpu"
              : type & CL_DEVICE_TYPE_CPU         ? "cpu"
              : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                  : "other");
    json_exact(device, "vendor_id", vendor_id);
    json_text(device, "vendor", vendor);
    json_text(device, "opencl", version);
    json_text(device, "opencl_c", c_version);
    return device;
}

static int answer_devices(unsigned platform)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id   ids[DEVICES_MAX];
    cl_uint        n_platforms = 0, n = 0;
    cJSON         *list = cJSON_CreateArray();
    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != CL_SUCCESS || platform >= n_platforms ||
        platform >= PLATFORMS_MAX ||
        clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint d = 0; d < n && d < DEVICES_MAX; d++) {
        char select[32];
        snprintf(select, sizeof select, "%u:%u", platform, d);
        cJSON_AddItemToArray(list, describe_device(ids[d], select));
    }
    return child_answer(list);
}

static void add_tunables(cJSON *json, ordo_device *device)
{
    cJSON                   *tunables = cJSON_AddArrayToObject(json, "tunables");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(device, i, &info) == ORDO_OK; i++) {
        cJSON *tunable = cJSON_CreateObject(), *choices = cJSON_AddArrayToObject(tunable, "choices");
        json_text(tunable, "name", info.name);
        json_text(tunable, "text", info.text);
        json_exact(tunable, "value", info.value);
        json_text(tunable, "origin", origin_name(info.origin));
        for (uint32_t c = 0; c < info.n_choices; c++)
            cJSON_AddItemToArray(choices, cJSON_CreateNumber(info.choice[c]));
        cJSON_AddItemToArray(tunables, tunable);
    }
}

static void add_self_test(cJSON *json, ordo_device *device)
{
    cJSON            *test = cJSON_AddObjectToObject(json, "self_test");
    const ordo_status got = ordo_device_self_test(device);
    char              why[WHY_BYTES] = "";
    if (got != ORDO_OK)
        ordo_device_last_error(device, why, sizeof why);
    json_flag(test, "passed", got == ORDO_OK);
    json_text(test, "why", why);
    json_number(test, "ms", ordo_device_facts(device)->self_test_ms);
}

static void add_limits(cJSON *json, ordo_device *device)
{
    struct limits limits;
    if (measure_limits(device, &limits) == ORDO_OK)
        cJSON_AddItemToObject(json, "limits", limits_to_json(&limits));
}

/* Keeps warnings that the library only logs. */
static void keep_warning(void *warnings, ordo_log_level level, const char *message)
{
    if (level == ORDO_LOG_WARNING)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(message));
}

static int answer_device(const char *select, bool self_test)
{
    char                      message[4096] = "";
    cJSON                    *json = cJSON_CreateObject();
    struct ordo_device_config config = { .select = select,
                                         .message = message,
                                         .message_bytes = sizeof message,
                                         .log = keep_warning,
                                         .user = cJSON_AddArrayToObject(json, "warnings"),
                                         .no_self_test = !self_test };
    ordo_device              *device = NULL;
    const ordo_status         got = ordo_device_open(&config, &device);

    json_flag(json, "usable", got == ORDO_OK);
    if (got != ORDO_OK) {
        json_text(json, "why", *message ? message : ordo_status_string(got));
        config.no_self_test = true; /* facts without the self-test are still useful */
        if (ordo_device_open(&config, &device) != ORDO_OK)
            return child_answer(json);
    }
    cJSON_AddItemToObject(json, "facts", json_device(ordo_device_facts(device)));
    add_tunables(json, device);
    if (self_test && got == ORDO_OK) {
        add_self_test(json, device);
        add_limits(json, device);
    }
    ordo_device_close(&device);
    return child_answer(json);
}

const char *vendors(void)
{
    const char *chosen = getenv("OCL_ICD_VENDORS");
    return chosen && *chosen ? chosen : "/etc/OpenCL/vendors";
}

void vendor_path(const char *file, char *path, size_t bytes)
{
    const size_t length = strlen(vendors()), file_length = strlen(file);
    if (length > file_length && strcmp(vendors() + length - file_length, file) == 0)
        snprintf(path, bytes, "%s", vendors());
    else
        snprintf(path, bytes, "%s/%s", vendors(), file);
}

/* Tries to load the library of a driver's file. */
static int answer_driver(const char *file)
{
    char   path[600], library[400] = "";
    cJSON *json = cJSON_CreateObject();
    vendor_path(file, path, sizeof path);
    FILE *from = fopen(path, "r");
    if (from && fgets(library, sizeof library, from))
        library[strcspn(library, "\r\n")] = 0;
    if (from)
        fclose(from);
    json_text(json, "file", file);
    json_text(json, "library", library);
    if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
        json_text(json, "why", dlerror());
    return child_answer(json);
}

int answer_question(const char *question)
{
    if (strcmp(question, "platforms") == 0)
        return answer_platforms();
    if (strncmp(question, "driver:", 7) == 0)
        return answer_driver(question + 7);
    if (strncmp(question, "devices:", 8) == 0)
        return answer_devices((unsigned) strtoul(question + 8, NULL, 10));
    if (strncmp(question, "device:", 7) == 0)
        return answer_device(question + 7, true);
    if (strncmp(question, "quiet-device:", 13) == 0)
        return answer_device(question + 13, false);
    if (strncmp(question, "prepare:", 8) == 0)
        return prepare_part(question + 8);
    return EXIT_USAGE;
}
