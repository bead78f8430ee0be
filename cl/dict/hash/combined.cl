/* SPDX-License-Identifier: Apache-2.0 */
/* Values as numbers, told at run time what they are and how they are combined: one kernel for all. cl/dict/generic/value.cl has the same
 * for kernels of one type and one operation.
 *
 * `how`: HASH_HOW of shared/hash_table.h. The host gives ORDO_VALUE_BYTES, not 0. */
#pragma once
#include "shared/hash_table.h"
#include "shared/key.h"

#define HASH_VALUE_SIGN ((ordo_value) 1 << (8 * ORDO_VALUE_BYTES - 1))

/* A word whose order, as a number, is the one in which the combined value is the greater; and the value of such a word. */
ORDO_FN ordo_value hash_value_bits(ordo_value value, uint how)
{
    const uint       order = HASH_ORDER_OF(how);
    const ordo_value flip = order == HASH_FLOAT && value & HASH_VALUE_SIGN ? ~(ordo_value) 0
                            : order == HASH_UNSIGNED                       ? 0
                                                                           : HASH_VALUE_SIGN;
    return value ^ flip ^ (HASH_OP_OF(how) == HASH_MIN ? ~(ordo_value) 0 : 0);
}

ORDO_FN ordo_value hash_value_from_bits(ordo_value bits, uint how)
{
    const uint       order = HASH_ORDER_OF(how);
    const ordo_value plain = bits ^ (HASH_OP_OF(how) == HASH_MIN ? ~(ordo_value) 0 : 0);
    const ordo_value flip = order == HASH_FLOAT && !(plain & HASH_VALUE_SIGN) ? ~(ordo_value) 0
                            : order == HASH_UNSIGNED                          ? 0
                                                                              : HASH_VALUE_SIGN;
    return plain ^ flip;
}

ORDO_FN ordo_value hash_combined(ordo_value a, ordo_value b, uint how)
{
    if (HASH_OP_OF(how) == HASH_SUM)
        return a + b;
    return hash_value_bits(a, how) < hash_value_bits(b, how) ? b : a;
}
