/* SPDX-License-Identifier: Apache-2.0 */
/* Counts keys in a vector that lies only partly in the array. */
#pragma once
#include "primitive/search_keys.cl"

/* A *count* has two halves of 16 bits. The lower half counts keys before the query. With COUNT_FINDS, the upper half
 * counts keys equal to the query. */
#define COUNT_EQUAL 0x10000u
#define COUNT_FINDS (SEARCH_LOOKUP && !ORDO_CPU)

#if ORDO_CPU
#define EDGE_EACH ORDO_KEEP_LOOP
#else
#define EDGE_EACH
#endif

/* Compares the query with PIECE_KEYS elements from index `at` on. An index before the array wraps to almost 2^32. It
 * counts as an element before the query. An index after the array does not count. */
ORDO_FN uint count_edge(key_array keys, uint at, ordo_key_form query)
{
    uint count = 0;

    EDGE_EACH
    for (uint i = at; i != at + PIECE_KEYS; i++) {
        if (i < keys.count) {
            const ordo_key_form key = key_bits(keys.key[i]);
            count += search_before(key, query) + (COUNT_FINDS && key_same(key, query) ? COUNT_EQUAL : 0);
        } else {
            count += i >= 0u - SEARCH_NODE;
        }
    }
    return count;
}
