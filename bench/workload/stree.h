/* SPDX-License-Identifier: Apache-2.0 */
/* A static search tree in plain C, to measure searches of CPUs against: nodes of 16 keys of 4 bytes, a cache line; AVX2
 * compares where the processor has them; 16 queries go down in step, each asking for its next node; huge pages; all
 * processors. The S-tree of Algorithmica and of static-search-tree (Groot Koerkamp, 2024), with separators that are the last
 * keys of what is below. */
#ifndef BENCH_STREE_H
#define BENCH_STREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
