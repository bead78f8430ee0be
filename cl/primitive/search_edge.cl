/* SPDX-License-Identifier: Apache-2.0 */
/* Counts keys in a vector that lies only partly in the array. */
#pragma once
#include "primitive/search_keys.cl"

/* A *count* is the number of keys before the query. If COUNT_FINDS is 1, it is COUNT_EQUAL greater for each key that
 * equals the query. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

/* On CPUs loops over single keys are not unrolled, because they run seldom. */
#if ORDO_CPU
#define EDGE_EACH ORDO_KEEP_LOOP
#else
#define EDGE_EACH
#endif

/* Counts the keys before the query (see COUNT_EQUAL) among PIECE_KEYS elements from index `at`, which may be negative
 * (modulo 2^32). Elements before the array count as keys before the query, elements after it do not count. */
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
