/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted array: one run of distinct keys with a static search index, for data that is read
 * often. It has the fastest queries. share/doc/sorted_array.md explains the structure.
 *
 * Example:
 *
 *     ordo_dict *prices = NULL;
 *     ordo_sorted_array_create(
 *         dev, ordo_sorted_array_config(.dict = { .key = ORDO_I64, .value_bytes = 8 }), &prices);
 *     ordo_dict_build_host(prices, keys, values, count);
 *     ordo_dict_find_host(prices, queries, n, values_out, found); */
#ifndef ORDO_SORTED_ARRAY_H
#define ORDO_SORTED_ARRAY_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_sorted_array_config {
    struct ordo_dict_config dict;
};

/* Creates an empty sorted array.
 * Cost: an update of b elements into n sorts b and merges n + b. A combine also scans b; without
 *   progress of work-groups (except on CPUs) or without memory for n + b it searches for the sorted
 *   batch first.
 * Memory: keys and values, 7 % of the keys for the index; during an update at most twice the array
 *   and the batch and 4 MiB, which stay cached until ordo_dict_compact.
 * Blocking: an update waits for the device once.
 * Errors: ORDO_TOO_LARGE if the array and its index exceed the largest allocation. */
ORDO_API ordo_status ordo_sorted_array_create(ordo_device                           *device,
                                              const struct ordo_sorted_array_config *config,
                                              ordo_dict                            **out);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_sorted_array_config(...) (&(struct ordo_sorted_array_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
