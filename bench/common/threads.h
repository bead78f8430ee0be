/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host, dealt out to its processors: the making and the checking of large arrays. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most parts that for_spans makes: an array of this many partial results is large enough. */
#define MAX_PARTS 64

/* Called once per part with the elements from..to-1; parts number from 0 and follow one another in the array. */
typedef void (*span_fn)(void *arg, size_t from, size_t to, int part);

/* Cuts 0..count-1 into parts, runs them side by side and returns the number of parts (0 for count 0) when all are done. */
int for_spans(size_t count, span_fn fn, void *arg);

/* Calls fn(arg, i) for each i below count, on all processors. */
typedef void (*each_fn)(void *arg, size_t i);
void for_each(size_t count, each_fn fn, void *arg);

/* Runs fn(arg, part) for each part from 0 to parts - 1 (at most MAX_PARTS) side by side, each in a thread where there is one for it;
 * returns when all are done. */
typedef void (*part_fn)(void *arg, int part);
void run_parts(int parts, part_fn fn, void *arg);

/* memset, of much memory by several threads. */
void fill_bytes(void *to, int byte, size_t bytes);

/* Processors that this process may use. At least 1. */
int processors(void);

#ifdef __cplusplus
}
#endif

#endif
