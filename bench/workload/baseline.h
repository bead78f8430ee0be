/* SPDX-License-Identifier: Apache-2.0 */
/* Plain single-thread host algorithms as baselines. Keys are unsigned integers of 4 or 8 bytes in ordered form, for
 * sorts also of 16 bytes, low word first; values have 0, 4 or 8 bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two parallel arrays. values may be NULL. */
struct pairs {
    void *keys, *values;
};

/* Stable radix sort, 8 bits a pass, least significant digit first. Needs `spare` of equal size; the result is in
 * `in`. */
void host_radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count);

/* qsort of records made of key and value, for which `records` has room. */
void host_qsort(struct pairs in, void *records, size_t key_bytes, size_t value_bytes, size_t count);

/* The number of keys of `a` among the first `diagonal` of the stable merge of a and b. */
size_t host_merge_split(const void *a, size_t a_count, const void *b, size_t b_count, size_t key_bytes,
                        size_t diagonal);
/* Elements from .. to - 1 of the stable merge of a and b. */
void host_merge_span(struct pairs a, size_t a_count, struct pairs b, size_t b_count, size_t key_bytes,
                     size_t value_bytes, size_t from, size_t to, struct pairs out);

/* The elements from `at` on. */
struct pairs pairs_from(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t at);

/* Number of keys below `query`, by binary search. */
size_t host_lower_bound(const void *keys, size_t key_bytes, size_t count, uint64_t query);

/* Exclusive sum or inclusive maximum; returns the total. `out` may be NULL. */
uint64_t host_scan(const void *in, size_t key_bytes, size_t count, bool maximum, void *out);

/* Keeps flagged elements; returns their number. */
size_t host_compact(struct pairs in, const uint8_t *flags, size_t key_bytes, size_t value_bytes, size_t count,
                    struct pairs out);

/* Sums values by key in an open-addressing table. Returns the number of keys, 0 without memory. */
size_t host_group(struct pairs in, size_t key_bytes, size_t value_bytes, size_t count);

/* Writes the k greatest keys as a heap; returns the least of them. */
uint64_t host_top(const void *keys, size_t key_bytes, size_t count, size_t k, void *out);

/* Copies row index[i] of `rows` to row i of `out`. Returns count. */
size_t host_gather(const void *rows, const uint32_t *index, size_t row_bytes, size_t count, void *out);

/* A static search tree: nodes of 16 keys of 4 bytes (a cache line), AVX2 compares, 16 queries in step with
 * prefetches, huge pages, all processors. The S-tree of Algorithmica and static-search-tree (Groot Koerkamp, 2024),
 * with the last key below as separator. */

#define STREE_LEVELS 9

struct stree {
    uint32_t *node;                /* all levels, the root first, the keys last */
    size_t    at[STREE_LEVELS];    /* where a level begins, in keys; level 0 holds the keys */
    size_t    units[STREE_LEVELS]; /* nodes of a level */
    size_t    count;
    int       levels; /* above the keys */
};

/* Builds it from sorted keys. False without memory. */
bool stree_make(struct stree *tree, const uint32_t *keys, size_t count);
void stree_free(struct stree *tree);

/* rank[i] = number of keys less than query[i]. */
void stree_ranks(const struct stree *tree, const uint32_t *query, size_t n, uint32_t *rank);

/* host_radix_sort on all processors. */
void pairs_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count);
