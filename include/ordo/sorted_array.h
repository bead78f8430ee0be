/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted array: distinct keys in order, with a static search index. It has the fastest queries,
 * and suits data that is read often. See share/doc/sorted_array.md.
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
 * Cost: an update sorts its elements and merges them with all stored elements.
 * Memory: keys and values, and 7 % of the keys for the index (14 % of keys of 16 bytes). An update
 *   takes at most twice the bytes of stored elements and batch, plus 4 MiB. This memory stays
 *   allocated until ordo_dict_compact.
 * Blocking: an update waits for the device once.
 * Errors: ORDO_TOO_LARGE if the array and its index exceed the largest allocation. */
ORDO_API ordo_status ordo_sorted_array_create(ordo_device                           *device,
                                              const struct ordo_sorted_array_config *config,
                                              ordo_dict                            **out);

#ifndef __cplusplus
#define ordo_sorted_array_config(...) (&(struct ordo_sorted_array_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
