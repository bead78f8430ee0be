/* SPDX-License-Identifier: Apache-2.0 */
/* Hides each element of an older run whose key also occurs in a newer run. */
#pragma once
#include "device/atomic.cl"
#include "primitive/search_keys.cl"

#define SEARCH_LAST 1

typedef struct {
    PLACES_OF
    __global uint *hidden;
} answers;
#define ANSWERS_ARGS __global uint *restrict hidden_mem, ulong hidden_at
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES hidden_mem + hidden_at                                                                                  \
    }

ORDO_FN void answer(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
    if (!equal)
        return;
    __global uint *word = to.hidden + ((rank - 1) >> 5);
    const uint     bit = 1u << ((rank - 1) & 31);
    if (!(ordo_load_relaxed(word) & bit))
        ordo_or(word, bit);
}

ORDO_FN void answer_prefetch(answers to, uint rank)
{
}

#include "primitive/search_body.cl"
