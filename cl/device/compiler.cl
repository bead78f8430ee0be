/* SPDX-License-Identifier: Apache-2.0 */
/* Hides differences between OpenCL compilers. The host (host/runtime/program.c) defines these properties of the device:
 *  ORDO_LANES            how lanes exchange values: ORDO_LANES_ONE, _KHR, _NVIDIA or _AMD (team.cl)
 *  ORDO_ATOMICS          how memory is ordered between groups: ORDO_ATOMICS_LEGACY, _C11 or _NVIDIA (atomic.cl)
 *  ORDO_SUBGROUP         number of lanes in a sub-group, 1 with ORDO_LANES_ONE
 *  ORDO_KHR_BALLOT       1 with cl_khr_subgroup_ballot
 *  ORDO_KHR_SHUFFLE      1 with cl_khr_subgroup_shuffle
 *  ORDO_INTEL_SUB_GROUPS 1 with cl_intel_required_subgroup_size
 *  ORDO_INT64_ATOMICS    1 with cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics
 *  ORDO_CPU              1 on a CPU
 *  ORDO_ADDRESS_ORDER    1 if a load waits for an earlier load that its address depends on
 *  ORDO_CHECKED          1 for simulators that detect data races (tests/conformance/oclgrind.sh) */
#pragma once
#include "shared/types.h"

/* The values must equal those in enum ordo_lanes and enum ordo_atomics (include/ordo/device.h). */
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
/* A simulator reports plain accesses that race. With ORDO_CHECKED, atomic.cl uses only atomic updates, which the
 * simulator does not report. */
#if ORDO_CHECKED
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

/* Unrolls the next loop, which must have constant bounds. Arrays indexed in it stay in registers. */
#define ORDO_UNROLL _Pragma("unroll")

/* Keeps the compiler from unrolling the next loop, so that it compiles faster. */
#define ORDO_KEEP_LOOP _Pragma("unroll 1")

/* Fixes a kernel's sub-group size. */
#if ORDO_LANES == ORDO_LANES_KHR && ORDO_INTEL_SUB_GROUPS
#define ORDO_TEAM_KERNEL __attribute__((intel_reqd_sub_group_size(ORDO_SUBGROUP)))
#else
#define ORDO_TEAM_KERNEL
#endif

/* Begins a kernel for work-groups of exactly `group` work-items. With ORDO_MAX_REGISTERS, omits this size, because
 * compilers would derive a register limit from the size. */
#ifdef ORDO_MAX_REGISTERS
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel
#else
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel __attribute__((reqd_work_group_size(group, 1, 1)))
#endif

#if ORDO_CPU && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define ORDO_PREFETCH(p) __builtin_prefetch(p)
#else
#define ORDO_PREFETCH(p) ((void) (p))
#endif

/* Loads that do not keep the data in caches. No work-item may write the data in the same launch. */
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
