/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the types of keys and values, and the order of keys. Kernels compare the *ordered form* of a key: an unsigned
 * word of the same width that sorts like the key. Floats sort in IEEE total order (-NaN < -inf < ... < -0 < +0 < ... <
 * +inf < +NaN). A kernel for descending order inverts all bits of the ordered form.
 *
 * A kernel is compiled for one ORDO_KEY (an ordo_type), ORDO_DESCENDING (0 or 1) and ORDO_VALUE_BYTES (0, 4, 8):
 *
 *     ordo_key                     a stored key: uint or ulong (floats are stored as their bits)
 *     ordo_key_form                the ordered form of a key
 *     key_bits(k)                  converts a key to its ordered form
 *     key_from_bits(bits)          converts an ordered form to the key
 *     ordo_value                   a stored value: uint or ulong */
#pragma once
#include "shared/types.h"

/* Repeats the values of enum ordo_type (include/ordo/array.h). */
#define KEY_U32 0
#define KEY_U64 1
#define KEY_I32 2
#define KEY_I64 3
#define KEY_F32 4
#define KEY_F64 5

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
#if ORDO_KEY == KEY_U32 || ORDO_KEY == KEY_I32 || ORDO_KEY == KEY_F32
typedef ordo_u32 ordo_key;
#define KEY_BITS 32
#elif ORDO_KEY == KEY_U64 || ORDO_KEY == KEY_I64 || ORDO_KEY == KEY_F64
typedef ordo_u64 ordo_key;
#define KEY_BITS 64
#else
#error "ORDO_KEY must be an ordo_type"
#endif
typedef ordo_key ordo_key_form;
#define KEY_SIGN_ ((ordo_key) 1 << (KEY_BITS - 1))

#if ORDO_DESCENDING
#define KEY_TURN_ (~(ordo_key) 0)
#else
#define KEY_TURN_ ((ordo_key) 0)
#endif

ORDO_FN ordo_key_form key_bits(ordo_key key)
{
#if ORDO_KEY == KEY_U32 || ORDO_KEY == KEY_U64
    return key ^ KEY_TURN_;
#elif ORDO_KEY == KEY_I32 || ORDO_KEY == KEY_I64
    return key ^ (KEY_SIGN_ ^ KEY_TURN_);
#else
    return key ^ (key & KEY_SIGN_ ? ~KEY_TURN_ : KEY_SIGN_ ^ KEY_TURN_);
#endif
}

ORDO_FN ordo_key key_from_bits(ordo_key_form bits)
{
#if ORDO_KEY == KEY_U32 || ORDO_KEY == KEY_U64
    return bits ^ KEY_TURN_;
#elif ORDO_KEY == KEY_I32 || ORDO_KEY == KEY_I64
    return bits ^ (KEY_SIGN_ ^ KEY_TURN_);
#else
    return bits ^ ((bits ^ KEY_TURN_) & KEY_SIGN_ ? KEY_SIGN_ ^ KEY_TURN_ : ~KEY_TURN_);
#endif
}

#if ORDO_VALUE_BYTES == 0 || ORDO_VALUE_BYTES == 4
typedef ordo_u32 ordo_value;
#elif ORDO_VALUE_BYTES == 8
typedef ordo_u64 ordo_value;
#else
#error "ORDO_VALUE_BYTES must be 0, 4 or 8"
#endif

/* Declare the parameters of a kernel for an array of keys and, if ORDO_VALUE_BYTES is not 0, an array of values:
 * PAIRS_IN for arrays that the kernel reads, PAIRS_OUT for arrays that it writes. PAIR_VALUES is a pointer to value
 * `at`, or null if there are no values. */
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

/* Returns the ordered form of a key whose type is `type` (KEY_...). */
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
