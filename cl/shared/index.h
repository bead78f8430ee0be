/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a search index over a sorted array: a static tree without pointers. A search reads one
 * node of each level, from the root down, then one block of the array. */

/* A block has NODE keys, a node NODE separators. A *unit* is a block on level 0, and a node on a higher level. Entry j
 * of level h is the separator (last key) of unit j of level h - 1. With NODE = 4 and 21 keys:
 *
 *     level 2           [ s3  s5  s5  s5 ]                                        the root
 *                          |   \__________________
 *     level 1           [ s0  s1  s2  s3 ]        [ s4  s5  s5  s5 ]
 *                         |   |   |   |             |   |
 *     array     | .  k0 k1 k2 | k3 .. k6 | .. | .. | .. | k19 k20 .  . |          blocks 0 to 5, shift 1, count 21 */

/* Invariants of an index (its units are blocks and nodes):
 *  I1 grid       A block has NODE elements and begins at a multiple of NODE in the buffer. So it is a whole number of
 *                cache lines. Element number `shift` of block 0 is the array's first element.
 *  I2 separator  The separator of a unit is the ordered form (shared/key.h) of the unit's last key. So a query's lower
 *                bound lies in the first unit whose separator is not less than the query.
 *  I3 padding    Entries without a unit, at the end of a level, repeat the array's last key. A search that selects such
 *                an entry continues at the last unit.
 *  I4 order      The levels lie one after another without gaps, the root first. */

/* A *compressed* index also stores the keys, so searches do not read the array. A block stores PACK_KEYS keys as
 * differences from a base. All differences of a block have the same size: 1, 2, 4 or 8 bytes.
 *
 *     block 2     [ +3  +7  +7  +19  +80 ...  +211 ]      differences of 1 byte: one unit of 16 bytes
 *     offsets     [ 0  1  3  4  5 ... ]                   first unit of each block, then the end: block 1 has two
 *
 *  I5 base       The base of a block is the separator of the previous block, or 0 for block 0. It is not stored.
 *  I6 packed     Block b has the units offsets[b] to offsets[b + 1] - 1: one unit per byte of a difference. If all
 *                blocks have the same size, there is no array `offsets`. Every compressed index has shift 0, and its
 *                nodes have PACK_KEYS keys.
 *  I7 last       Copies of the last key fill the unused end of the last block. */

/* The *blocked* layout of Kim et al., FAST (ACM TODS 36(4), 2011), section 4.2. A node is a *line*: a binary tree of
 * LINE_DEPTH levels, whose 2^LINE_DEPTH - 1 separators lie in one cache line. A line consists of *SIMD blocks*:
 * subtrees of SIMD_DEPTH levels with ascending separators. A search compares one SIMD block after another, from the
 * top. The number of the block's separators before the query is the index of the child block:
 *
 *     a line with LINE_DEPTH = 4 and SIMD_DEPTH = 2, whose SIMD blocks have three separators each
 *
 *         slot      0  1  2 |  3  4  5 |  6  7  8 |  9 10 11 | 12 13 14 | 15
 *         entry     3  7 11 |  0  1  2 |  4  5  6 |  8  9 10 | 12 13 14 | 15
 *
 * The last slot has the separator of the line's last unit. Searches do not read it.
 *
 * A *page* has the lines of a subtree of PAGE_LEVELS levels of lines. Pages lie in the order of their levels, and in a
 * level from left to right. The last page of a level has only the lines that it needs, so there are no gaps:
 *
 *     two levels per page, 4 lines per line:   | page 0: a  b c d e | page 1: f  g h i j | page 2: k  l m |
 *
 *  I8 blocked    The separator of each unit lies in the line index_line() at the slot index_slot(), and no two
 *                separators share a slot. */
#pragma once
#include "shared/types.h"

#define PACK_LOG2 4
#define PACK_KEYS (1 << PACK_LOG2)
/* Stands for the number of bytes per key if blocks of a compressed index differ in this number. */
#define PACK_MIXED 16

#ifdef __OPENCL_C_VERSION__
#define INDEX_FN ORDO_FN
#else
#define INDEX_FN static inline
#endif

/* The shape of an index. A line (node) consists of SIMD blocks (subtrees of the line). A page is a subtree of lines. In
 * level order, line_depth = simd_depth = node_log2, and there are no pages. */
typedef struct {
    ordo_u32 node_log2;   /* log2 of the keys per block of the array */
    ordo_u32 line_depth;  /* log2 of the entries per line (the paper's d_L) */
    ordo_u32 simd_depth;  /* number of levels of a SIMD block (the paper's d_K), at most line_depth */
    ordo_u32 page_levels; /* height of a page in lines (the paper's d_P / d_L), or 0 without pages */
} index_form;

/* Returns the number of blocks (of 2^node_log2 elements) of an array of count > 0 elements. The array begins at element
 * number `shift` of block 0. */
INDEX_FN ordo_u32 index_blocks(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2)
{
    return ((count - 1 + shift) >> node_log2) + 1;
}

INDEX_FN ordo_u32 index_units(ordo_u32 blocks, ordo_u32 line_depth, ordo_u32 level)
{
    return ((blocks - 1) >> (line_depth * level)) + 1;
}

/* Returns the level of the root, at most 29. It is 0 if the array has only one block. */
INDEX_FN ordo_u32 index_levels(ordo_u32 blocks, ordo_u32 line_depth)
{
    ordo_u32 level = 0;

    while (index_units(blocks, line_depth, level) > 1)
        level++;
    return level;
}

INDEX_FN ordo_u32 index_lines(ordo_u32 blocks, ordo_u32 line_depth)
{
    ordo_u32 lines = 0;

    for (ordo_u32 level = index_levels(blocks, line_depth); level > 0; level--)
        lines += index_units(blocks, line_depth, level);
    return lines;
}

/* Returns the index of the array element whose key is separator number `entry` of `level`. `level` must not be 0. */
INDEX_FN ordo_u32 index_separator(ordo_u32 count, ordo_u32 shift, index_form form, ordo_u32 level, ordo_u32 entry)
{
    const ordo_u64 end = (((ordo_u64) entry + 1) << (form.node_log2 + form.line_depth * (level - 1))) - shift;

    return (ordo_u32) (end < count ? end : count) - 1;
}

/* ---- where a line lies ------------------------------------------------------------------------------------------- */

/* Tells where the lines (nodes) of one level lie. Lines are numbered in memory order. A page is a subtree of
 * page_levels levels of lines. */
typedef struct {
    ordo_u32 level;
    ordo_u32 first;  /* Index of the level's first line. With pages: of the first line of the level's first page. */
    ordo_u32 inside; /* Number of levels of the same page above this level. */
    ordo_u32 last;   /* Index of the level's last page. */
    ordo_u32 full;   /* Number of lines in each of the level's pages, except the last page. */
    ordo_u32 above, above_last; /* Number of a page's lines above this level. above_last is for the last page. */
} index_place;

/* Sets all members of `at` except level and first, and returns `at`. Level at.level must be the top level of its
 * pages. */
INDEX_FN index_place index_new_pages(index_place at, ordo_u32 blocks, index_form form)
{
    const ordo_u32 levels = form.page_levels < at.level ? form.page_levels : at.level;

    at.inside = at.above = at.above_last = at.full = 0;
    at.last = index_units(blocks, form.line_depth, at.level) - 1;
    for (ordo_u32 level = 0; level < levels; level++)
        at.full = (at.full << form.line_depth) + 1;
    return at;
}

/* Returns the place of the root's level. */
INDEX_FN index_place index_root(ordo_u32 blocks, index_form form)
{
    index_place at = { 0, 0, 0, 0, 0, 0, 0 };

    at.level = index_levels(blocks, form.line_depth);
    return index_new_pages(at, blocks, form);
}

/* Returns the place of the level below at.level. */
INDEX_FN index_place index_below(index_place at, ordo_u32 blocks, index_form form)
{
    const ordo_u32 lines = index_units(blocks, form.line_depth, at.level);

    at.level--;
    if (form.page_levels == 0) {
        at.first += lines;
        return at;
    }
    at.above_last += lines - (at.last << (form.line_depth * at.inside));
    at.above = (at.above << form.line_depth) + 1;
    at.inside++;
    if (at.inside < form.page_levels)
        return at;
    at.first += at.last * at.full + at.above_last;
    return index_new_pages(at, blocks, form);
}

INDEX_FN index_place index_place_of(ordo_u32 blocks, index_form form, ordo_u32 level)
{
    index_place at = index_root(blocks, form);

    for (ordo_u32 above = at.level; above > level; above--)
        at = index_below(at, blocks, form);
    return at;
}

/* Returns the index of the line that is unit (node) `unit` of the level at.level. */
INDEX_FN ordo_u32 index_line(index_place at, index_form form, ordo_u32 unit)
{
    if (form.page_levels == 0)
        return at.first + unit;

    const ordo_u32 shift = form.line_depth * at.inside, page = unit >> shift;
    return at.first + page * at.full + (page == at.last ? at.above_last : at.above) + (unit - (page << shift));
}

/* ---- where a separator lies in its line -------------------------------------------------------------------------- */

/* Returns the number of levels of a SIMD block (a subtree of a line) whose top lies `depth` levels below the line's
 * top. */
INDEX_FN ordo_u32 index_simd_depth(index_form form, ordo_u32 depth)
{
    return form.line_depth - depth < form.simd_depth ? form.line_depth - depth : form.simd_depth;
}

/* Returns the first slot (position in the line) of a SIMD block whose top lies `depth` levels below the line's top.
 * `block` is the index of the SIMD block among the blocks at this depth, from the left. */
INDEX_FN ordo_u32 index_simd_slot(index_form form, ordo_u32 depth, ordo_u32 block)
{
    return (1u << depth) - 1 + block * ((1u << index_simd_depth(form, depth)) - 1);
}

/* Returns the slot of separator `entry` of a line. */
INDEX_FN ordo_u32 index_slot(index_form form, ordo_u32 entry)
{
    if (form.simd_depth == form.line_depth || entry + 1 == 1u << form.line_depth)
        return entry;

    for (ordo_u32 depth = 0;; depth += form.simd_depth) {
        const ordo_u32 levels = index_simd_depth(form, depth), below = form.line_depth - depth - levels;
        const ordo_u32 child = (entry + 1) >> below;
        /* True if the separator lies in a SIMD block at this depth, not in a deeper one. */
        if ((child << below) == entry + 1)
            return index_simd_slot(form, depth, child >> levels) + (child & ((1u << levels) - 1)) - 1;
    }
}

/* Returns the position of separator `entry` of the level at.level: the number of separators before it in memory. */
INDEX_FN ordo_u64 index_position(index_place at, index_form form, ordo_u32 entry)
{
    const ordo_u32 within = (1u << form.line_depth) - 1;

    return ((ordo_u64) index_line(at, form, entry >> form.line_depth) << form.line_depth) +
           index_slot(form, entry & within);
}
