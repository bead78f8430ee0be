/* SPDX-License-Identifier: Apache-2.0 */
/* The radix sort against a plain stable sort on the host. */
#include "sort_case.h"

static const size_t seam_sizes[] = { 0,    1,    2,    3,    31,   32,   33,   63,    64,    65,    127,  255,
                                     256,  257,  511,  512,  513,  1023, 1024, 1025,  2047,  2048,  2049, 4095,
                                     4096, 4097, 7679, 7680, 7681, 8191, 8193, 15360, 15361, 16385, 50021 };
#define N_SEAMS (sizeof seam_sizes / sizeof *seam_sizes)

static void every_seam(struct test *t)
{
    for (size_t i = 0; i < N_SEAMS; i++)
        check_job(t, &(struct job) { { .key = ORDO_U32, .value_bytes = 4 }, TEST_RANDOM, seam_sizes[i], i % 2 });
    check_job(t, &(struct job) { { .key = ORDO_U32, .value_bytes = 4 }, TEST_RANDOM, 300007, false });
}

Test(sort, sizes_at_the_seams)
{
    test_each_device_and_mask(every_seam);
}

static void every_type(struct test *t)
{
    for (int type = 0; type < 6; type++)
        for (size_t v = 0; v < test_n_value_sizes(); v++)
            for (int shape = 0; shape < TEST_N_SHAPES; shape++)
                for (int descending = 0; descending < 2; descending++)
                    for (size_t n = 700; n <= 20011; n += 19311)
                        check_job(t, &(struct job) { { .key = test_types[type],
                                                       .value_bytes = test_value_bytes[type][v],
                                                       .descending = descending != 0 },
                                                     (enum test_shape) shape,
                                                     n,
                                                     shape % 2 == 1 });
}

Test(sort, every_type_value_and_shape)
{
    test_each_device(every_type);
}

static void bit_ranges(struct test *t)
{
    static const struct {
        ordo_type type;
        uint32_t  first, bits;
    } ranges[] = {
        { ORDO_U32, 0, 1 },  { ORDO_U32, 31, 1 },  { ORDO_U32, 5, 0 },   { ORDO_U32, 3, 17 }, { ORDO_U32, 8, 8 },
        { ORDO_U32, 24, 8 }, { ORDO_U64, 0, 24 },  { ORDO_U64, 20, 24 }, { ORDO_U64, 63, 1 }, { ORDO_U64, 30, 0 },
        { ORDO_F32, 23, 9 }, { ORDO_I64, 40, 24 }, { ORDO_F64, 52, 12 },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (size_t n = 257; n <= 20000; n += 19743)
                check_job(t, &(struct job) { { .key = ranges[i].type,
                                               .value_bytes = test_value_bytes[ranges[i].type][0],
                                               .first_bit = ranges[i].first,
                                               .bits = ranges[i].bits },
                                             TEST_RANDOM,
                                             n,
                                             in_place != 0 });
}

Test(sort, bit_ranges)
{
    test_each_device(bit_ranges);
}

static bool is_own_or_gpu(const struct test *t)
{
    return strcmp(t->mask, "") == 0 || strcmp(t->mask, "cpu=0,progress=1") == 0;
}

/* On a device that is taken for a GPU without lanes all three methods run, by the fewest bits of a digit, the most, and a number in between
 * that the seed decides. With other masks the fewest and the most; with ORDO_TEST_KINDS=all, all. */
static bool bits_are_tried(const struct test *t, uint32_t bits)
{
    return bits % 4 == 0 || test_wants_all("ORDO_TEST_KINDS") || (is_own_or_gpu(t) && bits == 5 + t->seed % 3);
}

static void methods_of_gpus(struct test *t)
{
    for (uint32_t method = 0; method < 3; method++)
        for (uint32_t bits = 4; bits <= 8; bits++) {
            if (!bits_are_tried(t, bits))
                continue;
            test_ok(t, ordo_device_set_tunable(t->dev, "sort.k4v4.method", method));
            test_ok(t, ordo_device_set_tunable(t->dev, "sort.k4v4.digit_bits", bits));
            for (int shape = 0; shape < TEST_N_SHAPES; shape++)
                check_job(t,
                          &(struct job) {
                              { .key = ORDO_U32, .value_bytes = 4 }, (enum test_shape) shape, 40009, shape % 2 == 0 });
        }
}

Test(sort, each_method_on_each_device)
{
    test_each_device_and_mask(methods_of_gpus);
}

static void bad_arguments(struct test *t)
{
    const struct ordo_sort_params good = { .key = ORDO_U32, .value_bytes = 4 };
    struct test_array             keys = test_upload(t, NULL, 100, 4, 0), values = test_upload(t, NULL, 100, 4, 0);
    struct ordo_sort_params       bad = good;
    const struct ordo_slice       k = test_slice(&keys), v = test_slice(&values);

    test_status(t, ordo_sort(NULL, &good, k, v, k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, NULL, k, v, k, v, 100, NULL), ORDO_INVALID);
    bad.key = (ordo_type) 17;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    bad = good;
    bad.value_bytes = 3;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    bad = good;
    bad.first_bit = 32;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    bad.first_bit = 20;
    bad.bits = 13;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, k, v, k, v, ORDO_MAX_COUNT + 1, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_sort(t->dev, &good, ordo_none(), v, k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, k, ordo_none(), k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, k, v, k, v, 1000000, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, ordo_at(keys.mem, (size_t) -1), v, k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, k, k, k, k, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, ordo_at(keys.mem, 0), v, ordo_at(keys.mem, 1), v, 50, NULL), ORDO_INVALID);
    bad = good;
    bad.value_bytes = 0;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    test_free(&keys);
    test_free(&values);
}

Test(sort, bad_arguments_are_refused)
{
    test_each_device(bad_arguments);
}

static void host_arrays(struct test *t)
{
    double                        keys[] = { 3.0, -0.0, 0.0, -7.5, 1e300, -1e300, 2.0 };
    uint32_t                      values[] = { 0, 1, 2, 3, 4, 5, 6 };
    const double                  want[] = { -1e300, -7.5, -0.0, 0.0, 2.0, 3.0, 1e300 };
    const uint32_t                want_values[] = { 5, 3, 1, 2, 6, 0, 4 };
    const struct ordo_sort_params params = { .key = ORDO_F64, .value_bytes = 4 };
    test_ok(t, ordo_sort_host(t->dev, &params, keys, values, 7));
    test_same(t, "keys", ORDO_F64, keys, want, 7);
    test_same(t, "values", ORDO_U32, values, want_values, 7);
    test_ok(t, ordo_sort_host(t->dev, &params, NULL, NULL, 0));
    test_status(t, ordo_sort_host(t->dev, &params, NULL, values, 7), ORDO_INVALID);
    test_status(t, ordo_sort_host(t->dev, &params, keys, keys + 6, 7), ORDO_INVALID);
}

Test(sort, host_arrays)
{
    test_each_device(host_arrays);
}

/* ---- values where there are none --------------------------------------------------------------------------------- */

/* Values that a forgotten value_bytes would leave where they were, each beside another's key. */
static void check_values_without_bytes(struct test *t)
{
    uint32_t keys[] = { 3, 1, 2 }, values[] = { 30, 10, 20 };

    test_status(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U32), keys, values, 3), ORDO_INVALID);
    test_true(t, keys[0] == 3 && keys[1] == 1 && keys[2] == 2);
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, 3));
    test_true(t, keys[0] == 1 && keys[1] == 2 && keys[2] == 3);
}

Test(sort, values_without_bytes_are_refused)
{
    test_each_device(check_values_without_bytes);
}
