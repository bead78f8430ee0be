/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the layout of a hash table, and the constants that host and kernels share.
 *
 * The table stores mixed keys. hash_mix (dict/hash/table.cl) maps keys one-to-one to words with equally random bits.
 * The high bits of a mixed key are the number of its partition. A partition with more elements has more buckets:
 *
 *     starts     0 | s1 | s2 | ... | all                partition p has buckets starts[p] .. starts[p + 1] - 1
 *     counts     c0 | c1 | ...                          and counts[p] elements
 *     buckets    m0 .. m7 v0 .. v7 | m0 .. m7 v0 .. v7 | ...
 *     spills     n | n | ...                            a byte for each bucket (H3)
 *     filters    w | w | ...                            a word for each bucket, after the spills; only on CPUs (H5)
 *
 * A bucket has eight mixed keys, then their values. Eight keys of 4 bytes are one 32-byte sector of memory, so a lookup
 * of an absent key reads one sector.
 *
 * A key has a home bucket and a second bucket in its partition (bucketed cuckoo hashing: R. Pagh, F. F. Rodler, ESA
 * 2001; M. Dietzfelbinger, C. Weidling, TCS 2007; on GPUs: M. A. Awad et al., APOCS 2023). An element that gets no slot
 * in either bucket is *stashed*: it lies in any free slot of the partition.
 *
 * Invariants (host/dict/hash/check.c):
 *   H1 home     An element lies in its home or second bucket, a stashed element anywhere in its partition. No key is
 *               stored twice.
 *   H2 empty    An empty slot holds hash_empty(partition), a mixed key of another partition, so no lookup in this
 *               partition matches it. A table has at least two partitions.
 *   H3 spilled  spills[b] counts the elements whose home bucket is b and that lie in their second bucket. It is
 *               HASH_SCAN if the count reaches 255, or an element with home bucket b is stashed. A lookup that finds
 *               nothing in home bucket b ends if spills[b] is 0, and reads the whole partition if it is HASH_SCAN. An
 *               erasure cannot decrement HASH_SCAN. It sets HASH_RECOUNT in counts, and hash_recount counts again.
 *   H4 counted  counts[p] is the number of elements of partition p. starts ascends from 0 to the number of buckets.
 *   H5 filtered filters[b] has two bits set for each key in bucket b, HASH_SPILLED if spills[b] is not 0, and no other
 *               bits. Most lookups of absent keys read one filter and no bucket. */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8 /* slots per bucket */

/* Words that hold the spills of n buckets. Concurrent kernels change whole words by atomic operations. */
#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)
#define HASH_SCAN           255         /* a value in spills (H3) */
#define HASH_SPILLED        0x80000000u /* a bit in filters (H5) */
#define HASH_RECOUNT        0x80000000u /* a bit in counts (H3) */

#define HASH_CPU_IN_FLIGHT 64

/* The average and the maximum number of slots of a partition. A slot takes a word of local memory. If a partition needs
 * more, its load factor becomes higher. The maximum is at least 12 standard deviations above the average. */
#define HASH_SLOTS_MEAN  2048
#define HASH_SLOTS_MAX   2560
#define HASH_BUCKETS_MAX (HASH_SLOTS_MAX / HASH_SLOTS)
#define HASH_BITS_MAX    28

/* The most elements that n buckets hold. Above it, displacements get long and too many elements are stashed. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

#define HASH_UPDATES_MAX HASH_SLOTS_MAX

/* The bytes of local memory that a device needs. The host refuses devices that have less. */
#define HASH_LOCAL_MAX 16384

/* The work-items per group of kernels that read whole partitions (DENSE), or only some buckets of each (SPARSE). */
#define HASH_GROUP_DENSE  256
#define HASH_GROUP_SPARSE 128

/* The most operations that hash_mixed takes in one partition. Each needs 13 bytes of local memory. The host sorts a
 * batch that has more. */
#define HASH_MIXED_MAX 1248

/* Kinds of batches:
 *   HASH_ANY        keys may repeat; only the last update of each key counts
 *   HASH_DISTINCT   no key occurs twice
 *   HASH_RESOLVED   index[u] tells the effect of update u: the index of the value to store, HASH_ERASED (erase the
 *                   key), or HASH_LEFT (do nothing). At most one update of each key does something. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* How much of a partition hash_update_sparse leaves to hash_update_dense. HASH_DONE: nothing. HASH_ALL_LEFT: all
 * updates. HASH_NEW_LEFT: only new keys, because values of existing keys are already combined. */
enum hash_left { HASH_DONE, HASH_ALL_LEFT, HASH_NEW_LEFT };

/* Results of kernels that examine a batch:
 *   HASH_LARGEST   the most updates in one partition (hash_measure), or the most buckets that one needs (hash_size)
 *   HASH_FULL      1 if a partition may lack capacity for its updates
 *   HASH_TOTAL     the number of elements in the table
 *   HASH_CODES     has a bit set for each operation code that occurs; bit HASH_CODE_OTHER stands for all higher codes
 *   HASH_REFUSED   1 if hash_mixed cannot do the batch */
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_REFUSED, HASH_FOUND_WORDS };
#define HASH_CODE_OTHER 31

/* Results of hash_check. Each is the least partition that violates the invariant, or all ones. */
enum hash_finding {
    HASH_WRONG_HOME,
    HASH_WRONG_EMPTY,
    HASH_WRONG_SPILLS,
    HASH_WRONG_COUNT,
    HASH_WRONG_FILTER,
    HASH_FINDINGS
};

/* Words that the work-items of a concurrent batch share. HASH_PENDING counts the operations that gave up. HASH_TICK is
 * the time in recorded histories. */
enum hash_shared_word { HASH_PENDING, HASH_TICK, HASH_SHARED_WORDS };

/* How a launch runs a concurrent batch. HASH_TOGETHER: all work-items run updates. HASH_ALONE: one work-item runs all
 * updates. HASH_LISTING: all updates give up. */
enum hash_way { HASH_TOGETHER, HASH_ALONE, HASH_LISTING };
