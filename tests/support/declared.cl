/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of OpenCL C that kernels call, on integers and vectors of them.
 *
 * PoCL 3.1 puts 16,000 lines with all declarations before each program. That takes 0.1 s of 0.1 to 0.3 s for a new
 * program, and half of the time for a cached one. A function that is missing here causes a build error; add it. */
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

/* ---- integers, and vectors of them ------------------------------------------------------------------------------- */

#define OF_EACH_TYPE(T)                                                                                                \
    T CONST clz(T x);                                                                                                  \
    T CONST popcount(T x);                                                                                             \
    T CONST min(T a, T b);                                                                                             \
    T CONST max(T a, T b);                                                                                             \
    T CONST mul_hi(T a, T b);                                                                                          \
    T CONST rotate(T x, T by);                                                                                         \
    T CONST clamp(T x, T least, T greatest);
#define LOADED_FROM(WHERE, T, N)                                                                                       \
    T##N READS    vload##N(size_t at, const WHERE T *from);                                                            \
    void DECLARED vstore##N(T##N x, size_t at, WHERE T *to);
#define CONVERTED(T, N)                                                                                                \
    T##N CONST convert_##T##N(char##N x);                                                                              \
    T##N CONST convert_##T##N(uchar##N x);                                                                             \
    T##N CONST convert_##T##N(short##N x);                                                                             \
    T##N CONST convert_##T##N(ushort##N x);                                                                            \
    T##N CONST convert_##T##N(int##N x);                                                                               \
    T##N CONST convert_##T##N(uint##N x);                                                                              \
    T##N CONST convert_##T##N(long##N x);                                                                              \
    T##N CONST convert_##T##N(ulong##N x);
#define VECTOR(T, N)                                                                                                   \
    OF_EACH_TYPE(T##N)                                                                                                 \
    CONVERTED(T, N)                                                                                                    \
    LOADED_FROM(__global, T, N)                                                                                        \
    LOADED_FROM(__local, T, N)                                                                                         \
    LOADED_FROM(__private, T, N)
#define TYPE(T)                                                                                                        \
    OF_EACH_TYPE(T)                                                                                                    \
    VECTOR(T, 2)                                                                                                       \
    VECTOR(T, 4)                                                                                                       \
    VECTOR(T, 8)                                                                                                       \
    VECTOR(T, 16)
TYPE(char)
TYPE(uchar)
TYPE(short)
TYPE(ushort)
TYPE(int)
TYPE(uint)
TYPE(long)
TYPE(ulong)
uint CONST  upsample(ushort high, ushort low);
long CONST  upsample(int high, uint low);
ulong CONST upsample(uint high, uint low);

/* ---- atomic updates, as of OpenCL C 1.2 -------------------------------------------------------------------------- */

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

/* ---- ordered loads and stores ------------------------------------------------------------------------------------ */

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
#undef LOADED_FROM
#undef CONVERTED
#undef VECTOR
#undef TYPE
#undef UPDATES_IN
#undef UPDATES
#undef ORDERED_IN
#undef ORDERED
