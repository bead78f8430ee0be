/* SPDX-License-Identifier: Apache-2.0 */
/* FAST: a static search tree over a sorted array, and a buffer of later updates. It suits data that
 * is read often and changes rarely. See share/doc/fast.md.
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
    /* A tree of n elements is rebuilt when the buffer has n / rebuild_one_in elements. The option
     * is 1 to 65536, and 0 means 128. A smaller number makes rebuilds rarer and the buffer
     * larger. */
    uint32_t rebuild_one_in;
};

/* Creates an empty FAST tree.
 * Cost: an update sorts its elements and merges them with the buffer. A query costs as much as in a
 *   sorted array, plus a search of the buffer. Updates and queries may rebuild the tree.
 * Memory: keys and values, and 7 % of the keys for the tree (14 % of keys of 16 bytes). A buffer
 *   that is not empty takes 2 more bits per stored element. A rebuild takes at most 2.2 times the
 *   keys and values plus 4 MiB. This memory stays allocated until ordo_dict_compact.
 * Blocking: a rebuild waits for the device. */
ORDO_API ordo_status ordo_fast_create(ordo_device *device, const struct ordo_fast_config *config,
                                      ordo_dict **out);

#ifndef __cplusplus
#define ordo_fast_config(...) (&(struct ordo_fast_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
