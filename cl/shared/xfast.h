/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of an X-fast trie: a sorted array of distinct keys (the leaves), and an index for a binary search over
 * prefix lengths. */

/* A prefix is the high bits of a key's ordered form (shared/key.h). Leaves with the same prefix are neighbours:
 *
 *     leaves    k0 k1 k2 ...                       a sorted run (host/dict/sorted_run.h)
 *     flat      f0 f1 ... f(2^flat_bits)           leaves f(p) to f(p + 1) - 1 have prefix p of flat_bits bits
 *     table     prefix -> first, end               a hash table (shared/hash_table.h) of longer prefixes
 *
 * The hash table has prefixes of L + i * g bits, with i from 1 to `levels`. L is `flat_bits`, and g is `group` (see
 * xfast_shape). A key of the hash table is a prefix, then a 1 bit, then 0 bits. */

/* Optional level tables replace the hash table. There is one table for each prefix length (level), with all prefixes of
 * this length. With level tables, flat_bits is 1. The tables use linear probing, and are at least half empty. */

/* Invariants, which host/dict/trie/xfast_check.c checks:
 *  X1 flat      flat[p] is the number of keys whose first flat_bits bits are less than p. The last entry is the
 *               number of keys.
 *  X2 entries   Take a prefix of flat_bits + i * g bits, where g is `group`, and i is 1 to `levels`. If more than
 *               XFAST_LEAF leaves begin with it, the table has an entry for it.
 *  X3 only      The table has no other entry.
 *  X4 masks     If there are masks, each key encodes a prefix (xfast_prefix.cl). Bit l of masks[i] is 1 exactly if some
 *               key encodes the first l bits of key i. */
#pragma once
#include "shared/types.h"

#define XFAST_LEAF 16

/* Number of slots of all level tables, which lie one after another. Let b be the length of the prefixes of a level.
 * If it is one of the first `small` levels, its table has slots 2^(b + 1) to 2^(b + 2) - 1. These tables lie in the
 * first 4 * count slots. Each later level has 2 * count slots. */
#define XFAST_SLOTS(shape)                                                                                             \
    (4 * (ordo_u64) (shape).count + 2 * (ordo_u64) (shape).count * ((shape).levels - (shape).small))

/* Entries of `flat` have at most XFAST_FLAT_MEAN_MAX leaves on average, unless flat_bits is XFAST_FLAT_BITS_MAX. */
#define XFAST_FLAT_BITS_MAX      26
#define XFAST_FLAT_MEAN_MAX      8
#define XFAST_FLAT_ENTRIES(bits) ((1u << (bits)) + 1)

#define XFAST_MASKS_SHARE 32

/* An entry of the hash table has the index of the first leaf in its lower half, the index after the last leaf in its
 * upper half. */
#define XFAST_ENTRY_BYTES 8

typedef struct {
    ordo_u32 count;
    ordo_u32 flat_bits;
    ordo_u32 group;
    ordo_u32 levels;
    ordo_u32 small; /* Number of levels with 2^b < count, where b is the prefix length. 0 without level tables. */
} xfast_shape;

ORDO_STATIC_ASSERT(sizeof(xfast_shape) == 20, "both compilers give a shape the same layout");

/* Bytes of a slot of a level table: the prefix, the index of its first leaf, and the index after its last leaf. */
#define XFAST_SLOT_BYTES(key_bytes) ((key_bytes) + 8)

/* Results of the check of an X-fast trie. XFAST_WRONG_... is the first wrong leaf or entry, or 0xffffffff. */
#define XFAST_FINDINGS(X)                                                                                              \
    X(FLAT, "X1: entry %u of flat is wrong")                                                                           \
    X(ENTRY, "X2: the entry of a prefix that begins with leaf %u is wrong or missing")                                 \
    X(MASK, "X4: the mask of leaf %u is wrong")
enum xfast_finding {
#define X(id, text) XFAST_WRONG_##id,
    XFAST_FINDINGS(X)
#undef X
        XFAST_ENTRIES,
    XFAST_USED,
    XFAST_FINDING_WORDS
};
