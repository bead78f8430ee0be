/* SPDX-License-Identifier: Apache-2.0 */
/* Values as numbers: of type COMBINE_TYPE, joined by COMBINE_OP. Which of two values comes first does not matter: sums are
 * modulo 2^32 or 2^64, minima and maxima are in the order of keys of that type (shared/key.h), in which no two differ. */
#pragma once
#include "shared/key.h"

/* enum ordo_op of include/ordo/array.h, in words that the preprocessor understands. */
#define COMBINE_SUM 0
#define COMBINE_MIN 1
#define COMBINE_MAX 2

/* Whether the host says how values are joined: what is made with that and without combines only then. */
#ifdef COMBINE_OP
#define VALUE_COMBINES 1
#else
#define VALUE_COMBINES 0
#define COMBINE_OP     COMBINE_SUM
#endif
#ifndef COMBINE_TYPE
#define COMBINE_TYPE KEY_U32
#endif

#if ORDO_VALUE_BYTES

#define VALUE_SIGN_ ((ordo_value) 1 << (8 * ORDO_VALUE_BYTES - 1))

/* A value's ordered form, as key_bits is a key's. */
ORDO_FN ordo_value value_bits(ordo_value value)
{
#if COMBINE_TYPE == KEY_U32 || COMBINE_TYPE == KEY_U64
    return value;
#elif COMBINE_TYPE == KEY_I32 || COMBINE_TYPE == KEY_I64
    return value ^ VALUE_SIGN_;
#else
    return value ^ (value & VALUE_SIGN_ ? ~(ordo_value) 0 : VALUE_SIGN_);
#endif
}

/* What a value is combined with to stay as it is. */
#if COMBINE_OP == COMBINE_SUM
#define VALUE_NONE ((ordo_value) 0)
#else
#define VALUE_NONE value_none()
ORDO_FN ordo_value value_none(void)
{
    const ordo_value all = ~(ordo_value) 0, bits = COMBINE_OP == COMBINE_MIN ? all : 0;
#if COMBINE_TYPE == KEY_U32 || COMBINE_TYPE == KEY_U64
    return bits;
#elif COMBINE_TYPE == KEY_I32 || COMBINE_TYPE == KEY_I64
    return bits ^ VALUE_SIGN_;
#else
    return bits ^ (bits & VALUE_SIGN_ ? VALUE_SIGN_ : all);
#endif
}
#endif

ORDO_FN ordo_value value_combine(ordo_value a, ordo_value b)
{
#if COMBINE_OP == COMBINE_SUM
    return a + b;
#elif COMBINE_OP == COMBINE_MIN
    return value_bits(b) < value_bits(a) ? b : a;
#else
    return value_bits(b) > value_bits(a) ? b : a;
#endif
}

#endif
