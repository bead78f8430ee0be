/* SPDX-License-Identifier: Apache-2.0 */
/* What the host tells every kernel about the device, and how functions and kernels are spelled for its compiler.
 *
 * The host gives (host/runtime/program.c), by fact and never by vendor:
 *   ORDO_LANES         how lanes talk: ORDO_LANES_ONE, _KHR, _NVIDIA, _AMD (team.cl)
 *   ORDO_ATOMICS       how order between work-groups is spelled: ORDO_ATOMICS_LEGACY, _C11, _NVIDIA (atomic.cl)
 *   ORDO_SUBGROUP      lanes of a sub-group; 1 with ORDO_LANES_ONE
 *   ORDO_KHR_BALLOT    1 if cl_khr_subgroup_ballot is there (with ORDO_LANES_KHR)
 *   ORDO_KHR_SHUFFLE   1 if cl_khr_subgroup_shuffle is there; ORDO_LANES_KHR is not chosen without it
 *   ORDO_INTEL_SUB_GROUPS 1 if cl_intel_required_subgroup_size is there: kernels fix the size of their sub-groups
 *   ORDO_INT64_ATOMICS 1 if cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics are there
 *   ORDO_CPU           1 on a CPU: no barriers for speed, contiguous chunks per work-item
 *   ORDO_ADDRESS_ORDER 1 if a read at an address that hangs on another read comes after it, without a fence (atomic.cl)
 * And a simulator that looks for data races may be given (tests/conformance/oclgrind.sh):
 *   ORDO_CHECKED       1: what may race goes through the functions of atomic.cl and is an atomic update in each of them, so
 *                      that any other access that races is a mistake
 * The defaults below are the least that any device can, so that each file also compiles alone.
 */
#pragma once
#include "shared/types.h"

/* The numbers are those of enum ordo_lanes and enum ordo_atomics in include/ordo/device.h. */
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
#if ORDO_CHECKED /* in order all the same, on a simulator: tests may say that the device has better ones */
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

/* Before a loop of constant length whose body indexes a register array: without it the array would go to memory. */
#define ORDO_UNROLL _Pragma("unroll")

/* Before one that should stay a loop: code that is longer is compiled longer. */
#define ORDO_KEEP_LOOP _Pragma("unroll 1")

/* Before __kernel of every kernel that uses team.cl with a group size of the caller's choice: fixes the sub-group's
 * size where the compiler would else choose it. A device that has no such size refuses the kernel. */
#if ORDO_LANES == ORDO_LANES_KHR && ORDO_INTEL_SUB_GROUPS
#define ORDO_TEAM_KERNEL __attribute__((intel_reqd_sub_group_size(ORDO_SUBGROUP)))
#else
#define ORDO_TEAM_KERNEL
#endif

/* Begins a kernel that runs in groups of exactly `group` work-items: ORDO_KERNEL(GROUP_SIZE) void name(...).
 * Compilers then know how many registers a work-item may have; some allow no group above 256 without it. Where the host
 * limits the registers itself (ORDO_MAX_REGISTERS, which it sets only where the driver has such an option) the attribute
 * is left out: NVIDIA's compiler would let it overrule the limit. */
#ifdef ORDO_MAX_REGISTERS
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel
#else
#define ORDO_KERNEL(group) ORDO_TEAM_KERNEL __kernel __attribute__((reqd_work_group_size(group, 1, 1)))
#endif

/* Asks for the cache line at p, which may be any address. On CPUs only: GPUs hide latency otherwise. prefetch() does
 * nothing in PoCL, and ends the program in the Rusticl of Mesa 22; Clang's builtin takes no pointer of an address space
 * that is one on the target, as on SPIR-V, which is no processor's own code and may be called anything. */
#if ORDO_CPU && defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define ORDO_PREFETCH(p) __builtin_prefetch(p)
#else
#define ORDO_PREFETCH(p) ((void) (p))
#endif

/* Reads of what nobody writes meanwhile and is not asked for again soon, so that the caches rather keep the rest. Where
 * there is no way to say so, they are reads as all others. At 16 bytes, p is a multiple of 16. */
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
