/* SPDX-License-Identifier: Apache-2.0 */
/* Merges two sorted arrays stably. A tile is a slice of MERGE_GROUP * MERGE_ITEMS elements of the output.
 *
 *  merge_tiles    each work-group merges a tile in local memory
 *  merge_chunks   each work-item merges a tile, for CPUs (MERGE_GROUP == 1) */
#pragma once
#include "device/compiler.cl"

#ifndef MERGE_GROUP
#define MERGE_GROUP 64
#endif
#ifndef MERGE_ITEMS
#define MERGE_ITEMS 7
#endif
#ifndef MERGE_STAGED
#define MERGE_STAGED 0
#endif

#if ORDO_SUBGROUP < 16
#define TEAM_WIDTH ORDO_SUBGROUP
#else
#define TEAM_WIDTH 16
#endif
#include "device/team.cl"
#include "group/merge.cl"
#include "shared/merge.h"

#define MERGE_TILE (MERGE_GROUP * MERGE_ITEMS)

typedef struct {
    __global const ordo_key    *a_keys, *b_keys;
    __global const merge_value *a_values, *b_values;
    uint                        a_count, b_count;
} merge_input;

/* merge_path_team guesses an index, and first tests indices around the guess. `near` is the distance from one tested
 * index to the next. It must be at most 2^15, so that indices do not overflow. */
#define MERGE_ARGS                                                                                                     \
    __global const ordo_key *restrict a_keys, ulong a_keys_at, __global const merge_value *restrict a_values,          \
        ulong a_values_at, uint a_count, __global const ordo_key *restrict b_keys, ulong b_keys_at,                    \
        __global const merge_value *restrict b_values, ulong b_values_at, uint b_count, uint near,                     \
        __global ordo_key *restrict keys_out, ulong keys_out_at, __global merge_value *restrict values_out,            \
        ulong values_out_at
#define MERGE_INPUT                                                                                                    \
    {                                                                                                                  \
        a_keys + a_keys_at, b_keys + b_keys_at, a_values + a_values_at, b_values + b_values_at, a_count, b_count       \
    }

typedef struct {
    uint begin, a_begin, a_count, b_begin, b_count;
} merge_tile;

/* Returns whether at least `a` of the first `diagonal` merged elements come from in->a_keys. The number of such
 * elements must be between `low` and `high`. */
ORDO_FN bool merge_holds(__private const merge_input *in, uint diagonal, uint low, uint high, uint a)
{
    if (a <= low || a > high)
        return a <= low;
    return key_upto(key_bits(in->a_keys[a - 1]), key_bits(in->b_keys[diagonal - a]));
}

/* min() and max() prevent accesses outside of the tile if the input is not sorted. */
ORDO_FN void merge_set_tile(__private merge_tile *tile, uint begin, uint end, uint a_begin, uint a_end)
{
    tile->begin = begin;
    tile->a_begin = a_begin;
    tile->a_count = min(max(a_end, a_begin) - a_begin, end - begin);
    tile->b_begin = begin - a_begin;
    tile->b_count = end - begin - tile->a_count;
}

#if MERGE_GROUP > 1

#if MERGE_TILE + MERGE_ITEMS > 0xffff
#error "MERGE_GROUP * MERGE_ITEMS must be below 65536: a place in a tile is 16 bits"
#endif
#if MERGE_ITEMS > MERGE_ITEMS_MAX
#error "MERGE_ITEMS must be at most MERGE_ITEMS_MAX: a tile fits in registers and local memory"
#endif
#if MERGE_GROUP < 2 * TEAM_WIDTH || MERGE_GROUP < ORDO_SUBGROUP
#error "MERGE_GROUP must hold two teams, one for each end of a tile"
#endif

MERGE_DEFINE_SERIAL(merge_serial, MERGE_ITEMS)

typedef struct {
    ordo_key_form keys[MERGE_TILE + MERGE_ITEMS + 1];
#if ORDO_VALUE_BYTES
    ushort from[MERGE_TILE];
#if MERGE_STAGED
    merge_value values[MERGE_TILE];
#endif
#endif
    uint a_split[2];
} merge_local;

#ifndef LOCAL_BYTES
#define LOCAL_BYTES MERGE_LOCAL_BYTES(MERGE_GROUP, MERGE_ITEMS, KEY_BITS / 8, ORDO_VALUE_BYTES, MERGE_STAGED)
#endif
ORDO_STATIC_ASSERT(sizeof(merge_local) <= LOCAL_BYTES, "the host reserves less local memory than a tile needs");

typedef struct {
    uint diagonal, low, high;
} merge_search;

/* Narrows the interval from search->low to search->high. It contains x, the number of elements from array a among the
 * first search->diagonal merged elements. Lane i tests whether x is at least base + (i + 1) * stride. The whole
 * sub-group must call. `base` must not be less than search->low. */
ORDO_FN void merge_vote(__private const merge_input *in, uint base, uint stride, __private merge_search *search)
{
    const uint asked = base + (team_lane() + 1) * stride;
    const uint n = mask_count(team_ballot(merge_holds(in, search->diagonal, search->low, search->high, asked)));
    if (n < TEAM_WIDTH)
        search->high = min(search->high, base + (n + 1) * stride - 1);
    if (n > 0)
        search->low = base + n * stride;
}

/* Returns how many of the first `diagonal` merged elements come from array a. The whole sub-group must call. Its teams
 * may pass different diagonals. */
ORDO_FN uint merge_path_team(__private const merge_input *in, uint diagonal, uint near)
{
    const float  a_share = (float) in->a_count / ((float) in->a_count + (float) in->b_count);
    const uint   reach = TEAM_WIDTH / 2 * near;
    merge_search search = { diagonal, diagonal - min(diagonal, in->b_count), min(diagonal, in->a_count) };
    const uint   guess = min((uint) (a_share * (float) diagonal), search.high);
    merge_vote(in, max(guess, search.low + reach) - reach, near, &search);
    while (subgroup_any(search.low < search.high))
        merge_vote(in, search.low, (search.high - search.low) / (TEAM_WIDTH + 1) + 1, &search);
    return search.low;
}

/* `a_split` has two words of local memory. The caller must not change them before its next barrier. */
ORDO_FN void merge_find_tile(__private const merge_input *in, uint near, __local uint *a_split,
                             __private merge_tile *tile)
{
    const uint begin = (uint) get_group_id(0) * MERGE_TILE;
    const uint end = min(begin + MERGE_TILE, in->a_count + in->b_count);
    if (team_index() < 2 || team_index() < ORDO_SUBGROUP / TEAM_WIDTH) {
        const uint which = team_index() % 2;
        const uint a = merge_path_team(in, which ? end : begin, near);
        if (team_lane() == 0 && team_index() < 2)
            a_split[which] = a;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    merge_set_tile(tile, begin, end, a_split[0], a_split[1]);
}

#define MERGE_PICK_(tile, a, b, at) (*((at) < (tile)->a_count ? (a) + (at) : (b) + ((at) - (tile)->a_count)))

/* A barrier must follow. */
ORDO_FN void merge_load(__private const merge_input *in, __private const merge_tile *tile, __local merge_local *mem)
{
    const uint               lid = (uint) get_local_id(0), last = tile->a_count + tile->b_count - 1;
    __global const ordo_key *a = in->a_keys + tile->a_begin, *b = in->b_keys + tile->b_begin;
    ordo_key                 keys[MERGE_ITEMS];
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        const uint at = min(i * MERGE_GROUP + lid, last);
        keys[i] = MERGE_PICK_(tile, a, b, at);
    }
#if ORDO_VALUE_BYTES && MERGE_STAGED
    __global const merge_value *av = in->a_values + tile->a_begin, *bv = in->b_values + tile->b_begin;
    merge_value                 values[MERGE_ITEMS];
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        const uint at = min(i * MERGE_GROUP + lid, last);
        values[i] = MERGE_PICK_(tile, av, bv, at);
    }
#endif
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        mem->keys[i * MERGE_GROUP + lid] = key_bits(keys[i]);
#if ORDO_VALUE_BYTES && MERGE_STAGED
        mem->values[i * MERGE_GROUP + lid] = values[i];
#endif
    }
}

/* A barrier must come before the call. The call ends with a barrier. */
ORDO_FN void merge_in_local(__private const merge_tile *tile, __local merge_local *mem)
{
    const uint         a_count = tile->a_count, count = a_count + tile->b_count;
    const uint         first = (uint) get_local_id(0) * MERGE_ITEMS, diagonal = min(first, count);
    const uint         a = merge_path(mem->keys, a_count, mem->keys + a_count, tile->b_count, diagonal);
    const merge_cursor at = { a, a_count, a_count + diagonal - a, count };
    ordo_key_form      merged[MERGE_ITEMS];
    uint               from[MERGE_ITEMS];
    merge_serial(mem->keys, at, merged, from);

    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        mem->keys[first + i] = merged[i];
#if ORDO_VALUE_BYTES
        mem->from[first + i] = (ushort) from[i];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN void merge_store(__private const merge_input *in, __private const merge_tile *tile,
                         __local const merge_local *mem, __global ordo_key *keys_out, __global merge_value *values_out)
{
    const uint lid = (uint) get_local_id(0), count = tile->a_count + tile->b_count;
    keys_out += tile->begin;
#if ORDO_VALUE_BYTES
    merge_value values[MERGE_ITEMS];
#if !MERGE_STAGED
    __global const merge_value *av = in->a_values + tile->a_begin, *bv = in->b_values + tile->b_begin;
#endif
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        const uint from = mem->from[min(i * MERGE_GROUP + lid, count - 1)];
#if MERGE_STAGED
        values[i] = mem->values[from];
#else
        values[i] = MERGE_PICK_(tile, av, bv, from);
#endif
    }
#endif
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        const uint at = i * MERGE_GROUP + lid;
        if (at < count)
            keys_out[at] = key_from_bits(mem->keys[at]);
    }
#if ORDO_VALUE_BYTES
    values_out += tile->begin;
    ORDO_UNROLL
    for (uint i = 0; i < MERGE_ITEMS; i++) {
        const uint at = i * MERGE_GROUP + lid;
        if (at < count)
            values_out[at] = values[i];
    }
#endif
}

ORDO_KERNEL(MERGE_GROUP)
void merge_tiles(MERGE_ARGS)
{
    __local merge_local mem;
    const merge_input   in = MERGE_INPUT;
    merge_tile          tile;
    merge_find_tile(&in, near, mem.a_split, &tile);
    merge_load(&in, &tile, &mem);
    barrier(CLK_LOCAL_MEM_FENCE);
    merge_in_local(&tile, &mem);
    merge_store(&in, &tile, &mem, keys_out + keys_out_at, values_out + values_out_at);
}

#else

ORDO_FN uint merge_path_one(__private const merge_input *in, uint diagonal)
{
    const uint least = diagonal - min(diagonal, in->b_count), most = min(diagonal, in->a_count);
    uint       low = least, high = most;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (merge_holds(in, diagonal, least, most, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

ORDO_FN void merge_copy(__global const ordo_key *keys, __global const merge_value *values, uint count,
                        __global ordo_key *keys_out, __global merge_value *values_out)
{
    for (uint i = 0; i < count; i++)
        keys_out[i] = keys[i];
#if ORDO_VALUE_BYTES
    for (uint i = 0; i < count; i++)
        values_out[i] = values[i];
#endif
}

ORDO_KERNEL(1)
void merge_chunks(MERGE_ARGS)
{
    const merge_input in = MERGE_INPUT;
    const uint        begin = (uint) get_global_id(0) * MERGE_TILE, end = min(begin + MERGE_TILE, a_count + b_count);
    merge_tile        tile;
    merge_set_tile(&tile, begin, end, merge_path_one(&in, begin), merge_path_one(&in, end));
    __global const ordo_key *ak = in.a_keys + tile.a_begin, *bk = in.b_keys + tile.b_begin;
    keys_out += keys_out_at + begin;
#if ORDO_VALUE_BYTES
    __global const merge_value *av = in.a_values + tile.a_begin, *bv = in.b_values + tile.b_begin;
    values_out += values_out_at + begin;
#endif

    uint a = 0, b = 0;
    while (a < tile.a_count && b < tile.b_count) {
        const uint end_of_steps = a + b + min(tile.a_count - a, tile.b_count - b);
        for (uint to = a + b; to < end_of_steps; to++) {
            const ordo_key a_key = ak[a], b_key = bk[b];
            const bool     take_b = key_before(key_bits(b_key), key_bits(a_key));
            keys_out[to] = take_b ? b_key : a_key;
#if ORDO_VALUE_BYTES
            values_out[to] = *(take_b ? bv + b : av + a);
#endif
            b += take_b;
            a = to + 1 - b;
        }
    }
#if ORDO_VALUE_BYTES
    merge_copy(ak + a, av + a, tile.a_count - a, keys_out + a + b, values_out + a + b);
    merge_copy(bk + b, bv + b, tile.b_count - b, keys_out + tile.a_count + b, values_out + tile.a_count + b);
#else
    merge_copy(ak + a, 0, tile.a_count - a, keys_out + a + b, 0);
    merge_copy(bk + b, 0, tile.b_count - b, keys_out + tile.a_count + b, 0);
#endif
}

#endif
