/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of NVIDIA's OpenCL that Debian's libclc lacks for nvptx64, so that Clang's output links. compile.py
 * includes them before a module; no driver does. */
#pragma once

#define ORDO_DEFINE_ATOM_(name, instruction)                                                                           \
    static inline ulong __attribute__((overloadable, unused)) name##_u64(volatile __global ulong *p, ulong v)          \
    {                                                                                                                  \
        ulong old;                                                                                                     \
        __asm__ volatile("atom.global." instruction " %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(v) : "memory");         \
        return old;                                                                                                    \
    }
ORDO_DEFINE_ATOM_(atom_add, "add.u64")
ORDO_DEFINE_ATOM_(atom_max, "max.u64")
ORDO_DEFINE_ATOM_(atom_min, "min.u64")
ORDO_DEFINE_ATOM_(atom_or, "or.b64")
ORDO_DEFINE_ATOM_(atom_xchg, "exch.b64")

static inline ulong __attribute__((unused)) atom_cmpxchg_u64(volatile __global ulong *p, ulong expected, ulong desired)
{
    ulong old;
    __asm__ volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(old)
                     : "l"(p), "l"(expected), "l"(desired)
                     : "memory");
    return old;
}

#define atom_add     atom_add_u64
#define atom_max     atom_max_u64
#define atom_min     atom_min_u64
#define atom_or      atom_or_u64
#define atom_xchg    atom_xchg_u64
#define atom_cmpxchg atom_cmpxchg_u64
