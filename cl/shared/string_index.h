/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a sorted column of distinct strings: a binary trie of *tests*, each for one bit of the strings
 * (cl/primitive/string_search.cl). */
#pragma once
#include "shared/types.h"

/* Two strings differ first at a *position*: byte << 4 | bit. Bit 0 tells whether the string has this byte. Bits 1 to 8
 * are the bits of the byte, the most significant first. So "a" has a 0 where "ab" has a 1, and the string with a 1 is
 * the greater one, as in memcmp's order. */

/* Test i is the position where strings i and i + 1 differ first. Of the tests between two strings, the least one is
 * where these strings differ, and it occurs once. So the tests, in the order of the strings, describe a binary
 * trie. Its root is the least test, with the tests before it in the left subtree, and those after it in the right one.
 *
 *                             3                  The tests 7 5 9 3 6 of six strings. A search for a query begins at the
 *                    5                6          test with the least position, here 3, and goes right if the query has
 *                7       9                       a 1 at this position. It ends at one of the six gaps between the
 *     strings  0   1   2   3       4     5       tests, which are the strings. */

/* A search ends at the query itself if it is in the column. Otherwise it ends at a string that shares at least as many
 * bits with the query as any other. Their first difference determines where the query belongs, without a further
 * comparison of strings: a second search takes the query's side of this difference for all later positions. */

/* A *node* is a subtree of at most STRING_NODE - 1 tests that is part of no other node. Its tests are adjacent, so a
 * node needs no memory except its tests.
 *
 *  Level 0      has all tests.
 *  Level k + 1  has the tests of level k that are in no node of level k. `cuts` has their indices in level k, so the
 *               nodes of level k lie between the cuts. Without branches, the last level is one node.
 *  Branches     If most tests of a level are in no node (strings that are prefixes of others), there is no further
 *               level. Then these tests are *branches*: a binary trie in preorder, where branch 0 is the root, and the
 *               left child, if there is one, follows its parent.
 *
 * Invariants (tests/primitive/string_index.c checks them):
 *   S1 tests   Test i of level 0 is the position where strings i and i + 1 differ first.
 *   S2 levels  Level k + 1 and the branches have exactly those tests of level k whose subtree has STRING_NODE tests or
 *              more.
 *   S3 nodes   At most STRING_NODE - 1 tests lie between two cuts. */
#define STRING_NODE       16
#define STRING_LEVELS_MAX 12

/* Number of bytes that two neighbouring strings may have in common, so that positions have 32 bits. */
#define STRING_SHARED_BITS 28
#define STRING_SHARED_MAX  ((1u << STRING_SHARED_BITS) - 1)

/* STRING_EQUAL, as a position, means that two strings are equal. STRING_GOES_ON, as the bit number of a position, means
 * that their bytes before this position are equal, and the others are not compared yet. */
#define STRING_EQUAL   0xffffffffu
#define STRING_GOES_ON 15

/* A level of `count` tests. `tests` and `cuts` are the numbers of the index words where its tests and cuts begin. Both
 * are multiples of 4. */
typedef struct {
    ordo_u64 tests, cuts;
    ordo_u32 count, unused;
} string_level;

/* A test that is a branch.
 *
 *  position  the test
 *  cut       its index in the last level
 *  right     the right child's number, or 0 if the right child is a node of the last level
 *  left      1 if the left child is a branch, which is then the next one, or 0 if it is a node of the last level */
typedef struct {
    ordo_u32 position, cut, right, left;
} string_branch;

/* The begin of the index. The branches begin at word `branches`. */
typedef struct {
    ordo_u64     branches;
    ordo_u32     n_branches, levels;
    string_level level[STRING_LEVELS_MAX];
} string_head;

ORDO_STATIC_ASSERT(sizeof(string_head) % 16 == 0, "tests begin at a multiple of 16 bytes");
