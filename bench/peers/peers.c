/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding it ---------------------------------------------------------------------------------------------- */

static bool beside_us(char *path, size_t bytes)
{
    const ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    if (length <= 0)
        return false;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || (size_t) (slash + 1 - path) + sizeof "ordo-peer" > bytes)
        return false;
    memcpy(slash + 1, "ordo-peer", sizeof "ordo-peer");
    return access(path, X_OK) == 0;
}

static bool in_path(char *path, size_t bytes)
{
    const char *at = getenv("PATH");
    while (at && *at) {
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
    const char *chosen = getenv("ORDO_PEER");
    char        path[4096];
    if (chosen && *chosen) {
        snprintf(path, sizeof path, "%s", chosen);
        if (access(path, X_OK) == 0)
            return strdup(path);
        because(why, "ORDO_PEER: cannot run %.300s: %s", chosen, strerror(errno));
        return NULL;
    }
    if (beside_us(path, sizeof path) || in_path(path, sizeof path))
        return strdup(path);
    because(why, "no ordo-peer in the PATH: 'meson compile ordo-peer' builds it, with nvcc");
    return NULL;
}

/* ---- running it ---------------------------------------------------------------------------------------------- */

/* "=4096,=65536" */
static char *list_of_counts(const size_t *counts, int n)
{
    const size_t room = (size_t) n * 24 + 1;
    char        *list = malloc(room);
    size_t       used = 0;
    if (!list)
        return NULL;
    for (int i = 0; i < n; i++)
        used += (size_t) snprintf(list + used, room - used, "%s=%zu", i ? "," : "", counts[i]);
    return list;
}

/* Parses a row per line. */
static bool parse_rows(char *text, cJSON *rows, char *why)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *row = cJSON_Parse(line);
        if (!row)
            return because(why, "ordo-peer printed what is not JSON: %.200s", line);
        cJSON_AddItemToArray(rows, row);
    }
    return true;
}

/* The time limit, with CUDA's start, input and checks. */
static double most_seconds(double budget)
{
    const char  *chosen = getenv("ORDO_PEER_SECONDS");
    const double seconds = chosen ? strtod(chosen, NULL) : 0;
    return seconds > 0 ? seconds : 300 + 10 * budget;
}

cJSON *peer_rows(const char *program, const char *device_name, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why)
{
    char        *sizes = list_of_counts(counts, n), text[512];
    const char  *words[32];
    const double most = most_seconds(seconds);
    int          n_words = 0;
    if (!sizes) {
        because(why, "out of memory");
        return NULL;
    }
    snprintf(text, sizeof text,
             "ordo-peer --workload %s --type %s --value-bytes %u --dist %s --queries =%zu --batch %zu "
             "--hit-rate %u --load %u --seed %llu --budget %g",
             workload_name(spec->workload), type_name(spec->type), spec->value_bytes, dist_name(spec->dist),
             spec->n_queries ? spec->n_queries : 1, spec->batch, spec->hit_percent, spec->load_percent,
             (unsigned long long) spec->seed, seconds);
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[n_words++] = word;
    words[n_words++] = "--device";
    words[n_words++] = device_name;
    words[n_words++] = "--variant";
    words[n_words++] = variant_name(spec->workload, spec->variant);
    words[n_words++] = "--sizes";
    words[n_words++] = sizes;
    words[n_words] = NULL;

    struct child_outcome outcome;
    cJSON               *rows = cJSON_CreateArray();
    child_run(&(struct child) { .program = program, .arguments = words, .seconds = most, .prints = true }, &outcome);
    if (outcome.problem[0])
        because(why, "ordo-peer %s (at most %g s; ORDO_PEER_SECONDS=%g allows more)", outcome.problem, most, 10 * most);
    if (outcome.problem[0] || !parse_rows(outcome.text, rows, why)) {
        cJSON_Delete(rows);
        rows = NULL;
    }
    free(outcome.text);
    free(sizes);
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
