/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of device code share: every device in turn, random input of chosen shapes, guarded device arrays,
 * comparisons that say what differed.
 *
 *     static void check_scan(struct test *t)
 *     {
 *         uint32_t *keys = test_alloc(count * sizeof *keys);
 *         test_keys(t, ORDO_U32, TEST_RANDOM, count, keys);
 *         struct test_array in = test_upload(t, keys, count, sizeof *keys, 3);
 *         struct test_array out = test_upload(t, NULL, count, sizeof *keys, 1);
 *
 *         test_context(t, "count %zu", count);
 *         test_ok(t, ordo_scan(t->dev, ..., test_slice(&in), test_slice(&out), count, NULL));
 *         test_expect(t, ORDO_U32, &out, want, count);       // reads out, compares, checks the guards
 *         test_free(&in);
 *         test_free(&out);
 *     }
 *
 *     Test(scan, sums_what_lies_before) { test_each_device(check_scan); }
 *
 * A failure ends the test and prints the device, the mask, the seed and the context.
 *
 * Environment: ORDO_TEST_SEED=number (default 1) seeds the random input; ORDO_DEVICE=... restricts the tests to the
 * one device it selects; ORDO_MASK=... restricts them to that mask; ORDO_TEST_TIMES=file has what each took (README.md).
 */
#ifndef ORDO_TESTS_SUPPORT_H
#define ORDO_TESTS_SUPPORT_H

#include "ordo/ordo.h"

#include <criterion/criterion.h>
#include <string.h>

/* ---- devices ------------------------------------------------------------------------------------------------- */

struct test {
    ordo_device             *dev;
    const struct ordo_facts *facts;
    uint64_t                 random;       /* state of test_random */
    uint64_t                 seed;         /* what it began with */
    const char              *mask;         /* "" for the device as it is */
    char                     context[256]; /* what is being tried, for messages; see test_context */
};

typedef void (*test_body)(struct test *t);

/* Runs body on every OpenCL device as it is. Fails if there is none. */
void test_each_device(test_body body);

/* Runs body on every OpenCL device with each of test_masks (ordo_device_config.mask), of which the first is "": the
 * device as it is. Masks that leave a device the same as an earlier one are passed over; where there are several devices, each mask but the
 * first is dealt to half of them, which ones by program and seed. With ORDO_DEVICE or ORDO_TEST_KINDS=all a device has all. */
void test_each_device_and_mask(test_body body);

extern const char *const test_masks[]; /* ends with NULL */

/* The same without those that differ in 64-bit atomics alone, of which all kernels are built anew: for what no work-group waits
 * in. The conformance test has these for everything. */
void test_each_device_and_most_masks(test_body body);

/* Runs body on every OpenCL device with this mask. */
void test_each_device_with(const char *mask, test_body body);

/* Whether this variable of the environment is "all": so the suite `slow` asks for combinations of which the quick ring has some. */
bool test_wants_all(const char *variable);

/* Whether the compiler of the device's driver ends the process over kernels that only tests ask for (tests/README.md,
 * "Drivers"): these few are left out there, which is printed once. */
bool test_compiler_ends_processes(const struct test *t);

/* ORDO_TEST_SEED, 1 unless it is set: what test.seed is. */
uint64_t test_seed(void);

/* Another device object like t->dev, for tests of two devices; close it with ordo_device_close. */
ordo_device *test_open_again(const struct test *t);

/* Has tiles learn from each other what is before them, wherever a GPU's groups make progress: without lanes that is not what
 * is chosen by itself. */
void test_look_back(struct test *t);

/* Has programs built with optimization where tests do without (a GPU's code on a CPU, types of keys but u32): for operations side by
 * side, which slow code makes meet otherwise. */
void test_optimized(struct test *t);

/* Has them built without, as far as tests do so at all: where it is no matter what a compiler makes of them. */
void test_unoptimized(struct test *t);

/* What this process opens by itself from now on, builds its programs as what test_each_device opens does: for tests of the host's code. */
void test_spare_compiler(void);

/* The same, and PoCL optimizes none: for tests of what the host does with programs and errors, whatever kernels do. */
void test_host_code(void);

/* ---- what is expected ---------------------------------------------------------------------------------------- */

/* Says what is being tried from here on ("count 5, shape few"); printed with a failure. A sign of life (watchdog.h). */
void test_context(struct test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the test as failed with this sentence and all that is known. */
_Noreturn void test_fail(const struct test *t, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the test as skipped, and says why on stderr: Criterion keeps it to itself, unless it is asked. */
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An Ordo call that must succeed, or must return `want`. */
#define test_ok(t, call)           test_status((t), (call), ORDO_OK)
#define test_status(t, call, want) test_check_status((t), (call), (want), #call, __FILE__, __LINE__)
void test_check_status(const struct test *t, ordo_status got, ordo_status want, const char *call, const char *file,
                       int line);

#define test_true(t, cond)                                                                                             \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            test_fail((t), __FILE__, __LINE__, "not so: %s", #cond);                                                   \
    } while (0)

/* Two host arrays of a type must hold the same bits. `what` names them ("keys"). */
#define test_same(t, what, type, got, want, count)                                                                     \
    test_check_same((t), (what), (type), ordo_type_bytes(type), (got), (want), (count), __FILE__, __LINE__)
/* The same for bytes, such as flags. */
#define test_same_bytes(t, what, got, want, count)                                                                     \
    test_check_same((t), (what), ORDO_U32, 1, (got), (want), (count), __FILE__, __LINE__)
void test_check_same(const struct test *t, const char *what, ordo_type type, size_t bytes, const void *got,
                     const void *want, size_t count, const char *file, int line);

/* ---- random input -------------------------------------------------------------------------------------------- */

uint64_t test_random(struct test *t);
/* 0 to n - 1; n is not 0. */
uint64_t test_below(struct test *t, uint64_t n);
void     test_random_bytes(struct test *t, void *to, size_t bytes);

enum test_shape {
    TEST_RANDOM,     /* random bits: floats of every magnitude, NaNs among them */
    TEST_ASCENDING,  /* in the type's order, with repeats */
    TEST_DESCENDING, /* in the type's order, with repeats */
    TEST_EQUAL,      /* one random key */
    TEST_FEW,        /* five distinct keys */
    TEST_EXTREMES,   /* the type's extreme values: 0, all ones, least, greatest, NaNs, infinities, both zeros */
    TEST_N_SHAPES
};
extern const char *const test_shape_name[TEST_N_SHAPES];

/* Fills `keys` with count keys of a type. */
void test_keys(struct test *t, ordo_type type, enum test_shape shape, size_t count, void *keys);

extern const ordo_type   test_types[6];
extern const char *const test_type_name[6]; /* by ordo_type */

/* Which sizes of values go with a type of keys. Each is kernels to build: the quick ring takes the first of each type, so that
 * tests share what is built and keys of 4 and of 8 bytes meet every size; ORDO_TEST_KINDS=all, as in the suite `slow`, takes all. */
enum { TEST_VALUE_SIZES = 3 };
extern const uint32_t test_value_bytes[6][TEST_VALUE_SIZES]; /* by ordo_type */
size_t                test_n_value_sizes(void);              /* 1 or TEST_VALUE_SIZES */

/* Counts where code that works in groups of `group` and tiles of `tile` elements may slip: around 0, 1, a group, one
 * and several tiles. Writes at most TEST_SEAMS of them, ascending; returns how many. */
enum { TEST_SEAMS = 16 };
size_t test_seams(size_t group, size_t tile, size_t counts[TEST_SEAMS]);

/* malloc that ends the test when there is no memory; of 0 bytes too gives a pointer to free. */
void *test_alloc(size_t bytes);

/* ---- device arrays ------------------------------------------------------------------------------------------- */

/* count elements of `bytes` each, from element `at` of mem on, with guard bytes before and after them. */
struct test_array {
    cl_mem mem;
    size_t at, count, bytes;
};

/* Every byte of an array made without data. */
enum { TEST_EMPTY = 0x5c };

/* A device array that holds `data`, or TEST_EMPTY bytes if data is NULL. `at` of 0 leaves no guard before it. */
struct test_array test_upload(const struct test *t, const void *data, size_t count, size_t bytes, size_t at);
void              test_free(struct test_array *array);

static inline struct ordo_slice test_slice(const struct test_array *array)
{
    return ordo_at(array->mem, array->at);
}

/* A queue of the test's own; NULL if there are none with such properties. */
cl_command_queue test_queue(const struct test *t, cl_command_queue_properties properties);
cl_command_queue test_queue_of(cl_context context, cl_device_id id, cl_command_queue_properties properties);
/* Whether a command is not yet begun, running, or complete. */
cl_int test_event_state(cl_event event);

/* Waits for the device's own queue, reads the array, and fails if a guard byte has changed. */
#define test_download(t, array, to) test_check_download((t), (array), (to), #array, __FILE__, __LINE__)
void test_check_download(const struct test *t, const struct test_array *array, void *to, const char *what,
                         const char *file, int line);

/* The same without failing: returns the first guard byte that has changed, counted from the start of the buffer, or
 * SIZE_MAX. */
size_t test_read(const struct test *t, const struct test_array *array, void *to, const char *what);

/* test_download, and the first `n` elements must be the same as `want`. `type` is for the message; it counts for
 * nothing if the elements are bytes. */
#define test_expect(t, type, array, want, n)                                                                           \
    test_check_expect((t), (type), (array), (want), (n), #array, __FILE__, __LINE__)
void test_check_expect(const struct test *t, ordo_type type, const struct test_array *array, const void *want, size_t n,
                       const char *what, const char *file, int line);

#endif
