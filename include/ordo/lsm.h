/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM: sorted runs of geometric sizes. Updates are cheap. Queries search every run. See
 * share/doc/lsm.md.
 *
 * Example:
 *
 *     ordo_dict *events = NULL;
 *     ordo_lsm_create(dev, ordo_lsm_config(.dict = { .key = ORDO_U64, .value_bytes = 8 },
 *                                          .cleanup_doubled = true), &events);
 *     ordo_dict_upsert(events, ordo_at(keys, 0), ordo_at(values, 0), count, NULL);
 *     ordo_lsm_cleanup(events, NULL); */
#ifndef ORDO_LSM_H
#define ORDO_LSM_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_lsm_config {
    struct ordo_dict_config dict;
    /* From the newest run on, a batch is merged with each run that has at most (growth - 1) times
     * the elements of all newer runs. 2 to 16; 0: 4. A larger growth makes fewer runs, faster
     * queries and slower updates. */
    uint32_t growth;
    /* Cleans up after an update that leaves twice as many stored elements as live elements. */
    bool cleanup_doubled;
    /* Cleans up if more than this percentage of the stored elements is stale. Counts them if that
     * many may be stale and cleanup_least elements are new since the last count. 0 to 100; 0:
     * never. */
    uint32_t cleanup_stale_percent;
    size_t   cleanup_least; /* fewer live elements than this count as this many; 0: 4096 */
    bool     keep_runs;     /* queries never merge runs; else they merge runs that have cost them a
                               merge */
};

/* Creates an empty LSM.
 * Cost: an update sorts its b elements. If n are stored, merges move less than log2(n / b) times b
 *   elements on average. A find searches the runs, newest first, until it finds its key. A query of
 *   order first searches for each element of new runs in each older run, once.
 * Memory: keys and values, 1 bit per element, 7 % of the keys for indexes. Merges take at most 2.2
 *   times the keys and values (2.25 for keys of 4 bytes alone) and 4 MiB, which stay cached until
 *   ordo_dict_compact. An update leaves fewer than 8 stored elements for each live element; fewer
 *   than cleanup_least live elements count as cleanup_least.
 * Blocking: an update waits for the device only if it counts live elements or cleans up.
 * Errors: ORDO_TOO_LARGE if keys, values, bits and index of a batch exceed the largest allocation.
 */
ORDO_API ordo_status ordo_lsm_create(ordo_device *device, const struct ordo_lsm_config *config,
                                     ordo_dict **out);

/* Merges all visible elements into one run and removes stale elements.
 * Cost: reads and writes each element once. On a CPU, or if work-groups make no progress, resolves
 *   the runs first (share/doc/lsm.md).
 * Memory: stays cached for later updates. If one run exceeds memory or the largest allocation,
 *   merges into as few runs as fit.
 * Blocking: waits for the device.
 * Errors: ORDO_NO_DEVICE_MEMORY if nothing could be merged, and nothing changed. ORDO_UNSUPPORTED
 *   if dict is no LSM. */
ORDO_API ordo_status ordo_lsm_cleanup(ordo_dict *dict, const struct ordo_order *order);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_lsm_config(...) (&(struct ordo_lsm_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
