/* SPDX-License-Identifier: Apache-2.0 */
/* Types for the seeks, counts and ranges of a concurrent batch on a trie, which run before its updates. The including
 * file defines the type draft_trie. After the include, it defines these functions for dict/trie/draft_query_body.cl:
 *
 *     draft_size(t)                    returns the number of elements
 *     draft_rank(t, key, upper)        returns the number of elements less than the key; if `upper`, counts the key too
 *     draft_copy(t, rank, n, out, at)  copies n elements from rank `rank` on to the outputs, from index `at` on */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "shared/key.h"

/* Each array may be NULL. */
typedef struct {
    __global ordo_key *keys;
    __global uchar    *values;
} draft_output;

#define DRAFT_QUERIES                                                                                                  \
    uint n, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,                 \
        __global const ordo_key *hi, ulong hi_at, __global const ulong *rooms, ulong rooms_at, __global uchar *found,  \
        ulong found_at, __global ordo_key *keys_out, ulong keys_out_at, __global uchar *values_out,                    \
        ulong values_out_at, __global uint *counts, ulong counts_at, __global uchar *outcomes, ulong outcomes_at,      \
        __global ordo_key *range_keys, ulong range_keys_at, __global uchar *range_values, ulong range_values_at,       \
        ulong range_capacity, uint value_bytes
#define DRAFT_AT(array, bytes) (array ? array + array##_at * (bytes) : array)
#define DRAFT_QUERIES_HERE                                                                                             \
    {                                                                                                                  \
        .n = n, .codes = codes + codes_at, .keys = keys + keys_at, .hi = DRAFT_AT(hi, 1), .rooms = DRAFT_AT(rooms, 1), \
        .found = DRAFT_AT(found, 1), .out = { DRAFT_AT(keys_out, 1), DRAFT_AT(values_out, value_bytes) },              \
        .counts = DRAFT_AT(counts, 1), .outcomes = DRAFT_AT(outcomes, 1),                                              \
        .range = { DRAFT_AT(range_keys, 1), DRAFT_AT(range_values, value_bytes) }, .range_capacity = range_capacity,   \
    }

typedef struct {
    uint                     n;
    __global const uchar    *codes;
    __global const ordo_key *keys, *hi;
    __global const ulong    *rooms;
    __global uchar          *found, *outcomes;
    __global uint           *counts;
    draft_output             out, range;
    ulong                    range_capacity;
} draft_queries;
