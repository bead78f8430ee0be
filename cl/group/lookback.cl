/* SPDX-License-Identifier: Apache-2.0 */
/* Decoupled look-back scans an array in one launch. Each work-group handles one tile, that is a part of the array. It
 * publishes the tile's reduction (LOOKBACK_OWN), and combines the results that groups of earlier tiles have published.
 * Then it publishes the reduction of all elements up to the tile's end (LOOKBACK_PREFIX).
 *
 * A group reads the same result at most LOOKBACK_POLLS times. If it is still missing, the group reduces the other tile
 * itself, so the launch ends even if the other group never runs. Merrill and Garland, Single-pass Parallel Prefix Scan
 * with Decoupled Look-back (NVR-2016-002). Smith, Levien and Owens, Decoupled Fallback (SPAA 2025). */

/* The including file defines the type LOOKBACK_INPUT, which describes the array, and lookback_refold, which reduces one
 * tile. Tests set bits of LOOKBACK_FAULTS to leave out publications. */
#pragma once
#include "device/atomic.cl"
#include "group/fold.cl"
#include "shared/group.h"

#ifndef LOOKBACK_POLLS
#define LOOKBACK_POLLS 65536
#endif
#ifndef LOOKBACK_FAULTS
#define LOOKBACK_FAULTS 0
#endif

#define LOOKBACK_NONE   0
#define LOOKBACK_OWN    1
#define LOOKBACK_PREFIX 2

/* Layout of a word that a group publishes:
 *  bits 0 and 1   LOOKBACK_OWN or LOOKBACK_PREFIX
 *  bit 2          1 if a segment starts within the reduced elements (FOLD_SEGMENTED)
 *  bits 3 to 15   number of the launch (`stamp`)
 *  upper half     part of the reduction
 * Relaxed accesses suffice, because each word has its own flag. */
#if ORDO_INT64_ATOMICS
typedef ulong lookback_word;
#define LOOKBACK_PAYLOAD_BITS 32
#define lookback_load         ordo_load_relaxed64
#define lookback_store        ordo_store_relaxed64
#else
typedef uint lookback_word;
#define LOOKBACK_PAYLOAD_BITS 16
#define lookback_load         ordo_load_relaxed
#define lookback_store        ordo_store_relaxed
#endif
#define LOOKBACK_VALUE_WORDS (FOLD_VALUES * FOLD_BITS / LOOKBACK_PAYLOAD_BITS)
#define LOOKBACK_WORDS       (LOOKBACK_VALUE_WORDS + FOLD_NUMBERED * 64 / LOOKBACK_PAYLOAD_BITS)
ORDO_STATIC_ASSERT(LOOKBACK_WORDS * sizeof(lookback_word) ==
                       LOOKBACK_TILE_BYTES(LOOKBACK_PAYLOAD_BYTES(FOLD_VALUES * FOLD_BITS / 8, FOLD_NUMBERED)),
                   "the host reserves so many bytes for a tile");
ORDO_STATIC_ASSERT(3 + LOOKBACK_STAMP_BITS <= LOOKBACK_PAYLOAD_BITS, "half of a word is payload");

/* Memory that all groups of a launch share. *ticket counts the tiles that groups have taken, and must be 0 before the
 * launch. Each launch needs a new nonzero `stamp`. */
typedef struct {
    volatile __global uint          *ticket;
    volatile __global lookback_word *words;
    uint                             stamp;
} lookback_state;

ORDO_FN lookback_state lookback_state_at(__global uint *state, uint stamp)
{
    lookback_state s;
    s.ticket = state;
    s.words = (volatile __global lookback_word *) (state + LOOKBACK_TICKET_BYTES / 4);
    s.stamp = stamp << 3;
    return s;
}

typedef struct {
    uint      flag;
    bool      touched;
    fold_item item;
} lookback_status;

ORDO_FN lookback_word lookback_part(fold_item item, uint w)
{
#if FOLD_NUMBERED
    if (w >= LOOKBACK_VALUE_WORDS)
        return (lookback_word) (fold_head(item) >> ((w - LOOKBACK_VALUE_WORDS) * LOOKBACK_PAYLOAD_BITS));
#endif
    return (lookback_word) (fold_value(item) >> (w * LOOKBACK_PAYLOAD_BITS));
}

ORDO_FN void lookback_publish(lookback_state s, uint tile, uint flag, fold_item item)
{
    ORDO_UNROLL
    for (uint w = 0; w < LOOKBACK_WORDS; w++)
        lookback_store(s.words + (ulong) tile * LOOKBACK_WORDS + w, lookback_part(item, w) << LOOKBACK_PAYLOAD_BITS |
                                                                        (lookback_word) fold_is_closed(item) << 2 |
                                                                        flag | s.stamp);
}

ORDO_FN uint lookback_marks(lookback_state s, lookback_word word)
{
    const uint marks = ((uint) word ^ s.stamp) & ((8u << LOOKBACK_STAMP_BITS) - 1);
    return marks < 8 ? marks : 0;
}

ORDO_FN lookback_status lookback_read(lookback_state s, uint tile)
{
    lookback_status status;
    fold_word       value = 0;
    fold_mark       mark = 0;
    uint            flags_all = ~0u, flags_any = 0;
    ORDO_UNROLL
    for (uint w = 0; w < LOOKBACK_WORDS; w++) {
        const lookback_word word = lookback_load(s.words + (ulong) tile * LOOKBACK_WORDS + w);
        const uint          marks = lookback_marks(s, word);
        if (w < LOOKBACK_VALUE_WORDS)
            value |= (fold_word) (word >> LOOKBACK_PAYLOAD_BITS) << (w * LOOKBACK_PAYLOAD_BITS);
        else
            mark |= (fold_mark) (word >> LOOKBACK_PAYLOAD_BITS) << ((w - LOOKBACK_VALUE_WORDS) * LOOKBACK_PAYLOAD_BITS);
        flags_all &= marks;
        flags_any |= marks;
    }
    status.flag = flags_all == flags_any ? flags_all & 3 : LOOKBACK_NONE;
    status.touched = flags_any != 0;
    status.item = fold_make(value, FOLD_NUMBERED ? mark : flags_all >> 2);
    return status;
}

/* Returns the number of the next tile. Groups get tiles in the order in which they start, so a group waits only for
 * groups that have started. One work-item of each group must call. */
ORDO_FN uint lookback_take(lookback_state s)
{
    const uint tile = ordo_add(s.ticket, 1);
    if (tile == (uint) get_num_groups(0) - 1)
        ordo_store_relaxed(s.ticket, 0);
    return tile;
}

ORDO_FN uint lookback_ticket(lookback_state s, __local uint *broadcast)
{
#if FOLD_GROUP == 1
    return lookback_take(s);
#else
    if (get_local_id(0) == 0)
        *broadcast = lookback_take(s);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *broadcast;
#endif
}

/* Publishes the tile's reduction `own`. Work-item 0 must call before the group writes output. */
ORDO_FN void lookback_announce(lookback_state s, uint tile, fold_item own, bool in_place)
{
    if (tile & LOOKBACK_FAULTS & 1)
        return;
    lookback_publish(s, tile, tile == 0 || fold_is_closed(own) ? LOOKBACK_PREFIX : LOOKBACK_OWN, own);
    if (in_place)
        ordo_fence_device();
}

/* Returns the reduction of a tile whose group has not published it yet. The whole sub-group must call.
 *
 * If `in_place`, the tile's group may overwrite the tile during this call, after it publishes the reduction. So if any
 * published word is visible, returns the published reduction. The result's flag is LOOKBACK_NONE if other words are
 * still missing. */
ORDO_FN lookback_status lookback_again(__private const LOOKBACK_INPUT *input, lookback_state s, uint tile,
                                       bool in_place)
{
    lookback_status again, now;
    again.item = lookback_refold(input, tile);
    again.flag = LOOKBACK_OWN;
    again.touched = false;
    if (!in_place)
        return again;
    ordo_fence_device();
    now = lookback_read(s, tile);
    if (!team_any(now.touched))
        return again;
    now.item = team_item(now.item, 0);
    now.flag = team_bcast(now.flag, 0);
    return now;
}

ORDO_FN uint lookback_lanes_before(team_mask lanes)
{
    return lanes ? first_lane(lanes) : TEAM_WIDTH;
}

/* Returns the reduction of all tiles before `tile`. A whole sub-group must call. */
ORDO_FN fold_item look_back(__private const LOOKBACK_INPUT *input, lookback_state s, uint tile, bool in_place)
{
    fold_item before = fold_identity();
    uint      next = tile;
    uint      polls = 0;
    while (next > 0) {
        lookback_status seen;
        seen.flag = LOOKBACK_PREFIX;
        seen.touched = true;
        seen.item = fold_identity();
        if (team_lane() < next)
            seen = lookback_read(s, next - 1 - team_lane());

        const bool stops = seen.flag == LOOKBACK_PREFIX || fold_is_closed(seen.item);
        const uint ready = lookback_lanes_before(team_ballot(seen.flag == LOOKBACK_NONE));
        const uint last = lookback_lanes_before(team_ballot(seen.flag != LOOKBACK_NONE && stops));
        uint       taken = min(ready, last + 1);

        if (taken == 0 && polls < LOOKBACK_POLLS) {
            polls++;
            ordo_pause();
            continue;
        }
        if (taken == 0) {
            const lookback_status again = lookback_again(input, s, next - 1, in_place);
            if (again.flag == LOOKBACK_NONE)
                continue;
            before = fold(again.item, before);
            if (again.flag == LOOKBACK_PREFIX || fold_is_closed(before))
                return before;
            next--;
            polls = 0;
            continue;
        }
        before = fold(team_fold_backwards(fold_pick(team_lane() < taken, seen.item, fold_identity())), before);
        if (last < taken)
            return before;
        next -= taken;
        polls = 0;
    }
    return before;
}

ORDO_FN void lookback_announce_prefix(lookback_state s, uint tile, fold_item prefix)
{
    if ((tile << 1 & LOOKBACK_FAULTS & 2) | (LOOKBACK_FAULTS & 4))
        return;
    lookback_publish(s, tile, LOOKBACK_PREFIX, prefix);
}

/* Publishes the reduction of all tiles up to `tile`, and returns the reduction of the tiles before it. The whole group
 * must call. Ends with a barrier, after which the group may write output. */
ORDO_FN fold_item lookback_prefix(__private const LOOKBACK_INPUT *input, lookback_state s, uint tile, fold_item own,
                                  bool in_place, __local fold_item *broadcast)
{
#if FOLD_GROUP == 1
    const fold_item before = look_back(input, s, tile, in_place);
    lookback_announce_prefix(s, tile, fold(before, own));
    return before;
#else
    if (team_index() == 0) {
        const fold_item before = look_back(input, s, tile, in_place);
        if (team_lane() == 0) {
            lookback_announce_prefix(s, tile, fold(before, own));
            *broadcast = before;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *broadcast;
#endif
}
