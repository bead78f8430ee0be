/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered loads and stores, and atomic updates, of words that work-groups share.
 *
 * Any work-item may call these functions from any control flow. Each accesses one word of 32 bits (suffix 64: of 64
 * bits, only with ORDO_INT64_ATOMICS), atomically among all work-items of the device.
 *
 *   relaxed   orders no other memory. It reads no cache that another group's store does not reach, so a loop that waits
 *             for a change sees it.
 *   acquire   Later accesses of this work-item happen after it.
 *   release   Earlier accesses of this work-item happen before it.
 *   Pairs     An acquire load that reads a release store's word sees everything that the storing work-item did before.
 *             A barrier (global fence) before the store and one after the load extend this to their groups.
 *
 * mem_fence and barrier order nothing between work-groups. A plain load of data that other groups write in the same
 * launch may be stale, even after an acquire by ANOTHER work-item of this group, unless a barrier lies between. It is
 * cheapest to need no order: put flag and payload in one word and use relaxed accesses.
 *
 * In a launch, only these functions may access such a word. An acquire discards a compute unit's whole first-level
 * cache. Atomic loads are read-modify-writes on some devices. With ORDO_ATOMICS_LEGACY (OpenCL 1.2) order between
 * groups is undefined, and the host chooses no algorithm that needs it (ordo_facts.groups_progress). */
#pragma once
#include "device/compiler.cl"

/* ---- ordered loads and stores ---------------------------------------------------------------------------------- */

#if ORDO_ATOMICS == ORDO_ATOMICS_LEGACY

/* OpenCL 1.2 lacks atomic loads and stores: an update without a change and an exchange replace them. */
ORDO_FN uint ordo_load_relaxed(volatile __global uint *p)
{
    return atomic_or(p, 0u);
}
ORDO_FN void ordo_store_relaxed(volatile __global uint *p, uint v)
{
    (void) atomic_xchg(p, v);
}
ORDO_FN void ordo_fence_device(void)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_relaxed64(volatile __global ulong *p)
{
    return atom_or(p, 0ul);
}
ORDO_FN void ordo_store_relaxed64(volatile __global ulong *p, ulong v)
{
    (void) atom_xchg(p, v);
}
#endif

#elif ORDO_ATOMICS == ORDO_ATOMICS_C11

ORDO_FN uint ordo_load_relaxed(volatile __global uint *p)
{
    return atomic_load_explicit((volatile __global atomic_uint *) p, memory_order_relaxed, memory_scope_device);
}

ORDO_FN void ordo_store_relaxed(volatile __global uint *p, uint v)
{
    atomic_store_explicit((volatile __global atomic_uint *) p, v, memory_order_relaxed, memory_scope_device);
}

ORDO_FN void ordo_fence_device(void)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_relaxed64(volatile __global ulong *p)
{
    return atomic_load_explicit((volatile __global atomic_ulong *) p, memory_order_relaxed, memory_scope_device);
}

ORDO_FN void ordo_store_relaxed64(volatile __global ulong *p, ulong v)
{
    atomic_store_explicit((volatile __global atomic_ulong *) p, v, memory_order_relaxed, memory_scope_device);
}
#endif

#elif ORDO_ATOMICS == ORDO_ATOMICS_NVIDIA

ORDO_FN uint ordo_load_relaxed(volatile __global uint *p)
{
    uint v;
    __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

ORDO_FN void ordo_store_relaxed(volatile __global uint *p, uint v)
{
    __asm__ volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

ORDO_FN void ordo_fence_device(void)
{
    __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_relaxed64(volatile __global ulong *p)
{
    ulong v;
    __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

ORDO_FN void ordo_store_relaxed64(volatile __global ulong *p, ulong v)
{
    __asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
#endif

#else
#error "ORDO_ATOMICS is none of the ORDO_ATOMICS_ values of compiler.cl"
#endif

#if ORDO_ATOMICS == ORDO_ATOMICS_LEGACY

ORDO_FN uint ordo_load_acquire(volatile __global uint *p)
{
    const uint v = ordo_load_relaxed(p);
    ordo_fence_device();
    return v;
}

ORDO_FN void ordo_store_release(volatile __global uint *p, uint v)
{
    ordo_fence_device();
    ordo_store_relaxed(p, v);
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_acquire64(volatile __global ulong *p)
{
    const ulong v = ordo_load_relaxed64(p);
    ordo_fence_device();
    return v;
}

ORDO_FN void ordo_store_release64(volatile __global ulong *p, ulong v)
{
    ordo_fence_device();
    ordo_store_relaxed64(p, v);
}
#endif

#elif ORDO_ATOMICS == ORDO_ATOMICS_C11

ORDO_FN uint ordo_load_acquire(volatile __global uint *p)
{
    return atomic_load_explicit((volatile __global atomic_uint *) p, memory_order_acquire, memory_scope_device);
}

ORDO_FN void ordo_store_release(volatile __global uint *p, uint v)
{
    atomic_store_explicit((volatile __global atomic_uint *) p, v, memory_order_release, memory_scope_device);
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_acquire64(volatile __global ulong *p)
{
    return atomic_load_explicit((volatile __global atomic_ulong *) p, memory_order_acquire, memory_scope_device);
}

ORDO_FN void ordo_store_release64(volatile __global ulong *p, ulong v)
{
    atomic_store_explicit((volatile __global atomic_ulong *) p, v, memory_order_release, memory_scope_device);
}
#endif

#elif ORDO_ATOMICS == ORDO_ATOMICS_NVIDIA

ORDO_FN uint ordo_load_acquire(volatile __global uint *p)
{
    uint v;
    __asm__ volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

ORDO_FN void ordo_store_release(volatile __global uint *p, uint v)
{
    __asm__ volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_load_acquire64(volatile __global ulong *p)
{
    ulong v;
    __asm__ volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

ORDO_FN void ordo_store_release64(volatile __global ulong *p, ulong v)
{
    __asm__ volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
#endif

#endif

/* ---- updates --------------------------------------------------------------------------------------------------- */

/* Relaxed updates, which return the previous value. OpenCL 1.2's functions are relaxed and device-wide on all
 * compilers. */
ORDO_FN uint ordo_add(volatile __global uint *p, uint v)
{
    return atomic_add(p, v);
}
ORDO_FN uint ordo_max(volatile __global uint *p, uint v)
{
    return atomic_max(p, v);
}
ORDO_FN uint ordo_min(volatile __global uint *p, uint v)
{
    return atomic_min(p, v);
}
ORDO_FN uint ordo_or(volatile __global uint *p, uint v)
{
    return atomic_or(p, v);
}
ORDO_FN uint ordo_exchange(volatile __global uint *p, uint v)
{
    return atomic_xchg(p, v);
}

/* Stores `desired` if the word is `expected`. Returns the previous value. */
ORDO_FN uint ordo_cas(volatile __global uint *p, uint expected, uint desired)
{
    return atomic_cmpxchg(p, expected, desired);
}

#if ORDO_INT64_ATOMICS
ORDO_FN ulong ordo_add64(volatile __global ulong *p, ulong v)
{
    return atom_add(p, v);
}
ORDO_FN ulong ordo_max64(volatile __global ulong *p, ulong v)
{
    return atom_max(p, v);
}
ORDO_FN ulong ordo_min64(volatile __global ulong *p, ulong v)
{
    return atom_min(p, v);
}
ORDO_FN ulong ordo_or64(volatile __global ulong *p, ulong v)
{
    return atom_or(p, v);
}
ORDO_FN ulong ordo_exchange64(volatile __global ulong *p, ulong v)
{
    return atom_xchg(p, v);
}
ORDO_FN ulong ordo_cas64(volatile __global ulong *p, ulong expected, ulong desired)
{
    return atom_cmpxchg(p, expected, desired);
}
#endif

/* ---- words that change under a reader's eyes ------------------------------------------------------------------- */

/* Accesses to words that one work-item at a time changes under a latch while others read them without the latch.
 * Readers discard torn words if the version differs before and after. Fences or dependencies order the accesses.
 *
 *   ordo_load_uncached    After an acquire fence of this work-item, reads no cache that other groups' stores do not
 *                         reach, and with PTX no cache at all. 16 bytes are one load from a multiple of 16.
 *   ordo_store_uncached   The store for these loads.
 *
 * Only uncached loads read words that uncached stores write. They may also read words of the functions above. Plain
 * loads of such words accept any cached value, and are compiled with !ORDO_CHECKED only. */

ORDO_FN void ordo_fence_acquire(void)
{
#if ORDO_ATOMICS == ORDO_ATOMICS_C11
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
#else
    ordo_fence_device();
#endif
}

/* Whether ordo_after orders uncached accesses without a fence, as on devices that start accesses in program order,
 * predict neither values nor branches, and have one cache behind these accesses of all groups. No language guarantees
 * this: PTX's memory model orders no relaxed accesses to different words by address dependency. It holds on observed
 * hardware (sm_80, sm_90). If a reader of the self-test (self_test_optimistic) sees an impossible value, the device
 * uses fences. */
#define ORDO_AFTER_ORDERS ORDO_ADDRESS_ORDER

/* Returns 0, as an offset that depends on `seen`. `never` is 0, which the compiler does not know. With
 * ORDO_AFTER_ORDERS, accesses at this offset come after `seen` has arrived. */
ORDO_FN uint ordo_after(uint seen, uint never)
{
    return seen & never;
}

#if ORDO_ATOMICS == ORDO_ATOMICS_NVIDIA

ORDO_FN uint ordo_load_uncached(volatile __global const uint *p)
{
    uint v;
    __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
ORDO_FN ulong ordo_load_uncached64(volatile __global const ulong *p)
{
    ulong v;
    __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
ORDO_FN uint4 ordo_load_uncached128(volatile __global const uint *p)
{
    uint4 v;
    __asm__ volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p)
                     : "memory");
    return v;
}

ORDO_FN void ordo_store_uncached(volatile __global uint *p, uint v)
{
    __asm__ volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
ORDO_FN void ordo_store_uncached64(volatile __global ulong *p, ulong v)
{
    __asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
ORDO_FN void ordo_store_uncached128(volatile __global uint *p, uint4 v)
{
    __asm__ volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z),
                     "r"(v.w)
                     : "memory");
}

#elif ORDO_CHECKED

/* Each access is one atomic update of 32 bits, so wider words may be torn. */
ORDO_FN uint ordo_load_uncached(volatile __global const uint *p)
{
    return atomic_or((volatile __global uint *) p, 0u);
}
ORDO_FN ulong ordo_load_uncached64(volatile __global const ulong *p)
{
    volatile __global const uint *words = (volatile __global const uint *) p;
    return ordo_load_uncached(words) | (ulong) ordo_load_uncached(words + 1) << 32;
}
ORDO_FN uint4 ordo_load_uncached128(volatile __global const uint *p)
{
    return (uint4) (ordo_load_uncached(p), ordo_load_uncached(p + 1), ordo_load_uncached(p + 2),
                    ordo_load_uncached(p + 3));
}

ORDO_FN void ordo_store_uncached(volatile __global uint *p, uint v)
{
    (void) atomic_xchg(p, v);
}
ORDO_FN void ordo_store_uncached64(volatile __global ulong *p, ulong v)
{
    volatile __global uint *words = (volatile __global uint *) p;
    ordo_store_uncached(words, (uint) v);
    ordo_store_uncached(words + 1, (uint) (v >> 32));
}
ORDO_FN void ordo_store_uncached128(volatile __global uint *p, uint4 v)
{
    ordo_store_uncached(p, v.x);
    ordo_store_uncached(p + 1, v.y);
    ordo_store_uncached(p + 2, v.z);
    ordo_store_uncached(p + 3, v.w);
}

#else

ORDO_FN uint ordo_load_uncached(volatile __global const uint *p)
{
    return *p;
}
ORDO_FN ulong ordo_load_uncached64(volatile __global const ulong *p)
{
    return *p;
}
ORDO_FN uint4 ordo_load_uncached128(volatile __global const uint *p)
{
    return *(volatile __global const uint4 *) p;
}

ORDO_FN void ordo_store_uncached(volatile __global uint *p, uint v)
{
    *p = v;
}
ORDO_FN void ordo_store_uncached64(volatile __global ulong *p, ulong v)
{
    *p = v;
}
ORDO_FN void ordo_store_uncached128(volatile __global uint *p, uint4 v)
{
    *(volatile __global uint4 *) p = v;
}

#endif

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Pauses between two loads of a word that another work-group changes. The caller's loop must have a bound. */
ORDO_FN void ordo_pause(void)
{
#if ORDO_ATOMICS == ORDO_ATOMICS_NVIDIA
    __asm__ volatile("nanosleep.u32 20;");
#elif ORDO_LANES == ORDO_LANES_AMD
    __builtin_amdgcn_s_sleep(1);
#endif
}

/* ---- local memory ---------------------------------------------------------------------------------------------- */

/* Relaxed updates of local memory, which return the previous value. A barrier (in a sub-group: team_sync) makes the
 * result visible. */
ORDO_FN uint ordo_local_add(volatile __local uint *p, uint v)
{
    return atomic_add(p, v);
}
ORDO_FN uint ordo_local_max(volatile __local uint *p, uint v)
{
    return atomic_max(p, v);
}
ORDO_FN uint ordo_local_or(volatile __local uint *p, uint v)
{
    return atomic_or(p, v);
}
