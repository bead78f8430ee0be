/* SPDX-License-Identifier: Apache-2.0 */
/* Batched search in a sorted array: lower and upper bounds, and the values of keys.
 *
 *   search_indexed   queries in any order, through a static index (shared/index.h)
 *   search_array     queries in any order, without an index
 *   search_sorted    queries that ascend: each work-group looks only at the part of the array that its queries span
 *   search_gallop    the same for one work-item at a time, on CPUs
 *   search_number    numbers queries, before they are put in another order
 *
 * All take (keys, queries, answers), then what is their own. The host gives ORDO_KEY, ORDO_VALUE_BYTES, SEARCH_UPPER,
 * SEARCH_NODE, SEARCH_GROUP, SEARCH_ITEMS, TEAM_WIDTH (lanes per query), and
 *   SEARCH_LOOKUP   1: answers are values and whether the key was found; 0: ranks
 *   SEARCH_RANGES   1: of ranks both bounds
 *   SEARCH_RUN      1: a lookup in one run of several (host/dict/sorted_run.h), newest first: takes the last of equal keys, and
 *                   passes over queries that a newer run has answered. Has SEARCH_UPPER.
 *   SEARCH_MARK     1: answers nothing, but hides what is found, in an older run whose hidden bits are there: the last of
 *                   equal keys. Has SEARCH_UPPER and SEARCH_LOOKUP.
 *   SEARCH_PACKED   not 0: the index is compressed, it has the keys; how many bytes of each, or PACK_MIXED
 *   SEARCH_PLACES   1: query i stands for query places[i], whose answer it gives
 *   SEARCH_LOCAL    1: the group keeps separators in local memory, which takes barriers; 0: it does without
 */
#pragma once
#include "device/atomic.cl"
#include "group/search.cl"
#include "shared/index.h"
#include "shared/runs.h"

#ifndef SEARCH_LOOKUP
#define SEARCH_LOOKUP 0
#endif
#ifndef SEARCH_RANGES
#define SEARCH_RANGES 0
#endif
#ifndef SEARCH_RUN
#define SEARCH_RUN 0
#endif
#ifndef SEARCH_MARK
#define SEARCH_MARK 0
#endif
#ifndef SEARCH_PLACES
#define SEARCH_PLACES 0
#endif
#ifndef SEARCH_PACKED
#define SEARCH_PACKED 0
#endif
#define SEARCH_LAST (SEARCH_RUN || SEARCH_MARK)
#ifndef SEARCH_LOCAL
#define SEARCH_LOCAL (!ORDO_CPU)
#endif

#if SEARCH_NODE == 8
#define NODE_LOG2 3
#elif SEARCH_NODE == 16
#define NODE_LOG2 4
#elif SEARCH_NODE == 32
#define NODE_LOG2 5
#else
#error "SEARCH_NODE must be 8, 16 or 32"
#endif

/* Queries that a work-group has in flight: a tile. */
#define SEARCH_TILE (SEARCH_GROUP * SEARCH_ITEMS)

/* SEARCH_ONCE: blocks and values of an array that no cache holds are read so that the index stays there instead. Finds in 2^27
 * keys of 4 bytes came to 13.9 G/s with that on an H200, to 12.3 G/s without, before it was a variant of its own. */
#if SEARCH_ONCE && ORDO_VALUE_BYTES == 8
#define READ_VALUE(p) ordo_read64_once(p)
#elif SEARCH_ONCE
#define READ_VALUE(p) ordo_read_once(p)
#else
#define READ_VALUE(p) (*(p))
#endif

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/* An array of keys or of queries. */
typedef struct {
    __global const ordo_key *key;
    uint                     count;
#if SEARCH_PACKED
    __global const uchar         *packed;
    __global const uint          *offsets;    /* where blocks differ in their bytes a key */
    __global const ordo_key_form *separators; /* of level 1; none if there is one block */
#endif
} key_array;

#if SEARCH_PACKED
/* A block of a compressed index: where it lies, bytes a key, and what its keys are differences from (I5, I6). */
typedef struct {
    __global const uchar *at;
    uint                  width;
    ordo_key_form         base;
} pack_block;

ORDO_FN pack_block pack_block_of(key_array keys, uint b)
{
    pack_block block;

#if SEARCH_PACKED == PACK_MIXED
    const ulong unit = keys.offsets[b];
    block.width = keys.offsets[b + 1] - (uint) unit;
#else
    const ulong unit = (ulong) b * SEARCH_PACKED;
    block.width = SEARCH_PACKED;
#endif
    block.at = keys.packed + unit * 16;
    block.base = b > 0 ? keys.separators[b - 1] : 0;
    return block;
}

/* The ordered form of key i. */
ORDO_FN ordo_key_form key_form(key_array keys, uint i)
{
    const pack_block      block = pack_block_of(keys, i / PACK_KEYS);
    __global const uchar *at = block.at + i % PACK_KEYS * block.width;

    switch (block.width) {
    case 1:
        return block.base + *at;
    case 2:
        return block.base + *(__global const ushort *) at;
    case 4:
        return block.base + *(__global const uint *) at;
    default:
        return block.base + *(__global const ordo_key_form *) at;
    }
}

#define PACK_ARGS , __global const uchar *restrict packed, __global const uint *restrict offsets, uint first_of_level_1
#define PACK_TAKE(keys, nodes)                                                                                         \
    (keys).packed = packed, (keys).offsets = offsets, (keys).separators = (nodes) + first_of_level_1 * SEARCH_NODE
#else
ORDO_FN ordo_key_form key_form(key_array keys, uint i)
{
    return key_bits(keys.key[i]);
}

#define PACK_ARGS
#define PACK_TAKE(keys, nodes)
#endif

#if SEARCH_PLACES
#define PLACES_ARGS , __global const uint *restrict places
#define PLACES      places,
#define PLACES_OF   __global const uint *places;
#else
#define PLACES_ARGS
#define PLACES
#define PLACES_OF
#endif

#define KEYS_AND_QUERIES                                                                                               \
    __global const ordo_key *restrict keys_mem, ulong keys_at, uint keys_count,                                        \
        __global const ordo_key *restrict queries_mem, ulong queries_at, uint queries_count PLACES_ARGS
/* What is not packed, or not yet (PACKED). */
#if SEARCH_PACKED
#define PLAIN , NULL, NULL, NULL
#else
#define PLAIN
#endif
#define KEYS                                                                                                           \
    {                                                                                                                  \
        keys_mem + keys_at, keys_count PLAIN                                                                           \
    }
#define QUERIES                                                                                                        \
    {                                                                                                                  \
        queries_mem + queries_at, queries_count PLAIN                                                                  \
    }

#if SEARCH_RANGES
typedef struct {
    PLACES_OF
    __global uint *rank, *upper;
} answers;
#define ANSWERS_ARGS                                                                                                   \
    __global uint *restrict ranks_mem, ulong ranks_at, __global uint *restrict uppers_mem, ulong uppers_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES ranks_mem + ranks_at, uppers_mem + uppers_at                                                            \
    }
#elif !SEARCH_LOOKUP
typedef struct {
    PLACES_OF
    __global uint *rank;
} answers;
#define ANSWERS_ARGS __global uint *restrict ranks_mem, ulong ranks_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES ranks_mem + ranks_at                                                                                    \
    }
#elif SEARCH_MARK
typedef struct {
    PLACES_OF
    __global uint *hidden;
} answers;
#define ANSWERS_ARGS __global uint *restrict hidden_mem, ulong hidden_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES hidden_mem + hidden_at                                                                                  \
    }
#else
typedef struct {
    PLACES_OF
#if ORDO_VALUE_BYTES
    __global const ordo_value *from;
    __global ordo_value       *value;  /* NULL: not wanted */
#endif
    __global uchar            *found;  /* NULL: not wanted */
#if SEARCH_RUN
    __global const uint       *hidden; /* bits; NULL: none is */
    uint                       stage;  /* sum of 1: the first run looked into, 2: the last */
#endif
} answers;
#if ORDO_VALUE_BYTES
#define VALUES_ARGS                                                                                                    \
    __global const ordo_value *restrict values_mem, ulong values_at, __global ordo_value *restrict values_out_mem,     \
        ulong values_out_at,
#define VALUES values_mem + values_at, values_out_mem ? values_out_mem + values_out_at : 0,
#else
#define VALUES_ARGS
#define VALUES
#endif
#if SEARCH_RUN
#define RUN_ARGS , __global const uint *restrict hidden_mem, ulong hidden_at, uint stage
#define RUN      , hidden_mem ? hidden_mem + hidden_at : 0, stage
#else
#define RUN_ARGS
#define RUN
#endif
#define ANSWERS_ARGS VALUES_ARGS __global uchar *restrict found_mem, ulong found_at RUN_ARGS
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES VALUES found_mem ? found_mem + found_at : 0 RUN                                                         \
    }
#endif

#if SEARCH_RUN
/* found[i] between the runs. */
#define SEARCH_STATE_OPEN   0
#define SEARCH_STATE_FOUND  1
#define SEARCH_STATE_ERASED 2

/* Answers query i, before which are `rank` keys of this run, as no newer run has; `equal`: the last of them is the query. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
    uint state = to.stage & 1 ? SEARCH_STATE_OPEN : to.found[i];

    if (state == SEARCH_STATE_OPEN && equal) {
        state = run_is_hidden(to.hidden, rank - 1) ? SEARCH_STATE_ERASED : SEARCH_STATE_FOUND;
#if ORDO_VALUE_BYTES
        if (state == SEARCH_STATE_FOUND && to.value)
            to.value[i] = to.from[rank - 1];
#endif
    }
    to.found[i] = to.stage & 2 ? state == SEARCH_STATE_FOUND : state;
}
#elif SEARCH_MARK
/* Hides the query's element, before which and itself are `rank` keys, if `equal`: if it is there. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
    if (!equal)
        return;
    __global uint *word = to.hidden + ((rank - 1) >> 5);
    const uint     bit = 1u << ((rank - 1) & 31);
    if (!(ordo_load_relaxed(word) & bit))
        ordo_or(word, bit);
}
#else
/* Answers query i, whose lower bound is `rank`; `equal` tells whether the key there is the query. */
ORDO_FN void answer(answers to, uint i, uint rank, bool equal)
{
#if !SEARCH_LOOKUP
    to.rank[i] = rank;
#else
#if ORDO_VALUE_BYTES
    if (equal && to.value)
        to.value[i] = READ_VALUE(to.from + rank);
#endif
    if (to.found)
        to.found[i] = equal;
#endif
}
#endif

#if SEARCH_RANGES
/* The number of keys not greater than the query, of which the first `from` are less: steps of doubling length from there on,
 * as most keys are there a few times, then a search in the last one. */
ORDO_FN uint upper_from(key_array keys, uint from, ordo_key_form query)
{
    uint step = 1;

    while (step <= keys.count - from && key_form(keys, from + step - 1) <= query) {
        from += step;
        step *= 2;
    }
    for (uint left = min(step - 1, keys.count - from); left > 0;) {
        const uint middle = left / 2;
        const bool before = key_form(keys, from + middle) <= query;
        from += before ? middle + 1 : 0;
        left = before ? left - middle - 1 : middle;
    }
    return from;
}
#endif

/* Answers query i, known by its rank. */
ORDO_FN void answer_query(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
#if SEARCH_PLACES
    i = to.places[i];
#endif
    answer(to, i, rank, equal);
#if SEARCH_RANGES
    to.upper[i] = upper_from(keys, rank, query);
#endif
}

ORDO_FN bool key_at_is(key_array keys, uint rank, ordo_key_form query)
{
#if SEARCH_LAST
    return rank > 0 && rank <= keys.count && key_form(keys, rank - 1) == query;
#elif SEARCH_LOOKUP
    return rank < keys.count && key_form(keys, rank) == query;
#else
    return false;
#endif
}

/* ---- a tile's queries ------------------------------------------------------------------------------------------ */

/* The r-th query of this work-item, in a tile that begins at query `first`: neighbours read neighbours; on a CPU a
 * work-item reads its own in a row. May lie past the last query. */
ORDO_FN uint tile_query(uint first, uint r)
{
#if ORDO_CPU
    return first + get_local_id(0) * SEARCH_ITEMS + r;
#else
    return first + r * SEARCH_GROUP + get_local_id(0);
#endif
}

ORDO_FN uint tiles_of(key_array queries)
{
    return (queries.count - 1) / SEARCH_TILE + 1;
}

/* This work-item's queries in ordered form; in place of those past the last one, the last one. */
ORDO_FN void tile_load(key_array queries, uint first, __private ordo_key_form query[SEARCH_ITEMS])
{
#if ORDO_CPU /* nearly always: so many in a row, which a few reads take */
    const uint at = tile_query(first, 0);
    if (at < queries.count && SEARCH_ITEMS <= queries.count - at) {
        for (uint r = 0; r < SEARCH_ITEMS; r++)
            query[r] = key_bits(queries.key[at + r]);
        return;
    }
#endif
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        query[r] = key_bits(queries.key[min(tile_query(first, r), queries.count - 1)]);
}

ORDO_FN void tile_answer(key_array keys, key_array queries, answers to, uint first,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private const uint rank[SEARCH_ITEMS])
{
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint i = tile_query(first, r);
        if (i < queries.count)
            answer_query(keys, to, i, rank[r], query[r], key_at_is(keys, rank[r], query[r]));
    }
}

/* ---- through an index ------------------------------------------------------------------------------------------ */

/* What is counted in a block: keys before the query and, for a lookup on a GPU, COUNT_EQUAL for each that is the query.
 * A CPU rather reads the one key at the query's rank again. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

/* Before the loop over keys that are read one by one: on a CPU it stays one, as it is seldom gone through. */
#if ORDO_CPU
#define EDGE_EACH ORDO_KEEP_LOOP
#else
#define EDGE_EACH
#endif

/* What is counted in a piece that begins at element `at`, wrapped round 2^32, and does not lie in the array as a whole. What
 * precedes the array counts as before the query. */
ORDO_FN uint count_edge(key_array keys, uint at, ordo_key_form query)
{
    uint count = 0;

    EDGE_EACH
    for (uint i = at; i != at + PIECE_KEYS; i++) {
        if (i < keys.count) {
            const ordo_key_form key = key_bits(keys.key[i]);
            count += search_before(key, query) + (COUNT_FINDS && key == query ? COUNT_EQUAL : 0);
        } else {
            count += i >= 0u - SEARCH_NODE;
        }
    }
    return count;
}

#if ORDO_CPU
/* A work-item's queries go down in step: each asks for the node that it comes to, which is there by the time that all
 * others have done so. Kim et al., FAST (ACM TODS 36(4), 2011), section 5.1.3. Of their 8 queries there are 64 here: two
 * cores of an EPYC search 2^24 keys at 65 M/s with 16, at 110 with 64, at 104 with 128. */
typedef struct {
    ordo_key_form query[SEARCH_ITEMS];
    uint          unit[SEARCH_ITEMS]; /* that each has come to */
} descent;

#if SEARCH_PACKED
/* Asks for a block, or for what tells where it is. */
ORDO_FN void prefetch_pack(key_array keys, uint b)
{
#if SEARCH_PACKED == PACK_MIXED
    ORDO_PREFETCH(keys.offsets + b);
#else
    ORDO_PREFETCH(keys.packed + (ulong) b * SEARCH_PACKED * 16);
#endif
}

/* How many keys of a block are before the query: of one that is further from the base than a key can be, all are. */
#if SEARCH_UPPER
#define PACK_BEFORE(v, bytes, type, d) (d >> (8 * bytes - 1) >> 1 ? PACK_KEYS : (uint) -piece_sum((v) <= (type) d))
#else
#define PACK_BEFORE(v, bytes, type, d) (d >> (8 * bytes - 1) >> 1 ? PACK_KEYS : (uint) -piece_sum((v) < (type) d))
#endif
ORDO_FN uint pack_before(pack_block block, ordo_key_form query)
{
    const ordo_key_form d = query - block.base;

    switch (block.width) {
    case 1:
        return PACK_BEFORE(vload16(0, block.at), 1, uchar, d);
    case 2:
        return PACK_BEFORE(vload16(0, (__global const ushort *) block.at), 2, ushort, d);
#if KEY_BITS == 64
    case 4:
        return PACK_BEFORE(vload16(0, (__global const uint *) block.at), 4, uint, d);
#endif
    default:
        return piece_before(vload16(0, (__global const ordo_key_form *) block.at), d);
    }
}
#endif

/* Goes down from the root, which is on `level`, to blocks, and asks for these. */
ORDO_FN void descend(key_array keys, __global const ordo_key_form *nodes, uint shift, uint level,
                     __private descent *way)
{
    const uint blocks = index_blocks(keys.count, shift, NODE_LOG2);

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        way->unit[r] = 0;
    for (; level > 0; level--) {
        const uint                    last = index_units(blocks, NODE_LOG2, level - 1) - 1;
        __global const ordo_key_form *below = nodes + index_units(blocks, NODE_LOG2, level) * SEARCH_NODE;
#if SEARCH_PACKED
        __global const ordo_key_form *next = level > 1 ? below : 0;
#else
        __global const ordo_key_form *next = level > 1 ? below : keys.key - shift;
#endif

        SEARCH_EACH
        for (uint r = 0; r < SEARCH_ITEMS; r++) {
            const uint first = way->unit[r] * SEARCH_NODE;
            const uint unit = min(first + node_before(nodes + first, way->query[r]), last); /* min: I3 */
            way->unit[r] = unit;
#if SEARCH_PACKED
            if (!next) {
                prefetch_pack(keys, unit);
                continue;
            }
#endif
            ORDO_PREFETCH(next + unit * SEARCH_NODE);
        }
        nodes = below;
    }
}

/* Counts in the queries' blocks, and asks for the values beside what they find. */
ORDO_FN void count_blocks(key_array keys, answers to, uint shift, __private const descent *way,
                          __private uint rank[SEARCH_ITEMS])
{
#if SEARCH_PACKED == PACK_MIXED
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        ORDO_PREFETCH(pack_block_of(keys, way->unit[r]).at);
#endif
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint first = way->unit[r] * SEARCH_NODE - shift; /* I1 */
#if SEARCH_PACKED
        const uint before = min(pack_before(pack_block_of(keys, way->unit[r]), way->query[r]), keys.count - first);
#else
        uint                          before = 0;
        ORDO_UNROLL
        for (uint at = first; at != first + SEARCH_NODE; at += PIECE_KEYS) {
            if (at < keys.count && keys.count - at >= PIECE_KEYS)
                before += piece_before(piece_bits(piece_load(keys.key + at)), way->query[r]);
            else
                before += count_edge(keys, at, way->query[r]);
        }
#endif
        rank[r] = first + before;
#if SEARCH_LOOKUP && !SEARCH_MARK && ORDO_VALUE_BYTES
        ORDO_PREFETCH(to.from + rank[r] - SEARCH_LAST);
#endif
    }
}

ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const ordo_key_form *restrict nodes, uint shift,
                    uint level, uint first_node, uint above, uint depth, __local ordo_key_form *tree PACK_ARGS)
{
    key_array       keys = KEYS;
    const key_array queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      tiles = tiles_of(queries);

    PACK_TAKE(keys, nodes);
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint first = tile * SEARCH_TILE;
        descent    way;
        uint       rank[SEARCH_ITEMS];

        tile_load(queries, first, way.query);
        descend(keys, nodes + first_node * SEARCH_NODE, shift, level, &way);
        count_blocks(keys, to, shift, &way, rank);
        tile_answer(keys, queries, to, first, way.query, rank);
    }
}

#else /* a GPU */
/* A team serves the queries of its lanes: all of them are in flight at once, each lane counting in its part of each
 * node. A query's descent: the unit that it has come to. */
#define TEAM_QUERIES (SEARCH_ITEMS * TEAM_WIDTH)
typedef struct {
    ordo_key_form query;
    uint          unit;
} descent;

/* The queries of the team's lanes, each with the unit it starts from, of `units`. Called by whole sub-groups. */
ORDO_FN void team_share(__private const ordo_key_form query[SEARCH_ITEMS], __private const uint unit[SEARCH_ITEMS],
                        uint units, __private descent way[TEAM_QUERIES])
{
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
#if KEY_BITS == 32
        way[m].query = team_bcast(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
#else
        way[m].query = team_bcast64(query[m / TEAM_WIDTH], m % TEAM_WIDTH);
#endif
        way[m].unit = min(team_bcast(unit[m / TEAM_WIDTH], m % TEAM_WIDTH), units - 1);
    }
}

/* Goes down from units of `level`, which begin at `nodes`, to blocks, reading a node per level and query.
 * Called by whole sub-groups. */
ORDO_FN void descend(__global const ordo_key_form *nodes, uint blocks, uint level, __private descent way[TEAM_QUERIES])
{
    for (; level > 0; level--) {
        const uint last = index_units(blocks, NODE_LOG2, level - 1) - 1;
        uint       before[TEAM_QUERIES];

        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++)
            before[m] = node_before(nodes + way[m].unit * SEARCH_NODE, way[m].query);
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++) /* min: I3 */
            way[m].unit = min(way[m].unit * SEARCH_NODE + team_reduce_add(before[m]), last);
        nodes += index_units(blocks, NODE_LOG2, level) * SEARCH_NODE;
    }
}

/* COUNT_EQUAL and what is before, of one piece. */
ORDO_FN uint count_piece(__private ordo_key piece[PIECE_KEYS], ordo_key_form query)
{
    piece_bits(piece);
    uint count = piece_before(piece, query);
#if COUNT_FINDS
    ORDO_UNROLL
    for (uint i = 0; i < PIECE_KEYS; i++)
        count += piece[i] == query ? COUNT_EQUAL : 0;
#endif
    return count;
}

/* Where this lane's r-th piece of a query's block begins. `shift`: I1. */
ORDO_FN uint block_piece(descent way, uint shift, uint r)
{
    return way.unit * SEARCH_NODE - shift + piece_first(r);
}

#if SEARCH_PACKED
ORDO_FN uint pack_one(ordo_key_form difference, ordo_key_form d)
{
    return search_before(difference, d) + (COUNT_FINDS && difference == d ? COUNT_EQUAL : 0);
}

/* What is counted in 16 bytes of a block: of keys that are further from the base than these can be, all are before. */
ORDO_FN uint pack_count(uint4 piece, uint width, ordo_key_form d)
{
    const uint word[4] = { piece.x, piece.y, piece.z, piece.w };
    uint       count = 0;

    if (width < sizeof(ordo_key_form) && d >> (8 * width - 1) >> 1)
        return 16 / width;
    if (width == 1) {
        ORDO_UNROLL
        for (uint i = 0; i < 16; i++)
            count += pack_one(word[i / 4] >> (i % 4 * 8) & 0xff, d);
    } else if (width == 2) {
        ORDO_UNROLL
        for (uint i = 0; i < 8; i++)
            count += pack_one(word[i / 2] >> (i % 2 * 16) & 0xffff, d);
    } else if (width == 4) {
        ORDO_UNROLL
        for (uint i = 0; i < 4; i++)
            count += pack_one(word[i], d);
    } else {
#if KEY_BITS == 64
        count += pack_one(upsample(word[1], word[0]), d) + pack_one(upsample(word[3], word[2]), d);
#endif
    }
    return count;
}

/* This lane's part of the count of each query's block. All first reads are under way before the first count. Called by whole
 * sub-groups. */
ORDO_FN void count_blocks(key_array keys, uint shift, __private const descent way[TEAM_QUERIES],
                          __private uint count[TEAM_QUERIES])
{
    pack_block block[TEAM_QUERIES];
    uint4      part[TEAM_QUERIES];

    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        block[m] = pack_block_of(keys, way[m].unit);
        part[m] = 0;
        if (team_lane() < block[m].width)
            part[m] = ((__global const uint4 *) block[m].at)[team_lane()];
    }
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const ordo_key_form d = way[m].query - block[m].base;
        count[m] = team_lane() < block[m].width ? pack_count(part[m], block[m].width, d) : 0;
        for (uint p = team_lane() + TEAM_WIDTH; p < block[m].width; p += TEAM_WIDTH)
            count[m] += pack_count(((__global const uint4 *) block[m].at)[p], block[m].width, d);
    }
}
#else
/* This lane's part of the count of each query's block. Called by whole sub-groups. */
ORDO_FN void count_blocks(key_array keys, uint shift, __private const descent way[TEAM_QUERIES],
                          __private uint count[TEAM_QUERIES])
{
    /* Pieces are on the grid of 16 bytes if the buffer is, which OpenCL promises except where the caller's own memory
     * is behind it. All reads are under way before the first count; one of an edge piece reads elsewhere. */
    const uint inside = (0u - shift) % PIECE_KEYS;
    const bool whole = keys.count >= 2 * PIECE_KEYS && ((ulong) (keys.key + inside) & 15) == 0;
    ordo_key part[TEAM_QUERIES][LANE_PIECES][PIECE_KEYS];

    if (whole) {
        SEARCH_EACH
        for (uint m = 0; m < TEAM_QUERIES; m++) {
            ORDO_UNROLL
            for (uint r = 0; r < LANE_PIECES; r++) {
                const uint at = block_piece(way[m], shift, r);
                piece_load_once(keys.key + (at <= keys.count - PIECE_KEYS ? at : inside), part[m][r]);
            }
        }
    }
    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        count[m] = 0;
        ORDO_UNROLL
        for (uint r = 0; r < LANE_PIECES; r++) {
            const uint at = block_piece(way[m], shift, r);
            if (whole && at <= keys.count - PIECE_KEYS)
                count[m] += count_piece(part[m][r], way[m].query);
            else
                count[m] += count_edge(keys, at, way[m].query);
        }
    }
}
#endif

/* Answers this work-item's queries from what was counted in the team's blocks. Called by whole sub-groups. */
ORDO_FN void team_answer(key_array keys, key_array queries, answers to, uint first, uint shift,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private const descent way[TEAM_QUERIES],
                         __private const uint count[TEAM_QUERIES])
{
    uint rank[SEARCH_ITEMS] = { 0 }, equal[SEARCH_ITEMS] = { 0 };
#if SEARCH_LAST
    bool none_before[SEARCH_ITEMS] = { false }; /* in the block: the query may end the block before */
#endif

    SEARCH_EACH
    for (uint m = 0; m < TEAM_QUERIES; m++) {
        const uint total = team_reduce_add(count[m]), r = m / TEAM_WIDTH;
        const bool own = m % TEAM_WIDTH == team_lane();
        rank[r] = own ? min(way[m].unit * SEARCH_NODE - shift + total % COUNT_EQUAL, keys.count) : rank[r];
        equal[r] = own ? total / COUNT_EQUAL : equal[r];
#if SEARCH_LAST
        none_before[r] = own ? total % COUNT_EQUAL == 0 : none_before[r];
#endif
    }
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++) {
        const uint i = tile_query(first, r);
        if (i >= queries.count)
            continue;
#if SEARCH_LAST
        const bool again = !COUNT_FINDS || none_before[r];
#else
        const bool again = !COUNT_FINDS;
#endif
        answer_query(keys, to, i, rank[r], query[r], again ? key_at_is(keys, rank[r], query[r]) : equal[r] != 0);
    }
}

/* Fills a tree with the separators of an index's level, which has `units`: in place of more, the last one. */
ORDO_FN void stage_separators(__global const ordo_key_form *separators, uint units, uint depth,
                              __local ordo_key_form *tree)
{
    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = separators[min(i, units - 1)];
}

/* Nodes are read from level `level` down, which begins with node `first_node`; at level 0 only blocks are. With
 * SEARCH_LOCAL a tree, made of the separators of the level's units, all 2^depth >= units of them, from node `above` on,
 * finds the first one; without, `level` is the root's. */
ORDO_KERNEL(SEARCH_GROUP)
void search_indexed(KEYS_AND_QUERIES, ANSWERS_ARGS, __global const ordo_key_form *restrict nodes, uint shift,
                    uint level, uint first_node, uint above, uint depth, __local ordo_key_form *tree PACK_ARGS)
{
    key_array       keys = KEYS;
    const key_array queries = QUERIES;
    const answers   to = ANSWERS;
    const uint      blocks = index_blocks(keys.count, shift, NODE_LOG2);
    const uint      units = index_units(blocks, NODE_LOG2, level);
    const uint      tiles = tiles_of(queries);

    PACK_TAKE(keys, nodes);
#if SEARCH_LOCAL
    stage_separators(nodes + above * SEARCH_NODE, units, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint    first = tile * SEARCH_TILE;
        ordo_key_form query[SEARCH_ITEMS];
        uint          unit[SEARCH_ITEMS], count[TEAM_QUERIES];
        descent       way[TEAM_QUERIES];

        tile_load(queries, first, query);
        tree_ranks(tree, SEARCH_LOCAL ? depth : 0, query, unit);
        team_share(query, unit, units, way);
        descend(nodes + first_node * SEARCH_NODE, blocks, level, way);
        count_blocks(keys, shift, way, count);
        team_answer(keys, queries, to, first, shift, query, way, count);
    }
}
#endif

/* ---- without an index ------------------------------------------------------------------------------------------ */

/* A tree of `depth` over a span: it cuts the span into 2^depth runs. */
ORDO_FN uint span_run(span s, uint depth)
{
    return (s.count + (1u << depth) - 1) >> depth;
}

#if SEARCH_LOCAL
/* The depth of a tree that holds each key of the span, or that much of it as `depth_max` allows. */
ORDO_FN uint span_depth(span s, uint depth_max)
{
    return min(32 - clz(s.count), depth_max);
}

/* Fills a tree with the last key of each run but the last one; in place of what lies past the span, its last key. */
ORDO_FN void stage_span(key_array keys, span s, uint depth, __local ordo_key_form *tree)
{
    const uint run = span_run(s, depth);

    for (uint i = get_local_id(0); i < (1u << depth) - 1; i += SEARCH_GROUP)
        tree[tree_place(depth, i)] = key_bits(keys.key[s.first + min((i + 1) * run, s.count) - 1]);
}
#endif

/* Searches the span for this work-item's queries: first in the tree, then in the run that it names. */
ORDO_FN void span_search(key_array keys, span s, uint depth, __local const ordo_key_form *tree,
                         __private const ordo_key_form query[SEARCH_ITEMS], __private uint rank[SEARCH_ITEMS])
{
    const uint run = span_run(s, depth);
    const bool all = s.count < 1u << depth; /* the tree holds every key */

    tree_ranks(tree, depth, query, rank);
    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        rank[r] = s.first + min(rank[r] * run, all ? s.count : s.count - run);
    span_ranks(keys.key, all ? 0 : run, query, rank);
}

/* With SEARCH_LOCAL a tree of `depth` in local memory holds separators of the whole array. */
ORDO_KERNEL(SEARCH_GROUP)
void search_array(KEYS_AND_QUERIES, ANSWERS_ARGS, uint depth, __local ordo_key_form *tree)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const span      whole = { 0, keys.count };
    const uint      tiles = tiles_of(queries);

#if SEARCH_LOCAL
    stage_span(keys, whole, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint    first = tile * SEARCH_TILE;
        ordo_key_form query[SEARCH_ITEMS];
        uint          rank[SEARCH_ITEMS];

        tile_load(queries, first, query);
        span_search(keys, whole, SEARCH_LOCAL ? depth : 0, tree, query, rank);
        tile_answer(keys, queries, to, first, query, rank);
    }
}

/* ---- queries that ascend --------------------------------------------------------------------------------------- */

#if SEARCH_LOCAL
/* Whether any query of the tile is not between the tile's first and last one. Called by the whole group.
 * Barriers: one before scratch is first written, one after it is last read. */
ORDO_FN bool tile_unsorted(__private const ordo_key_form query[SEARCH_ITEMS], ordo_key_form low, ordo_key_form high,
                           __local uint *scratch)
{
    bool outside = false;

    SEARCH_EACH
    for (uint r = 0; r < SEARCH_ITEMS; r++)
        outside |= query[r] < low || query[r] > high;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *scratch = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (outside)
        *scratch = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool unsorted = *scratch != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    return unsorted;
}

/* One tile per group. The part of the array that the tile's queries span goes into a tree of at most `depth_max` in
 * local memory: all of it if it fits. Queries that do not ascend are searched for in the whole array. */
ORDO_KERNEL(SEARCH_GROUP)
void search_sorted(KEYS_AND_QUERIES, ANSWERS_ARGS, uint depth_max, __local ordo_key_form *tree)
{
    __local union {
        narrow_scratch narrow;
        uint           unsorted;
    } scratch;
    const key_array     keys = KEYS, queries = QUERIES;
    const answers       to = ANSWERS;
    const uint          first = get_group_id(0) * SEARCH_TILE;
    const ordo_key_form low = key_bits(queries.key[first]);
    const ordo_key_form high = key_bits(queries.key[first + min((uint) SEARCH_TILE, queries.count - first) - 1]);
    span                s = { 0, keys.count };
    ordo_key_form       query[SEARCH_ITEMS];
    uint                rank[SEARCH_ITEMS];

    tile_load(queries, first, query);
    if (!tile_unsorted(query, low, high, &scratch.unsorted))
        s = group_narrow(keys.key, keys.count, low, high, &scratch.narrow);

    const uint depth = span_depth(s, depth_max);
    stage_span(keys, s, depth, tree);
    barrier(CLK_LOCAL_MEM_FENCE);
    span_search(keys, s, depth, tree, query, rank);
    tile_answer(keys, queries, to, first, query, rank);
}
#endif

#if SEARCH_ITEMS == 1
/* The rank of a query that is known to be `from` at least: steps of doubling length from there on, then a search in the
 * last one. Bentley and Yao, An Almost Optimal Algorithm for Unbounded Searching (IPL 1976). */
ORDO_FN uint gallop(key_array keys, uint from, ordo_key_form query)
{
    uint step = 1;

    while (step <= keys.count - from && search_before(key_bits(keys.key[from + step - 1]), query)) {
        from += step;
        step *= 2;
    }
    span_ranks(keys.key, min(step - 1, keys.count - from), &query, &from);
    return from;
}

/* Each work-item takes `chunk` queries in a row and starts from the last one's rank. */
ORDO_KERNEL(SEARCH_GROUP)
void search_gallop(KEYS_AND_QUERIES, ANSWERS_ARGS, uint chunk)
{
    const key_array keys = KEYS, queries = QUERIES;
    const answers   to = ANSWERS;
    const ulong     first = (ulong) get_global_id(0) * chunk;
    ordo_key_form   last = 0;
    uint            rank = 0;

    for (ulong i = first; i < min(first + chunk, (ulong) queries.count); i++) {
        const ordo_key_form query = key_bits(queries.key[i]);
        if (i == first || query < last) { /* the query starts anew */
            rank = 0;
            span_ranks(keys.key, keys.count, &query, &rank);
        } else {
            rank = gallop(keys, rank, query);
        }
        last = query;
        answer_query(keys, to, (uint) i, rank, query, key_at_is(keys, rank, query));
    }
}
#endif

ORDO_KERNEL(SEARCH_GROUP)
void search_number(__global uint *places, ulong places_at, uint n)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        places[places_at + i] = (uint) i;
}
