/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a linked tree (shared/ltree.h). The functions that descend require that no other launch changes
 * the tree. All lanes of a sub-group must call ltree_less. All lanes must also call each function that has an array of
 * TEAM_QUERIES queries as parameter. */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "shared/key.h"
#include "shared/ltree.h"

/* Macros that the host defines:
 *
 *   LTREE_WORDS   words of a node's key array (its line): 32 or 16
 *   LTREE_GROUP   work-items per group
 *   TEAM_WIDTH    lanes that read a node together
 *   LTREE_ITEMS   queries per work-item */
#ifndef LTREE_GROUP
#define LTREE_GROUP 64
#endif
#ifndef LTREE_ITEMS
#define LTREE_ITEMS 1
#endif

#if ORDO_VALUE_BYTES
typedef ordo_value ltree_value;
#else
typedef uint  ltree_value;
#endif

#define HAS_VALUES (ORDO_VALUE_BYTES != 0)

/* A concurrent operation that gave up: its index, the number of keys that it has counted, and its query. */
#if KEY_BITS == 128
typedef uint8 ltree_pended;

ORDO_FN ltree_pended ltree_pend(uint i, uint count, ordo_key_form query)
{
    return (uint8) (i, count, 0, 0, as_uint4(query));
}
ORDO_FN ordo_key_form ltree_pended_query(ltree_pended left)
{
    return as_ulong2(left.hi);
}
#else
typedef uint4 ltree_pended;

ORDO_FN ltree_pended ltree_pend(uint i, uint count, ordo_key_form query)
{
    return (uint4) (i, count, (uint) query, (uint) ((ulong) query >> 32));
}
ORDO_FN ordo_key_form ltree_pended_query(ltree_pended left)
{
    return (ordo_key_form) (left.z | (ulong) left.w << 32);
}
#endif

/* Converts a number to ordo_key_form. A node stores its numbers, for example its header, in this type. */
#if KEY_BITS == 128
#define LTREE_WORD(number) ((ordo_key_form) (number, 0))
#else
#define LTREE_WORD(number) ((ordo_key_form) (number))
#endif

/* Appends the size of a key to the name of a function: OF_KEYS(f) is f, f64 or f128. */
#if KEY_BITS == 32
#define OF_KEYS(function) function
#elif KEY_BITS == 64
#define OF_KEYS(function) function##64
#else
#define OF_KEYS(function) function##128
#endif

/* 1 if the kernels handle columns with elements of 16 bytes. */
#define LTREE_WIDE (KEY_BITS == 128 || ORDO_VALUE_BYTES == 16)

#if LTREE_WIDE
ORDO_FN ulong2 team_bcast128(ulong2 x, uint lane)
{
    return (ulong2) (team_bcast64(x.x, lane), team_bcast64(x.y, lane));
}
ORDO_FN ulong2 team_shuffle128(ulong2 x, uint lane)
{
    return (ulong2) (team_shuffle64(x.x, lane), team_shuffle64(x.y, lane));
}
ORDO_FN ulong2 team_shuffle_up128(ulong2 x, uint distance)
{
    return (ulong2) (team_shuffle_up64(x.x, distance), team_shuffle_up64(x.y, distance));
}
#endif

#define LTREE_HALF (LTREE_SLOTS / 2)

/* Unused slots hold the greatest key, which is never less than a query. */
#define LTREE_UNUSED (~(ordo_key_form) 0)

typedef struct {
    __global ordo_key_form *leaf_keys;
    __global ltree_value   *leaf_values;
    __global ordo_key_form *inner_keys;
    __global uint          *children;
    __global uint          *state;
    __global uint          *leaf_counts;
} ltree_tree;

#define LTREE_TREE                                                                                                     \
    __global ordo_key_form *leaf_keys, __global ltree_value *leaf_values, __global ordo_key_form *inner_keys,          \
        __global uint *children, __global uint *state, __global uint *leaf_counts
#define LTREE_TREE_HERE                                                                                                \
    {                                                                                                                  \
        leaf_keys, leaf_values, inner_keys, children, state, leaf_counts                                               \
    }

/* ---- a node ------------------------------------------------------------------------------------------------------ */

ORDO_FN __global ordo_key_form *ltree_leaf(const ltree_tree *tree, uint leaf)
{
    return tree->leaf_keys + (ulong) leaf * LTREE_WORDS;
}
ORDO_FN __global ltree_value *ltree_values(const ltree_tree *tree, uint leaf)
{
    return tree->leaf_values + (ulong) leaf * LTREE_SLOTS;
}
ORDO_FN __global ordo_key_form *ltree_inner(const ltree_tree *tree, uint node)
{
    return tree->inner_keys + (ulong) node * LTREE_WORDS;
}
ORDO_FN __global uint *ltree_children(const ltree_tree *tree, uint node)
{
    return tree->children + (ulong) node * LTREE_SLOTS;
}
ORDO_FN __global ordo_key_form *ltree_line(const ltree_tree *tree, uint level, uint node)
{
    return level == 0 ? ltree_leaf(tree, node) : ltree_inner(tree, node);
}

ORDO_FN __global uint *ltree_header(__global ordo_key_form *line)
{
    return (__global uint *) (line + LTREE_HEADER);
}
ORDO_FN __global uint *ltree_right(__global ordo_key_form *line)
{
    return (__global uint *) (line + LTREE_RIGHT);
}
ORDO_FN uint ltree_count(__global const ordo_key_form *line)
{
    return *(__global const uint *) (line + LTREE_HEADER) & LTREE_COUNT_MASK;
}

ORDO_FN uint ltree_number(ordo_key_form word)
{
    return key_digit(word, 0, ~0u);
}

/* A dead leaf covers no keys: its bounds are equal. Leaf 0 is never dead, because it always covers key 0. */
ORDO_FN bool ltree_is_dead(uint leaf, ordo_key_form low, ordo_key_form high)
{
    return leaf > 0 && key_same(low, high);
}

ORDO_FN uint ltree_root_level(uint root)
{
    return (root & ~LTREE_ROOT_LATCHED) >> LTREE_LEVEL_SHIFT;
}
ORDO_FN uint ltree_root_node(uint root)
{
    return root & LTREE_NODE_MASK;
}

/* ---- counts of keys ---------------------------------------------------------------------------------------------- */

/* The result of a search in a node: the number of keys less than the query, plus COUNT_EQUAL for each equal key. */
#define COUNT_EQUAL       0x100u
#define COUNT_LESS(count) ((count) % COUNT_EQUAL)

#if ORDO_CPU && TEAM_WIDTH == 1

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi"
#endif

/* To save cache lines, a CPU reads only the first or the last LTREE_PART slots of a node. */
#define LTREE_PART 16

ORDO_FN uint ltree_part(__global const ordo_key_form *line, ordo_key_form query)
{
#if LTREE_SLOTS > LTREE_PART
    return key_before(line[LTREE_PART - 1], query) ? LTREE_SLOTS - LTREE_PART : 0;
#else
    return 0;
#endif
}

#if KEY_BITS == 128

ORDO_FN uint ltree_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
    uint less = 0;

    ORDO_UNROLL
    for (uint step = LTREE_PART; step > 0; step /= 2)
        if (less + step <= LTREE_SLOTS && key_before(line[less + step - 1], query))
            less += step;
    return less + (equal && less < LTREE_SLOTS && key_same(line[less], query) ? COUNT_EQUAL : 0);
}

#else

ORDO_FN uint ltree_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
#if LTREE_SLOTS > LTREE_PART
    const uint from = ltree_part(line, query), part = LTREE_PART;
    const int8 eight = convert_int8(vload8(0, line + from) >= query) + convert_int8(vload8(1, line + from) >= query);
    const int4 four = eight.lo + eight.hi; /* A true vector comparison is -1. */
#else
    const uint from = 0, part = LTREE_SLOTS;
    const int8 eight = convert_int8(vload8(0, line) >= query);
    const int4 four = eight.lo + eight.hi + convert_int4(vload4(2, line) >= query);
#endif
    const int2 two = four.lo + four.hi;
    const uint less = from + part + (uint) (two.x + two.y);
    /* If `less` is LTREE_SLOTS, line[less] is the low bound, so the load is valid. */
    const bool hit = equal & (less < LTREE_SLOTS) & (line[less] == query);

    return less + (hit ? COUNT_EQUAL : 0);
}

#endif

#else

#define LTREE_PIECE_KEYS  (128 / KEY_BITS)
#define LTREE_PIECES      (LTREE_SLOTS / LTREE_PIECE_KEYS)
#define LTREE_LANE_PIECES ((LTREE_PIECES + TEAM_WIDTH - 1) / TEAM_WIDTH)

ORDO_FN uint ltree_count_key(ordo_key_form key, ordo_key_form query, bool equal)
{
    return (uint) key_before(key, query) + (equal && key_same(key, query) ? COUNT_EQUAL : 0);
}

ORDO_FN uint ltree_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
    uint count = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LTREE_LANE_PIECES; r++) {
        const uint piece = r * TEAM_WIDTH + team_lane();
        if (piece >= LTREE_PIECES)
            continue;
#if KEY_BITS == 128
        count += ltree_count_key(line[piece], query, equal);
#else
#if KEY_BITS == 32
        const uint4 keys = ((__global const uint4 *) line)[piece];
        count += ltree_count_key(keys.z, query, equal) + ltree_count_key(keys.w, query, equal);
#else
        const ulong2 keys = ((__global const ulong2 *) line)[piece];
#endif
        count += ltree_count_key(keys.x, query, equal) + ltree_count_key(keys.y, query, equal);
#endif
    }
    return count;
}

#endif

ORDO_FN uint ltree_less(__global const ordo_key_form *line, ordo_key_form query)
{
    return team_reduce_add(ltree_count_lane(line, query, false));
}

#define PLACE_SLOT 0xffu
#define PLACE_HIT  0x100u

/* An entry of an inner node has a key and a child. Returns the index of the entry whose child a search visits next.
 * `less` is the number of the node's keys that are less than the query. */
ORDO_FN uint ltree_entry(uint less)
{
    return max(less, 1u) - 1;
}

/* ---- from the root to a leaf ------------------------------------------------------------------------------------- */

#define TEAM_QUERIES (LTREE_ITEMS * TEAM_WIDTH)

/* Stands before a loop over a work-item's queries. */
#if ORDO_CPU || LTREE_ITEMS > 16
#define LTREE_UNROLL ORDO_KEEP_LOOP
#else
#define LTREE_UNROLL ORDO_UNROLL
#endif

typedef struct {
    ordo_key_form query;
    uint          node, parent;
} ltree_path;

ORDO_FN void ltree_share(__private const ordo_key_form query[LTREE_ITEMS], __private ltree_path path[TEAM_QUERIES])
{
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        path[m].query = OF_KEYS(team_bcast)(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
}

ORDO_FN void ltree_descend(const ltree_tree *tree, __private ltree_path path[TEAM_QUERIES])
{
    const uint root = tree->state[LTREE_ROOT];

    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        path[m].node = ltree_root_node(root);
        path[m].parent = LTREE_NONE;
    }
    for (uint above = ltree_root_level(root); above > 0; above--) {
        uint less[TEAM_QUERIES];
        LTREE_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++)
            less[m] = ltree_count_lane(ltree_inner(tree, path[m].node), path[m].query, false);
        LTREE_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            const uint entry = ltree_entry(team_reduce_add(less[m]));
            path[m].parent = path[m].node;
            path[m].node = ltree_children(tree, path[m].node)[entry];
#if ORDO_CPU
            ORDO_PREFETCH(ltree_line(tree, above - 1, path[m].node) + LTREE_SLOTS / 2);
#endif
        }
    }
}

/* ---- tiles of queries -------------------------------------------------------------------------------------------- */

#define LTREE_TILE ((uint) (LTREE_GROUP * LTREE_ITEMS))

ORDO_FN uint ltree_query_at(uint first, uint r)
{
#if ORDO_CPU
    return first + (uint) get_local_id(0) * LTREE_ITEMS + r;
#else
    return first + r * LTREE_GROUP + (uint) get_local_id(0);
#endif
}

ORDO_FN void ltree_load_queries(__global const ordo_key *keys, uint n, uint first,
                                __private ordo_key_form query[LTREE_ITEMS])
{
    LTREE_UNROLL
    for (uint r = 0; r < LTREE_ITEMS; r++)
        query[r] = key_bits(keys[min(ltree_query_at(first, r), n - 1)]);
}

/* Returns from the kernel if this work-item has no query. The kernel must have no barriers. */
#define LTREE_LEAVE_IDLE(n)                                                                                            \
    if (ORDO_CPU && TEAM_WIDTH == 1 && ltree_query_at(0, 0) >= (n))                                                    \
        return;

ORDO_FN void ltree_take_tile(const ltree_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private ltree_path path[TEAM_QUERIES])
{
    ordo_key_form query[LTREE_ITEMS];

    ltree_load_queries(keys, n, first, query);
    ltree_share(query, path);
    ltree_descend(tree, path);
}

/* Lane l holds the results of the team's queries l, l + TEAM_WIDTH, ... */
typedef struct {
    uint leaf, parent, place;
} ltree_position;

ORDO_FN void ltree_own(__private const ltree_path path[TEAM_QUERIES], __private ltree_position position[LTREE_ITEMS])
{
    LTREE_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const bool own = m % TEAM_WIDTH == team_lane();
        const uint r = m / TEAM_WIDTH;
        position[r].leaf = own ? path[m].node : position[r].leaf;
        position[r].parent = own ? path[m].parent : position[r].parent;
    }
}
