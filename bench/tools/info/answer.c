/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"
#include "bench/workload/workload.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *word;
    uint32_t    what, keys, value_bytes;
} words[] = {
    { "all" },
    { "sort", .what = ORDO_PREPARE_SORT },
    { "merge", .what = ORDO_PREPARE_MERGE },
    { "scan", .what = ORDO_PREPARE_SCAN },
    { "search", .what = ORDO_PREPARE_SEARCH },
    { "pack", .what = ORDO_PREPARE_PACK },
#define X(id, stem, ...) { #stem, .what = ORDO_PREPARE_##id },
    ORDO_STRUCTURE_MAP(X)
#undef X
        { "u32", .keys = 1u << ORDO_U32 },
    { "u64", .keys = 1u << ORDO_U64 },
    { "i32", .keys = 1u << ORDO_I32 },
    { "i64", .keys = 1u << ORDO_I64 },
    { "f32", .keys = 1u << ORDO_F32 },
    { "f64", .keys = 1u << ORDO_F64 },
    { "v0", .value_bytes = 1u << 0 },
    { "v4", .value_bytes = 1u << 4 },
    { "v8", .value_bytes = 1u << 8 },
};

#define N_WORDS ((int) (sizeof words / sizeof *words))

static const char *word(int i)
{
    return words[i].word;
}

static bool tell(void *user, size_t done, size_t total)
{
    (void) user;
    progress("%zu of %zu", done, total);
    return true;
}

struct ordo_prepare_params prepare_params(const char *list)
{
    struct ordo_prepare_params params = { .progress = tell };
    int                        chosen[N_WORDS];
    char                       why[WHY_BYTES];
    const int                  n = parse_names(list, word, N_WORDS, chosen, N_WORDS, why);
    if (n < 0)
        usage_error("--prepare: %s", why);
    for (int i = 0; i < n; i++) {
        params.what |= words[chosen[i]].what;
        params.keys |= words[chosen[i]].keys;
        params.value_bytes |= words[chosen[i]].value_bytes;
    }
    return params;
}

/* NVIDIA's compiler mostly works on one program per process, PoCL's always. */
#define PROCESSES_MAX 8
#define PART_SECONDS  1800.0

/* Runs "K:N:LIST" in a child: every N-th program from number K on. Returns the exit status. */
static int prepare_part(const char *share)
{
    char    *list = NULL;
    unsigned part = (unsigned) strtoul(share, &list, 10), parts = *list ? (unsigned) strtoul(list + 1, &list, 10) : 0;
    if (part >= parts || *list != ':')
        return EXIT_USAGE;
    struct ordo_prepare_params      params = prepare_params(list + 1);
    char                            why[WHY_BYTES] = "";
    const struct ordo_device_config config = { .build_threads = -1, .message = why, .message_bytes = sizeof why };
    ordo_device                    *dev = NULL;
    params.progress = NULL;
    params.part = part;
    params.parts = parts;
    ordo_status got = ordo_device_open(&config, &dev);
    if (got == ORDO_OK)
        got = device_why(dev, ordo_device_prepare(dev, &params, NULL), why);
    if (got != ORDO_OK)
        report_error("%s", why);
    ordo_device_close(&dev);
    return child_answer(cJSON_CreateObject()) == EXIT_GOOD && got == ORDO_OK ? EXIT_GOOD : EXIT_FAILED;
}

struct parts {
    const char          *list;
    int                  n;
    struct child_outcome outcome[PROCESSES_MAX];
    atomic_int           ended;
};

/* Runs a process. The last part shows progress each second instead, until all have ended. */
static void run_part(void *parts_, int part)
{
    const struct timespec second = { .tv_sec = 1 };
    const double          start = now();
    struct parts         *parts = parts_;
    char                  question[400];
    const char *const     arguments[] = { "ordo-info", "--child", question, NULL };
    for (; part == parts->n && atomic_load(&parts->ended) < parts->n; nanosleep(&second, NULL))
        progress("compiling in %d processes for %.0f s", parts->n, now() - start);
    if (part == parts->n)
        return;
    if (snprintf(question, sizeof question, "prepare:%d:%d:%s", part, parts->n, parts->list) < (int) sizeof question)
        child_run(&(struct child) { NULL, arguments, NULL, PART_SECONDS }, &parts->outcome[part]);
    cJSON_Delete(parts->outcome[part].answer);
    atomic_fetch_add(&parts->ended, 1);
}

/* Fills the cache with several processes. The caller builds failed programs again and reports them. */
static void prepare_in_parallel(const char *list)
{
    struct parts parts = { list, processors() < PROCESSES_MAX ? processors() : PROCESSES_MAX, { { 0 } }, 0 };
    if (parts.n < 2)
        return;
    run_parts(parts.n + 1, run_part, &parts);
    const struct child_outcome *trouble = NULL;
    for (int i = 0; i < parts.n; i++)
        if (parts.outcome[i].problem[0])
            trouble = &parts.outcome[i];
    if (trouble)
        report_error("one of %d parallel processes %s, so this takes longer: %s", parts.n, trouble->problem,
                     trouble->said);
}

bool prepare_device(const char *list)
{
    const struct ordo_prepare_params params = prepare_params(list);
    struct ordo_prepared             prepared = { 0 };
    const double                     start = now();
    char                             why[WHY_BYTES] = "";
    ordo_device                     *dev = open_device("");
    if (!dev)
        return false;
    progress_in_lines();
    progress_about("preparing kernels for %s", ordo_device_facts(dev)->name);
    ordo_device_close(&dev); /* after its self-test; a GPU may allow one process */
    prepare_in_parallel(list);
    dev = open_device("");
    if (!dev)
        return false;
    const ordo_status got = device_why(dev, ordo_device_prepare(dev, &params, &prepared), why);
    progress_clear();
    if (got != ORDO_OK)
        report_error("%s", why);
    printf("%s: %zu programs are ready, %zu could not be built, after %.1f s\n", ordo_device_facts(dev)->name,
           prepared.programs, prepared.failed, now() - start);
    ordo_device_close(&dev);
    return got == ORDO_OK;
}

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

/* Also measures the limits. */
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
