/* SPDX-License-Identifier: Apache-2.0 */
/* Decoupled look-back: a group finds the fold of all tiles before its tile while other groups still compute theirs.
 *
 * Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (NVR-2016-002). Silent tiles: Smith,
 * Levien and Owens, Decoupled Fallback (SPAA 2025).
 *
 * Each tile publishes its own fold (LOOKBACK_OWN), and later the fold up to its end (LOOKBACK_PREFIX). A tile combines
 * the folds from its left neighbour back to the first prefix.
 *
 * State      No launch clears the state. A word counts as unpublished if another launch stamped it. The group with the
 *            last ticket resets the ticket.
 * Order      Each word holds flag and payload, so relaxed accesses suffice. A reader of several words repeats until all
 *            flags agree.
 * Progress   Groups take tiles by ticket, so a group waits only for groups that have started. After LOOKBACK_POLLS
 *            polls of a silent tile, the group folds that tile from the input. So no device hangs, but look-back is
 *            slow without forward progress (groups_progress).
 * In place   The output may be the input (lookback_again).
 *
 * The including file defines, before the #include
 *   LOOKBACK_INPUT    the type of the arrays
 *   fold_item lookback_refold(__private const LOOKBACK_INPUT *input, uint tile)
 *                     folds one tile from the input, in all lanes of the calling sub-group
 *
 * LOOKBACK_FAULTS (fault injection) is a sum. 1: odd tiles hide their own fold. 2: odd tiles hide their prefix. 4: all
 * tiles hide their prefix. */
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

/* A word has the flag in bits 0 and 1, the head flag in bit 2, the stamp in bits 3 to 15, payload in the upper half. */
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

/* The shared state: the next ticket, which is 0 between launches, then the tiles' words. `stamp` is not 0, and no
 * launch has used it since the words were cleared. */
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
    uint      flag;    /* LOOKBACK_NONE if the words disagree */
    bool      touched; /* at least one word is published */
    fold_item item;
} lookback_status;

/* Payload w of an item. Payloads hold the value, lowest bits first, then the mark. */
ORDO_FN lookback_word lookback_part(fold_item item, uint w)
{
#if FOLD_NUMBERED
    if (w >= LOOKBACK_VALUE_WORDS)
        return (lookback_word) (fold_head(item) >> ((w - LOOKBACK_VALUE_WORDS) * LOOKBACK_PAYLOAD_BITS));
#endif
    return (lookback_word) (fold_value(item) >> (w * LOOKBACK_PAYLOAD_BITS));
}

/* One work-item calls. */
ORDO_FN void lookback_publish(lookback_state s, uint tile, uint flag, fold_item item)
{
    ORDO_UNROLL
    for (uint w = 0; w < LOOKBACK_WORDS; w++)
        lookback_store(s.words + (ulong) tile * LOOKBACK_WORDS + w, lookback_part(item, w) << LOOKBACK_PAYLOAD_BITS |
                                                                        (lookback_word) fold_is_closed(item) << 2 |
                                                                        flag | s.stamp);
}

/* A word's flag and head flag, or 0 if the word has another launch's stamp. */
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

/* One work-item of each group calls. */
ORDO_FN uint lookback_take(lookback_state s)
{
    const uint tile = ordo_add(s.ticket, 1);
    if (tile == (uint) get_num_groups(0) - 1)
        ordo_store_relaxed(s.ticket, 0);
    return tile;
}

/* The whole group calls. Contains a barrier. */
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

/* Publishes the tile's own fold. Work-item 0 calls, before the group writes output. */
ORDO_FN void lookback_announce(lookback_state s, uint tile, fold_item own, bool in_place)
{
    if (tile & LOOKBACK_FAULTS & 1)
        return;
    lookback_publish(s, tile, tile == 0 || fold_is_closed(own) ? LOOKBACK_PREFIX : LOOKBACK_OWN, own);
    if (in_place)
        ordo_fence_device();
}

/* Folds a silent tile from the input (LOOKBACK_OWN). In place, returns the tile's published item if there is one. One
 * whole sub-group calls.
 *
 * In place, the tile's group may overwrite the input meanwhile. It publishes before that, with a fence between
 * (lookback_announce), and each lane here has a fence between its reads of input and of words. If no word is published,
 * all reads were input. A stale plain load returns input, too. If only some words are published, the result is
 * LOOKBACK_NONE, and a later poll finds the rest. */
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

/* Returns to all lanes the fold of all tiles before `tile`. One whole sub-group calls. */
ORDO_FN fold_item look_back(__private const LOOKBACK_INPUT *input, lookback_state s, uint tile, bool in_place)
{
    fold_item before = fold_identity(); /* the fold of tiles next .. tile - 1 */
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

/* One work-item calls. */
ORDO_FN void lookback_announce_prefix(lookback_state s, uint tile, fold_item prefix)
{
    if ((tile << 1 & LOOKBACK_FAULTS & 2) | (LOOKBACK_FAULTS & 4))
        return;
    lookback_publish(s, tile, LOOKBACK_PREFIX, prefix);
}

/* Returns the fold of all tiles before `tile`, and publishes the prefix. The whole group calls. Contains a barrier,
 * after which the group may write output. */
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
