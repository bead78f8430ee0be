/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, nftw, mkdtemp */
#include "child.h"

#include "terminal.h"
#include "timing.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int child_answer(cJSON *answer)
{
    FILE      *out = fdopen(ANSWER_FD, "w");
    char      *text = cJSON_PrintUnformatted(answer);
    const bool good = out && text && fputs(text, out) >= 0 && fclose(out) == 0;
    cJSON_free(text);
    cJSON_Delete(answer);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void) status, (void) kind, (void) at;
    return remove(path);
}

void remove_all(const char *directory)
{
    (void) nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

bool caches_begin(struct caches *c)
{
    static const char *const names[N_CACHES] = { "ORDO_CACHE", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME",
                                                 "NEO_CACHE_DIR" };
    *c = (struct caches) { .directory = "/tmp/ordo-caches-XXXXXX" };
    if (!mkdtemp(c->directory)) {
        report_error("/tmp: no directory for caches: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < N_CACHES; i++) {
        snprintf(c->variable[i], sizeof c->variable[i], "%s=%s", names[i], c->directory);
        c->environment[i] = c->variable[i];
    }
    return true;
}

void caches_end(const struct caches *c)
{
    remove_all(c->directory);
}

/* No other child inherits them. */
struct pipes {
    int answer[2], said[2]; /* end to read, end to write */
};

/* The environment that child_keep_environment found; NULL: it was not called. */
static char **kept;

static size_t length_of(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

void child_keep_environment(void)
{
    const size_t n = length_of((const char *const *) environ);
    kept = calloc(n + 1, sizeof *kept);
    for (size_t i = 0; kept && i < n; i++)
        kept[i] = strdup(environ[i]);
}

/* `added` wins over variables of the same name. The caller frees the array, not the texts. */
static char **environment_with(const char *const *added)
{
    char *const *ours = kept ? kept : environ;
    const size_t n = length_of((const char *const *) ours), n_added = length_of(added);
    char       **all = calloc(n + n_added + 1, sizeof *all);
    size_t       used = 0;
    for (size_t i = 0; all && i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < n_added; k++)
            replaced |= strncmp(ours[i], added[k], strcspn(added[k], "=") + 1) == 0;
        if (!replaced)
            all[used++] = ours[i];
    }
    for (size_t i = 0; all && i < n_added; i++)
        all[used++] = (char *) added[i];
    return all;
}

/* Standard output and error on one pipe, ANSWER_FD on the other. */
static int start(const struct child *child, const struct pipes *pipes, pid_t *pid)
{
    char                     **environment = environment_with(child->environment);
    posix_spawn_file_actions_t actions;
    if (!environment)
        return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child->prints ? pipes->answer[1] : pipes->said[1], STDOUT_FILENO);
    if (!child->prints) {
        posix_spawn_file_actions_adddup2(&actions, pipes->said[1], STDERR_FILENO);
        posix_spawn_file_actions_adddup2(&actions, pipes->answer[1], ANSWER_FD);
    }
    const int code = posix_spawn(pid, child->program ? child->program : "/proc/self/exe", &actions, NULL,
                                 (char *const *) child->arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return code;
}

/* Reads until the child closes both pipes. Returns false if the deadline came first. */
static bool listen_until(double deadline, const struct pipes *pipes, FILE *answer, FILE *said)
{
    struct pollfd fds[2] = { { pipes->answer[0], POLLIN, 0 }, { pipes->said[0], POLLIN, 0 } };
    FILE         *texts[2] = { answer, said };
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        const double left = deadline - now();
        if (left <= 0 || (poll(fds, 2, (int) (left * 1e3) + 1) < 0 && errno != EINTR))
            return false;
        for (int i = 0; i < 2; i++) {
            char          bytes[4096];
            const ssize_t got = fds[i].fd >= 0 && fds[i].revents ? read(fds[i].fd, bytes, sizeof bytes) : -1;
            if (got > 0)
                (void) fwrite(bytes, 1, (size_t) got, texts[i]);
            else if (fds[i].fd >= 0 && fds[i].revents && (got == 0 || errno != EINTR))
                fds[i].fd = -1;
        }
    }
    return true;
}

static void keep_end(struct child_outcome *out, const char *said)
{
    size_t end = strlen(said);
    while (end > 0 && (unsigned char) said[end - 1] <= ' ')
        end--;
    const size_t length = end < sizeof out->said ? end : sizeof out->said - 1;
    for (size_t i = 0; i < length; i++) {
        const char c = said[end - length + i];
        out->said[i] = (unsigned char) c < ' ' ? ' ' : c;
    }
}

static void classify(struct child_outcome *out, int status, bool in_time, double seconds)
{
    if (!in_time)
        snprintf(out->problem, sizeof out->problem, "timed out after %g s", seconds);
    else if (WIFSIGNALED(status))
        snprintf(out->problem, sizeof out->problem, "crashed (signal %d)", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(out->problem, sizeof out->problem, "ended with status %d", WEXITSTATUS(status));
    else if (!out->answer && !out->text)
        snprintf(out->problem, sizeof out->problem, "gave no answer");
}

void child_run(const struct child *child, struct child_outcome *out)
{
    struct pipes pipes;
    pid_t        pid = 0;
    *out = (struct child_outcome) { 0 };
    const bool first = pipe2(pipes.answer, O_CLOEXEC) == 0;
    if (!first || pipe2(pipes.said, O_CLOEXEC) != 0) {
        snprintf(out->problem, sizeof out->problem, "no pipe: %.40s", strerror(errno));
        for (int i = 0; i < 2 && first; i++)
            close(pipes.answer[i]);
        return;
    }
    char     *answer_text = NULL, *said_text = NULL;
    size_t    bytes[2];
    FILE     *answer = open_memstream(&answer_text, &bytes[0]), *said = open_memstream(&said_text, &bytes[1]);
    const int code = answer && said ? start(child, &pipes, &pid) : ENOMEM;
    int       status = 0;
    close(pipes.answer[1]);
    close(pipes.said[1]);
    const bool in_time = code != 0 || listen_until(now() + child->seconds, &pipes, answer, said);
    if (!in_time)
        kill(pid, SIGKILL);
    while (code == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(pipes.answer[0]);
    close(pipes.said[0]);
    if (!answer || fclose(answer) != 0 || !said || fclose(said) != 0 || code != 0) {
        snprintf(out->problem, sizeof out->problem, "did not start: %.40s", strerror(code ? code : ENOMEM));
    } else {
        out->answer = child->prints ? NULL : cJSON_Parse(answer_text);
        out->text = child->prints ? strdup(answer_text) : NULL;
        keep_end(out, said_text);
        classify(out, status, in_time, child->seconds);
    }
    free(answer_text);
    free(said_text);
}
