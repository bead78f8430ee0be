/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree: its nodes have up to 28 elements and a link to the right neighbour. It suits
 * small batches, ranges and concurrent operations. See share/doc/blink.md.
 *
 * Example:
 *
 *     ordo_dict *tree = NULL;
 *     ordo_blink_create(dev, ordo_blink_config(.dict = { .key = ORDO_U64, .value_bytes = 8 }),
 *                       &tree);
 *     ordo_dict_apply_concurrent_host(tree, &(struct ordo_host_concurrent_batch) {
 *         .codes = codes, .keys = keys, .values = values, .count = count, .found = found }); */
#ifndef ORDO_BLINK_H
#define ORDO_BLINK_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_blink_config {
    struct ordo_dict_config dict;
    /* Percentage of each node that build and compact fill: 50 to 100. 0 means 90. */
    uint32_t fill_percent;
    /* Maximum number of leaves, of up to 28 elements each. 0 means no limit. A batch that needs
     * more returns ORDO_NO_DEVICE_MEMORY and changes nothing. A concurrent batch instead refuses
     * each store that finds no free leaf. */
    size_t max_leaves;
};

/* Creates an empty B-link tree, which supports all calls of dict.h.
 * Cost: an update reads and writes each affected leaf once. It rebuilds the tree if it has more
 *   than six elements per leaf of the tree (two on CPUs).
 * Memory: 1.35 times the bytes of keys and values after a build, 1.7 times after random updates, at
 *   most 3 times for a sliding window of keys. A build temporarily holds the old and new tree, and
 *   the elements twice.
 * Blocking: an update waits once, or three times if one leaf gets over 1024 elements.
 * Errors: ORDO_TOO_LARGE if the tree could exceed ORDO_MAX_COUNT elements.
 * Concurrency: queries of a concurrent batch take no latches. Stores that find no free leaf run at
 *   its end, in one to eight ordered batches. If memory is missing, they are refused
 *   (ORDO_NOT_STORED). */
ORDO_API ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config,
                                       ordo_dict **out);

#ifndef __cplusplus
#define ordo_blink_config(...) (&(struct ordo_blink_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
