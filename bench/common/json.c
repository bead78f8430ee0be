/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "json.h"

#include "build_info.h"
#include "complain.h"
#include "revision.h"
#include "threads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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

static void processor_model(char *model, size_t bytes)
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char  line[256];
    snprintf(model, bytes, "unknown");
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(model, bytes, "%.*s", (int) strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (info)
        fclose(info);
}

static cJSON *json_host(void)
{
    static const char *const variables[] = { "ORDO_DEVICE",
                                             "ORDO_MASK",
                                             "ORDO_CACHE",
                                             "ORDO_PROFILE",
                                             "ORDO_CL_DIR",
                                             "POCL_DEVICES",
                                             "POCL_MAX_PTHREAD_COUNT",
                                             "RUSTICL_ENABLE",
                                             "CUDA_VISIBLE_DEVICES",
                                             "OCL_ICD_VENDORS" };
    cJSON                   *host = cJSON_CreateObject(), *environment = cJSON_AddObjectToObject(host, "environment");
    struct utsname           system;
    char                     model[128];

    processor_model(model, sizeof model);
    if (uname(&system) == 0) {
        char text[200];
        snprintf(text, sizeof text, "%.60s %.60s %.60s", system.sysname, system.release, system.machine);
        cJSON_AddStringToObject(host, "system", text);
    }
    cJSON_AddStringToObject(host, "processor", model);
    cJSON_AddNumberToObject(host, "processors", processors());
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            cJSON_AddStringToObject(environment, variables[i], getenv(variables[i]));
    return host;
}

static void date_now(char *date, size_t bytes)
{
    const time_t seconds = time(NULL);
    struct tm    utc;
    *date = 0;
    if (gmtime_r(&seconds, &utc))
        strftime(date, bytes, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

cJSON *json_process(void)
{
    cJSON *process = cJSON_CreateObject();
    char   date[40];
    double load = NAN;
    FILE  *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%lf", &load) != 1)
        load = NAN;
    if (file)
        fclose(file);
    date_now(date, sizeof date);
    cJSON_AddStringToObject(process, "began", date);
    json_number(process, "load", load);
    cJSON_AddNullToObject(process, "ended");
    return process;
}

cJSON *json_head(const char *tool, int argc, char **argv)
{
    cJSON *head = cJSON_CreateObject();
    char   date[40];

    date_now(date, sizeof date);
    cJSON_AddStringToObject(head, "tool", tool);
    cJSON_AddStringToObject(head, "version", ordo_version());
    cJSON_AddStringToObject(head, "revision", ORDO_REVISION);
    cJSON_AddItemToObject(head, "clean", ORDO_CLEAN < 0 ? cJSON_CreateNull() : cJSON_CreateBool(ORDO_CLEAN > 0));
    cJSON_AddStringToObject(head, "sources", ORDO_SOURCES);
    cJSON *build = cJSON_AddObjectToObject(head, "build");
    cJSON_AddStringToObject(build, "compiler", ORDO_COMPILER);
    cJSON_AddStringToObject(build, "type", ORDO_BUILD_TYPE);
    cJSON_AddStringToObject(build, "sanitizers", ORDO_SANITIZERS);
    cJSON_AddStringToObject(head, "date", date);
    cJSON_AddItemToObject(head, "host", json_host());
    cJSON *arguments = cJSON_AddArrayToObject(head, "arguments");
    for (int i = 1; i < argc; i++)
        cJSON_AddItemToArray(arguments, cJSON_CreateString(argv[i]));
    return head;
}

cJSON *json_device(const struct ordo_facts *facts)
{
    cJSON *device = cJSON_CreateObject();
    cJSON_AddStringToObject(device, "name", facts->name);
    cJSON_AddStringToObject(device, "vendor", facts->vendor);
    cJSON_AddStringToObject(device, "platform", facts->platform);
    cJSON_AddStringToObject(device, "driver", facts->driver);
    cJSON_AddStringToObject(device, "opencl", facts->version);
    cJSON_AddBoolToObject(device, "cpu", facts->cpu);
    cJSON_AddBoolToObject(device, "unified_memory", facts->unified_memory);
    cJSON_AddBoolToObject(device, "groups_progress", facts->groups_progress);
    cJSON_AddBoolToObject(device, "int64_atomics", facts->int64_atomics);
    cJSON_AddBoolToObject(device, "address_order", facts->address_order);
    cJSON_AddBoolToObject(device, "own_binary_cache", facts->own_binary_cache);
    cJSON_AddStringToObject(device, "lanes", lanes_name(facts->lanes));
    cJSON_AddStringToObject(device, "atomics", atomics_name(facts->atomics));
    cJSON_AddNumberToObject(device, "sub_group", facts->sub_group);
    cJSON_AddNumberToObject(device, "compute_units", facts->compute_units);
    cJSON_AddNumberToObject(device, "max_group", facts->max_group);
    cJSON_AddNumberToObject(device, "cache_line_bytes", facts->cache_line_bytes);
    cJSON_AddNumberToObject(device, "clock_mhz", facts->clock_mhz);
    cJSON_AddNumberToObject(device, "timer_ns", facts->timer_ns);
    cJSON_AddNumberToObject(device, "local_bytes", (double) facts->local_bytes);
    cJSON_AddNumberToObject(device, "cache_bytes", (double) facts->cache_bytes);
    cJSON_AddNumberToObject(device, "global_bytes", (double) facts->global_bytes);
    cJSON_AddNumberToObject(device, "max_alloc_bytes", (double) facts->max_alloc_bytes);
    json_number(device, "open_ms", facts->open_ms);
    json_number(device, "build_ms", facts->build_ms);
    json_number(device, "self_test_ms", facts->self_test_ms);
    cJSON_AddBoolToObject(device, "self_test_remembered", facts->self_test_remembered);
    cJSON_AddStringToObject(device, "dropped", facts->dropped);
    return device;
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether a file may be written there. Leaves none behind that was not there before. */
static bool is_writable(const char *path)
{
    char        directory[4096];
    const char *slash = strrchr(path, '/');
    if (access(path, F_OK) == 0)
        return access(path, W_OK) == 0;
    if (errno != ENOENT)
        return false;
    snprintf(directory, sizeof directory, "%.*s", slash ? (int) (slash - path) + 1 : 1, slash ? path : ".");
    return access(directory, W_OK | X_OK) == 0;
}

const char *json_option(const char *path)
{
    if (!is_standard(path) && !is_writable(path))
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

/* Whether each member of a value has a line: so have lists of two objects or more, at the top and in papers. */
static bool has_lines(const cJSON *parent, const cJSON *value)
{
    if (cJSON_IsArray(parent))
        return are_papers(parent);
    return cJSON_IsArray(value) && cJSON_IsObject(value->child) && (value->child->next || are_papers(value));
}

static bool put_line(FILE *file, const cJSON *value)
{
    char      *text = cJSON_PrintUnformatted(value);
    const bool good = text && fputs(text, file) >= 0;
    cJSON_free(text);
    return good;
}

static bool put_lines(FILE *file, const cJSON *json, int depth)
{
    bool         good = fputs(cJSON_IsArray(json) ? "[\n" : "{\n", file) >= 0;
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, json)
    {
        fprintf(file, "%*s", depth + 1, "");
        if (cJSON_IsObject(json))
            fprintf(file, "\"%s\": ", value->string);
        good &= has_lines(json, value) ? put_lines(file, value, depth + 1) : put_line(file, value);
        good &= fputs(value->next ? ",\n" : "\n", file) >= 0;
    }
    return fprintf(file, "%*s%s", depth, "", cJSON_IsArray(json) ? "]" : "}") > 0 && good;
}

static bool write_text(FILE *file, const cJSON *json)
{
    return file && put_lines(file, json, 0) && fputc('\n', file) != EOF && fflush(file) == 0;
}

/* Where a file is written before it takes its place: beside it. NULL where that is of no use, as `path` is a device or a
 * pipe, or cannot be. The caller frees both names. */
static FILE *open_beside(const char *path, char **real, char **beside)
{
    struct stat status;
    const bool  there = stat(path, &status) == 0;
    *beside = NULL;
    *real = there ? realpath(path, NULL) : strdup(path);
    if ((there && !S_ISREG(status.st_mode)) || !*real)
        return NULL;
    *beside = malloc(strlen(*real) + sizeof ".part");
    if (!*beside)
        return NULL;
    sprintf(*beside, "%s.part", *real);
    return fopen(*beside, "w");
}

static bool write_beside(FILE *file, const cJSON *json, const char *beside, const char *real)
{
    bool good = write_text(file, json);
    good = fclose(file) == 0 && good && rename(beside, real) == 0;
    if (!good) {
        const int error = errno;
        unlink(beside);
        errno = error;
    }
    return good;
}

static bool write_file(const char *path, const cJSON *json)
{
    char *real = NULL, *beside = NULL;
    FILE *file = open_beside(path, &real, &beside);
    bool  good;
    if (file) {
        good = write_beside(file, json, beside, real);
    } else {
        file = fopen(path, "w");
        good = write_text(file, json);
        good = file && fclose(file) == 0 && good;
    }
    free(real);
    free(beside);
    return good;
}

bool json_write(const char *path, const cJSON *json, char *why, size_t why_bytes)
{
    const bool good = is_standard(path) ? write_text(stdout, json) : write_file(path, json);
    if (!good)
        snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(errno));
    return good;
}

/* The whole file as text, which the caller frees; NULL with errno set. */
static char *read_file(FILE *file)
{
    size_t room = 1 << 16, used = 0;
    char  *text = malloc(room);
    while (text) {
        const size_t got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used + 1 < room)
            continue;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    if (text && ferror(file)) {
        free(text);
        return NULL;
    }
    if (text)
        text[used] = 0;
    return text;
}

cJSON *json_read(const char *path, char *why, size_t why_bytes)
{
    FILE *file = is_standard(path) ? stdin : fopen(path, "r");
    char *text = file ? read_file(file) : NULL;
    if (!text)
        snprintf(why, why_bytes, "cannot read %s: %s", path, strerror(errno));
    if (file && file != stdin)
        fclose(file);
    if (!text)
        return NULL;

    cJSON *json = cJSON_Parse(text);
    if (!json) {
        const char *at = cJSON_GetErrorPtr();
        int         line = 1;
        for (const char *c = text; at && c < at; c++)
            line += *c == '\n';
        snprintf(why, why_bytes, "%s is not JSON (line %d)", path, line);
    }
    free(text);
    return json;
}

const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

double number_of(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

bool is_true(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

bool text_is(const cJSON *object, const char *name, const char *text)
{
    const char *got = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return got && strcmp(got, text) == 0;
}

/* Files from before the first schema list every tunable, and no origins. */
static bool has_origins(const cJSON *device)
{
    return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(device, "origins"));
}

static bool is_default(const cJSON *device, const char *tunable)
{
    const char *origin = text_of(cJSON_GetObjectItemCaseSensitive(device, "origins"), tunable);
    return has_origins(device) && (!*origin || strcmp(origin, origin_name(ORDO_ORIGIN_DEFAULT)) == 0);
}

/* Whether each tunable that `other` lists is the same on `device`. */
static bool has_tunables_of(const cJSON *device, const cJSON *other)
{
    const cJSON *tunables = cJSON_GetObjectItemCaseSensitive(device, "tunables"), *tunable = NULL;
    cJSON_ArrayForEach(tunable, cJSON_GetObjectItemCaseSensitive(other, "tunables"))
    {
        const double here = number_of(tunables, tunable->string);
        const bool   differs = isnan(here) ? has_origins(device) && has_origins(other) : here != tunable->valuedouble;
        if (differs && !(is_default(device, tunable->string) && is_default(other, tunable->string)))
            return false;
    }
    return true;
}

bool same_tunables(const cJSON *a, const cJSON *b)
{
    return has_tunables_of(a, b) && has_tunables_of(b, a);
}

/* ---- names of facts ------------------------------------------------------------------------------------------ */

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
