/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/less.cl"
#include "dict/timeline.cl"
#include "group/merge.cl"
#include "shared/apply.h"

#define NONE 0xffffffffu

/* A mixed batch has operations of several kinds. codes[] and values[] are in batch order. All other arrays are in key
 * order: element j describes operation j, which is the j-th operation in key order. index[j] is the index of operation
 * j in the batch.
 *
 * The operations on one key are divided into segments. A segment starts at the key's first operation, at an `upsert`,
 * or at an `erase`.
 *
 *  start[j]    first operation of the segment that contains operation j
 *  insert[j]   first `insert` or `combine` among operations start[j] to j, or NONE
 *  there[j]    1 if operation j's key is present before the batch
 *  before[j]   value of operation j's key before the batch
 *  made[j]     value of the key after operation j. `made` is NULL if the batch has no combines */
typedef struct {
    __global const uchar       *codes;
    __global const ordo_key    *keys;
    __global const uint        *index, *start, *insert;
    __global const uchar       *there;
    __global const merge_value *before, *values;
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

/* State of a key after an operation:
 *
 *  STATE_ABSENT   The key is absent.
 *  STATE_BEFORE   The key has its value from before the batch.
 *  other values   index of the key's value in made[], or in values[] if `made` is NULL */
typedef uint key_state;
#define STATE_BEFORE 0xffffffffu
#define STATE_ABSENT 0xfffffffeu

ORDO_FN bool batch_begins(const sorted_batch *b, uint j)
{
    return j == 0 || !key_same(b->keys[j], b->keys[j - 1]);
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
ORDO_FN merge_value state_value(const sorted_batch *b, uint j, key_state s)
{
    return s == STATE_BEFORE ? b->before[j] : b->made ? b->made[s] : b->values[s];
}
#endif

ORDO_FN uint sum_at(__global const uint *sums, ulong stride, uint part, uint j)
{
    return sums[part * stride + j] - sums[part * stride];
}

ORDO_FN uint place_of(__global const uint *places, uint n, uint part, uint j)
{
    return sum_at(places, (ulong) n + 2, part, j);
}

ORDO_FN uint sorted_bound(__global const ordo_key *sorted, uint n, ordo_key key, bool upper)
{
    return upper ? keys_not_greater(sorted, 0, n, key_bits(key)) : keys_less(sorted, 0, n, key_bits(key));
}

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
