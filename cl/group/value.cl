/* SPDX-License-Identifier: Apache-2.0 */
/* Combines two values by addition, minimum or maximum. Sums wrap around. Values have the types and orders of keys
 * (shared/key.h). A parameter `how` (VALUE_HOW) selects the operation and the type. Functions without it use the macros
 * COMBINE_OP and COMBINE_TYPE. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/value.h"

#ifdef COMBINE_OP
#define VALUE_COMBINES 1
#else
#define VALUE_COMBINES 0
#define COMBINE_OP     COMBINE_SUM
#endif
#ifndef COMBINE_TYPE
#define COMBINE_TYPE KEY_U32
#endif

#if COMBINE_TYPE == KEY_U32 || COMBINE_TYPE == KEY_U64
#define COMBINE_HOW VALUE_HOW(COMBINE_OP, VALUE_UNSIGNED)
#elif COMBINE_TYPE == KEY_I32 || COMBINE_TYPE == KEY_I64
#define COMBINE_HOW VALUE_HOW(COMBINE_OP, VALUE_SIGNED)
#else
#define COMBINE_HOW VALUE_HOW(COMBINE_OP, VALUE_FLOAT)
#endif

#if ORDO_VALUE_BYTES == 4 || ORDO_VALUE_BYTES == 8

#define VALUE_SIGN_ ((ordo_value) 1 << (8 * ORDO_VALUE_BYTES - 1))

/* Maps a value to an unsigned number. If `how` is a maximum, greater values get greater numbers. If it is a minimum,
 * lesser values get greater numbers. */
ORDO_FN ordo_value value_rank(ordo_value value, uint how)
{
    const uint       order = VALUE_ORDER_OF(how);
    const ordo_value flip = order == VALUE_FLOAT && value & VALUE_SIGN_ ? ~(ordo_value) 0
                            : order == VALUE_UNSIGNED                   ? 0
                                                                        : VALUE_SIGN_;
    return value ^ flip ^ (VALUE_OP_OF(how) == COMBINE_MIN ? ~(ordo_value) 0 : 0);
}

ORDO_FN ordo_value value_of_rank(ordo_value rank, uint how)
{
    const uint       order = VALUE_ORDER_OF(how);
    const ordo_value bits = rank ^ (VALUE_OP_OF(how) == COMBINE_MIN ? ~(ordo_value) 0 : 0);
    const ordo_value flip = order == VALUE_FLOAT && !(bits & VALUE_SIGN_) ? ~(ordo_value) 0
                            : order == VALUE_UNSIGNED                     ? 0
                                                                          : VALUE_SIGN_;
    return bits ^ flip;
}

ORDO_FN ordo_value value_combine_by(ordo_value a, ordo_value b, uint how)
{
    if (VALUE_OP_OF(how) == COMBINE_SUM)
        return a + b;
    return value_rank(a, how) < value_rank(b, how) ? b : a;
}

ORDO_FN ordo_value value_combine(ordo_value a, ordo_value b)
{
    return value_combine_by(a, b, COMBINE_HOW);
}

#define VALUE_NONE (COMBINE_OP == COMBINE_SUM ? (ordo_value) 0 : value_of_rank(0, COMBINE_HOW))

#endif
