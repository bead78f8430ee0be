/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table: the fastest lookups of single keys on GPUs, without an order of keys. For joins,
 * deduplication, counters and caches. On a CPU lookups are as fast as in a sorted array, and
 * batches of new keys several times slower. See share/doc/hash.md.
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
    /* Load factor after build and compact, in percent: 25 to 95; 0: 80. A lower load factor makes
     * lookups of absent keys faster and leaves capacity for updates. */
    uint32_t load_percent;
    /* Seed of the hash functions; 0 is a seed like any other. Set a random seed if others choose
     * the keys: keys chosen for a known seed make lookups of absent keys up to 19 times slower
     * (share/doc/hash.md). Without concurrent batches, equal calls and seeds give the same order of
     * ordo_dict_export on every device. */
    uint64_t seed;
};

/* Creates an empty hash table. It supports the calls of dict.h that need no order of keys:
 * ordo_dict_can(dict, ORDO_CAN_ORDER) is false, and other codes in a batch are ORDO_UNSUPPORTED.
 * Cost: a lookup reads a bucket of keys (32 bytes; 64 for 8-byte keys) and the value. It reads a
 *   second bucket for 17 % of the keys at load factor 0.8 (5 % at 0.5, 33 % at 0.95), and for 28 %
 *   of absent keys (55 % after many updates). On CPUs a filter answers 7 of 8 lookups of absent
 *   keys. An update reads and writes each bucket it needs once, or rebuilds the table.
 * Memory: keys and values divided by the load factor, and 1 byte per 8 slots (5 on CPUs). Scratch:
 *   a build takes up to 3 times the new keys and values, a rebuild 4 times the table's. A
 *   concurrent batch takes 8 bytes for each of up to 2^24 operations, and the scratch of an update.
 * Blocking: an update waits once, or twice if a partition may be full. Erasures wait only after a
 *   build or if they may erase most of the table.
 * Errors: ORDO_TOO_LARGE if the table exceeds the largest allocation; ORDO_UNSUPPORTED if the
 *   device has less than 16 KiB of local memory. After an OpenCL error the table holds a part of
 *   the batch, or calls return ORDO_BROKEN until it is built or cleared.
 * Concurrency: a batch does 1 in 6 stores of new keys in order, after the others. It refuses stores
 *   (ORDO_NOT_STORED) only if an upsert of them lacks memory. */
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
