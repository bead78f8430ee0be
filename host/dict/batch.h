/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in key order, for inserts and mixed batches: launches of cl/dict/batch.cl and apply.cl. */
#ifndef ORDO_BATCH_H
#define ORDO_BATCH_H

#include "dict/launch.h"

/* A batch's keys in order; of equal ones the order of the batch. */
struct ordo_sorted_batch {
    cl_mem keys;
    cl_mem index; /* place of each in the batch, uint32_t */
};

/* Sorts a batch's keys into scratch. */
ordo_status ordo_batch_sort(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys, size_t count,
                            struct ordo_sorted_batch *out);
/* The same with the numbers 0 to count - 1 given. */
ordo_status ordo_batch_sort_numbered(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys,
                                     cl_mem number, size_t count, struct ordo_sorted_batch *out);

/* Keeps what flags say (count + 1 of them, uint32_t, the last 0), which has distinct keys, in scratch; waits for how much
 * that is. The flags are lost. */
ordo_status ordo_batch_keep(struct ordo_call *call, const ordo_dict *dict, cl_mem flags,
                            struct ordo_sorted_updates *updates);

/* offsets[i] = the sum of the counts before i, for i from 0 to count. */
ordo_status ordo_dict_offsets(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice counts, size_t count,
                              struct ordo_slice offsets);

#endif
