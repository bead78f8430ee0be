/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in key order, for inserts and mixed batches: launches of cl/dict/batch.cl and apply.cl. */
#ifndef ORDO_BATCH_H
#define ORDO_BATCH_H

#include "dict/dict.h"

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

/* Launches a kernel of `file` for these types over `items`; a work-item takes more than one where there are many. */
ordo_status ordo_dict_launch(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                             size_t items, const struct ordo_arg *args, size_t n_args);

/* The same for a pass over memory, in which an item is little to do: of many a work-item takes several, on a GPU. Launches with other
 * defines are of so many items. */
size_t      ordo_dict_pass_items(const ordo_device *dev, size_t items);
ordo_status ordo_dict_launch_pass(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                  size_t items, const struct ordo_arg *args, size_t n_args);

/* The same for n queries of which a work-item takes RUN_STEP of cl/dict/each.cl. */
size_t      ordo_dict_step_items(const ordo_device *dev, size_t n);
ordo_status ordo_dict_launch_steps(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                   size_t n, const struct ordo_arg *args, size_t n_args);

/* The same with more defines. */
ordo_status ordo_dict_launch_with(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                  const struct ordo_define *more, size_t items, const struct ordo_arg *args,
                                  size_t n_args);

/* The same for a kernel whose groups share the items out among themselves: on a CPU few groups of one. */
ordo_status ordo_dict_launch_shares(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                    size_t items, const struct ordo_arg *args, size_t n_args);

/* offsets[i] = the sum of the counts before i, for i from 0 to count. */
ordo_status ordo_dict_offsets(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice counts, size_t count,
                              struct ordo_slice offsets);

#endif
