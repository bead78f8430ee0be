/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/key.h"

/* Returns the index of the first key in keys[first .. end - 1] that is not less than x, or `end`. */
ORDO_FN uint keys_less(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (key_before(key_bits(keys[middle]), x))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Returns the same as keys_less. Is faster if the result is near `first`. */
ORDO_FN uint keys_less_near(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    uint step = 1;
    while (step <= end - first && key_before(key_bits(keys[first + step - 1]), x)) {
        first += step;
        step *= 2;
    }
    return keys_less(keys, first, first + min(step - 1, end - first), x);
}

ORDO_FN uint keys_not_greater(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (key_upto(key_bits(keys[middle]), x))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}
