/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts of libraries on the host, of unsigned keys. Each exists if its macro is 1. */
#pragma once

#include "bench/workload/baseline.h"

/* A sort of records made of key and value. */
struct record_sort {
    /* The records, and threads that `sort` uses on this thread. NULL without memory. */
    void *(*open)(size_t key_bytes, size_t value_bytes, size_t count, int threads);
    void (*fill)(void *records, struct pairs from);
    void (*sort)(void *records);
    void (*read)(const void *records, struct pairs to);
    void (*close)(void *records);
};

/* parlay::integer_sort_inplace. BENCH_PARLAY. */
extern const struct record_sort parlay_sort;

/* ips2ra::parallel::sort. BENCH_IPS2RA. */
extern const struct record_sort ips2ra_sort;

/* tbb::parallel_sort. BENCH_TBB. */
extern const struct record_sort tbb_sort;
extern const char               tbb_version[];

/* hwy::VQSort, without values. BENCH_HIGHWAY. */
extern const char vqsort_version[];
void              vqsort_pairs(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t count);

/* x86simdsort::qsort, and keyvalue_qsort with values. BENCH_SIMDSORT. */
void simdsort_pairs(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t count);
