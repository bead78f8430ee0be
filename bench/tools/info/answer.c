/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static cl_uint platforms(cl_platform_id ids[PLATFORMS_MAX])
{
    cl_uint n = 0;
    if (clGetPlatformIDs(PLATFORMS_MAX, ids, &n) != CL_SUCCESS)
        return 0;
    return n < PLATFORMS_MAX ? n : PLATFORMS_MAX;
}

static int answer_platforms(void)
{
    static const struct {
        const char      *name;
        cl_platform_info what;
    } texts[] = { { "name", CL_PLATFORM_NAME }, { "vendor", CL_PLATFORM_VENDOR }, { "version", CL_PLATFORM_VERSION } };
    cl_platform_id ids[PLATFORMS_MAX];
    const cl_uint  n = platforms(ids);
    cJSON         *list = cJSON_CreateArray();
    for (cl_uint p = 0; p < n; p++) {
        cJSON *platform = json_append(list);
        json_exact(platform, "number", p);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            char text[256] = "";
            clGetPlatformInfo(ids[p], texts[t].what, sizeof text, text, NULL);
            json_text(platform, texts[t].name, text);
        }
    }
    return child_answer(list);
}

static void describe_device(cJSON *device, cl_device_id id)
{
    static const struct {
        const char    *name;
        cl_device_info what;
    } texts[] = { { "name", CL_DEVICE_NAME },
                  { "vendor", CL_DEVICE_VENDOR },
                  { "opencl", CL_DEVICE_VERSION },
                  { "opencl_c", CL_DEVICE_OPENCL_C_VERSION } };
    cl_device_type type = 0;
    cl_uint        vendor_id = 0;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VENDOR_ID, sizeof vendor_id, &vendor_id, NULL);
    json_text(device, "type",
              type & CL_DEVICE_TYPE_GPU           ? "gpu"
              : type & CL_DEVICE_TYPE_CPU         ? "cpu"
              : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                  : "other");
    json_exact(device, "vendor_id", vendor_id);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char text[256] = "";
        clGetDeviceInfo(id, texts[t].what, sizeof text, text, NULL);
        json_text(device, texts[t].name, text);
    }
}

static int answer_devices(const char *number)
{
    const unsigned platform = (unsigned) strtoul(number, NULL, 10);
    cl_platform_id of[PLATFORMS_MAX];
    cl_device_id   ids[DEVICES_MAX];
    cl_uint        n = 0;
    cJSON         *list = cJSON_CreateArray();
    if (platform >= platforms(of) ||
        clGetDeviceIDs(of[platform], CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint d = 0; d < n && d < DEVICES_MAX; d++) {
        char   select[32];
        cJSON *device = json_append(list);
        snprintf(select, sizeof select, "%u:%u", platform, d);
        json_text(device, "select", select);
        describe_device(device, ids[d]);
    }
    return child_answer(list);
}

static void add_tunables(cJSON *json, ordo_device *device)
{
    cJSON                   *tunables = cJSON_AddArrayToObject(json, "tunables");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(device, i, &info) == ORDO_OK; i++) {
        cJSON *tunable = json_append(tunables), *choices = cJSON_AddArrayToObject(tunable, "choices");
        json_text(tunable, "name", info.name);
        json_text(tunable, "text", info.text);
        json_exact(tunable, "value", info.value);
        json_text(tunable, "origin", origin_name(info.origin));
        for (uint32_t c = 0; c < info.n_choices; c++)
            cJSON_AddItemToArray(choices, cJSON_CreateNumber(info.choice[c]));
    }
}

static void add_self_test(cJSON *json, ordo_device *device)
{
    cJSON            *test = cJSON_AddObjectToObject(json, "self_test");
    char              why[WHY_BYTES] = "";
    const ordo_status got = device_why(device, ordo_device_self_test(device), why);
    struct limits     limits;
    json_flag(test, "passed", got == ORDO_OK);
    json_text(test, "why", why);
    json_number(test, "ms", ordo_device_facts(device)->self_test_ms);
    if (measure_limits(device, &limits) == ORDO_OK)
        cJSON_AddItemToObject(json, "limits", limits_to_json(&limits));
}

/* Keeps warnings that the library only logs. */
static void keep_warning(void *warnings, ordo_log_level level, const char *message)
{
    if (level == ORDO_LOG_WARNING)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(message));
}

static int describe(const char *select, bool self_test)
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
    if (self_test && got == ORDO_OK)
        add_self_test(json, device);
    ordo_device_close(&device);
    return child_answer(json);
}

/* Tries to load the library of a driver's file. */
static int answer_driver(const char *path)
{
    char   library[400] = "";
    cJSON *json = cJSON_CreateObject();
    FILE  *from = fopen(path, "r");
    if (from && fgets(library, sizeof library, from))
        library[strcspn(library, "\r\n")] = 0;
    if (from)
        fclose(from);
    if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
        json_text(json, "why", dlerror());
    return child_answer(json);
}

int answer_question(const char *question)
{
    const char  *rest = question + strcspn(question, ":") + (strchr(question, ':') != NULL);
    const size_t length = (size_t) (rest - question);
#define BEGINS(text) (length == sizeof(text) - 1 && memcmp(question, text, length) == 0)
    return BEGINS("platforms")       ? answer_platforms()
           : BEGINS("devices:")      ? answer_devices(rest)
           : BEGINS("device:")       ? describe(rest, true)
           : BEGINS("quiet-device:") ? describe(rest, false)
           : BEGINS("driver:")       ? answer_driver(rest)
           : BEGINS("prepare:")      ? prepare_part(rest)
                                     : EXIT_USAGE;
}
