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
 *  I6 packed     Block b lies in the 16-byte units offsets[b] to offsets[b + 1] - 1. A block with n bytes per key has n
 *                units. If all blocks have the same size, there are no offsets. Every compressed index has shift 0,
 *                and its nodes have PACK_KEYS keys.
 *  I7 last       Copies of the last key fill the unused end of the last block. */
#pragma once
#include "shared/types.h"

#define PACK_LOG2 4
#define PACK_KEYS (1 << PACK_LOG2)
/* Used as number of bytes per key if this number differs between blocks of a compressed index. */
#define PACK_MIXED 16

#ifdef __OPENCL_C_VERSION__
#define INDEX_FN ORDO_FN
#else
#define INDEX_FN static inline
#endif

/* The caller must have count > 0. */
INDEX_FN ordo_u32 index_blocks(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2)
{
    return ((count - 1 + shift) >> node_log2) + 1;
}

INDEX_FN ordo_u32 index_units(ordo_u32 blocks, ordo_u32 node_log2, ordo_u32 level)
{
    return ((blocks - 1) >> (node_log2 * level)) + 1;
}

/* Returns the level of the root, which is at most 10. The root is level 0 if the array has only one block. */
INDEX_FN ordo_u32 index_levels(ordo_u32 blocks, ordo_u32 node_log2)
{
    ordo_u32 level = 0;

    while (index_units(blocks, node_log2, level) > 1)
        level++;
    return level;
}

/* Returns the number of the level's first node. Nodes are numbered from the root on. */
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

/* Returns the index of the array element whose key is separator number `entry` of `level`. */
INDEX_FN ordo_u32 index_separator(ordo_u32 count, ordo_u32 shift, ordo_u32 node_log2, ordo_u32 level, ordo_u32 entry)
{
    const ordo_u64 end = (((ordo_u64) entry + 1) << (node_log2 * level)) - shift;

    return (ordo_u32) (end < count ? end : count) - 1;
}
