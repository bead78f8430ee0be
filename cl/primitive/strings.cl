/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the rows of a column of strings in rounds. shared/strings.h describes segments, depths and keys. Each round
 * runs strings_share, strings_keys, a sort of row numbers by keys, strings_split or strings_finish, and strings_keep.
 * STRINGS_OFFSET_BYTES is the size of an offset: 4 or 8. */
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

/* A CPU loads the string of rows[i + STRINGS_AHEAD], and the offset of a later one, into its cache. */
#define STRINGS_AHEAD 8
ORDO_FN void strings_prefetch(__private const strings *s, __global const uint *rows, uint i, uint end, ulong depth)
{
#if ORDO_CPU
    if (i + STRINGS_AHEAD < end)
        ORDO_PREFETCH(s->bytes.bytes + s->begin + s->offsets[rows[i + STRINGS_AHEAD]] + depth);
    if (i + 2 * STRINGS_AHEAD < end)
        ORDO_PREFETCH(s->offsets + rows[i + 2 * STRINGS_AHEAD]);
#endif
}

/* ---- the begin of a sort --------------------------------------------------------------------------------------- */

/* Puts row i into slot i of segment 0. A row is bad if its offsets descend or exceed n_bytes. *bad becomes `count`
 * minus the index of the first bad row. *bad must be 0 before. */
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

/* Undecided rows had the same key as another row in all earlier rounds. They lie in *slots*. Rows move between slots
 * only within their segment, so each slot keeps its position in the output.
 *
 *  rows     row in each slot
 *  segment  segment number of each slot
 *  first    first slot of each segment
 *  depth    number of leading bytes that the strings of each segment are known to share
 *  more     STRINGS_PREFIX_MAX at first. Comparisons lower it to the number of further shared bytes */
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

ORDO_KERNEL(STRINGS_GROUP)
void strings_share(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes, ulong bytes_at,
                   ulong n_bytes, __global const uint *rows, __global const uint *segment, __global const uint *first,
                   __global const ulong *depth, __global uint *more, uint count)
{
    const strings   s = strings_of(offsets, offsets_at, bytes, bytes_at, n_bytes);
    const undecided u = { rows, segment, first, depth, more };
    STRINGS_EACH(i, count)
    {
        strings_prefetch(&s, rows, i, count, depth[segment[i]]);
        strings_share_row(&s, &u, i);
    }
}

/* Returns the part of a sort key below its segment number. Its upper bits are the next `window` bytes of the string.
 * Its lowest STRINGS_LENGTH_BITS bits are the number of remaining bytes, at most `window` + 1. */
ORDO_FN ulong strings_window(__private const strings *s, string_rest rest, uint window)
{
    const uint  length = (uint) min(rest.left, (ulong) window + 1);
    const ulong word = string_word(&s->bytes, rest.at, min(length, window)) >> (64 - 8 * window);
    return word << STRINGS_LENGTH_BITS | length;
}

/* Sets keys[i] to the sort key (shared/strings.h) of the string in slot i. The lower STRINGS_KEY_BITS(window) bits are
 * XORed with `turn`: 0 for ascending order, all ones for descending order. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_keys(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes, ulong bytes_at,
                  ulong n_bytes, __global const uint *rows, __global const uint *segment, __global const ulong *depth,
                  __global const uint *more, uint count, uint window, ulong turn, __global ulong *keys)
{
    const strings s = strings_of(offsets, offsets_at, bytes, bytes_at, n_bytes);
    STRINGS_EACH(i, count)
    {
        const uint in = segment[i];
        strings_prefetch(&s, rows, i, count, depth[in]);
        const string_rest rest = string_after(&s, rows[i], depth[in] + more[in]);
        keys[i] = (ulong) in << STRINGS_KEY_BITS(window) | (strings_window(&s, rest, window) ^ turn);
    }
}

ORDO_FN bool strings_continue(ulong key, uint window, ulong turn)
{
    return ((key ^ turn) & ((1u << STRINGS_LENGTH_BITS) - 1)) == window + 1;
}

/* The first of several rows with equal keys gets this mark. The other rows get mark 1. */
#define STRINGS_HEAD_MARK ((ulong) 1 << 32 | 1)

/* Writes the sorted rows to the output, and marks the rows that need another round. All other marks, and marks[count],
 * become 0. */
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
        const ulong mark = head ? STRINGS_HEAD_MARK : 1;
        marks[i] = goes_on && !(head && tail) ? mark : 0;
        rows_out[rows_out_at + place[i]] = rows[i];
        if (equal)
            equal[equal_at + place[i]] = !head && !goes_on;
        if (i == 0)
            marks[count] = 0;
    }
}

/* Moves the marked rows to the slots of the next round. sums[i] must be marks[0] + ... + marks[i - 1]. The lower half
 * of sums[i] counts the marked rows before slot i, the upper half the new segments that begin before slot i. */
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

/* ---- the rest of small segments, on CPUs ----------------------------------------------------------------------- */

/* On a CPU, strings_finish replaces strings_split. If a segment has at most `most` rows, one work-item sorts it
 * completely. The sort is multikey quicksort (Bentley and Sedgewick). A *part* is a group of rows whose strings begin
 * with the same `depth` bytes. */
#if ORDO_CPU

#define FINISH_INSERTED 16

/* Size of the stack of parts. A step of quicksort replaces the topmost part by at most three. The smallest one is
 * pushed last, and has at most a third of the rows. 2^32 is less than 3^21, so at most 20 such steps nest, and the
 * stack has at most 41 parts. An insertion sort pushes each group of at least two rows with equal keys: at most
 * FINISH_INSERTED / 2 parts. */
#define FINISH_PARTS (48 + FINISH_INSERTED / 2)

typedef struct {
    uint  first, count;
    uint  medians; /* number of further quicksort steps that may use a median as pivot */
    bool  keyed;   /* true if the rows have keys, made from the bytes after the first `depth` */
    ulong depth;
} finish_part;

/* Slot i has row rows[i] with key keys[i]. At the end keys[i] is 1 if the rows in slots i and i - 1 have equal strings,
 * else 0. */
typedef struct {
    strings         s;
    __global ulong *keys, *spare_keys;
    __global uint  *rows, *spare_rows;
    ulong           turn;
    uint            n_parts;
    finish_part     parts[FINISH_PARTS];
} finish;

ORDO_FN bool finish_goes_on(__private const finish *f, ulong key)
{
    return strings_continue(key, STRINGS_WINDOW_MAX, f->turn);
}

ORDO_FN void finish_push(__private finish *f, finish_part part)
{
    if (part.count > 1)
        f->parts[f->n_parts++] = part;
    else if (part.count == 1)
        f->keys[part.first] = 0;
}

ORDO_FN void finish_equal(__private finish *f, uint first, uint count, ulong key, ulong depth)
{
    if (finish_goes_on(f, key)) {
        finish_push(f, (finish_part) { first, count, 0, false, depth + STRINGS_WINDOW_MAX });
        return;
    }
    for (uint i = first; i < first + count; i++)
        f->keys[i] = i > first;
}

ORDO_FN void finish_make_keys(__private finish *f, __private finish_part *part)
{
    const uint        end = part->first + part->count;
    const string_rest first = string_after(&f->s, f->rows[part->first], part->depth);
    ulong             shared = first.left;
    for (uint i = part->first + 1; i < end && shared > 0; i++) {
        strings_prefetch(&f->s, f->rows, i, end, part->depth);
        const string_rest other = string_after(&f->s, f->rows[i], part->depth);
        shared = string_shared(&f->s.bytes, first.at, &f->s.bytes, other.at, min(shared, other.left));
    }
    part->depth += shared;
    for (uint i = part->first; i < end; i++) {
        strings_prefetch(&f->s, f->rows, i, end, part->depth);
        const string_rest rest = string_after(&f->s, f->rows[i], part->depth);
        f->keys[i] = strings_window(&f->s, rest, STRINGS_WINDOW_MAX) ^ f->turn;
    }
    part->medians = 2 * (32 - clz(part->count));
    part->keyed = true;
}

ORDO_FN void finish_insert(__private finish *f, uint first, uint end)
{
    for (uint i = first + 1; i < end; i++) {
        const ulong key = f->keys[i];
        const uint  row = f->rows[i];
        uint        at = i;
        for (; at > first && f->keys[at - 1] > key; at--) {
            f->keys[at] = f->keys[at - 1];
            f->rows[at] = f->rows[at - 1];
        }
        f->keys[at] = key;
        f->rows[at] = row;
    }
}

ORDO_FN void finish_few(__private finish *f, __private const finish_part *part)
{
    const uint end = part->first + part->count;
    finish_insert(f, part->first, end);
    for (uint i = part->first, next; i < end; i = next) {
        const ulong key = f->keys[i];
        for (next = i + 1; next < end && f->keys[next] == key;)
            next++;
        finish_equal(f, i, next - i, key, part->depth);
    }
}

ORDO_FN ulong finish_median(ulong a, ulong b, ulong c)
{
    return max(min(a, b), min(max(a, b), c));
}

/* Returns the pivot that divides the part, usually a median of three keys. After many divisions, uses the highest bit
 * in which keys differ. */
ORDO_FN ulong finish_pivot(__private const finish *f, __private const finish_part *part)
{
    __global const ulong *keys = f->keys + part->first;
    ulong                 varying = 0;
    if (part->medians > 0)
        return finish_median(keys[part->count / 4], keys[part->count / 2], keys[part->count / 4 * 3]);
    for (uint i = 1; i < part->count; i++)
        varying |= keys[i] ^ keys[0];
    if (varying == 0)
        return keys[0];
    const ulong top = (ulong) 1 << (63 - clz(varying));
    return (keys[0] & ~(2 * top - 1)) | top;
}

typedef struct {
    uint same, greater; /* the first slot whose key equals the pivot, and the first whose key is greater */
} finish_division;

/* Divides slots into those with a key less than the pivot, equal to it, and greater. Keeps the order of rows in each
 * part. */
ORDO_FN finish_division finish_divide(__private finish *f, uint first, uint end, ulong pivot)
{
    uint at = first, others = first, greater = first;
    for (uint i = first; i < end; i++) {
        const ulong key = f->keys[i];
        const uint  row = f->rows[i];
        f->keys[at] = f->spare_keys[others] = key;
        f->rows[at] = f->spare_rows[others] = row;
        at += key < pivot;
        others += key >= pivot;
    }
    const uint same = at;
    for (uint i = first; i < others; i++) {
        const ulong key = f->spare_keys[i];
        const uint  row = f->spare_rows[i];
        f->keys[at] = f->spare_keys[greater] = key;
        f->rows[at] = f->spare_rows[greater] = row;
        at += key == pivot;
        greater += key != pivot;
    }
    for (uint i = 0; i < end - at; i++) {
        f->keys[at + i] = f->spare_keys[first + i];
        f->rows[at + i] = f->spare_rows[first + i];
    }
    return (finish_division) { same, at };
}

ORDO_FN void finish_many(__private finish *f, __private const finish_part *part)
{
    const uint            first = part->first, end = first + part->count;
    const ulong           pivot = finish_pivot(f, part);
    const finish_division d = finish_divide(f, first, end, pivot);
    const uint            medians = max(part->medians, 1u) - 1;
    const finish_part     less = { first, d.same - first, medians, true, part->depth };
    const finish_part     greater = { d.greater, end - d.greater, medians, true, part->depth };
    const bool            turned = less.count < greater.count;
    const uint            same = d.greater - d.same, most = max(less.count, greater.count);
    const uint            least = min(less.count, greater.count);
    if (same >= most)
        finish_equal(f, d.same, same, pivot, part->depth);
    finish_push(f, turned ? greater : less);
    if (same >= least && same < most)
        finish_equal(f, d.same, same, pivot, part->depth);
    finish_push(f, turned ? less : greater);
    if (same < least)
        finish_equal(f, d.same, same, pivot, part->depth);
}

ORDO_FN void finish_segment(__private finish *f, uint first, uint count, ulong depth)
{
    f->n_parts = 0;
    finish_push(f, (finish_part) { first, count, 0, false, depth });
    while (f->n_parts > 0) {
        finish_part part = f->parts[--f->n_parts];
        if (!part.keyed)
            finish_make_keys(f, &part);
        if (part.count <= FINISH_INSERTED)
            finish_few(f, &part);
        else
            finish_many(f, &part);
    }
}

/* ---- a round on CPUs ------------------------------------------------------------------------------------------- */

/* Arrays of a round after its radix sort. `keys` and `place` have an element for each of `count` slots. `depth` and
 * `more` have one for each segment. Slot i's row goes to output index place[i]. */
typedef struct {
    __global const ulong *keys, *depth;
    __global const uint  *more, *place;
    uint                  count, end, window, most;
    __global uint        *rows_out;
    __global uchar       *equal;
} finish_round;

/* Returns the number of leading bytes that strings with this key share. */
ORDO_FN ulong finish_depth(__private const finish_round *r, ulong key)
{
    const uint segment = (uint) (key >> STRINGS_KEY_BITS(r->window));
    return r->depth[segment] + r->more[segment] + r->window;
}

/* Returns the first slot whose key equals keys[i]. Searches at most r->most slots before i. */
ORDO_FN uint finish_head(__private const finish_round *r, uint i)
{
    const ulong key = r->keys[i];
    uint        least = i - min(i, r->most);
    while (least < i) {
        const uint middle = least + (i - least) / 2;
        if (r->keys[middle] == key)
            i = middle;
        else
            least = middle + 1;
    }
    return i;
}

ORDO_FN uint finish_end(__private const finish_round *r, uint i, uint end)
{
    uint next = i + 1;
    while (next < end && r->keys[next] == r->keys[i])
        next++;
    return next;
}

#define FINISH_AHEAD 32

/* Loads the strings of slots up to i + FINISH_AHEAD - 1 into the cache. Earlier calls have loaded the strings of slots
 * before `loaded`. Returns the new `loaded`. */
ORDO_FN uint finish_prefetch(__private const finish *f, __private const finish_round *r, uint i, uint loaded)
{
    const uint end = min(r->end - i, (uint) FINISH_AHEAD) + i;
    for (loaded = max(loaded, i); loaded < end; loaded++) {
        const ulong key = r->keys[loaded];
        const uint  later = loaded + FINISH_AHEAD;
        if ((loaded > 0 && r->keys[loaded - 1] == key) || (loaded + 1 < r->count && r->keys[loaded + 1] == key))
            ORDO_PREFETCH(f->s.bytes.bytes + f->s.begin + f->s.offsets[f->rows[loaded]] + finish_depth(r, key));
        if (later < r->end)
            ORDO_PREFETCH(f->s.offsets + f->rows[later]);
    }
    return loaded;
}

ORDO_FN void finish_write(__private const finish *f, __private const finish_round *r, uint first, uint end)
{
    for (uint i = first; i < end; i++) {
        r->rows_out[r->place[i]] = f->rows[i];
        if (r->equal)
            r->equal[r->place[i]] = f->keys[i] != 0;
        f->keys[i] = 0;
    }
}

/* Handles this work-item's slots, `first` to r->end - 1. A small segment has at most r->most rows. The work-item that
 * handles its first slot sorts all of it, including slots from r->end on. */
ORDO_FN void finish_slots(__private finish *f, __private const finish_round *r, uint first, ulong turn)
{
    uint loaded = first;
    for (uint i = first, next; i < r->end; i = next) {
        const ulong key = r->keys[i];
        const uint  head = i == first ? finish_head(r, i) : i;
        next = finish_end(r, i, r->end);
        const bool alone = next - head == 1 && (next == r->count || r->keys[next] != key);
        if (alone || !strings_continue(key, r->window, turn)) {
            for (uint k = i; k < next; k++)
                f->keys[k] = k > head;
            finish_write(f, r, i, next);
        } else if (r->count - head > r->most && r->keys[head + r->most] == key) {
            for (uint k = i; k < next; k++)
                f->keys[k] = k > head ? 1 : STRINGS_HEAD_MARK;
        } else if (head == i) {
            next = finish_end(r, i, r->count);
            loaded = finish_prefetch(f, r, i, loaded);
            finish_segment(f, i, next - i, finish_depth(r, key));
            finish_write(f, r, i, next);
        }
    }
}

/* During the sort of a segment, its elements of `marks` hold sort keys. They become 0 at the end: the rows need no
 * further round. */
ORDO_KERNEL(STRINGS_GROUP)
void strings_finish(__global const string_offset *offsets, ulong offsets_at, __global const uchar *bytes,
                    ulong bytes_at, ulong n_bytes, __global const ulong *keys, __global uint *rows,
                    __global const uint *place, __global const ulong *depth, __global const uint *more, uint count,
                    uint window, ulong turn, uint most, __global ulong *spare_keys, __global uint *spare_rows,
                    __global ulong *marks, __global uint *rows_out, ulong rows_out_at, __global uchar *equal,
                    ulong equal_at)
{
    finish             f = { .s = strings_of(offsets, offsets_at, bytes, bytes_at, n_bytes),
                             .keys = marks,
                             .spare_keys = spare_keys,
                             .rows = rows,
                             .spare_rows = spare_rows,
                             .turn = turn ? ((ulong) 1 << STRINGS_KEY_BITS(STRINGS_WINDOW_MAX)) - 1 : 0 };
    const finish_round r = { .keys = keys,
                             .depth = depth,
                             .more = more,
                             .place = place,
                             .count = count,
                             .end = min(count - STRINGS_FIRST, (uint) STRINGS_TILE) + STRINGS_FIRST,
                             .window = window,
                             .most = most,
                             .rows_out = rows_out + rows_out_at,
                             .equal = equal ? equal + equal_at : 0 };
    finish_slots(&f, &r, STRINGS_FIRST, turn);
    if (STRINGS_FIRST == 0)
        marks[count] = 0;
}

#endif
