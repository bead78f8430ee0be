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
    /* ordo_dict_build and ordo_dict_compact fill this percentage of each node: 50 to 100. 0 means
     * 90. */
    uint32_t fill_percent;
    /* Maximum number of leaves, of up to 28 elements each. 0 means no limit. A batch that needs
     * more leaves returns ORDO_NO_DEVICE_MEMORY and changes nothing. In a concurrent batch only the
     * operations that need another leaf fail (ORDO_NOT_STORED). */
    size_t max_leaves;
};

/* Creates an empty B-link tree, which supports all calls of dict.h.
 * Cost: an update reads and writes each affected leaf once. A batch of more than six elements per
 *   leaf of the tree (two on CPUs) rebuilds the tree.
 * Memory: 1.35 times the bytes of keys and values after a build, 1.7 times after random updates. A
 *   sliding window of keys takes at most 3 times these bytes. A build temporarily holds the old
 *   tree, the new tree, and two copies of the elements.
 * Blocking: an update waits for the device once or twice, or up to five times if one leaf gets over
 *   1024 elements.
 * Errors: ORDO_TOO_LARGE if the tree could exceed ORDO_MAX_COUNT elements.
 * Concurrency: queries of a concurrent batch take no locks. Stores that find no free leaf run
 *   together at the end of the batch. */
ORDO_API ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config,
                                       ordo_dict **out);

#ifndef __cplusplus
#define ordo_blink_config(...) (&(struct ordo_blink_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
