/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the dictionary of strings. shared/string_dict.h describes runs, marks and places. */
#pragma once
#include "device/atomic.cl"
#include "group/strings.cl"
#include "shared/string_dict.h"
#include "shared/string_index.h"

/* ---- marks ----------------------------------------------------------------------------------------------------- */

/* The marks of a run of n elements have `words` words of bits, then words + 1 counts. */
ORDO_FN bool marks_visible(__global const uint *marks, uint i)
{
    return !(marks[i / 32] >> i % 32 & 1);
}

ORDO_FN uint marks_before(__global const uint *marks, uint words, uint i)
{
    const uint w = i / 32;
    return marks[words + w] + popcount(~marks[w] & ((1u << i % 32) - 1));
}

ORDO_KERNEL(STRINGS_GROUP)
void string_dict_show(__global uint *marks, uint words, uint n)
{
    STRINGS_EACH(w, words)
    {
        const uint left = n - w * 32;
        marks[w] = left >= 32 ? 0 : ~0u << left;
        marks[words + w] = w * 32;
        if (w == 0)
            marks[2 * words] = n;
    }
}

/* Hides the elements with the ids in `ids`. Skips STRING_NO_ID. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_hide(__global const uint *ids, uint count, __global uint *marks)
{
    STRINGS_EACH(i, count)
    {
        const uint id = ids[i];
        if (id != STRING_NO_ID)
            (void) ordo_or(&marks[id / 32], 1u << id % 32);
    }
}

/* Sets marks[words + w] to the number of 0 bits in marks[w]. The host then replaces each of these counts by the sum of
 * the counts before it. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_count(__global uint *marks, uint words)
{
    STRINGS_EACH(w, words)
    {
        marks[words + w] = popcount(~marks[w]);
        if (w == 0)
            marks[2 * words] = 0;
    }
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

/* A query is found if it is a visible element of this run. Writes the value of each found query, and sets found[i] to
 * 1. ids[i] is the id of query i in this run, or STRING_NO_ID. If `ids` is NULL, no query is found. If `first` is not
 * 0, sets found[i] to 0 for all other queries. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_find(__global const uint *ids, uint count, __global const uint *marks, __global const uint *values,
                      uint value_words, uint first, __global uint *values_out, ulong values_out_at,
                      __global uchar *found, ulong found_at)
{
    STRINGS_EACH(i, count)
    {
        const uint id = ids ? ids[i] : STRING_NO_ID;
        const bool hit = id != STRING_NO_ID && marks_visible(marks, id);
        if (found && (hit || first))
            found[found_at + i] = hit;
        if (hit && values_out)
            for (uint k = 0; k < value_words; k++)
                values_out[(values_out_at + i) * value_words + k] = values[(ulong) id * value_words + k];
    }
}

/* Adds to ranks[i] the number of visible elements of this run before element ids[i]. If `ids` is NULL, ids[i] is i. If
 * ids[i] is STRING_NO_ID, ranks[i] becomes STRING_NO_ID. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_add(__global const uint *ids, uint count, __global const uint *marks, uint words, __global uint *ranks,
                     ulong ranks_at)
{
    STRINGS_EACH(i, count)
    {
        const uint id = ids ? ids[i] : i;
        ranks[ranks_at + i] = id == STRING_NO_ID ? STRING_NO_ID : ranks[ranks_at + i] + marks_before(marks, words, id);
    }
}

/* Query i has the elements ids[i] to ids[i] + numbers[i] - 1 of this run. Adds the number of visible elements before
 * them to first[i], and the number of visible ones among them to counts[i]. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_add_range(__global const uint *ids, __global const uint *numbers, uint count,
                           __global const uint *marks, uint words, __global uint *first, ulong first_at,
                           __global uint *counts, ulong counts_at)
{
    STRINGS_EACH(i, count)
    {
        const uint id = ids[i];
        const uint from = id == STRING_NO_ID ? 0 : marks_before(marks, words, id);
        if (first)
            first[first_at + i] = id == STRING_NO_ID ? STRING_NO_ID : first[first_at + i] + from;
        if (counts && id != STRING_NO_ID)
            counts[counts_at + i] += marks_before(marks, words, id + numbers[i]) - from;
    }
}

/* Adds `add` to ranks[i], modulo 2^32. If the sum is `limit` or more, ranks[i] becomes STRING_NO_ID. If ranks[i] was
 * equal to uppers[i], no string equals query i. ranks[i] then also becomes STRING_NO_ID. `uppers` may be NULL. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_choose(__global uint *ranks, ulong ranks_at, __global const uint *uppers, uint count, uint add,
                        uint limit)
{
    STRINGS_EACH(i, count)
    {
        const uint rank = ranks[ranks_at + i];
        const bool none = rank == STRING_NO_ID || (uppers && uppers[i] == rank) || rank + add >= limit;
        ranks[ranks_at + i] = none ? STRING_NO_ID : rank + add;
    }
}

/* ---- the order of several runs --------------------------------------------------------------------------------- */

/* Run L has n elements. Run S has `smaller_n` elements. lower[j] must be the number of elements of L less than element
 * j of S. Adds to ranks[i] the number of visible elements of S less than element i of L. The sum is correct only if
 * element i of L is visible. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_add_smaller(__global const uint *lower, uint smaller_n, __global const uint *marks, uint words, uint n,
                             __global uint *ranks, ulong ranks_at)
{
    STRINGS_EACH(i, n)
    {
        uint from = 0, to = smaller_n;
        while (from < to) {
            const uint middle = from + (to - from) / 2;
            if (lower[middle] <= i)
                from = middle + 1;
            else
                to = middle;
        }
        ranks[ranks_at + i] += marks_before(marks, words, from);
    }
}

/* Sets places[r] to the place of the visible element with rank r. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_place(__global const uint *ranks, ulong ranks_at, uint n, __global const uint *marks, uint base,
                       __global uint *places)
{
    STRINGS_EACH(i, n)
    {
        if (marks_visible(marks, i))
            places[ranks[ranks_at + i]] = base + i;
    }
}

/* Sets places[d] to the last row of string d in a batch (cl/primitive/string_search.cl: starts, rows). */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_last(__global const uint *starts, __global const uint *rows, uint n, __global uint *places)
{
    STRINGS_EACH(d, n)
    places[d] = rows[starts ? starts[d + 1] - 1 : d];
}

/* Sets places[i] to the place of the element with rank ranks[i], or to STRING_NO_ID if ranks[i] >= n. If `view` is
 * NULL, the place is the rank. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_select(__global const uint *view, uint n, __global const uint *ranks, ulong ranks_at, uint count,
                        __global uint *places, __global uchar *found, ulong found_at)
{
    STRINGS_EACH(i, count)
    {
        const uint rank = ranks[ranks_at + i];
        places[i] = rank >= n ? STRING_NO_ID : view ? view[rank] : rank;
        if (found)
            found[found_at + i] = rank < n;
    }
}

/* ---- strings and values by place ------------------------------------------------------------------------------- */

/* The rows of several columns are numbered consecutively. This column has the n rows with the numbers `base` to base +
 * n - 1. Returns whether places[i] is one of these numbers. Then *row becomes its row within this column. If `places`
 * is NULL, uses i in place of places[i]. */
ORDO_FN bool string_dict_here(__global const uint *places, uint i, uint base, uint n, __private uint *row)
{
    const uint place = places ? places[i] : i;
    *row = place - base;
    return place != STRING_NO_ID && place >= base && place - base < n;
}

ORDO_KERNEL(STRINGS_GROUP)
void string_dict_lengths(STRING_COLUMN_ARGS(column), uint base, uint n, __global const uint *places, uint count,
                         __global ulong *lengths, ulong lengths_at)
{
    const string_column c = STRING_COLUMN(column);
    STRINGS_EACH(i, count)
    {
        uint row;
        if (string_dict_here(places, i, base, n, &row))
            lengths[lengths_at + i] = string_of(&c, row).length;
    }
}

#ifndef STRINGS_LANES
#define STRINGS_LANES 1
#endif
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_copy(STRING_COLUMN_ARGS(column), uint base, uint n, __global const uint *places, uint count,
                      __global const ulong *offsets, ulong offsets_at, __global uchar *bytes, ulong bytes_at)
{
    const string_column c = STRING_COLUMN(column);
    const uint          lane = (uint) get_local_id(0) % STRINGS_LANES;
    const uint          first = (uint) get_group_id(0) * (STRINGS_TILE / STRINGS_LANES);
    const uint          end = min(count - first, (uint) (STRINGS_TILE / STRINGS_LANES)) + first;
    for (uint i = first + (uint) get_local_id(0) / STRINGS_LANES; i < end; i += STRINGS_GROUP / STRINGS_LANES) {
        uint row;
        if (!string_dict_here(places, i, base, n, &row))
            continue;
        const string_text s = string_of(&c, row);
        const ulong       to = bytes_at + offsets[offsets_at + i];
        for (ulong k = lane; k < s.length; k += STRINGS_LANES)
            bytes[to + k] = c.bytes.bytes[s.at + k];
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_dict_values(__global const uint *values, ulong values_at, uint value_words, uint base, uint n,
                        __global const uint *places, uint count, __global uint *values_out, ulong values_out_at)
{
    STRINGS_EACH(i, count)
    {
        uint row;
        if (!string_dict_here(places, i, base, n, &row))
            continue;
        for (uint k = 0; k < value_words; k++)
            values_out[(values_out_at + i) * value_words + k] = values[(values_at + row) * value_words + k];
    }
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

/* If word w is the first whose marks are wrong, bad[0] becomes words - w. bad[0] must be 0 before each check. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_check_marks(__global const uint *marks, uint words, uint n, __global uint *bad)
{
    STRINGS_EACH(w, words)
    {
        const uint left = n - w * 32, after = left >= 32 ? 0 : ~0u << left;
        const bool sums = marks[words + w + 1] - marks[words + w] == popcount(~marks[w]);
        if (!sums || (marks[w] & after) != after || (w == 0 && marks[words] != 0))
            ordo_max(bad, words - w);
    }
}

/* Checks that searches find each element of a run at its own index. The search for element i has returned ids[i]. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_check_ids(__global const uint *ids, uint n, __global uint *bad)
{
    STRINGS_EACH(i, n)
    {
        if (ids[i] != i)
            ordo_max(bad, n - i);
    }
}

/* ids[i] is the id that a search for element i of a run found in another run. */
ORDO_KERNEL(STRINGS_GROUP)
void string_dict_check_apart(__global const uint *ids, uint n, __global const uint *marks,
                             __global const uint *other_marks, __global uint *bad)
{
    STRINGS_EACH(i, n)
    {
        if (ids[i] != STRING_NO_ID && marks_visible(marks, i) && marks_visible(other_marks, ids[i]))
            ordo_max(bad, n - i);
    }
}
