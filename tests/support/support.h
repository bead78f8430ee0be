/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of device code: each device in turn, random input of several shapes, guarded device arrays,
 * comparisons that report the difference.
 *
 *     DEVICE_TEST(scan, sums_earlier_elements)
 *     {
 *         uint32_t *keys = test_alloc(count * sizeof *keys);
 *         test_keys(t, ORDO_U32, TEST_RANDOM, count, keys);
 *         struct test_array in = test_upload(t, keys, count, sizeof *keys, 3);
 *         struct test_array out = test_upload(t, NULL, count, sizeof *keys, 1);
 *
 *         test_context(t, "count %zu", count);
 *         test_ok(t, ordo_scan(t->dev, ..., test_slice(&in), test_slice(&out), count, NULL));
 *         test_expect(t, ORDO_U32, &out, want, count);       // reads, compares, checks the guards
 *         test_free(&in);
 *         test_free(&out);
 *     }
 *
 * A failure ends the test and prints the device, the mask, the seed and the context.
 *
 * Environment: ORDO_TEST_SEED=number (default 1) seeds the random input; ORDO_DEVICE=... selects the one device
 * to test; ORDO_MASK=... selects the one mask; ORDO_TEST_TIMES=file receives the times of the tests (README.md). */
#ifndef ORDO_TESTS_SUPPORT_H
#define ORDO_TESTS_SUPPORT_H

#include "auto.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- devices ----------------------------------------------------------------------------------------------------- */

struct test {
    ordo_device             *dev;
    const struct ordo_facts *facts;
    uint64_t                 random;       /* state of test_random */
    uint64_t                 seed;         /* initial state */
    const char              *mask;         /* "" for the device itself */
    char                     context[256]; /* the current trial, for messages; see test_context */
    struct test_catch       *caught;       /* NULL: a failure ends the test */
};

/* Receives a failure: test_fail writes `what` and jumps back. */
struct test_catch {
    jmp_buf back;
    char    what[512];
};

typedef void (*test_body)(struct test *t);

/* Runs body on every OpenCL device. Fails if there is none. */
void test_each_device(test_body body);

/* Runs body on every OpenCL device with each of test_masks (ordo_device_config.mask). The first mask is "". Skips masks
 * that equal an earlier one. Of several devices each has the first mask and half of the others, selected by
 * program and seed. With ORDO_DEVICE or ORDO_TEST_KINDS=all each device has all masks. */
void test_each_device_and_mask(test_body body);

extern const char *const test_masks[]; /* ends with NULL */

/* Skips also masks that differ only in 64-bit atomics, because these need all kernels anew. For code without waiting
 * groups; the conformance test has these masks for all code. */
void test_each_device_and_most_masks(test_body body);

/* Runs body on every OpenCL device with this mask. */
void test_each_device_with(const char *mask, test_body body);

/* Define a test of Criterion whose body has a device, `t`. The body runs on every device, or on every device with each
 * of these masks ("" is the device itself), or as test_each_device_and_mask and test_each_device_and_most_masks do. */
#define DEVICE_TEST(suite, name)     TEST_BY(suite, name, test_each_device)
#define EVERY_MASK_TEST(suite, name) TEST_BY(suite, name, test_each_device_and_mask)
#define MOST_MASKS_TEST(suite, name) TEST_BY(suite, name, test_each_device_and_most_masks)
#define MASK_TEST(suite, name, ...)                                                                                    \
    static void suite##_##name##_body(struct test *t);                                                                 \
    Test(suite, name)                                                                                                  \
    {                                                                                                                  \
        static const char *const masks[] = { __VA_ARGS__ };                                                            \
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)                                                      \
            test_each_device_with(masks[m], suite##_##name##_body);                                                    \
    }                                                                                                                  \
    static void suite##_##name##_body(struct test *t)
#define TEST_BY(suite, name, run)                                                                                      \
    static void suite##_##name##_body(struct test *t);                                                                 \
    Test(suite, name)                                                                                                  \
    {                                                                                                                  \
        run(suite##_##name##_body);                                                                                    \
    }                                                                                                                  \
    static void suite##_##name##_body(struct test *t)

/* Whether this environment variable is "all", as in the suite `slow`, which tests all combinations instead of some. */
bool test_wants_all(const char *variable);

/* Whether the driver's compiler ends the process for kernels that only tests use (tests/README.md, "Drivers"). Tests
 * skip these kernels there; a line reports it once. */
bool test_compiler_ends_processes(const struct test *t);

/* The environment variable ORDO_TEST_SEED, by default 1. */
uint64_t test_seed(void);

/* Another device object like t->dev; close it with ordo_device_close. */
ordo_device *test_open_again(const struct test *t);

/* The tunable of this name. */
struct ordo_tunable_info test_tunable(const struct test *t, ordo_device *dev, const char *name);

/* Selects look-back if a GPU's groups make progress. It is not the default without lanes. */
void test_look_back(struct test *t);

/* Builds programs with optimization, which tests otherwise skip for a GPU's code on a CPU and for types other than u32.
 * For concurrent operations, whose conflicts depend on speed. */
void test_optimized(struct test *t);

/* Builds programs without optimization, for tests that do not depend on the compiler. */
void test_unoptimized(struct test *t);

/* For tests of host code: later devices of this process build programs as test_each_device does. */
void test_spare_compiler(void);

/* As test_spare_compiler, and PoCL optimizes nothing: for host code that handles programs and errors. */
void test_host_code(void);

/* ---- expectations ------------------------------------------------------------------------------------------------ */

/* Names the current trial ("count 5, shape few") for failure messages. Reports progress to the watchdog
 * (watchdog.h). */
void test_context(struct test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the test as failed with this sentence and the context. */
_Noreturn void test_fail(const struct test *t, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the test as skipped and prints why on stderr, because Criterion does not. */
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An Ordo call that must succeed, or must return `want`. */
#define test_ok(t, call)           test_status((t), (call), ORDO_OK)
#define test_status(t, call, want) test_check_status((t), (call), (want), #call, __FILE__, __LINE__)
void test_check_status(const struct test *t, ordo_status got, ordo_status want, const char *call, const char *file,
                       int line);

/* The message of the last error must contain `part`. */
#define test_message(t, part) test_check_message((t), (part), __FILE__, __LINE__)
void test_check_message(const struct test *t, const char *part, const char *file, int line);

#define test_true(t, cond)                                                                                             \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            test_fail((t), __FILE__, __LINE__, "not so: %s", #cond);                                                   \
    } while (0)

/* Two host arrays of a type must be bit-identical. `what` names them ("keys"). */
#define test_same(t, what, type, got, want, count)                                                                     \
    test_check_same((t), (what), (type), ordo_type_bytes(type), (got), (want), (count), __FILE__, __LINE__)
/* Compares bytes, such as flags. */
#define test_same_bytes(t, what, got, want, count)                                                                     \
    test_check_same((t), (what), ORDO_U32, 1, (got), (want), (count), __FILE__, __LINE__)
void test_check_same(const struct test *t, const char *what, ordo_type type, size_t bytes, const void *got,
                     const void *want, size_t count, const char *file, int line);

/* ---- random input ------------------------------------------------------------------------------------------------ */

uint64_t test_random(struct test *t);
/* 0 to n - 1; n is not 0. */
uint64_t test_below(struct test *t, uint64_t n);
void     test_random_bytes(struct test *t, void *to, size_t bytes);

enum test_shape {
    TEST_RANDOM,     /* random bits; floats of every magnitude and NaNs */
    TEST_ASCENDING,  /* in the type's order, with duplicates */
    TEST_DESCENDING, /* in reverse order, with duplicates */
    TEST_EQUAL,      /* one random key */
    TEST_FEW,        /* five distinct keys */
    TEST_EXTREMES,   /* extreme values: 0, all ones, least, greatest, NaNs, infinities, both zeros */
    TEST_N_SHAPES
};
extern const char *const test_shape_name[TEST_N_SHAPES];

/* Fills `keys` with count keys of a type. */
void test_keys(struct test *t, ordo_type type, enum test_shape shape, size_t count, void *keys);
/* Sorts keys in the type's order. */
void test_sort_keys(ordo_type type, bool descending, size_t count, void *keys);

extern const ordo_type   test_types[6];     /* 4 and 8 bytes; for 16 see wide.h */
extern const char *const test_type_name[8]; /* by ordo_type */

/* Value sizes for each key type. Each combination needs kernels, so the quick ring takes the first size of each type.
 * All tests share these, and keys of 4 and 8 bytes have each size. ORDO_TEST_KINDS=all takes all. */
enum { TEST_VALUE_SIZES = 4 };
extern const uint32_t test_value_bytes[8][TEST_VALUE_SIZES]; /* by ordo_type */
size_t                test_n_value_sizes(void);              /* 1 or TEST_VALUE_SIZES */

/* Counts at boundaries of groups and tiles: around 0, 1, a group, one and several tiles. Writes at most TEST_SEAMS
 * ascending counts and returns their number. */
enum { TEST_SEAMS = 16 };
size_t test_seams(size_t group, size_t tile, size_t counts[TEST_SEAMS]);

/* malloc that ends the test without memory. 0 bytes also give a pointer to free. */
void *test_alloc(size_t bytes);

/* ---- device arrays ----------------------------------------------------------------------------------------------- */

/* count elements of `bytes` each, from element `at` of mem on, between guard bytes. */
struct test_array {
    cl_mem mem;
    size_t at, count, bytes;
};

/* Every byte of an array without data. */
enum { TEST_EMPTY = 0x5c };

/* A device array with `data`, or TEST_EMPTY bytes if data is NULL. With `at` 0 no guard precedes it. */
struct test_array test_upload(const struct test *t, const void *data, size_t count, size_t bytes, size_t at);
void              test_free(struct test_array *array);
#define AUTO_ARRAY AUTO(test_free)

static inline struct ordo_slice test_slice(const struct test_array *array)
{
    return ordo_at(array->mem, array->at);
}

/* A buffer over zeros in host memory whose address is 8 more than a multiple of 16. mem is NULL if the driver refuses
 * such memory. */
struct test_unaligned {
    cl_mem mem;
    void  *memory;
};
struct test_unaligned test_unaligned_buffer(const struct test *t, size_t bytes);
void                  test_unaligned_free(struct test_unaligned *buffer);
#define AUTO_UNALIGNED AUTO(test_unaligned_free)
/* Fails unless `got` is ORDO_INVALID, and the message names this array and the alignment of 16 bytes. */
void test_unaligned_refused(const struct test *t, ordo_status got, const char *name);

/* A queue for the test; NULL if the device has none with these properties. */
cl_command_queue test_queue(const struct test *t, cl_command_queue_properties properties);
cl_command_queue test_queue_of(cl_context context, cl_device_id id, cl_command_queue_properties properties);
/* The state of a command: queued, running or complete. */
cl_int test_event_state(cl_event event);

/* Waits for the device's own queue, reads the array, and fails if a guard byte has changed. */
#define test_download(t, array, to) test_check_download((t), (array), (to), #array, __FILE__, __LINE__)
void test_check_download(const struct test *t, const struct test_array *array, void *to, const char *what,
                         const char *file, int line);

/* As test_download, but returns the first changed guard byte, counted from the start of the buffer, or SIZE_MAX. */
size_t test_read(const struct test *t, const struct test_array *array, void *to, const char *what);

/* test_download, then compares the first `n` elements with `want`. `type` serves only the message if the elements are
 * bytes. */
#define test_expect(t, type, array, want, n)                                                                           \
    test_check_expect((t), (type), (array), (want), (n), #array, __FILE__, __LINE__)
void test_check_expect(const struct test *t, ordo_type type, const struct test_array *array, const void *want, size_t n,
                       const char *what, const char *file, int line);

#endif
