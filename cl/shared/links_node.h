/* SPDX-License-Identifier: Apache-2.0 */
/* A linked tree: levels of nodes that are linked to the right. How it lies in memory, for the kernels and for the host.
 * The B-link tree and the skiplist are such trees.
 *
 * A node has LINKS_SLOTS entries, sorted, without gaps, and a line of keys apart from what goes with them. Most often these
 * are 28, of 32 words; in a skiplist of small chunks 12, of 16:
 *
 *     word          0    1    2        27     28     29      30      31
 *     keys       [ k0 | k1 | k2 | ... | k27 | low | right | header | high ]      LINKS_WORDS words of the keys' size
 *     leaf       [ v0 | v1 | v2 | ... | v27 ]                                    LINKS_SLOTS values
 *     inner node [ c0 | c1 | c2 | ... | c27 ]                                    LINKS_SLOTS numbers of nodes below
 *
 * With keys of 4 bytes a line is 128 bytes: a search reads it, and of the rest one word. Keys, low and high are ordered
 * forms (shared/key.h). Leaves and inner nodes are numbered apart, each from 0, and lie in four arrays:
 *
 *     leaf_keys, leaf_values, inner_keys, children
 *
 * A fifth, leaf_counts, has each leaf's count once more (B8), for batches that count their updates there.
 *
 * A leaf covers the keys from low, exclusive, to high, inclusive; the first one of its level every key up to high.
 * Entry j of an inner node stands for a node of the level below whose low is its key. Level 0 is the leaves.
 *
 * Invariants (checked by host/dict/links/check.c when the tree is at rest: no launch that changes it is under way):
 *   B1 order    the keys of a node ascend, all different; unused slots hold LINKS_UNUSED. No key value is special: how many
 *               are used the header says.
 *   B2 bounds   keys of a leaf lie in (low, high]; those of an inner node in [low, high), the first being low. The
 *               first node of a level has low 0 and covers what is below, too; the last one has high all ones and right
 *               LINKS_NONE.
 *   B3 links    right is the next node of the level; its low is this node's high.
 *   B4 cover    the entries of a level, in order, are the nodes of the level below, in order: each once, with its low.
 *               Unused slots hold numbers of such nodes, or LINKS_NONE.
 *   B5 root     the root is the only node of its level.
 *   B6 free     nodes from the next free one on are in no level, and their headers are LINKS_FREE.
 *   B9 dead     of those before, a node is in no level if it covers nothing: its high is its low, which is so of no other but
 *               the first leaf, and it has no entries. Only a skiplist has such: leaves that merged into their neighbours, and
 *               inner nodes that were left without children (dict/skiplist/reclaim.cl).
 *   B7 latch    no header has LINKS_LATCHED or LINKS_DIRTY set.
 *   B8 counts   leaf_counts[] are the counts in the leaves' headers, where the host takes them to be (`counted`).
 *
 * While operations run side by side B4 and B5 may lag behind: a node that has split is found by its left neighbour's
 * link. Lehman and Yao, Efficient Locking for Concurrent Operations on B-Trees (TODS 1981). */
#pragma once
#include "shared/types.h"

/* Words of a line, if nothing else is said: kernels are compiled for one number, the host has it from the tree. */
#define LINKS_WORDS_USUAL 32

/* The last ones, behind the slots. */
#define LINKS_AT_LOW    0
#define LINKS_AT_RIGHT  1
#define LINKS_AT_HEADER 2
#define LINKS_AT_HIGH   3
#define LINKS_TAIL      4

/* Updates of a leaf that a batch by buckets can hold beside the first, at most. */
#define LINKS_BUCKET_OF(words) ((words) < LINKS_WORDS_USUAL ? 15 : 23)

#ifdef __OPENCL_C_VERSION__
#ifndef LINKS_WORDS
#define LINKS_WORDS LINKS_WORDS_USUAL
#endif
#define LINKS_SLOTS        (LINKS_WORDS - LINKS_TAIL)
#define LINKS_LOW          (LINKS_SLOTS + LINKS_AT_LOW)
#define LINKS_RIGHT        (LINKS_SLOTS + LINKS_AT_RIGHT)
#define LINKS_HEADER       (LINKS_SLOTS + LINKS_AT_HEADER)
#define LINKS_HIGH         (LINKS_SLOTS + LINKS_AT_HIGH)
#define LINKS_BUCKET_SLOTS LINKS_BUCKET_OF(LINKS_WORDS)
#endif

#define LINKS_NONE 0xffffffffu

/* A header: the number of entries, and a version that each change of the node makes another. Words of nodes that
 * nobody has taken yet are all ones, so that they look latched. */
#define LINKS_COUNT_MASK   0x1fu
#define LINKS_VERSION_ONE  0x20u
#define LINKS_VERSION_MASK 0x3fffffe0u
#define LINKS_DIRTY        0x40000000u /* on a list of nodes that have children without entries */
#define LINKS_LATCHED      0x80000000u
#define LINKS_FREE         0xffffffffu

/* The root: its level and its number among the nodes of that level's kind. */
#define LINKS_ROOT_LATCHED 0x80000000u
#define LINKS_LEVEL_SHIFT  27
#define LINKS_LEVELS_MAX   13
#define LINKS_NODE_MASK    0x07ffffffu

/* Words of the tree's state. */
enum links_word {
    LINKS_ROOT,
    LINKS_LEAVES,   /* taken: the next free one */
    LINKS_INNER,    /* likewise */
    LINKS_ELEMENTS, /* of all leaves */
    /* What a batch needs, found before it changes anything. */
    LINKS_GROUPS,  /* leaves that it touches */
    LINKS_WANTED,  /* new leaves, at most */
    LINKS_LARGEST, /* updates that fall into one leaf, at most */
    /* Of concurrent batches. */
    LINKS_PENDING,        /* operations that gave up */
    LINKS_STARVED,        /* of these, for want of leaves */
    LINKS_MOVED,          /* not 0: one that gave up has gone through leaves */
    LINKS_RESTARTS,       /* steps of operations that came to nothing */
    LINKS_TICK,           /* the clock of recorded histories */
    LINKS_SPLITS_PENDING, /* not 0: nodes have split and the level above has no entry for it yet */
    LINKS_ZOMBIES,        /* leaves that have merged into their neighbours and still have entries */
    LINKS_DEAD,           /* leaves that are in no level */
    LINKS_DIRTY_NODES,    /* for each level: nodes on its list */
    LINKS_STATE_WORDS = LINKS_DIRTY_NODES + LINKS_LEVELS_MAX + 1
};
