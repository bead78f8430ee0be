/* SPDX-License-Identifier: Apache-2.0 */
/* The device's facts, and compiler-specific spellings of functions and kernels.
 *
 * The host defines (host/runtime/program.c), by fact and never by vendor:
 *   ORDO_LANES            exchange between lanes: ORDO_LANES_ONE, _KHR, _NVIDIA, _AMD (team.cl)
 *   ORDO_ATOMICS          order between groups: ORDO_ATOMICS_LEGACY, _C11, _NVIDIA (atomic.cl)
 *   ORDO_SUBGROUP         lanes of a sub-group; 1 with ORDO_LANES_ONE
 *   ORDO_KHR_BALLOT       1 with cl_khr_subgroup_ballot
 *   ORDO_KHR_SHUFFLE      1 with cl_khr_subgroup_shuffle
 *   ORDO_INTEL_SUB_GROUPS 1 with cl_intel_required_subgroup_size: kernels fix the size of their sub-groups
 *   ORDO_INT64_ATOMICS    1 with cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics
 *   ORDO_CPU              1 on a CPU: no barriers for speed, contiguous chunks per work-item
 *   ORDO_ADDRESS_ORDER    1 if a read at an address that depends on another read comes after it, without a fence
 *   ORDO_CHECKED          1 for simulators that detect data races (tests/conformance/oclgrind.sh): every function of
 *                         atomic.cl is an atomic update, so each other race is a fault
 * The defaults are the minimum of all devices, so each file compiles alone. */
#pragma once
#include "shared/types.h"

/* enum ordo_lanes and enum ordo_atomics of include/ordo/device.h. */
#define ORDO_LANES_ONE      0
#define ORDO_LANES_KHR      1
#define ORDO_LANES_NVIDIA   2
#define ORDO_LANES_AMD      3
#define ORDO_ATOMICS_LEGACY 0
#define ORDO_ATOMICS_C11    1
#define ORDO_ATOMICS_NVIDIA 2

#ifndef ORDO_LANES
#define ORDO_LANES ORDO_LANES_ONE
#endif
#ifndef ORDO_ATOMICS
#define ORDO_ATOMICS ORDO_ATOMICS_LEGACY
#endif
#ifndef ORDO_SUBGROUP
#define ORDO_SUBGROUP 1
#endif
#ifndef ORDO_KHR_BALLOT
#define ORDO_KHR_BALLOT 0
#endif
#ifndef ORDO_KHR_SHUFFLE
#define ORDO_KHR_SHUFFLE 0
#endif
#ifndef ORDO_INTEL_SUB_GROUPS
#define ORDO_INTEL_SUB_GROUPS 0
#endif
#ifndef ORDO_INT64_ATOMICS
#define ORDO_INT64_ATOMICS 0
#endif
#ifndef ORDO_CPU
#define ORDO_CPU 0
#endif
#ifndef ORDO_ADDRESS_ORDER
#define ORDO_ADDRESS_ORDER 0
#endif
#ifndef ORDO_CHECKED
#define ORDO_CHECKED 0
#endif
#if ORDO_CHECKED /* simulators keep order, and tests may claim better atomics */
#undef ORDO_ATOMICS
#define ORDO_ATOMICS ORDO_ATOMICS_LEGACY
#endif

#if ORDO_SUBGROUP < 1 || ORDO_SUBGROUP > 64 || (ORDO_SUBGROUP & (ORDO_SUBGROUP - 1))
#error "ORDO_SUBGROUP must be a power of two up to 64: a ballot is one bit per lane of a 64-bit word"
#endif
#if ORDO_LANES == ORDO_LANES_ONE && ORDO_SUBGROUP != 1
#error "ORDO_SUBGROUP must be 1 where lanes cannot talk"
#endif
#if ORDO_LANES == ORDO_LANES_NVIDIA && ORDO_SUBGROUP != 32
#error "ORDO_SUBGROUP must be 32 with PTX: a warp"
#endif
#if ORDO_LANES == ORDO_LANES_AMD && ORDO_SUBGROUP != 32 && ORDO_SUBGROUP != 64
#error "ORDO_SUBGROUP must be 32 or 64 with AMD's builtins: a wave"
#endif
#if ORDO_LANES == ORDO_LANES_AMD && defined(__AMDGCN_WAVEFRONT_SIZE__)
#if ORDO_SUBGROUP != __AMDGCN_WAVEFRONT_SIZE__
#error "ORDO_SUBGROUP is not the wave size that this compiler generates code for"
#endif
#endif
#if ORDO_LANES == ORDO_LANES_KHR && !ORDO_KHR_SHUFFLE
#error                                                                                                                 \
    "ORDO_LANES_KHR needs cl_khr_subgroup_shuffle: broadcasts from a lane that differs between lanes have no other form"
#endif

#if ORDO_INT64_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
#if ORDO_LANES == ORDO_LANES_KHR && defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif

/* Put this before a loop of constant length that indexes a register array, which would otherwise be in memory. */
#define ORDO_UNROLL _Pragma("unroll")

/* Put this before a loop to keep it rolled, because longer code compiles longer. */
#define ORDO_KEEP_LOOP _Pragma("unroll 1")

/* Put this before __kernel of every kernel that uses team.cl with the caller's group size. It fixes the sub-group's
 * size if the compiler would choose it. Devices without that size reject the kernel. */
#if ORDO_LANES == ORDO_LANES_KHR && ORDO_INTEL_SUB_GROUPS
#define ORDO_TEAM_KERNEL __attribute__((intel_reqd_sub_group_size(ORDO_SUBGROUP)))
#else
#define ORDO_TEAM_KERNEL
#endif

/* Begins a kernel of groups of exactly `group` work-items: ORDO_KERNEL(GROUP_SIZE) void name(...). The size shows
 * compilers how many registers a work-item may have. Some allow no group above 256 without it. It would override
 * ORDO_MAX_REGISTERS. */
#ifdef ORDO_MAX_REGISTERS
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel
#else
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel __attribute__((reqd_work_group_size(group, 1, 1)))
#endif

/* Prefetches the cache line at any address p, on CPUs only: GPUs hide latency otherwise. prefetch() does nothing in
 * PoCL and aborts in the Rusticl of Mesa 22. Clang's builtin accepts no pointer to a separate address space, such as
 * SPIR-V's. */
#if ORDO_CPU && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define ORDO_PREFETCH(p) __builtin_prefetch(p)
#else
#define ORDO_PREFETCH(p) ((void) (p))
#endif

/* Reads that spare the caches. The data must not change in this launch, and should not be read again soon. A 16-byte
 * read begins at a multiple of 16. */
#if ORDO_LANES == ORDO_LANES_NVIDIA
ORDO_FN uint ordo_read_once(__global const uint *p)
{
    uint v;
    __asm__("ld.global.cs.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
ORDO_FN ulong ordo_read64_once(__global const ulong *p)
{
    ulong v;
    __asm__("ld.global.cs.u64 %0, [%1];" : "=l"(v) : "l"(p));
    return v;
}
ORDO_FN uint4 ordo_read128_once(__global const uint4 *p)
{
    uint4 v;
    __asm__("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
#else
#define ordo_read_once(p)    (*(p))
#define ordo_read64_once(p)  (*(p))
#define ordo_read128_once(p) (*(p))
#endif
