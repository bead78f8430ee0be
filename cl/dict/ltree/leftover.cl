/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers concurrent operations that gave up, and copies back their results. */
#pragma once
#include "dict/codes.cl"
#include "dict/ltree/node.cl"

/* Built together: ltree_gather ltree_scatter */

ORDO_KERNEL(LTREE_GROUP)
void ltree_tally(__global const uchar *codes, ulong codes_at, uint n, __global uint *state)
{
    __local uint sums[N_TALLIES];
    uint         of[N_TALLIES] = { 0, 0, 0, 0, 0 };

    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint code = codes[codes_at + i];
        of[TALLY_STORES] += code == CODE_UPSERT || code == CODE_INSERT;
        of[TALLY_SCANS] += code == CODE_COUNT || code == CODE_RANGE;
        of[TALLY_RANGES] += code == CODE_RANGE;
        of[TALLY_ERASES] += code == CODE_ERASE;
        of[TALLY_FINDS] += CODE_FINDS(code);
    }
    for (uint k = get_local_id(0); k < N_TALLIES; k += LTREE_GROUP)
        sums[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (uint k = 0; k < N_TALLIES; k++)
        if (of[k])
            (void) ordo_local_add(sums + k, of[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_local_id(0); k < N_TALLIES; k += LTREE_GROUP)
        if (sums[k])
            (void) ordo_add(state + LTREE_TALLY + k, sums[k]);
}

/* Lists the indices of all operations except those with CODE_FIND or CODE_CONTAINS, in any order. *n_listed must be 0
 * before the launch, and becomes the length of the list. */
ORDO_KERNEL(LTREE_GROUP)
void ltree_list_others(__global const uchar *codes, ulong codes_at, uint n, __global uint *list,
                       volatile __global uint *n_listed)
{
    __local uint count, first;
    const ulong  begin = (ulong) get_group_id(0) * LTREE_GROUP * LTREE_LIST_ITEMS + get_local_id(0);
    uint         mine = 0, place = 0;

    if (get_local_id(0) == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < LTREE_LIST_ITEMS; r++) {
        const ulong i = begin + r * LTREE_GROUP;
        if (i < n && !CODE_FINDS(codes[codes_at + i]))
            mine |= 1u << r;
    }
    if (mine)
        place = ordo_local_add(&count, popcount(mine));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        first = ordo_add(n_listed, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < LTREE_LIST_ITEMS; r++)
        if (mine >> r & 1)
            list[first + place++] = (uint) (begin + r * LTREE_GROUP);
}

ORDO_FN ulong left_room(__global const ulong *rooms, ulong capacity, uint i)
{
    const ulong end = min(rooms[i + 1], capacity);
    return end - min(rooms[i], end);
}

ORDO_FN uint left_kind(uint code, uint counted, __global const ulong *rooms, ulong capacity, uint i)
{
    if (CODE_UPDATES(code))
        return LEFT_UPDATES;
    if (CODE_FINDS(code))
        return LEFT_FINDS;
    if (code <= CODE_SEEK_GT)
        return code >= CODE_SEEK_GE ? LEFT_FORWARD : LEFT_BACKWARD;
    return code == CODE_RANGE && counted < left_room(rooms, capacity, i) ? LEFT_RANGES : LEFT_COUNTS;
}

/* Copies operations of the given kind (enum ltree_left) from the list `left` to the output arrays, until they have
 * `most` operations. Copies all other operations to the list `rest`.
 *
 *   taken[0]    becomes the number of operations of this kind, which can exceed `most`
 *   taken[1]    becomes the number of operations in `rest`
 *   where[p]    becomes the index of output operation p in the concurrent batch
 *   before[p]   becomes the number of keys that output operation p counted before it gave up */
ORDO_KERNEL(LTREE_GROUP)
void ltree_gather(__global const ltree_pended *left, uint count, uint kind, uint most, __global const uchar *codes,
                  ulong codes_at, __global const ordo_key *hi, ulong hi_at, __global const ltree_value *values,
                  ulong values_at, __global const ulong *rooms, ulong rooms_at, ulong range_capacity,
                  __global uint *taken, __global uint *where, __global uchar *codes_out, __global ordo_key *keys_out,
                  __global ltree_value *values_out, __global ordo_key *hi_out, __global uint *before,
                  __global ltree_pended *rest)
{
    const uint l = (uint) get_global_id(0);
    if (l >= count)
        return;
    const uint i = left[l].s0, code = codes[codes_at + i];
    const bool of_kind = left_kind(code, left[l].s1, rooms + rooms_at, range_capacity, i) == kind;
    const uint p = of_kind ? ordo_add(taken, 1) : most;
    if (p >= most) {
        rest[ordo_add(taken + 1, 1)] = left[l];
        return;
    }
    where[p] = i;
    keys_out[p] = key_from_bits(ltree_pended_query(left[l]));
    if (kind == LEFT_UPDATES)
        codes_out[p] = (uchar) code;
    if (kind == LEFT_UPDATES && values && code != CODE_ERASE)
        values_out[p] = values[values_at + i];
    if (kind == LEFT_COUNTS) {
        hi_out[p] = hi[hi_at + i];
        before[p] = left[l].s1;
    }
}

/* Copies the results of operations that gave up, from their second run to the first batch. A count or range finds
 * before[p] keys in its first run, and counted[p] keys in its second run. In `history`, which only tests use, operation
 * p ends at time tick + p. */
ORDO_KERNEL(LTREE_GROUP)
void ltree_scatter(uint count, __global const uint *where, __global const uchar *results, __global const ordo_key *keys,
                   __global const ltree_value *values, __global const uint *counted, __global const uint *before,
                   __global const uchar *codes, ulong codes_at, __global const ulong *rooms, ulong rooms_at,
                   ulong range_capacity, __global uchar *found, ulong found_at, __global ordo_key *keys_out,
                   ulong keys_out_at, __global ltree_value *values_out, ulong values_out_at, __global uint *counts,
                   ulong counts_at, __global uchar *outcomes, ulong outcomes_at, __global uint *history, uint tick)
{
    const uint p = (uint) get_global_id(0);
    if (p >= count)
        return;
    const uint i = where[p];
    uint       outcome = OUTCOME_DONE;
    if (results && found)
        found[found_at + i] = results[p];
    if (keys && keys_out && results[p])
        keys_out[keys_out_at + i] = keys[p];
    if (values && values_out && results[p] && codes[codes_at + i] != CODE_CONTAINS)
        values_out[values_out_at + i] = values[p];
    if (counted) {
        const uint all = before[p] + counted[p];
        if (counts)
            counts[counts_at + i] = all;
        if (codes[codes_at + i] == CODE_RANGE && all > left_room(rooms + rooms_at, range_capacity, i))
            outcome = OUTCOME_CUT_SHORT;
    }
    if (outcomes)
        outcomes[outcomes_at + i] = (uchar) outcome;
    if (history)
        history[2 * i + 1] = tick + p;
}
