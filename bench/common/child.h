/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program, usually this one, in a child process and reads a JSON answer from it. Crashes and hangs become
 * outcomes. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The child writes its answer to this file descriptor. Drivers print elsewhere. */
#define ANSWER_FD 3

struct child_outcome {
    cJSON *answer;      /* NULL: none, or not JSON */
    char   problem[64]; /* "crashed (signal 6)", "timed out after 20 s", ...; "" if the child ended with 0 */
    char   said[512];   /* the end of its output, on one line */
    char  *text;        /* with `prints`: all of its standard output, which the caller frees; else NULL */
};

/* A variable of the child's environment: NAME=VALUE. */
struct child {
    const char        *program;     /* NULL: this very program */
    const char *const *arguments;   /* NULL at the end; arguments[0] is the name */
    const char *const *environment; /* added to the parent's, NULL at the end; NULL: nothing */
    double             seconds;     /* then it is killed */
    bool               prints;      /* its standard output is the answer, as text; standard error is the parent's */
};

/* A directory for all caches of a process, of Ordo and of drivers. `environment` makes a child use it.
 * caches_begin prints an error and returns false if it cannot make the directory. */
#define N_CACHES 5
struct caches {
    char        directory[32], variable[N_CACHES][64];
    const char *environment[N_CACHES + 1];
};
bool caches_begin(struct caches *caches);
void caches_end(const struct caches *caches);
void remove_all(const char *directory);

/* Children get the environment of this moment plus their own additions. Call it once, before the first OpenCL call,
 * because the Khronos loader splits OCL_ICD_FILENAMES in place. */
void child_keep_environment(void);

/* Writes the answer of a child and deletes it. Returns the exit status. Call it once. */
int child_answer(cJSON *answer);

/* Blocks until the child ends or is killed. The caller deletes out->answer. */
void child_run(const struct child *child, struct child_outcome *out);
