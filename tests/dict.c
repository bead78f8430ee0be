/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries: every structure does what the model does, with every type and size of values, on every device.
 *
 * ORDO_TEST_OPS=number of operations in random sequences (default 2400000 for all types together); ORDO_TEST_REPLAY=file
 * runs one sequence; ORDO_TEST_TRACE=1 prints each step before it runs. */
#include "sequence.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const uint32_t value_sizes[] = { 0, 4, 8 };

static void run_or_fail(struct test *t, const struct sequence *s)
{
    const struct outcome o = sequence_run(t, s, NULL);

    if (o.failed)
        sequence_fail(t, s, &o);
}

/* ---- every operation ----------------------------------------------------------------------------------------- */

/* At sizes where groups, words of bits and blocks end. A shape meets each size with some type and size of values. */
static void every_operation(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes)
{
    static const uint32_t counts[] = { 0, 1, 2, 31, 32, 33, 511, 512, 513, 3001 };

    for (size_t i = 0; i < LENGTH(counts); i++) {
        const enum key_shape  shape = (enum key_shape) ((i + subject + 3 * (size_t) type + value_bytes / 4) % N_KEY_SHAPES);
        const struct sequence s = sequence_every(subject, type, value_bytes, shape, counts[i]);
        run_or_fail(t, &s);
    }
}

/* ---- random sequences ---------------------------------------------------------------------------------------- */

static size_t wanted_operations(void)
{
    const char *text = getenv("ORDO_TEST_OPS");

    return text ? strtoull(text, NULL, 0) : 2400000;
}

static void random_sequences(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes, size_t operations)
{
    uint64_t seed = t->seed * 1000000 + (uint64_t) type * 10000 + value_bytes * 1000 + subject * 100;

    for (size_t done = 0; done < operations;) {
        const struct sequence s = sequence_random(subject, type, value_bytes, seed++);
        run_or_fail(t, &s);
        done += sequence_operations(&s);
    }
}

static void check_type(struct test *t, ordo_type type)
{
    const size_t share = wanted_operations() / (n_subjects * 6 * LENGTH(value_sizes)) + 1;

    for (size_t v = 0; v < LENGTH(value_sizes); v++)
        for (size_t subject = 0; subject < n_subjects; subject++) {
            every_operation(t, subject, type, value_sizes[v]);
            random_sequences(t, subject, type, value_sizes[v], share);
        }
}

#define TYPE_TEST(type, TYPE)                                                                                          \
    static void check_##type(struct test *t)                                                                           \
    {                                                                                                                  \
        check_type(t, ORDO_##TYPE);                                                                                    \
    }                                                                                                                  \
    Test(dict, type##_keys_are_as_in_the_model)                                                                        \
    {                                                                                                                  \
        test_each_device(check_##type);                                                                                \
    }

TYPE_TEST(u32, U32)
TYPE_TEST(u64, U64)
TYPE_TEST(i32, I32)
TYPE_TEST(i64, I64)
TYPE_TEST(f32, F32)
TYPE_TEST(f64, F64)
