/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of an X-fast trie: a sorted array of distinct keys (the leaves), and an index that finds a
 * key by a binary search over prefix lengths. */

/* A prefix is the high bits of a key's ordered form (shared/key.h). Leaves with the same prefix are neighbours:
 *
 *     leaves    k0 k1 k2 ...                       a sorted run (host/dict/sorted_run.h)
 *     flat      f0 f1 ... f(2^flat_bits)           leaves f(p) to f(p + 1) - 1 have prefix p of flat_bits bits
 *     table     prefix -> first, end               a hash table (shared/hash_table.h) of longer prefixes, of
 *                                                  flat_bits + group, flat_bits + 2 group, ... bits. `group` is set
 *                                                  when the trie is created
 *
 * In the hash table, a prefix is a key: the prefix in its upper bits, then a 1 bit, then 0 bits. If a prefix has at
 * most XFAST_LEAF leaves, a search compares these leaves, as in D. E. Willard's y-fast trie (IPL 17, 1983). */

/* With level tables, the trie is an X-fast trie in the strict sense. Instead of one table, each level has its own, with
 * the prefixes of one length, also of one leaf. flat_bits is 1:
 *
 *     slots     level 1 | level 2 | ...               linear probing, each level at least half empty (XFAST_SLOTS) */

/* Invariants, which host/dict/trie/xfast_check.c checks:
 *  X1 flat      flat[p] is the number of keys less than p << (width - flat_bits). The last entry is the number of keys.
 *  X2 entries   A prefix of more than XFAST_LEAF leaves has an entry in the hash table, if a level of the table is for
 *               prefixes of this length. The entry is the index of the prefix's first leaf, and the index after its
 *               last leaf.
 *  X3 only      The table has no other entry.
 *  X4 masks     In a trie with masks, a key stands for a prefix, for example a network route (xfast_prefix.cl). Bit l
 *               of masks[i] is 1 exactly if the first l bits of key i's prefix are also stored as a key. */
#pragma once
#include "shared/types.h"

/* If at most this many leaves (keys) begin with a prefix, the prefix has no entry in the hash table. With level tables
 * this is 0. */
#define XFAST_LEAF 16

/* With level tables, a level has 2 * min(count, number of prefixes of its length) slots. The first `small`
 * levels have fewer prefixes than leaves: the slots of a level of 2^b prefixes begin at slot 2 * 2^b. The slots of the
 * other levels follow from slot 4 * count on. */
#define XFAST_SLOTS(shape)                                                                                             \
    (4 * (ordo_u64) (shape).count + 2 * (ordo_u64) (shape).count * ((shape).levels - (shape).small))

/* flat_bits is as small as possible: an entry of the table `flat` has at most XFAST_FLAT_MEAN_MAX leaves on average.
 * But flat_bits is never greater than XFAST_FLAT_BITS_MAX. */
#define XFAST_FLAT_BITS_MAX      26
#define XFAST_FLAT_MEAN_MAX      8
#define XFAST_FLAT_ENTRIES(bits) ((1u << (bits)) + 1)

#define XFAST_MASKS_SHARE 32

/* Size in bytes of an entry of the hash table. Its lower half is the index of the prefix's first leaf, its upper half
 * the index after the last leaf. */
#define XFAST_ENTRY_BYTES 8

typedef struct {
    ordo_u32 count;     /* number of leaves */
    ordo_u32 flat_bits; /* from 1 to XFAST_FLAT_BITS_MAX */
    ordo_u32 group;     /* level l of the hash table has the prefixes of flat_bits + l * group bits */
    ordo_u32 levels;
    ordo_u32 small; /* with level tables: number of levels with fewer prefixes than leaves, else 0 */
} xfast_shape;

ORDO_STATIC_ASSERT(sizeof(xfast_shape) == 20, "both compilers give a shape the same layout");

/* Size in bytes of a slot of a level table: a hash table's key, the first leaf, and the end of the leaves. */
#define XFAST_SLOT_BYTES(key_bytes) ((key_bytes) + 8)

/* Results of the check of a trie: for each message, the first leaf or entry that violates the invariant, or 0xffffffff.
 * Word XFAST_ENTRIES is the number of entries that the hash tables must have. */
#define XFAST_FINDINGS(X)                                                                                              \
    X(FLAT, "X1: entry %u of flat is wrong")                                                                           \
    X(ENTRY, "X2: the entry of a prefix that begins with leaf %u is wrong or missing")                                 \
    X(MASK, "X4: the mask of leaf %u is wrong")
enum xfast_finding {
#define X(id, text) XFAST_WRONG_##id,
    XFAST_FINDINGS(X)
#undef X
        XFAST_ENTRIES,
    XFAST_USED, /* with level tables: number of used slots */
    XFAST_FINDING_WORDS
};
