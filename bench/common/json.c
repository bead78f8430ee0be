/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "json.h"

#include "build_info.h"
#include "revision.h"
#include "terminal.h"
#include "threads.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

cJSON *json_cut(double number)
{
    char text[32];
    if (isnan(number) || isinf(number))
        return cJSON_CreateNull();
    snprintf(text, sizeof text, "%.6g", number);
    return cJSON_CreateNumber(strtod(text, NULL));
}

void json_number(cJSON *object, const char *name, double number)
{
    cJSON_AddItemToObject(object, name, json_cut(number));
}

cJSON *json_append(cJSON *list)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    return object;
}

static const char *const variables[] = { "ORDO_DEVICE",           "ORDO_MASK",       "ORDO_CACHE",
                                         "ORDO_PROFILE",          "ORDO_CL_DIR",     "POCL_DEVICES",
                                         "RUSTICL_ENABLE",        "OCL_ICD_VENDORS", "CUDA_VISIBLE_DEVICES",
                                         "POCL_MAX_PTHREAD_COUNT" };

static cJSON *json_host(void)
{
    cJSON         *host = cJSON_CreateObject(), *environment = cJSON_AddObjectToObject(host, "environment");
    FILE          *info = fopen("/proc/cpuinfo", "r");
    struct utsname system;
    char           text[200], line[256], model[128] = "unknown";
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%.60s %.60s %.60s", system.sysname, system.release, system.machine);
        json_text(host, "system", text);
    }
    while (info && fgets(line, sizeof line, info) && sscanf(line, "model name : %127[^\n]", model) != 1)
        continue;
    if (info)
        fclose(info);
    json_text(host, "processor", model);
    json_exact(host, "processors", processors());
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            json_text(environment, variables[i], getenv(variables[i]));
    return host;
}

static void json_date(cJSON *object, const char *name)
{
    const time_t seconds = time(NULL);
    struct tm    utc;
    char         date[40] = "";
    if (gmtime_r(&seconds, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_text(object, name, date);
}

/* A number in a file; NaN if there is none. */
static double read_number(const char *directory, const char *file)
{
    char   path[1024];
    double number = NAN;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *from = fopen(path, "r");
    if (from && fscanf(from, "%lf", &number) != 1)
        number = NAN;
    if (from)
        fclose(from);
    return number;
}

cJSON *json_process(void)
{
    cJSON *process = cJSON_CreateObject();
    json_date(process, "began");
    json_number(process, "load", read_number("/proc", "loadavg"));
    cJSON_AddNullToObject(process, "ended");
    return process;
}

cJSON *json_head(const char *tool, int argc, char **argv)
{
    cJSON *head = cJSON_CreateObject();
    json_text(head, "tool", tool);
    json_text(head, "version", ordo_version());
    json_text(head, "revision", ORDO_REVISION);
    cJSON_AddItemToObject(head, "clean", ORDO_CLEAN < 0 ? cJSON_CreateNull() : cJSON_CreateBool(ORDO_CLEAN > 0));
    json_text(head, "sources", ORDO_SOURCES);
    cJSON *build = cJSON_AddObjectToObject(head, "build");
    json_text(build, "compiler", ORDO_COMPILER);
    json_text(build, "type", ORDO_BUILD_TYPE);
    json_text(build, "sanitizers", ORDO_SANITIZERS);
    json_date(head, "date");
    cJSON_AddItemToObject(head, "host", json_host());
    cJSON *arguments = cJSON_AddArrayToObject(head, "arguments");
    for (int i = 1; i < argc; i++)
        cJSON_AddItemToArray(arguments, cJSON_CreateString(argv[i]));
    return head;
}

cJSON *json_device(const struct ordo_facts *facts)
{
    cJSON *device = cJSON_CreateObject();
    json_text(device, "name", facts->name);
    json_text(device, "vendor", facts->vendor);
    json_text(device, "platform", facts->platform);
    json_text(device, "driver", facts->driver);
    json_text(device, "opencl", facts->version);
    json_flag(device, "cpu", facts->cpu);
    json_flag(device, "unified_memory", facts->unified_memory);
    json_flag(device, "groups_progress", facts->groups_progress);
    json_flag(device, "int64_atomics", facts->int64_atomics);
    json_flag(device, "address_order", facts->address_order);
    json_flag(device, "own_binary_cache", facts->own_binary_cache);
    json_text(device, "lanes", lanes_name(facts->lanes));
    json_text(device, "atomics", atomics_name(facts->atomics));
    json_exact(device, "sub_group", facts->sub_group);
    json_exact(device, "compute_units", facts->compute_units);
    json_exact(device, "max_group", facts->max_group);
    json_exact(device, "cache_line_bytes", facts->cache_line_bytes);
    json_exact(device, "clock_mhz", facts->clock_mhz);
    json_exact(device, "timer_ns", facts->timer_ns);
    json_exact(device, "local_bytes", (double) facts->local_bytes);
    json_exact(device, "cache_bytes", (double) facts->cache_bytes);
    json_exact(device, "global_bytes", (double) facts->global_bytes);
    json_exact(device, "max_alloc_bytes", (double) facts->max_alloc_bytes);
    json_number(device, "open_ms", facts->open_ms);
    json_number(device, "build_ms", facts->build_ms);
    json_number(device, "self_test_ms", facts->self_test_ms);
    json_flag(device, "self_test_remembered", facts->self_test_remembered);
    json_text(device, "dropped", facts->dropped);
    return device;
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *json_option(const char *path)
{
    char       directory[PATH_MAX];
    const bool there = access(path, F_OK) == 0 || errno != ENOENT;
    snprintf(directory, sizeof directory, "%s", path);
    if (!is_standard(path) && access(there ? path : dirname(directory), there ? W_OK : W_OK | X_OK) != 0)
        usage_error("--json: cannot write %s: %s", path, strerror(errno));
    return path;
}

bool json_is_file(const char *path)
{
    struct stat status;
    return !is_standard(path) && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

static bool are_papers(const cJSON *value)
{
    return value->string && strcmp(value->string, "papers") == 0;
}

/* Lists of at least two objects, at the top level and in papers, get a line for each member; other values get one. */
static bool put_lines(FILE *file, const cJSON *json, int depth)
{
    bool         good = fputs(cJSON_IsArray(json) ? "[\n" : "{\n", file) >= 0;
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, json) {
        const bool objects = cJSON_IsArray(value) && cJSON_IsObject(value->child), papers = are_papers(value);
        const bool lines = cJSON_IsArray(json) ? are_papers(json) : objects && (value->child->next || papers);
        char      *text = lines ? NULL : cJSON_PrintUnformatted(value);
        fprintf(file, "%*s", depth + 1, "");
        if (cJSON_IsObject(json))
            fprintf(file, "\"%s\": ", value->string);
        good &= lines ? put_lines(file, value, depth + 1) : text && fputs(text, file) >= 0;
        good &= fputs(value->next ? ",\n" : "\n", file) >= 0;
        cJSON_free(text);
    }
    return fprintf(file, "%*s%s", depth, "", cJSON_IsArray(json) ? "]" : "}") > 0 && good;
}

static bool write_text(FILE *file, const cJSON *json)
{
    return file && put_lines(file, json, 0) && fputc('\n', file) != EOF && fflush(file) == 0;
}

/* A regular file is replaced by a complete one; devices and pipes, and files in a directory that cannot be written, are
 * written directly. */
static bool write_file(const char *path, const cJSON *json)
{
    char real[PATH_MAX], beside[PATH_MAX + 8];
    if (!realpath(path, real))
        snprintf(real, sizeof real, "%s", path);
    snprintf(beside, sizeof beside, "%s.part", real);
    FILE      *part = json_is_file(path) ? fopen(beside, "w") : NULL;
    FILE      *file = part ? part : fopen(path, "w");
    const bool written = write_text(file, json), closed = file && fclose(file) == 0;
    if (written && closed && (!part || rename(beside, real) == 0))
        return true;
    const int error = errno;
    if (part)
        unlink(beside);
    errno = error;
    return false;
}

bool json_write(const char *path, const cJSON *json)
{
    const bool good = is_standard(path) ? write_text(stdout, json) : write_file(path, json);
    if (!good)
        report_error("cannot write %s: %s", path, strerror(errno));
    return good;
}

cJSON *json_read(const char *path, char *why)
{
    FILE  *file = is_standard(path) ? stdin : fopen(path, "r");
    char  *text = NULL;
    size_t room = 0;
    cJSON *json = NULL;
    if (!file || (getdelim(&text, &room, 0, file) < 0 && ferror(file)))
        because(why, "cannot read %s: %s", path, strerror(errno));
    else if (!(json = cJSON_Parse(text))) {
        const char *at = cJSON_GetErrorPtr();
        int         line = 1;
        for (const char *c = text; c && c < at; c++)
            line += *c == '\n';
        because(why, "%s is not JSON (line %d)", path, line);
    }
    if (file && file != stdin)
        fclose(file);
    free(text);
    return json;
}

const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(json_at(object, name));
    return text ? text : "";
}

double number_of(const cJSON *object, const char *name)
{
    const cJSON *number = json_at(object, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

bool is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(json_at(object, name));
}

bool text_is(const cJSON *object, const char *name, const char *text)
{
    const char *got = cJSON_GetStringValue(json_at(object, name));
    return got && strcmp(got, text) == 0;
}

static bool is_default(const cJSON *origins, const char *tunable)
{
    const char *origin = text_of(origins, tunable);
    return !*origin || strcmp(origin, origin_name(ORDO_ORIGIN_DEFAULT)) == 0;
}

/* Files older than schema 1 list every tunable and no origins. Then a tunable that one side lacks says nothing. */
bool same_tunables(const cJSON *a, const cJSON *b)
{
    const cJSON *devices[] = { a, b }, *origins[] = { json_at(a, "origins"), json_at(b, "origins") }, *tunable = NULL;
    const bool   old = !origins[0] || !origins[1];
    for (int d = 0; d < 2; d++)
        cJSON_ArrayForEach(tunable, json_at(devices[d], "tunables")) {
            const char  *name = tunable->string;
            const double x = number_of(json_at(a, "tunables"), name), y = number_of(json_at(b, "tunables"), name);
            const bool   defaults = !old && is_default(origins[0], name) && is_default(origins[1], name);
            if (!defaults && (isnan(x) || isnan(y) ? !old : x != y))
                return false;
        }
    return true;
}

const char *lanes_name(ordo_lanes lanes)
{
    static const char *const names[] = { "one", "khronos", "nvidia", "amd" };
    return names[lanes];
}

const char *atomics_name(ordo_atomics atomics)
{
    static const char *const names[] = { "legacy", "c11", "nvidia" };
    return names[atomics];
}

const char *origin_name(ordo_origin origin)
{
    static const char *const names[] = { "default", "shipped", "tuned", "set" };
    return names[origin];
}

static void add(cJSON *list, const char *name, double clock_mhz, double power_w, double temperature_c)
{
    cJSON *sensor = json_append(list);
    json_text(sensor, "name", name);
    json_number(sensor, "clock_mhz", clock_mhz);
    json_number(sensor, "power_w", power_w);
    json_number(sensor, "temperature_c", temperature_c);
}

/* The first monitor of each graphics card. */
static void add_cards(cJSON *list, const char *root)
{
    char   pattern[512], card[16], last[16] = "";
    glob_t monitors;
    snprintf(pattern, sizeof pattern, "%s/sys/class/drm/card*/device/hwmon/*", root);
    if (glob(pattern, 0, NULL, &monitors) != 0)
        return;
    for (size_t i = 0; i < monitors.gl_pathc; i++) {
        const char  *monitor = monitors.gl_pathv[i];
        const double power = read_number(monitor, "power1_average"), input = read_number(monitor, "power1_input");
        snprintf(card, sizeof card, "%.*s", (int) strcspn(strstr(monitor, "/drm/") + 5, "/"),
                 strstr(monitor, "/drm/") + 5);
        if (strcmp(card, last) != 0)
            add(list, card, read_number(monitor, "freq1_input") * 1e-6, (isnan(power) ? input : power) * 1e-6,
                read_number(monitor, "temp1_input") * 1e-3);
        memcpy(last, card, sizeof last);
    }
    globfree(&monitors);
}

/* A line has the clock, power, temperature ("[N/A]": unknown) and name. */
static void add_nvidia(cJSON *list)
{
    char line[512];
    if (access("/dev/nvidiactl", F_OK) != 0)
        return;
    FILE *from = popen("timeout 5 nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,name "
                       "--format=csv,noheader,nounits 2>/dev/null",
                       "r");
    while (from && fgets(line, sizeof line, from)) {
        double numbers[3];
        char  *rest = line, *end = NULL;
        for (int i = 0; i < 3 && rest; i++) {
            numbers[i] = strtod(rest, &end);
            if (end == rest)
                numbers[i] = NAN;
            rest = strchr(rest, ',');
            rest += rest != NULL;
        }
        if (!rest)
            continue;
        rest[strcspn(rest, "\n")] = 0;
        add(list, rest + strspn(rest, " "), numbers[0], numbers[1], numbers[2]);
    }
    if (from)
        pclose(from);
}

cJSON *read_sensors(const char *root)
{
    cJSON *list = cJSON_CreateArray();
    char   clock[512], zone[512];
    add_cards(list, root);
    snprintf(clock, sizeof clock, "%s/sys/devices/system/cpu/cpu0/cpufreq", root);
    snprintf(zone, sizeof zone, "%s/sys/class/thermal/thermal_zone0", root);
    const double mhz = read_number(clock, "scaling_cur_freq") * 1e-3, celsius = read_number(zone, "temp") * 1e-3;
    if (!isnan(mhz) || !isnan(celsius))
        add(list, "cpu", mhz, NAN, celsius);
    if (!*root)
        add_nvidia(list);
    return list;
}
