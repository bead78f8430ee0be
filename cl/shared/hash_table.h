/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a hash table. The table stores *mixed keys*: hash_mix (dict/hash/table.cl), a bijection,
 * turns a key into a number with uniformly random bits. */

/* The high bits of a mixed key are its partition's number. Each partition has several buckets:
 *
 *     starts     0 | s1 | s2 | ... | all                partition p has buckets starts[p] to starts[p + 1] - 1
 *     counts     c0 | c1 | ...                          partition p has counts[p] elements
 *     buckets    m0 .. m7 v0 .. v7 | m0 .. m7 v0 .. v7 | ...    a bucket has 8 mixed keys, then their 8 values
 *     spills     n | n | ...                            one byte per bucket (H3)
 *     filters    w | w | ...                            one word per bucket, after the spills; only on CPUs (H5)
 *
 * A key has a home bucket and a second bucket in its partition (bucketed cuckoo hashing, see share/doc/hash.md). If
 * both are full, the element is *stashed*: it lies in any free slot of the partition. */

/* Invariants, which host/dict/hash/check.c checks:
 *  H1 home     An element lies in its home bucket or its second bucket. A stashed element (both buckets were full) lies
 *              anywhere in its partition. No key is stored twice.
 *  H2 empty    An empty slot holds hash_empty(partition), a mixed key of another partition, so no lookup matches it. A
 *              table has at least two partitions.
 *  H3 spilled  spills[b] is the number of elements with home bucket b that lie in their second bucket. If it is 0,
 *              lookups end after bucket b. If it reaches 255, or if an element with home bucket b is stashed, spills[b]
 *              is HASH_SCAN. Lookups then read the whole partition. Erasures do not decrement HASH_SCAN, but set
 *              HASH_RECOUNT in counts[p], so that kernel hash_recount counts again.
 *  H4 counted  counts[p] is the number of elements of partition p. The array `starts` ascends from 0 to the number of
 *              buckets.
 *  H5 filtered filters[b] has two bits set for each key in bucket b, HASH_SPILLED if spills[b] is not 0, and no other
 *              bits. */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8 /* Number of elements that fit in a bucket. */

/* Size of the array `spills` of n buckets, in words of 4 bytes. */
#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)
#define HASH_SCAN           255         /* Value of spills[b]: lookups in bucket b also read the whole partition. */
#define HASH_SPILLED        0x80000000u /* Flag in filters[b]: spills[b] is not 0. */
#define HASH_RECOUNT        0x80000000u /* Flag in counts[p]: kernel hash_recount must run. */

#define HASH_CPU_IN_FLIGHT 64

/* Average and maximum number of slots in a partition. The maximum limits local memory, because a kernel holds a word
 * per slot. A partition with too many elements for its slots gets a higher load factor instead. */
#define HASH_SLOTS_MEAN  2048
#define HASH_SLOTS_MAX   2560
#define HASH_BUCKETS_MAX (HASH_SLOTS_MAX / HASH_SLOTS)
#define HASH_BITS_MAX    28

/* Maximum number of elements in n buckets. In fuller tables, inserts displace many elements, and too many elements lie
 * outside of both of their buckets. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

#define HASH_UPDATES_MAX HASH_SLOTS_MAX

/* Local memory that hash tables need, in bytes. The host refuses devices with less. */
#define HASH_LOCAL_MAX 16384

/* Work-items per work-group of kernels that read whole partitions (HASH_GROUP_DENSE), or some buckets of each partition
 * (HASH_GROUP_SPARSE). */
#define HASH_GROUP_DENSE  256
#define HASH_GROUP_SPARSE 128

/* Maximum number of a partition's operations that fit in the local memory of kernel hash_mixed. */
#define HASH_MIXED_MAX 1248

/* States whether a batch of updates may repeat keys.
 * HASH_ANY        Keys may repeat. Only the last update of each key counts.
 * HASH_DISTINCT   No key occurs twice.
 * HASH_RESOLVED   Keys may repeat, but only one update of each key has an effect. index[u] is the index of the value
 *                 that update u stores, HASH_ERASED if it erases the key, or HASH_LEFT if it does nothing. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* Updates of a partition that kernel hash_update_sparse leaves to kernel hash_update_dense. */
enum hash_left {
    HASH_DONE,     /* none */
    HASH_ALL_LEFT, /* all */
    HASH_NEW_LEFT  /* inserts of new keys */
};

/* Indices of the results of kernels that examine a batch:
 *  HASH_LARGEST   after kernel hash_measure: the largest number of updates in a partition. After kernel hash_size: the
 *                 largest number of buckets that a partition needs.
 *  HASH_FULL      1 if a partition may lack capacity for its updates
 *  HASH_TOTAL     the number of elements in the table
 *  HASH_CODES     a bitmap of the batch's operation codes. Bit HASH_CODE_OTHER stands for all codes from 31 on.
 *  HASH_REFUSED   1 if kernel hash_mixed cannot run the batch */
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_REFUSED, HASH_FOUND_WORDS };
#define HASH_CODE_OTHER 31

/* Results of kernel hash_check: for each invariant, the first partition that violates it, or 0xffffffff. */
enum hash_finding {
    HASH_WRONG_HOME,
    HASH_WRONG_EMPTY,
    HASH_WRONG_SPILLS,
    HASH_WRONG_COUNT,
    HASH_WRONG_FILTER,
    HASH_FINDINGS
};

/* Counters that all work-items of a concurrent batch share. */
enum hash_shared_word {
    HASH_PENDING, /* number of operations that gave up */
    HASH_TICK,    /* logical clock, with which tests time operations */
    HASH_SHARED_WORDS
};

/* Modes of the kernel of concurrent batches. */
enum hash_way {
    HASH_TOGETHER, /* all work-items run updates */
    HASH_ALONE,    /* one work-item runs all updates */
    HASH_LISTING   /* no update runs: the kernel lists all updates as given up */
};
