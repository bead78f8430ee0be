/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table: the fastest lookups of single keys on GPUs, without an order of keys. For joins,
 * deduplication, counters and caches. On a CPU a lookup costs as much as in a sorted array, and a
 * batch of new keys several times as much as in an LSM or a sorted array. share/doc/hash.md
 * explains how it works.
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
    /* Load factor after build and compact, in percent: 25 to 95; 0: 80. A lower one makes lookups
     * of absent keys faster and leaves capacity for updates. */
    uint32_t load_percent;
    /* Seed of the hash functions; 0 is a seed like any other. Set a random one if others choose the
     * keys: lookups of absent keys take 1.2 times as long if 2.3 % of the keys are chosen for a
     * known seed, 19 times with 70 %. Equal calls and seeds give, without concurrent batches, the
     * same order of ordo_dict_export on every device. */
    uint64_t seed;
};

/* Creates an empty hash table. It supports all calls of dict.h that need no order of keys:
 * ordo_dict_can(dict, ORDO_CAN_ORDER) is false, and a batch with other codes is ORDO_UNSUPPORTED.
 * Cost: a lookup reads 32 bytes of keys (8-byte keys: 64) and the value, and a second bucket for 5
 *   % of the keys at load factor 0.5, 17 % at 0.8, 33 % at 0.95, and for 28 % of absent keys at
 *   0.8, 55 % after many updates. On CPUs a filter answers 7 of 8 lookups of absent keys at 0.8. An
 *   update reads and writes the buckets that it needs once, or rebuilds the table
 *   (share/doc/hash.md).
 * Memory: keys and values / load factor, and 1 byte for 8 slots (on CPUs 5). Scratch: up to 3 times
 *   the new keys and values for a build, 4 times the table's for a rebuild, 8 bytes for each of up
 *   to 2^24 operations of a concurrent batch, and the scratch of an update.
 * Blocking: an update waits once, or twice if a partition may be full. Erasures wait after a build,
 *   and if most of the table may be erased.
 * Errors: ORDO_TOO_LARGE if the table exceeds the device's largest allocation; ORDO_UNSUPPORTED if
 *   the device has less than 16 KiB of local memory. After an OpenCL error the next call checks the
 *   table: it has some of the batch, or is ORDO_BROKEN until it is built or cleared.
 * Concurrency: a batch does 1 in 6 stores of new keys in order, and refuses stores
 *   (ORDO_NOT_STORED) only without memory for an upsert of them (share/doc/hash.md). */
ORDO_API ordo_status ordo_hash_create(ordo_device *device, const struct ordo_hash_config *config,
                                      ordo_dict **out);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_hash_config(...) (&(struct ordo_hash_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
