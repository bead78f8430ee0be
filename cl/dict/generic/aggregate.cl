/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the values in each interval of an array, by sum, minimum or maximum. */
#pragma once
#include "dict/each.cl"
#include "group/value.cl"
#include "shared/aggregate.h"

#if ORDO_VALUE_BYTES == 4 || ORDO_VALUE_BYTES == 8

ORDO_FN ordo_value aggregate_of(__global const ordo_value *values, ulong first, ulong past)
{
    ordo_value sum = VALUE_NONE;
    for (ulong i = first; i < past; i++)
        sum = value_combine(sum, values[i]);
    return sum;
}

ORDO_KERNEL(RUN_GROUP)
void aggregate_level(__global ordo_value *levels, ulong from, uint count, ulong to)
{
    RUN_EACH (uint, i, (count - 1) / AGGREGATE_FAN + 1) {
        const ulong first = (ulong) i * AGGREGATE_FAN;
        levels[to + i] = aggregate_of(levels + from, first, min(first + AGGREGATE_FAN, (ulong) count));
    }
}

/* Interval i has the indices offsets[i] .. offsets[i + 1] - 1. If offsets is NULL, it has the indices first[i] ..
 * past[i] - 1, or none if past[i] < first[i]. */
#define AGGREGATE_INTERVALS __global const ulong *offsets, __global const uint *first, __global const uint *past, uint n
#define AGGREGATE_FIRST(i)  (offsets ? offsets[i] : first[i])
#define AGGREGATE_PAST(i)   (offsets ? offsets[(i) + 1] : max(first[i], past[i]))

ORDO_KERNEL(RUN_GROUP)
void aggregate_short(__global const ordo_value *values, AGGREGATE_INTERVALS, __global ordo_value *results,
                     ulong results_at)
{
    RUN_EACH (uint, i, n)
        results[results_at + i] = aggregate_of(values, AGGREGATE_FIRST(i), AGGREGATE_PAST(i));
}

/* For sums, `table` holds the array's exclusive prefix sums. For minima and maxima, it holds the array, then levels:
 * each value of a level combines AGGREGATE_FAN values of the level before. */
ORDO_KERNEL(RUN_GROUP)
void aggregate_long(__global const ordo_value *table, uint count, AGGREGATE_INTERVALS, __global ordo_value *results,
                    ulong results_at)
{
    RUN_EACH (uint, i, n) {
        ulong low = AGGREGATE_FIRST(i), high = AGGREGATE_PAST(i);
#if COMBINE_OP == COMBINE_SUM
        results[results_at + i] = table[high] - table[low];
#else
        __global const ordo_value *level = table;
        ordo_value                 sum = VALUE_NONE;
        for (ulong size = count; high - low > 2 * AGGREGATE_FAN; size = (size - 1) / AGGREGATE_FAN + 1) {
            for (; low % AGGREGATE_FAN; low++)
                sum = value_combine(sum, level[low]);
            for (; high % AGGREGATE_FAN; high--)
                sum = value_combine(sum, level[high - 1]);
            low /= AGGREGATE_FAN;
            high /= AGGREGATE_FAN;
            level += size;
        }
        results[results_at + i] = value_combine(sum, aggregate_of(level, low, high));
#endif
    }
}

#endif
