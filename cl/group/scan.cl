/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix sums and reductions over a work-group of GROUP_SIZE work-items.
 *
 * GROUP_SCAN_DEFINE(name, type, suffix, combine, identity) defines two functions for an associative and commutative
 * operation `combine`. `suffix` is 64 for types of 64 bits, else empty:
 *
 *      type group_scan_NAME(type x, __local type *scratch, __private type *total)
 *          returns the combination of x over work-items with lower local ids, sets *total to the combination of all x
 *      type group_reduce_NAME(type x, __local type *scratch)
 *          returns the combination of all x
 *
 * The whole group must call. scratch has GROUP_SCAN_WORDS values, and needs a barrier before its next use. */
#pragma once
#include "device/team.cl"
#include "shared/group.h"

#ifndef GROUP_SIZE
#define GROUP_SIZE 64
#endif
#if GROUP_SIZE < 1 || GROUP_SIZE % ORDO_SUBGROUP != 0
#error "GROUP_SIZE must be a multiple of ORDO_SUBGROUP: teams need whole sub-groups"
#endif

#define GROUP_TEAMS      (GROUP_SIZE / TEAM_WIDTH)
#define GROUP_BY_TEAMS   (TEAM_WIDTH >= SCAN_TEAMS_MIN_LANES)
#define GROUP_SCAN_WORDS SCAN_WORDS(GROUP_SIZE, TEAM_WIDTH)

#if GROUP_SIZE == 1

#define GROUP_SCAN_DEFINE(name, type, suffix, combine, identity)                                                       \
    ORDO_FN type group_scan_##name(type x, __local type *scratch, __private type *total)                               \
    {                                                                                                                  \
        (void) scratch;                                                                                                \
        *total = x;                                                                                                    \
        return (identity);                                                                                             \
    }                                                                                                                  \
    ORDO_FN type group_reduce_##name(type x, __local type *scratch)                                                    \
    {                                                                                                                  \
        (void) scratch;                                                                                                \
        return x;                                                                                                      \
    }

#elif GROUP_TEAMS == 1 || GROUP_BY_TEAMS

#define GROUP_SCAN_DEFINE(name, type, suffix, combine, identity)                                                       \
    ORDO_FN type group_team_scan_##name(type x)                                                                        \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint distance = 1; distance < TEAM_WIDTH; distance *= 2) {                                                \
            const type below = team_shuffle_up##suffix(x, distance);                                                   \
            x = team_lane() >= distance ? combine(x, below) : x;                                                       \
        }                                                                                                              \
        return x;                                                                                                      \
    }                                                                                                                  \
    ORDO_FN type group_scan_##name(type x, __local type *scratch, __private type *total)                               \
    {                                                                                                                  \
        const type upto = group_team_scan_##name(x);                                                                   \
        const type below = team_shuffle_up##suffix(upto, 1);                                                           \
        type       before = (identity), all = (identity);                                                              \
        if (GROUP_TEAMS == 1) {                                                                                        \
            all = team_bcast##suffix(upto, TEAM_WIDTH - 1);                                                            \
        } else {                                                                                                       \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            if (team_lane() == TEAM_WIDTH - 1)                                                                         \
                scratch[team_index()] = upto;                                                                          \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            for (uint first = 0; first < GROUP_TEAMS; first += TEAM_WIDTH) {                                           \
                const uint at = first + team_lane();                                                                   \
                const type sums = group_team_scan_##name(at < GROUP_TEAMS ? scratch[at] : (identity));                 \
                const uint lower = team_index() > first ? min(team_index() - first, (uint) TEAM_WIDTH) : 0;            \
                const type these = team_bcast##suffix(sums, lower ? lower - 1 : 0);                                    \
                before = lower ? combine(before, these) : before;                                                      \
                all = combine(all, team_bcast##suffix(sums, TEAM_WIDTH - 1));                                          \
            }                                                                                                          \
        }                                                                                                              \
        *total = all;                                                                                                  \
        return team_lane() == 0 ? before : combine(before, below);                                                     \
    }                                                                                                                  \
    ORDO_FN type group_reduce_##name(type x, __local type *scratch)                                                    \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2) {                                                        \
            const type other = team_shuffle_xor##suffix(x, mask);                                                      \
            x = combine(x, other);                                                                                     \
        }                                                                                                              \
        if (GROUP_TEAMS == 1)                                                                                          \
            return x;                                                                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        if (team_lane() == 0)                                                                                          \
            scratch[team_index()] = x;                                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        type all = (identity);                                                                                         \
        for (uint at = team_lane(); at < GROUP_TEAMS; at += TEAM_WIDTH)                                                \
            all = combine(all, scratch[at]);                                                                           \
        ORDO_UNROLL                                                                                                    \
        for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2) {                                                        \
            const type other = team_shuffle_xor##suffix(all, mask);                                                    \
            all = combine(all, other);                                                                                 \
        }                                                                                                              \
        return all;                                                                                                    \
    }

#else

#define GROUP_SCAN_DEFINE(name, type, suffix, combine, identity)                                                       \
    ORDO_FN type group_scan_##name(type x, __local type *scratch, __private type *total)                               \
    {                                                                                                                  \
        const uint lid = (uint) get_local_id(0);                                                                       \
        uint       from = 0;                                                                                           \
        type       upto = x;                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        scratch[lid] = upto;                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        for (uint distance = 1; distance < GROUP_SIZE; distance *= 2) {                                                \
            if (lid >= distance)                                                                                       \
                upto = combine(scratch[from + lid - distance], upto);                                                  \
            from = GROUP_SIZE - from;                                                                                  \
            scratch[from + lid] = upto;                                                                                \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
        }                                                                                                              \
        *total = scratch[from + GROUP_SIZE - 1];                                                                       \
        return lid == 0 ? (identity) : scratch[from + lid - 1];                                                        \
    }                                                                                                                  \
    ORDO_FN type group_reduce_##name(type x, __local type *scratch)                                                    \
    {                                                                                                                  \
        type total;                                                                                                    \
        (void) group_scan_##name(x, scratch, &total);                                                                  \
        return total;                                                                                                  \
    }

#endif

#define GROUP_ADD_(a, b) ((a) + (b))
GROUP_SCAN_DEFINE(add, uint, , GROUP_ADD_, 0u)
GROUP_SCAN_DEFINE(add64, ulong, 64, GROUP_ADD_, 0ul)
