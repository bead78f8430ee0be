/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of a search index over a sorted array: a static tree without pointers. A search reads one node of each
 * level, from the root down, then one block of the array. */

/* Level 0 is the array, in blocks of NODE keys. Higher levels have nodes of NODE separators: one separator per block
 * or node of the level below. The separator of a block is its last key. The separator of a node is its last
 * separator. A *unit* is a block or a node. With NODE = 4 and 21 keys, s0 to s5 are the separators of blocks 0 to 5:
 *
 *     level 2           [ s3  s5  s5  s5 ]                                        the root
 *                          |   \__________________
 *     level 1           [ s0  s1  s2  s3 ]        [ s4  s5  s5  s5 ]
 *                         |   |   |   |             |   |
 *     array     | .  k0 k1 k2 | k3 .. k6 | .. | .. | .. | k19 k20 .  . |          blocks 0 to 5, shift 1, count 21 */

/* Invariants of an index:
 *  I1 grid       The buffer of the array is divided into blocks of NODE elements. The array may begin inside block 0:
 *                at its element `shift`.
 *  I2 separator  A stored separator is the ordered form (shared/key.h) of a key. On each level, the lower bound of a
 *                query lies in or below the first block or node whose separator is not less than the query. If keys
 *                have 16 bytes, separators are 64 of their bits (primitive/separator.cl), and the lower bound may also
 *                lie in one of the next blocks.
 *  I3 padding    Entries after a level's last separator repeat the array's last key.
 *  I4 order      The levels lie without gaps, the root first. */

/* A *compressed* index also stores the keys, so searches do not read the array. A block stores PACK_KEYS keys as
 * differences of 1, 2, 4 or 8 bytes from a *base*. A block consists of *pieces* of 16 bytes.
 *
 * Block 0 begins with the array's first key (`shift` is 0). A compressed index has three more invariants:
 *  I5 base       A block's base is the separator of the previous block, or 0 for block 0. It is not stored.
 *  I6 packed     Block b has pieces offsets[b] to offsets[b + 1] - 1. `offsets` is absent if all blocks have the same
 *                size.
 *  I7 last       Copies of the last key fill the last block. */

/* In the *blocked* layout (FAST, Kim et al., ACM TODS 36(4), 2011, section 4.2), a node is a *line*. Its separators
 * form a binary tree of LINE_DEPTH levels. This tree is divided into subtrees of SIMD_DEPTH levels, the *SIMD
 * blocks*. Separators ascend in a SIMD block. With LINE_DEPTH = 4 and SIMD_DEPTH = 2, the separators 0 to 15 of a
 * node lie in these slots of the line:
 *
 *         slot      0  1  2 |  3  4  5 |  6  7  8 |  9 10 11 | 12 13 14 | 15
 *         separator 3  7 11 |  0  1  2 |  4  5  6 |  8  9 10 | 12 13 14 | 15
 *
 * Slots 0 to 2 are the root SIMD block. Its four children follow. */

/* The blocked layout stores lines (nodes) in *pages*. A page has the lines of a subtree of PAGE_LEVELS levels of
 * nodes. Pages lie level by level, from left to right.
 *
 * The blocked layout has one more invariant. For each separator, index_line() gives its line, and index_slot() its
 * slot in this line. No two separators share a slot (I8). */
#pragma once
#include "shared/types.h"

#define INDEX_SEPARATOR_BYTES(key_bytes) ((key_bytes) < 8 ? (key_bytes) : 8)

#define PACK_LOG2 4
#define PACK_KEYS (1 << PACK_LOG2)
/* Value of macro SEARCH_PACKED (primitive/search_keys.cl) if blocks differ in bytes per key. */
#define PACK_MIXED 16

#ifdef __OPENCL_C_VERSION__
#define INDEX_FN ORDO_FN
#else
#define INDEX_FN static inline
#endif

/* Shape of an index. If its layout is not blocked (see above), simd_depth equals line_depth, and page_levels is 0. A
 * block and a node have the same size in bytes. */
typedef struct {
    ordo_u32 node_log2;   /* log2 of the keys per block */
    ordo_u32 line_depth;  /* log2 of the separators per node or line */
    ordo_u32 simd_depth;  /* levels of a SIMD block */
    ordo_u32 page_levels; /* levels of nodes in a page of the blocked layout, or 0 without pages */
} index_form;

/* `count` must not be 0. */
INDEX_FN ordo_u32 index_blocks(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2)
{
    return ((count - 1 + shift) >> node_log2) + 1;
}

INDEX_FN ordo_u32 index_units(ordo_u32 blocks, ordo_u32 line_depth, ordo_u32 level)
{
    return (ordo_u32) ((ordo_u64) (blocks - 1) >> (line_depth * level)) + 1;
}

/* Returns the level of the root, at most 29. */
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

/* Separator number `entry` of a level is the key of one array element. Returns the index of this element. The level
 * must not be 0. */
INDEX_FN ordo_u32 index_separator(ordo_u32 count, ordo_u32 shift, index_form form, ordo_u32 level, ordo_u32 entry)
{
    const ordo_u64 end = (((ordo_u64) entry + 1) << (form.node_log2 + form.line_depth * (level - 1))) - shift;

    return (ordo_u32) (end < count ? end : count) - 1;
}

/* ---- where a line lies ------------------------------------------------------------------------------------------- */

/* Places of the nodes of one level in memory. Layouts without pages use only `level` and `first`. */
typedef struct {
    ordo_u32 level;
    /* Without pages, `first` is the index of the level's first node. With pages, it is the index of the first node in
     * the level's first page. */
    ordo_u32 first;
    ordo_u32 inside;            /* Number of levels that lie above this level in the same page. */
    ordo_u32 last;              /* Index of the level's last page. */
    ordo_u32 full;              /* Number of nodes per page. The last page may have fewer. */
    ordo_u32 above, above_last; /* Number of a page's nodes on higher levels. `above_last` is for the last page. */
} index_place;

/* Completes the description `at` of a level. `level` and `first` must be set, and are kept. Each node of this level
 * must be the root of its page. */
INDEX_FN index_place index_new_pages(index_place at, ordo_u32 blocks, index_form form)
{
    const ordo_u32 levels = form.page_levels < at.level ? form.page_levels : at.level;

    at.inside = at.above = at.above_last = at.full = 0;
    at.last = index_units(blocks, form.line_depth, at.level) - 1;
    for (ordo_u32 level = 0; level < levels; level++)
        at.full = (at.full << form.line_depth) + 1;
    return at;
}

INDEX_FN index_place index_root(ordo_u32 blocks, index_form form)
{
    index_place at = { 0, 0, 0, 0, 0, 0, 0 };

    at.level = index_levels(blocks, form.line_depth);
    return index_new_pages(at, blocks, form);
}

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

INDEX_FN ordo_u32 index_line(index_place at, index_form form, ordo_u32 unit)
{
    if (form.page_levels == 0)
        return at.first + unit;

    const ordo_u32 shift = form.line_depth * at.inside, page = unit >> shift;
    return at.first + page * at.full + (page == at.last ? at.above_last : at.above) + (unit - (page << shift));
}

/* ---- where a separator lies in its line -------------------------------------------------------------------------- */

INDEX_FN ordo_u32 index_simd_depth(index_form form, ordo_u32 depth)
{
    return form.line_depth - depth < form.simd_depth ? form.line_depth - depth : form.simd_depth;
}

/* Returns the slot of a SIMD block's first separator. A line is a binary tree, and `depth` of its levels lie above
 * this SIMD block. `block` numbers the SIMD blocks at this depth from left to right. */
INDEX_FN ordo_u32 index_simd_slot(index_form form, ordo_u32 depth, ordo_u32 block)
{
    return (1u << depth) - 1 + block * ((1u << index_simd_depth(form, depth)) - 1);
}

INDEX_FN ordo_u32 index_slot(index_form form, ordo_u32 entry)
{
    if (form.simd_depth == form.line_depth || entry + 1 == 1u << form.line_depth)
        return entry;

    for (ordo_u32 depth = 0;; depth += form.simd_depth) {
        const ordo_u32 levels = index_simd_depth(form, depth), below = form.line_depth - depth - levels;
        const ordo_u32 child = (entry + 1) >> below;
        if ((child << below) == entry + 1)
            return index_simd_slot(form, depth, child >> levels) + (child & ((1u << levels) - 1)) - 1;
    }
}

INDEX_FN ordo_u64 index_position(index_place at, index_form form, ordo_u32 entry)
{
    const ordo_u32 within = (1u << form.line_depth) - 1;

    return ((ordo_u64) index_line(at, form, entry >> form.line_depth) << form.line_depth) +
           index_slot(form, entry & within);
}
