/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* strsep */
#include "peers.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looks in a list of folders as in $PATH. */
static bool find_in(const char *folders, char *path, size_t bytes)
{
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(path, bytes, "%.*s/ordo-peer", (int) length, at);
        if (length && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

char *peer_program(char *why)
{
    const char   *chosen = getenv("ORDO_PEER");
    char          path[4096], own[2048] = "";
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (chosen && *chosen) {
        if (access(chosen, X_OK) == 0)
            return strdup(chosen);
        because(why, "ORDO_PEER: cannot run %.300s: %s", chosen, strerror(errno));
        return NULL;
    }
    if (length > 0)
        *strrchr(own, '/') = 0; /* our folder */
    if (find_in(own, path, sizeof path) || find_in(getenv("PATH"), path, sizeof path))
        return strdup(path);
    because(why, "no ordo-peer in the PATH: 'meson compile ordo-peer' builds it, with nvcc");
    return NULL;
}

cJSON *peer_rows(const char *program, const char *device_name, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why)
{
    const size_t room = 1024 + strlen(device_name) + (size_t) n * 24;
    const char  *chosen = getenv("ORDO_PEER_SECONDS");
    const double allowed = chosen ? strtod(chosen, NULL) : 0;
    const double most = allowed > 0 ? allowed : 300 + 10 * seconds; /* with CUDA's start, input and checks */
    const char **words = calloc((size_t) n + 16, sizeof *words);
    char        *text = malloc(room), *rest = text;
    size_t       used = 0;
    if (!text || !words) {
        free(words);
        free(text);
        because(why, "out of memory");
        return NULL;
    }
    /* A word a line, as peer.cu reads them. */
    used += (size_t) snprintf(text, room, "ordo-peer\n%g\n%s\n%s\n%s\n%s\n%s\n%u\n%zu\n%zu\n%u\n%u\n%llu", seconds,
                              device_name, workload_name(spec->workload), variant_name(spec->workload, spec->variant),
                              type_name(spec->type), dist_name(spec->dist), spec->value_bytes,
                              workload_has_queries(spec->workload) ? spec->n_queries : 0, spec->batch,
                              spec->hit_percent, spec->load_percent, (unsigned long long) spec->seed);
    for (int i = 0; i < n; i++)
        used += (size_t) snprintf(text + used, room - used, "\n%zu", counts[i]);
    for (int i = 0; rest; i++)
        words[i] = strsep(&rest, "\n");
    struct child_outcome outcome;
    cJSON               *rows = cJSON_CreateArray();
    child_run(&(struct child) { .program = program, .arguments = words, .seconds = most, .prints = true }, &outcome);
    if (outcome.problem[0])
        because(why, "ordo-peer %s (at most %g s; ORDO_PEER_SECONDS=%g allows more)", outcome.problem, most, 10 * most);
    bool good = !outcome.problem[0];
    for (char *line = good ? strtok_r(outcome.text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *row = cJSON_Parse(line);
        if (!row)
            good = because(why, "ordo-peer printed what is not JSON: %.200s", line);
        cJSON_AddItemToArray(rows, row);
    }
    if (!good) {
        cJSON_Delete(rows);
        rows = NULL;
    }
    free(outcome.text);
    free(words);
    free(text);
    return rows;
}

const cJSON *peer_row(const cJSON *rows, size_t count)
{
    const cJSON *row = NULL, *best = NULL;
    cJSON_ArrayForEach(row, rows) {
        if (number_of(row, "count") == (double) count && (!best || number_of(row, "rate") > number_of(best, "rate")))
            best = row;
    }
    return best;
}
