/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist: levels of linked chunks of 28 or 12 entries, for concurrent operations that erase
 * as much as they store. share/doc/skiplist.md explains it and has its measurements. */
#ifndef ORDO_SKIPLIST_H
#define ORDO_SKIPLIST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_skiplist_config {
    struct ordo_dict_config dict;
    /* How full build and compact make chunks, in percent: 50 to 100; 0: 90. */
    uint32_t fill_percent;
    /* How many of the chunks that concurrent batches split off get their entry in the level above
     * immediately, in percent: 1 to 100; 0: 100. The keys decide which, so that it is the same in
     * every run. The others get their entry between launches; until then searches come to them from
     * their left. */
    uint32_t raise_percent;
    /* Chunks with elements at most; 0: no limit but the device's memory. If a batch in order needs
     * more, it returns ORDO_NO_DEVICE_MEMORY and changes nothing; a concurrent batch refuses single
     * operations. */
    size_t max_chunks;
    /* Words of a chunk's line of keys: 32 (28 entries) or 16 (12 entries); 0: 32. Others:
     * ORDO_INVALID. */
    uint32_t chunk;
};

/* Creates an empty skiplist, which supports all calls of dict.h, ordo_dict_apply_concurrent
 * included.
 * Cost: as of the B-link tree (blink.h). A concurrent erase that leaves less than a third of a
 *   chunk moves the rest to the next chunk; a launch with such merges costs one pass over all
 *   chunks.
 * Memory: as of the B-link tree; with chunks of 16, 1.8 times keys and values after a build, 2.3
 *   after random updates, 3.5 for a sliding window. After a concurrent batch at most 1.4 times the
 *   chunks in use, and 64, are taken.
 * Errors: as of the B-link tree.
 * Concurrency: finds come before the updates and wait for none. An update that finds a locked chunk
 *   tries again. */
ORDO_API ordo_status ordo_skiplist_create(ordo_device                       *device,
                                          const struct ordo_skiplist_config *config,
                                          ordo_dict                        **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_skiplist_config(...) (&(struct ordo_skiplist_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
