/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the index of a column of strings. shared/string_index.h describes the index. */
#pragma once
#include "device/atomic.cl"
#include "group/strings.cl"
#include "shared/string_index.h"
#include "shared/strings.h"

/* A row is bad if its offsets descend or exceed the column. bad[0] becomes `count` minus the index of the first bad
 * row. bad[0] must be 0 before. */
ORDO_KERNEL(STRINGS_GROUP)
void string_check(STRING_COLUMN_ARGS(column), uint count, __global uint *bad)
{
    const string_column c = STRING_COLUMN(column);
    STRINGS_EACH(i, count)
    {
        if (!string_of(&c, i).good)
            ordo_max(bad, count - i);
    }
}

enum { STRING_UNFINISHED, STRING_DESCENDS, STRING_TOO_LONG };

/* Returns the first position where two strings differ: byte << 4 | bit. Their first `from` bytes must be equal.
 * Compares at most STRINGS_PREFIX_MAX further bytes. If these are equal, returns the next byte's position with flag
 * STRING_GOES_ON. */
ORDO_FN uint string_first_apart(__private const string_column *c, string_text a, string_text b, uint from,
                                __private bool *descends)
{
    const ulong both = min(a.length, b.length), most = min(both - from, (ulong) STRINGS_PREFIX_MAX);
    const ulong same = from + string_shared(&c->bytes, a.at + from, &c->bytes, b.at + from, most);
    if (same == both) {
        *descends = a.length > b.length;
        return a.length == b.length ? STRING_EQUAL : (uint) same << 4;
    }
    if (same == from + most)
        return (uint) same << 4 | STRING_GOES_ON;
    const uchar in_a = c->bytes.bytes[a.at + same], in_b = c->bytes.bytes[b.at + same];
    *descends = in_a > in_b;
    return (uint) same << 4 | (clz((uchar) (in_a ^ in_b)) + 1u);
}

/* Sets position[i], for i > 0, to the first position where sorted strings i - 1 and i differ. String i is in row
 * rows[i], or in row i if `rows` is NULL.
 *
 * The host sets each position[i] to STRING_GOES_ON first. Before each launch, it zeroes `state`. It launches again if
 * state[STRING_UNFINISHED] is 1 after a launch.
 *
 * Two words of `state` report errors. If string i is the first with an error, the word becomes count - i:
 *  state[STRING_DESCENDS]  string i is less than string i - 1
 *  state[STRING_TOO_LONG]  string i shares too many bytes with string i - 1 */
ORDO_KERNEL(STRINGS_GROUP)
void string_apart(STRING_COLUMN_ARGS(column), __global const uint *rows, uint count, __global uint *position,
                  __global uint *state)
{
    const string_column c = STRING_COLUMN(column);
    STRINGS_EACH(i, count)
    {
        const uint known = position[i];
        if (i == 0 || (known & 15) != STRING_GOES_ON || known == STRING_EQUAL)
            continue;
        const string_text a = string_of(&c, rows ? rows[i - 1] : i - 1), b = string_of(&c, rows ? rows[i] : i);
        bool              descends = false;
        const uint        apart = string_first_apart(&c, a, b, known >> 4, &descends);
        position[i] = apart;
        if (descends)
            ordo_max(&state[STRING_DESCENDS], count - i);
        if (apart == STRING_EQUAL)
            continue;
        if (apart >> 4 > STRING_SHARED_MAX - STRINGS_PREFIX_MAX - 8)
            ordo_max(&state[STRING_TOO_LONG], count - i);
        else if ((apart & 15) == STRING_GOES_ON)
            ordo_store_relaxed(&state[STRING_UNFINISHED], 1);
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_heads(__global const uint *position, uint count, __global uint *marks)
{
    STRINGS_EACH(i, count)
    {
        marks[i] = i == 0 || position[i] != STRING_EQUAL;
        if (i == 0)
            marks[count] = 0;
    }
}

/* Writes for each distinct string, in sorted order:
 *
 *  tests   first position where the string and the next one differ
 *  starts  index of the string's first row among the sorted rows. May be NULL. The last element is `count`
 *  first   number of this row in the column. May be NULL
 *
 * ids[i] is the number of distinct strings whose first row is before row i. */
ORDO_KERNEL(STRINGS_GROUP)
void string_tests(__global const uint *position, __global const uint *ids, __global const uint *rows, uint count,
                  __global uint *tests, __global uint *starts, __global uint *first)
{
    STRINGS_EACH(i, count)
    {
        const uint id = ids[i];
        if (starts && i + 1 == count)
            starts[ids[count]] = count;
        if (i > 0 && position[i] == STRING_EQUAL)
            continue;
        if (i > 0)
            tests[id - 1] = position[i];
        if (starts)
            starts[id] = i;
        if (first)
            first[id] = rows ? rows[i] : i;
    }
}

/* Counts the tests in the subtree of tests[i], but at most STRING_NODE. All other tests of the subtree are greater than
 * tests[i]. */
ORDO_FN uint string_subtree(__global const uint *tests, uint i, uint count)
{
    const uint test = tests[i];
    uint       size = 1;
    for (uint k = i; k > 0 && size < STRING_NODE && tests[k - 1] > test; k--)
        size++;
    for (uint k = i + 1; k < count && size < STRING_NODE && tests[k] > test; k++)
        size++;
    return size;
}

/* Sets marks[i] to 1 if the subtree of test i is too large for a node (STRING_NODE tests or more), else to 0. Sets
 * marks[count] to 0. */
ORDO_KERNEL(STRINGS_GROUP)
void string_above(__global const uint *tests, uint count, __global uint *marks)
{
    STRINGS_EACH(i, count)
    {
        marks[i] = string_subtree(tests, i, count) >= STRING_NODE;
        if (i == 0)
            marks[count] = 0;
    }
}

/* Copies the tests that string_above has marked into the array `above`, and their indices into `cuts`. sums[i] must be
 * the number of marked tests before test i. */
ORDO_KERNEL(STRINGS_GROUP)
void string_promote(__global const uint *tests, uint count, __global const uint *sums, __global uint *above,
                    __global uint *cuts)
{
    STRINGS_EACH(i, count)
    {
        const uint to = sums[i];
        if (sums[i + 1] == to)
            continue;
        above[to] = tests[i];
        cuts[to] = i;
    }
}
