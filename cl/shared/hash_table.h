/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a hash table, and the words that host and kernels share.
 *
 * The table stores mixed keys. hash_mix (dict/hash/table.cl) is a bijection of keys with a seed, whose bits are all
 * equally random. The high bits of a mixed key are the number of its partition. A partition has a number of buckets in
 * proportion to its elements, so all partitions have about the same load factor:
 *
 *     starts   | 0 | s1 | s2 | ... | all |              partition p has buckets starts[p] .. starts[p + 1] - 1
 *     counts   | c0 | c1 | ...           |              and counts[p] elements
 *     buckets  | m0 .. m7 v0 .. v7 | m0 .. m7 v0 .. v7 | ...
 *     spills   | n | n | ...                            a byte for each bucket
 *     filters  | w | w | ...                            after the spills, on CPUs only: a word for each bucket
 *
 * A bucket has eight mixed keys and then their values. Eight keys of 4 bytes are one 32-byte sector of memory, so a
 * lookup of an absent key reads one sector.
 *
 * A key has two buckets of its partition, its home bucket and its second bucket, by two functions of the mixed key
 * (bucketed cuckoo hashing: R. Pagh, F. F. Rodler, ESA 2001; M. Dietzfelbinger, C. Weidling, TCS 2007; on GPUs:
 * M. A. Awad et al., APOCS 2023). An element that finds no slot in either is stashed in a free slot of the partition.
 *
 * Invariants. host/dict/hash/check.c names them in its messages.
 *   H1 home     An element lies in its home bucket or in its second bucket. A stashed element lies in any bucket of its
 *               partition. No key is stored twice.
 *   H2 empty    A slot is empty if its word is hash_empty of its partition. That word belongs to another partition, so
 *               no lookup in this one can match it. So every key is legal, and emptiness takes no memory. A table has
 *               at least two partitions.
 *   H3 spilled  spills[b] is the number of elements with home bucket b that lie in their second bucket. It is HASH_SCAN
 *               if one of them is stashed, or if there are 255 or more. A lookup that finds nothing in bucket b ends if
 *               spills[b] is 0. If it is HASH_SCAN, the lookup reads all buckets of the partition. Exact after every
 *               call. An erasure from a bucket with HASH_SCAN sets HASH_RECOUNT, and the next call counts again.
 *   H4 counted  counts[p] is the number of elements of partition p. starts ascends from 0 to the number of buckets.
 *   H5 filtered On CPUs filters[b] has two bits of each key in bucket b, HASH_SPILLED if spills[b] is not 0, and no
 *               other bits. Most lookups of absent keys read one filter and no bucket.
 */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8 /* slots of a bucket */

/* Words of the spills of n buckets. Concurrent kernels change spills by atomic operations on words. */
#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)
#define HASH_SCAN           255         /* in spills: H3 */
#define HASH_SPILLED        0x80000000u /* in filters: H5 */
#define HASH_RECOUNT        0x80000000u /* in counts: H3 */

/* Queries that a work-item of a CPU has in flight. */
#define HASH_CPU_IN_FLIGHT 64

/* Slots of a partition, on average and at most. A work-group has a word for each of them in local memory. If the
 * elements of a partition need more buckets than that, it gets the maximum and a higher load factor. The maximum is 12
 * standard deviations above the average for a load factor of 95 percent, and 20 for 80 percent. */
#define HASH_SLOTS_MEAN  2048
#define HASH_SLOTS_MAX   2560
#define HASH_BUCKETS_MAX (HASH_SLOTS_MAX / HASH_SLOTS)
#define HASH_BITS_MAX    28 /* of a partition's number */

/* Elements that n buckets take. With more, displacements get long and too many elements are stashed. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

/* Updates of one partition in one batch, at most. */
#define HASH_UPDATES_MAX HASH_SLOTS_MAX

/* Local memory of a kernel, at most: what small devices have. The host refuses devices with less, and each kernel
 * asserts that its struct fits. */
#define HASH_LOCAL_MAX 16384

/* Work-items of a group for kernels that read whole partitions, and for those that read some elements of each. */
#define HASH_GROUP_DENSE  256
#define HASH_GROUP_SPARSE 128

/* Operations of one partition in one mixed batch, at most: each takes 13 bytes of local memory. A batch with more is
 * sorted instead. */
#define HASH_MIXED_MAX 1248

/* What is known of the updates of a batch.
 *   HASH_ANY        nothing: the last update of a key counts
 *   HASH_DISTINCT   no key occurs twice
 *   HASH_RESOLVED   index[u] is the result of update u: the index of the value to store, HASH_ERASED, or HASH_LEFT.
 *                   At most one update of a key is not HASH_LEFT. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* What hash_update_sparse leaves of a partition to hash_update_dense: nothing; all updates; or new keys only, because
 * the values of keys that exist are combined already. */
enum hash_left { HASH_DONE, HASH_ALL_LEFT, HASH_NEW_LEFT };

/* Words that kernels find about a batch:
 *   HASH_LARGEST   updates of one partition, or buckets that one partition needs: the maximum
 *   HASH_FULL      1 if a partition may lack capacity for its updates
 *   HASH_TOTAL     elements of the table
 *   HASH_CODES     a bit for each code below HASH_CODE_OTHER in a mixed batch, and that bit for all other codes
 *   HASH_REFUSED   1 if hash_mixed cannot do the batch */
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_REFUSED, HASH_FOUND_WORDS };
#define HASH_CODE_OTHER 31

/* Words of hash_check: the number of a partition that violates the invariant, or all ones. */
enum hash_finding {
    HASH_WRONG_HOME,
    HASH_WRONG_EMPTY,
    HASH_WRONG_SPILLS,
    HASH_WRONG_COUNT,
    HASH_WRONG_FILTER,
    HASH_FINDINGS
};

/* Words that the operations of a concurrent batch share: operations that gave up, and the clock of histories. */
enum hash_shared_word { HASH_PENDING, HASH_TICK, HASH_SHARED_WORDS };

/* How a launch runs the updates of a concurrent batch: by all work-items, by one, or not at all, but lists them. */
enum hash_way { HASH_TOGETHER, HASH_ALONE, HASH_LISTING };
