/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "runtime/choose.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

static void show_self_test(const cJSON *device)
{
    const cJSON *test = json_at(device, "self_test");
    if (test && is_true(test, "passed"))
        line("self-test", "passed in %s", text_seconds(TEXT, number_of(test, "ms") / 1e3));
    else if (test)
        line("self-test", "%s", text_of(test, "why"));
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
    const cJSON *facts = json_at(device, "facts");
    say(stdout, 7, "\n  %s  %s (%s)%s", text_of(device, "select"), text_of(device, "name"), text_of(device, "type"),
        mark);
    show_problem(device);
    if (*text_of(device, "why"))
        line("refused", "%s", text_of(device, "why"));
    if (!facts)
        return;
    show_facts(facts);
    show_tunables(device, tunables);
    show_self_test(device);
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

/* NULL if unset or empty. */
static const char *variable(const char *name)
{
    const char *said = getenv(name);
    return said && *said ? said : NULL;
}

void show(const struct options *options, const cJSON *json)
{
    const cJSON *platforms = json_at(json, "platforms"), *platform = NULL, *device = NULL;
    const bool   one_by_one = *text_of(json, "problem");
    const char  *file = NULL, *said = variable("ORDO_DEVICE"), *mask = variable("ORDO_MASK");
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
    if (mask)
        say(stdout, 0, "\nORDO_MASK=%s: devices pretend that they can less.", mask);
    cJSON_ArrayForEach(sentence, json_at(json, "advice"))
        say(stdout, 0, "\n%s", cJSON_GetStringValue(sentence));
}
