/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_SHARED_TYPES_H
#define ORDO_SHARED_TYPES_H

#ifdef __OPENCL_C_VERSION__
typedef uchar ordo_u8;
typedef uint  ordo_u32;
typedef ulong ordo_u64;
typedef int   ordo_i32;
typedef long  ordo_i64;
#define ORDO_STATIC_ASSERT(cond, text) void ordo_static_assert(__private char(*)[(cond) ? 1 : -1])
/* Qualifiers of functions that are not kernels. With ORDO_CHECKED, functions are not inlined, because Oclgrind 21.10
 * fails on inlined functions that return structs. */
#if defined(ORDO_CHECKED) && ORDO_CHECKED
#define ORDO_FN static __attribute__((unused, noinline))
#else
#define ORDO_FN static inline __attribute__((unused))
#endif
#else
#include <stdint.h>
typedef uint8_t  ordo_u8;
typedef uint32_t ordo_u32;
typedef uint64_t ordo_u64;
typedef int32_t  ordo_i32;
typedef int64_t  ordo_i64;
#define ORDO_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#define ORDO_FN                        static inline
#endif

#endif
