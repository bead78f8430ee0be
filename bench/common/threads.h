/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel loops on the host, to make and check large arrays. */
#pragma once

#include <stddef.h>

/* The largest number of parts: size for arrays of partial results. */
#define MAX_PARTS 64

/* Handles elements from..to-1 of one part. Parts are numbered from 0 in array order. */
typedef void (*span_fn)(void *arg, size_t from, size_t to, int part);

/* Runs fn on parts of 0..count-1 concurrently. Returns the number of parts (0 for count 0). */
int for_spans(size_t count, span_fn fn, void *arg);

/* Calls fn(arg, i) for each i below count, on all processors. */
typedef void (*each_fn)(void *arg, size_t i);
void for_each(size_t count, each_fn fn, void *arg);

/* Runs fn(arg, part) for parts 0..parts-1 (at most MAX_PARTS) concurrently and waits for them. */
typedef void (*part_fn)(void *arg, int part);
void run_parts(int parts, part_fn fn, void *arg);

void fill_bytes(void *to, int byte, size_t bytes);

/* Processors of this process, at least 1. */
int processors(void);
