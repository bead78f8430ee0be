/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of words in global memory that several work-groups read and write in the same launch. Plain loads of such
 * words may return old data. The suffix 64 means 64 bits, and needs ORDO_INT64_ATOMICS.
 *
 *  relaxed   bypasses caches that may have old data, but orders no other memory access
 *  acquire   Later accesses of this work-item happen after the load. If the load reads a release store, they see
 *           everything that happened before that store.
 *  release   Earlier accesses of this work-item happen before the store.
 *
 * OpenCL 1.2 (ORDO_ATOMICS_LEGACY) defines no order between groups. */

#pragma once
#include "device/compiler.cl"

/* ---- ordered loads and stores ---------------------------------------------------------------------------------- */

#if ORDO_ATOMICS == ORDO_ATOMICS_LEGACY

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

/* A barrier for the whole group. If one work-item executes a releasing fence or store after it, this also releases the
 * group's other accesses before the barrier. OpenCL promises this for every barrier with CLK_GLOBAL_MEM_FENCE. But some
 * compilers for AMD do not wait for stores at a barrier, and a later fence waits only for the stores of one wave. */
ORDO_FN void ordo_barrier_release(void)
{
#if ORDO_ATOMICS == ORDO_ATOMICS_C11
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* ---- updates --------------------------------------------------------------------------------------------------- */

/* Relaxed atomic updates that return the word's previous value. All compilers implement these OpenCL 1.2 functions as
 * relaxed operations for the whole device. */
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

/* ---- words under a latch --------------------------------------------------------------------------------------- */

/* Accesses words that one work-item changes under a latch, while others read them without the latch. Readers compare a
 * version before and after the read, and discard the words if the version has changed.
 *
 *  ordo_load_uncached    does not return old data from this group's caches. The caller must execute an acquire fence
 *                        first. ordo_load_uncached128 loads 128 bits. Its address must be a multiple of 16 bytes.
 *  ordo_store_uncached   stores a word for ordo_load_uncached */

ORDO_FN void ordo_fence_acquire(void)
{
#if ORDO_ATOMICS == ORDO_ATOMICS_C11
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
#else
    ordo_fence_device();
#endif
}

/* 1 if a load waits for an earlier load that its address depends on. OpenCL and PTX do not guarantee this order.
 * Devices that fail a self-test use fences. */
#define ORDO_AFTER_ORDERS ORDO_ADDRESS_ORDER

/* Orders a memory access after the load that returned `seen`, if ORDO_AFTER_ORDERS is 1. The caller adds the result to
 * the address of the access. `never` must be 0, so the result is 0. The compiler does not know this, so it keeps the
 * dependence of the address on `seen`. */
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

/* If ORDO_CHECKED is 1, all accesses have 32 bits. So a load of 64 or 128 bits may return words from different
 * stores. */
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

/* Pauses a polling loop. The loop must be bounded. */
ORDO_FN void ordo_pause(void)
{
#if ORDO_ATOMICS == ORDO_ATOMICS_NVIDIA
    __asm__ volatile("nanosleep.u32 20;");
#elif ORDO_LANES == ORDO_LANES_AMD
    __builtin_amdgcn_s_sleep(1);
#endif
}

/* ---- local memory ---------------------------------------------------------------------------------------------- */

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
