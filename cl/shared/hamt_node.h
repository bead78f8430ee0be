/* SPDX-License-Identifier: Apache-2.0 */
/* How a HAMT lies in memory: an ordered radix trie over the ordered forms of keys (shared/key.h), of which all but the
 * levels that tell something are left out.
 *
 *     tables   | cells: 2^c words | ranks: 2^r words |            direct tables, at the top
 *     leaves   | first before place sectors | ... | the end |     a record for each leaf, in key order
 *     pool     | keys, values | keys, values | ...                blocks of leaves, in any order, in units of 16 bytes
 *
 * A leaf is a region of the universe that begins on a multiple of 1024 and has elements, at most 64 or within 1024
 * successive keys. The keys of a leaf are, whichever is there:
 *
 *     a bitmap      of its 1024 keys, if it has more than 64 elements: 128 bytes
 *     short keys    sorted distances from the leaf's first key, 16 bits each, if all are less than 65536
 *     whole keys    sorted, as ordered forms
 *
 * and the values lie behind them, in key order, so that the position of a key, of bits the number of those before it, is that
 * of its value. A build makes of each region just as many leaves as that takes: a region is divided while it has more than
 * 64 elements, and only where keys differ (path compression: levels that tell nothing take no memory and no step).
 *
 * From a key to its leaf: the bits of (key - first key of the first leaf) above some number name a cell. cells[c] is the
 * number of leaves that begin in cells 0 to c, so two successive words have the leaves that begin in the key's, about one where
 * keys are spread evenly; among more of them it takes a binary search. Ranks go the same way, by the number of elements before
 * each leaf.
 *
 * Of fixed depth (HAMT_FIXED_DEPTH) is the trie of the paper: all leaves are bitmaps, and the way from a key to its leaf goes through a node of
 * 64 places for each 6 bits above a leaf's, the topmost of which has what bits are left. In the place of cells there are HAMT_HEADER
 * words, and behind the ranks the nodes:
 *
 *     tables   | header | ranks: 2^r words | nodes of the topmost level | ... | nodes above leaves |
 *
 * header[level] is the number of the level's first node, levels from the leaves up. A node's word at a place is the number of nodes of
 * the level below (above leaves: of leaves), of all of them in order, up to and with the one at this place. Where that is one more
 * than the word before it, which may be another node's, there is one; else there is none, and the one before is the last that is less.
 *
 * Invariants (host/dict/trie/hamt_check.c looks for each by its name):
 *   T1 order     first keys of leaves are multiples of 1024 and ascend.
 *   T2 region    a leaf has an element. Its keys ascend, are not less than its first key, and less than the next leaf's. A bitmap
 *                has more than 64 elements, and `sectors` tells how many are below 256, 512 and 768; other leaves have at
 *                most 64.
 *   T3 ranks     `before` is the number of elements in the leaves before it; of the end, all.
 *   T4 blocks    blocks lie in the part of the pool that is taken, and no two overlap.
 *   T5 tables    cells[c], ranks[c] are the number of leaves that begin in cells, and at ranks, of c and less; header and
 *                nodes are as said above.
 *
 * Nothing in use is written again but values, by an update that changes nothing else: any other writes blocks for the leaves that it
 * touches to free units, a new record for each leaf and new tables; the host then goes by these. */
#pragma once
#include "shared/types.h"

#ifndef HAMT_FIXED_DEPTH
#define HAMT_FIXED_DEPTH 0 /* 1: a trie of fixed depth */
#endif
#define HAMT_LEAF              (HAMT_FIXED_DEPTH ? 0 : 64) /* elements of a leaf that is no bitmap */
#define HAMT_BITS              10                          /* of a bitmap's keys */
#define HAMT_WORDS             ((1 << HAMT_BITS) / 32)
#define HAMT_SECTOR            256                          /* keys of a bitmap that one sector of 32 bytes has */
#define HAMT_UNIT              16                           /* bytes */
#define HAMT_UNITS_MAX         (1u << 31)                   /* units of a pool: `place` has them above HAMT_WIDE */
#define HAMT_RECORD(key_bytes) ((key_bytes) == 4 ? 16 : 24) /* bytes of a leaf's record */

/* Of fixed depth: bits of a level; levels of nodes for keys of so many bits; words of the header, a power of two. */
#define HAMT_LEVEL_BITS       6
#define HAMT_LEVELS(key_bits) (((key_bits) -HAMT_BITS + HAMT_LEVEL_BITS - 1) / HAMT_LEVEL_BITS)
#define HAMT_HEADER_BITS      4
#define HAMT_HEADER           (1u << HAMT_HEADER_BITS)
#define HAMT_NODE             (1u << HAMT_LEVEL_BITS) /* words */

/* Words of `tables` before the ranks, and before the nodes. */
#define HAMT_RANKS_AT(cell_bits)            (1u << (cell_bits))
#define HAMT_NODES_AT(cell_bits, rank_bits) ((1u << (cell_bits)) + (1u << (rank_bits)))

/* In the lowest bit of `place`, the unit where the block begins being above it: keys are whole. */
#define HAMT_WIDE 1u

/* Updates of one leaf that a work-item merges alone (hamt_merge.cl). */
#define HAMT_UPDATES_MAX 1024

/* Elements that a work-item of hamt_write writes one after another. */
#define HAMT_SHARE(cpu) ((cpu) ? 64 : 4)

/* Work-items that write a leaf's blocks together. On an H200, of 2^20 updates of leaves that have 2^24 elements, each of which is
 * touched: pairs by 8, 16 and 32: 309, 298 and 349 us, where keys are clustered 218, 168 and 158; keys alone by 4, 8 and 16: 151, 156
 * and 194. */
#define HAMT_LANES(cpu, value_bytes) ((cpu) ? 1 : (value_bytes) ? 16 : 8)

/* Words of what is found of a batch's leaves (hamt_plan): updates of the leaf that has most, if these are more than HAMT_UPDATES_MAX; units of
 * blocks that are no longer needed; whether an element is added or taken away; how many more elements there are. */
enum hamt_found { HAMT_LARGEST, HAMT_LEFT, HAMT_CHANGES, HAMT_MORE, HAMT_FOUND_WORDS };

/* The last word of a scanned plan, and what is found. */
typedef struct {
    ordo_u64 follow; /* above, the leaves of the new trie; below, the units of their new blocks */
    ordo_u32 found[HAMT_FOUND_WORDS];
} hamt_plan_end;

/* Words of what an update finds (hamt_sums). */
enum hamt_sum { HAMT_TOUCHED, HAMT_ELEMENTS, HAMT_FREED, HAMT_SUM_WORDS };

/* Findings of a check, each a word: the least leaf (T5: cell) that breaks an invariant, or all ones. Behind them, the units
 * in use are counted. */
#define HAMT_FINDINGS(X)                                                                                               \
    X(ORDER, "T1: leaf %u does not begin where it should")                                                             \
    X(REGION, "T2: the keys of leaf %u are not in order, in its region, or counted right")                             \
    X(RANKS, "T3: the elements before leaf %u are not counted right")                                                  \
    X(BLOCK, "T4: the block of leaf %u is outside of the pool, or shared")                                             \
    X(CELLS, "T5: cell %u of the table of keys is wrong")                                                              \
    X(CELLS_OF_RANKS, "T5: cell %u of the table of ranks is wrong")                                                    \
    X(NODES, "T5: the nodes above leaf %u are wrong")
enum hamt_finding {
#define X(id, text) HAMT_WRONG_##id,
    HAMT_FINDINGS(X)
#undef X
        HAMT_UNITS_IN_USE,
    HAMT_FINDING_WORDS
};
