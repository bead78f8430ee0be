/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

cJSON *gather(const struct options *options, int argc, char **argv)
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
