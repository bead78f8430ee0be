/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and elements of a reduction by key. */

/* The host defines:
 *  ORDO_KEY       the type of the results
 *  FOLD_OP        the operation: sum, minimum or maximum (group/fold.cl)
 *  BY_KEY_BYTES   bytes of a key
 *  BY_KEY_VALUES  0: elements have no values
 *  BY_KEY_WIDEN   1: converts 4-byte unsigned values to 8 bytes before the reduction. 2: the same for signed values */
#pragma once
#ifndef BY_KEY_VALUES
#define BY_KEY_VALUES 1
#endif
#define FOLD_NUMBERED 1
#define FOLD_VALUES   BY_KEY_VALUES
#include "device/compiler.cl"
#include "group/fold.cl"

#ifndef BY_KEY_BYTES
#define BY_KEY_BYTES 4
#endif
#ifndef BY_KEY_WIDEN
#define BY_KEY_WIDEN 0
#endif

#if BY_KEY_BYTES == 4
typedef uint  by_key_word;
typedef uint4 by_key_four;
#elif BY_KEY_BYTES == 8
typedef ulong  by_key_word;
typedef ulong4 by_key_four;
#else
typedef ulong2 by_key_word;
#endif
#if BY_KEY_WIDEN
typedef uint  by_key_in;
typedef uint4 by_key_in_four;
#elif KEY_BITS == 32
typedef uint   by_key_in;
typedef uint4  by_key_in_four;
#else
typedef ulong  by_key_in;
typedef ulong4 by_key_in_four;
#endif

typedef struct {
    __global const by_key_word *keys;
    __global const by_key_in   *values;
    __global by_key_word       *keys_out;
    __global ordo_key          *values_out;
    __global uint              *counts;
    __global uint              *groups;
    uint                        count, room;
} by_key_arrays;

#define BY_KEY_ARGS                                                                                                    \
    __global const by_key_word *keys, ulong keys_at, __global const by_key_in *values, ulong values_at,                \
        __global by_key_word *keys_out, ulong keys_out_at, __global ordo_key *values_out, ulong values_out_at,         \
        __global uint *counts, ulong counts_at, __global uint *groups, ulong groups_at, uint count, uint room
#define BY_KEY_ARRAYS                                                                                                  \
    {                                                                                                                  \
        keys + keys_at, values + values_at, keys_out + keys_out_at, values_out + values_out_at,                        \
            counts ? counts + counts_at : 0, groups + groups_at, count, room                                           \
    }

/* ---- elements -------------------------------------------------------------------------------------------------- */

ORDO_FN fold_word by_key_value_of(by_key_in value)
{
#if BY_KEY_WIDEN == 2
    return (fold_word) (long) (int) value;
#else
    return fold_value_of((ordo_key) value);
#endif
}

ORDO_FN fold_word by_key_value(__private const by_key_arrays *a, uint i)
{
#if BY_KEY_VALUES
    return by_key_value_of(a->values[i]);
#else
    return 0;
#endif
}

ORDO_FN bool by_key_differ(by_key_word a, by_key_word b)
{
#if BY_KEY_BYTES == 16
    return ((a.x ^ b.x) | (a.y ^ b.y)) != 0;
#else
    return a != b;
#endif
}

ORDO_FN void by_key_begin(__private const by_key_arrays *a, uint number, by_key_word key)
{
    if (number < a->room)
        a->keys_out[number] = key;
}
