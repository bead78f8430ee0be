/* SPDX-License-Identifier: Apache-2.0 */
/* Random input: see support.h. */
#include "support.h"
#include "wide.h"

const char *const test_shape_name[TEST_N_SHAPES] = { "random", "ascending", "descending", "equal", "few", "extremes" };
const ordo_type   test_types[6] = { ORDO_U32, ORDO_U64, ORDO_I32, ORDO_I64, ORDO_F32, ORDO_F64 };
const char *const test_type_name[8] = { "u32", "u64", "i32", "i64", "f32", "f64", "u128", "bytes16" };
const uint32_t    test_value_bytes[8][TEST_VALUE_SIZES] = { { 4, 0, 8, 16 }, { 0, 4, 8, 16 }, { 0, 4, 8, 16 },
                                                            { 16, 4, 0, 8 }, { 8, 0, 4, 16 }, { 8, 0, 4, 16 },
                                                            { 4, 0, 8, 16 }, { 16, 0, 8, 4 } };

size_t test_n_value_sizes(void)
{
    return test_wants_all("ORDO_TEST_KINDS") ? TEST_VALUE_SIZES : 1;
}

/* Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA 2014). */
uint64_t test_random(struct test *t)
{
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_below(struct test *t, uint64_t n)
{
    return test_random(t) % n;
}

void test_random_bytes(struct test *t, void *to, size_t bytes)
{
    uint8_t *byte = to;

    for (size_t i = 0; i < bytes; i++)
        byte[i] = (uint8_t) test_random(t);
}

static const uint64_t extreme32[] = { 0,          1,          0xffffffff, 0xfffffffe, 0x7fffffff,
                                      0x80000000, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000,
                                      0xffc00000, 0x7f800001, 0x3f800000, 0xbf800000 };
static const uint64_t extreme64[] = { 0,
                                      1,
                                      UINT64_MAX,
                                      UINT64_MAX - 1,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0x8000000000000001,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000000,
                                      0xfff8000000000000,
                                      0x7ff0000000000001,
                                      0x00000000ffffffff,
                                      0xffffffff00000000 };

static uint64_t extreme(struct test *t, size_t bytes)
{
    if (bytes == 4)
        return extreme32[test_below(t, sizeof extreme32 / sizeof *extreme32)];
    return extreme64[test_below(t, sizeof extreme64 / sizeof *extreme64)];
}

static void put_bits(void *keys, size_t bytes, size_t i, uint64_t bits)
{
    if (bytes == 4)
        ((uint32_t *) keys)[i] = (uint32_t) bits;
    else
        ((uint64_t *) keys)[i] = bits;
}

static ordo_type sorted_type; /* qsort passes no context */

static int by_sorted_type(const void *a, const void *b)
{
    return test_form_compare(test_form_of(sorted_type, a), test_form_of(sorted_type, b));
}

static void reverse_keys(size_t bytes, size_t count, uint8_t *keys)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint8_t *a = keys + i * bytes;
        uint8_t *b = keys + (count - 1 - i) * bytes;
        uint8_t  held[16];

        memcpy(held, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, held, bytes);
    }
}

void test_sort_keys(ordo_type type, bool descending, size_t count, void *keys)
{
    sorted_type = type;
    qsort(keys, count, ordo_type_bytes(type), by_sorted_type);
    if (descending)
        reverse_keys(ordo_type_bytes(type), count, keys);
}

size_t test_seams(size_t group, size_t tile, size_t counts[TEST_SEAMS])
{
    const size_t wanted[] = { 0,    1,        2,        3,        group - 1,    group,    group + 1,    tile - 1,
                              tile, tile + 1, tile * 2, tile * 3, tile * 4 + 1, tile * 9, tile * 9 + 7, tile * 30 - 1 };
    size_t       n = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (n == 0 || wanted[i] > counts[n - 1])
            counts[n++] = wanted[i];
    return n;
}

static uint64_t key_of_shape(struct test *t, size_t bytes, enum test_shape shape, const uint64_t few[5])
{
    switch (shape) {
    case TEST_EQUAL:
        return few[0];
    case TEST_FEW:
        return few[test_below(t, 5)];
    case TEST_EXTREMES:
        return extreme(t, bytes);
    default:
        return test_random(t);
    }
}

void test_keys(struct test *t, ordo_type type, enum test_shape shape, size_t count, void *keys)
{
    const size_t bytes = ordo_type_bytes(type);
    uint64_t     few[5];

    for (size_t i = 0; i < 5; i++)
        few[i] = test_random(t);
    if (bytes == 16) /* words of the same five numbers: 25 keys */
        for (size_t i = 0; i < 2 * count; i++)
            put_bits(keys, 8, i, key_of_shape(t, 8, shape, shape == TEST_EQUAL ? few + i % 2 : few));
    else
        for (size_t i = 0; i < count; i++)
            put_bits(keys, bytes, i, key_of_shape(t, bytes, shape, few));
    if (shape != TEST_ASCENDING && shape != TEST_DESCENDING)
        return;
    for (size_t i = 1; i < count; i += 7) /* duplicates */
        memcpy((uint8_t *) keys + i * bytes, (uint8_t *) keys + (i - 1) * bytes, bytes);
    test_sort_keys(type, shape == TEST_DESCENDING, count, keys);
}
