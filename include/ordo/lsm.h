/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM (log-structured merge tree): sorted runs whose sizes grow geometrically. Updates are
 * cheap. Queries search every run. See share/doc/lsm.md.
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
    /* An update merges its batch with the newest runs. Let n be the number of elements in the batch
     * and these runs. The next older run usually stays separate if it has more than
     * (growth - 1) * n elements. `growth` is 2 to 16, and 0 means 4. A greater number makes fewer
     * runs, so queries are faster and updates slower. */
    uint32_t growth;
    /* If true, an update removes the stale (replaced or erased) elements when half of the stored
     * elements are stale. */
    bool cleanup_doubled;
    /* An update removes the replaced and erased elements if they exceed this percentage of all
     * stored elements: 1 to 100. 0 means never. */
    uint32_t cleanup_stale_percent;
    /* A number of elements. 0 means 4096. With cleanup_stale_percent, an update may count the stale
     * elements when cleanup_least elements were stored or erased since the last count. With
     * cleanup_doubled, an update removes no stale elements while fewer than 2 * cleanup_least
     * elements are stored. */
    size_t cleanup_least;
    /* If true, queries never merge runs. Otherwise a query merges runs when their searches have
     * cost as much as a merge. */
    bool keep_runs;
};

/* Creates an empty LSM.
 * Cost: an update sorts the b elements of its batch. If n elements are stored, it then merges fewer
 *   than b log2(n / b) elements on average. A lookup searches the runs from the newest on until it
 *   finds the key. After an update, the first query that uses the key order, such as a range, also
 *   searches the older runs for each new element.
 * Memory: keys and values, 1 bit per element, and 7 % of the keys for indexes (14 % of keys of 16
 *   bytes). Replaced and erased elements count too. After an update, fewer than 8 elements per key
 *   of the dictionary are stored, or fewer than 8 * cleanup_least elements in total. A merge also
 *   takes at most 4 MiB plus 2.25 times the bytes of the stored keys and values. This memory stays
 *   allocated until ordo_dict_compact.
 * Blocking: an update waits for the device only if it counts or removes replaced and erased
 *   elements.
 * Errors: ORDO_TOO_LARGE if a batch with its index exceeds the largest allocation. */
ORDO_API ordo_status ordo_lsm_create(ordo_device *device, const struct ordo_lsm_config *config,
                                     ordo_dict **out);

/* Removes stale (replaced or erased) elements. Merges all others into one run, or into a few runs
 * if memory or the largest allocation is too small.
 * Cost: one read and one write of each element.
 * Memory: keeps freed memory for later calls.
 * Blocking: yes.
 * Errors: ORDO_NO_DEVICE_MEMORY if nothing could be merged. ORDO_UNSUPPORTED if `dict` is no
 *   LSM. */
ORDO_API ordo_status ordo_lsm_cleanup(ordo_dict *dict, const struct ordo_order *order);

#ifndef __cplusplus
#define ordo_lsm_config(...) (&(struct ordo_lsm_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
