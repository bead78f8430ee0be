/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that ordo-info knows, put together from the answers of processes of their own. */
#ifndef BENCH_INFO_GATHER_H
#define BENCH_INFO_GATHER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

struct options {
    const char *json;    /* NULL: none */
    const char *root;    /* where hardware is looked for: "" is here */
    const char *prepare; /* what is to be prepared, and nothing else done; NULL: nothing */
    bool        tunables, start, no_self_test;
    double      seconds; /* for each question to a driver */
};

/* The whole report; the caller deletes it. */
cJSON *gather(const struct options *options, int argc, char **argv);

#endif
