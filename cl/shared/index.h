/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a static search index over a sorted array: a tree without pointers. The array is divided
 * into blocks of NODE keys. Above the array lie levels of nodes of NODE separators each. The top level has one node,
 * the root. A search reads one node of each level, then one block. An example with NODE = 4 and 21 keys:
 *
 *     level 2           [ s3  s5  s5  s5 ]                                        the root
 *                          |   \__________________
 *     level 1           [ s0  s1  s2  s3 ]        [ s4  s5  s5  s5 ]
 *                         |   |   |   |             |   |
 *     array     | .  k0 k1 k2 | k3 .. k6 | .. | .. | .. | k19 k20 .  . |          blocks 0 to 5, shift 1, count 21
 *
 * A *unit* is a block on level 0, and a node on a higher level. Entry j of level h is the separator of unit j of
 * level h - 1. */

/* Invariants of an index:
 *  I1 grid       Blocks begin at multiples of NODE elements in the buffer, so each block is a whole number of cache
 *                lines. `shift` is the distance of the array's first element from the start of block 0, in elements.
 *  I2 separator  The separator of a unit (a block or node) is the ordered form (shared/key.h) of the unit's last key.
 *                So a query's lower bound lies in the first unit whose separator is not less than the query.
 *  I3 padding    Entries of a level that belong to no unit repeat the array's last key. A search that arrives at such
 *                an entry continues at the last unit.
 *  I4 order      The levels lie without gaps, the root first. */

/* A *compressed* index also stores the keys, so searches do not read the array. A block stores PACK_KEYS keys as
 * differences from a base. All differences of a block have the same size: 1, 2, 4 or 8 bytes.
 *
 *     block 2     base: the separator of block 1       +3  +7  +7  +19  +80 ...  +211    1 byte per key: 16 bytes
 *     offsets     [ 0  1  3  4  5 ... ]                blocks + 1 words, in units of 16 bytes; block 1 takes 2
 *
 *  I5 base       The base of a block is the separator of the previous block, or 0 for block 0. It is not stored.
 *  I6 packed     Block b lies in the 16-byte units offsets[b] to offsets[b + 1] - 1: one unit per byte of a key. If all
 *                blocks have the same size, there are no offsets. Every compressed index has shift 0, and its nodes
 *                have PACK_KEYS keys.
 *  I7 last       Copies of the last key fill the unused end of the last block. */

/* The *blocked* layout of Kim et al., FAST (ACM TODS 36(4), 2011), section 4.2. A node is a *line*: a binary tree of
 * LINE_DEPTH levels, whose 2^LINE_DEPTH - 1 separators lie in one cache line. In level order, the layout above, a
 * search compares the whole line. In the blocked layout, it compares one SIMD block after another. A *SIMD block* is a
 * subtree of SIMD_DEPTH levels with ascending separators. The number of its separators before the query is the number
 * of the child block:
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
/* Replaces the number of bytes per key if this number varies between the blocks of a compressed index. */
#define PACK_MIXED 16

#ifdef __OPENCL_C_VERSION__
#define INDEX_FN ORDO_FN
#else
#define INDEX_FN static inline
#endif

/* The layout of an index. Level order has line_depth = simd_depth = node_log2, and no pages. */
typedef struct {
    ordo_u32 node_log2;   /* log2 of the keys per block of the array */
    ordo_u32 line_depth;  /* log2 of the entries per line (the paper's d_L) */
    ordo_u32 simd_depth;  /* levels of a SIMD block (the paper's d_K), at most line_depth */
    ordo_u32 page_levels; /* levels of lines per page (the paper's d_P / d_L), or 0 without pages */
} index_form;

/* Returns the number of blocks of an array. The caller must have count > 0. */
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

/* Returns the index of the array element whose key is separator number `entry` of `level`, which must not be 0. */
INDEX_FN ordo_u32 index_separator(ordo_u32 count, ordo_u32 shift, index_form form, ordo_u32 level, ordo_u32 entry)
{
    const ordo_u64 end = (((ordo_u64) entry + 1) << (form.node_log2 + form.line_depth * (level - 1))) - shift;

    return (ordo_u32) (end < count ? end : count) - 1;
}

/* ---- where a line lies ------------------------------------------------------------------------------------------- */

/* Tells where the lines of one level lie. Lines are numbered in memory order. */
typedef struct {
    ordo_u32 level;
    ordo_u32 first;  /* Number of the first line of the level's first page. Without pages: of the level's first line. */
    ordo_u32 inside; /* Number of levels above this level in its pages. */
    ordo_u32 last;   /* Number of the level's last page. A level counts its pages from 0. */
    ordo_u32 full;   /* Number of lines in each of the level's pages, except the last page. */
    ordo_u32 above, above_last; /* Lines above this level: in each page (above), in the last page (above_last). */
} index_place;

/* Returns `at` with its page members (inside, last, full, above) set. at.level must be the top level of its pages. */
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

/* Returns the number of the line of unit (node) `unit` of the level at.level. */
INDEX_FN ordo_u32 index_line(index_place at, index_form form, ordo_u32 unit)
{
    if (form.page_levels == 0)
        return at.first + unit;

    const ordo_u32 shift = form.line_depth * at.inside, page = unit >> shift;
    return at.first + page * at.full + (page == at.last ? at.above_last : at.above) + (unit - (page << shift));
}

/* ---- where a separator lies in its line -------------------------------------------------------------------------- */

/* Returns the number of levels of the SIMD blocks that begin `depth` levels below the top of a line. */
INDEX_FN ordo_u32 index_simd_depth(index_form form, ordo_u32 depth)
{
    return form.line_depth - depth < form.simd_depth ? form.line_depth - depth : form.simd_depth;
}

/* Returns the first slot of a SIMD block. `block` counts, from the left, the SIMD blocks that begin `depth` levels
 * below the top of the line. */
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
