/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

char *peer_program(char *why, size_t why_bytes)
{
    const char *chosen = getenv("ORDO_PEER");
    char        path[4096];
    if (chosen && *chosen) {
        snprintf(path, sizeof path, "%s", chosen);
        if (access(path, X_OK) == 0)
            return strdup(path);
        snprintf(why, why_bytes, "ORDO_PEER: cannot run %.300s: %s", chosen, strerror(errno));
        return NULL;
    }
    if (beside_us(path, sizeof path) || in_path(path, sizeof path))
        return strdup(path);
    snprintf(why, why_bytes,
             "there is no ordo-peer: 'meson compile ordo-peer' makes it where there is nvcc (option peers)");
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

/* Starts it with its standard output on a pipe. Returns the end to read from, or -1. */
static int start(const char *program, char *const *argv, pid_t *child)
{
    int                        ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const int code = posix_spawn(child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code == 0)
        return ends[0];
    close(ends[0]);
    errno = code;
    return -1;
}

/* A row of each line. */
static bool parse_rows(char *text, cJSON *rows, char *why, size_t why_bytes)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *row = cJSON_Parse(line);
        if (!row) {
            snprintf(why, why_bytes, "ordo-peer printed what is not JSON: %.200s", line);
            return false;
        }
        cJSON_AddItemToArray(rows, row);
    }
    return true;
}

/* After so many seconds it hangs: CUDA takes some to begin, and input is made and checked beside what is measured. */
static double most_seconds(double budget)
{
    const char  *chosen = getenv("ORDO_PEER_SECONDS");
    const double seconds = chosen ? strtod(chosen, NULL) : 0;
    return seconds > 0 ? seconds : 300 + 10 * budget;
}

/* Reads all that it prints and waits for its end, or ends it. */
static bool hear_out(int from, pid_t child, double seconds, cJSON *rows, char *why, size_t why_bytes)
{
    bool  in_time = false;
    int   status = 0;
    char *text = child_text(from, now() + seconds, &in_time);
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;

    bool good = false;
    if (!in_time)
        snprintf(why, why_bytes,
                 "ordo-peer was ended: it had not finished after %g s (ORDO_PEER_SECONDS=%g would wait longer)",
                 seconds, 10 * seconds);
    else if (WIFSIGNALED(status))
        snprintf(why, why_bytes, "ordo-peer was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(why, why_bytes, "ordo-peer failed (%d)", WEXITSTATUS(status));
    else
        good = !text || parse_rows(text, rows, why, why_bytes);
    free(text);
    return good;
}

cJSON *peer_rows(const char *program, const char *device_name, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why, size_t why_bytes)
{
    char  value_bytes[TEXT_BYTES], queries[TEXT_BYTES], batch[TEXT_BYTES], seed[TEXT_BYTES], budget[TEXT_BYTES];
    char  hits[TEXT_BYTES], load[TEXT_BYTES];
    char *sizes = list_of_counts(counts, n);
    if (!sizes) {
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    snprintf(value_bytes, sizeof value_bytes, "%u", spec->value_bytes);
    snprintf(queries, sizeof queries, "=%zu", spec->n_queries ? spec->n_queries : 1);
    snprintf(batch, sizeof batch, "%zu", spec->batch);
    snprintf(hits, sizeof hits, "%u", spec->hit_percent);
    snprintf(load, sizeof load, "%u", spec->load_percent);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long) spec->seed);
    snprintf(budget, sizeof budget, "%g", seconds);
    const char *const arguments[] = { "ordo-peer",
                                      "--device",
                                      device_name,
                                      "--workload",
                                      workload_name(spec->workload),
                                      "--variant",
                                      variant_name(spec->workload, spec->variant),
                                      "--type",
                                      type_name(spec->type),
                                      "--value-bytes",
                                      value_bytes,
                                      "--dist",
                                      dist_name(spec->dist),
                                      "--sizes",
                                      sizes,
                                      "--queries",
                                      queries,
                                      "--batch",
                                      batch,
                                      "--hit-rate",
                                      hits,
                                      "--load",
                                      load,
                                      "--seed",
                                      seed,
                                      "--budget",
                                      budget,
                                      NULL };

    pid_t     child = 0;
    const int from = start(program, (char *const *) arguments, &child);
    cJSON    *rows = cJSON_CreateArray();
    bool      good = false;
    if (from < 0)
        snprintf(why, why_bytes, "cannot run %s: %s", program, strerror(errno));
    else
        good = hear_out(from, child, most_seconds(seconds), rows, why, why_bytes);
    if (from >= 0)
        close(from);
    free(sizes);
    if (!good) {
        cJSON_Delete(rows);
        return NULL;
    }
    return rows;
}

static double number_in(const cJSON *row, const char *name)
{
    const cJSON *number = json_at(row, name);
    return cJSON_IsNumber(number) ? number->valuedouble : -1;
}

const cJSON *peer_row(const cJSON *rows, size_t count)
{
    const cJSON *row = NULL, *best = NULL;
    cJSON_ArrayForEach(row, rows)
    {
        if (number_in(row, "count") == (double) count && (!best || number_in(row, "rate") > number_in(best, "rate")))
            best = row;
    }
    return best;
}
