/* SPDX-License-Identifier: Apache-2.0 */
/* Odd-even transposition sort by one work-item of a CPU, in vectors. Round r compares elements i and i + 1 for each i
 * with i % 2 == r % 2, and swaps them if the second key is less. So elements with equal keys keep their order. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"

#if KEY_BITS <= 64 && ORDO_VALUE_BYTES <= 8

#if KEY_BITS == 32 && ORDO_VALUE_BYTES <= 4
#define EXCHANGE_LANES 16
typedef uint16 exchange_keys;
typedef uint16 exchange_values;
typedef int16  exchange_swaps;
#define EXCHANGE_LOAD(at)         vload16(0, at)
#define EXCHANGE_STORE(v, at)     vstore16(v, 0, at)
#define EXCHANGE_NEIGHBOUR(v)     ((v).s1032547698badcfe)
#define EXCHANGE_EVEN             ((int16) (-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0))
#define EXCHANGE_OF_VALUES(swaps) (swaps)
#else
#define EXCHANGE_LANES        8
#define EXCHANGE_LOAD(at)     vload8(0, at)
#define EXCHANGE_STORE(v, at) vstore8(v, 0, at)
#define EXCHANGE_NEIGHBOUR(v) ((v).s10325476)
#if KEY_BITS == 32
typedef uint8  exchange_keys;
typedef int8   exchange_swaps;
#define EXCHANGE_EVEN ((int8) (-1, 0, -1, 0, -1, 0, -1, 0))
#else
typedef ulong8 exchange_keys;
typedef long8  exchange_swaps;
#define EXCHANGE_EVEN ((long8) (-1, 0, -1, 0, -1, 0, -1, 0))
#endif
#if ORDO_VALUE_BYTES == 8
typedef ulong8 exchange_values;
#define EXCHANGE_OF_VALUES(swaps) convert_long8(swaps)
#else
typedef uint8  exchange_values;
#define EXCHANGE_OF_VALUES(swaps) convert_int8(swaps)
#endif
#endif

ORDO_FN void exchange_vector(__global ordo_key_form *keys, __global ordo_value *values)
{
    const exchange_keys key = EXCHANGE_LOAD(keys), other = EXCHANGE_NEIGHBOUR(key);
#if ORDO_VALUE_BYTES
    const exchange_values value = EXCHANGE_LOAD(values), other_value = EXCHANGE_NEIGHBOUR(value);
    const exchange_swaps  swaps = EXCHANGE_EVEN ? key > other : key < other;
    EXCHANGE_STORE(swaps ? other : key, keys);
    EXCHANGE_STORE(EXCHANGE_OF_VALUES(swaps) ? other_value : value, values);
#else
    EXCHANGE_STORE(EXCHANGE_EVEN ? min(key, other) : max(key, other), keys);
#endif
}

ORDO_FN void exchange_two(__global ordo_key_form *keys, __global ordo_value *values)
{
    const ordo_key_form key = keys[0], other = keys[1];
    const bool          swaps = key_before(other, key);
    keys[0] = swaps ? other : key;
    keys[1] = swaps ? key : other;
#if ORDO_VALUE_BYTES
    const ordo_value value = values[0], other_value = values[1];
    values[0] = swaps ? other_value : value;
    values[1] = swaps ? value : other_value;
#endif
}

#define EXCHANGE_VALUES(at) (ORDO_VALUE_BYTES ? values + (at) : values)

/* Sorts by `rounds` rounds. They suffice if the elements are runs of at most `rounds` elements in any order, and no
 * element of a run is greater than one of a later run. */
ORDO_FN void exchange_sort(__global ordo_key_form *keys, __global ordo_value *values, uint count, uint rounds)
{
    for (uint round = 0; round < rounds; round++) {
        const uint first = round % 2, pairs = count > first ? (count - first) / 2 : 0;
        const uint vectors = 2 * pairs / EXCHANGE_LANES;
        for (uint i = 0; i < vectors; i++) {
            const uint at = first + i * EXCHANGE_LANES;
            exchange_vector(keys + at, EXCHANGE_VALUES(at));
        }
        for (uint i = vectors * EXCHANGE_LANES / 2; i < pairs; i++)
            exchange_two(keys + first + 2 * i, EXCHANGE_VALUES(first + 2 * i));
    }
}

#endif
