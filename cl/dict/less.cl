/* SPDX-License-Identifier: Apache-2.0 */
/* Searches among sorted keys, each by a work-item alone.
 *
 * The host gives ORDO_KEY. */
#pragma once
#include "shared/key.h"

/* How many of keys[first .. end - 1] are less than x, plus first. */
ORDO_FN uint keys_less(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (key_bits(keys[middle]) < x)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* How many of keys[first .. end - 1] are not greater than x, plus first. */
ORDO_FN uint keys_not_greater(__global const ordo_key *keys, uint first, uint end, ordo_key_form x)
{
    while (first < end) {
        const uint middle = first + (end - first) / 2;
        if (key_bits(keys[middle]) <= x)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}
