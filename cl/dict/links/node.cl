/* SPDX-License-Identifier: Apache-2.0 */
/* A linked tree in kernels, and the search for a key in a tree at rest. shared/links_node.h draws a node.
 *
 *   LINKS_WORDS   words of a node's line: 32, or 16
 *   LINKS_GROUP   work-items of a group
 *   TEAM_WIDTH    lanes that look at a node together
 *   LINKS_ITEMS   queries per work-item, all of a team's in flight at once
 */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "shared/key.h"
#include "shared/links_node.h"

#ifndef LINKS_GROUP
#define LINKS_GROUP 64
#endif
#ifndef LINKS_ITEMS
#define LINKS_ITEMS 1
#endif

#if ORDO_VALUE_BYTES
typedef ordo_value links_value;
#else
typedef uint links_value; /* there are none */
#endif

/* What an unused slot holds: no query is greater, so a count of lesser keys does not count it. */
#define LINKS_UNUSED (~(ordo_key_form) 0)

typedef struct {
    __global ordo_key_form *leaf_keys;
    __global links_value   *leaf_values;
    __global ordo_key_form *inner_keys;
    __global uint          *children;
    __global uint          *state;
    __global uint *leaf_counts; /* of each leaf at rest its count, once more: few enough words to stay in a cache */
} links_tree;

#define LINKS_TREE                                                                                                     \
    __global ordo_key_form *leaf_keys, __global links_value *leaf_values, __global ordo_key_form *inner_keys,          \
        __global uint *children, __global uint *state, __global uint *leaf_counts
#define LINKS_TREE_HERE                                                                                                \
    {                                                                                                                  \
        leaf_keys, leaf_values, inner_keys, children, state, leaf_counts                                               \
    }

/* ---- a node ------------------------------------------------------------------------------------------------------ */

ORDO_FN __global ordo_key_form *links_leaf(const links_tree *tree, uint leaf)
{
    return tree->leaf_keys + (ulong) leaf * LINKS_WORDS;
}
ORDO_FN __global links_value *links_values(const links_tree *tree, uint leaf)
{
    return tree->leaf_values + (ulong) leaf * LINKS_SLOTS;
}
ORDO_FN __global ordo_key_form *links_inner(const links_tree *tree, uint node)
{
    return tree->inner_keys + (ulong) node * LINKS_WORDS;
}
ORDO_FN __global uint *links_children(const links_tree *tree, uint node)
{
    return tree->children + (ulong) node * LINKS_SLOTS;
}
/* The keys' line of a node of any level. */
ORDO_FN __global ordo_key_form *links_line(const links_tree *tree, uint level, uint node)
{
    return level == 0 ? links_leaf(tree, node) : links_inner(tree, node);
}

ORDO_FN __global uint *links_header(__global ordo_key_form *line)
{
    return (__global uint *) (line + LINKS_HEADER);
}
ORDO_FN __global uint *links_right(__global ordo_key_form *line)
{
    return (__global uint *) (line + LINKS_RIGHT);
}
ORDO_FN uint links_count(__global const ordo_key_form *line)
{
    return *(__global const uint *) (line + LINKS_HEADER) & LINKS_COUNT_MASK;
}

/* Whether a leaf covers nothing (B9): it is in no level, or about to leave it. */
ORDO_FN bool links_is_dead(uint leaf, ordo_key_form low, ordo_key_form high)
{
    return leaf > 0 && low == high;
}

ORDO_FN uint links_root_level(uint root)
{
    return (root & ~LINKS_ROOT_LATCHED) >> LINKS_LEVEL_SHIFT;
}
ORDO_FN uint links_root_node(uint root)
{
    return root & LINKS_NODE_MASK;
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
#define LINKS_PART 16

/* Where the part for a query begins. */
ORDO_FN uint links_part(__global const ordo_key_form *line, ordo_key_form query)
{
#if LINKS_SLOTS > LINKS_PART
    return line[LINKS_PART - 1] < query ? LINKS_SLOTS - LINKS_PART : 0;
#else
    return 0;
#endif
}

/* Spelled with vectors: of a sum of comparisons the compiler would make bits, and take these apart one by one. "Not
 * less" rather than "less", as processors that compare signed numbers only make this of a maximum. */
ORDO_FN uint links_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
#if LINKS_SLOTS > LINKS_PART
    const uint from = links_part(line, query), part = LINKS_PART;
    const int8 eight = convert_int8(vload8(0, line + from) >= query) + convert_int8(vload8(1, line + from) >= query);
    const int4 four = eight.lo + eight.hi; /* true is -1 */
#else
    const uint from = 0, part = LINKS_SLOTS; /* 12 */
    const int8 eight = convert_int8(vload8(0, line) >= query);
    const int4 four = eight.lo + eight.hi + convert_int4(vload4(2, line) >= query);
#endif
    const int2 two = four.lo + four.hi;
    const uint less = from + part + (uint) (two.x + two.y);
    const bool hit = equal & (less < LINKS_SLOTS) & (line[less] == query); /* no branch: line[LINKS_SLOTS] is there */

    return less + (hit ? COUNT_EQUAL : 0);
}

#else

/* A line is read in pieces of 16 bytes, neighbouring lanes reading neighbouring pieces. */
#define LINKS_PIECE_KEYS  (128 / KEY_BITS)
#define LINKS_PIECES      (LINKS_SLOTS / LINKS_PIECE_KEYS)
#define LINKS_LANE_PIECES ((LINKS_PIECES + TEAM_WIDTH - 1) / TEAM_WIDTH)

ORDO_FN uint links_count_key(ordo_key_form key, ordo_key_form query, bool equal)
{
    return (uint) (key < query) + (equal && key == query ? COUNT_EQUAL : 0);
}

/* This lane's part of the count, with the equal ones or without. */
ORDO_FN uint links_count_lane(__global const ordo_key_form *line, ordo_key_form query, bool equal)
{
    uint count = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LINKS_LANE_PIECES; r++) {
        const uint piece = r * TEAM_WIDTH + team_lane();
        if (piece >= LINKS_PIECES)
            continue;
#if KEY_BITS == 32
        const uint4 keys = ((__global const uint4 *) line)[piece];
        count += links_count_key(keys.z, query, equal) + links_count_key(keys.w, query, equal);
#else
        const ulong2 keys = ((__global const ulong2 *) line)[piece];
#endif
        count += links_count_key(keys.x, query, equal) + links_count_key(keys.y, query, equal);
    }
    return count;
}

#endif

/* By a team, called by whole sub-groups. */
ORDO_FN uint links_less(__global const ordo_key_form *line, ordo_key_form query)
{
    return team_reduce_add(links_count_lane(line, query, false));
}

/* A place in a leaf: how many of its keys are less than the query, and PLACE_HIT if the query is the next one. */
#define PLACE_SLOT 0xffu
#define PLACE_HIT  0x100u

/* The entry of an inner node to go down by, of `less` keys that are less than the query: the last of these, or the
 * first of all for what is below the first key of a level (B2). */
ORDO_FN uint links_entry(uint less)
{
    return max(less, 1u) - 1;
}

/* ---- from the root to a leaf ------------------------------------------------------------------------------------- */

#define TEAM_QUERIES (LINKS_ITEMS * TEAM_WIDTH)

/* Before a loop over these, or over a work-item's: on a GPU they are few and in registers, on a CPU many and in memory. */
#if ORDO_CPU || LINKS_ITEMS > 16
#define LINKS_UNROLL ORDO_KEEP_LOOP
#else
#define LINKS_UNROLL ORDO_UNROLL
#endif

typedef struct {
    ordo_key_form query;
    uint          node, parent;
} links_path;

ORDO_FN ordo_key_form links_bcast_key(ordo_key_form key, uint lane)
{
#if KEY_BITS == 32
    return team_bcast(key, lane);
#else
    return team_bcast64(key, lane);
#endif
}

/* The queries of the team's lanes. Called by whole sub-groups. */
ORDO_FN void links_share(__private const ordo_key_form query[LINKS_ITEMS], __private links_path path[TEAM_QUERIES])
{
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++)
        path[m].query = links_bcast_key(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
}

/* Takes all of a team's queries from the root to the leaves that cover them: in a tree at rest the entries above are
 * enough (B4). Called by whole sub-groups. */
ORDO_FN void links_descend(const links_tree *tree, __private links_path path[TEAM_QUERIES])
{
    const uint root = tree->state[LINKS_ROOT];

    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        path[m].node = links_root_node(root);
        path[m].parent = LINKS_NONE;
    }
    for (uint above = links_root_level(root); above > 0; above--) {
        uint less[TEAM_QUERIES];
        LINKS_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++)
            less[m] = links_count_lane(links_inner(tree, path[m].node), path[m].query, false);
        LINKS_UNROLL
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            const uint entry = links_entry(team_reduce_add(less[m]));
            path[m].parent = path[m].node;
            path[m].node = links_children(tree, path[m].node)[entry];
#if ORDO_CPU
            ORDO_PREFETCH(links_line(tree, above - 1, path[m].node) + LINKS_SLOTS / 2); /* the key that picks a part */
#endif
        }
    }
}

/* ---- tiles of queries -------------------------------------------------------------------------------------------- */

#define LINKS_TILE ((uint) (LINKS_GROUP * LINKS_ITEMS))

/* The r-th query of this work-item in the tile that begins at `first`: neighbours take neighbours; on a CPU a work-item
 * takes its own in a row. */
ORDO_FN uint links_query_at(uint first, uint r)
{
#if ORDO_CPU
    return first + (uint) get_local_id(0) * LINKS_ITEMS + r;
#else
    return first + r * LINKS_GROUP + (uint) get_local_id(0);
#endif
}

/* This work-item's queries of a tile; there are n in all. */
ORDO_FN void links_load_queries(__global const ordo_key *keys, uint n, uint first,
                                __private ordo_key_form query[LINKS_ITEMS])
{
    LINKS_UNROLL
    for (uint r = 0; r < LINKS_ITEMS; r++)
        query[r] = key_bits(keys[min(links_query_at(first, r), n - 1)]);
}

/* Of fewer queries than a tile has, work-items without any leave: they would go where the last one goes (one of 2^20 keys took 25 us for 8
 * on a CPU). In kernels without barriers. */
#define LINKS_LEAVE_IDLE(n)                                                                                            \
    if (ORDO_CPU && TEAM_WIDTH == 1 && links_query_at(0, 0) >= (n))                                                    \
        return;

/* Takes a tile of queries, of which there are n, down to their leaves. Called by the whole group. */
ORDO_FN void links_take_tile(const links_tree *tree, __global const ordo_key *keys, uint n, uint first,
                             __private links_path path[TEAM_QUERIES])
{
    ordo_key_form query[LINKS_ITEMS];

    links_load_queries(keys, n, first, query);
    links_share(query, path);
    links_descend(tree, path);
}

/* What a team has found for this work-item's r-th query: lane l's are those numbered l modulo TEAM_WIDTH. */
typedef struct {
    uint leaf, parent, place;
} links_position;

ORDO_FN void links_own(__private const links_path path[TEAM_QUERIES], __private links_position position[LINKS_ITEMS])
{
    LINKS_UNROLL
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const bool own = m % TEAM_WIDTH == team_lane();
        const uint r = m / TEAM_WIDTH;
        position[r].leaf = own ? path[m].node : position[r].leaf;
        position[r].parent = own ? path[m].parent : position[r].parent;
    }
}
