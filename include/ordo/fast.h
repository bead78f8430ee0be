/* SPDX-License-Identifier: Apache-2.0 */
/* FAST: a static search tree over a sorted array, and a buffer of later updates. FAST suits data
 * that is read often and changes rarely. See share/doc/fast.md.
 *
 * Example:
 *
 *     ordo_dict *tree = NULL;
 *     ordo_fast_create(dev, ordo_fast_config(.dict = { .key = ORDO_F32, .value_bytes = 4 }),
 *                      &tree);
 *     ordo_dict_build_host(tree, keys, values, count);
 *     ordo_dict_seek_host(tree, ORDO_LE, queries, n, keys_out, values_out, found); */
#ifndef ORDO_FAST_H
#define ORDO_FAST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_fast_config {
    struct ordo_dict_config dict;
    /* When the buffer has n / rebuild_one_in elements, a tree of n elements is rebuilt. 1 to
     * 65536; 0 means 128. A smaller number makes rebuilds rarer and the buffer larger. */
    uint32_t rebuild_one_in;
};

/* Creates an empty FAST tree.
 * Cost: an update sorts its elements and merges them with the buffer, or rebuilds the tree. A query
 *   costs as much as in a sorted array, plus a search of the buffer. When the queries' searches of
 *   the buffer have cost as much as a rebuild, a query rebuilds the tree.
 * Memory: keys and values, and 7 % of the keys for the tree. While the buffer is not empty, also 2
 *   bits per stored element. A rebuild takes at most 2.2 times the keys and values plus 4 MiB. That
 *   memory stays cached until ordo_dict_compact. If the rebuilt tree would exceed the largest
 *   allocation, new elements stay in the buffer.
 * Blocking: a rebuild waits for the device. */
ORDO_API ordo_status ordo_fast_create(ordo_device *device, const struct ordo_fast_config *config,
                                      ordo_dict **out);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_fast_config(...) (&(struct ordo_fast_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
