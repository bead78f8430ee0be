/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist: levels of linked chunks of 28 entries, or 12, for operations side by side that erase as much as they store.
 *
 * After N. Moscovici, E. Petrank, "A GPU-Friendly Skiplist Algorithm" (GFSL), PACT 2017: chunks with their greatest
 * key and the link to the next one published together, splits, merges into the next chunk, zombies. Here keys lie apart from
 * values, a search is done by a few lanes, an update holds locks for one step and never waits for one, and zombies are
 * taken out of all levels between launches, which the paper leaves open. Its chunks are the nodes of the B-link tree
 * (blink.h), and batches in order and queries go the same way; what differs are operations side by side. */
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
    /* How many of the chunks that concurrent batches split off are raised at once, in percent: 1 to 100; 0: 100. The paper's
     * p_chunk. Which ones, their keys say, so that it is the same in every run. The others get their entry in the level above
     * when the batch's launches end; until then searches come to them from their left. 2^20 new keys into 2^24 on an H200:
     * 0.76 G/s with 100, 0.49 G/s with 50 or 5. */
    uint32_t raise_percent;
    /* The most chunks that hold elements (up to 28 each, or 12); 0: no limit but the device's memory. A batch in order for
     * which so many full chunks have no room: ORDO_NO_DEVICE_MEMORY, and nothing is changed; in concurrent batches a
     * status per operation. */
    size_t max_chunks;
    /* Words of a chunk's line of keys, 4 of them for its bounds, its link and its lock: 32, of 28 entries, or 16, of 12; 0: 32.
     * Others: ORDO_INVALID. The paper's sizes of teams; which is better, see below. */
    uint32_t chunk;
};

/* An empty skiplist. It can do all that dict.h names, ordo_dict_apply_concurrent included. There finds and contains come
 * before the updates, and wait for none; an update that meets a locked chunk gives up and tries again.
 * Which of the two  all but concurrent batches is the B-link tree's, at its cost. Where those erase, chunks merge as they
 *         empty, so that memory follows the content without rebuilding the whole; the launches' end costs a look at all
 *         chunks, if any has merged. It is for memory alone: it is never clearly the faster of the two. On an H200, of the B-link
 *         tree's rate: upserts and erases by halves 0.97 (2^20 on 2^24 keys; 1.5 G/s), inserts and erases of any of 2^16
 *         keys 0.88 (2^22; 0.5 G/s), a fifth of a batch updates 0.98 to 1.07, stores into an empty one 0.96.
 * Chunks  of 16 have one or two levels more, and take 1.2 to 1.4 times the memory of those of 32. They are for few keys that many
 *         ask for at once, and for batches that are all updates. On an H200, u32 + u32, of the rate with 32: operations side by
 *         side, 2^20 on 2^24 keys, all of them updates 1.3 (1.80 G/s), a fifth 1.1; stores into an empty one 1.1; inserts, erases
 *         and finds of any of 10^4 keys, 10^7 at once, a fifth updates 2.6 (1.28 G/s), but of any of 10^6 and of 10^7 0.75; finds
 *         0.95 to 0.97, ranges of about 8 elements 0.6, batches of new keys in order 0.8 to 0.9. On two cores of a CPU, 2^20
 *         keys: finds 0.9 to 1, counts of about 8 elements 1, a fifth of a batch updates 0.85 to 1, all of it 0.9, stores into an
 *         empty one 0.8.
 * Cost    an update of b elements: as of the B-link tree. Of concurrent batches: an erase that leaves less than a third of a
 *         chunk moves what is left to the next one, if that has room and is not locked.
 * Memory  chunks that are taken are at most 1.4 times those in use, and 64, at the end of each concurrent batch: if more have
 *         merged, the skiplist is built anew, for which a batch must have erased more than ten elements for each of them (of
 *         chunks of 16 more than four). Without the memory for that, a later batch does it. Else as of the B-link tree; with
 *         chunks of 16 1.8 times keys and values after a build, 2.3 after random updates, 3.5 for a window that slides.
 * Errors  as of the B-link tree. */
ORDO_API ordo_status ordo_skiplist_create(ordo_device *device, const struct ordo_skiplist_config *config,
                                          ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_skiplist_config(...) (&(struct ordo_skiplist_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
