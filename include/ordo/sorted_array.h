/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted array: one run of distinct keys with a static search index. The fastest structure to query; an update sorts
 * its batch and merges it in, which reads and writes everything; only what ordo_dict_take_last takes is cut off where it lies.
 * For data that is mostly read. */
#ifndef ORDO_SORTED_ARRAY_H
#define ORDO_SORTED_ARRAY_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_sorted_array_config {
    struct ordo_dict_config dict;
};

/* An empty sorted array.
 * Cost    an update of b elements into n: a sort of b and a merge of n + b. Waits once, for the number of keys. A combine is one, too, and a
 *         scan of b, where GPUs make progress by groups and on CPUs; elsewhere, and where there is no room for n + b elements, it
 *         searches for the sorted batch, by no index, and goes over it twice.
 * First calls, for their kernels: on an H200 0.1 to 0.6 s each, that of an update of keys that are there 1.2 s.
 * Memory  keys and values, 7 % of the keys for the index; during an update at most twice those of the array and of the batch
 *         together and 4 MiB, which stay held for the next one until ordo_dict_compact. The array, with its index, is one
 *         allocation: more than the device's largest is ORDO_TOO_LARGE. */
ORDO_API ordo_status ordo_sorted_array_create(ordo_device *device, const struct ordo_sorted_array_config *config,
                                              ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_sorted_array_config(...) (&(struct ordo_sorted_array_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
