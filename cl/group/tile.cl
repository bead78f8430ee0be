/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores a tile, that is TILE_SIZE consecutive keys of an array that a work-group handles. Each work-item has
 * TILE_ITEMS keys in registers.
 *
 * Tile 0 begins `shift` keys before the array, at an aligned address. A position counts keys from the start of tile 0.
 * A team (device/team.cl) has TILE_ROWS rows of TEAM_WIDTH vectors, one vector per lane. */

#pragma once
#include "group/fold.cl"

#ifndef TILE_ITEMS
#define TILE_ITEMS 4
#endif

#ifndef TILE_VECTOR
#define TILE_VECTOR (128 / KEY_BITS)
#endif
#if TILE_VECTOR == 2
typedef ulong2 tile_vector;
#elif KEY_BITS == 32
typedef uint4 tile_vector;
#else
typedef ulong4 tile_vector;
#endif
#if TILE_ITEMS % TILE_VECTOR || TILE_ITEMS > TILE_ITEMS_MAX
#error "TILE_ITEMS must be a multiple of 4, as a lane's keys are whole vectors, and at most TILE_ITEMS_MAX"
#endif

#define TILE_SIZE ((uint) (FOLD_GROUP * TILE_ITEMS))
#define TILE_ROWS (TILE_ITEMS / TILE_VECTOR)

typedef struct {
    ordo_key key[TILE_ITEMS];
} tile_keys;

ORDO_FN bool tile_is_aligned(__global const ordo_key *array, uint shift)
{
    return ((ulong) (array - shift) & 15) == 0;
}

ORDO_FN uint tile_position(uint tile, uint row)
{
    return tile * TILE_SIZE + ((team_index() * TILE_ROWS + row) * TEAM_WIDTH + team_lane()) * TILE_VECTOR;
}

ORDO_FN bool tile_is_whole(uint tile, uint count, uint shift)
{
    const uint first = tile * TILE_SIZE - shift;
    return first < count && count - first >= TILE_SIZE;
}

ORDO_FN void tile_load(__global const ordo_key *array, uint count, uint shift, uint tile, ordo_key missing,
                       __private tile_keys *t)
{
    if (tile_is_whole(tile, count, shift) && tile_is_aligned(array, shift)) {
        ORDO_UNROLL
        for (uint r = 0; r < TILE_ROWS; r++) {
            const tile_vector v = *(__global const tile_vector *) (array + (tile_position(tile, r) - shift));
            t->key[r * TILE_VECTOR] = v.s0;
            t->key[r * TILE_VECTOR + 1] = v.s1;
#if TILE_VECTOR == 4
            t->key[r * TILE_VECTOR + 2] = v.s2;
            t->key[r * TILE_VECTOR + 3] = v.s3;
#endif
        }
        return;
    }
    ORDO_UNROLL
    for (uint k = 0; k < TILE_ITEMS; k++) {
        const uint i = tile_position(tile, k / TILE_VECTOR) + k % TILE_VECTOR - shift;
        t->key[k] = i < count ? array[i] : missing;
    }
}

ORDO_FN void tile_store(__global ordo_key *array, uint count, uint shift, uint tile, __private const tile_keys *t)
{
    if (tile_is_whole(tile, count, shift) && tile_is_aligned(array, shift)) {
        ORDO_UNROLL
        for (uint r = 0; r < TILE_ROWS; r++) {
            tile_vector v;
            v.s0 = t->key[r * TILE_VECTOR];
            v.s1 = t->key[r * TILE_VECTOR + 1];
#if TILE_VECTOR == 4
            v.s2 = t->key[r * TILE_VECTOR + 2];
            v.s3 = t->key[r * TILE_VECTOR + 3];
#endif
            *(__global tile_vector *) (array + (tile_position(tile, r) - shift)) = v;
        }
        return;
    }
    ORDO_UNROLL
    for (uint k = 0; k < TILE_ITEMS; k++) {
        const uint i = tile_position(tile, k / TILE_VECTOR) + k % TILE_VECTOR - shift;
        if (i < count)
            array[i] = t->key[k];
    }
}

/* Bit k of the result is 1 if this work-item's key k exists and its flag is not 0. */
ORDO_FN uint tile_load_flags(__global const uchar *flags, uint count, uint shift, uint tile)
{
    const bool whole = tile_is_whole(tile, count, shift);
    uint       bits = 0;
#if TILE_VECTOR == 4
    if (whole && ((ulong) (flags - shift) & 3) == 0) {
        ORDO_UNROLL
        for (uint r = 0; r < TILE_ROWS; r++) {
            const uchar4 v = *(__global const uchar4 *) (flags + (tile_position(tile, r) - shift));
            bits |= (uint) ((v.s0 != 0) | (v.s1 != 0) << 1 | (v.s2 != 0) << 2 | (v.s3 != 0) << 3) << (r * 4);
        }
        return bits;
    }
#endif
    ORDO_UNROLL
    for (uint k = 0; k < TILE_ITEMS; k++) {
        const uint i = tile_position(tile, k / TILE_VECTOR) + k % TILE_VECTOR - shift;
        if (whole || i < count)
            bits |= (uint) (flags[i] != 0) << k;
    }
    return bits;
}
