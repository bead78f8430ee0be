/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for a team (device/team.cl) while other teams of its sub-group may be in another branch. All lanes of the
 * team must call from the same branch. Only apart_sync orders memory accesses of different lanes. Arguments named
 * `lane` are less than TEAM_WIDTH. */
#pragma once
#include "device/team.cl"

#if ORDO_LANES == ORDO_LANES_KHR && TEAM_WIDTH > 1 && TEAM_WIDTH < ORDO_SUBGROUP
#error "with Khronos sub-groups, TEAM_WIDTH must be 1 or ORDO_SUBGROUP: all lanes of a sub-group take the same branch"
#endif

#if ORDO_LANES == ORDO_LANES_NVIDIA && TEAM_WIDTH > 1 && TEAM_WIDTH < ORDO_SUBGROUP

ORDO_FN uint apart_members_(void)
{
    return TEAM_ALL_LANES << team_base_();
}

ORDO_FN team_mask apart_ballot(bool p)
{
    uint lanes;
    __asm__ volatile("{\n\t"
                     ".reg .pred holds;\n\t"
                     "setp.ne.u32 holds, %1, 0;\n\t"
                     "vote.sync.ballot.b32 %0, holds, %2;\n\t"
                     "}"
                     : "=r"(lanes)
                     : "r"((uint) p), "r"(apart_members_()));
    return team_part_(lanes);
}

ORDO_FN uint apart_shuffle(uint x, uint lane)
{
    uint y;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, " TEAM_SEGMENT_ ", %3;"
                     : "=r"(y)
                     : "r"(x), "r"(lane), "r"(apart_members_()));
    return y;
}

ORDO_FN void apart_sync(void)
{
    __asm__ volatile("bar.warp.sync %0;" ::"r"(apart_members_()) : "memory");
}

#else

/* AMD instructions of team.cl ignore lanes in another branch. On other devices, TEAM_WIDTH is here 1 or the size of a
 * sub-group. */
ORDO_FN team_mask apart_ballot(bool p)
{
    return team_ballot(p);
}

ORDO_FN uint apart_shuffle(uint x, uint lane)
{
    return team_shuffle(x, lane);
}

ORDO_FN void apart_sync(void)
{
#if TEAM_WIDTH > 1
    team_sync_global();
#endif
}

#endif

ORDO_FN bool apart_all(bool p)
{
    return apart_ballot(p) == TEAM_ALL_LANES;
}

ORDO_FN ulong apart_shuffle64(ulong x, uint lane)
{
#if TEAM_WIDTH == 1
    return x;
#else
    const uint low = apart_shuffle((uint) x, lane), high = apart_shuffle((uint) (x >> 32), lane);
    return upsample(high, low);
#endif
}

ORDO_FN ulong2 apart_shuffle128(ulong2 x, uint lane)
{
    return (ulong2) (apart_shuffle64(x.x, lane), apart_shuffle64(x.y, lane));
}

ORDO_FN uint apart_first(uint x)
{
    return apart_shuffle(x, 0);
}

ORDO_FN bool apart_leads(void)
{
    return team_lane() == 0;
}
