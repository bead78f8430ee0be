/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist: levels of linked chunks of 28 or 12 entries, for concurrent operations that erase
 * as much as they store. See share/doc/skiplist.md.
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
    /* Fill of chunks after build and compact, in percent: 50 to 100; 0: 90. */
    uint32_t fill_percent;
    /* A concurrent batch splits chunks. This percentage of the new chunks, chosen by their keys,
     * gets an entry in the level above immediately: 1 to 100; 0: 100. Searches reach the others
     * through their left neighbours, until they get an entry between launches. */
    uint32_t raise_percent;
    /* The most chunks with elements, as max_leaves of ordo_blink_config; 0: no limit. */
    size_t max_chunks;
    /* Words of a chunk's line of keys: 32 (28 entries) or 16 (12 entries); 0: 32. Other numbers
     * return ORDO_INVALID. */
    uint32_t chunk;
};

/* Creates an empty skiplist, which supports all calls of dict.h.
 * Cost: as the B-link tree (blink.h). A concurrent erase that leaves less than a third of a chunk
 *   moves the rest to the next chunk. A launch with such moves also costs a pass over all chunks.
 * Memory: with chunks of 32 as the B-link tree. Chunks of 16 take 1.8 times keys and values after a
 *   build, 2.3 after random updates, 3.5 for a sliding window. A concurrent batch leaves at most
 *   1.4 times the chunks in use plus 64.
 * Errors: as the B-link tree.
 * Concurrency: finds come before the updates and wait for none. An update that finds a locked chunk
 *   tries again. */
ORDO_API ordo_status ordo_skiplist_create(ordo_device                       *device,
                                          const struct ordo_skiplist_config *config,
                                          ordo_dict                        **out);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_skiplist_config(...) (&(struct ordo_skiplist_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
