/* SPDX-License-Identifier: Apache-2.0 */
/* Types of keys and values, and the order of keys. Kernels compare keys in *ordered form*: an unsigned number with as
 * many bits as the key, which sorts like the key. Floats sort in IEEE total order. Kernels for descending order invert
 * all bits of the ordered form. */

/* Kernels are compiled for one ORDO_KEY (an ordo_type), ORDO_DESCENDING (0 or 1) and ORDO_VALUE_BYTES (0, 4, 8, 16).
 * f and g are ordered forms:
 *
 *     ordo_key, ordo_value         a stored key (floats as their bits), a stored value
 *     ordo_key_form                the ordered form of a key
 *     KEY_LEAST, KEY_GREATEST      the least and the greatest ordered form
 *     key_bits, key_from_bits      convert a key to its ordered form, and back
 *     key_before, key_upto         <, <=
 *     key_same                     ==, also for stored keys
 *     key_digit(f, shift, mask)    bits of f from bit `shift` up, at most 32 bits
 *     key_above(f, n)              f >> n, for n < KEY_BITS
 *     key_of_digit(digit, n)       the 32-bit number `digit` << n, for n < KEY_BITS
 *     key_low_bits(n)              the n < KEY_BITS lowest bits
 *     key_width(f)                 number of bits without leading zeros
 *     key_ones(f)                  number of bits set
 *     key_plus(f, g), key_minus    f + g, f - g, modulo 2^KEY_BITS
 *     key_top(f, width)            f >> (width - 32), but f << (32 - width) if width < 32. f must be less than 2^width
 *     key_hash(f)                  a 64-bit hash. Its upper half depends on all bits of f
 *
 * Operators ^ & | ~ work on ordered forms, too. */
#pragma once
#include "shared/types.h"

/* Values of enum ordo_type (include/ordo/array.h). */
#define KEY_U32     0
#define KEY_U64     1
#define KEY_I32     2
#define KEY_I64     3
#define KEY_F32     4
#define KEY_F64     5
#define KEY_U128    6
#define KEY_BYTES16 7

#ifdef __OPENCL_C_VERSION__

#ifndef ORDO_KEY
#define ORDO_KEY KEY_U32
#endif
#ifndef ORDO_VALUE_BYTES
#define ORDO_VALUE_BYTES 0
#endif
#ifndef ORDO_DESCENDING
#define ORDO_DESCENDING 0
#endif
#if ORDO_KEY == KEY_U128 || ORDO_KEY == KEY_BYTES16
#include "shared/key_wide.h"
#elif ORDO_KEY >= KEY_U32 && ORDO_KEY <= KEY_F64
#include "shared/key_scalar.h"
#else
#error "ORDO_KEY must be an ordo_type"
#endif
#define KEY_LEAST    ((ordo_key_form) 0)
#define KEY_GREATEST (~(ordo_key_form) 0)

#if ORDO_VALUE_BYTES == 0 || ORDO_VALUE_BYTES == 4
typedef ordo_u32 ordo_value;
#elif ORDO_VALUE_BYTES == 8
typedef ordo_u64 ordo_value;
#elif ORDO_VALUE_BYTES == 16
typedef ulong2 ordo_value;
#else
#error "ORDO_VALUE_BYTES must be 0, 4, 8 or 16"
#endif

/* PAIRS_IN(x) and PAIRS_OUT(x) declare kernel parameters: an array keys_x, and an array values_x if elements have
 * values. PAIR_VALUES(x, i) points to the value at index i, or is null without values. */
#if ORDO_VALUE_BYTES
#define PAIRS_IN(name)        __global const ordo_key *keys_##name, __global const ordo_value *values_##name
#define PAIRS_OUT(name)       __global ordo_key *keys_##name, __global ordo_value *values_##name
#define PAIR_VALUES(name, at) (values_##name + (at))
#else
#define PAIRS_IN(name)        __global const ordo_key *keys_##name
#define PAIRS_OUT(name)       __global ordo_key *keys_##name
#define PAIR_VALUES(name, at) 0
#endif

#else /* the host */

static inline ordo_u64 key_sign_of(int type)
{
    return type == KEY_U32 || type == KEY_I32 || type == KEY_F32 ? (ordo_u64) 1 << 31 : (ordo_u64) 1 << 63;
}

static inline ordo_u64 key_bits_of(int type, ordo_u64 key)
{
    const ordo_u64 sign = key_sign_of(type), all = sign | (sign - 1);
    switch (type) {
    case KEY_I32:
    case KEY_I64:
        return key ^ sign;
    case KEY_F32:
    case KEY_F64:
        return key ^ (key & sign ? all : sign);
    default:
        return key;
    }
}

static inline ordo_u64 key_from_bits_of(int type, ordo_u64 bits)
{
    const ordo_u64 sign = key_sign_of(type), all = sign | (sign - 1);
    switch (type) {
    case KEY_I32:
    case KEY_I64:
        return bits ^ sign;
    case KEY_F32:
    case KEY_F64:
        return bits ^ (bits & sign ? sign : all);
    default:
        return bits;
    }
}

#endif
