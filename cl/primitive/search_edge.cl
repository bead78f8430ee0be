/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a piece of a block that the array does not have as a whole. */
#pragma once
#include "primitive/search_keys.cl"

/* A count of a block has 1 for each key before the query and, for a lookup on a GPU, COUNT_EQUAL for each key that
 * equals it. A CPU reads the key at the query's rank again instead. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

/* Before the loop over keys that are read one by one: on a CPU it stays one, as it is seldom gone through. */
#if ORDO_CPU
#define EDGE_EACH ORDO_KEEP_LOOP
#else
#define EDGE_EACH
#endif

/* The count of a piece that begins at element `at`, modulo 2^32, and does not lie in the array as a whole. Places
 * before the array count as keys before the query. */
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
