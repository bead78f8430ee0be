/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* strsep */
#include "peers.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* Looks in a list of folders as in $PATH. */
static bool find_in(const char *folders, const char *name, char *path)
{
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(path, PATH_BYTES, "%.*s/%s", (int) length, at, name);
        if (length && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* The CUDA peer cannot take a CPU. */
static const char cuda_peer[] = "ordo-peer";

char *peer_programs(char *why)
{
    static const char *const names[] = { cuda_peer, "ordo-peer-cl" };
    const char              *chosen = getenv("ORDO_PEER");
    char                     all[2 * PATH_BYTES + 1] = "", path[PATH_BYTES], own[2048] = "";
    size_t                   used = 0;
    const ssize_t            length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (chosen && *chosen) {
        if (strchr(chosen, ':') || access(chosen, X_OK) == 0)
            return strdup(chosen);
        because(why, "ORDO_PEER: cannot run %.300s: %s", chosen, strerror(errno));
        return NULL;
    }
    if (length > 0)
        *strrchr(own, '/') = 0; /* our folder */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_in(own, names[i], path) || find_in(getenv("PATH"), names[i], path))
            used += (size_t) snprintf(all + used, sizeof all - used, "%s%s", used ? ":" : "", path);
    if (*all)
        return strdup(all);
    because(why, "neither ordo-peer nor ordo-peer-cl is in the PATH: 'meson compile ordo-peer' builds the first, with "
                 "nvcc, 'meson compile ordo-peer-cl' the other, with Boost.Compute");
    return NULL;
}

/* "0:1" (platform and device, as in ordo_device_open) and the name. False if OpenCL lists no such device. */
static bool place_of(ordo_device *device, char *place, size_t bytes, char *name, size_t name_bytes)
{
    enum { MOST = 64 };
    const cl_device_id id = ordo_device_id(device);
    cl_platform_id     platforms[MOST];
    cl_uint            n_platforms = 0;
    memset(name, 0, name_bytes);
    if (clGetDeviceInfo(id, CL_DEVICE_NAME, name_bytes - 1, name, NULL) != CL_SUCCESS ||
        clGetPlatformIDs(MOST, platforms, &n_platforms) != CL_SUCCESS)
        return false;
    for (cl_uint p = 0; p < n_platforms && p < MOST; p++) {
        cl_device_id ids[MOST];
        cl_uint      n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, ids, &n) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && d < MOST; d++)
            if (ids[d] == id) {
                snprintf(place, bytes, "%u:%u", p, d);
                return true;
            }
    }
    return false;
}

/* Adds the printed rows, also those before a failure. */
static void run_program(const char *program, const char **words, double seconds, cJSON *rows, char *why)
{
    const char          *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    char                *rest = NULL;
    struct child_outcome outcome;
    words[0] = name;
    child_run(&(struct child) { .program = program, .arguments = words, .seconds = seconds, .prints = true }, &outcome);
    if (outcome.problem[0])
        because(why, "%s %s (at most %g s; ORDO_PEER_SECONDS=%g allows more)", name, outcome.problem, seconds,
                10 * seconds);
    for (char *line = outcome.text ? strtok_r(outcome.text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        cJSON *row = cJSON_Parse(line);
        if (!row)
            because(why, "%s printed what is not JSON: %.200s", name, line);
        cJSON_AddItemToArray(rows, row);
    }
    free(outcome.text);
}

cJSON *peer_rows(const char *programs, ordo_device *device, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why)
{
    char         place[32], name[256];
    const size_t room = 1024 + sizeof name + (size_t) n * 24;
    const char  *chosen = getenv("ORDO_PEER_SECONDS");
    const double allowed = chosen ? strtod(chosen, NULL) : 0;
    const double most = allowed > 0 ? allowed : 300 + 10 * seconds; /* with the driver's start, input and checks */
    const char **words = calloc((size_t) n + 16, sizeof *words);
    char        *text = malloc(room), *list = strdup(programs), *rest = text;
    cJSON       *rows = cJSON_CreateArray();
    size_t       used = 0;
    bool         good = text && words && list && rows;
    if (!good)
        because(why, "out of memory");
    else if (!place_of(device, place, sizeof place, name, sizeof name))
        good = because(why, "OpenCL does not list this device, so a peer cannot take it");
    if (good) /* a word a line, as peer_run.hpp reads them */
        used = (size_t) snprintf(text, room, "\n%g\n%s\n%s\n%s\n%s\n%s\n%s\n%u\n%zu\n%zu\n%u\n%u\n%llu", seconds, place,
                                 name, workload_name(spec->workload), variant_name(spec->workload, spec->variant),
                                 type_name(spec->type), dist_name(spec->dist), spec->value_bytes,
                                 workload_has_queries(spec->workload) ? spec->n_queries : 0, spec->batch,
                                 spec->hit_percent, spec->load_percent, (unsigned long long) spec->seed);
    for (int i = 0; good && i < n; i++)
        used += (size_t) snprintf(text + used, room - used, "\n%zu", counts[i]);
    for (int i = 0; good && rest; i++)
        words[i] = strsep(&rest, "\n");
    rest = list;
    for (char *program = good ? strsep(&rest, ":") : NULL; program; program = strsep(&rest, ":")) {
        const char *slash = strrchr(program, '/');
        if (!ordo_device_facts(device)->cpu || strcmp(slash ? slash + 1 : program, cuda_peer) != 0)
            run_program(program, words, most, rows, why);
    }
    free(list);
    free(words);
    free(text);
    return rows;
}

const cJSON *peer_row(const cJSON *rows, size_t count)
{
    const cJSON *row = NULL, *best = NULL;
    cJSON_ArrayForEach(row, rows) {
        const bool right = number_of(row, "rate") > 0 && !text_is(row, "check", "WRONG");
        if (right && number_of(row, "count") == (double) count &&
            (!best || number_of(row, "rate") > number_of(best, "rate")))
            best = row;
    }
    return best;
}
