/* SPDX-License-Identifier: Apache-2.0 */
/* A B-link tree in kernels, and the search for a key in a tree at rest. shared/blink_node.h draws a node.
 *
 *   BLINK_GROUP   work-items of a group
 *   TEAM_WIDTH    lanes that look at a node together
 *   BLINK_ITEMS   queries per work-item, all of a team's in flight at once
 */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "shared/blink_node.h"
#include "shared/key.h"

#ifndef BLINK_GROUP
#define BLINK_GROUP 64
#endif
#ifndef BLINK_ITEMS
#define BLINK_ITEMS 1
#endif

#if ORDO_VALUE_BYTES
typedef ordo_value blink_value;
#else
typedef uint blink_value; /* there are none */
#endif

/* What an unused slot holds: no query is greater, so a count of lesser keys does not count it. */
#define BLINK_UNUSED (~(ordo_key_form) 0)

typedef struct {
    __global ordo_key_form *leaf_keys;
    __global blink_value   *leaf_values;
    __global ordo_key_form *inner_keys;
    __global uint          *children;
    __global uint          *state;
    __global uint *leaf_counts; /* of each leaf at rest its count, once more: few enough words to stay in a cache */
} blink_tree;

#define BLINK_TREE                                                                                                     \
    __global ordo_key_form *leaf_keys, __global blink_value *leaf_values, __global ordo_key_form *inner_keys,          \
        __global uint *children, __global uint *state, __global uint *leaf_counts
#define BLINK_TREE_HERE                                                                                                \
    {                                                                                                                  \
        leaf_keys, leaf_values, inner_keys, children, state, leaf_counts                                               \
    }

/* ---- a node ------------------------------------------------------------------------------------------------------ */

ORDO_FN __global ordo_key_form *blink_leaf(const blink_tree *tree, uint leaf)
{
    return tree->leaf_keys + (ulong) leaf * BLINK_WORDS;
}
ORDO_FN __global blink_value *blink_values(const blink_tree *tree, uint leaf)
{
    return tree->leaf_values + (ulong) leaf * BLINK_SLOTS;
}
ORDO_FN __global ordo_key_form *blink_inner(const blink_tree *tree, uint node)
{
    return tree->inner_keys + (ulong) node * BLINK_WORDS;
}
ORDO_FN __global uint *blink_children(const blink_tree *tree, uint node)
{
    return tree->children + (ulong) node * BLINK_SLOTS;
}
/* The keys' line of a node of any level. */
ORDO_FN __global ordo_key_form *blink_line(const blink_tree *tree, uint level, uint node)
{
    return level == 0 ? blink_leaf(tree, node) : blink_inner(tree, node);
}

ORDO_FN __global uint *blink_header(__global ordo_key_form *line)
{
    return (__global uint *) (line + BLINK_HEADER);
}
ORDO_FN __global uint *blink_right(__global ordo_key_form *line)
{
    return (__global uint *) (line + BLINK_RIGHT);
}
ORDO_FN uint blink_count(__global const ordo_key_form *line)
{
    return *(__global const uint *) (line + BLINK_HEADER) & BLINK_COUNT_MASK;
}

ORDO_FN uint blink_root_level(uint root)
{
    return (root & ~BLINK_ROOT_LATCHED) >> BLINK_LEVEL_SHIFT;
}
ORDO_FN uint blink_root_node(uint root)
{
    return root & BLINK_NODE_MASK;
}

/* ---- how many keys of a node are less than a query --------------------------------------------------------------- */

/* Keys of a node less than the query (low bits) and equal to it (COUNT_EQUAL each); unused slots are equal to a
 * query of all ones and less than none. */
#define COUNT_EQUAL       0x100u
#define COUNT_LESS(count) ((count) % COUNT_EQUAL)

#if ORDO_CPU && TEAM_WIDTH == 1

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi" /* vectors that the processor lacks: no call passes them */
#endif

/* Of a node one part is looked at, which one key picks: seldom the second one, and so seldom its lines of the cache. */
#define BLINK_PART 16

/* Where the part for a query begins. */
ORDO_FN uint blink_part(__global const ordo_key_form *line, ordo_key_form query)
{
    return line[BLINK_PART - 1] < query ? BLINK_SLOTS - BLINK_PART : 0;
}

/* Spelled with vectors: of a sum of comparisons the compiler would make bits, and take these apart one by one. "Not
 * less" rather than "less", as processors that compare signed numbers only make this of a maximum. */
ORDO_FN uint blink_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
    const uint from = blink_part(line, query);
    const int8 eight = convert_int8(vload8(0, line + from) >= query) + convert_int8(vload8(1, line + from) >= query);
    const int4 four = eight.lo + eight.hi; /* true is -1 */
    const int2 two = four.lo + four.hi;
    const uint less = from + BLINK_PART + (uint) (two.x + two.y);
    const bool hit = equal & (less < BLINK_SLOTS) & (line[less] == query); /* no branch: line[BLINK_SLOTS] is there */

    return less + (hit ? COUNT_EQUAL : 0);
}

#else

/* A line is read in pieces of 16 bytes, neighbouring lanes reading neighbouring pieces. */
#define BLINK_PIECE_KEYS  (128 / KEY_BITS)
#define BLINK_PIECES      (BLINK_SLOTS / BLINK_PIECE_KEYS)
#define BLINK_LANE_PIECES ((BLINK_PIECES + TEAM_WIDTH - 1) / TEAM_WIDTH)

ORDO_FN uint blink_count_key(ordo_key_form key, ordo_key_form query, bool equal)
{
    return (uint) (key < query) + (equal && key == query ? COUNT_EQUAL : 0);
}

/* This lane's part of the count, with the equal ones or without. */
ORDO_FN uint blink_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
    uint count = 0;

    ORDO_UNROLL
    for (uint r = 0; r < BLINK_LANE_PIECES; r++) {
        const uint piece = r * TEAM_WIDTH + team_lane();
        if (piece >= BLINK_PIECES)
            continue;
#if KEY_BITS == 32
        const uint4 keys = ((__global const uint4 *) line)[piece];
        count += blink_count_key(keys.z, query, equal) + blink_count_key(keys.w, query, equal);
#else
        const ulong2 keys = ((__global const ulong2 *) line)[piece];
#endif
        count += blink_count_key(keys.x, query, equal) + blink_count_key(keys.y, query, equal);
    }
    return count;
}

#endif

/* By a team, called by whole sub-groups. */
ORDO_FN uint blink_less(__global const ordo_key_form *line, ordo_key_form query)
{
    return team_reduce_add(blink_count_lane(line, query, false));
}

/* A place in a leaf: how many of its keys are less than the query, and PLACE_HIT if the query is the next one. */
#define PLACE_SLOT 0xffu
#define PLACE_HIT  0x100u

/* The entry of an inner node to go down by, of `less` keys that are less than the query: the last of these, or the
 * first of all for what is below the first key of a level (B2). */
ORDO_FN uint blink_entry(uint less)
{
    return max(less, 1u) - 1;
}

/* ---- from the root to a leaf ------------------------------------------------------------------------------------- */

#define TEAM_QUERIES (BLINK_ITEMS * TEAM_WIDTH)

/* Before a loop over these, or over a work-item's: on a GPU they are few and in registers, on a CPU many and in memory. */
#if ORDO_CPU || BLINK_ITEMS > 16
#define BLINK_UNROLL _Pragma("unroll 1")
#else
#define BLINK_UNROLL ORDO_UNROLL
#endif

typedef struct {
    ordo_key_form query;
    uint          node, parent;
} blink_path;

ORDO_FN ordo_key_form blink_bcast_key(ordo_key_form key, uint lane)
{
#if KEY_BITS == 32
    return team_bcast(key, lane);
#else
    return team_bcast64(key, lane);
#endif
}

/* The queries of the team's lanes. Called by whole sub-groups. */
ORDO_FN void blink_share(__private const ordo_key_form query[BLINK_ITEMS], __private blink_path path[TEAM_QUERIES])
{
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        path[m].query = blink_bcast_key(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
}

/* Takes all of a team's queries from the root to the leaves that cover them: in a tree at rest the entries above are
 * enough (B4). Called by whole sub-groups. */
ORDO_FN void blink_descend(const blink_tree *tree, __private blink_path path[TEAM_QUERIES])
{
    const uint root = tree->state[BLINK_ROOT];

    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        path[m].node = blink_root_node(root);
        path[m].parent = BLINK_NONE;
    }
    for (uint above = blink_root_level(root); above > 0; above--) {
        uint less[TEAM_QUERIES];
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++)
            less[m] = blink_count_lane(blink_inner(tree, path[m].node), path[m].query, false);
        BLINK_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            const uint entry = blink_entry(team_reduce_add(less[m]));
            path[m].parent = path[m].node;
            path[m].node = blink_children(tree, path[m].node)[entry];
#if ORDO_CPU
            ORDO_PREFETCH(blink_line(tree, above - 1, path[m].node) + BLINK_SLOTS / 2); /* the key that picks a part */
#endif
        }
    }
}

/* ---- tiles of queries -------------------------------------------------------------------------------------------- */

#define BLINK_TILE ((uint) (BLINK_GROUP * BLINK_ITEMS))

/* The r-th query of this work-item in the tile that begins at `first`: neighbours take neighbours; on a CPU a work-item
 * takes its own in a row. */
ORDO_FN uint blink_query_at(uint first, uint r)
{
#if ORDO_CPU
    return first + (uint) get_local_id(0) * BLINK_ITEMS + r;
#else
    return first + r * BLINK_GROUP + (uint) get_local_id(0);
#endif
}

/* This work-item's queries of a tile; there are n in all. */
ORDO_FN void blink_load_queries(__global const ordo_key *keys, uint n, uint first,
                                __private ordo_key_form query[BLINK_ITEMS])
{
    BLINK_UNROLL
    for (uint r = 0; r < BLINK_ITEMS; r++)
        query[r] = key_bits(keys[min(blink_query_at(first, r), n - 1)]);
}

/* Takes a tile of queries, of which there are n, down to their leaves. Called by the whole group. */
ORDO_FN void blink_take_tile(const blink_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private blink_path path[TEAM_QUERIES])
{
    ordo_key_form query[BLINK_ITEMS];

    blink_load_queries(keys, n, first, query);
    blink_share(query, path);
    blink_descend(tree, path);
}

/* What a team has found for this work-item's r-th query: lane l's are those numbered l modulo TEAM_WIDTH. */
typedef struct {
    uint leaf, parent, place;
} blink_position;

ORDO_FN void blink_own(__private const blink_path path[TEAM_QUERIES], __private blink_position position[BLINK_ITEMS])
{
    BLINK_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const bool own = m % TEAM_WIDTH == team_lane();
        const uint r = m / TEAM_WIDTH;
        position[r].leaf = own ? path[m].node : position[r].leaf;
        position[r].parent = own ? path[m].parent : position[r].parent;
    }
}
