/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table: on GPUs the fastest lookups of single keys; no order. For joins, deduplication,
 * counters, caches.
 *
 * On a CPU a lookup costs what it costs in a sorted array, and batches of new keys cost several
 * times what they cost in an LSM or a sorted array: take one of these there.
 *
 * Bucketed cuckoo hashing (R. Pagh, F. F. Rodler, "Cuckoo Hashing", ESA 2001; M. Dietzfelbinger,
 * C. Weidling, "Balanced Allocation and Dictionaries with Tightly Packed Constant Size Bins", TCS
 * 2007; on GPUs: D. A. F. Alcantara et al., "Real-Time Parallel Hashing on the GPU", SIGGRAPH
 * Asia 2009; M. A. Awad et al., "Analyzing and Implementing GPU Hash Tables", APOCS 2023). Here a
 * bucket's eight keys are one or two sectors of memory, and a lookup reads one bucket, or two.
 * Batches are parted by a radix sort of few bits, and one work-group changes each part of the
 * table in its local memory. So no atomics of the whole device are needed, and the same calls
 * make the same table on every device. */
#ifndef ORDO_HASH_H
#define ORDO_HASH_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hash_config {
    struct ordo_dict_config dict;
    /* How full build and compact make the table, in percent: 25 to 95; 0: 80. Less: faster lookups
     * of absent keys, and room for updates. */
    uint32_t load_percent;
    /* Decides which keys meet in one bucket. Whoever chooses the keys and knows the seed can choose
     * keys that make lookups more than 20 times slower. Set a random number where keys come from
     * others. 0 is a seed like any other. For the same seed and the same calls the results, and the
     * order of ordo_dict_export, are the same on every device. */
    uint64_t seed;
};

/* An empty hash table. It does all of dict.h that needs no order of keys: build, upsert, insert,
 * combine, erase, find, contains, size, export, clear, compact, and mixed batches of these, in
 * order or concurrent (ordo_dict_apply, ordo_dict_apply_concurrent: one with seeks, counts,
 * ranges, ranks or selections is ORDO_UNSUPPORTED). ordo_dict_can(dict, ORDO_CAN_ORDER) is false.
 * ordo_dict_export gives the elements in the order of the table, which is the same on every
 * device for the same calls and seed. Concurrent batches leave elements in one of many orders.
 * Lookups     A lookup reads 32 bytes of keys (8-byte keys: 64) of one bucket, and the value. It
 *             reads a second bucket for every 20th key at load 0.5, for every sixth at 0.8, for a
 *             third at 0.95. For absent keys that is 28 in 100 at load 0.8, and 55 once the whole
 *             content has been replaced little by little, and no more after that. On CPUs a
 *             4-byte filter per bucket rejects most absent keys without a look at the bucket; at
 *             load 0.8 one in eight reads a bucket.
 * Updates     An update of b elements sorts b by the bits that name parts of the table, of about
 *             2048 slots each. Then it reads and writes the buckets that it touches once, or all
 *             of a part if it touches many of them. A mixed batch in order is an update after
 *             lookups by parts. A combine reads the values that it changes, and sums up equal
 *             keys first; if one part of the table is to get more than 2560 of the batch, the
 *             batch is sorted for that. An update waits once, for whether there is room, and a
 *             second time if there might be none. Erasures look their keys up and empty the
 *             slots, without a sort. They wait after the first erasure since the table was built,
 *             and whenever most of the table may have been erased.
 * Growth      A part has room for 31 of 32 slots. If one is to have more, the table is rebuilt,
 *             70 percent full or as load_percent says, whichever is less. So it is when a call
 *             leaves it less than an eighth full. A rebuild takes all elements at once; on a CPU
 *             rebuilds are a sixth of the time of doubling a table in 16 batches (PoCL, 2^20
 *             elements). If a part would get more than 2480 elements, the table gets another seed,
 *             which depends on the keys, and smaller parts.
 * Concurrent  An update latches a bucket and changes it in place. If the batch may store more
 *             than the table has room for, the table grows first. Operations that find both of
 *             their buckets full, or their latch taken too often, are done afterwards as by
 *             ordo_dict_apply: at load 0.8 about one in six of those that store new keys. Where
 *             memory is short this is done in smaller batches, and operations that find no slot
 *             even so are ORDO_NOT_STORED. Scratch: 8 bytes an operation, for up to 2^24
 *             operations at a time, a bit for each of 8 latches an operation, up to 512 KiB, and
 *             what those operations need that are done afterwards. Devices whose atomics order
 *             nothing between work-groups do all operations in order.
 * Memory      Keys and values / load, and 1 byte for 8 slots (on CPUs 5). A build holds, besides
 *             the old table, scratch of up to 3 times the keys and values of the batch, and the
 *             new table. A table that grows or is compacted holds scratch of up to 4 times its
 *             keys and values, and the new table.
 * Errors      Running out of memory changes nothing. Updates change the table in place: after an
 *             OpenCL error half way through one, the next call checks the table. If it is sound,
 *             it holds some of the batch; if not, each call returns ORDO_BROKEN until it is built
 *             anew or cleared. The table is one allocation: more than the device's largest is
 *             ORDO_TOO_LARGE. A device with less than 16 KiB of local memory is ORDO_UNSUPPORTED. */
ORDO_API ordo_status ordo_hash_create(ordo_device *device, const struct ordo_hash_config *config, ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_hash_config(...) (&(struct ordo_hash_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
