/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys in a set of sorted runs. The host launches a search for each run, newest first. */
#pragma once
#include "group/hidden.cl"
#include "primitive/search_keys.cl"

#define SEARCH_LAST 1

typedef struct {
    PLACES_OF
#if ORDO_VALUE_BYTES
    __global const ordo_value *from;
    __global ordo_value       *value;
#endif
    __global uchar      *found;
    __global const uint *hidden;
    uint                 stage;
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
#define ANSWERS_ARGS                                                                                                   \
    VALUES_ARGS __global uchar *restrict found_mem, ulong found_at, __global const uint *restrict hidden_mem,          \
        ulong hidden_at, uint stage
#define ANSWERS                                                                                                        \
    {                                                                                                                  \
        PLACES VALUES found_mem ? found_mem + found_at : 0, hidden_mem ? hidden_mem + hidden_at : 0, stage             \
    }

enum { FIND_OPEN, FIND_FOUND, FIND_ERASED };

/* Writes the result of query i if no newer run has its key. The run has `rank` keys that are at most the query. `equal`
 * is true if the last of them equals the query. */
ORDO_FN void answer(key_array keys, answers to, uint i, uint rank, ordo_key_form query, bool equal)
{
    uint state = to.stage & RUN_FIRST_STAGE ? FIND_OPEN : to.found[i];

    if (state == FIND_OPEN && equal) {
        state = run_is_hidden(to.hidden, rank - 1) ? FIND_ERASED : FIND_FOUND;
#if ORDO_VALUE_BYTES
        if (state == FIND_FOUND && to.value)
            to.value[i] = to.from[rank - 1];
#endif
    }
    to.found[i] = to.stage & RUN_LAST_STAGE ? state == FIND_FOUND : state;
}

ORDO_FN void answer_prefetch(answers to, uint rank)
{
#if ORDO_VALUE_BYTES
    ORDO_PREFETCH(to.from + rank - 1);
#endif
}

#include "primitive/search_body.cl"
