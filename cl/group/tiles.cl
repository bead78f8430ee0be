/* SPDX-License-Identifier: Apache-2.0 */
/* Scans an array: each element gets the reduction (sum, minimum or maximum) of all earlier elements. A work-group
 * handles one tile, that is a part of the array, at a time. The whole group must call each function.
 *
 * With SCAN_LOOKBACK, one launch reads every element once (group/lookback.cl). Otherwise there are two launches. In the
 * first, each group reduces a range of tiles (tiles_sums). In the second, it scans the range (tiles_ranges). */

/* The including file defines:
 *  LOOKBACK_INPUT   type that describes the array
 *  input_tile       type of a loaded tile
 *  tile_write       writes the results of a loaded tile. `before` is the reduction of all elements before the tile
 *  lookback_refold  reduces a tile (group/lookback.cl)
 * With group/tile.cl, also:
 *  tile_load_input  loads a tile
 *  tile_item        returns item k of a loaded tile, at position `at`
 * Without group/tile.cl, also:
 *  tile_fold        loads a tile and returns its reduction
 *  tile_whole       loads and writes a tile. Returns the reduction up to the tile's end */
#pragma once
#include "group/fold.cl"

#ifdef TILE_ROWS

ORDO_FN fold_item tile_rows(uint tile, __private input_tile *t)
{
    fold_item before = fold_identity();
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++) {
        const uint first = tile_position(tile, r);
        fold_item  mine = tile_item(t, r * TILE_VECTOR, first);
        ORDO_UNROLL
        for (uint v = 1; v < TILE_VECTOR; v++)
            mine = fold(mine, tile_item(t, r * TILE_VECTOR + v, first + v));
        const fold_item upto = team_fold_upto(mine);
        t->row[r] = fold(before, team_fold_before(upto));
        before = fold(before, team_item(upto, TEAM_WIDTH - 1));
    }
    return before;
}

/* Loads a tile and returns its reduction. t->row[r] becomes the reduction of all items of the tile before this lane's
 * vector number r. */
ORDO_FN fold_item tile_fold(__private const LOOKBACK_INPUT *in, uint tile, __private input_tile *t,
                            __local fold_scratch *scratch)
{
    fold_item total;
    tile_load_input(in, tile, t);
    const fold_item teams = group_fold_before(tile_rows(tile, t), scratch, &total);
    ORDO_UNROLL
    for (uint r = 0; r < TILE_ROWS; r++)
        t->row[r] = fold(teams, t->row[r]);
    return total;
}

ORDO_FN fold_item tile_whole(__private const LOOKBACK_INPUT *in, uint tile, fold_item before,
                             __local fold_scratch *scratch)
{
    input_tile t;
    barrier(CLK_LOCAL_MEM_FENCE);
    const fold_item own = tile_fold(in, tile, &t, scratch);
    tile_write(in, tile, &t, before);
    return fold(before, own);
}

#endif

ORDO_FN uint tiles_end(uint tiles, uint range, uint group)
{
    const uint first = group * range;
    return first + min(range, tiles - first);
}

/* Scans this group's range of tiles. sums[g] is the reduction of range g. With only one range, `sums` is NULL. */
ORDO_FN void tiles_ranges(__private const LOOKBACK_INPUT *in, uint tiles, uint range, __global const fold_item *sums,
                          __local fold_scratch *scratch)
{
    const uint written = FOLD_GROUP == 1 && sums ? 1 : 0;
    const uint group = (uint) get_group_id(0) + written, end = tiles_end(tiles, range, group);
    fold_item  before = group_fold_items(sums, group, scratch);
    for (uint tile = group * range; tile < end; tile++)
        before = tile_whole(in, tile, before, scratch);
}

#if SCAN_LOOKBACK
#include "group/lookback.cl"

typedef struct {
    fold_scratch scratch;
    fold_item    before;
    uint         ticket;
} tiles_local;

ORDO_FN void tiles_look_back(__private const LOOKBACK_INPUT *in, bool in_place, __global uint *state, uint stamp,
                             __local tiles_local *l)
{
    const lookback_state s = lookback_state_at(state, stamp);
    const uint           tile = lookback_ticket(s, &l->ticket);
    input_tile           t;
    const fold_item      own = tile_fold(in, tile, &t, &l->scratch);
    if (get_local_id(0) == 0)
        lookback_announce(s, tile, own, in_place);
    const fold_item before = lookback_prefix(in, s, tile, own, in_place, &l->before);
    tile_write(in, tile, &t, before);
}

#else

/* Sets sums[g] to the reduction of group g's tiles. If groups have one work-item, group 0 also writes its tiles. */
ORDO_FN void tiles_sums(__private const LOOKBACK_INPUT *in, uint tiles, uint range, __global fold_item *sums,
                        __local fold_scratch *scratch)
{
    const uint group = (uint) get_group_id(0), end = tiles_end(tiles, range, group);
    fold_item  sum = fold_identity();
    input_tile t;
    for (uint tile = group * range; tile < end; tile++) {
#if FOLD_GROUP == 1
        sum = group == 0 ? tile_whole(in, tile, sum, scratch) : fold(sum, tile_fold(in, tile, &t, scratch));
#else
        sum = fold(sum, tile_fold(in, tile, &t, scratch));
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (get_local_id(0) == 0)
        sums[group] = sum;
}

#endif
