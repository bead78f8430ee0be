/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree: nodes of 28 entries with links to the right, for small batches, ranges, and operations side by side.
 *
 * After M. A. Awad, S. Ashkiani, R. Johnson, M. Farach-Colton, J. D. Owens, "Engineering a High-Performance GPU
 * B-Tree", PPoPP 2019, and P. L. Lehman, S. B. Yao, "Efficient Locking for Concurrent Operations on B-Trees", TODS
 * 1981. Here keys lie apart from values; a search is done by a few lanes; batches in order take no latch: each leaf
 * that a batch touches takes its share at once, and parents then fetch what their children have split off, level by
 * level. */
#ifndef ORDO_BLINK_H
#define ORDO_BLINK_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_blink_config {
    struct ordo_dict_config dict;
    /* How full build and compact make nodes, in percent: 50 to 100; 0: 90. Less: room for later updates. */
    uint32_t fill_percent;
    /* The most leaves that the tree may take (of up to 28 elements each); 0: no limit but the device's memory. A batch
     * in order for which so many full leaves have no room: ORDO_NO_DEVICE_MEMORY, and the tree is as it was; in
     * concurrent batches a status per operation. */
    size_t max_leaves;
};

/* An empty B-link tree. It can do all that dict.h names, ordo_dict_apply_concurrent included.
 * Cost    an update of b elements: on a GPU, up to some six a leaf, b searches, then each leaf that they touch is read
 *         and written once; elsewhere, or where many fall into one leaf, a sort of b comes first. Larger batches
 *         rebuild the tree. Combines are done where an update meets its leaf; a find for each key, and a scan, come
 *         before where the tree is rebuilt or more than 1024 of them fall into one leaf. Waits once, for the number of new
 *         leaves, before it changes the tree; three times where more than 1024 fall into one leaf. Of queries, those that
 *         follow an update and go by order (count, range, seek, export) first list the leaves in order, once.
 * First calls, for their kernels: on an H200 0.15 to 0.4 s each, those of batches of a few hundred elements, which go another
 *         way, 1 s.
 * Scratch of an update: 8 bytes an element, and 28 to 92 bytes a leaf of the tree; of a sorted one 16 bytes an element
 *         besides keys and values.
 * Memory  1.35 times keys and values after a build, 1.7 after random updates; a sixth of that in reserve, and 12 bytes a
 *         leaf for the list. A pool that is full is copied into a larger one. A build or rebuild holds the tree as it was,
 *         the elements twice (a build besides the scratch of a sort), and the new tree. Leaves that updates empty go when a
 *         batch in order finds them less than a quarter full, or a concurrent batch ends with pools of which less than
 *         half is elements: the tree is then built anew. A window that slides by concurrent batches so takes at most 3 times
 *         its keys and values, and some 100 KB, however long. Without the memory for that, a later batch does it.
 * Errors  after an error the tree holds what it held; after a concurrent batch, any part of it (dict.h). If the driver
 *         refuses a command after a batch is stored, the call returns ORDO_OK, and the next call completes the levels
 *         above the leaves. If it refuses a command after a build has written over the old nodes, the call returns
 *         ORDO_OK, too: the elements are kept in a block of their own, and the next call builds the tree from it. If a kernel failed half way, the next call checks the tree: if
 *         its nodes are not sound, each call returns ORDO_BROKEN until the tree is built anew or cleared. ORDO_TOO_LARGE if an update's
 *         stores, were they all of new keys, would make more than ORDO_MAX_COUNT elements, or if the keys or values of
 *         all leaves take more than the device's largest allocation.
 */
ORDO_API ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_blink_config(...) (&(struct ordo_blink_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
