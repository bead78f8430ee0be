/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain host program would do on one thread, to measure a device against. Keys are unsigned integers of 4 or 8
 * bytes (the ordered form of any other type), values 0, 4 or 8 bytes. */
#ifndef BENCH_WORKLOAD_BASELINE_H
#define BENCH_WORKLOAD_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two arrays that belong together. values may be NULL. */
struct pairs {
    void *keys, *values;
};

/* Least significant digit first, 8 bits a pass; stable. `spare` has room for as much; the result is in `in`. */
void host_radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count);

/* qsort of the C library over records of key and value (made from `in`, and written back, outside its timing).
 * Returns its seconds, or a negative number if memory ran out. */
double host_qsort(struct pairs in, size_t key_bytes, size_t value_bytes, size_t count);

/* Stable merge of the first a_count of `in` with the rest. */
void host_merge(struct pairs in, size_t key_bytes, size_t value_bytes, size_t a_count, size_t count, struct pairs out);

/* Elements from .. to - 1 of the stable merge of a and b, to the same places of `out`. */
void host_merge_span(struct pairs a, size_t a_count, struct pairs b, size_t b_count, size_t key_bytes,
                     size_t value_bytes, size_t from, size_t to, struct pairs out);

/* Those from element `at` on. */
struct pairs pairs_from(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t at);

/* Number of keys below `query`, by halving. */
size_t host_lower_bound(const void *keys, size_t key_bytes, size_t count, uint64_t query);

/* Sum (exclusive) or maximum (inclusive) of all before (up to) each; returns that of all. `out` may be NULL. */
uint64_t host_scan(const void *in, size_t key_bytes, size_t count, bool maximum, void *out);

/* Keeps what is flagged; returns how many. */
size_t host_compact(struct pairs in, const uint8_t *flags, size_t key_bytes, size_t value_bytes, size_t count,
                    struct pairs out);

/* Sums values by key in a table of open addresses; returns the number of keys, 0 if memory ran out. */
size_t host_group(struct pairs in, size_t key_bytes, size_t value_bytes, size_t count);

/* The k greatest keys to `out`, as a heap; returns the least of them. */
uint64_t host_top(const void *keys, size_t key_bytes, size_t count, size_t k, void *out);

/* Row index[i] of `rows` to row i of `out`; returns how many. */
size_t host_gather(const void *rows, const uint32_t *index, size_t row_bytes, size_t count, void *out);

/* A static search tree in plain C, to measure searches of CPUs against: nodes of 16 keys of 4 bytes, a cache line; AVX2
 * compares where the processor has them; 16 queries go down in step, each asking for its next node; huge pages; all
 * processors. The S-tree of Algorithmica and of static-search-tree (Groot Koerkamp, 2024), with separators that are the last
 * keys of what is below. */

#define STREE_LEVELS 9

struct stree {
    uint32_t *node;                /* all levels, the root's first; the last are the keys themselves */
    size_t    at[STREE_LEVELS];    /* where a level begins, in keys; level 0 is the keys */
    size_t    units[STREE_LEVELS]; /* nodes of a level */
    size_t    count;
    int       levels; /* above the keys */
};

/* Of sorted keys. False if memory ran out. */
bool stree_make(struct stree *tree, const uint32_t *keys, size_t count);
void stree_free(struct stree *tree);

/* rank[i] = how many keys are less than query[i]. */
void stree_ranks(const struct stree *tree, const uint32_t *query, size_t n, uint32_t *rank);

/* The sort of inputs and of what is expected, on all processors: not timed. */

/* As host_radix_sort: stable; `spare` has room for as much; the result is in `in`. */
void pairs_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
