/* SPDX-License-Identifier: Apache-2.0 */
/* The radix sort against a plain stable sort on the host. */
#include "sort_case.h"
#include "tests/support/overlay.h"

#include "shared/sort.h"

static const size_t seam_sizes[] = { 0,    1,    2,    3,    31,   32,   33,   63,    64,    65,    127,  255,
                                     256,  257,  511,  512,  513,  1023, 1024, 1025,  2047,  2048,  2049, 4095,
                                     4096, 4097, 7679, 7680, 7681, 8191, 8193, 15360, 15361, 16385, 50021 };
#define N_SEAMS (sizeof seam_sizes / sizeof *seam_sizes)

EVERY_MASK_TEST(sort, sizes_at_the_seams)
{
    for (size_t i = 0; i < N_SEAMS; i++)
        check_job(t, &(struct job) { { .key = ORDO_U32, .value_bytes = 4 }, TEST_RANDOM, seam_sizes[i], i % 2 });
    check_job(t, &(struct job) { { .key = ORDO_U32, .value_bytes = 4 }, TEST_RANDOM, 300007, false });
}

DEVICE_TEST(sort, every_type_value_and_shape)
{
    for (int type = 0; type < 6; type++)
        for (size_t v = 0; v < test_n_value_sizes(); v++)
            for (int shape = 0; shape < TEST_N_SHAPES; shape++)
                for (int descending = 0; descending < 2; descending++)
                    for (size_t n = 700; n <= 39322; n += 19311)
                        check_job(t, &(struct job) { { .key = test_types[type],
                                                       .value_bytes = test_value_bytes[type][v],
                                                       .descending = descending != 0 },
                                                     (enum test_shape) shape,
                                                     n,
                                                     shape % 2 == 1 });
}

DEVICE_TEST(sort, bit_ranges)
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
            for (size_t n = 257; n <= 39743; n += 19743)
                check_job(t, &(struct job) { { .key = ranges[i].type,
                                               .value_bytes = test_value_bytes[ranges[i].type][0],
                                               .first_bit = ranges[i].first,
                                               .bits = ranges[i].bits },
                                             TEST_RANDOM,
                                             n,
                                             in_place != 0 });
}

static bool is_own_or_gpu(const struct test *t)
{
    return strcmp(t->mask, "") == 0 || strcmp(t->mask, "cpu=0,progress=1") == 0;
}

/* On a device with the mask of a GPU without lanes, all three methods run, with the fewest and most bits of a digit and
 * a number between that the seed selects. With other masks the fewest and the most; with ORDO_TEST_KINDS=all, all. */
static bool bits_are_tried(const struct test *t, uint32_t bits)
{
    return bits % 4 == 0 || test_wants_all("ORDO_TEST_KINDS") || (is_own_or_gpu(t) && bits == 5 + t->seed % 3);
}

EVERY_MASK_TEST(sort, each_method_on_each_device)
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

DEVICE_TEST(sort, bad_arguments_are_refused)
{
    const struct ordo_sort_params good = { .key = ORDO_U32, .value_bytes = 4 };
    AUTO_ARRAY struct test_array  keys = test_upload(t, NULL, 100, 4, 0), values = test_upload(t, NULL, 100, 4, 0);
    struct ordo_sort_params       bad = good;
    const struct ordo_slice       k = test_slice(&keys), v = test_slice(&values);
    bad.first_bit = 32;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    bad.first_bit = 20;
    bad.bits = 13;
    test_status(t, ordo_sort(t->dev, &bad, k, v, k, v, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, k, k, k, k, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_sort(t->dev, &good, ordo_at(keys.mem, 0), v, ordo_at(keys.mem, 1), v, 50, NULL), ORDO_INVALID);
}

DEVICE_TEST(sort, host_arrays)
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

/* ---- values where there are none --------------------------------------------------------------------------------- */

/* Values that a forgotten value_bytes would leave next to another key. */
DEVICE_TEST(sort, values_without_bytes_are_refused)
{
    uint32_t keys[] = { 3, 1, 2 }, values[] = { 30, 10, 20 };
    test_status(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U32), keys, values, 3), ORDO_INVALID);
    test_true(t, keys[0] == 3 && keys[1] == 1 && keys[2] == 2);
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, 3));
    test_true(t, keys[0] == 1 && keys[1] == 2 && keys[2] == 3);
}

/* ---- plans and the local pass ------------------------------------------------------------------------------------ */

enum { LOCAL_COUNT = 12011, LONG_SEGMENT = 600, FULL_BIN = 300 };

/* Keys are `fixed` except for the bits of `varies`, which are random. */
struct pattern {
    const char *name;
    uint64_t    fixed, varies;
    bool        local; /* the plan has the local pass */
    bool        fools; /* keys that the sample omits are in few segments */
};

static const struct pattern patterns[] = {
    { "all equal", 0x0123456789abcdef, 0, false, false },
    { "a constant high word", 0x0123456700000000, 0xffffffff, false, false },
    { "one digit in the middle", 0x0123456709abcdef, 0xff000000, false, false },
    { "few distinct keys", 0x10, 0x0101010101010101, false, false },
    { "random digits", 0, UINT64_MAX, true, false },
    { "constant top digits", 0x55aa000000000000, 0xffffffffffff, true, false },
    { "64 prefixes of two digits", 0, 0xfc00ffffffffffff, true, false },
    { "equal keys in short segments", 0, 0x1f7f000101010100, true, false },
    { "segments that the sample lacks", 0, UINT64_MAX, true, true },
};
#define N_PATTERNS (sizeof patterns / sizeof *patterns)

/* The range of equal keys is short enough for the local pass, but the keys share one bin, because their segment has
 * another key. The range of the long segment exceeds a group's capacity. */
static uint64_t *pattern_keys(struct test *t, const struct pattern *p, size_t count)
{
    uint64_t      *keys = test_alloc(count * sizeof *keys);
    bool          *seen = test_alloc(count * sizeof *seen);
    const uint32_t size = sort_sample_size((uint32_t) count), step = (uint32_t) count / size;
    size_t         omitted = 0;
    memset(seen, 0, count * sizeof *seen);
    for (uint32_t k = 0; k < size; k++)
        seen[sort_sample_at(k, step)] = true;
    for (size_t i = 0; i < count; i++) {
        const bool fools = p->fools && !seen[i];
        keys[i] = p->fixed | (test_random(t) & p->varies);
        if (fools && omitted < LONG_SEGMENT)
            keys[i] = (uint64_t) 0x8000 << 48 | keys[i] >> 16;
        else if (fools && omitted < LONG_SEGMENT + FULL_BIN)
            keys[i] = 1 << 8;
        else if (fools && omitted == LONG_SEGMENT + FULL_BIN)
            keys[i] = (uint64_t) 1 << 40;
        omitted += fools;
    }
    free(seen);
    return keys;
}

static void set_local(struct test *t, uint32_t method)
{
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", method));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.merged", 0));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.digit_bits", 8));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local_group", 64));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local_items", 8));
}

/* An even and an odd number of passes, in place and not. Patterns that mislead the sample are sorted in each way, the
 * others in one; with ORDO_TEST_KINDS=all in each. */
static void check_patterns(struct test *t, struct ordo_sort_params params, uint32_t first)
{
    for (uint32_t i = 0; i < N_PATTERNS; i++) {
        AUTO_FREE uint64_t *keys = pattern_keys(t, &patterns[i], LOCAL_COUNT);
        for (uint32_t way = 0; way < 3; way++) {
            params.first_bit = way == 0 ? 0 : 8;
            if (patterns[i].fools || way == (first + i) % 3 || test_wants_all("ORDO_TEST_KINDS"))
                check_keys(t, &(struct job) { params, TEST_RANDOM, LOCAL_COUNT, way == 2 }, keys, patterns[i].name);
        }
    }
}

/* Any digits vary: some sets of them, or with ORDO_TEST_KINDS=all each. */
static void check_digits(struct test *t, struct ordo_sort_params params)
{
    const uint32_t step = test_wants_all("ORDO_TEST_KINDS") ? 1 : 37;
    for (uint32_t set = 1; set < 256; set += step) {
        struct pattern p = { "some digits vary", 0, 0, false, false };
        for (uint32_t digit = 0; digit < 8; digit++)
            p.varies |= (uint64_t) (set >> digit & 1 ? 255 : 0) << 8 * digit;
        AUTO_FREE uint64_t *keys = pattern_keys(t, &p, 4099);
        check_keys(t, &(struct job) { params, TEST_RANDOM, 4099, set % 2 == 1 }, keys, p.name);
    }
}

MASK_TEST(sort, plans_and_the_local_pass_give_the_same_order, "cpu=0,progress=1")
{
    const bool                    all = test_wants_all("ORDO_TEST_KINDS");
    const struct ordo_sort_params kinds[] = { { .key = ORDO_U64, .value_bytes = 4 },
                                              { .key = ORDO_U64, .value_bytes = 16 },
                                              { .key = ORDO_I64, .value_bytes = 0 },
                                              { .key = ORDO_F64, .value_bytes = 8, .descending = true } };
    for (uint32_t method = 0; method < 2; method++) {
        set_local(t, method);
        for (size_t kind = 0; kind < (all ? sizeof kinds / sizeof *kinds : 1); kind++) {
            check_patterns(t, kinds[kind], method);
            check_digits(t, kinds[kind]);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

static size_t count_right(const uint64_t *got, const uint64_t *want, size_t from, size_t end)
{
    size_t right = 0;
    for (size_t i = from; i < end; i++)
        right += got[i] == want[i];
    return right;
}

/* An injected fault: the local pass writes zeros. Exactly the elements that it sorts must be wrong. */
static void check_way(struct test *t, const struct pattern *p)
{
    AUTO_FREE uint64_t          *keys = pattern_keys(t, p, LOCAL_COUNT), *got = test_alloc(LOCAL_COUNT * sizeof *got);
    AUTO_ARRAY struct test_array on = test_upload(t, keys, LOCAL_COUNT, 8, 0),
                                 with = test_upload(t, NULL, LOCAL_COUNT, 4, 0);
    size_t middle = 0;
    test_context(t, "the way of %s", p->name);
    test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U64, .value_bytes = 4), test_slice(&on),
                         test_slice(&with), test_slice(&on), test_slice(&with), LOCAL_COUNT, NULL));
    test_ok(t, ordo_device_finish(t->dev));
    test_download(t, &on, got);
    qsort(keys, LOCAL_COUNT, sizeof *keys, by_value);
    while (keys[middle] >> 48 < 0x8000 && middle < LOCAL_COUNT / 2)
        middle++;
    const size_t right = count_right(got, keys, 0, LOCAL_COUNT);
    test_true(t, p->local ? right < LOCAL_COUNT / 2 : right == LOCAL_COUNT);
    test_true(t, !p->local || p->fools || right == 0);
    if (p->fools) { /* sort_large sorts ranges that the local pass leaves */
        test_true(t, count_right(got, keys, 0, FULL_BIN) == FULL_BIN);
        test_true(t, count_right(got, keys, middle, middle + LONG_SEGMENT) == LONG_SEGMENT);
    }
}

static void ways(struct test *t)
{
    set_local(t, 0);
    for (size_t i = 0; i < N_PATTERNS; i++)
        check_way(t, &patterns[i]);
}

/* The results do not show which kernels have sorted. */
Test(sort, the_local_pass_runs_where_keys_are_spread)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "primitive/sort_local.cl", "keys_out[place] = key[i];", "keys_out[place] = 0;");
    overlay_use(&o);
    test_each_device_with("cpu=0,progress=1", ways);
}
