/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist: levels of linked chunks (nodes of up to 28 or 12 elements). It suits concurrent
 * operations that erase as much as they store. See share/doc/skiplist.md.
 *
 * Example:
 *
 *     ordo_dict *list = NULL;
 *     ordo_skiplist_create(dev, ordo_skiplist_config(.dict = { .key = ORDO_U32 }, .chunk = 16),
 *                          &list);
 *     ordo_dict_apply_concurrent_host(list, &(struct ordo_host_concurrent_batch) {
 *         .codes = codes, .keys = keys, .count = count, .found = found }); */
#ifndef ORDO_SKIPLIST_H
#define ORDO_SKIPLIST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_skiplist_config {
    struct ordo_dict_config dict;
    /* ordo_dict_build and ordo_dict_compact fill this percentage of each chunk: 50 to 100. 0 means
     * 90. */
    uint32_t fill_percent;
    /* Percentage of new chunks that get an entry in the level above while a concurrent batch runs:
     * 1 to 100. 0 means 100. */
    uint32_t raise_percent;
    /* Maximum number of chunks with elements, like max_leaves of ordo_blink_config. */
    size_t max_chunks;
    /* Size of a chunk: 32 (up to 28 elements) or 16 (up to 12 elements). 0 means 32. */
    uint32_t chunk;
};

/* Creates an empty skiplist, which supports all calls of dict.h.
 * Cost: as the B-link tree (blink.h).
 * Memory: as the B-link tree with chunks of size 32. Chunks of size 16 take 1.8 times the bytes of
 *   keys and values after a build, 2.3 times after random updates, and 3.5 times for a sliding
 *   window of keys.
 * Errors: as the B-link tree.
 * Concurrency: queries of a concurrent batch run during its updates and take no locks. */
ORDO_API ordo_status ordo_skiplist_create(ordo_device                       *device,
                                          const struct ordo_skiplist_config *config,
                                          ordo_dict                        **out);

#ifndef __cplusplus
#define ordo_skiplist_config(...) (&(struct ordo_skiplist_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
