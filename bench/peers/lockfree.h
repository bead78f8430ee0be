/* SPDX-License-Identifier: Apache-2.0 */
/* A lock-free skiplist on the device, to compare with: that of P. Misra and M. Chaudhuri, "Performance Evaluation of Concurrent
 * Lock-free Data Structures on GPUs" (ICPADS 2012), as GFSL's authors describe what they compare with: one key a node, towers of
 * links with p = 0.5, one operation a work-item, erasing by marks and compare-and-swap, no node used again. Not of that paper:
 * heights are a hash of the key here, an operation that has come to nothing very often is left to another launch, and an empty list
 * takes a batch in parts that grow, so that not all of it is at the first few nodes. Keys
 * of type u32 and values of 4 bytes alone. */
#ifndef BENCH_LOCKFREE_H
#define BENCH_LOCKFREE_H

#include "bench/workload/model.h"

#include "ordo/dict.h"

struct lockfree;

/* Bytes that a node for a key takes. */
size_t lockfree_node_bytes(uint32_t key);

/* An empty one, with room for nodes of so many bytes until it is cleared: each store takes one. After an error *out is NULL and `why` says what failed. */
ordo_status lockfree_open(ordo_device *device, size_t node_bytes, struct lockfree **out, char *why, size_t why_bytes);
void        lockfree_close(struct lockfree **list);
ordo_status lockfree_clear(struct lockfree *list);

/* Operations at .. at + count - 1 of the arrays, side by side and in no order: ORDO_FIND, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE.
 * codes NULL: all are `code`. found, values_out and outcomes may be NULL; values too, if nothing is stored. */
struct lockfree_batch {
    cl_mem    codes, keys, values;
    cl_mem    found, values_out, outcomes;
    ordo_code code;
    size_t    at, count;
};
/* Waits. ORDO_NO_DEVICE_MEMORY: more stores than there is room for. */
ordo_status lockfree_apply(struct lockfree *list, const struct lockfree_batch *batch, const struct ordo_order *order);

/* All elements, ascending; the caller frees *out with model_free. ORDO_BROKEN: the lists are not sorted, or hold at a higher
 * level what the lowest does not. */
ordo_status lockfree_export(struct lockfree *list, struct model *out, char *why, size_t why_bytes);

struct lockfree_statistics {
    size_t bytes_used, bytes; /* of nodes; of all */
    size_t levels, restarts;  /* since it was cleared */
};
ordo_status lockfree_statistics(struct lockfree *list, struct lockfree_statistics *out);

#endif
