/* SPDX-License-Identifier: Apache-2.0 */
/* The axes as text: lists of sizes and of names. */
#ifndef BENCH_PARSE_H
#define BENCH_PARSE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each reads one comma-separated list and returns how many entries it holds, or -1 with the reason in `why`. */
int parse_sizes(const char *text, size_t *sizes, int room, char *why, size_t why_bytes); /* "12,16..20,2^24,1000000" */
int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why,
                size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
