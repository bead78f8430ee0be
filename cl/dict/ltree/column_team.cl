/* SPDX-License-Identifier: Apache-2.0 */
/* Spreads a column of a node (its keys, values or children) over the registers of a team. Word s is in lane s %
 * TEAM_WIDTH, so that accesses are coalesced. All lanes of a team must call these functions. */
#pragma once
#include "device/apart.cl"
#include "dict/ltree/node.cl"

#if TEAM_WIDTH > 1

#define COLUMN_ROWS ((LTREE_WORDS + TEAM_WIDTH - 1) / TEAM_WIDTH)

ORDO_FN uint column_word(uint r)
{
    return r * TEAM_WIDTH + team_lane();
}

#define LOAD_uint       ordo_load_uncached
#define LOAD_ulong      ordo_load_uncached64
#define STORE_uint      ordo_store_uncached
#define STORE_ulong     ordo_store_uncached64
#define GET_uint(x, l)  apart_shuffle(x, l)
#define GET_ulong(x, l) apart_shuffle64(x, l)

#if LTREE_WIDE
#define LOAD_ulong2(from)   as_ulong2(ordo_load_uncached128((__global const uint *) (from)))
#define STORE_ulong2(to, x) ordo_store_uncached128((__global uint *) (to), as_uint4(x))
#define GET_ulong2(x, l)    apart_shuffle128(x, l)
#endif

/* Functions on a column. column.cl describes column_shift and column_keep.
 *
 *   column_load_uncached    reads words first .. end - 1, sets the others to 0
 *   column_store_uncached   writes word s to to[s], for s in first .. end - 1
 *   column_at               returns word s to all lanes
 *   column_merge            The array `into` has `count` words, and `from` has `own` words. Moves the words of `into`
 *                           up by own - 1. Copies all words of `from` except from[slot] to the start of `into`. All
 *                           lanes load before any lane stores. */
#define LTREE_COLUMN(type)                                                                                             \
    typedef struct {                                                                                                   \
        type at[COLUMN_ROWS];                                                                                          \
    } column_##type;                                                                                                   \
                                                                                                                       \
    ORDO_FN void column_load_uncached_##type(column_##type *c, __global const type *from, uint first, uint end)        \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++) {                                                                       \
            const uint s = column_word(r);                                                                             \
            c->at[r] = s >= first && s < end ? LOAD_##type(from + s) : (type) 0;                                       \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_store_uncached_##type(const column_##type *c, __global type *to, uint first, uint end)         \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++) {                                                                       \
            const uint s = column_word(r);                                                                             \
            if (s >= first && s < end)                                                                                 \
                STORE_##type(to + s, c->at[r]);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN type column_at_##type(const column_##type *c, uint s)                                                      \
    {                                                                                                                  \
        type here = c->at[0];                                                                                          \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 1; r < COLUMN_ROWS; r++)                                                                         \
            here = s / TEAM_WIDTH == r ? c->at[r] : here;                                                              \
        return GET_##type(here, s % TEAM_WIDTH);                                                                       \
    }                                                                                                                  \
    ORDO_FN void column_shift_##type(column_##type *c, uint slot, bool open, type x)                                   \
    {                                                                                                                  \
        const uint lane = team_lane(), last = TEAM_WIDTH - 1;                                                          \
        type       beside[COLUMN_ROWS];                                                                                \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++)                                                                         \
            beside[r] = GET_##type(c->at[r], (lane + (open ? last : 1)) % TEAM_WIDTH);                                 \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++) {                                                                       \
            const uint s = column_word(r);                                                                             \
            const type before = lane > 0 ? beside[r] : r > 0 ? beside[r - 1] : x;                                      \
            const type behind = lane < last ? beside[r] : r + 1 < COLUMN_ROWS ? beside[r + 1] : x;                     \
            const type opened = s > slot ? before : x, closed = s + 1 < LTREE_SLOTS ? behind : x;                      \
            c->at[r] = s < slot ? c->at[r] : open ? opened : closed;                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_keep_##type(column_##type *c, bool upper, type fill)                                           \
    {                                                                                                                  \
        const uint from = team_lane() + LTREE_HALF;                                                                    \
        type       beside[COLUMN_ROWS];                                                                                \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++)                                                                         \
            beside[r] = GET_##type(c->at[r], from % TEAM_WIDTH);                                                       \
        ORDO_UNROLL                                                                                                    \
        for (uint r = 0; r < COLUMN_ROWS; r++) {                                                                       \
            type above = fill;                                                                                         \
            ORDO_UNROLL                                                                                                \
            for (uint q = r; q < COLUMN_ROWS; q++)                                                                     \
                above = q == r + from / TEAM_WIDTH ? beside[q] : above;                                                \
            c->at[r] = column_word(r) >= LTREE_HALF ? fill : upper ? above : c->at[r];                                 \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_merge_##type(__global const type *from, uint slot, uint own, __global type *into, uint count)  \
    {                                                                                                                  \
        column_##type held, moved;                                                                                     \
        column_load_uncached_##type(&held, into, 0, count);                                                            \
        column_load_uncached_##type(&moved, from, 0, own);                                                             \
        apart_sync();                                                                                                  \
        column_store_uncached_##type(&held, into + own - 1, 0, count);                                                 \
        column_store_uncached_##type(&moved, into, 0, slot);                                                           \
        column_store_uncached_##type(&moved, into - 1, slot + 1, own);                                                 \
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

ORDO_FN uint column_less(const column_keys *c, ordo_key_form key)
{
    uint words = 0;
    ORDO_UNROLL
    for (uint r = 0; r < COLUMN_ROWS; r++)
        words |= (uint) apart_ballot(key_before(c->at[r], key)) << r * TEAM_WIDTH;
    return words;
}

#define COLUMN_SLOTS_MASK ((1u << LTREE_SLOTS) - 1)

ORDO_FN uint column_place(const column_keys *c, ordo_key_form key, ordo_key_form *next)
{
    const uint less = popcount(column_less(c, key) & COLUMN_SLOTS_MASK);
    *next = KEYS_DO(at)(c, less);
    *next = less < LTREE_SLOTS ? *next : LTREE_UNUSED;
    return less;
}

#endif
