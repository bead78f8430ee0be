/* SPDX-License-Identifier: Apache-2.0 */
/* Folds over all tiles of an array, for kernels whose output for an element depends on the fold of all earlier
 * elements.
 *
 * Look-back (SCAN_LOOKBACK 1, tiles_look_back): one launch reads and writes every element once. Groups wait, for a
 * bounded time, for groups that have started. Reduce-then-scan uses two launches that read the elements twice, and no
 * group waits: tiles_sums folds each group's range of tiles, then tiles_ranges folds the earlier ranges' results and
 * writes the group's range. A single group needs tiles_ranges only.
 *
 * The including file defines, before the #include
 *   LOOKBACK_INPUT   The type of the arrays of a call.
 *   input_tile       The type of a loaded tile.
 *   tile_write       Writes a loaded tile. `before` is the fold of all earlier elements.
 *   lookback_refold  Folds a tile (group/lookback.cl).
 * If the file includes group/tile.cl, input_tile has a member `fold_item row[TILE_ROWS]`, and the file also defines
 *   tile_load_input  Loads a tile.
 *   tile_item        Returns the item of key k of a loaded tile. `at` is the key's position.
 * Otherwise the file also defines
 *   tile_fold        Loads a tile and returns its fold.
 *   tile_whole       Loads and writes a tile. Returns the fold up to the tile's end. */
#pragma once
#include "group/fold.cl"

#ifdef TILE_ROWS

/* Sets t->row[r] to the fold of the team's part of the tile before this lane's vector of row r. Returns the fold of the
 * team's part. */
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

/* Sets t->row[r] to the fold of the tile before this lane's vector of row r. Called like group_fold_before. */
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

/* Contains barriers before and after the writes of scratch. */
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

/* The end of this group's range: tiles g * range .. g * range + range - 1 of `tiles`. */
ORDO_FN uint tiles_end(uint tiles, uint range)
{
    const uint first = (uint) get_group_id(0) * range;
    return first + min(range, tiles - first);
}

/* sums[g] is the fold of group g's range. */
ORDO_FN void tiles_ranges(__private const LOOKBACK_INPUT *in, uint tiles, uint range, __global const fold_item *sums,
                          __local fold_scratch *scratch)
{
    const uint group = (uint) get_group_id(0), end = tiles_end(tiles, range);
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

/* Writes this group's tile. lookback_state describes `state` and `stamp`. */
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

ORDO_FN void tiles_sums(__private const LOOKBACK_INPUT *in, uint tiles, uint range, __global fold_item *sums,
                        __local fold_scratch *scratch)
{
    const uint group = (uint) get_group_id(0), end = tiles_end(tiles, range);
    fold_item  sum = fold_identity();
    input_tile t;
    for (uint tile = group * range; tile < end; tile++) {
        sum = fold(sum, tile_fold(in, tile, &t, scratch));
#if FOLD_GROUP > 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (get_local_id(0) == 0)
        sums[group] = sum;
}

#endif
