/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of the index of a sorted column of distinct strings (cl/primitive/string_search.cl). The index is a
 * binary trie. Its inner nodes are *tests*: at each test, a search reads one bit of the query. */
#pragma once
#include "shared/types.h"

/* A *position* is byte << 4 | bit: the index of a byte in a string, and a bit number from 0 to 8. Bit 0 is 1 if the
 * string is long enough to have this byte. Bits 1 to 8 are the bits of the byte, the most significant first. At the
 * first position where two strings differ, the greater string (in memcmp's order) has a 1. */

/* Test i is the first position where strings i and i + 1 differ. The tests form a binary trie. Its root is the least
 * test. The tests before the root are its left subtree, and the tests after the root its right subtree.
 *
 *                             3                  The trie of six strings with the tests 7 5 9 3 6. A search begins at
 *                    5                6          the least position, 3. It goes right if the query has a 1 there, and
 *                7       9                       left if it has a 0. Where no test follows, it ends at a string.
 *     strings  0   1   2   3       4     5 */

/* The tests of a level form a trie. *Nodes* are the largest subtrees of this trie with at most STRING_NODE - 1
 * tests. Invariants (tests/primitive/string_index.c checks them):
 *
 *   S1 tests     Level 0 has all tests.
 *   S2 levels    Level k + 1 has the tests of level k that are in no node. `cuts` has their indices in level k. If
 *                the index has no branches (see below), the last level is one node.
 *   S3 nodes     The tests of level k between two neighbouring cuts are a node.
 *   Branches     If most tests of a level are in no node (many strings are prefixes of others), no level follows. These
 *                tests are *branches*: a binary trie in preorder. Branch 0 is the root. A left child follows its
 *                parent. */
#define STRING_NODE       16
#define STRING_LEVELS_MAX 12

/* Two neighbouring strings may have at most STRING_SHARED_MAX equal first bytes. So positions fit in 32 bits. */
#define STRING_SHARED_BITS 28
#define STRING_SHARED_MAX  ((1u << STRING_SHARED_BITS) - 1)

/* A search ends at the query if the column has it. Otherwise it ends at a string that shares the most leading bits
 * with the query. A second search then finds the place of the query among the sorted strings. Let p be the first
 * position where the query and the found string differ. At tests before p, the second search reads the query. At all
 * other tests, it goes right if the query is greater than the found string, else left. */

/* Two equal strings have position STRING_EQUAL. Bit number STRING_GOES_ON means: the bytes before this byte index are
 * equal, and the others are not yet compared. */
#define STRING_EQUAL   0xffffffffu
#define STRING_GOES_ON 15

/* A search that finds no string returns this value (ORDO_NO_ID) in place of an id. */
#define STRING_NO_ID 0xffffffffu

/* A level has `count` tests. They begin at word `tests` of the index. A level above level 0 has copies of tests of
 * the level below. Their numbers in the level below begin at word `cuts` of the index. `tests` and `cuts` are
 * multiples of 4. */
typedef struct {
    ordo_u64 tests, cuts;
    ordo_u32 count, unused;
} string_level;

/* A branch is a copy of test number `cut` of the last level. If `left` is 1, the left child is the next branch of the
 * array. If `right` is not 0, the right child has this index in the array. For other children, the search continues in
 * the last level. */
typedef struct {
    ordo_u32 position, cut, right, left;
} string_branch;

typedef struct {
    ordo_u64     branches;
    ordo_u32     n_branches, levels;
    string_level level[STRING_LEVELS_MAX];
} string_head;

ORDO_STATIC_ASSERT(sizeof(string_head) % 16 == 0, "tests begin at a multiple of 16 bytes");
