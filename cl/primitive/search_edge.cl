/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a piece of a block that lies only partly in the array. */
#pragma once
#include "primitive/search_keys.cl"

/* A block's count adds 1 for each key before the query and, in a lookup on a GPU, COUNT_EQUAL for each key that equals
 * the query. CPUs read the key at the query's rank again. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

/* Put this before a loop over single keys. CPUs do not unroll it, because it seldom runs. */
#if ORDO_CPU
#define EDGE_EACH ORDO_KEEP_LOOP
#else
#define EDGE_EACH
#endif

/* The count of a piece that begins at element `at` (modulo 2^32) and lies only partly in the array. Elements before the
 * array count as keys before the query. */
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
