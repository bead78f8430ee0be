/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a HAMT, an ordered radix trie over ordered forms of keys (shared/key.h).
 *
 *     tables   | cells: 2^c words | ranks: 2^r words |            direct tables, at the top
 *     leaves   | first before place sectors | ... | the end |     a record for each leaf, in key order
 *     pool     | keys, values | keys, values | ...                blocks of leaves, in any order, in units of 16 bytes
 *
 * A leaf covers a region of the universe that begins at a multiple of 1024. It has 1 to 64 elements, or more if all lie
 * within 1024 successive keys. A leaf stores its keys in one of three forms:
 *
 *     bitmap        1024 bits, if it has more than 64 elements
 *     short keys    sorted distances from the leaf's first key, 16 bits each, if all are less than 65536
 *     whole keys    sorted ordered forms
 *
 * The values follow the keys, in the same order. A build divides only regions that have more than 64 elements, and only
 * at bits where keys differ (path compression).
 *
 * The high bits of (key - first key of leaf 0) select a cell. cells[c] is the number of leaves that begin in cells 0 to
 * c. So cells[c - 1] and cells[c] bound the leaves that begin in cell c: about one if keys are spread evenly. A binary
 * search finds the leaf among them. `ranks` is such a table over ranks, to find the leaf of a rank.
 *
 * HAMT_FIXED_DEPTH 1 builds the paper's trie. All its leaves are bitmaps. Above them, each level of nodes consumes 6
 * bits of the key, the topmost level the remaining bits. HAMT_HEADER words replace the cells, and nodes follow the
 * ranks:
 *
 *     tables   | header | ranks: 2^r words | nodes of the topmost level | ... | nodes above leaves |
 *
 * header[level] is the number of the level's first node. Level 0 is just above the leaves. A node has 64 words, one for
 * each value of its 6 bits. Word w counts all children of the level, nodes or leaves, up to and including the child for
 * w. If it is one more than the word before, in this node or the previous node, there is a child for w. Else the count
 * less 1 is the last child before w.
 *
 * Invariants (host/dict/trie/hamt_check.c):
 *   T1 order     first keys of leaves are multiples of 1024 and ascend.
 *   T2 region    a leaf has an element. Its keys ascend, are at least its first key, and less than the next leaf's. A
 *                bitmap has more than 64 elements, and `sectors` counts its keys below 256, 512 and 768.
 *   T3 ranks     `before` is the number of elements in earlier leaves. The end has the number of all elements.
 *   T4 blocks    blocks lie in the used part of the pool and do not overlap.
 *   T5 tables    cells, ranks, header and nodes are as above.
 *
 * A batch that only replaces values writes them in place. Any other batch writes the blocks of touched leaves to free
 * units, and new records and tables. */
#pragma once
#include "shared/types.h"

#ifndef HAMT_FIXED_DEPTH
#define HAMT_FIXED_DEPTH 0
#endif
#define HAMT_LEAF      (HAMT_FIXED_DEPTH ? 0 : 64) /* with more elements, a leaf is a bitmap */
#define HAMT_BITS      10
#define HAMT_WORDS     ((1 << HAMT_BITS) / 32)
#define HAMT_SECTOR    256        /* keys per 32-byte sector of a bitmap */
#define HAMT_UNIT      16         /* bytes */
#define HAMT_UNITS_MAX (1u << 31) /* per pool: `place` has 31 bits for a unit */

#define HAMT_RECORD(key_bytes) ((key_bytes) == 4 ? 16 : 24)

/* For a fixed depth. HAMT_HEADER is the words of the header, HAMT_NODE the words of a node. */
#define HAMT_LEVEL_BITS       6
#define HAMT_LEVELS(key_bits) (((key_bits) -HAMT_BITS + HAMT_LEVEL_BITS - 1) / HAMT_LEVEL_BITS)
#define HAMT_HEADER_BITS      4
#define HAMT_HEADER           (1u << HAMT_HEADER_BITS)
#define HAMT_NODE             (1u << HAMT_LEVEL_BITS)

#define HAMT_RANKS_AT(cell_bits)            (1u << (cell_bits))
#define HAMT_NODES_AT(cell_bits, rank_bits) ((1u << (cell_bits)) + (1u << (rank_bits)))

/* The lowest bit of `place` is 1 if the leaf has whole keys. The higher bits are the block's first unit. */
#define HAMT_WIDE 1u

/* The most updates of one leaf that hamt_merge.cl takes. One work-item merges them. */
#define HAMT_UPDATES_MAX 1024

#define HAMT_SHARE(cpu) ((cpu) ? 64 : 4)

/* Work-items that write one leaf's block together. 2^20 updates of all leaves of 2^24 elements on an H200: with 8,
 * 16 and 32 of them 309, 298 and 349 us for pairs; with 4, 8 and 16 of them 151, 156 and 194 us for keys alone. */
#define HAMT_LANES(cpu, value_bytes) ((cpu) ? 1 : (value_bytes) ? 16 : 8)

/* Results of hamt_plan. LARGEST: the most updates of a leaf, if above HAMT_UPDATES_MAX, else 0. LEFT: units of blocks
 * that become unused. CHANGES: 1 if an element is added or removed. MORE: elements added less elements removed. */
enum hamt_found { HAMT_LARGEST, HAMT_LEFT, HAMT_CHANGES, HAMT_MORE, HAMT_FOUND_WORDS };

/* The end of a plan. After the scan the upper half of `follow` is the next trie's number of leaves, and the lower half
 * the units of its new blocks. */
typedef struct {
    ordo_u64 follow;
    ordo_u32 found[HAMT_FOUND_WORDS];
} hamt_plan_end;

/* Results of hamt_sums: the number of touched leaves, of their elements, and of their units. */
enum hamt_sum { HAMT_TOUCHED, HAMT_ELEMENTS, HAMT_FREED, HAMT_SUM_WORDS };

/* Results of a check: for each invariant the least leaf or cell that breaks it, or all ones; then the used units. */
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
