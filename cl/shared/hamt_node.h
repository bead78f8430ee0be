/* SPDX-License-Identifier: Apache-2.0 */
/* The memory layout of a HAMT, an ordered radix trie over ordered forms of keys (shared/key.h).
 *
 *     tables   | cells: 2^c words | ranks: 2^r words |            direct tables, at the top
 *     leaves   | first before place sectors | ... | the end |     a record for each leaf, in key order
 *     pool     | keys, values | keys, values | ...                blocks of leaves, in any order, in units of 16 bytes
 *
 * A leaf is a region of the universe that begins on a multiple of 1024. It has 1 to 64 elements, or more if they are
 * within 1024 successive keys. Its keys have one of three forms:
 *
 *     a bitmap      of its 1024 keys, if it has more than 64 elements: 128 bytes
 *     short keys    sorted distances from the leaf's first key, 16 bits each, if all are less than 65536
 *     whole keys    sorted ordered forms
 *
 * Values follow the keys, in their order. A build divides a region that has more than 64 elements, and only where keys
 * differ (path compression).
 *
 * The high bits of (key - first key of the first leaf) select a cell. cells[c] is the number of leaves that begin in
 * cells 0 to c, so two successive words bound the leaves of the key's cell: about one if keys are spread evenly. A
 * binary search finds the leaf among several. `ranks` does so for the number of elements before each leaf.
 *
 * HAMT_FIXED_DEPTH is the trie of the paper. All leaves are bitmaps. For each 6 bits above a leaf's bits there is a
 * level of nodes with 64 places; the topmost node has the remaining bits. HAMT_HEADER words replace the cells, and
 * nodes follow the ranks:
 *
 *     tables   | header | ranks: 2^r words | nodes of the topmost level | ... | nodes above leaves |
 *
 * header[level] is the number of the level's first node. Level 0 is above the leaves. A node's word counts the nodes of
 * the level below (or leaves), over the whole level, up to and including its place. If it is one more than the word
 * before, in this node or the one before, the place has a child. Otherwise it leads to the last child before the place.
 *
 * Invariants (host/dict/trie/hamt_check.c):
 *   T1 order     first keys of leaves are multiples of 1024 and ascend.
 *   T2 region    a leaf has an element. Its keys ascend from its first key and are below the next leaf's. A bitmap has
 *                more than 64 elements, and `sectors` counts its keys below 256, 512 and 768.
 *   T3 ranks     `before` is the number of elements in earlier leaves; in the end, of all elements.
 *   T4 blocks    blocks lie in the used part of the pool and do not overlap.
 *   T5 tables    cells[c] and ranks[c] count the leaves that begin in cells up to c; header and nodes are as above.
 *
 * An update that only replaces values writes them in place. Any other writes blocks of touched leaves to free units,
 * and new records and tables. */
#pragma once
#include "shared/types.h"

#ifndef HAMT_FIXED_DEPTH
#define HAMT_FIXED_DEPTH 0
#endif
#define HAMT_LEAF      (HAMT_FIXED_DEPTH ? 0 : 64) /* maximum elements of a leaf without bitmap */
#define HAMT_BITS      10                          /* log2 of a bitmap's keys */
#define HAMT_WORDS     ((1 << HAMT_BITS) / 32)
#define HAMT_SECTOR    256        /* keys in a bitmap's sector of 32 bytes */
#define HAMT_UNIT      16         /* bytes */
#define HAMT_UNITS_MAX (1u << 31) /* of a pool: `place` has the unit above HAMT_WIDE */

/* Bytes of a record. */
#define HAMT_RECORD(key_bytes) ((key_bytes) == 4 ? 16 : 24)

/* Fixed depth: bits of a level; levels; words of the header, a power of two; words of a node. */
#define HAMT_LEVEL_BITS       6
#define HAMT_LEVELS(key_bits) (((key_bits) -HAMT_BITS + HAMT_LEVEL_BITS - 1) / HAMT_LEVEL_BITS)
#define HAMT_HEADER_BITS      4
#define HAMT_HEADER           (1u << HAMT_HEADER_BITS)
#define HAMT_NODE             (1u << HAMT_LEVEL_BITS)

/* Words of `tables` before the ranks, and before the nodes. */
#define HAMT_RANKS_AT(cell_bits)            (1u << (cell_bits))
#define HAMT_NODES_AT(cell_bits, rank_bits) ((1u << (cell_bits)) + (1u << (rank_bits)))

/* Lowest bit of `place`: the leaf has whole keys. The bits above it are the block's first unit. */
#define HAMT_WIDE 1u

/* Updates of one leaf that a work-item merges alone (hamt_merge.cl). */
#define HAMT_UPDATES_MAX 1024

/* Successive elements that a work-item of hamt_write writes. */
#define HAMT_SHARE(cpu) ((cpu) ? 64 : 4)

/* Work-items that write one leaf's block together. On an H200, 2^20 updates of all leaves of 2^24 elements took with 8,
 * 16 and 32: 309, 298 and 349 us for pairs, 218, 168 and 158 us for clustered pairs; with 4, 8 and 16: 151, 156 and 194
 * us for keys alone. */
#define HAMT_LANES(cpu, value_bytes) ((cpu) ? 1 : (value_bytes) ? 16 : 8)

/* Results of hamt_plan: the most updates of a leaf, if more than HAMT_UPDATES_MAX; units of unused blocks; whether an
 * element is added or removed; elements added less elements removed. */
enum hamt_found { HAMT_LARGEST, HAMT_LEFT, HAMT_CHANGES, HAMT_MORE, HAMT_FOUND_WORDS };

/* The end of a plan. Once scanned, `follow` has the next trie's leaves above, and the units of its new blocks below. */
typedef struct {
    ordo_u64 follow;
    ordo_u32 found[HAMT_FOUND_WORDS];
} hamt_plan_end;

/* Words of hamt_sums. */
enum hamt_sum { HAMT_TOUCHED, HAMT_ELEMENTS, HAMT_FREED, HAMT_SUM_WORDS };

/* Results of a check: the least leaf (cell, in T5) that breaks an invariant, or all ones; then the used units. */
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
