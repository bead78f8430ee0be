/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a HAMT, an ordered radix trie. Keys are stored in ordered form: as unsigned numbers that sort like
 * the keys (shared/key.h). */

/* A HAMT has three buffers:
 *
 *      tables   | table `cells` | table `ranks` |         find a leaf by key or by rank
 *      leaves   | record | record | ... | end record |    a record per leaf, in key order
 *      pool     | keys, values | ...                      a block per leaf, in any order
 *
 * A record has four fields:
 *
 *      first     The leaf has the keys from its `first` up to the next leaf's `first`.
 *      before    number of elements in earlier leaves
 *      place     lowest bit: HAMT_WIDE, if keys are whole. Other bits: the block's first 16-byte unit in the pool
 *      sectors   numbers of elements in parts of the leaf, if its block has a bitmap
 *
 * A leaf has up to 64 keys, or more if all lie within 1024 successive integers. Its block has the sorted keys in one of
 * three forms, then the values:
 *
 *      bitmap        1024 bits, if the leaf has more than 64 keys
 *      short keys    16-bit distances from `first`, if all are less than 65536
 *      whole keys    all bits of each key */

/* Table `cells` divides the keys into ranges of equal size, the *cells*. Cell 0 begins at the `first` of leaf 0. A
 * leaf begins in the cell that contains its `first`. cells[i] is the number of leaves that begin in cells 0 to i.
 *
 * Table `ranks` divides the ranks (0 for the least key) into cells of equal size. ranks[i] is the number of leaves
 * whose first key has a rank in cells 0 to i. The number of cells of each table is a power of 2. */

/* With HAMT_FIXED_DEPTH 1, there is no table `cells`. All leaves are bitmaps. A node has 64 words, one for each value
 * of 6 key bits:
 *
 *     tables   | header | table `ranks` | nodes of the topmost level | ... | nodes above leaves |
 *
 * header[level] is the index of the level's first node. Level 0 lies above the leaves. Word w of a node counts the
 * node's children with values 0 to w, and all children of earlier nodes of the level. */

/* Invariants of a HAMT, which host/dict/trie/hamt_check.c checks.
 *  T1 order     The fields `first` of the leaves ascend. Each is a multiple of 1024.
 *  T2 region    A leaf has at least one key. Its keys ascend. They are not less than `first`, but less than the next
 *               leaf's `first`. If the leaf has a bitmap, `sectors` has three fields of 10 bits: the number of ones
 *               in the first 256, 512 and 768 bits of the bitmap.
 *  T3 ranks     `before` counts the elements in earlier leaves. In the end record it counts all elements.
 *  T4 blocks    Blocks lie in the used part of the pool and do not overlap.
 *  T5 tables    Cells, ranks, header and nodes are as described above. */
#pragma once
#include "shared/types.h"

#ifndef HAMT_FIXED_DEPTH
#define HAMT_FIXED_DEPTH 0
#endif
#define HAMT_LEAF      (HAMT_FIXED_DEPTH ? 0 : 64)
#define HAMT_BITS      10
#define HAMT_WORDS     ((1 << HAMT_BITS) / 32)
#define HAMT_SECTOR    256
#define HAMT_UNIT      16 /* The pool allocates multiples of this number of bytes. */
#define HAMT_UNITS_MAX (1u << 31)

#define HAMT_RECORD(key_bytes) ((key_bytes) == 4 ? 16 : 24)

/* Used only if HAMT_FIXED_DEPTH is 1. HAMT_HEADER and HAMT_NODE count 32-bit words. */
#define HAMT_LEVEL_BITS       6
#define HAMT_LEVELS(key_bits) (((key_bits) -HAMT_BITS + HAMT_LEVEL_BITS - 1) / HAMT_LEVEL_BITS)
#define HAMT_HEADER_BITS      4
#define HAMT_HEADER           (1u << HAMT_HEADER_BITS)
#define HAMT_NODE             (1u << HAMT_LEVEL_BITS)

#define HAMT_RANKS_AT(cell_bits)            (1u << (cell_bits))
#define HAMT_NODES_AT(cell_bits, rank_bits) ((1u << (cell_bits)) + (1u << (rank_bits)))

#define HAMT_WIDE 1u

/* The kernels of hamt_merge.cl accept at most this many updates of one leaf. */
#define HAMT_UPDATES_MAX 1024

#define HAMT_SHARE(cpu) ((cpu) ? 64 : 4)

/* Number of work-items that write the block of a leaf together. On an H200, 16 are fastest with values, 8 without
 * values. */
#define HAMT_LANES(cpu, value_bytes) ((cpu) ? 1 : (value_bytes) ? 16 : 8)

/* Results of kernel hamt_plan. */
enum hamt_found {
    HAMT_LARGEST, /* Largest number of updates of one leaf, if it exceeds HAMT_UPDATES_MAX. Otherwise 0. */
    HAMT_LEFT,    /* Number of freed allocation units. */
    HAMT_CHANGES, /* 1 if the batch inserts or erases an element. */
    HAMT_MORE,    /* Change of the number of elements. */
    HAMT_GONE,    /* 1 if a leaf vanishes. Only kernel hamt_small_plan sets it. */
    HAMT_GAPS,    /* 1 if kernel hamt_small_write skipped cells of tables. */
    HAMT_FOUND_WORDS
};

/* Kernel hamt_plan writes one 64-bit word per leaf, then this record. The upper half of a word is the number of new
 * leaves that replace the leaf. The lower half is the number of their new allocation units. A prefix sum then sets
 * `follow` to the sum of all words. */
typedef struct {
    ordo_u64 follow;
    ordo_u32 found[HAMT_FOUND_WORDS];
} hamt_plan_end;

/* Kernel hamt_small_plan packs three counts into the word of a leaf's first update. Words of other updates are 0.
 * With k updates of the leaf, `follow` of hamt_plan_end and each word have, from the highest bit:
 *
 *      18 bits    number of new leaves, minus 1, plus k
 *      18 bits    change of the number of elements, plus k
 *      28 bits    number of allocation units of the new leaves
 *
 * A batch of HAMT_SMALL_MAX updates fits into these bits. */
#define HAMT_SMALL_MAX       (1u << 16)
#define HAMT_SMALL_FOLLOW(w) ((ordo_u32) ((w) >> 46))
#define HAMT_SMALL_MORE(w)   ((ordo_u32) ((w) >> 28) & 0x3ffffu)
#define HAMT_SMALL_UNITS(w)  ((ordo_u32) (w) &0xfffffffu)
#define HAMT_SMALL_TILE      256u /* A work-group of hamt_small_plan plans this many updates. */
#define HAMT_SMALL_TILES(n)  (((n) + HAMT_SMALL_TILE - 1) / HAMT_SMALL_TILE)

/* A work-item of hamt_small_write writes what follows HAMT_SMALL_LEAVES leaves, or HAMT_SMALL_WORDS words of the
 * tables. HAMT_SMALL_RECORDS and HAMT_SMALL_TAILS are the numbers of such work-items. */
#define HAMT_SMALL_LEAVES(cpu)            ((cpu) ? 64u : 1u)
#define HAMT_SMALL_WORDS(cpu)             ((cpu) ? 64u : 4u)
#define HAMT_SMALL_RECORDS(cpu, n_leaves) (((n_leaves) + HAMT_SMALL_LEAVES(cpu)) / HAMT_SMALL_LEAVES(cpu))
#define HAMT_SMALL_TAILS(cpu, cell_bits, rank_bits)                                                                    \
    ((HAMT_NODES_AT(cell_bits, rank_bits) - 1) / HAMT_SMALL_WORDS(cpu) + 1)

/* The words of updates are prefix sums within a tile of HAMT_SMALL_TILE updates. Prefix sums of tiles follow them, then
 * this record, then the tiles' sums (two 32-bit words each). */
typedef struct {
    hamt_plan_end sums;
    ordo_u64      first, last; /* Fields `first` of the new trie's first and last leaves. */
} hamt_small_end;

/* k updates of a leaf make at most k + 1 new leaves: space for their records, and for an end record. */
#define HAMT_SMALL_FRESH 3u

/* Results of kernel hamt_sums: the number of leaves that the batch changes, their elements, and the allocation units of
 * their blocks. */
enum hamt_sum { HAMT_TOUCHED, HAMT_ELEMENTS, HAMT_FREED, HAMT_SUM_WORDS };

/* Results of the check of a HAMT. HAMT_WRONG_... is the number of the first wrong leaf or cell, or 0xffffffff. */
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
