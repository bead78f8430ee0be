/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the rows of a column of strings in rounds. shared/strings.h describes segments, depths and keys. Each round
 * runs strings_share, strings_keys, a sort of row numbers by keys, strings_split and strings_keep. STRINGS_OFFSET_BYTES
 * is the size of an offset: 4 or 8. */
#pragma once
#include "device/atomic.cl"
#include "device/compiler.cl"
#include "group/strings.cl"
#include "shared/strings.h"

#ifndef STRINGS_OFFSET_BYTES
#define STRINGS_OFFSET_BYTES 4
#endif
#if STRINGS_OFFSET_BYTES == 8
typedef ulong string_offset;
#else
typedef uint string_offset;
#endif

/* ---- strings --------------------------------------------------------------------------------------------------- */

/* String i begins at byte begin + offsets[i] of the buffer. */
typedef struct {
    __global const string_offset *offsets;
    string_bytes                  bytes;
    ulong                         begin;
} strings;

ORDO_FN strings strings_of(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes,
                           ulong bytes_at, ulong n_bytes)
{
    return (strings) { offsets + offsets_at, { bytes, bytes_at + n_bytes }, bytes_at };
}

typedef struct {
    ulong at, left;
} string_rest;

ORDO_FN string_rest string_after(__private const strings *s, uint row, ulong depth)
{
    const ulong at = s->offsets[row] + depth;
    return (string_rest) { s->begin + at, s->offsets[row + 1] - at };
}

/* ---- the begin of a sort --------------------------------------------------------------------------------------- */

/* Checks the offsets, and puts row i into slot i of segment 0. If row i is the first whose offsets descend or exceed
 * n_bytes, *bad becomes count - i. *bad must be 0 before. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_begin(__global const string_offset *offsets, ulong offsets_at, ulong n_bytes, uint count,
                   __global uint *bad, __global uint *rows, __global uint *place, __global uint *segment,
                   __global ulong *depth, __global uint *first, __global uint *more)
{
    STRINGS_EACH(i, count)
    {
        const ulong from = offsets[offsets_at + i], to = offsets[offsets_at + i + 1];
        if (from > to || to > n_bytes)
            ordo_max(bad, count - i);
        rows[i] = i;
        place[i] = i;
        segment[i] = 0;
        if (i == 0) {
            depth[0] = 0;
            first[0] = 0;
            more[0] = STRINGS_PREFIX_MAX;
        }
    }
}

/* ---- a round --------------------------------------------------------------------------------------------------- */

/* Rows are undecided if their keys were equal in all earlier rounds. The undecided rows lie in *slots*. Rows move
 * between slots only within their segment, so each slot keeps its position in the output.
 *
 *  rows     row in each slot
 *  segment  segment number of each slot
 *  first    first slot of each segment
 *  depth    number of leading bytes that the strings of each segment are known to share
 *  more     number of further bytes that are equal in all strings already compared */
typedef struct {
    __global const uint  *rows, *segment, *first;
    __global const ulong *depth;
    __global uint        *more;
} undecided;

ORDO_FN void strings_share_row(__private const strings *s, __private const undecided *u, uint i)
{
    const uint        segment = u->segment[i], row = u->rows[i], other = u->rows[u->first[segment]];
    const string_rest a = string_after(s, row, u->depth[segment]), b = string_after(s, other, u->depth[segment]);
    const uint        known = ordo_load_relaxed(&u->more[segment]);
    const uint        most = (uint) min((ulong) known, min(a.left, b.left));
    const uint        same = row == other ? most : (uint) string_shared(&s->bytes, a.at, &s->bytes, b.at, most);
    if (same < known)
        ordo_min(&u->more[segment], same);
}

/* Sets more[s] to the number of bytes that the strings of segment s have in common after depth[s] bytes, at most
 * STRINGS_PREFIX_MAX. more[s] must be STRINGS_PREFIX_MAX before. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_share(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes, ulong bytes_at,
                   ulong n_bytes, __global const uint *rows, __global const uint *segment, __global const uint *first,
                   __global const ulong *depth, __global uint *more, uint count)
{
    const strings   s = strings_of(offsets, offsets_at, bytes, bytes_at, n_bytes);
    const undecided u = { rows, segment, first, depth, more };
    STRINGS_EACH(i, count)
    strings_share_row(&s, &u, i);
}

/* Sets keys[i] to the sort key (shared/strings.h) of the string in slot i. For descending order, `turn` has a 1 in each
 * bit below the segment's number, and inverts these bits. For ascending order, it is 0. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_keys(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes, ulong bytes_at,
                  ulong n_bytes, __global const uint *rows, __global const uint *segment, __global const ulong *depth,
                  __global const uint *more, uint count, uint window, ulong turn, __global ulong *keys)
{
    const strings s = strings_of(offsets, offsets_at, bytes, bytes_at, n_bytes);
    STRINGS_EACH(i, count)
    {
        const uint        in = segment[i];
        const string_rest rest = string_after(&s, rows[i], depth[in] + more[in]);
        const uint        length = (uint) min(rest.left, (ulong) window + 1);
        const ulong       word = string_word(&s.bytes, rest.at, min(length, window)) >> (64 - 8 * window);
        keys[i] = (ulong) in << STRINGS_KEY_BITS(window) | ((word << STRINGS_LENGTH_BITS | length) ^ turn);
    }
}

ORDO_FN bool strings_continue(ulong key, uint window, ulong turn)
{
    return ((key ^ turn) & ((1u << STRINGS_LENGTH_BITS) - 1)) == window + 1;
}

/* Writes the sorted rows to the output, and marks the rows that need another round. The mark of such a row is 1, plus
 * 2^32 if the row is the first with its key. All other marks, and marks[count], become 0. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_split(__global const ulong *keys, __global const uint *rows, __global const uint *place, uint count,
                   uint window, ulong turn, __global ulong *marks, __global uint *rows_out, ulong rows_out_at,
                   __global uchar *equal, ulong equal_at)
{
    STRINGS_EACH(i, count)
    {
        const ulong key = keys[i];
        const bool  head = i == 0 || keys[i - 1] != key, tail = i + 1 == count || keys[i + 1] != key;
        const bool  goes_on = strings_continue(key, window, turn);
        const ulong mark = head ? (ulong) 1 << 32 | 1 : 1;
        marks[i] = goes_on && !(head && tail) ? mark : 0;
        rows_out[rows_out_at + place[i]] = rows[i];
        if (equal)
            equal[equal_at + place[i]] = !head && !goes_on;
        if (i == 0)
            marks[count] = 0;
    }
}

/* Moves the rows that strings_split marked to the slots of the next round. sums[i] must be the sum of the marks before
 * slot i: the new slot in its lower half, a number of segments in its upper half. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_keep(__global const ulong *sums, __global const ulong *keys, __global const uint *rows,
                  __global const uint *place, __global const ulong *depth, uint count, uint window,
                  __global uint *rows_out, __global uint *place_out, __global uint *segment, __global ulong *depth_out,
                  __global uint *first, __global const uint *more, __global uint *more_out)
{
    STRINGS_EACH(i, count)
    {
        const ulong sum = sums[i], next = sums[i + 1];
        const uint  slot = (uint) sum, number = (uint) (next >> 32) - 1;
        if ((uint) next == slot)
            continue;
        rows_out[slot] = rows[i];
        place_out[slot] = place[i];
        segment[slot] = number;
        if (sum >> 32 == next >> 32)
            continue;
        const uint old = (uint) (keys[i] >> STRINGS_KEY_BITS(window));
        depth_out[number] = depth[old] + more[old] + window;
        first[number] = slot;
        more_out[number] = STRINGS_PREFIX_MAX;
    }
}
