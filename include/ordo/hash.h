/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table: the fastest lookups of single keys, and no order. For joins, deduplication, counters, caches.
 *
 * Bucketed cuckoo hashing (R. Pagh, F. F. Rodler, "Cuckoo Hashing", ESA 2001; M. Dietzfelbinger, C. Weidling, "Balanced
 * Allocation and Dictionaries with Tightly Packed Constant Size Bins", TCS 2007; on GPUs: D. A. F. Alcantara et al.,
 * "Real-Time Parallel Hashing on the GPU", SIGGRAPH Asia 2009; M. A. Awad et al., "Analyzing and Implementing GPU Hash
 * Tables", APOCS 2023). Here a bucket's eight keys are one or two sectors of memory, a lookup reads one bucket, or two; batches
 * are parted by a radix sort of few bits, and each part of the table is changed by one work-group in its local memory, so
 * no atomics of the whole device are needed, and the same calls make the same table on every device. */
#ifndef ORDO_HASH_H
#define ORDO_HASH_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hash_config {
    struct ordo_dict_config dict;
    /* How full build and compact make the table, in percent: 25 to 95; 0: 80. Less: faster lookups of what is not there, and room
     * for updates. */
    uint32_t load_percent;
};

/* An empty hash table. It does all of dict.h that needs no order of keys: build, upsert, insert, combine, erase, find, contains,
 * size, export, clear, compact, and mixed batches of these, in order or side by side (ordo_dict_apply,
 * ordo_dict_apply_concurrent: one with seeks, counts, ranges, ranks or selections is ORDO_UNSUPPORTED).
 * ordo_dict_can(dict, ORDO_CAN_ORDER) is false. ordo_dict_export gives the elements in the order of the table, which is the same on
 * every device for the same calls; what was stored side by side lies in one of many orders.
 * Cost    a lookup: 32 bytes of keys (8-byte keys: 64) of one bucket; of every 20th key at load 0.5, of every sixth at 0.8, of a
 *         third at 0.95 those of a second one; and the value. Of keys that are not there it is 28 in 100 at load 0.8; once all
 *         has been erased and as much stored, little by little, 55, and no more after that. An update of b elements: a radix sort of b by the bits that
 *         name parts of the table, of about 2048 slots each; then the buckets that are touched are read and written once, or all of
 *         a part where that is more than a few. A mixed batch in order is an update, and lookups by parts before it. A
 *         combine is an update that reads the values that it changes, and sums up equal keys before; where one part of the table is to
 *         get more than 2560 of the batch, by a sort of all of it. It waits once, for whether there is room; a second time where there might not be. Keys that are erased are looked up, and
 *         nothing else: no sort; no wait, but for the first erasure after a build, and one whenever most of what was there
 *         may have been erased.
 *         Parts have no room for more than 31 of 32 slots: when one is to have more, the table is built anew, 70 percent full or
 *         as load_percent says, whichever is less; and when less than an eighth of it is full. That is all of it at once, not a part after
 *         another, whose elements would have to be placed anew all the same: of what it takes to double a table in 16 batches, a sixth
 *         on a CPU (PoCL, 2^20 elements).
 *         Side by side, an update latches a bucket and changes it where it lies. What finds both of its buckets full, or too many at
 *         its latch, is done afterwards as by ordo_dict_apply, which moves elements and grows the table: at load 0.8 about
 *         one in six of those that store new keys. Scratch: 8 bytes an operation, for up to 2^24 of them at a time, and a bit for each
 *         of 8 latches an operation, up to 512 KiB; and what that takes for those that are left. Where there is no memory for it,
 *         those that find no slot are ORDO_NOT_STORED. On devices whose atomics order nothing between work-groups all is done so.
 *         On CPUs 4 bytes of a filter say of most keys that are not there that they are not, and nothing else of the table is read;
 *         of one in eight at load 0.8 a bucket is.
 * Memory  keys and values / load, and 1 byte for 8 slots (on CPUs 5). A build holds besides the old table the batch twice; a table that
 *         grows, or is compacted, its elements three times.
 * Errors  running out of memory changes nothing. Updates change the table in place: after an OpenCL error half way through one
 *         it is checked by the next call. If it is sound, it holds some of the batch; if not, each call returns ORDO_BROKEN
 *         until it is built anew or cleared. The table is one allocation: more than the device's largest is ORDO_TOO_LARGE. */
ORDO_API ordo_status ordo_hash_create(ordo_device *device, const struct ordo_hash_config *config, ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_hash_config(...) (&(struct ordo_hash_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
