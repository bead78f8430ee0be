/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a HAMT, an ordered radix trie. Keys are in ordered form: unsigned words that sort like
 * the keys (shared/key.h). */

/* The memory of a HAMT has three parts:
 *
 *     tables   | cells: 2^c words | ranks: 2^r words |            direct tables, which find a leaf
 *     leaves   | first, before, place, sectors | ... | the end |  one record per leaf, in key order, then an end record
 *     pool     | keys, values | keys, values | ...                one block per leaf, in any order
 *
 * A leaf has the keys of an interval that begins at a multiple of 1024: up to 64 keys, or more if all lie within 1024
 * successive integers. Its block stores the sorted keys in one of three forms, then the values:
 *
 *     bitmap        1024 bits, if the leaf has more than 64 keys
 *     short keys    16-bit distances from the leaf's first key, if all are less than 65536
 *     whole keys    the ordered forms */

/* The table `cells` finds the leaf of a key. The high bits of (key - first key of leaf 0) are the index c of a cell, an
 * interval of keys. cells[c] is the number of leaves that begin in cells 0 to c. A binary search from cells[c - 1] to
 * cells[c] finds the leaf. In the same way, the table `ranks` finds the leaf of the element with a given rank. */

/* If HAMT_FIXED_DEPTH is 1, the trie is as in the paper that share/doc/hamt.md names: all leaves are bitmaps, below
 * levels of nodes. A node selects a child by 6 bits of the key. The tables are then:
 *
 *     tables   | header | ranks: 2^r words | nodes of the topmost level | ... | nodes above leaves |
 *
 * header[level] is the index of the level's first node. Level 0 lies above the leaves. A node has 64 words. Word w is
 * for the child whose 6 key bits are w. It counts the children from the level's first node up to this child. Without
 * this child it equals the previous word. */

/* Invariants of a HAMT, which host/dict/trie/hamt_check.c checks. Each leaf has a record (first, before, place,
 * sectors) and a block:
 *  T1 order     The first keys of leaves are multiples of 1024 and ascend.
 *  T2 region    A leaf has at least one element. Its keys ascend. No key is less than the leaf's `first`, and all keys
 *               are less than the next leaf's `first`. A leaf whose block is a bitmap has more than 64 elements. Its
 *               `sectors` counts the elements below bit 256, bit 512 and bit 768.
 *  T3 ranks     `before` is the number of elements in earlier leaves. In the end record, after the last leaf's, it
 *               counts all elements.
 *  T4 blocks    Blocks lie in the used part of the pool and do not overlap.
 *  T5 tables    Cells, ranks, header and nodes are as described above. */
#pragma once
#include "shared/types.h"

#ifndef HAMT_FIXED_DEPTH
#define HAMT_FIXED_DEPTH 0
#endif
#define HAMT_LEAF                                                                                                      \
    (HAMT_FIXED_DEPTH ? 0 : 64) /* A leaf with more elements is a bitmap. With a fixed depth, each leaf is one. */
#define HAMT_BITS      10
#define HAMT_WORDS     ((1 << HAMT_BITS) / 32)
#define HAMT_SECTOR    256        /* Number of keys in a 32-byte sector of a bitmap. */
#define HAMT_UNIT      16         /* Size of an allocation unit of the pool, in bytes. */
#define HAMT_UNITS_MAX (1u << 31) /* Maximum number of allocation units in a pool. */

#define HAMT_RECORD(key_bytes) ((key_bytes) == 4 ? 16 : 24)

/* HAMT_HEADER and HAMT_NODE are the sizes of the header and of a node, in words, if HAMT_FIXED_DEPTH is 1. */
#define HAMT_LEVEL_BITS       6
#define HAMT_LEVELS(key_bits) (((key_bits) -HAMT_BITS + HAMT_LEVEL_BITS - 1) / HAMT_LEVEL_BITS)
#define HAMT_HEADER_BITS      4
#define HAMT_HEADER           (1u << HAMT_HEADER_BITS)
#define HAMT_NODE             (1u << HAMT_LEVEL_BITS)

#define HAMT_RANKS_AT(cell_bits)            (1u << (cell_bits))
#define HAMT_NODES_AT(cell_bits, rank_bits) ((1u << (cell_bits)) + (1u << (rank_bits)))

/* Flag in the word `place` of a leaf's record: the leaf's block stores whole keys. The other bits are the index of the
 * block's first allocation unit. */
#define HAMT_WIDE 1u

/* Maximum number of updates of one leaf that hamt_merge.cl accepts. */
#define HAMT_UPDATES_MAX 1024

#define HAMT_SHARE(cpu) ((cpu) ? 64 : 4)

/* Number of work-items that write one leaf's block. On an H200, 16 are fastest for pairs, 8 for keys without values. */
#define HAMT_LANES(cpu, value_bytes) ((cpu) ? 1 : (value_bytes) ? 16 : 8)

/* Results of kernel hamt_plan. */
enum hamt_found {
    HAMT_LARGEST, /* largest number of updates of one leaf, or 0 if at most HAMT_UPDATES_MAX */
    HAMT_LEFT,    /* number of allocation units that become unused */
    HAMT_CHANGES, /* 1 if the batch inserts or erases an element */
    HAMT_MORE,    /* number of inserted minus erased elements */
    HAMT_FOUND_WORDS
};

/* Kernel hamt_plan writes this record after its array of one 64-bit word per leaf. A prefix sum then replaces the array
 * and `follow`. This makes the upper half of `follow` the new trie's number of leaves, and the lower half the number of
 * allocation units of its new blocks. */
typedef struct {
    ordo_u64 follow;
    ordo_u32 found[HAMT_FOUND_WORDS];
} hamt_plan_end;

/* Results of kernel hamt_sums. */
enum hamt_sum {
    HAMT_TOUCHED,  /* number of leaves that the batch changes */
    HAMT_ELEMENTS, /* number of elements in these leaves */
    HAMT_FREED,    /* number of allocation units of these leaves' blocks */
    HAMT_SUM_WORDS
};

/* Results of the check of a HAMT: for each message, the first leaf or cell that violates the invariant, or 0xffffffff.
 * The last word is the number of allocation units in use. */
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
