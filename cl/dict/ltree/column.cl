/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a column of a node (its keys, values or children) in the registers of one work-item. column_team.cl does the
 * same for a team of several lanes. */
#pragma once
#include "dict/ltree/node.cl"

#if TEAM_WIDTH == 1

#define COLUMN_ROWS ((uint) LTREE_SLOTS)

ORDO_FN uint column_word(uint r)
{
    return r;
}

#define UNPACK_uint(at, s, piece)                                                                                      \
    at[s] = piece.x;                                                                                                   \
    at[(s) + 1] = piece.y;                                                                                             \
    at[(s) + 2] = piece.z;                                                                                             \
    at[(s) + 3] = piece.w
#define PACK_uint(at, s) (uint4)(at[s], at[(s) + 1], at[(s) + 2], at[(s) + 3])
#define PER_PIECE_uint   4
#define UNPACK_ulong(at, s, piece)                                                                                     \
    at[s] = as_ulong2(piece).x;                                                                                        \
    at[(s) + 1] = as_ulong2(piece).y
#define PACK_ulong(at, s)           as_uint4((ulong2) (at[s], at[(s) + 1]))
#define PER_PIECE_ulong             2
#define UNPACK_ulong2(at, s, piece) at[s] = as_ulong2(piece)
#define PACK_ulong2(at, s)          as_uint4(at[s])
#define PER_PIECE_ulong2            1

/* Functions on a column:
 *
 *   column_load_uncached    reads the 16-byte pieces that contain slots first .. end - 1
 *   column_store_uncached   writes the 16-byte pieces that contain slots first .. end - 1
 *   column_at               returns word s
 *   column_shift            if `open` is true, inserts x at `slot`, and drops the last element;
 *                           otherwise removes the element at `slot`, and appends x
 *   column_keep             if `upper` is true, moves the upper half to the lower half;
 *                           always fills the upper half with `fill` */
#define LTREE_COLUMN(type)                                                                                             \
    typedef struct {                                                                                                   \
        type at[LTREE_SLOTS];                                                                                          \
    } column_##type;                                                                                                   \
                                                                                                                       \
    ORDO_FN void column_load_uncached_##type(column_##type *c, __global const type *from, uint first, uint end)        \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LTREE_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end) {                                                             \
                const uint4 piece = ordo_load_uncached128((__global const uint *) (from + s));                         \
                UNPACK_##type(c->at, s, piece);                                                                        \
            }                                                                                                          \
    }                                                                                                                  \
    ORDO_FN void column_store_uncached_##type(const column_##type *c, __global type *to, uint first, uint end)         \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LTREE_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end)                                                               \
                ordo_store_uncached128((__global uint *) (to + s), PACK_##type(c->at, s));                             \
    }                                                                                                                  \
    ORDO_FN type column_at_##type(const column_##type *c, uint s)                                                      \
    {                                                                                                                  \
        return c->at[s];                                                                                               \
    }                                                                                                                  \
    ORDO_FN void column_shift_##type(column_##type *c, uint slot, bool open, type x)                                   \
    {                                                                                                                  \
        type before = x;                                                                                               \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LTREE_SLOTS; s++) {                                                                       \
            const type here = c->at[s], behind = s + 1 < LTREE_SLOTS ? c->at[s + 1] : x;                               \
            const type opened = s > slot ? before : x, closed = behind;                                                \
            c->at[s] = s < slot ? here : open ? opened : closed;                                                       \
            before = here;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_keep_##type(column_##type *c, bool upper, type fill)                                           \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LTREE_HALF; s++) {                                                                        \
            const type here = c->at[s], above = c->at[s + LTREE_HALF];                                                 \
            c->at[s] = upper ? above : here;                                                                           \
            c->at[s + LTREE_HALF] = fill;                                                                              \
        }                                                                                                              \
    }
LTREE_COLUMN(uint)
LTREE_COLUMN(ulong)
#if LTREE_WIDE
LTREE_COLUMN(ulong2)
#endif

#if KEY_BITS == 32
typedef column_uint column_keys;
#define KEYS_DO(verb) column_##verb##_uint
#elif KEY_BITS == 128
typedef column_ulong2 column_keys;
#define KEYS_DO(verb) column_##verb##_ulong2
#else
typedef column_ulong column_keys;
#define KEYS_DO(verb) column_##verb##_ulong
#endif

ORDO_FN uint column_place(const column_keys *c, ordo_key_form key, ordo_key_form *next)
{
    uint less = 0;
    ORDO_UNROLL
    for (uint s = 0; s < LTREE_SLOTS; s++)
        less += key_before(c->at[s], key);
    *next = LTREE_UNUSED;
    ORDO_UNROLL
    for (uint s = 0; s < LTREE_SLOTS; s++) {
        const ordo_key_form here = c->at[s];
        *next = s == less ? here : *next;
    }
    return less;
}

#endif
