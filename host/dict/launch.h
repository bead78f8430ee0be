/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors of launches over a dictionary's types:
 *
 *     struct ordo_launch launch = ordo_dict_kernel(dict, "dict/batch.cl", "batch_number", count);
 *     ORDO_TRY(ordo_call_launch(call, &launch, &args)); */
#ifndef ORDO_DICT_LAUNCH_H
#define ORDO_DICT_LAUNCH_H

#include "dict/structure.h"

/* Makes a launch of one work-item for each of `items`, or for several if there are many. Sets the defines ORDO_KEY,
 * ORDO_VALUE_BYTES and RUN_GROUP. ordo_launch_define adds defines. */
struct ordo_launch ordo_dict_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);
/* Makes a launch whose groups divide the items among themselves: on a CPU a few groups of one work-item each. */
struct ordo_launch ordo_dict_kernel_shares(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

/* Returns a number of work-items for a memory-bound kernel with little work for each item: on a GPU a work-item takes
 * several items if there are many. */
size_t ordo_dict_pass_items(const ordo_device *dev, size_t items);
/* Returns the number of work-items for n queries if each work-item takes RUN_STEP (cl/dict/each.cl) queries. */
size_t ordo_dict_step_items(const ordo_device *dev, size_t n);

/* Old forms, to be replaced by ordo_call_launch. */
ordo_status ordo_dict_launch(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                             size_t items, const struct ordo_arg *args, size_t n_args);
ordo_status ordo_dict_launch_pass(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                  size_t items, const struct ordo_arg *args, size_t n_args);
ordo_status ordo_dict_launch_steps(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                   size_t n, const struct ordo_arg *args, size_t n_args);
ordo_status ordo_dict_launch_with(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                  const struct ordo_define *more, size_t items, const struct ordo_arg *args,
                                  size_t n_args);
ordo_status ordo_dict_launch_shares(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                                    size_t items, const struct ordo_arg *args, size_t n_args);

#endif
