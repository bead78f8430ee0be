/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of 4 and 8 bytes. shared/key.h describes the functions. */
#pragma once
#include "shared/types.h"

#if ORDO_KEY == KEY_U32 || ORDO_KEY == KEY_I32 || ORDO_KEY == KEY_F32
typedef ordo_u32 ordo_key;
#define KEY_BITS 32
#else
typedef ordo_u64 ordo_key;
#define KEY_BITS 64
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

ORDO_FN bool key_before(ordo_key_form a, ordo_key_form b)
{
    return a < b;
}

ORDO_FN bool key_upto(ordo_key_form a, ordo_key_form b)
{
    return a <= b;
}

ORDO_FN bool key_same(ordo_key_form a, ordo_key_form b)
{
    return a == b;
}

ORDO_FN uint key_digit(ordo_key_form form, uint shift, uint mask)
{
    return (uint) (form >> shift) & mask;
}

ORDO_FN ordo_key_form key_above(ordo_key_form form, uint n)
{
    return form >> n;
}

ORDO_FN ordo_key_form key_of_digit(uint digit, uint n)
{
    return (ordo_key_form) digit << n;
}

ORDO_FN ordo_key_form key_low_bits(uint n)
{
    return ((ordo_key_form) 1 << n) - 1;
}

ORDO_FN uint key_width(ordo_key_form form)
{
    return KEY_BITS - (uint) clz(form);
}

ORDO_FN uint key_ones(ordo_key_form form)
{
    return (uint) popcount(form);
}

ORDO_FN ordo_key_form key_plus(ordo_key_form a, ordo_key_form b)
{
    return a + b;
}

ORDO_FN ordo_key_form key_minus(ordo_key_form a, ordo_key_form b)
{
    return a - b;
}

ORDO_FN uint key_top(ordo_key_form form, uint width)
{
    return (uint) (width > 32 ? form >> (width - 32) : form << (32 - width));
}

ORDO_FN ulong key_hash(ordo_key_form form)
{
    return form * 0x9e3779b97f4a7c15ul;
}
