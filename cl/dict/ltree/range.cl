/* SPDX-License-Identifier: Apache-2.0 */
/* Copies ranges of elements. The elements of a long range in one leaf are called a piece. */
#pragma once
#include "dict/ltree/query.cl"

/* A range with more elements is long: all work-items share its pieces. */
#define LTREE_LONG 128

/* Computes the interval of each range (see ltree_interval). If range i has more than LTREE_LONG elements, pieces[i]
 * becomes the number of leaves that hold them. Otherwise pieces[i] becomes 0. */
ORDO_KERNEL(LTREE_GROUP)
void ltree_measure(LTREE_TREE, uint places, __global const uint *place, __global const uint *before,
                   __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                   __global uint *leaves, __global uint *nexts, __global uint *starts, __global ulong *pieces,
                   __global ulong *counts, ulong counts_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_interval mine[LTREE_ITEMS] = { { 0, 0, 0, 0 } };

        ltree_take_intervals(&tree, place, before, lo + lo_at, hi + hi_at, n, first, mine);
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            ulong      its_pieces = 0;
            if (i >= n)
                continue;
            if (mine[r].count > LTREE_LONG) {
                const uint at = place[mine[r].leaf], end = before[at] + START_SLOT(mine[r].start) + mine[r].count;
                its_pieces = ltree_place_of_rank(before, at, places - 1, end - 1) - at + 1;
            }
            leaves[i] = mine[r].leaf;
            nexts[i] = mine[r].next;
            starts[i] = mine[r].start;
            pieces[i] = its_pieces;
            if (counts)
                counts[counts_at + i] = mine[r].count;
        }
    }
    if (get_global_id(0) == 0) {
        pieces[n] = 0;
        if (counts)
            counts[counts_at + n] = 0;
    }
}

typedef struct {
    ltree_tree            tree;
    __global const ulong *offsets;
    __global ordo_key    *keys;
    __global ltree_value *values;
} ltree_copy;

#define LTREE_COPY_HERE                                                                                                \
    {                                                                                                                  \
        LTREE_TREE_HERE, offsets + offsets_at, keys_out ? keys_out + keys_at : keys_out,                               \
            values_out ? values_out + values_at : values_out                                                           \
    }

typedef struct {
    ordo_key_form key;
    ltree_value   value;
} ltree_element;

ORDO_FN ltree_element ltree_read_element(const ltree_copy *copy, uint leaf, uint slot)
{
    ltree_element element = { .key = KEY_LEAST };
    if (copy->keys)
        element.key = ltree_leaf(&copy->tree, leaf)[slot];
    if (HAS_VALUES && copy->values)
        element.value = ltree_values(&copy->tree, leaf)[slot];
    return element;
}

ORDO_FN void ltree_write_element(const ltree_copy *copy, ulong to, ltree_element element)
{
    if (copy->keys)
        copy->keys[to] = key_from_bits(element.key);
    if (HAS_VALUES && copy->values)
        copy->values[to] = element.value;
}

#if ORDO_CPU
#define RANGE_LANES 1
#define RANGE_SLOTS 1
#else
#define RANGE_LANES (RUN_GROUP < 8 ? RUN_GROUP : 8)
#define RANGE_SLOTS (LTREE_WORDS / 8)
#endif

typedef struct {
    uint  leaf, first, end;
    ulong to;
} ltree_piece;

ORDO_FN ltree_piece ltree_piece_of(__global const uint *order, __global const uint *place, __global const uint *before,
                                   __global const uint *leaves, __global const uint *starts, ulong offset, ulong past,
                                   uint query, uint number)
{
    const uint  start = place[leaves[query]], at = start + number;
    const uint  rank = before[start] + START_SLOT(starts[query]);
    const uint  end_rank = rank + (uint) (past - offset);
    ltree_piece piece = { order[at], 0, 0, 0 };

    piece.first = max(rank, before[at]) - before[at];
    piece.end = min(end_rank, before[at + 1]) - before[at];
    piece.to = offset + (before[at] + piece.first - rank);
    return piece;
}

ORDO_FN void ltree_copy_piece(const ltree_copy *copy, const ltree_piece *piece, uint lane)
{
    for (uint slot = piece->first + lane; slot < piece->end; slot += RANGE_LANES * RANGE_SLOTS) {
        ltree_element element[RANGE_SLOTS];
        ORDO_UNROLL
        for (uint r = 0; r < RANGE_SLOTS; r++)
            if (slot + r * RANGE_LANES < piece->end)
                element[r] = ltree_read_element(copy, piece->leaf, slot + r * RANGE_LANES);
        ORDO_UNROLL
        for (uint r = 0; r < RANGE_SLOTS; r++)
            if (slot + r * RANGE_LANES < piece->end)
                ltree_write_element(copy, piece->to + (slot + r * RANGE_LANES - piece->first), element[r]);
    }
}

/* pieces[q] is the number of pieces of ranges 0 to q - 1. */
typedef struct {
    __global const uint  *order, *place, *before, *leaves, *starts;
    __global const ulong *pieces;
    uint                  n;
} ltree_long;

/* Returns piece p, counted from the first piece of the first range. Sets *query to the index of the piece's range.
 * Before the call, *query must be the index of this range or of an earlier one. */
ORDO_FN ltree_piece ltree_long_piece(const ltree_long *ranges, const ltree_copy *copy, ulong p, __private uint *query)
{
    const uint q = *query = each_owner_from(ranges->pieces, *query, ranges->n, p);
    return ltree_piece_of(ranges->order, ranges->place, ranges->before, ranges->leaves, ranges->starts,
                          copy->offsets[q], copy->offsets[q + 1], q, (uint) (p - ranges->pieces[q]));
}

/* Copies the long ranges. If offsets[last], the number of results, exceeds `capacity`, copies nothing. */
ORDO_KERNEL(RUN_GROUP)
void ltree_range_long(LTREE_TREE, __global const uint *order, __global const uint *place, __global const uint *before,
                      uint n, __global const uint *leaves, __global const uint *starts, __global const ulong *pieces,
                      __global const ulong *offsets, ulong offsets_at, ulong last, ulong capacity,
                      __global ordo_key *keys_out, ulong keys_at, __global ltree_value *values_out, ulong values_at)
{
    const ltree_copy copy = LTREE_COPY_HERE;
    const ltree_long ranges = { order, place, before, leaves, starts, pieces, n };
    const ulong      total = pieces[n];

    if (offsets[last] > capacity || total == 0)
        return;
#if ORDO_CPU
    const ulong share = (total - 1) / get_global_size(0) + 1;
    const ulong begin = min(get_global_id(0) * share, total), end = min(begin + share, total);
    uint        query = begin < end ? each_owner(pieces, 0, n - 1, begin) : 0;
    for (ulong p = begin; p < end; p++) {
        const ltree_piece piece = ltree_long_piece(&ranges, &copy, p, &query);
        ltree_copy_piece(&copy, &piece, 0);
    }
#else
    __local ltree_piece piece[RUN_GROUP];
    const uint          lid = (uint) get_local_id(0);
    const ulong         share = ((total - 1) / RUN_GROUP / get_num_groups(0) + 1) * RUN_GROUP;
    const ulong         begin = get_group_id(0) * share, end = min(begin + share, total);
    uint                query = begin + lid < end ? each_owner(pieces, 0, n - 1, begin + lid) : 0;
    for (ulong first = begin; first < end; first += RUN_GROUP) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (first + lid < end)
            piece[lid] = ltree_long_piece(&ranges, &copy, first + lid, &query);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = lid / RANGE_LANES; k < min((ulong) RUN_GROUP, end - first); k += RUN_GROUP / RANGE_LANES) {
            const ltree_piece one = piece[k];
            ltree_copy_piece(&copy, &one, lid % RANGE_LANES);
        }
    }
#endif
}

#if ORDO_CPU

ORDO_FN void ltree_copy_range(const ltree_copy *copy, uint i, uint leaf, uint next, uint start)
{
    ulong       to = copy->offsets[i];
    const ulong all = copy->offsets[i + 1] - to;
    uint        slot = START_SLOT(start), here = START_HERE(start);

    for (uint left = all > LTREE_LONG ? 0 : (uint) all; left > 0;) {
        for (uint k = 0; k < here; k++)
            ltree_write_element(copy, to + k, ltree_read_element(copy, leaf, slot + k));
        left -= here;
        to += here;
        slot = 0;
        leaf = next;
        if (left > 0 && (start & START_TWO)) {
            here = left;
        } else if (left > 0) {
            here = min(left, ltree_count(ltree_leaf(&copy->tree, leaf)));
            next = *ltree_right(ltree_leaf(&copy->tree, leaf));
        }
    }
}

#else

/* A tile of consecutive ranges. A work-group copies the short ones together. start[q] is the number of elements in the
 * tile's short ranges with an index less than q. */
typedef struct {
    ulong to[RUN_GROUP];
    uint start[RUN_GROUP + 1], leaf[RUN_GROUP], next[RUN_GROUP], first[RUN_GROUP];
    uint has_long;
} ltree_range_tile;

ORDO_FN void ltree_leave_out_long(__local ltree_range_tile *tile, uint m)
{
    const uint lid = (uint) get_local_id(0);
    uint out = 0;

    for (uint q = 0; q <= min(lid, m - 1); q++) {
        const uint length = tile->start[q + 1] - tile->start[q];
        out += length > LTREE_LONG ? length : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < m)
        tile->start[lid + 1] -= out;
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN void ltree_take_ranges(__local ltree_range_tile *tile, const ltree_copy *copy, __global const uint *leaves,
                               __global const uint *nexts, __global const uint *starts, uint first, uint m)
{
    const uint lid = (uint) get_local_id(0);

    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0)
        tile->start[0] = tile->has_long = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < m) {
        const ulong begin = copy->offsets[first + lid], end = copy->offsets[first + lid + 1];
        tile->to[lid] = begin;
        tile->start[lid + 1] = (uint) (end - copy->offsets[first]); /* This difference can wrap for a long range. */
        tile->leaf[lid] = leaves[first + lid];
        tile->next[lid] = nexts[first + lid];
        tile->first[lid] = starts[first + lid];
        if (end - begin > LTREE_LONG)
            (void) ordo_local_or(&tile->has_long, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile->has_long)
        ltree_leave_out_long(tile, m);
}

ORDO_FN void ltree_copy_of_tile(__local const ltree_range_tile *tile, const ltree_copy *copy, uint m, uint e)
{
    uint q = 0;
    for (uint past = m; past - q > 1;) {
        const uint middle = (q + past) / 2;
        if (tile->start[middle] <= e)
            q = middle;
        else
            past = middle;
    }
    const uint first = tile->first[q], here = START_HERE(first);
    const ulong to = tile->to[q] + (e - tile->start[q]);
    uint leaf = tile->leaf[q], slot = e - tile->start[q] + START_SLOT(first);
    if (e - tile->start[q] >= here) {
        leaf = tile->next[q];
        slot = e - tile->start[q] - here;
        if (!(first & START_TWO))
            for (uint count; slot >= (count = ltree_count(ltree_leaf(&copy->tree, leaf)));) {
                slot -= count;
                leaf = *ltree_right(ltree_leaf(&copy->tree, leaf));
            }
    }
    ltree_write_element(copy, to, ltree_read_element(copy, leaf, slot));
}

#endif

ORDO_KERNEL(RUN_GROUP)
void ltree_range_short(LTREE_TREE, uint n, uint most, __global const uint *leaves, __global const uint *nexts,
                       __global const uint *starts, __global const ulong *offsets, ulong offsets_at, ulong last,
                       ulong capacity, __global ordo_key *keys_out, ulong keys_at, __global ltree_value *values_out,
                       ulong values_at)
{
    const ltree_copy copy = LTREE_COPY_HERE;

    if (offsets[last] > capacity)
        return;
#if ORDO_CPU
    (void) most;
    RUN_EACH (uint, i, n)
        ltree_copy_range(&copy, i, leaves[i], nexts[i], starts[i]);
#else
    __local ltree_range_tile tile;
    for (ulong at = (ulong) get_group_id(0) * most; at < n; at += (ulong) get_num_groups(0) * most) {
        const uint first = (uint) at, m = min(most, n - first);
        ltree_take_ranges(&tile, &copy, leaves, nexts, starts, first, m);
        for (uint e = (uint) get_local_id(0); e < tile.start[m]; e += RUN_GROUP)
            ltree_copy_of_tile(&tile, &copy, m, e);
    }
#endif
}
