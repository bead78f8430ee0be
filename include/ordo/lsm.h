/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM: sorted runs of geometric sizes. An update becomes a run, and runs that have grown alike are merged, all at
 * once: cheap updates, at the price of queries that look into every run.
 *
 * After S. Ashkiani, S. Li, M. Farach-Colton, N. Amenta, J. D. Owens, "GPU LSM: A Dynamic Dictionary Data Structure for the
 * GPU", IPDPS 2018. With batches of one size b and growth 2 the runs have b, 2b, 4b, ... elements, as there; here batches
 * may have any size, deletion takes a bit beside the element, and a carry over several runs is one merge. */
#ifndef ORDO_LSM_H
#define ORDO_LSM_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_lsm_config {
    struct ordo_dict_config dict;
    /* A batch is merged with every run, from the newest on, that has at most (growth - 1) times as many elements as all that
     * is newer. 2: as in the paper. More: fewer runs, faster queries, slower updates. At most 16. 0: 4, which on an H200
     * costs updates 8 to 15 % and makes lookups 1.2 to 1.3 times as fast. */
    uint32_t growth;
    /* An update also cleans up when twice as many elements are stored as are live. Off by default. */
    bool cleanup_doubled;
    /* An update also cleans up when it counts more than this share of the stored elements as stale. It counts when so many
     * may be stale and cleanup_least elements have come since the last count. 0: off. */
    uint32_t cleanup_stale_percent;
    size_t   cleanup_least; /* fewer live elements than this count as this many; 0: 4096 */
    /* Queries leave the runs as they are, as in the paper. Else, as soon as queries have cost as much for looking into
     * several runs as it costs to merge these, they are merged: many queries at a time then cost little more than in one
     * run, and no queries cost more than about twice what they would have. */
    bool keep_runs;
};

/* An empty LSM.
 * Cost    an update of b elements: a sort of b, and merges of, in the mean, less than log2(n / b) times b elements. It
 *         waits for the device only where it counts or cleans up (see Stale). Queries of keys look into each run until
 *         they find; queries of order first resolve the runs that are new since the last one: their elements are searched
 *         for, once, in each older run. An update after such a query does so with its own elements at once, before it
 *         merges them.
 *         Either may merge runs first (keep_runs); ranges do so for many results only where the caller waits for their
 *         number, and then, if all runs are merged, what is stale is left out.
 *         A combine looks up what is there first, in all runs, and stores what comes of it: on an H200, 2^18 or 2^20 into 2^24, in 1.9
 *         times the time of an upsert. Runs that held what is to be added would make each query go on to the oldest run that has its key.
 * First calls, for their kernels: on an H200 0.1 to 0.6 s each.
 * Memory  keys and values of all that is stored, 1 bit each, 7 % of the keys for indexes; during a carry, a cleanup or a
 *         merge by queries at most 2.2 times the keys and values (2.25 of keys of 4 bytes alone), and 4 MiB; what
 *         merges leave free of that stays held for the next ones until ordo_dict_compact. Without the memory for it, or where
 *         it would make a run larger than the device's largest allocation, nothing is merged: queries look into more runs.
 * Ranges  ordo_dict_erase_range with a count of 1, and ordo_dict_take_first and _last, hide elements where they stand: a
 *         search in each run and a bit for each element, no update. Up to 2^14 first or last elements take one launch.
 * Stale   replaced and erased elements stay stored until a cleanup. Each change of the dictionary leaves fewer than 8
 *         stored elements for each live one. Fewer than 4096 live elements count as 4096 (cleanup_least). An
 *         LSM assumes that each upsert replaces an element and that each erased key was there. Where 7 of 8 elements may
 *         then be stale, it counts the live ones, which waits for the device and costs a pass over the keys, and cleans
 *         up if more than a third is stale. Without the memory for a cleanup it goes on, and tries again when 8 times as
 *         many elements are stored.
 * Limits  keys and values of one batch, with their bits and index, fit into one allocation: else ORDO_TOO_LARGE. */
ORDO_API ordo_status ordo_lsm_create(ordo_device *device, const struct ordo_lsm_config *config, ordo_dict **out);

/* The cleanup of section III-F, as the config's rules call for it, now: puts all that a query can see into one run. Memory
 * stays with the dictionary for updates to come, at most what was held before or during the cleanup: the new run's block may be
 * up to twice as large as it needs, and of the old runs' as much is kept as that takes, and 4 MiB. ordo_dict_compact gives back
 * what is not needed, for which it has to know the size first, and which costs drivers time (0.54 for 0.39 ms at 2^24 elements
 * on an H200). Waits. Without the memory for one run, or where that would be larger than the device's largest allocation: into as
 * few as there is memory for; ORDO_NO_DEVICE_MEMORY if for nothing, and all is as it was. ORDO_UNSUPPORTED if dict is no LSM.
 * Cost    reads and writes every element once. On CPUs, unless it is one run in which nothing is stale and a batch, and on GPUs on which
 *         a work-group may not wait for one that started before, the runs are resolved first, as by a query of order. */
ORDO_API ordo_status ordo_lsm_cleanup(ordo_dict *dict, const struct ordo_order *order);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_lsm_config(...) (&(struct ordo_lsm_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
