/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_BATCH_H
#define ORDO_BATCH_H

#include "dict/launch.h"

/* The keys of a batch in ascending order. Equal keys stay in batch order. */
struct ordo_sorted_batch {
    cl_mem keys;
    cl_mem index; /* each key's index in the batch, uint32_t */
};

ordo_status ordo_batch_sort(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys, size_t count,
                            struct ordo_sorted_batch *out);
/* Like ordo_batch_sort. The caller must have set number[i] = i (uint32_t). */
ordo_status ordo_batch_sort_numbered(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys,
                                     cl_mem number, size_t count, struct ordo_sorted_batch *out);

/* Copies the updates whose flag is 1 to scratch memory, and sets *updates to the copy. Keys must be distinct. `flags`
 * holds a uint32_t per update, then a 0, and is overwritten. Waits for the device. */
ordo_status ordo_batch_keep(struct ordo_call *call, const ordo_dict *dict, cl_mem flags,
                            struct ordo_sorted_updates *updates);

/* Sets offsets[i] to the sum of the first i counts, for all i <= count. */
ordo_status ordo_dict_offsets(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice counts, size_t count,
                              struct ordo_slice offsets);

#endif
