/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_DICT_LAUNCH_H
#define ORDO_DICT_LAUNCH_H

#include "dict/structure.h"

/* Passes x to a kernel as a uint. The argument is valid until the enclosing block ends. */
#define ORDO_ARG_UINT(x) ORDO_ARG(((cl_uint) { (cl_uint) (x) }))

/* Returns a launch with one work-item per item, or fewer work-items if there are many items. Defines ORDO_KEY,
 * ORDO_VALUE_BYTES and RUN_GROUP. */
struct ordo_launch ordo_dict_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);
/* Like ordo_dict_kernel. On a CPU, each work-group has one work-item, and the launch has at most 64 work-groups per
 * compute unit. */
struct ordo_launch ordo_dict_kernel_shares(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

/* Returns the number of work-items for a memory-bound kernel. On a GPU, each work-item handles up to 8 items if there
 * are more than 2^19 items. */
size_t ordo_dict_pass_items(const ordo_device *dev, size_t items);
/* Returns the number of work-items for n queries. On a CPU, each work-item answers several queries (RUN_STEP in
 * cl/dict/each.cl). */
size_t ordo_dict_step_items(const ordo_device *dev, size_t n);

#endif
