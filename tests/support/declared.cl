/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of OpenCL C that kernels call, of the types that they call them with.
 *
 * PoCL 3.1 puts 16,000 lines before each program that declare all there are, for all types: that is 0.1 s of the 0.1 to 0.3 that it
 * takes for a program, and half of what it takes for one that it knows. With these instead it makes the same machine code. What is
 * called and is not here is an error of the build, which names it. */
#define DECLARED __attribute__((overloadable))
#define CONST    __attribute__((overloadable, const))
#define READS    __attribute__((overloadable, pure))

size_t CONST  get_global_id(uint dimension);
size_t CONST  get_global_size(uint dimension);
size_t CONST  get_local_id(uint dimension);
size_t CONST  get_local_size(uint dimension);
size_t CONST  get_group_id(uint dimension);
size_t CONST  get_num_groups(uint dimension);
void          DECLARED __attribute__((convergent)) barrier(cl_mem_fence_flags flags);
void DECLARED mem_fence(cl_mem_fence_flags flags);

/* ---- integers ------------------------------------------------------------------------------------------------------- */

#define OF_EACH_TYPE(T)                                                                                                \
    T CONST clz(T x);                                                                                                  \
    T CONST popcount(T x);                                                                                             \
    T CONST min(T a, T b);                                                                                             \
    T CONST max(T a, T b);                                                                                             \
    T CONST mul_hi(T a, T b);                                                                                          \
    T CONST clamp(T x, T least, T greatest);
OF_EACH_TYPE(char)
OF_EACH_TYPE(uchar)
OF_EACH_TYPE(short)
OF_EACH_TYPE(ushort)
OF_EACH_TYPE(int)
OF_EACH_TYPE(uint)
OF_EACH_TYPE(long)
OF_EACH_TYPE(ulong)
uint CONST  upsample(ushort high, ushort low);
long CONST  upsample(int high, uint low);
ulong CONST upsample(uint high, uint low);

/* ---- vectors -------------------------------------------------------------------------------------------------------- */

#define VECTOR(T, N)                                                                                                   \
    T##N READS    vload##N(size_t at, const __global T *from);                                                         \
    T##N READS    vload##N(size_t at, const __local T *from);                                                          \
    T##N READS    vload##N(size_t at, const __private T *from);                                                        \
    void DECLARED vstore##N(T##N x, size_t at, __global T *to);                                                        \
    void DECLARED vstore##N(T##N x, size_t at, __local T *to);                                                         \
    void DECLARED vstore##N(T##N x, size_t at, __private T *to);
VECTOR(uint, 2)
VECTOR(uint, 4)
VECTOR(uint, 8)
VECTOR(ulong, 8)
VECTOR(uchar, 16)
VECTOR(ushort, 16)
VECTOR(uint, 16)
VECTOR(ulong, 16)
char4 CONST convert_char4(int4 x);
char4 CONST convert_char4(long4 x);
char8 CONST convert_char8(int8 x);
int8 CONST  convert_int8(char8 x);
int8 CONST  convert_int8(short8 x);
int8 CONST  convert_int8(int8 x);
int8 CONST  convert_int8(long8 x);
uint8 CONST convert_uint8(uint8 x);
uint8 CONST convert_uint8(ulong8 x);

/* ---- atomic updates, as of OpenCL C 1.2 ----------------------------------------------------------------------------- */

#define UPDATES_IN(WHERE, T, FORM)                                                                                     \
    T DECLARED FORM##_add(volatile WHERE T *word, T x);                                                                \
    T DECLARED FORM##_min(volatile WHERE T *word, T x);                                                                \
    T DECLARED FORM##_max(volatile WHERE T *word, T x);                                                                \
    T DECLARED FORM##_or(volatile WHERE T *word, T x);                                                                 \
    T DECLARED FORM##_xchg(volatile WHERE T *word, T x);                                                               \
    T DECLARED FORM##_inc(volatile WHERE T *word);                                                                     \
    T DECLARED FORM##_dec(volatile WHERE T *word);                                                                     \
    T DECLARED FORM##_cmpxchg(volatile WHERE T *word, T expected, T desired);
#define UPDATES(T, FORM)                                                                                               \
    UPDATES_IN(__global, T, FORM)                                                                                      \
    UPDATES_IN(__local, T, FORM)
UPDATES(int, atomic)
UPDATES(uint, atomic)
#ifdef cl_khr_int64_base_atomics
UPDATES(long, atom)
UPDATES(ulong, atom)
#endif

/* ---- ordered loads and stores --------------------------------------------------------------------------------------- */

#if __OPENCL_C_VERSION__ >= 200
#define ORDERED_IN(WHERE, T)                                                                                           \
    T DECLARED    atomic_load_explicit(volatile WHERE atomic_##T *word, memory_order order, memory_scope scope);       \
    void DECLARED atomic_store_explicit(volatile WHERE atomic_##T *word, T x, memory_order order, memory_scope scope);
#define ORDERED(T)                                                                                                     \
    ORDERED_IN(__global, T)                                                                                            \
    ORDERED_IN(__local, T)
ORDERED(int)
ORDERED(uint)
ORDERED(long)
ORDERED(ulong)
void DECLARED atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope);
#endif

#undef DECLARED
#undef CONST
#undef READS
#undef OF_EACH_TYPE
#undef VECTOR
#undef UPDATES_IN
#undef UPDATES
#undef ORDERED_IN
#undef ORDERED
