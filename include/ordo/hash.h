/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table: it has the fastest lookups of single keys on GPUs, but no order of keys. It suits
 * joins, deduplication, counters and caches. On a CPU its lookups are as fast as in a sorted array.
 * See share/doc/hash.md.
 *
 * Example: counts events for each key.
 *
 *     ordo_dict *counters = NULL;
 *     ordo_hash_create(dev, ordo_hash_config(.dict = { .key = ORDO_U64, .value_bytes = 4 }),
 *                      &counters);
 *     ordo_dict_combine_host(counters, ORDO_U32, ORDO_SUM, keys, values, count); */
#ifndef ORDO_HASH_H
#define ORDO_HASH_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hash_config {
    struct ordo_dict_config dict;
    /* Percentage of slots that are used after ordo_dict_build and ordo_dict_compact: 25 to 95. 0
     * means 80. A lower number makes lookups of absent keys faster and leaves space for updates. */
    uint32_t load_percent;
    /* Seed of the hash functions. Set a random seed if untrusted users choose the keys: keys chosen
     * for a known seed make lookups of absent keys up to 19 times slower. With equal seeds and
     * equal calls, ordo_dict_export returns the same order on all CPUs, and one order on all other
     * devices, except after concurrent batches and after calls that lacked memory. */
    uint64_t seed;
};

/* Creates an empty hash table. Calls that need an order of keys return ORDO_UNSUPPORTED.
 * Cost: a lookup reads one or two buckets of 8 keys, and the value. An update accesses each
 *   affected bucket once, or rebuilds the table.
 * Memory: the bytes of keys and values divided by the share of used slots. Each 8 slots take 1 more
 *   byte, or 5 on CPUs. share/doc/hash.md describes the temporary memory.
 * Blocking: an update waits for the device one to three times.
 * Errors: ORDO_TOO_LARGE if the table exceeds the largest allocation. ORDO_UNSUPPORTED on devices
 *   with less than 16 KiB of local memory.
 * Concurrency: a concurrent batch stores about one sixth of its new keys at its end. If memory is
 *   missing then, these keys have the outcome ORDO_NOT_STORED. */
ORDO_API ordo_status ordo_hash_create(ordo_device *device, const struct ordo_hash_config *config,
                                      ordo_dict **out);

#ifndef __cplusplus
#define ordo_hash_config(...) (&(struct ordo_hash_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
