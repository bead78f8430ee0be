/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of 16 bytes. shared/key.h describes the functions. The ordered form has its high 64 bits in .y, its low 64 bits
 * in .x. */
#pragma once
#include "shared/types.h"

#define KEY_BITS 128
typedef ulong2 ordo_key;
typedef ulong2 ordo_key_form;

/* In memory, a KEY_U128 begins with its low 64 bits, a KEY_BYTES16 with its most significant byte. */
ORDO_FN ulong2 key_turned_(ulong2 key)
{
#if ORDO_KEY == KEY_BYTES16
    key = as_ulong2(as_uchar16(key).sfedcba9876543210);
#endif
    return ORDO_DESCENDING ? ~key : key;
}

ORDO_FN ordo_key_form key_bits(ordo_key key)
{
    return key_turned_(key);
}

ORDO_FN ordo_key key_from_bits(ordo_key_form bits)
{
    return key_turned_(bits);
}

#if defined(ORDO_CHECKED) && ORDO_CHECKED

/* Oclgrind 21.10 computes 255, not 1, for a true comparison like a.y < b.y. */
ORDO_FN bool key_before(ordo_key_form a, ordo_key_form b)
{
    const long2 less = a < b, same = a == b;
    return any((long2) (less.y, same.y & less.x));
}

ORDO_FN bool key_upto(ordo_key_form a, ordo_key_form b)
{
    const long2 less = a < b, same = a == b;
    return any((long2) (less.y, same.y & (less.x | same.x)));
}

ORDO_FN bool key_same(ordo_key_form a, ordo_key_form b)
{
    return all(a == b);
}

#else

ORDO_FN bool key_before(ordo_key_form a, ordo_key_form b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

ORDO_FN bool key_upto(ordo_key_form a, ordo_key_form b)
{
    return a.y < b.y || (a.y == b.y && a.x <= b.x);
}

ORDO_FN bool key_same(ordo_key_form a, ordo_key_form b)
{
    return ((a.x ^ b.x) | (a.y ^ b.y)) == 0;
}

#endif

ORDO_FN ordo_key_form key_above(ordo_key_form form, uint n)
{
    const uint  shift = n & 63;
    const ulong high = form.y >> shift;
    /* Compilers turn the #else line into an instruction (funnel shift) that the simulator Oclgrind does not support. */
#if defined(ORDO_CHECKED) && ORDO_CHECKED
    const ulong low = bitselect(form.x >> shift, form.y << 1 << (63 - shift), ~(~(ulong) 0 >> shift));
#else
    const ulong low = form.x >> shift | form.y << 1 << (63 - shift);
#endif
    return n < 64 ? (ordo_key_form) (low, high) : (ordo_key_form) (high, 0);
}

ORDO_FN uint key_digit(ordo_key_form form, uint shift, uint mask)
{
    return (uint) key_above(form, shift).x & mask;
}

ORDO_FN ordo_key_form key_of_digit(uint digit, uint n)
{
    const ulong low = (ulong) digit << (n & 63), high = (ulong) digit >> 1 >> (63 - (n & 63));
    return n < 64 ? (ordo_key_form) (low, high) : (ordo_key_form) (0, low);
}

ORDO_FN ordo_key_form key_low_bits(uint n)
{
    const ulong some = ((ulong) 1 << (n & 63)) - 1;
    return n < 64 ? (ordo_key_form) (some, 0) : (ordo_key_form) (~(ulong) 0, some);
}

ORDO_FN uint key_width(ordo_key_form form)
{
    return form.y ? 128 - (uint) clz(form.y) : 64 - (uint) clz(form.x);
}

ORDO_FN uint key_ones(ordo_key_form form)
{
    return (uint) (popcount(form.x) + popcount(form.y));
}

ORDO_FN ordo_key_form key_plus(ordo_key_form a, ordo_key_form b)
{
    const ulong low = a.x + b.x, carry = ((a.x & b.x) | ((a.x | b.x) & ~low)) >> 63;
    return (ordo_key_form) (low, a.y + b.y + carry);
}

ORDO_FN ordo_key_form key_minus(ordo_key_form a, ordo_key_form b)
{
    return (ordo_key_form) (a.x - b.x, a.y - b.y - (a.x < b.x));
}

ORDO_FN uint key_top(ordo_key_form form, uint width)
{
    return width > 32 ? key_digit(form, width - 32, ~0u) : (uint) (form.x << (32 - width));
}

ORDO_FN ulong key_hash(ordo_key_form form)
{
    return (form.x ^ form.y * 0xc2b2ae3d27d4eb4ful) * 0x9e3779b97f4a7c15ul;
}
