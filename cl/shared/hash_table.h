/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a hash table, and the words that host and kernels share.
 *
 * The table stores mixed keys. hash_mix (dict/hash/table.cl) is a seeded bijection of keys, with equally random bits.
 * The high bits of a mixed key are its partition's number. Partitions have buckets in proportion to their elements:
 *
 *     starts     0 | s1 | s2 | ... | all                partition p has buckets starts[p] .. starts[p + 1] - 1
 *     counts     c0 | c1 | ...                          and counts[p] elements
 *     buckets    m0 .. m7 v0 .. v7 | m0 .. m7 v0 .. v7 | ...
 *     spills     n | n | ...                            a byte for each bucket
 *     filters    w | w | ...                            after the spills, on CPUs only: a word for each bucket
 *
 * A bucket has eight mixed keys, then their values. Eight keys of 4 bytes are one 32-byte sector of memory, so a lookup
 * of an absent key reads one sector.
 *
 * A key has a home bucket and a second bucket in its partition (bucketed cuckoo hashing: R. Pagh, F. F. Rodler, ESA
 * 2001; M. Dietzfelbinger, C. Weidling, TCS 2007; on GPUs: M. A. Awad et al., APOCS 2023). An element without a slot in
 * either is stashed in a free slot of the partition.
 *
 * Invariants (host/dict/hash/check.c):
 *   H1 home     An element lies in its home or second bucket; a stashed one in any bucket of its partition. No key is
 *               stored twice.
 *   H2 empty    An empty slot holds hash_empty of its partition. That word belongs to another partition, so no lookup
 *               here matches it, and every key is legal. A table has at least two partitions.
 *   H3 spilled  spills[b] is the number of elements with home bucket b in their second bucket, or HASH_SCAN if one of
 *               them is stashed or there are 255 or more. A lookup that finds nothing in bucket b ends if spills[b] is
 *               0, and reads all buckets of the partition if it is HASH_SCAN. Exact after every call. An erasure from a
 *               bucket with HASH_SCAN sets HASH_RECOUNT, and the next call counts again.
 *   H4 counted  counts[p] is the number of elements of partition p. starts ascends from 0 to the number of buckets.
 *   H5 filtered On CPUs filters[b] has two bits of each key in bucket b, HASH_SPILLED if spills[b] is not 0, and no
 *               other bits. Most lookups of absent keys read one filter and no bucket. */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8 /* slots of a bucket */

/* Words of the spills of n buckets. Concurrent kernels change whole words by atomic operations. */
#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)
#define HASH_SCAN           255         /* in spills: H3 */
#define HASH_SPILLED        0x80000000u /* in filters: H5 */
#define HASH_RECOUNT        0x80000000u /* in counts: H3 */

/* Queries in flight of a work-item on a CPU. */
#define HASH_CPU_IN_FLIGHT 64

/* Average and maximum slots of a partition, each a word of local memory. A partition that needs more gets the maximum
 * and a higher load factor. The maximum is 12 standard deviations above the average for a load factor of 95 percent,
 * and 20 for 80 percent. */
#define HASH_SLOTS_MEAN  2048
#define HASH_SLOTS_MAX   2560
#define HASH_BUCKETS_MAX (HASH_SLOTS_MAX / HASH_SLOTS)
#define HASH_BITS_MAX    28 /* of a partition's number */

/* Maximum elements of n buckets. With more, displacements get long and too many elements are stashed. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

/* Maximum updates of one partition in one batch. */
#define HASH_UPDATES_MAX HASH_SLOTS_MAX

/* Maximum local memory of a kernel. The host refuses devices with less. */
#define HASH_LOCAL_MAX 16384

/* Work-items of groups that read whole partitions, or some elements of each. */
#define HASH_GROUP_DENSE  256
#define HASH_GROUP_SPARSE 128

/* Maximum operations of one partition in a mixed batch, 13 bytes of local memory each. Batches with more are sorted. */
#define HASH_MIXED_MAX 1248

/* Kinds of batches:
 *   HASH_ANY        the last update of a key counts
 *   HASH_DISTINCT   no key occurs twice
 *   HASH_RESOLVED   index[u] is the result of update u: the index of the value to store, HASH_ERASED, or HASH_LEFT. At
 *                   most one update of a key is not HASH_LEFT. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* The updates that hash_update_sparse leaves to hash_update_dense: none; all; or new keys only, as values of existing
 * keys are already combined. */
enum hash_left { HASH_DONE, HASH_ALL_LEFT, HASH_NEW_LEFT };

/* Results of kernels about a batch:
 *   HASH_LARGEST   maximum of one partition: its updates, or buckets that it needs
 *   HASH_FULL      1 if a partition may lack capacity
 *   HASH_TOTAL     elements of the table
 *   HASH_CODES     a bit for each code; HASH_CODE_OTHER for higher ones
 *   HASH_REFUSED   1 if hash_mixed cannot do the batch */
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_REFUSED, HASH_FOUND_WORDS };
#define HASH_CODE_OTHER 31

/* Results of hash_check: a partition that violates the invariant, or all ones. */
enum hash_finding {
    HASH_WRONG_HOME,
    HASH_WRONG_EMPTY,
    HASH_WRONG_SPILLS,
    HASH_WRONG_COUNT,
    HASH_WRONG_FILTER,
    HASH_FINDINGS
};

/* Words that a concurrent batch shares: operations that gave up, and the clock of histories. */
enum hash_shared_word { HASH_PENDING, HASH_TICK, HASH_SHARED_WORDS };

/* A launch of a concurrent batch runs updates on all work-items or on one, or only lists them. */
enum hash_way { HASH_TOGETHER, HASH_ALONE, HASH_LISTING };
