/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a piece of a block that the array does not have as a whole. */
#pragma once
#include "primitive/search_keys.cl"

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
