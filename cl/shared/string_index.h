/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of the index of a sorted column of distinct strings: a binary trie of *tests*, each of one bit of the
 * strings (cl/primitive/string_search.cl). */
#pragma once
#include "shared/types.h"

/* A *position* is byte << 4 | bit. Bit 0 tells whether the string has this byte. Bits 1 to 8 are the bits of the byte,
 * the most significant first. Where two strings differ first, the greater one (in memcmp's order) has a 1. */

/* Test i is the position where strings i and i + 1 differ first. Any two strings differ first at the least test between
 * them, which occurs once there. So the tests form a binary trie. Its root is the least test. The tests before it are
 * the left subtree, the tests after it the right subtree.
 *
 *                             3                  The tests 7 5 9 3 6 of six strings. A search begins at the least
 *                    5                6          position, 3, and goes right if the query has a 1 there. It ends at
 *                7       9                       one of the six gaps between the tests, which are the strings.
 *     strings  0   1   2   3       4     5 */

/* A search ends at the query if the column has it, otherwise at a string that shares the most leading bits with it. A
 * second search takes the query's bits before their first difference, and the query's side of it at all later
 * positions. It compares no strings. */

/* A *node* is a subtree of at most STRING_NODE - 1 tests that is part of no other node. Its tests are adjacent, so a
 * node needs no other memory. Invariants (tests/primitive/string_index.c checks them):
 *
 *   S1 tests     Level 0 has all tests.
 *   S2 levels    Level k + 1 has the tests of level k that are in no node: their subtrees have at least STRING_NODE
 *                tests. `cuts` has their indices in level k. Without branches, the last level is one node.
 *   S3 nodes     The nodes of a level lie between its cuts, of at most STRING_NODE - 1 tests each.
 *   Branches     If most tests of a level are in no node (strings that are prefixes of others), no level follows. These
 *                tests form a binary trie in preorder. Branch 0 is the root. A left child follows its parent. */
#define STRING_NODE       16
#define STRING_LEVELS_MAX 12

/* Bytes that two neighbouring strings may share, so that positions have 32 bits. */
#define STRING_SHARED_BITS 28
#define STRING_SHARED_MAX  ((1u << STRING_SHARED_BITS) - 1)

/* STRING_EQUAL is the position of equal strings. Bit STRING_GOES_ON of a byte: the bytes before are equal, the rest is
 * not compared yet. */
#define STRING_EQUAL   0xffffffffu
#define STRING_GOES_ON 15

/* A level of `count` tests. Its tests begin at index word `tests`, its cuts at word `cuts`, both multiples of 4. */
typedef struct {
    ordo_u64 tests, cuts;
    ordo_u32 count, unused;
} string_level;

/* A test that is a branch. `cut` is its index in the last level. `left` is 1 if the left child is the next branch.
 * `right` is the number of the right child. 0 stands for a node of the last level. */
typedef struct {
    ordo_u32 position, cut, right, left;
} string_branch;

/* The begin of the index. Branches begin at word `branches`. */
typedef struct {
    ordo_u64     branches;
    ordo_u32     n_branches, levels;
    string_level level[STRING_LEVELS_MAX];
} string_head;

ORDO_STATIC_ASSERT(sizeof(string_head) % 16 == 0, "tests begin at a multiple of 16 bytes");
