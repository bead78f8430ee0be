/* SPDX-License-Identifier: Apache-2.0 */
/* Divides rows among work-items, loads bytes of strings as words, and compares them.
 *
 *  STRINGS_GROUP  number of work-items in a group
 *  STRINGS_TILE   number of consecutive rows that a group handles */
#pragma once
#include "device/compiler.cl"

#ifndef STRINGS_GROUP
#define STRINGS_GROUP 1
#endif
#ifndef STRINGS_TILE
#define STRINGS_TILE 4096
#endif

#define STRINGS_FIRST ((uint) get_group_id(0) * STRINGS_TILE)
#define STRINGS_EACH(i, count)                                                                                         \
    for (uint i = STRINGS_FIRST + (uint) get_local_id(0),                                                              \
              end_ = min((count) -STRINGS_FIRST, (uint) STRINGS_TILE) + STRINGS_FIRST;                                 \
         i < end_; i += STRINGS_GROUP)

/* The bytes of all strings. A position is the index of a byte. Loads stay before position `end`. */
typedef struct {
    __global const uchar *bytes;
    ulong                 end;
} string_bytes;

#if ORDO_CPU
#define STRING_LOAD 8
ORDO_FN ulong string_load(__private const string_bytes *s, ulong at)
{
    return as_ulong(vload8(0, s->bytes + at));
}
#else
/* GPUs load only aligned words, so string_load may read two words, 16 bytes. */
#define STRING_LOAD 16
ORDO_FN ulong string_load(__private const string_bytes *s, ulong at)
{
    __global const ulong *words = (__global const ulong *) s->bytes + at / 8;
    const uint            shift = (uint) at % 8 * 8;
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
}
#endif

/* Returns a word with the bytes at positions `at` to at + left - 1. The first of these 0 to 8 bytes is the most
 * significant byte of the word. The other bytes of the word are 0. */
ORDO_FN ulong string_word(__private const string_bytes *s, ulong at, uint left)
{
    if (left == 0)
        return 0;
    if (s->end >= STRING_LOAD && at <= s->end - STRING_LOAD)
        return as_ulong(as_uchar8(string_load(s, at)).s76543210) & (ulong) -1 << (64 - 8 * left);
    ulong word = 0;
    for (uint k = 0; k < left; k++)
        word |= (ulong) s->bytes[at + k] << (56 - 8 * k);
    return word;
}

ORDO_FN ulong string_shared(__private const string_bytes *a, ulong a_at, __private const string_bytes *b, ulong b_at,
                            ulong most)
{
    for (ulong same = 0; same < most; same += 8) {
        const uint  left = (uint) min(most - same, (ulong) 8);
        const ulong apart = string_word(a, a_at + same, left) ^ string_word(b, b_at + same, left);
        if (apart)
            return same + (uint) clz(apart) / 8;
    }
    return most;
}

/* ---- columns --------------------------------------------------------------------------------------------------- */

/* A column of strings. Its offsets have 8 bytes if `wide`, else 4. String i begins at position `begin` plus offset
 * i. */
typedef struct {
    __global const uint *offsets;
    ulong                offsets_at;
    bool                 wide;
    string_bytes         bytes;
    ulong                begin, n_bytes;
} string_column;

#define STRING_COLUMN_ARGS(c)                                                                                          \
    __global const uint *c##_offsets, ulong c##_offsets_at, uint c##_wide, __global const uchar *c##_bytes,            \
        ulong c##_bytes_at, ulong c##_n_bytes
#define STRING_COLUMN(c)                                                                                               \
    (string_column)                                                                                                    \
    {                                                                                                                  \
        c##_offsets, c##_offsets_at, c##_wide != 0, { c##_bytes, c##_bytes_at + c##_n_bytes }, c##_bytes_at,           \
            c##_n_bytes                                                                                                \
    }

ORDO_FN ulong string_offset_at(__private const string_column *c, uint i)
{
    return c->wide ? ((__global const ulong *) c->offsets)[c->offsets_at + i] : c->offsets[c->offsets_at + i];
}

/* If `good` is false, the offsets are invalid, and the bytes must not be read. */
typedef struct {
    ulong at, length;
    bool  good;
} string_text;

ORDO_FN string_text string_of(__private const string_column *c, uint row)
{
    const ulong from = string_offset_at(c, row), to = string_offset_at(c, row + 1);
    return (string_text) { c->begin + from, to - from, from <= to && to <= c->n_bytes };
}
