/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a hash table. It stores *mixed keys*: the bijection hash_mix (dict/hash/table.cl) turns keys into
 * numbers that look random. */

/* The high bits of a mixed key are the index of its partition. Each partition has several buckets:
 *
 *     starts     0 | s1 | ... | all           partition p has buckets starts[p] to starts[p + 1] - 1
 *     counts     c0 | c1 | ...                elements per partition
 *     buckets    m0 .. m7 v0 .. v7 | ...      8 mixed keys, then their 8 values
 *     spills     n | ...                      one byte per bucket: see H3 below
 *     filters    w | ...                      only on CPUs: one word per bucket, after the spills; see H5 below
 *
 * A key has a home bucket and a second bucket in its partition (bucketed cuckoo hashing, see share/doc/hash.md). If
 * both are full, the element is *stashed* in any free slot of the partition. */

/* Invariants, which host/dict/hash/check.c checks:
 *  H1 home     An element lies in its home bucket or in its second bucket. A stashed element lies in any other bucket
 *              of its partition. No key is stored twice.
 *  H2 empty    An empty slot holds hash_empty(partition), a mixed key of another partition, so no lookup matches it. A
 *              table has at least two partitions.
 *  H3 spilled  spills[b] counts the elements of home bucket b that lie in their second bucket. If this count exceeds
 *              254, or if an element of home bucket b is stashed, spills[b] is HASH_SCAN.
 *  H4 counted  counts[p] is the number of elements of partition p. `starts` ascends from 0 to the number of buckets.
 *  H5 filtered In filters[b], each key of bucket b sets two bits. HASH_SPILLED is set if spills[b] is not 0. All other
 *              bits are 0. */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8

#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)
#define HASH_SCAN           255
#define HASH_SPILLED        0x80000000u
/* Flag in counts[p]. An erasure sets it if it cannot decrement a spill count, because the spill count is HASH_SCAN. */
#define HASH_RECOUNT 0x80000000u

#define HASH_CPU_IN_FLIGHT 64

/* Mean and maximum number of slots per partition. Kernels need one word of local memory per slot. */
#define HASH_SLOTS_MEAN  2048
#define HASH_SLOTS_MAX   2560
#define HASH_BUCKETS_MAX (HASH_SLOTS_MAX / HASH_SLOTS)
#define HASH_BITS_MAX    28

/* n buckets have at most this many elements. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

#define HASH_UPDATES_MAX HASH_SLOTS_MAX

/* A hash table needs at most this many bytes of local memory. */
#define HASH_LOCAL_MAX 16384

/* Sizes of work-groups of kernels that read whole partitions (DENSE), or only some of their buckets (SPARSE). */
#define HASH_GROUP_DENSE  256
#define HASH_GROUP_SPARSE 128

/* Kernel hash_mixed accepts at most this number of operations per partition. */
#define HASH_MIXED_MAX 1248

/* Kinds of batches of updates:
 *  HASH_ANY        Keys may repeat. The last update of each key counts.
 *  HASH_DISTINCT   Keys do not repeat.
 *  HASH_RESOLVED   At most one update of each key has an effect. For update u, index[u] is HASH_LEFT for no effect,
 *                  HASH_ERASED for an erasure, and otherwise the index of the new value. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* For each partition, kernel hash_update_sparse reports the updates that kernel hash_update_dense must still execute:
 * none (HASH_DONE), all, or only inserts of new keys. */
enum hash_left { HASH_DONE, HASH_ALL_LEFT, HASH_NEW_LEFT };

/* Results of kernels that examine a batch:
 *  HASH_LARGEST   from kernel hash_measure: largest number of updates of one partition
 *                 from kernel hash_size: largest number of buckets that a partition needs
 *  HASH_FULL      1 if a partition may become too full
 *  HASH_TOTAL     number of elements in the table
 *  HASH_CODES     bitmap: bit c is 1 if an operation has code c. Codes from 31 on set bit HASH_CODE_OTHER
 *  HASH_REFUSED   1 if kernel hash_mixed cannot run the batch */
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_REFUSED, HASH_FOUND_WORDS };
#define HASH_CODE_OTHER 31

/* For each invariant H1 to H5, kernel hash_check finds the first partition that violates it, or 0xffffffff. */
enum hash_finding {
    HASH_WRONG_HOME,
    HASH_WRONG_EMPTY,
    HASH_WRONG_SPILLS,
    HASH_WRONG_COUNT,
    HASH_WRONG_FILTER,
    HASH_FINDINGS
};

enum hash_shared_word { HASH_PENDING, HASH_TICK, HASH_SHARED_WORDS };

/* A launch of a concurrent batch runs the updates with all work-items (HASH_TOGETHER), with one (HASH_ALONE), or leaves
 * them to a later launch (HASH_LISTING). */
enum hash_way { HASH_TOGETHER, HASH_ALONE, HASH_LISTING };
