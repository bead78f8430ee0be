/* SPDX-License-Identifier: Apache-2.0 */
/* absl::btree_map on the host: what a program would use that keeps its ordered map in main memory. Keys are in ordered
 * form (workload.h); values have 4 or 8 bytes (of none, 4). */
#ifndef BENCH_BTREE_H
#define BENCH_BTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct btree;

/* NULL if memory ran out. */
struct btree *btree_open(size_t key_bytes, size_t value_bytes);
void          btree_close(struct btree *tree);

/* One by one: stores, or replaces; `values` is NULL for values of no bytes. */
void btree_put(struct btree *tree, const void *keys, const void *values, size_t count);
void btree_erase(struct btree *tree, const void *keys, size_t count);
void btree_add(struct btree *tree, const void *keys, const void *values, size_t count); /* to what is there, or to 0 */
void btree_erase_range(struct btree *tree, const void *los, const void *his, size_t count);

/* Each returns a sum of what was found, so that the search is not left out. */
uint64_t btree_find(const struct btree *tree, const void *keys, size_t count);
uint64_t btree_seek(const struct btree *tree, const void *keys, size_t count); /* the next key */
uint64_t btree_range(const struct btree *tree, const void *keys, const void *his, size_t count);
uint64_t btree_take_first(struct btree *tree, size_t count);
uint64_t btree_peek(const struct btree *tree, bool last, size_t count);
/* A mixed batch; codes are ORDO_FIND to ORDO_RANGE. */
uint64_t btree_apply(struct btree *tree, const uint8_t *codes, const void *keys, const void *his, const void *values,
                     size_t count);

#ifdef __cplusplus
}
#endif

#endif
