/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program, usually ourselves, in a process of its own and takes a JSON answer from it: what crashes or hangs there
 * is an outcome here. */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The child writes its answer to this file descriptor; what drivers print goes elsewhere. */
#define ANSWER_FD 3

struct child_outcome {
    cJSON *answer;      /* NULL: none, or not JSON */
    char   problem[64]; /* "crashed (signal 6)", "timed out after 20 s", ...; "" if the child ended with 0 */
    char   said[512];   /* the end of what it printed, on one line */
    char  *text; /* all of its standard output, if the child is to be read like that; NULL: none. The caller frees it */
};

/* A variable of the child's environment: NAME=VALUE. */
struct child {
    const char        *program;     /* NULL: this very program */
    const char *const *arguments;   /* NULL at the end; arguments[0] is the name */
    const char *const *environment; /* added to ours, NULL at the end; NULL: nothing */
    double             seconds;     /* ended by force after that */
    bool               prints;      /* its answer is its standard output, whatever it is; standard error is ours */
};

/* A directory that all caches of a process are in: Ordo's, and those that drivers are known to have. `environment` makes a child use
 * it. False, after a complaint, if there is none. */
#define N_CACHES 5
struct caches {
    char        directory[32], variable[N_CACHES][64];
    const char *environment[N_CACHES + 1];
};
bool caches_begin(struct caches *caches);
void caches_end(const struct caches *caches);
/* Removes a directory with all that is in it. */
void remove_all(const char *directory);

/* Children have the environment as it is now, plus what is added to it. Once, before the first call of OpenCL: the Khronos loader
 * splits OCL_ICD_FILENAMES where it lies, so that what is started later would see the first driver alone. */
void child_keep_environment(void);

/* In the child: writes its answer, which it takes; its exit status. Once. */
int child_answer(cJSON *answer);

/* Runs it. Blocks until it ends or is ended. The caller deletes out->answer. */
void child_run(const struct child *child, struct child_outcome *out);

#endif
