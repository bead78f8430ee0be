/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares launches of kernels that are compiled for a dictionary's types. */
#ifndef ORDO_DICT_LAUNCH_H
#define ORDO_DICT_LAUNCH_H

#include "dict/structure.h"

/* Passes x to a kernel as a uint, which lives until the enclosing block ends. */
#define ORDO_ARG_UINT(x) ORDO_ARG(((cl_uint) { (cl_uint) (x) }))

/* Returns a launch with one work-item per item, or fewer for many items. Defines ORDO_KEY, ORDO_VALUE_BYTES and
 * RUN_GROUP. */
struct ordo_launch ordo_dict_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);
/* Like ordo_dict_kernel. On a CPU, groups have one work-item, and a compute unit gets at most 64 groups. */
struct ordo_launch ordo_dict_kernel_shares(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

/* Returns the number of work-items for a memory-bound kernel. On a GPU, above 2^19 items, a work-item takes up to 8. */
size_t ordo_dict_pass_items(const ordo_device *dev, size_t items);
/* Returns the number of work-items for n queries. On a CPU, a work-item answers several (RUN_STEP in
 * cl/dict/each.cl). */
size_t ordo_dict_step_items(const ordo_device *dev, size_t n);

#endif
