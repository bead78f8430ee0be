/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for lanes that work together on one item. Lanes are the ORDO_SUBGROUP work-items of a sub-group, which run
 * in step. A *team* is TEAM_WIDTH neighbouring lanes of a sub-group.
 *
 * Preconditions, unless a function states others:
 *  Called by   All lanes of the SUB-GROUP must call, from uniform control flow, even if a team has fewer lanes. No lane
 *              may have returned from the kernel.
 *  Groups      Work-groups have a multiple of ORDO_SUBGROUP work-items, in one dimension.
 *  Memory      Only team_sync makes a lane's writes to local memory visible to other lanes.
 *  lane        Arguments named `lane` are less than TEAM_WIDTH. */
#pragma once
#include "device/compiler.cl"

#ifndef TEAM_WIDTH
#define TEAM_WIDTH ORDO_SUBGROUP
#endif
#if TEAM_WIDTH < 1 || TEAM_WIDTH > ORDO_SUBGROUP || (TEAM_WIDTH & (TEAM_WIDTH - 1))
#error "TEAM_WIDTH must be a power of two and at most ORDO_SUBGROUP: a team never spans two sub-groups"
#endif

#if TEAM_WIDTH > 32
typedef ulong team_mask;
#define TEAM_ALL_LANES 0xffffffffffffffffUL
#else
typedef uint team_mask;
#define TEAM_ALL_LANES (0xffffffffu >> (32 - TEAM_WIDTH))
#endif
#if ORDO_SUBGROUP > 32
typedef ulong subgroup_mask;
#define SUBGROUP_ALL_LANES 0xffffffffffffffffUL
#else
typedef uint subgroup_mask;
#define SUBGROUP_ALL_LANES (0xffffffffu >> (32 - ORDO_SUBGROUP))
#endif

/* Lanes of a sub-group may run separately in a branch. 1 if the device may keep them apart after the branch. */
#define SUBGROUP_MAY_PART (ORDO_LANES == ORDO_LANES_NVIDIA)

/* ---- the hardware: lane, subgroup_ballot, shuffles, sync ------------------------------------------------------- */

/* Each implementation below defines the following functions, among others. The suffix 64 means 64 bits.
 *  subgroup_agree(word, bit)      mask of the lanes whose words have the same bit at position `bit` as this lane's word
 *  team_shuffle(x, lane)          the x of lane number `lane`, which may differ between lanes
 *  team_shuffle_xor(x, mask)      the x of lane (this lane ^ mask)
 *  team_shuffle_up(x, distance)   the x of lane (this lane - distance), or this lane's x if there is none
 * `mask` and `distance` are less than TEAM_WIDTH, and equal in all lanes. */

#if ORDO_LANES == ORDO_LANES_ONE

ORDO_FN uint subgroup_lane(void)
{
    return 0;
}
ORDO_FN subgroup_mask subgroup_ballot(bool p)
{
    return p;
}
ORDO_FN bool subgroup_any(bool p)
{
    return p;
}
ORDO_FN void subgroup_sync(void)
{
}

#elif ORDO_LANES == ORDO_LANES_KHR

ORDO_FN uint subgroup_lane(void)
{
    return get_sub_group_local_id();
}

ORDO_FN subgroup_mask subgroup_ballot(bool p)
{
#if ORDO_KHR_BALLOT && ORDO_SUBGROUP > 32
    const uint4 lanes = sub_group_ballot(p);
    return upsample(lanes.y, lanes.x);
#elif ORDO_KHR_BALLOT
    return sub_group_ballot(p).x;
#else
    return sub_group_reduce_add(p ? (subgroup_mask) 1 << subgroup_lane() : (subgroup_mask) 0);
#endif
}

ORDO_FN bool subgroup_any(bool p)
{
    return sub_group_any(p) != 0;
}
ORDO_FN void subgroup_sync(void)
{
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
}

#elif ORDO_LANES == ORDO_LANES_NVIDIA

ORDO_FN uint subgroup_lane(void)
{
    return (uint) get_local_id(0) % 32;
}

/* Without `volatile`, compilers may move the vote into a branch. It would then wait for lanes in the other branch. */
ORDO_FN subgroup_mask subgroup_ballot(bool p)
{
    uint lanes;
    __asm__ volatile("{\n\t"
                     ".reg .pred holds;\n\t"
                     "setp.ne.u32 holds, %1, 0;\n\t"
                     "vote.sync.ballot.b32 %0, holds, 0xffffffff;\n\t"
                     "}"
                     : "=r"(lanes)
                     : "r"((uint) p));
    return lanes;
}

ORDO_FN bool subgroup_any(bool p)
{
    return subgroup_ballot(p) != 0;
}

ORDO_FN subgroup_mask subgroup_agree(uint word, uint bit)
{
    uint lanes;
    __asm__ volatile("{\n\t"
                     ".reg .pred set;\n\t"
                     "and.b32 %0, %1, %2;\n\t"
                     "setp.ne.u32 set, %0, 0;\n\t"
                     "vote.sync.ballot.b32 %0, set, 0xffffffff;\n\t"
                     "@!set not.b32 %0, %0;\n\t"
                     "}"
                     : "=&r"(lanes)
                     : "r"(word), "r"(1u << bit));
    return lanes;
}

ORDO_FN void subgroup_sync(void)
{
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/* Operand c of the PTX instruction shfl, which limits a shuffle to a team. The upper byte is the segment mask, the
 * lower byte the clamp. */
#define TEAM_FIXED_2_         "0x1e"
#define TEAM_FIXED_4_         "0x1c"
#define TEAM_FIXED_8_         "0x18"
#define TEAM_FIXED_16_        "0x10"
#define TEAM_FIXED_32_        "0x00"
#define TEAM_FIXED_OF_(lanes) TEAM_FIXED_##lanes##_
#define TEAM_FIXED_(lanes)    TEAM_FIXED_OF_(lanes)
#define TEAM_SEGMENT_         TEAM_FIXED_(TEAM_WIDTH) "1f"
#define TEAM_SEGMENT_UP_      TEAM_FIXED_(TEAM_WIDTH) "00"

#elif ORDO_LANES == ORDO_LANES_AMD

ORDO_FN uint subgroup_lane(void)
{
    return (uint) get_local_id(0) % ORDO_SUBGROUP;
}

#ifdef __has_builtin
#if ORDO_SUBGROUP == 64 && __has_builtin(__builtin_amdgcn_ballot_w64)
#define SUBGROUP_BALLOT_(p) __builtin_amdgcn_ballot_w64(p)
#elif ORDO_SUBGROUP == 32 && __has_builtin(__builtin_amdgcn_ballot_w32)
#define SUBGROUP_BALLOT_(p) __builtin_amdgcn_ballot_w32(p)
#endif
#endif
#ifndef SUBGROUP_BALLOT_
/* Compilers before LLVM 16 have this builtin. The constant 33 is LLVM's code for "not equal". */
#define SUBGROUP_BALLOT_(p) __builtin_amdgcn_uicmp((uint) (p), 0u, 33)
#endif
ORDO_FN subgroup_mask subgroup_ballot(bool p)
{
    return (subgroup_mask) SUBGROUP_BALLOT_(p);
}

ORDO_FN bool subgroup_any(bool p)
{
    return subgroup_ballot(p) != 0;
}

ORDO_FN void subgroup_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
}

#else
#error "ORDO_LANES is none of the ORDO_LANES_ values of compiler.cl"
#endif

#if ORDO_LANES != ORDO_LANES_NVIDIA
ORDO_FN subgroup_mask subgroup_agree(uint word, uint bit)
{
    const bool set = word >> bit & 1;
    return subgroup_ballot(set) ^ (set ? (subgroup_mask) 0 : SUBGROUP_ALL_LANES);
}
#endif

/* ---- lane numbers and masks ------------------------------------------------------------------------------------ */

ORDO_FN uint team_index(void)
{
    return (uint) get_local_id(0) / TEAM_WIDTH;
}

/* Callers may be in divergent control flow. */
ORDO_FN uint team_lane(void)
{
    return subgroup_lane() % TEAM_WIDTH;
}

ORDO_FN uint team_base_(void)
{
    return subgroup_lane() & ~(TEAM_WIDTH - 1u);
}

ORDO_FN team_mask team_lanes_below(void)
{
    return ((team_mask) 1 << team_lane()) - 1;
}

/* The mask passed to first_lane or last_lane must not be 0. */
#if TEAM_WIDTH > 32
ORDO_FN uint mask_count(team_mask lanes)
{
    return (uint) popcount(lanes);
}
ORDO_FN uint first_lane(team_mask lanes)
{
    return 63 - (uint) clz(lanes & (0 - lanes));
}
ORDO_FN uint last_lane(team_mask lanes)
{
    return 63 - (uint) clz(lanes);
}
#else
ORDO_FN uint mask_count(team_mask lanes)
{
    return popcount(lanes);
}
ORDO_FN uint first_lane(team_mask lanes)
{
    return 31 - clz(lanes & (0 - lanes));
}
ORDO_FN uint last_lane(team_mask lanes)
{
    return 31 - clz(lanes);
}
#endif

ORDO_FN team_mask team_part_(subgroup_mask lanes)
{
#if TEAM_WIDTH == ORDO_SUBGROUP
    return lanes;
#else
    return (team_mask) (lanes >> team_base_()) & TEAM_ALL_LANES;
#endif
}

/* ---- votes and shuffles ---------------------------------------------------------------------------------------- */

ORDO_FN team_mask team_ballot(bool p)
{
#if TEAM_WIDTH == 1
    return p;
#else
    return team_part_(subgroup_ballot(p));
#endif
}

ORDO_FN bool team_any(bool p)
{
    return team_ballot(p) != 0;
}
ORDO_FN bool team_all(bool p)
{
    return team_ballot(p) == TEAM_ALL_LANES;
}

#if TEAM_WIDTH == 1

ORDO_FN uint team_shuffle(uint x, uint lane)
{
    return x;
}
ORDO_FN uint team_shuffle_xor(uint x, uint mask)
{
    return x;
}
ORDO_FN uint team_shuffle_up(uint x, uint distance)
{
    return x;
}
ORDO_FN ulong team_shuffle64(ulong x, uint lane)
{
    return x;
}
ORDO_FN ulong team_shuffle_xor64(ulong x, uint mask)
{
    return x;
}
ORDO_FN ulong team_shuffle_up64(ulong x, uint distance)
{
    return x;
}

#else

#if ORDO_LANES == ORDO_LANES_KHR

ORDO_FN uint team_shuffle(uint x, uint lane)
{
    return sub_group_shuffle(x, team_base_() + lane % TEAM_WIDTH);
}

ORDO_FN uint team_shuffle_xor(uint x, uint mask)
{
    return sub_group_shuffle_xor(x, mask);
}

ORDO_FN uint team_shuffle_up(uint x, uint distance)
{
    const uint lane = team_lane();
    return team_shuffle(x, lane >= distance ? lane - distance : lane);
}

#elif ORDO_LANES == ORDO_LANES_NVIDIA

#define TEAM_SHUFFLE_(kind, segment)                                                                                   \
    uint y;                                                                                                            \
    __asm__ volatile("shfl.sync." kind ".b32 %0, %1, %2, " segment ", 0xffffffff;" : "=r"(y) : "r"(x), "r"(by));       \
    return y

ORDO_FN uint team_shuffle(uint x, uint by)
{
    TEAM_SHUFFLE_("idx", TEAM_SEGMENT_);
}
ORDO_FN uint team_shuffle_xor(uint x, uint by)
{
    TEAM_SHUFFLE_("bfly", TEAM_SEGMENT_);
}
ORDO_FN uint team_shuffle_up(uint x, uint by)
{
    TEAM_SHUFFLE_("up", TEAM_SEGMENT_UP_);
}

ORDO_FN uint team_add_up_(uint x, uint distance)
{
    __asm__ volatile("{\n\t"
                     ".reg .u32 below;\n\t"
                     ".reg .pred there;\n\t"
                     "shfl.sync.up.b32 below|there, %0, %1, " TEAM_SEGMENT_UP_ ", 0xffffffff;\n\t"
                     "@there add.u32 %0, %0, below;\n\t"
                     "}"
                     : "+r"(x)
                     : "r"(distance));
    return x;
}

#elif ORDO_LANES == ORDO_LANES_AMD

/* Only on these processors can ds_bpermute read every lane of a wave of 64. */
#if TEAM_WIDTH <= 32 || defined(__GFX8__) || defined(__GFX9__) || defined(__gfx803__) || defined(__gfx900__) ||        \
    defined(__gfx902__) || defined(__gfx904__) || defined(__gfx906__) || defined(__gfx908__) || defined(__gfx909__) || \
    defined(__gfx90a__) || defined(__gfx90c__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
ORDO_FN uint team_shuffle(uint x, uint lane)
{
    return (uint) __builtin_amdgcn_ds_bpermute((int) ((team_base_() + lane % TEAM_WIDTH) * 4), (int) x);
}
#else
ORDO_FN uint team_shuffle(uint x, uint lane)
{
    uint y = 0;
    for (uint from = 0; from < 64; from++) {
        const uint sent = (uint) __builtin_amdgcn_readlane((int) x, (int) from);
        y = lane % 64 == from ? sent : y;
    }
    return y;
}
#endif

ORDO_FN uint team_shuffle_xor(uint x, uint mask)
{
    return team_shuffle(x, team_lane() ^ mask);
}

ORDO_FN uint team_shuffle_up(uint x, uint distance)
{
    const uint lane = team_lane();
    return team_shuffle(x, lane >= distance ? lane - distance : lane);
}

#endif

ORDO_FN ulong team_shuffle64(ulong x, uint lane)
{
    const uint low = team_shuffle((uint) x, lane), high = team_shuffle((uint) (x >> 32), lane);
    return upsample(high, low);
}

ORDO_FN ulong team_shuffle_xor64(ulong x, uint mask)
{
    const uint low = team_shuffle_xor((uint) x, mask), high = team_shuffle_xor((uint) (x >> 32), mask);
    return upsample(high, low);
}

ORDO_FN ulong team_shuffle_up64(ulong x, uint distance)
{
    const uint low = team_shuffle_up((uint) x, distance), high = team_shuffle_up((uint) (x >> 32), distance);
    return upsample(high, low);
}

#endif

ORDO_FN uint team_bcast(uint x, uint lane)
{
    return team_shuffle(x, lane);
}
ORDO_FN ulong team_bcast64(ulong x, uint lane)
{
    return team_shuffle64(x, lane);
}

/* ---- scans and reductions over the team ------------------------------------------------------------------------ */

#if ORDO_LANES != ORDO_LANES_NVIDIA || TEAM_WIDTH == 1
ORDO_FN uint team_add_up_(uint x, uint distance)
{
    const uint below = team_shuffle_up(x, distance);
    return x + (team_lane() >= distance ? below : 0);
}
#endif

ORDO_FN uint team_scan_inclusive_add(uint x)
{
    ORDO_UNROLL
    for (uint distance = 1; distance < TEAM_WIDTH; distance *= 2)
        x = team_add_up_(x, distance);
    return x;
}

ORDO_FN ulong team_scan_inclusive_add64(ulong x)
{
    ORDO_UNROLL
    for (uint distance = 1; distance < TEAM_WIDTH; distance *= 2) {
        const ulong below = team_shuffle_up64(x, distance);
        x += team_lane() >= distance ? below : 0;
    }
    return x;
}

ORDO_FN uint team_scan_exclusive_add(uint x)
{
    return team_scan_inclusive_add(x) - x;
}
ORDO_FN ulong team_scan_exclusive_add64(ulong x)
{
    return team_scan_inclusive_add64(x) - x;
}

ORDO_FN uint team_reduce_add(uint x)
{
    ORDO_UNROLL
    for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2)
        x += team_shuffle_xor(x, mask);
    return x;
}

ORDO_FN ulong team_reduce_add64(ulong x)
{
    ORDO_UNROLL
    for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2)
        x += team_shuffle_xor64(x, mask);
    return x;
}

ORDO_FN uint team_reduce_max(uint x)
{
    ORDO_UNROLL
    for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2)
        x = max(x, team_shuffle_xor(x, mask));
    return x;
}

ORDO_FN ulong team_reduce_max64(ulong x)
{
    ORDO_UNROLL
    for (uint mask = TEAM_WIDTH / 2; mask > 0; mask /= 2)
        x = max(x, team_shuffle_xor64(x, mask));
    return x;
}

/* Returns the lanes of the team whose digit has the same lowest `bits` bits as this lane's. `bits` is a compile-time
 * constant. */
ORDO_FN team_mask team_match(uint digit, int bits)
{
#if TEAM_WIDTH == 1
    return 1;
#else
    subgroup_mask peers = SUBGROUP_ALL_LANES;
    ORDO_UNROLL
    for (int bit = 0; bit < bits; bit++)
        peers &= subgroup_agree(digit, (uint) bit);
    return team_part_(peers);
#endif
}

/* ---- order and turns ------------------------------------------------------------------------------------------- */

ORDO_FN void team_sync(void)
{
    subgroup_sync();
}

/* Makes earlier writes to global memory visible to the sub-group. */
ORDO_FN void team_sync_global(void)
{
#if ORDO_LANES == ORDO_LANES_KHR
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#else
    subgroup_sync();
#endif
}

ORDO_FN uint team_next_(team_mask lanes)
{
    return lanes ? first_lane(lanes) : TEAM_WIDTH;
}

/* Runs the loop body once for each lane whose has_work is true. The whole team then works on the item of lane `owner`.
 * The body must not contain break or return.
 *
 * A team without further work runs the body until all teams of the sub-group finish. `owner` is then TEAM_WIDTH, which
 * is no lane. The body may write only if `team_lane() == owner`. Ashkiani et al., A Dynamic Hash Table for the GPU
 * (IPDPS 2018), section IV. */

#if TEAM_WIDTH == ORDO_SUBGROUP
#define TEAM_MORE_(left) ((left) != 0)
#else
#define TEAM_MORE_(left) subgroup_any((left) != 0)
#endif
#define TEAM_FOR_EACH(owner, has_work)                                                                                 \
    for (team_mask left_ = team_ballot(has_work), owner = team_next_(left_); TEAM_MORE_(left_);                        \
         left_ &= left_ - 1, owner = team_next_(left_))
