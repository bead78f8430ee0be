/* SPDX-License-Identifier: Apache-2.0 */
/* A reduction combines items in order by an associative operation. Names call it `fold`. All work-items of a work-group
 * must call the group_ functions. All lanes of a sub-group must call the team_ functions (device/team.cl). */

/* The including file defines:
 *  FOLD_OP          FOLD_SUM, FOLD_MIN or FOLD_MAX.
 *  FOLD_COUNTS      1: the value of an item is a 32-bit count. 0: it is a key.
 *  FOLD_SEGMENTED   1: an item is a value with a flag. The flag is 1 at the first item of a segment. Each segment is
 *                   reduced separately.
 *  FOLD_NUMBERED    1: an item is a value with a 64-bit mark. Each segment is reduced separately, too. The upper half
 *                   of a mark counts the segment starts. Its lower half is the position of the last start.
 *  FOLD_VALUES      0: an item is only a mark.
 *  FOLD_GROUP       number of work-items in a work-group.
 * Without FOLD_SEGMENTED and FOLD_NUMBERED, an item is only a value. Blelloch, Prefix Sums and Their Applications
 * (CMU-CS-90-190), section 1.5. */
#pragma once

#ifndef FOLD_GROUP
#define FOLD_GROUP 1
#endif
#if FOLD_GROUP == 1
#define TEAM_WIDTH 1
#endif

#include "device/compiler.cl"
#include "device/team.cl"
#include "shared/group.h"
#include "shared/key.h"

#define FOLD_SUM 0
#define FOLD_MIN 1
#define FOLD_MAX 2

#ifndef FOLD_COUNTS
#define FOLD_COUNTS 0
#endif
#ifndef FOLD_OP
#define FOLD_OP FOLD_SUM
#endif
#ifndef FOLD_SEGMENTED
#define FOLD_SEGMENTED 0
#endif
#ifndef FOLD_NUMBERED
#define FOLD_NUMBERED 0
#endif
#ifndef FOLD_VALUES
#define FOLD_VALUES 1
#endif
ORDO_STATIC_ASSERT(!FOLD_SEGMENTED || !FOLD_NUMBERED, "an item has a flag or a mark");
ORDO_STATIC_ASSERT(FOLD_VALUES || FOLD_NUMBERED, "FOLD_VALUES 0 leaves nothing to fold without FOLD_NUMBERED");
ORDO_STATIC_ASSERT(FOLD_OP >= FOLD_SUM && FOLD_OP <= FOLD_MAX, "FOLD_OP must be an ordo_op");
ORDO_STATIC_ASSERT(FOLD_OP != FOLD_SUM || FOLD_COUNTS || (ORDO_KEY != KEY_F32 && ORDO_KEY != KEY_F64),
                   "a sum of floats depends on how they are grouped: FOLD_SUM is for integers");
ORDO_STATIC_ASSERT(FOLD_GROUP % TEAM_WIDTH == 0, "a team lies within one work-group");

#define FOLD_TEAMS (FOLD_GROUP / TEAM_WIDTH)

/* ---- items ----------------------------------------------------------------------------------------------------- */

/* fold_item is a vector, because Oclgrind 21.10 cannot run functions that return structs. */
#if FOLD_COUNTS
typedef uint fold_word;
#define FOLD_BITS 32
#else
typedef ordo_key  fold_word;
#define FOLD_BITS KEY_BITS
#endif
#if FOLD_NUMBERED
typedef ulong  fold_mark;
typedef ulong2 fold_item;
#elif !FOLD_SEGMENTED
typedef uint      fold_mark;
typedef fold_word fold_item;
#elif FOLD_BITS == 64
typedef uint   fold_mark;
typedef ulong2 fold_item;
#else
typedef uint  fold_mark;
typedef uint2 fold_item;
#endif

ORDO_STATIC_ASSERT(sizeof(fold_item) == FOLD_ITEM_BYTES(FOLD_BITS / 8, FOLD_SEGMENTED, FOLD_NUMBERED),
                   "the host reserves so many bytes for an item");

#define FOLD_IDENTITY (FOLD_OP == FOLD_MIN ? ~(fold_word) 0 : (fold_word) 0)

#if FOLD_SEGMENTED || FOLD_NUMBERED
ORDO_FN fold_item fold_make(fold_word value, fold_mark head)
{
    return (fold_item) (value, head);
}
ORDO_FN fold_word fold_value(fold_item x)
{
    return (fold_word) x.x;
}
ORDO_FN fold_mark fold_head(fold_item x)
{
    return (fold_mark) x.y;
}
#else
ORDO_FN fold_item fold_make(fold_word value, fold_mark head)
{
    return value;
}
ORDO_FN fold_word fold_value(fold_item x)
{
    return x;
}
ORDO_FN fold_mark fold_head(fold_item x)
{
    return 0;
}
#endif

ORDO_FN fold_item fold_identity(void)
{
    return fold_make(FOLD_IDENTITY, 0);
}

#if FOLD_NUMBERED
ORDO_FN fold_mark fold_mark_of(bool head, uint at)
{
    return head ? (ulong) 1 << 32 | at : 0;
}
ORDO_FN uint fold_heads(fold_item x)
{
    return (uint) (x.y >> 32);
}
ORDO_FN uint fold_last_head(fold_item x)
{
    return (uint) x.y;
}
#endif

/* Returns whether a segment starts within x. */
ORDO_FN bool fold_is_closed(fold_item x)
{
    return FOLD_SEGMENTED && fold_head(x);
}

#if !FOLD_COUNTS
ORDO_FN ordo_key fold_value_of(ordo_key key)
{
    return FOLD_OP == FOLD_SUM ? key : key_bits(key);
}

ORDO_FN ordo_key fold_key_of(ordo_key value)
{
    return FOLD_OP == FOLD_SUM ? value : key_from_bits(value);
}
#endif

ORDO_FN fold_word fold_values(fold_word a, fold_word b)
{
    return FOLD_OP == FOLD_SUM ? a + b : FOLD_OP == FOLD_MIN ? min(a, b) : max(a, b);
}

ORDO_FN fold_item fold(fold_item a, fold_item b)
{
#if FOLD_NUMBERED
    return (fold_item) (b.y ? b.x : fold_values((fold_word) a.x, (fold_word) b.x), b.y ? (a.y >> 32 << 32) + b.y : a.y);
#elif FOLD_SEGMENTED
    return (fold_item) (b.y ? b.x : fold_values(a.x, b.x), a.y | b.y);
#else
    return fold_values(a, b);
#endif
}

ORDO_FN fold_item fold_pick(bool first, fold_item a, fold_item b)
{
    return fold_make(first ? fold_value(a) : fold_value(b), first ? fold_head(a) : fold_head(b));
}

/* ---- teams ----------------------------------------------------------------------------------------------------- */

#if FOLD_NUMBERED && !FOLD_VALUES
#define FOLD_SHUFFLE_(name, x, by) fold_make(0, team_##name##64(fold_head(x), by))
#elif FOLD_NUMBERED && FOLD_BITS == 64
#define FOLD_SHUFFLE_(name, x, by) fold_make(team_##name##64(fold_value(x), by), team_##name##64(fold_head(x), by))
#elif FOLD_NUMBERED
#define FOLD_SHUFFLE_(name, x, by) fold_make(team_##name(fold_value(x), by), team_##name##64(fold_head(x), by))
#elif FOLD_BITS == 64
#define FOLD_SHUFFLE_(name, x, by)                                                                                     \
    fold_make(team_##name##64(fold_value(x), by), FOLD_SEGMENTED ? team_##name(fold_head(x), by) : 0)
#else
#define FOLD_SHUFFLE_(name, x, by)                                                                                     \
    fold_make(team_##name(fold_value(x), by), FOLD_SEGMENTED ? team_##name(fold_head(x), by) : 0)
#endif

ORDO_FN fold_item team_item(fold_item x, uint lane)
{
    return FOLD_SHUFFLE_(shuffle, x, lane);
}

ORDO_FN fold_item team_fold_upto(fold_item x)
{
    ORDO_UNROLL
    for (uint distance = 1; distance < TEAM_WIDTH; distance *= 2) {
        const fold_item left = FOLD_SHUFFLE_(shuffle_up, x, distance);
        x = fold_pick(team_lane() >= distance, fold(left, x), x);
    }
    return x;
}

ORDO_FN fold_item team_fold_before(fold_item upto)
{
#if TEAM_WIDTH == 1
    return fold_identity();
#else
    const fold_item left = FOLD_SHUFFLE_(shuffle_up, upto, 1);
    return fold_pick(team_lane() > 0, left, fold_identity());
#endif
}

ORDO_FN fold_item team_fold(fold_item x)
{
    ORDO_UNROLL
    for (uint bit = 1; bit < TEAM_WIDTH; bit *= 2) {
        const fold_item other = FOLD_SHUFFLE_(shuffle_xor, x, bit);
        x = fold_pick((team_lane() & bit) != 0, fold(other, x), fold(x, other));
    }
    return x;
}

/* Returns the reduction over the team to every lane. Combines lanes from the last to the first. */
ORDO_FN fold_item team_fold_backwards(fold_item x)
{
    ORDO_UNROLL
    for (uint bit = 1; bit < TEAM_WIDTH; bit *= 2) {
        const fold_item other = FOLD_SHUFFLE_(shuffle_xor, x, bit);
        x = fold_pick((team_lane() & bit) != 0, fold(x, other), fold(other, x));
    }
    return x;
}

/* ---- work-groups ----------------------------------------------------------------------------------------------- */

typedef struct {
    fold_item team[FOLD_TEAMS];
} fold_scratch;

#if FOLD_TEAMS > TEAM_WIDTH
ORDO_FN void group_fold_scratch(__local fold_scratch *scratch)
{
    const uint lid = (uint) get_local_id(0);
    for (uint distance = 1; distance < FOLD_TEAMS; distance *= 2) {
        fold_item x = fold_identity();
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < FOLD_TEAMS)
            x = lid >= distance ? fold(scratch->team[lid - distance], scratch->team[lid]) : scratch->team[lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < FOLD_TEAMS)
            scratch->team[lid] = x;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* Returns the reduction over all teams before this one, and sets *total to the reduction over the work-group. Each lane
 * passes its team's reduction as `mine`. The caller must pass a barrier before the next use of scratch. */
ORDO_FN fold_item group_fold_before(fold_item mine, __local fold_scratch *scratch, __private fold_item *total)
{
#if FOLD_TEAMS == 1
    *total = mine;
    return fold_identity();
#else
    const uint team = team_index();
    if (team_lane() == 0)
        scratch->team[team] = mine;
#if FOLD_TEAMS <= TEAM_WIDTH
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint      lane = min(team_lane(), (uint) (FOLD_TEAMS - 1));
    const fold_item upto = team_fold_upto(scratch->team[lane]);
    *total = team_item(upto, FOLD_TEAMS - 1);
    const fold_item before = team_item(upto, team > 0 ? team - 1 : 0);
#else
    group_fold_scratch(scratch);
    *total = scratch->team[FOLD_TEAMS - 1];
    const fold_item before = scratch->team[team > 0 ? team - 1 : 0];
#endif
    return fold_pick(team > 0, before, fold_identity());
#endif
}

ORDO_FN fold_item group_fold(fold_item x, __local fold_scratch *scratch)
{
    fold_item total;
    (void) group_fold_before(team_fold(x), scratch, &total);
    return total;
}

ORDO_FN fold_item group_fold_items(__global const fold_item *items, uint count, __local fold_scratch *scratch)
{
    const uint part = (count + FOLD_GROUP - 1) / FOLD_GROUP;
    const uint first = min((uint) get_local_id(0) * part, count);
    const uint end = min(first + part, count);
    fold_item  x = fold_identity();
    for (uint i = first; i < end; i++)
        x = fold(x, items[i]);
    return group_fold(x, scratch);
}
