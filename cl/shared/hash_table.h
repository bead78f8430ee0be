/* SPDX-License-Identifier: Apache-2.0 */
/* How a hash table lies in memory.
 *
 * Keys are mixed: a bijection of key words, with a seed, makes a word whose bits are all alike (hash_mix of
 * dict/hash/table.cl). The table has mixed keys, which are distinct where keys are, and knows no others. The high bits of
 * a mixed key are its partition's number; each partition has as many buckets as its elements need, so that all are equally
 * full:
 *
 *     starts   | 0 | s1 | s2 | ... | all |              partition p has buckets starts[p] .. starts[p + 1] - 1
 *     counts   | c0 | c1 | ...           |              and counts[p] elements
 *     buckets  | m0 .. m7 v0 .. v7 | m0 .. m7 v0 .. v7 | ...
 *     spills   | n | n | ...                            a byte for each bucket
 *     filters  | w | w | ...                            behind them, on CPUs: a word for each bucket
 *
 * The eight mixed keys of a bucket lie apart from its values: of 4 bytes they are a sector, 32 bytes, which is all that
 * a key that is not there costs; its value is in the next one, of the same 64 bytes.
 *
 * A key has two buckets in its partition, by two functions of its mixed key (bucketed cuckoo hashing: A. Pagh, F. F. Rodler,
 * ESA 2001; M. Dietzfelbinger, C. Weidling, TCS 2007; on GPUs: Awad et al., APOCS 2023).
 *
 * Invariants (host/dict/hash/check.c looks for each by its name):
 *   H1 home     an element lies in its first bucket or in its second; astray, in any bucket of its partition, only where H3
 *               says so. No key is there twice.
 *   H2 empty    a slot is empty if its word belongs to another partition, which no lookup here can ask for: it is
 *               HASH_EMPTY. There are two partitions at least. So every key is legal, and emptiness takes no memory.
 *   H3 spilled  spills[b] is the number of elements that have b as their first bucket and lie in their second: a lookup that
 *               finds nothing in b goes on only if there are any. HASH_ALL, 255, in all buckets of a partition that has elements
 *               astray: a lookup goes through the partition. Exact after every update, so erasures leave nothing behind
 *               (of partitions with HASH_ALL they are counted again before the next call: HASH_RECOUNT).
 *   H4 counted  counts[p] is the number of elements of partition p; starts ascend, and the last is the number of buckets.
 *   H5 filtered on CPUs: filters[b] has two bits of each key in b, and HASH_SPILLED if spills[b] is not 0; no others. So most
 *               lookups of what is not there end with one word, of so few that they are often in a cache. After every
 *               update, erasures too.
 */
#pragma once
#include "shared/types.h"

#define HASH_SLOTS 8 /* of a bucket */
#define HASH_ALL   255

/* Words of the spills of n buckets: erasures change words. */
#define HASH_SPILL_WORDS(n) (((n) + 3) / 4)

/* In a filter: spills are not 0. */
#define HASH_SPILLED 0x80000000u

/* Set in counts[p] by an erasure after which HASH_ALL may be wrong in partition p; never there when a call begins. */
#define HASH_RECOUNT 0x80000000u

/* Queries that a CPU's work-item has under way. */
#define HASH_CPU_AT_ONCE 64

/* The most slots that partitions have in the mean (ordo_hash_bits_for of host/dict/hash/table.c), and the most that one has: a
 * work-group has a word for each in local memory. A partition with more elements than others is as full as they are while it has
 * buckets left, and fuller then. It has room for 12 standard deviations more than the mean at a load of 95 percent, for 20 at 80. */
#define HASH_SLOTS_MEAN   2048
#define HASH_SLOTS_MOST   2560
#define HASH_BUCKETS_MOST (HASH_SLOTS_MOST / HASH_SLOTS)
#define HASH_BITS_MOST    28 /* of a partition's number */

/* How many elements n buckets take: past that moves get long, and too many elements astray. */
#define HASH_LIMIT(n) ((n) *HASH_SLOTS - (n) *HASH_SLOTS / 32)

/* Updates of one partition in one batch: as many as it may have slots. */
#define HASH_UPDATES_MOST HASH_SLOTS_MOST

/* What is known of the updates of a batch: nothing, so that of equal keys the last counts; no key is there twice; or index[u] says what
 * update u comes to: the place of the value that is stored, HASH_ERASED, or HASH_LEFT, and of equal keys one at most is not that. */
enum hash_kind { HASH_ANY, HASH_DISTINCT, HASH_RESOLVED };
#define HASH_LEFT   0xffffffffu
#define HASH_ERASED 0xfffffffeu

/* What hash_touch says of a partition: it is done; it is left; or what was there has been combined, and what was not is left. */
enum hash_left { HASH_DONE, HASH_ALL_LEFT, HASH_FRESH_LEFT };

/* Operations of one partition in one mixed batch that are done by themselves; with more, it is sorted. Each takes 13 bytes of local memory,
 * of which no kernel here needs more than HASH_LOCAL_MOST: there are devices with so little. */
#define HASH_RESOLVE_MOST 1248
#define HASH_LOCAL_MOST   16384

/* Words of what a look at partitions finds (hash_measure, hash_size, hash_mix_keys of dict/hash/partition.cl, hash_plan, hash_resolve):
 * HASH_CODES has a bit for each code below HASH_CODE_OTHER that a mixed batch has, and that one for all others. */
#define HASH_CODE_OTHER 31
enum hash_found { HASH_LARGEST, HASH_FULL, HASH_TOTAL, HASH_CODES, HASH_LACKS, HASH_FOUND_WORDS };

/* Words that operations side by side share: how many gave up, and the clock of histories. */
enum hash_beside { HASH_PENDING, HASH_TICK, HASH_BESIDE_WORDS };

/* How updates side by side are done: by all work-items; by one; not at all, but listed. */
enum hash_way { HASH_TOGETHER, HASH_ALONE, HASH_LISTING };
