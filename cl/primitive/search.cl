/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a sorted array for a batch of queries, and stores a result for each query. search_body.cl has the kernels.
 * The host defines the macros of search_keys.cl, and:
 *
 *  SEARCH_LOOKUP   1: a result is a key's value, and whether the key was found. 0: a rank
 *  SEARCH_RANGES   1: a result is the lower and the upper bound of the query */
#pragma once
#include "device/atomic.cl"
#include "primitive/search_keys.cl"

#ifndef SEARCH_RANGES
#define SEARCH_RANGES 0
#endif
#define SEARCH_LAST 0

/* If the host sets SEARCH_ONCE, loads of keys and values bypass the caches, so that the index stays cached. An H200
 * then finds 13.9 instead of 12.3 billion keys per second in an array of 2^27 keys. */
#if SEARCH_ONCE && ORDO_VALUE_BYTES == 8
#define READ_VALUE(p) ordo_read64_once(p)
#elif SEARCH_ONCE && ORDO_VALUE_BYTES <= 4
#define READ_VALUE(p) ordo_read_once(p)
#else
#define READ_VALUE(p) (*(p))
#endif

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
#else
typedef struct {
    PLACES_OF
#if ORDO_VALUE_BYTES
    __global const ordo_value *from;
    __global ordo_value       *value;
#endif
    __global uchar            *found;
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
#define ANSWERS_ARGS VALUES_ARGS __global uchar *restrict found_mem, ulong found_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES VALUES found_mem ? found_mem + found_at : 0                                                             \
    }
#endif

ORDO_FN void answer(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
#if !SEARCH_LOOKUP
    to.rank[i] = rank;
#if SEARCH_RANGES
    to.upper[i] = rank_from(keys, rank, query, true);
#endif
#else
#if ORDO_VALUE_BYTES
    if (equal && to.value)
        to.value[i] = READ_VALUE(to.from + rank);
#endif
    if (to.found)
        to.found[i] = equal;
#endif
}

ORDO_FN void answer_prefetch(answers to, uint rank)
{
#if SEARCH_LOOKUP && ORDO_VALUE_BYTES
    ORDO_PREFETCH(to.from + rank);
#endif
}

#include "primitive/search_body.cl"
