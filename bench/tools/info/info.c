/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp */
/* ordo-info: all OpenCL platforms and devices, what Ordo uses on each, and advice. Drivers crash and hang, so each
 * query runs in a child: platforms, devices of a platform, facts of a device. If the first query crashes, each
 * driver is queried alone. */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/options.h"
#include "bench/common/terminal.h"
#include "runtime/choose.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *json;    /* NULL: none */
    const char *root;    /* "": this machine. In tests: a directory that replaces / */
    const char *prepare; /* list to prepare, or NULL */
    bool        tunables, start, no_self_test;
    double      seconds; /* per query */
};

#define VARIABLES_MAX 8

/* The machine with all drivers, or with one if all together crash. */
struct view {
    const struct options *options;
    const char           *environment[VARIABLES_MAX]; /* NULL at the end */
};

/* Returns the answer or NULL; adds a problem to `json`. */
static cJSON *ask(const struct view *view, const char *question, cJSON *json)
{
    const char *const    arguments[] = { "ordo-info", "--child", question, NULL };
    const struct child   child = { NULL, arguments, view->environment, view->options->seconds };
    struct child_outcome outcome;
    progress("asking about %s", question);
    child_run(&child, &outcome);
    if (!outcome.problem[0])
        return outcome.answer;
    json_text(json, "problem", outcome.problem);
    if (outcome.said[0])
        json_text(json, "said", outcome.said);
    cJSON_Delete(outcome.answer);
    return NULL;
}

/* Opens the device twice with empty caches. */
static void measure_start(const struct view *view, const char *question, cJSON *device)
{
    struct view   fresh = { view->options, { NULL } };
    struct caches caches;
    if (!caches_begin(&caches))
        return;
    memcpy(fresh.environment, caches.environment, sizeof caches.environment);
    fresh.environment[N_CACHES] = view->environment[0]; /* the chosen driver */
    cJSON *times = cJSON_AddObjectToObject(device, "start");
    for (int warm = 0; warm < 2; warm++) {
        cJSON       *got = ask(&fresh, question, times);
        const cJSON *facts = json_at(got, "facts");
        json_number(times, warm ? "warm_ms" : "cold_ms", number_of(facts, "open_ms"));
        if (!warm) {
            json_number(times, "cold_build_ms", number_of(facts, "build_ms"));
            json_number(times, "cold_self_test_ms", number_of(facts, "self_test_ms"));
        }
        cJSON_Delete(got);
    }
    caches_end(&caches);
}

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

static void gather_device(const struct view *view, cJSON *device)
{
    char question[64];
    snprintf(question, sizeof question, "%sdevice:%s", view->options->no_self_test ? "quiet-" : "",
             text_of(device, "select"));
    cJSON *got = ask(view, question, device);
    for (cJSON *item = got ? got->child : NULL; item; item = got->child)
        cJSON_AddItemToObject(device, item->string, cJSON_DetachItemViaPointer(got, item));
    cJSON_Delete(got);
    const cJSON *facts = json_at(device, "facts");
    if (facts)
        add_costs(device, facts);
    if (facts && view->options->start)
        measure_start(view, question, device);
}

/* Returns the platforms with their devices; NULL: `problem` says why. */
static cJSON *gather_platforms(const struct view *view, cJSON *problem)
{
    cJSON *platforms = ask(view, "platforms", problem), *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, platforms) {
        char question[64];
        snprintf(question, sizeof question, "devices:%d", (int) number_of(platform, "number"));
        cJSON *devices = ask(view, question, platform);
        cJSON_ArrayForEach(device, devices)
            gather_device(view, device);
        cJSON_AddItemToObject(platform, "devices", devices ? devices : cJSON_CreateArray());
    }
    return platforms;
}

/* Uses one driver alone: a directory with a link to it. */
static void gather_driver(const struct options *options, const char *path, cJSON *all)
{
    const char *file = file_name(path);
    char        directory[] = "/tmp/ordo-info-XXXXXX", link[600], variable[600];
    if (!mkdtemp(directory))
        return;
    snprintf(link, sizeof link, "%s/%s", directory, file);
    snprintf(variable, sizeof variable, "OCL_ICD_VENDORS=%s", directory);
    const struct view view = { options, { variable, NULL } };
    cJSON            *problem = cJSON_CreateObject();
    cJSON            *platforms = symlink(path, link) == 0 ? gather_platforms(&view, problem) : NULL;
    if (!platforms) {
        json_text(problem, "name", file);
        platforms = cJSON_CreateArray();
        cJSON_AddItemToArray(platforms, cJSON_Duplicate(problem, true));
    }
    for (cJSON *platform = platforms->child; platform; platform = platforms->child) {
        json_text(platform, "driver_file", file);
        cJSON_AddItemToArray(all, cJSON_DetachItemViaPointer(platforms, platform));
    }
    cJSON_Delete(problem);
    cJSON_Delete(platforms);
    remove_all(directory);
}

/* Reports drivers whose library does not load, because the loader skips them silently. */
static void advise_on_drivers(const struct view *view, const cJSON *files, cJSON *advice)
{
    const cJSON *file = NULL;
    cJSON_ArrayForEach(file, files) {
        const char *path = cJSON_GetStringValue(file);
        char        question[700];
        snprintf(question, sizeof question, "driver:%s", path);
        cJSON *problem = cJSON_CreateObject(), *driver = ask(view, question, problem);
        if (*text_of(driver, "why"))
            advise(advice, "%s registers a driver that does not load (%s): its package is gone or incomplete.", path,
                   text_of(driver, "why"));
        else if (!driver)
            advise(advice, "%s registers a driver that %s when it is loaded.", path, text_of(problem, "problem"));
        cJSON_Delete(problem);
        cJSON_Delete(driver);
    }
}

static cJSON *gather(const struct options *options, int argc, char **argv)
{
    cJSON            *json = json_head("ordo-info", argc, argv), *files = driver_files("");
    const cJSON      *file = NULL;
    const struct view view = { options, { NULL } };
    cJSON            *platforms = gather_platforms(&view, json);
    if (!platforms) {
        platforms = cJSON_CreateArray();
        cJSON_ArrayForEach(file, files)
            gather_driver(options, cJSON_GetStringValue(file), platforms);
    }
    cJSON_AddItemToObject(json, "platforms", platforms);
    cJSON_AddItemToObject(json, "sensors", read_sensors(options->root));
    cJSON *advice = cJSON_AddArrayToObject(json, "advice");
    advise_on_drivers(&view, files, advice);
    advise_on_hardware(advice, options->root, platforms);
    cJSON_Delete(files);
    progress_clear();
    return json;
}

/* "      lanes      text", with later lines of the text below it. */
__attribute__((format(printf, 2, 3))) static void line(const char *what, const char *format, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(stdout, 17, "      %-10s %s", what, text);
}

static void show_problem(const cJSON *json)
{
    const char *problem = text_of(json, "problem"), *said = text_of(json, "said");
    if (*problem)
        line("problem", "its driver %s%s%s", problem, *said ? ": " : "", said);
}

static void show_facts(const cJSON *facts)
{
    line("driver", "%s, %s", text_of(facts, "driver"), text_of(facts, "opencl"));
    line("memory", "%s%s, largest buffer %s", text_bytes(TEXT, number_of(facts, "global_bytes")),
         is_true(facts, "unified_memory") ? " shared with the host" : "",
         text_bytes(TEXT, number_of(facts, "max_alloc_bytes")));
    line("units", "%g at %g MHz; cache %s in lines of %g bytes", number_of(facts, "compute_units"),
         number_of(facts, "clock_mhz"), text_bytes(TEXT, number_of(facts, "cache_bytes")),
         number_of(facts, "cache_line_bytes"));
    line("groups", "up to %g work-items with %s of local memory", number_of(facts, "max_group"),
         text_bytes(TEXT, number_of(facts, "local_bytes")));
    if (text_is(facts, "lanes", "one"))
        line("lanes", "teams of one work-item");
    else
        line("lanes", "teams of up to %g, by %s", number_of(facts, "sub_group"),
             text_is(facts, "lanes", "khronos")  ? "Khronos sub-groups"
             : text_is(facts, "lanes", "nvidia") ? "NVIDIA PTX"
                                                 : "AMD compiler builtins");
    line("atomics", "%s, %s; work-groups %s",
         text_is(facts, "atomics", "c11")      ? "C11 with device scope"
         : text_is(facts, "atomics", "nvidia") ? "NVIDIA PTX with device scope"
                                               : "OpenCL 1.2",
         is_true(facts, "int64_atomics") ? "32 and 64 bits" : "32 bits",
         is_true(facts, "groups_progress") ? "known to progress" : "not known to progress");
    line("programs", is_true(facts, "own_binary_cache") ? "kept by the driver" : "kept by Ordo, on disk");
}

static void show_tunables(const cJSON *device, bool all)
{
    const cJSON *tunables = json_at(device, "tunables"), *tunable = NULL;
    int          origins[4] = { 0 };
    cJSON_ArrayForEach(tunable, tunables)
        for (int o = 0; o < 4; o++)
            origins[o] += text_is(tunable, "origin", origin_name((ordo_origin) o));
    if (!cJSON_GetArraySize(tunables))
        return;
    line("profile", "%d tunables: %d tuned on this machine, %d shipped for such devices, %d defaults",
         cJSON_GetArraySize(tunables), origins[ORDO_ORIGIN_TUNED], origins[ORDO_ORIGIN_SHIPPED],
         origins[ORDO_ORIGIN_DEFAULT]);
    if (!all)
        return;
    say(stdout, 0, "      %-24s  %5s  %-7s  %s", "tunable", "value", "origin", "meaning");
    cJSON_ArrayForEach(tunable, tunables) {
        say(stdout, 48, "      %-24s  %5g  %-7s  %s", text_of(tunable, "name"), number_of(tunable, "value"),
            text_of(tunable, "origin"), text_of(tunable, "text"));
    }
}

static void show_start(const cJSON *device, const cJSON *facts)
{
    const cJSON *start = json_at(device, "start");
    if (start) {
        line("start", "cold %.0f ms (building %.0f ms, self-test %.0f ms), warm %.0f ms", number_of(start, "cold_ms"),
             number_of(start, "cold_build_ms"), number_of(start, "cold_self_test_ms"), number_of(start, "warm_ms"));
        return;
    }
    char         done[64] = "nothing to build";
    const double build = number_of(facts, "build_ms");
    if (build > 0)
        snprintf(done, sizeof done, "building %.0f ms", build);
    line("start", "%.0f ms this time (%s)", number_of(facts, "open_ms"), done);
}

static void show_list(const cJSON *device, const char *name)
{
    const char  *what = name;
    const cJSON *text = NULL;
    cJSON_ArrayForEach(text, json_at(device, name)) {
        line(what, "%s", cJSON_GetStringValue(text));
        what = "";
    }
}

static void show_device(const cJSON *device, const char *mark, bool tunables)
{
    const cJSON *facts = json_at(device, "facts"), *test = json_at(device, "self_test");
    say(stdout, 7, "\n  %s  %s (%s)%s", text_of(device, "select"), text_of(device, "name"), text_of(device, "type"),
        mark);
    show_problem(device);
    if (*text_of(device, "why"))
        line("refused", "%s", text_of(device, "why"));
    if (!facts)
        return;
    show_facts(facts);
    show_tunables(device, tunables);
    if (is_true(test, "passed"))
        line("self-test", "passed in %s", text_seconds(TEXT, number_of(test, "ms") / 1e3));
    else if (test)
        line("self-test", "%s", text_of(test, "why"));
    show_start(device, facts);
    if (json_at(device, "limits")) {
        const struct limits limits = limits_from_json(json_at(device, "limits"));
        say_limits(stdout, 6, &limits);
    }
    show_list(device, "costs");
    show_list(device, "warnings");
}

/* The device that ordo_device_open selects, or NULL. */
static const cJSON *chosen_device(const cJSON *platforms, const char *said)
{
    struct ordo_listed list[DEVICES_MAX];
    const cJSON       *platform = NULL, *device = NULL, *devices[DEVICES_MAX];
    size_t             n = 0;
    cJSON_ArrayForEach(platform, platforms) {
        unsigned number = 0;
        cJSON_ArrayForEach(device, json_at(platform, "devices")) {
            if (n == DEVICES_MAX)
                break;
            list[n] = (struct ordo_listed) { .platform = (unsigned) number_of(platform, "number"),
                                             .device = number++,
                                             .gpu = text_is(device, "type", "gpu"),
                                             .cpu = text_is(device, "type", "cpu") };
            snprintf(list[n].name, sizeof list[n].name, "%s", text_of(device, "name"));
            snprintf(list[n].platform_name, sizeof list[n].platform_name, "%s", text_of(platform, "name"));
            devices[n++] = device;
        }
    }
    const struct ordo_listed *chosen = n ? ordo_choose(list, n, said) : NULL;
    return chosen ? devices[chosen - list] : NULL;
}

static void show(const struct options *options, const cJSON *json)
{
    const cJSON *platforms = json_at(json, "platforms"), *platform = NULL, *device = NULL;
    const bool   one_by_one = *text_of(json, "problem");
    const char  *file = NULL, *mask = getenv("ORDO_MASK"), *named = getenv("ORDO_DEVICE");
    const char  *said = named && *named ? named : NULL;
    const char  *mark = said ? "  <- chosen by ORDO_DEVICE" : "  <- used unless told otherwise";
    const cJSON *chosen = one_by_one ? NULL : chosen_device(platforms, said), *sentence = NULL;
    printf("Ordo %s\n", ordo_version());
    if (one_by_one)
        say(stdout, 0,
            "Listing all platforms %s; each driver was asked by itself.\nPrograms crash likewise, until "
            "OCL_ICD_VENDORS "
            "names a directory that holds only the good drivers' files.",
            text_of(json, "problem"));
    if (!cJSON_GetArraySize(platforms))
        printf("There is no OpenCL platform.\n");
    cJSON_ArrayForEach(platform, platforms) {
        const cJSON *devices = json_at(platform, "devices");
        file = text_of(platform, "driver_file");
        say(stdout, 4, "\nplatform %s%s%s%s%s", text_of(platform, "name"), *text_of(platform, "version") ? ": " : "",
            text_of(platform, "version"), *file ? ", alone by " : "", file);
        show_problem(platform);
        if (!cJSON_GetArraySize(devices) && !*text_of(platform, "problem"))
            printf("  no devices\n");
        cJSON_ArrayForEach(device, devices)
            show_device(device, device == chosen ? mark : "", options->tunables);
    }
    if (said && !chosen && !one_by_one)
        say(stdout, 0, "\nORDO_DEVICE=%s names none of these: programs will say that there is no such device.", said);
    if (mask && *mask)
        say(stdout, 0, "\nORDO_MASK=%s: devices pretend that they can less.", mask);
    cJSON_ArrayForEach(sentence, json_at(json, "advice"))
        say(stdout, 0, "\n%s", cJSON_GetStringValue(sentence));
}

static const char *const help[] = {
#include "info_help.h"
};

static void take_prepare(void *options, const struct option_row *row, const char *text)
{
    (void) prepare_params(text);
    take_text(options, row, text);
}

#define AT(name) offsetof(struct options, name)
static const struct option_row rows[] = {
    { "--tunables", 0, false, take_flag, false, AT(tunables), 0, 0 },
    { "--start", 0, false, take_flag, false, AT(start), 0, 0 },
    { "--no-self-test", 0, false, take_flag, false, AT(no_self_test), 0, 0 },
    { "--timeout", 0, true, take_double, false, AT(seconds), 0.01, 86400 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
    { "--root", 0, true, take_text, false, AT(root), 0, 0 },
    { "--prepare", 0, true, take_prepare, false, AT(prepare), 0, 0 },
};

int main(int argc, char **argv)
{
    tool_name("ordo-info");
    child_keep_environment();
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return answer_question(argv[2]);
    struct options options = { .root = "", .seconds = 300 };
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    if (options.prepare)
        return prepare_device(options.prepare) ? EXIT_GOOD : EXIT_FAILED;
    cJSON *json = gather(&options, argc, argv);
    if (!options.json)
        show(&options, json);
    const cJSON *platform = NULL, *device = NULL;
    bool         usable = false;
    cJSON_ArrayForEach(platform, json_at(json, "platforms"))
        cJSON_ArrayForEach(device, json_at(platform, "devices"))
            usable |= is_true(device, "usable");
    const bool good = (!options.json || json_write(options.json, json)) && usable;
    cJSON_Delete(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
