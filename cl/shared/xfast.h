/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of an X-fast trie. The leaves are a sorted run of distinct keys, so the leaves that have a
 * prefix are a range, first to end - 1. Lengths count bits of the keys' ordered form.
 *
 *     leaves    k0 k1 k2 ...                          a sorted run (host/dict/sorted_run.h)
 *     flat      f0 f1 ... f(2^flat_bits) = count      prefix p of flat_bits bits has the leaves f(p) to f(p + 1) - 1; a
 *                                                     shorter prefix has the leaves of several entries
 *     table     prefix -> first, end                  a hash table (shared/hash_table.h) of prefixes of
 *                                                     flat_bits + group, flat_bits + 2 group, ... bits
 *
 * The table stores a prefix as a word: the prefix's bits on top, then a 1, then zeros. So words of different lengths
 * differ. Only prefixes with more than XFAST_LEAF leaves have an entry, so a search ends with a binary search of a few
 * keys in one or two sectors. If a prefix has an entry, so have its own prefixes of the table's lengths. So a binary
 * search over lengths finds the longest prefix of a key. This is D. E. Willard's y-fast trie (IPL 17, 1983) with groups
 * of leaves chosen by their prefixes.
 *
 * Invariants (host/dict/trie/xfast_check.c):
 *   X1 flat      flat[p] is the number of keys less than p << (width - flat_bits) for p < 2^flat_bits; the last is
 *                count.
 *   X2 entries   each prefix of a table length with more than XFAST_LEAF leaves has an entry with its first leaf and
 *                end.
 *   X3 only      the table has no other entry.
 *   X4 masks     key i also encodes a prefix (xfast_prefix.cl). If masks exist, bit l of masks[i] is 1 exactly if this
 *                prefix has at least l bits, and its first l bits are a prefix that is a key, too. */
#pragma once
#include "shared/types.h"

/* Maximum leaves of a prefix without an entry. */
#define XFAST_LEAF 16

/* Limits flat_bits, and the mean number of leaves per entry of flat. The last macro is the number of entries. */
#define XFAST_FLAT_BITS_MAX      26
#define XFAST_FLAT_MEAN_MAX      8
#define XFAST_FLAT_ENTRIES(bits) ((1u << (bits)) + 1)

#define XFAST_MASKS_SHARE 32

/* An entry of the table has the end in its upper half, the first leaf in its lower half. */
#define XFAST_ENTRY_BYTES 8

typedef struct {
    ordo_u32 count;     /* leaves */
    ordo_u32 flat_bits; /* 1 to XFAST_FLAT_BITS_MAX */
    ordo_u32 group;     /* level l of the table has prefixes of flat_bits + l * group bits */
    ordo_u32 levels;
} xfast_shape;

ORDO_STATIC_ASSERT(sizeof(xfast_shape) == 16, "both compilers give a shape the same layout");

/* Results of a check: for each invariant the first leaf or entry that breaks it, or all ones; then the number of
 * entries that the table must have. */
#define XFAST_FINDINGS(X)                                                                                              \
    X(FLAT, "X1: entry %u of flat is wrong")                                                                           \
    X(ENTRY, "X2: the entry of a prefix that begins with leaf %u is wrong or missing")                                 \
    X(MASK, "X4: the mask of leaf %u is wrong")
enum xfast_finding {
#define X(id, text) XFAST_WRONG_##id,
    XFAST_FINDINGS(X)
#undef X
        XFAST_ENTRIES,
    XFAST_FINDING_WORDS
};
