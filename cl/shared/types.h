/* SPDX-License-Identifier: Apache-2.0 */
/* Words that both compilers read. */
#ifndef ORDO_SHARED_TYPES_H
#define ORDO_SHARED_TYPES_H

#ifdef __OPENCL_C_VERSION__
typedef uchar ordo_u8;
typedef uint  ordo_u32;
typedef ulong ordo_u64;
typedef int   ordo_i32;
typedef long  ordo_i64;
#define ORDO_STATIC_ASSERT(cond, text) typedef char ordo_assert_##__LINE__[(cond) ? 1 : -1] __attribute__((unused))
#else
#include <stdint.h>
typedef uint8_t  ordo_u8;
typedef uint32_t ordo_u32;
typedef uint64_t ordo_u64;
typedef int32_t  ordo_i32;
typedef int64_t  ordo_i64;
#define ORDO_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#endif
