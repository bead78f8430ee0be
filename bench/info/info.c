/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-info: every platform and device that OpenCL shows here, what Ordo makes of it, and what would bring more.
 *
 * Drivers crash and hang. So each question goes to a process of its own: which platforms there are, which devices a
 * platform has, what a device can do. If even the first question kills its process, each registered driver is asked by
 * itself. */
#define _GNU_SOURCE /* nftw, mkdtemp, strcasestr */
#include "bench/common/child.h"
#include "bench/common/report.h"
#include "hardware.h"
#include "runtime/choose.h"

#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------------------------- */

struct options {
    const char *json; /* NULL: none */
    const char *root; /* where hardware is looked for: "" is here */
    bool        tunables, start, no_self_test;
    double      seconds; /* for each question to a driver */
};

static const char *const help[] = {
#include "info_help.h"
};

/* ---- what the children answer -------------------------------------------------------------------------------- */

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64

static int answer(cJSON *json)
{
    FILE      *out = fdopen(ANSWER_FD, "w");
    char      *text = cJSON_PrintUnformatted(json);
    const bool good = out && text && fputs(text, out) >= 0 && fclose(out) == 0;
    cJSON_free(text);
    cJSON_Delete(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static void add_platform_text(cJSON *json, const char *name, cl_platform_id id, cl_platform_info what)
{
    char text[256] = "";
    clGetPlatformInfo(id, what, sizeof text, text, NULL);
    cJSON_AddStringToObject(json, name, text);
}

static int answer_platforms(void)
{
    cl_platform_id ids[MOST_PLATFORMS];
    cl_uint        n = 0;
    cJSON         *list = cJSON_CreateArray();
    if (clGetPlatformIDs(MOST_PLATFORMS, ids, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint p = 0; p < n && p < MOST_PLATFORMS; p++) {
        cJSON *platform = cJSON_CreateObject();
        cJSON_AddNumberToObject(platform, "number", p);
        add_platform_text(platform, "name", ids[p], CL_PLATFORM_NAME);
        add_platform_text(platform, "vendor", ids[p], CL_PLATFORM_VENDOR);
        add_platform_text(platform, "version", ids[p], CL_PLATFORM_VERSION);
        cJSON_AddItemToArray(list, platform);
    }
    return answer(list);
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
    cJSON_AddStringToObject(device, "select", select);
    cJSON_AddStringToObject(device, "name", name);
    cJSON_AddStringToObject(device, "type",
                            type & CL_DEVICE_TYPE_GPU           ? "gpu"
                            : type & CL_DEVICE_TYPE_CPU         ? "cpu"
                            : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                                : "other");
    cJSON_AddNumberToObject(device, "vendor_id", vendor_id);
    cJSON_AddStringToObject(device, "vendor", vendor);
    cJSON_AddStringToObject(device, "opencl", version);
    cJSON_AddStringToObject(device, "opencl_c", c_version);
    return device;
}

static int answer_devices(unsigned platform)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_device_id   ids[MOST_DEVICES];
    cl_uint        n_platforms = 0, n = 0;
    cJSON         *list = cJSON_CreateArray();
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS || platform >= n_platforms ||
        platform >= MOST_PLATFORMS ||
        clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint d = 0; d < n && d < MOST_DEVICES; d++) {
        char select[32];
        snprintf(select, sizeof select, "%u:%u", platform, d);
        cJSON_AddItemToArray(list, describe_device(ids[d], select));
    }
    return answer(list);
}

static void add_tunables(cJSON *json, ordo_device *device)
{
    cJSON                   *tunables = cJSON_AddArrayToObject(json, "tunables");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(device, i, &info) == ORDO_OK; i++) {
        cJSON *tunable = cJSON_CreateObject(), *choices = cJSON_AddArrayToObject(tunable, "choices");
        cJSON_AddStringToObject(tunable, "name", info.name);
        cJSON_AddStringToObject(tunable, "text", info.text);
        cJSON_AddNumberToObject(tunable, "value", info.value);
        cJSON_AddStringToObject(tunable, "origin", origin_name(info.origin));
        for (uint32_t c = 0; c < info.n_choices; c++)
            cJSON_AddItemToArray(choices, cJSON_CreateNumber(info.choice[c]));
        cJSON_AddItemToArray(tunables, tunable);
    }
}

static void add_self_test(cJSON *json, ordo_device *device)
{
    cJSON            *test = cJSON_AddObjectToObject(json, "self_test");
    const ordo_status got = ordo_device_self_test(device);
    char              why[2048] = "";
    if (got != ORDO_OK)
        ordo_device_last_error(device, why, sizeof why);
    cJSON_AddBoolToObject(test, "passed", got == ORDO_OK);
    cJSON_AddStringToObject(test, "why", why);
    json_number(test, "ms", ordo_device_facts(device)->self_test_ms);
}

static int answer_device(const char *select, bool self_test)
{
    char                      message[4096] = "";
    struct ordo_device_config config = {
        .select = select, .message = message, .message_bytes = sizeof message, .no_self_test = !self_test
    };
    ordo_device      *device = NULL;
    cJSON            *json = cJSON_CreateObject();
    const ordo_status got = ordo_device_open(&config, &device);

    cJSON_AddBoolToObject(json, "usable", got == ORDO_OK);
    if (got != ORDO_OK) {
        cJSON_AddStringToObject(json, "why", *message ? message : ordo_status_string(got));
        config.no_self_test = true; /* what is known without it is still worth showing */
        if (ordo_device_open(&config, &device) != ORDO_OK)
            return answer(json);
    }
    cJSON_AddItemToObject(json, "facts", json_device(ordo_device_facts(device)));
    add_tunables(json, device);
    if (self_test && got == ORDO_OK)
        add_self_test(json, device);
    ordo_device_close(&device);
    return answer(json);
}

/* Where the loader finds drivers: a file each, which names the library. OCL_ICD_VENDORS may also be one such file. */
static const char *vendors(void)
{
    const char *chosen = getenv("OCL_ICD_VENDORS");
    return chosen && *chosen ? chosen : "/etc/OpenCL/vendors";
}

/* The path of a driver's file. */
static void vendor_path(const char *file, char *path, size_t bytes)
{
    const size_t length = strlen(vendors()), file_length = strlen(file);
    if (length > file_length && strcmp(vendors() + length - file_length, file) == 0)
        snprintf(path, bytes, "%s", vendors());
    else
        snprintf(path, bytes, "%s/%s", vendors(), file);
}

/* Whether the library that a driver's file names can be loaded. */
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
    cJSON_AddStringToObject(json, "file", file);
    cJSON_AddStringToObject(json, "library", library);
    if (!dlopen(library, RTLD_NOW | RTLD_LOCAL))
        cJSON_AddStringToObject(json, "why", dlerror());
    return answer(json);
}

/* "driver:FILE", "platforms", "devices:P", "device:P:D" or "quiet-device:P:D" (no self-test). */
static int be_child(const char *question)
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
    return EXIT_USAGE;
}

/* ---- asking -------------------------------------------------------------------------------------------------- */

#define MOST_VARIABLES 8

/* A way to look at the machine: with all drivers, or, where that kills, with one. */
struct view {
    const struct options *options;
    const char           *environment[MOST_VARIABLES]; /* NULL at the end */
};

/* Puts the answer (or NULL) and, in `json`, the problem if there was one. */
static cJSON *ask(const struct view *view, const char *question, cJSON *json)
{
    const char *const    arguments[] = { "ordo-info", "--child", question, NULL };
    const struct child   child = { arguments, view->environment, view->options->seconds };
    struct child_outcome outcome;
    progress("asking about %s", question);
    child_run(&child, &outcome);
    if (!outcome.problem[0])
        return outcome.answer;
    cJSON_AddStringToObject(json, "problem", outcome.problem);
    if (outcome.said[0])
        cJSON_AddStringToObject(json, "said", outcome.said);
    cJSON_Delete(outcome.answer);
    return NULL;
}

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}
static double number_of(const cJSON *json, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}
static bool is_true(const cJSON *json, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, name));
}

/* ---- how long opening takes ---------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void) status;
    (void) kind;
    (void) at;
    return remove(path);
}

static cJSON *times_of_start(const struct view *view, const char *question, const char *directory)
{
    struct view              fresh = { view->options, { NULL } };
    char                     variables[5][600];
    static const char *const names[] = { "ORDO_CACHE", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME",
                                         "NEO_CACHE_DIR" };
    for (int i = 0; i < 5; i++) {
        snprintf(variables[i], sizeof variables[i], "%s=%s", names[i], directory);
        fresh.environment[i] = variables[i];
    }
    fresh.environment[5] = view->environment[0]; /* the choice of a driver, if there is one */

    cJSON *times = cJSON_CreateObject();
    for (int warm = 0; warm < 2; warm++) {
        cJSON       *got = ask(&fresh, question, times);
        const cJSON *facts = cJSON_GetObjectItemCaseSensitive(got, "facts");
        json_number(times, warm ? "warm_ms" : "cold_ms", number_of(facts, "open_ms"));
        if (!warm) {
            json_number(times, "cold_build_ms", number_of(facts, "build_ms"));
            json_number(times, "cold_self_test_ms", number_of(facts, "self_test_ms"));
        }
        cJSON_Delete(got);
    }
    return times;
}

/* Opens twice with empty caches, ours and the drivers', in a directory of their own. */
static void measure_start(const struct view *view, const char *question, cJSON *device)
{
    char directory[] = "/tmp/ordo-info-XXXXXX";
    if (!mkdtemp(directory)) {
        complain("no directory for --start in /tmp");
        return;
    }
    cJSON_AddItemToObject(device, "start", times_of_start(view, question, directory));
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- costs --------------------------------------------------------------------------------------------------- */

static void add_costs(cJSON *device, const cJSON *facts)
{
    cJSON      *costs = cJSON_AddArrayToObject(device, "costs");
    const bool  cpu = is_true(facts, "cpu");
    const char *dropped = text_of(facts, "dropped");
#define COST(text) cJSON_AddItemToArray(costs, cJSON_CreateString(text))
    if (!cpu && strcmp(text_of(facts, "lanes"), "one") == 0)
        COST("no way for lanes to talk: teams of one, digits ranked by counting; expect a fraction of the device's "
             "speed");
    if (strcmp(text_of(facts, "atomics"), "legacy") == 0)
        COST("only OpenCL 1.2 atomics: no order between work-groups, so no look-back and no concurrent updates");
    if (!is_true(facts, "int64_atomics"))
        COST("no 64-bit atomics: counters of 64 bits are kept as two of 32");
    if (!cpu && !is_true(facts, "groups_progress"))
        COST("work-groups are not known to progress: sorts and scans read everything twice instead of once");
    if (!cpu && number_of(facts, "local_bytes") < 32768)
        COST("less than 32 KiB of local memory: small tiles, more passes over memory");
    if (!cpu && number_of(facts, "max_group") < 256)
        COST("work-groups of fewer than 256: small tiles, more of them");
    if (number_of(facts, "max_alloc_bytes") < number_of(facts, "global_bytes") / 2)
        COST("one buffer holds less than half of the memory: the largest arrays are bounded by it");
    if (cpu)
        COST("a CPU: everything works, but a GPU is what makes it fast");
    if (*dropped)
        COST(dropped);
#undef COST
}

/* ---- gathering ----------------------------------------------------------------------------------------------- */

static void gather_device(const struct view *view, cJSON *device, struct exposed *exposed)
{
    char         question[64];
    const cJSON *facts = NULL;
    snprintf(question, sizeof question, "%sdevice:%s", view->options->no_self_test ? "quiet-" : "",
             text_of(device, "select"));

    cJSON *got = ask(view, question, device);
    for (cJSON *item = got ? got->child : NULL; item; item = got->child)
        cJSON_AddItemToObject(device, item->string, cJSON_DetachItemViaPointer(got, item));
    cJSON_Delete(got);
    facts = cJSON_GetObjectItemCaseSensitive(device, "facts");
    if (facts)
        add_costs(device, facts);
    if (facts && view->options->start)
        measure_start(view, question, device);

    const enum maker maker = maker_of((unsigned) number_of(device, "vendor_id"), text_of(device, "vendor"));
    if (strcmp(text_of(device, "type"), "gpu") == 0 && maker != N_MAKERS)
        exposed->gpu[maker] = true;
    exposed->cpu |= strcmp(text_of(device, "type"), "cpu") == 0;
}

static void gather_platforms(const struct view *view, cJSON *platforms, struct exposed *exposed)
{
    cJSON *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, platforms)
    {
        char question[64];
        snprintf(question, sizeof question, "devices:%d", (int) number_of(platform, "number"));
        cJSON     *devices = ask(view, question, platform);
        const bool rusticl = strcasecmp(text_of(platform, "name"), "rusticl") == 0;
        exposed->any_platform = true;
        exposed->rusticl |= rusticl;
        exposed->rusticl_device |= rusticl && cJSON_GetArraySize(devices) > 0;
        cJSON_ArrayForEach(device, devices) gather_device(view, device, exposed);
        cJSON_AddItemToObject(platform, "devices", devices ? devices : cJSON_CreateArray());
    }
}

/* Asks with one driver alone: a directory that holds nothing but a link to it. */
static void gather_driver(const struct options *options, const char *file, cJSON *all, struct exposed *exposed)
{
    char directory[] = "/tmp/ordo-info-XXXXXX", target[600], link[600], variable[600];
    if (!mkdtemp(directory))
        return;
    vendor_path(file, target, sizeof target);
    snprintf(link, sizeof link, "%s/%s", directory, file);
    snprintf(variable, sizeof variable, "OCL_ICD_VENDORS=%s", directory);

    const struct view view = { options, { variable, NULL } };
    cJSON            *problem = cJSON_CreateObject();
    cJSON            *platforms = symlink(target, link) == 0 ? ask(&view, "platforms", problem) : NULL;
    if (platforms) {
        gather_platforms(&view, platforms, exposed);
        cJSON_Delete(problem);
        for (cJSON *platform = platforms->child; platform; platform = platforms->child) {
            cJSON_AddStringToObject(platform, "driver_file", file);
            cJSON_AddItemToArray(all, cJSON_DetachItemViaPointer(platforms, platform));
        }
        cJSON_Delete(platforms);
    } else {
        cJSON_AddStringToObject(problem, "name", file);
        cJSON_AddStringToObject(problem, "driver_file", file);
        cJSON_AddItemToArray(all, problem);
    }
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bool is_icd(const char *name)
{
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

/* The names of all drivers' files, as strings. */
static cJSON *driver_files(void)
{
    cJSON          *files = cJSON_CreateArray();
    struct dirent **entries = NULL;
    const int       n = scandir(vendors(), &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (is_icd(entries[i]->d_name))
            cJSON_AddItemToArray(files, cJSON_CreateString(entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    const char *slash = strrchr(vendors(), '/');
    if (n < 0 && is_icd(vendors()) && slash)
        cJSON_AddItemToArray(files, cJSON_CreateString(slash + 1));
    return files;
}

static cJSON *gather_drivers_one_by_one(const struct options *options, const cJSON *files, struct exposed *exposed)
{
    cJSON       *all = cJSON_CreateArray();
    const cJSON *file = NULL;
    cJSON_ArrayForEach(file, files) gather_driver(options, cJSON_GetStringValue(file), all, exposed);
    return all;
}

/* Drivers whose library does not load: the OpenCL loader passes over them without a word. */
static void advise_on_drivers(const struct view *view, const cJSON *files, cJSON *advice)
{
    const cJSON *file = NULL;
    cJSON_ArrayForEach(file, files)
    {
        char question[300], path[600], sentence[1200];
        snprintf(question, sizeof question, "driver:%.255s", cJSON_GetStringValue(file));
        vendor_path(cJSON_GetStringValue(file), path, sizeof path);
        cJSON *problem = cJSON_CreateObject(), *driver = ask(view, question, problem);
        if (*text_of(driver, "why")) {
            snprintf(sentence, sizeof sentence,
                     "%s registers a driver that does not load (%s): its package is gone or incomplete.", path,
                     text_of(driver, "why"));
            cJSON_AddItemToArray(advice, cJSON_CreateString(sentence));
        } else if (!driver) {
            snprintf(sentence, sizeof sentence, "%s registers a driver that %s when it is loaded.", path,
                     text_of(problem, "problem"));
            cJSON_AddItemToArray(advice, cJSON_CreateString(sentence));
        }
        cJSON_Delete(problem);
        cJSON_Delete(driver);
    }
}

static cJSON *gather(const struct options *options, int argc, char **argv)
{
    cJSON            *json = json_head("ordo-info", argc, argv);
    struct exposed    exposed = { .any_platform = false };
    const struct view view = { options, { NULL } };
    cJSON            *files = driver_files();
    cJSON            *platforms = ask(&view, "platforms", json);
    if (platforms)
        gather_platforms(&view, platforms, &exposed);
    else
        platforms = gather_drivers_one_by_one(options, files, &exposed);
    cJSON_AddItemToObject(json, "platforms", platforms);

    char   advice[MOST_ADVICE][ADVICE_BYTES];
    cJSON *list = cJSON_AddArrayToObject(json, "advice");
    advise_on_drivers(&view, files, list);
    cJSON_Delete(files);
    for (int i = 0, n = hardware_advice(options->root, &exposed, advice); i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(advice[i]));
    progress_clear();
    return json;
}

/* ---- showing ------------------------------------------------------------------------------------------------- */

/* "    lanes      text", wrapped by hand nowhere: texts are short. */
static void line(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("      %-10s ", what);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* The first line of a text, and the rest below it. */
static void lines(const char *what, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        line(what, "%.*s", (int) length, text);
        what = "";
        text += length + (text[length] == '\n');
    }
}

static void show_problem(const cJSON *json)
{
    const char *problem = text_of(json, "problem"), *said = text_of(json, "said");
    if (*problem)
        line("problem", "its driver %s%s%s", problem, *said ? ": " : "", said);
}

static void show_lanes(const cJSON *facts)
{
    const char *lanes = text_of(facts, "lanes");
    if (strcmp(lanes, "one") == 0)
        line("lanes", "teams of one work-item");
    else
        line("lanes", "teams of up to %g, by %s", number_of(facts, "sub_group"),
             strcmp(lanes, "khronos") == 0  ? "Khronos sub-groups"
             : strcmp(lanes, "nvidia") == 0 ? "NVIDIA PTX"
                                            : "AMD compiler builtins");
}

static void show_atomics(const cJSON *facts)
{
    const char *atomics = text_of(facts, "atomics");
    line("atomics", "%s, %s; work-groups %s",
         strcmp(atomics, "c11") == 0      ? "C11 with device scope"
         : strcmp(atomics, "nvidia") == 0 ? "NVIDIA PTX with device scope"
                                          : "OpenCL 1.2",
         is_true(facts, "int64_atomics") ? "32 and 64 bits" : "32 bits",
         is_true(facts, "groups_progress") ? "known to progress" : "not known to progress");
}

static void show_facts(const cJSON *facts)
{
    char memory[TEXT_BYTES], largest[TEXT_BYTES], local[TEXT_BYTES], cache[TEXT_BYTES];
    line("driver", "%s, %s", text_of(facts, "driver"), text_of(facts, "opencl"));
    line("memory", "%s%s, largest buffer %s", text_bytes(memory, number_of(facts, "global_bytes")),
         is_true(facts, "unified_memory") ? " shared with the host" : "",
         text_bytes(largest, number_of(facts, "max_alloc_bytes")));
    line("units", "%g at %g MHz; cache %s in lines of %g bytes", number_of(facts, "compute_units"),
         number_of(facts, "clock_mhz"), text_bytes(cache, number_of(facts, "cache_bytes")),
         number_of(facts, "cache_line_bytes"));
    line("groups", "up to %g work-items with %s of local memory", number_of(facts, "max_group"),
         text_bytes(local, number_of(facts, "local_bytes")));
    show_lanes(facts);
    show_atomics(facts);
    if (is_true(facts, "own_binary_cache"))
        line("programs", "kept by the driver");
    else
        line("programs", "kept by Ordo, on disk");
}

static void show_tunables(const cJSON *device, bool all)
{
    const cJSON *tunables = cJSON_GetObjectItemCaseSensitive(device, "tunables"), *tunable = NULL;
    int          origins[4] = { 0 };
    cJSON_ArrayForEach(tunable, tunables) for (int o = 0; o < 4; o++) origins[o] +=
        strcmp(text_of(tunable, "origin"), origin_name((ordo_origin) o)) == 0;
    if (!cJSON_GetArraySize(tunables))
        return;
    line("profile", "%d tunables: %d tuned on this machine, %d shipped for such devices, %d defaults",
         cJSON_GetArraySize(tunables), origins[ORDO_ORIGIN_TUNED], origins[ORDO_ORIGIN_SHIPPED],
         origins[ORDO_ORIGIN_DEFAULT]);
    if (!all)
        return;
    static const struct column columns[] = {
        { "      tunable", 30, true }, { "value", 5, false }, { "origin", 7, true }, { "meaning", 10, true }
    };
    const struct table table = { stdout, columns, 4 };
    table_head(&table);
    cJSON_ArrayForEach(tunable, tunables)
    {
        char name[64], value[TEXT_BYTES];
        snprintf(name, sizeof name, "      %s", text_of(tunable, "name"));
        snprintf(value, sizeof value, "%g", number_of(tunable, "value"));
        const char *cells[] = { name, value, text_of(tunable, "origin"), text_of(tunable, "text") };
        table_row(&table, cells);
    }
}

static void show_self_test(const cJSON *device)
{
    const cJSON *test = cJSON_GetObjectItemCaseSensitive(device, "self_test");
    char         took[TEXT_BYTES];
    if (test && is_true(test, "passed"))
        line("self-test", "passed in %s", text_seconds(took, number_of(test, "ms") / 1e3));
    else if (test)
        lines("self-test", text_of(test, "why"));
}

static void show_start(const cJSON *device, const cJSON *facts)
{
    const cJSON *start = cJSON_GetObjectItemCaseSensitive(device, "start");
    if (start) {
        line("start", "cold %.0f ms (building %.0f ms, self-test %.0f ms), warm %.0f ms", number_of(start, "cold_ms"),
             number_of(start, "cold_build_ms"), number_of(start, "cold_self_test_ms"), number_of(start, "warm_ms"));
        return;
    }
    const double build = number_of(facts, "build_ms");
    if (build > 0)
        line("start", "%.0f ms this time (building %.0f ms)", number_of(facts, "open_ms"), build);
    else
        line("start", "%.0f ms this time (nothing to build)", number_of(facts, "open_ms"));
}

static void show_costs(const cJSON *device)
{
    const cJSON *cost = NULL;
    const char  *what = "costs";
    cJSON_ArrayForEach(cost, cJSON_GetObjectItemCaseSensitive(device, "costs"))
    {
        lines(what, cJSON_GetStringValue(cost));
        what = "";
    }
}

static void show_device(const cJSON *device, const char *mark, bool tunables)
{
    const cJSON *facts = cJSON_GetObjectItemCaseSensitive(device, "facts");
    printf("\n  %s  %s (%s)%s\n", text_of(device, "select"), text_of(device, "name"), text_of(device, "type"), mark);
    show_problem(device);
    if (*text_of(device, "why"))
        lines("refused", text_of(device, "why"));
    if (!facts)
        return;
    show_facts(facts);
    show_tunables(device, tunables);
    show_self_test(device);
    show_start(device, facts);
    show_costs(device);
}

/* The device that ordo_device_open takes; NULL if there is none, or none is called what ORDO_DEVICE said. */
static const cJSON *chosen_device(const cJSON *platforms, const char *said)
{
    struct ordo_listed list[MOST_DEVICES];
    const cJSON       *platform = NULL, *device = NULL, *devices[MOST_DEVICES];
    size_t             n = 0;
    cJSON_ArrayForEach(platform, platforms)
    {
        unsigned number = 0;
        cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(platform, "devices"))
        {
            if (n == MOST_DEVICES)
                break;
            list[n] = (struct ordo_listed) { .platform = (unsigned) number_of(platform, "number"),
                                             .device = number++,
                                             .gpu = strcmp(text_of(device, "type"), "gpu") == 0,
                                             .cpu = strcmp(text_of(device, "type"), "cpu") == 0 };
            snprintf(list[n].name, sizeof list[n].name, "%s", text_of(device, "name"));
            snprintf(list[n].platform_name, sizeof list[n].platform_name, "%s", text_of(platform, "name"));
            devices[n++] = device;
        }
    }
    const struct ordo_listed *chosen = n ? ordo_choose(list, n, said) : NULL;
    return chosen ? devices[chosen - list] : NULL;
}

/* A variable of the environment; NULL if it is not set, or empty. */
static const char *variable(const char *name)
{
    const char *said = getenv(name);
    return said && *said ? said : NULL;
}

static void show(const struct options *options, const cJSON *json)
{
    const cJSON *platforms = cJSON_GetObjectItemCaseSensitive(json, "platforms"), *platform = NULL, *device = NULL;
    const bool   one_by_one = *text_of(json, "problem");
    const char  *file = NULL, *said = variable("ORDO_DEVICE"), *mask = variable("ORDO_MASK");
    const char  *mark = said ? "  <- chosen by ORDO_DEVICE" : "  <- used unless told otherwise";
    const cJSON *chosen = one_by_one ? NULL : chosen_device(platforms, said), *sentence = NULL;

    printf("Ordo %s\n", ordo_version());
    if (one_by_one)
        printf("Listing all platforms %s; each driver was asked by itself.\n"
               "Programs crash likewise, until OCL_ICD_VENDORS names a directory that holds only the good drivers' "
               "files.\n",
               text_of(json, "problem"));
    if (!cJSON_GetArraySize(platforms))
        printf("There is no OpenCL platform.\n");
    cJSON_ArrayForEach(platform, platforms)
    {
        const cJSON *devices = cJSON_GetObjectItemCaseSensitive(platform, "devices");
        file = text_of(platform, "driver_file");
        printf("\nplatform %s%s%s%s%s\n", text_of(platform, "name"), *text_of(platform, "version") ? ": " : "",
               text_of(platform, "version"), *file ? ", alone by " : "", file);
        show_problem(platform);
        if (!cJSON_GetArraySize(devices) && !*text_of(platform, "problem"))
            printf("  no devices\n");
        cJSON_ArrayForEach(device, devices) show_device(device, device == chosen ? mark : "", options->tunables);
    }
    if (said && !chosen && !one_by_one)
        printf("\nORDO_DEVICE=%s names none of these: programs will say that there is no such device.\n", said);
    if (mask)
        printf("\nORDO_MASK=%s: devices pretend that they can less.\n", mask);
    cJSON_ArrayForEach(sentence, cJSON_GetObjectItemCaseSensitive(json, "advice"))
        printf("\n%s\n", cJSON_GetStringValue(sentence));
}

static bool any_usable(const cJSON *json)
{
    const cJSON *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, cJSON_GetObjectItemCaseSensitive(json, "platforms")) cJSON_ArrayForEach(
        device, cJSON_GetObjectItemCaseSensitive(platform, "devices")) if (is_true(device, "usable")) return true;
    return false;
}

/* ---- the program --------------------------------------------------------------------------------------------- */

enum { OPT_TUNABLES = 256, OPT_START, OPT_NO_SELF_TEST, OPT_TIMEOUT, OPT_JSON, OPT_ROOT, OPT_VERSION };

static struct options read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "tunables", no_argument, NULL, OPT_TUNABLES },
        { "start", no_argument, NULL, OPT_START },
        { "no-self-test", no_argument, NULL, OPT_NO_SELF_TEST },
        { "timeout", required_argument, NULL, OPT_TIMEOUT },
        { "json", required_argument, NULL, OPT_JSON },
        { "root", required_argument, NULL, OPT_ROOT },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
    };
    struct options o = { .root = "", .seconds = 300 };
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        switch (option) {
        case OPT_TUNABLES:
            o.tunables = true;
            break;
        case OPT_START:
            o.start = true;
            break;
        case OPT_NO_SELF_TEST:
            o.no_self_test = true;
            break;
        case OPT_TIMEOUT:
            o.seconds = option_number("--timeout", optarg, 0.01, 86400);
            break;
        case OPT_JSON:
            o.json = json_option(optarg);
            break;
        case OPT_ROOT:
            o.root = optarg;
            break;
        case 'h':
            print_lines(help);
            exit(EXIT_GOOD);
        case OPT_VERSION:
            print_version();
            exit(EXIT_GOOD);
        default: /* getopt has said what is wrong */
            fprintf(stderr, "Try 'ordo-info --help'.\n");
            exit(EXIT_USAGE);
        }
    }
    if (optind < argc)
        usage_error("'%s' is no option", argv[optind]);
    return o;
}

int main(int argc, char **argv)
{
    tool_name("ordo-info");
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return be_child(argv[2]);

    const struct options options = read_options(argc, argv);
    cJSON               *json = gather(&options, argc, argv);
    char                 why[512];
    int                  code = any_usable(json) ? EXIT_GOOD : EXIT_FAILED;
    if (!options.json) {
        show(&options, json);
    } else if (!json_write(options.json, json, why, sizeof why)) {
        complain("%s", why);
        code = EXIT_FAILED;
    }
    cJSON_Delete(json);
    return code;
}
