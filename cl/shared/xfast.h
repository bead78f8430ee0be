/* SPDX-License-Identifier: Apache-2.0 */
/* How an X-fast trie lies in memory.
 *
 * The leaves are a sorted run of distinct keys, so a prefix is a range of places: first .. end - 1, which says its least leaf, its
 * greatest, and how many there are. Lengths are counted in bits of the keys' ordered form.
 *
 *     leaves    | k0 k1 k2 ...                              |    a sorted run (host/dict/sorted_run.h)
 *     flat      | f0 f1 ... f(2^flat_bits) = count          |    prefix p of flat_bits bits has the leaves f(p) .. f(p + 1) - 1, and
 *                                                                every shorter prefix those of the entries below it
 *     table     | prefix -> first, end |                         one hash table (shared/hash_table.h) for all longer prefixes:
 *                                                                of flat_bits + group, flat_bits + 2 group, ... bits
 *
 * In the table a prefix is the word that has its bits on top, then a 1, then zeros: of whatever lengths, no two are the same word.
 * Only prefixes with more than XFAST_LEAF leaves are in it, and flat_bits is such that of uniform keys hardly any has so many: what
 * is left of a search is then a binary search of a few keys that lie in one or two sectors. A prefix that is in the table has
 * all its own prefixes of the table's lengths in it, so the longest one of a key is found by a binary search over lengths.
 * This is D. E. Willard's y-fast trie (IPL 17, 1983), with the groups of leaves chosen by their prefixes.
 *
 * Invariants (host/dict/trie/xfast_check.c):
 *   X1 flat      flat[p] is the number of keys less than p << (width - flat_bits), for p from 0 to 2^flat_bits; the last is all.
 *   X2 entries   each prefix of a length of the table's that has more than XFAST_LEAF leaves is in it, with its first leaf and its
 *                end.
 *   X3 only      there is nothing else in the table.
 *   X4 masks     where there are masks (xfast_prefix.c): bit l of masks[i] is 1 just if key i as a prefix has l bits or more, and
 *                its own prefix of l bits is a key.
 */
#pragma once
#include "shared/types.h"

/* Leaves that need no entry. */
#define XFAST_LEAF 16

/* The most bits of flat, how many leaves an entry of it has in the mean at most, and its entries. */
#define XFAST_FLAT_BITS_MAX      26
#define XFAST_FLAT_MEAN_MAX      8
#define XFAST_FLAT_ENTRIES(bits) ((1u << (bits)) + 1)

/* Keys whose masks one work-item makes. */
#define XFAST_MASKS_SHARE 32

/* Of a table's entry: the end above the first. */
#define XFAST_ENTRY_BYTES 8

typedef struct {
    ordo_u32 count;     /* leaves */
    ordo_u32 flat_bits; /* 1 .. XFAST_FLAT_BITS_MAX */
    ordo_u32 group;     /* lengths from one level of the table to the next */
    ordo_u32 levels;    /* of the table */
} xfast_shape;

ORDO_STATIC_ASSERT(sizeof(xfast_shape) == 16, "both compilers lay a shape out alike");

/* Findings of a check, each a word: the first place that breaks an invariant, or all ones. Behind them, the entries that
 * the leaves make are counted. */
#define XFAST_FINDINGS(X)                                                                                              \
    X(FLAT, "X1: entry %u of flat is wrong")                                                                           \
    X(ENTRY, "X2: the entry of a prefix that begins with leaf %u is wrong or not there")                               \
    X(MASK, "X4: the mask of leaf %u is wrong")
enum xfast_finding {
#define X(id, text) XFAST_WRONG_##id,
    XFAST_FINDINGS(X)
#undef X
        XFAST_ENTRIES,
    XFAST_FINDING_WORDS
};
