/* SPDX-License-Identifier: Apache-2.0 */
/* The sort of keys of 16 bytes. */
#include "sort_case.h"
#include "tests/support/overlay.h"

static const struct ordo_sort_params kinds[] = { { .key = ORDO_U128, .value_bytes = 4 },
                                                 { .key = ORDO_BYTES16, .value_bytes = 0, .descending = true },
                                                 { .key = ORDO_BYTES16, .value_bytes = 8 },
                                                 { .key = ORDO_U128, .value_bytes = 0 },
                                                 { .key = ORDO_U128, .value_bytes = 16 } };

static void check_wide(struct test *t, struct ordo_sort_params params, enum wide_shape shape, size_t count,
                       bool in_place)
{
    AUTO_FREE void *keys = test_alloc(count * 16);
    test_wide_keys(t, params.key, shape, count, keys);
    check_keys(t, &(struct job) { params, TEST_RANDOM, count, in_place }, keys, wide_shape_name[shape]);
}

EVERY_MASK_TEST(sort_wide, sizes_at_the_seams)
{
    static const size_t sizes[] = { 0, 1, 2, 3, 64, 255, 256, 257, 1023, 1025, 2049, 4097, 7681, 16385, 40009 };
    for (size_t i = 0; i < LENGTH(sizes); i++)
        check_job(t, &(struct job) { kinds[0], TEST_RANDOM, sizes[i], i % 2 });
}

/* Values of 16 bytes with keys of each size. */
EVERY_MASK_TEST(sort_wide, values_of_16_bytes)
{
    static const ordo_type types[] = { ORDO_U32, ORDO_F64, ORDO_U128 };
    for (uint32_t method = 0; method < 3; method++) {
        const struct ordo_sort_params params = { types[(method + t->seed) % 3], 16, .descending = method == 1 };
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", method));
        check_job(t, &(struct job) { params, TEST_RANDOM, 1000, method == 0 });
        check_job(t, &(struct job) { params, TEST_FEW, 40009, method == 1 });
    }
}

DEVICE_TEST(sort_wide, every_type_and_shape)
{
    for (size_t kind = 0; kind < LENGTH(kinds); kind++)
        for (size_t n = 700; n <= 39322; n += 19311) {
            for (int shape = 0; shape < TEST_N_SHAPES; shape++)
                check_job(t, &(struct job) { kinds[kind], (enum test_shape) shape, n, shape % 2 == 1 });
            for (int shape = 0; shape < WIDE_N_SHAPES; shape++)
                check_wide(t, kinds[kind], (enum wide_shape) shape, n, shape % 2 == 0);
        }
}

DEVICE_TEST(sort_wide, bit_ranges)
{
    static const uint32_t ranges[][2] = { { 0, 1 },   { 127, 1 }, { 0, 64 },   { 64, 0 },  { 63, 2 },  { 60, 8 },
                                          { 33, 70 }, { 1, 0 },   { 100, 20 }, { 0, 128 }, { 5, 122 }, { 128 - 9, 9 } };
    for (size_t i = 0; i < LENGTH(ranges); i++)
        for (size_t n = 257; n <= 39743; n += 19743) {
            struct ordo_sort_params params = kinds[0];
            params.first_bit = ranges[i][0];
            params.bits = ranges[i][1];
            check_job(t, &(struct job) { params, TEST_RANDOM, n, i % 2 == 0 });
        }
}

/* Methods of GPUs, without and with the local pass. Every pattern of varying bytes plans other passes. */
static void check_plans(struct test *t, struct ordo_sort_params params)
{
    for (int shape = 0; shape < WIDE_N_SHAPES; shape++)
        check_wide(t, params, (enum wide_shape) shape, 9001, shape % 2 == 0);
    check_job(t, &(struct job) { params, TEST_RANDOM, 12011, false });
    check_job(t, &(struct job) { params, TEST_FEW, 5003, true });
    params.first_bit = 8;
    check_job(t, &(struct job) { params, TEST_RANDOM, 12011, true });
    for (uint32_t set = 1; set < 1u << 16; set = set * 3 + 0x421) {
        const size_t    bytes = (size_t) 4099 * 16;
        AUTO_FREE void *keys = test_alloc(bytes);
        test_random_bytes(t, keys, bytes);
        for (size_t i = 0; i < bytes; i++)
            ((uint8_t *) keys)[i] *= set >> i % 16 & 1;
        check_keys(t, &(struct job) { params, TEST_RANDOM, 4099, set % 4 == 1 }, keys, "some bytes vary");
    }
}

MASK_TEST(sort_wide, plans_and_the_local_pass_give_the_same_order, "cpu=0,progress=1")
{
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.merged", 0));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.digit_bits", 8));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local_group", 64));
    for (uint32_t method = 0; method < 2; method++) {
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", method));
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
        check_plans(t, kinds[method]);
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 0));
        check_wide(t, kinds[method], WIDE_IPV6, 9001, true);
    }
}

/* ---- segments of the local pass ---------------------------------------------------------------------------------- */

enum { SUBNET_KEYS = 100003, SUBNETS = 1600 };

/* About 63 keys in each of 1600 subnets. The subnets of a range are far apart, so that bins of equal width cannot
 * divide the keys of one. */
static void subnet_keys(struct test *t, void *keys)
{
    uint64_t subnet[SUBNETS];
    for (size_t i = 0; i < SUBNETS; i++)
        subnet[i] = test_random(t);
    for (size_t i = 0; i < SUBNET_KEYS; i++)
        test_form_put(ORDO_U128, (struct test_form) { subnet[test_below(t, SUBNETS)], test_random(t) },
                      (char *) keys + 16 * i);
}

static size_t descents(const char *keys)
{
    size_t n = 0;
    for (size_t i = 1; i < SUBNET_KEYS; i++)
        n += test_form_compare(test_form_of(ORDO_U128, keys + 16 * i - 16), test_form_of(ORDO_U128, keys + 16 * i)) > 0;
    return n;
}

static size_t descents_of_a_sort(struct test *t)
{
    AUTO_FREE void *keys = test_alloc((size_t) SUBNET_KEYS * 16);
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.merged", 0));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.digit_bits", 8));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local_group", 64));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    subnet_keys(t, keys);
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U128), keys, NULL, SUBNET_KEYS));
    return descents(keys);
}

static void sorts_subnets(struct test *t)
{
    test_true(t, descents_of_a_sort(t) == 0);
}

static void reverses_subnets(struct test *t)
{
    test_true(t, descents_of_a_sort(t) > SUBNET_KEYS / 3);
}

/* Only an injected fault shows that segments have bins of their own: it reverses the bins of each segment. */
Test(sort_wide, each_segment_has_bins_of_its_own)
{
    test_each_device_with("cpu=0,progress=1", sorts_subnets);
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "primitive/sort_local.cl", "first + local_bin_of",
                 "first + (which[i] & 0xffff) - 1 - local_bin_of");
    overlay_use(&o);
    test_each_device_with("cpu=0,progress=1", reverses_subnets);
}

EVERY_MASK_TEST(sort_wide, each_method_on_each_device)
{
    for (uint32_t method = 0; method < 3; method++)
        for (uint32_t bits = 4; bits <= 8; bits += 4) {
            test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", method));
            test_ok(t, ordo_device_set_tunable(t->dev, "sort.digit_bits", bits));
            check_wide(t, kinds[0], WIDE_IPV6, 40009, bits == 4);
        }
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

DEVICE_TEST(sort_wide, bad_arguments_are_refused)
{
    const struct ordo_slice      none = ordo_none();
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, 100, 16, 0);
    const struct ordo_slice      k = test_slice(&keys);
    test_status(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U128, .first_bit = 128), k, none, k, none, 100, NULL),
                ORDO_INVALID);
    test_status(t,
                ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U128, .first_bit = 100, .bits = 29), k, none, k, none,
                          100, NULL),
                ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U128), k, none, k, none, 1000, NULL), ORDO_INVALID);
    test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U128), k, none, k, none, 100, NULL));
}

static void expect_refusal(struct test *t, ordo_type type, const char *call, ordo_status got)
{
    char message[512];
    (void) ordo_device_last_error(t->dev, message, sizeof message);
    test_context(t, "%s with keys of type %s", call, test_type_name[type]);
    test_status(t, got, ORDO_UNSUPPORTED);
    test_true(t, strstr(message, call) && strstr(message, test_type_name[type]));
}

DEVICE_TEST(sort_wide, other_calls_name_the_type_and_themselves)
{
    uint64_t keys[2] = { 1, 2 }, out[4];
    uint32_t counts[2];
    for (int i = 0; i < 2; i++) {
        const ordo_type type = test_wide_types[i];
        expect_refusal(t, type, "ordo_scan", ordo_scan_host(t->dev, ordo_scan_params(.type = type), keys, out, 1));
        expect_refusal(t, type, "ordo_reduce",
                       ordo_reduce_host(t->dev, ordo_reduce_params(.type = type), keys, 1, out));
        expect_refusal(t, type, "ordo_reduce_by_key",
                       ordo_reduce_by_key_host(t->dev, ordo_reduce_by_key_params(.value = type), counts, keys, 1, out,
                                               out, counts, 1, counts + 1));
    }
}

DEVICE_TEST(sort_wide, unaligned_buffers_are_refused)
{
    AUTO_ARRAY struct test_array         keys = test_upload(t, NULL, 100, 16, 0);
    AUTO_UNALIGNED struct test_unaligned buffer = test_unaligned_buffer(t, 1600);
    const struct ordo_slice              k = test_slice(&keys), none = ordo_none(), odd = ordo_at(buffer.mem, 0);

    if (!buffer.mem)
        return;
    for (int i = 0; i < 2; i++) {
        const struct ordo_sort_params params = { .key = test_wide_types[i] };
        test_unaligned_refused(t, ordo_sort(t->dev, &params, odd, none, k, none, 100, NULL), "keys_in");
        test_unaligned_refused(t, ordo_sort(t->dev, &params, k, none, odd, none, 100, NULL), "keys_out");
        test_unaligned_refused(t, ordo_sort(t->dev, &params, odd, none, odd, none, 100, NULL), "keys_in");
    }
    test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U64), odd, none, odd, none, 100, NULL));
    test_ok(t, ordo_device_finish(t->dev));
}

/* `at` counts elements of 16 bytes, so that no offset gives the alignment that the buffer lacks. */
static void refuse_values(struct test *t, ordo_type key, cl_mem keys, cl_mem values, struct ordo_slice odd)
{
    const struct ordo_sort_params params = { .key = key, .value_bytes = 16 };
    const struct ordo_slice       k = ordo_at(keys, 0), out = ordo_at(keys, 50), v = ordo_at(values, 0);

    test_context(t, "values for keys of type %s, from element %zu on", test_type_name[key], odd.at);
    test_unaligned_refused(t, ordo_sort(t->dev, &params, k, odd, out, v, 50, NULL), "values_in");
    test_unaligned_refused(t, ordo_sort(t->dev, &params, k, v, out, odd, 50, NULL), "values_out");
    test_unaligned_refused(t, ordo_sort(t->dev, &params, k, odd, k, odd, 50, NULL), "values_in");
}

DEVICE_TEST(sort_wide, unaligned_values_are_refused)
{
    static const ordo_type               types[] = { ORDO_U32, ORDO_F64, ORDO_U128 };
    AUTO_ARRAY struct test_array         keys = test_upload(t, NULL, 100, 16, 0);
    AUTO_ARRAY struct test_array         values = test_upload(t, NULL, 100, 16, 0);
    AUTO_UNALIGNED struct test_unaligned buffer = test_unaligned_buffer(t, 1600);
    const struct ordo_sort_params        narrow = { .key = ORDO_U32, .value_bytes = 8 };
    const struct ordo_slice              k = test_slice(&keys), odd = ordo_at(buffer.mem, 0);

    if (!buffer.mem)
        return;
    for (size_t i = 0; i < LENGTH(types); i++)
        for (size_t at = 0; at < 3; at++)
            refuse_values(t, types[i], keys.mem, values.mem, ordo_at(buffer.mem, at));
    test_ok(t, ordo_sort(t->dev, &narrow, k, odd, k, odd, 100, NULL));
    test_ok(t, ordo_device_finish(t->dev));
}

/* Host arrays may have any alignment. */
DEVICE_TEST(sort_wide, host_arrays)
{
    const struct given                      g = array_given(t, ORDO_BYTES16, 0, 5000);
    AUTO_FREE char                         *memory = test_alloc(5000 * 16 + 8);
    void                                   *keys = memory + 8;
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_sort", &g);
    test_wide_keys(t, ORDO_BYTES16, WIDE_UUID4, 5000, c.host[0]);
    memcpy(keys, c.host[0], (size_t) 5000 * 16);
    array_case_check_host(&c);
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_BYTES16), keys, NULL, 5000));
    test_same(t, "keys", ORDO_BYTES16, keys, c.host[2], 5000);
    for (size_t i = 1; i < 5000; i++)
        test_true(t, memcmp((char *) keys + 16 * (i - 1), (char *) keys + 16 * i, 16) <= 0);
}
