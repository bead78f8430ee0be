/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the memory layout of a static search index over a sorted array.
 *
 * The array is divided into blocks of NODE keys. Above it lie levels of separators, in nodes of NODE separators. The
 * top level has one node, the root. A search reads one node of each level and one block. An example with NODE = 4:
 *
 *     level 2           [ s3  s5  s5  s5 ]                                        the root
 *                          |   \__________________
 *     level 1           [ s0  s1  s2  s3 ]        [ s4  s5  s5  s5 ]
 *                         |   |   |   |             |   |
 *     array     | .  k0 k1 k2 | k3 .. k6 | .. | .. | .. | k19 k20 .  . |          blocks 0 to 5, shift 1, count 21
 *
 *     in memory: the nodes of level 2, then the nodes of level 1
 *
 * A *unit* is a block on level 0, and a node on a higher level. Entry j of level h stands for unit j of level h - 1.
 *
 * Invariants:
 *   I1 grid       blocks begin at multiples of NODE in the buffer, so a block is whole cache lines. If the array begins
 *                 at element `at` of the buffer, then shift = at % NODE. Block b has the NODE elements from b * NODE -
 *                 shift on, as far as they exist.
 *   I2 separator  entry j of level h is the ordered form (shared/key.h) of the last key below unit j of level h - 1. So
 *                 the first unit with a separator not less than a query holds the query's lower bound.
 *   I3 padding    entries after the last unit repeat the array's last key. A search that counts them is moved back to
 *                 the last unit, so every key value is legal.
 *   I4 order      levels consist of whole nodes, and lie without gaps, the root first.
 *
 * A *compressed* index holds the keys, so searches do not read the array. A block stores PACK_KEYS keys as differences
 * from a base, all with as many bytes as the largest needs: 1, 2, 4 or 8.
 *
 *     block 2     base: the separator of block 1       +3  +7  +7  +19  +80 ...  +211    1 byte per key: 16 bytes
 *     offsets     [ 0  1  3  4  5 ... ]                blocks + 1 words, in units of 16 bytes; block 1 takes 2
 *
 *   I5 base       a block's base is the separator of the block before, or 0 for block 0. It is not stored.
 *   I6 packed     block b takes 16-byte units offsets[b] to offsets[b + 1] - 1. It has as many units as bytes per key.
 *                 If there are no offsets, all blocks have equally many. shift is 0, and nodes have PACK_KEYS keys.
 *   I7 last       the last key also fills the rest of the last block. */
#pragma once
#include "shared/types.h"

#define PACK_LOG2 4
#define PACK_KEYS (1 << PACK_LOG2)
/* Stands for the number of bytes per key if it varies. */
#define PACK_MIXED 16

#ifdef __OPENCL_C_VERSION__
#define INDEX_FN ORDO_FN
#else
#define INDEX_FN static inline
#endif

/* Returns the number of blocks of an array (I1). Needs count > 0. */
INDEX_FN ordo_u32 index_blocks(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2)
{
    return ((count - 1 + shift) >> node_log2) + 1;
}

INDEX_FN ordo_u32 index_units(ordo_u32 blocks, ordo_u32 node_log2, ordo_u32 level)
{
    return ((blocks - 1) >> (node_log2 * level)) + 1;
}

/* Returns the root's level: 0 if there is only one block, at most 10. */
INDEX_FN ordo_u32 index_levels(ordo_u32 blocks, ordo_u32 node_log2)
{
    ordo_u32 level = 0;

    while (index_units(blocks, node_log2, level) > 1)
        level++;
    return level;
}

/* Returns the number of a level's first node, counted from the start of the index (I4). */
INDEX_FN ordo_u32 index_first_node(ordo_u32 blocks, ordo_u32 node_log2, ordo_u32 level)
{
    ordo_u32 nodes = 0;

    for (ordo_u32 above = index_levels(blocks, node_log2); above > level; above--)
        nodes += index_units(blocks, node_log2, above);
    return nodes;
}

INDEX_FN ordo_u32 index_nodes(ordo_u32 blocks, ordo_u32 node_log2)
{
    return index_first_node(blocks, node_log2, 0);
}

/* Returns the index of the array's element that an entry of a level repeats (I2, I3). */
INDEX_FN ordo_u32 index_separator(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2, ordo_u32 level, ordo_u32 entry)
{
    const ordo_u64 end = (((ordo_u64) entry + 1) << (node_log2 * level)) - shift;

    return (ordo_u32) (end < count ? end : count) - 1;
}
