/* SPDX-License-Identifier: Apache-2.0 */
/* A mixed batch in key order and the state of a key over time, for the kernels of apply.cl, apply_order.cl and
 * apply_seek.cl. The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP. */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/less.cl"
#include "dict/timeline.cl"
#include "group/merge.cl"
#include "shared/apply.h"

#define NONE 0xffffffffu

/* The batch in key order. Position j is operation index[j]. A stretch begins where a key begins, and at each upsert and
 * erase: within it only the first insert can matter, and combines. start[j]: where j's stretch begins; insert[j]: the first
 * insert or combine from there to j, or NONE. there[j], value[j]: whether j's key was in the dictionary before the batch, and
 * its value. made[j], if there are combines (else NULL): the value of j's key after it, where it is there. */
typedef struct {
    __global const uchar       *codes;
    __global const ordo_key    *keys;
    __global const uint        *index, *start, *insert;
    __global const uchar       *there;
    __global const merge_value *before, *values; /* before the batch, in key order; the batch's, in its own */
    __global const merge_value *made;
    uint                        n;
} sorted_batch;

#define BATCH_ARGS                                                                                                     \
    __global const uchar *codes, ulong codes_at, __global const merge_value *values, ulong values_at,                  \
        __global const ordo_key *sorted, __global const uint *index, __global const uint *start,                       \
        __global const uint *insert, __global const uchar *there, __global const merge_value *before,                  \
        __global const merge_value *made, uint n
#define BATCH                                                                                                          \
    {                                                                                                                  \
        codes + codes_at, sorted, index, start, insert, there, before, values + values_at, made, n                     \
    }

/* What a key's state is: absent; present with the value from before the batch; or, any other number, with the value of
 * that operation or, if there are combines, the value made at that position. */
typedef uint key_state;
#define STATE_BEFORE 0xffffffffu
#define STATE_ABSENT 0xfffffffeu

ORDO_FN bool batch_begins(const sorted_batch *b, uint j)
{
    return j == 0 || b->keys[j] != b->keys[j - 1];
}

ORDO_FN key_state state_at_first(const sorted_batch *b, uint j)
{
    return b->there[j] ? STATE_BEFORE : STATE_ABSENT;
}

ORDO_FN key_state state_in(const sorted_batch *b, uint j, uint first, uint insert)
{
    const uint code = b->codes[b->index[first]];
    if (code == CODE_UPSERT)
        return b->made ? j : b->index[first];
    if (code != CODE_ERASE && b->there[j])
        return b->made && insert != NONE ? j : STATE_BEFORE;
    return insert == NONE ? STATE_ABSENT : b->made ? j : b->index[insert];
}

ORDO_FN key_state state_after(const sorted_batch *b, uint j)
{
    return state_in(b, j, b->start[j], b->insert[j]);
}

#if ORDO_VALUE_BYTES
/* The value of j's key in a state in which it is present. */
ORDO_FN merge_value state_value(const sorted_batch *b, uint j, key_state s)
{
    return s == STATE_BEFORE ? b->before[j] : b->made ? b->made[s] : b->values[s];
}
#endif

/* Sums over the batch in key order, in parts of `stride` one after another, scanned as one: before position j of part p lie
 * sum_at(sums, stride, p, j). */
ORDO_FN uint sum_at(__global const uint *sums, ulong stride, uint part, uint j)
{
    return sums[part * stride + j] - sums[part * stride];
}

ORDO_FN uint place_of(__global const uint *places, uint n, uint part, uint j)
{
    return sum_at(places, (ulong) n + 2, part, j);
}

/* How many of the first n sorted keys are less than key, or not greater (`upper`). */
ORDO_FN uint sorted_bound(__global const ordo_key *sorted, uint n, ordo_key key, bool upper)
{
    return upper ? keys_not_greater(sorted, 0, n, key_bits(key)) : keys_less(sorted, 0, n, key_bits(key));
}

/* The state and the position of group g before operation `time`. */
ORDO_FN key_state group_state(const sorted_batch *b, __global const uint *first_of, uint g, uint time, uint *position)
{
    const uint first = first_of[g];
    uint       low = first, end = first_of[g + 1];
    while (low < end) {
        const uint middle = low + (end - low) / 2;
        if (b->index[middle] < time)
            low = middle + 1;
        else
            end = middle;
    }
    *position = low > first ? low - 1 : first;
    return low > first ? state_after(b, low - 1) : state_at_first(b, first);
}
