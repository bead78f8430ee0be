/* SPDX-License-Identifier: Apache-2.0 */
/* ordo_merge and ordo_merge_runs against a plain merge on the host. */
#include "merge_case.h"

/* ---- every length ---------------------------------------------------------------------------------------------- */

/* Lengths of two inputs: none, few, around a work-group, around a CPU's chunk, one much longer than the other. */
static const size_t pair_counts[][2] = {
    { 0, 0 },    { 1, 0 },    { 0, 1 },       { 1, 1 },     { 2, 1 },     { 0, 77 },
    { 300, 0 },  { 31, 33 },  { 127, 129 },   { 448, 447 }, { 450, 447 }, { 2047, 2049 },
    { 1, 4096 }, { 4095, 1 }, { 4096, 4097 }, { 3, 30011 }, { 30011, 2 }, { 13001, 17003 },
};
#define N_PAIRS (sizeof pair_counts / sizeof *pair_counts)

static void check_merge(struct test *t, const struct merge_case *c)
{
    test_true(t, try_merge(t, c));
}

static void check_runs(struct test *t, const struct merge_case *c)
{
    test_true(t, try_runs(t, c));
}

/* Every pair of lengths, each with one shape of keys; `turn` rotates the shapes. */
static void check_pairs(struct test *t, ordo_type type, uint32_t value_bytes, bool descending, size_t turn)
{
    for (size_t i = 0; i < N_PAIRS; i++) {
        const enum test_shape   shape = (enum test_shape)((i + turn) % TEST_N_SHAPES);
        const struct merge_case c =
            pair_case(type, value_bytes, descending, shape, pair_counts[i][0], pair_counts[i][1]);
        check_merge(t, &c);
    }
}

/* Every choice of runs; `turn` rotates the shapes. */
static void check_all_runs(struct test *t, ordo_type type, uint32_t value_bytes, bool descending, size_t turn)
{
    for (size_t i = 0; i < N_RUN_COUNTS; i++) {
        const enum test_shape   shape = (enum test_shape)((i + turn) % TEST_N_SHAPES);
        const struct merge_case c = runs_case(type, value_bytes, descending, shape, i);
        check_runs(t, &c);
    }
}

/* ---- tests: every type, every shape ------------------------------------------------------------------------------ */

/* Each order has its own kernels: both for u32, for other types the one that the seed selects; both with
 * ORDO_TEST_KINDS=all. */
DEVICE_TEST(merge, equals_a_plain_merge_for_every_type_of_key_and_value)
{
    size_t turn = 0;
    for (size_t type = 0; type < 6; type++)
        for (size_t v = 0; v < test_n_value_sizes(); v++, turn++) {
            const uint32_t value_bytes = test_value_bytes[type][v];
            for (int descending = 0; descending < 2; descending++)
                if (type == ORDO_U32 || test_wants_all("ORDO_TEST_KINDS") ||
                    (turn + t->seed) % 2 == (size_t) descending)
                    check_pairs(t, test_types[type], value_bytes, descending, turn);
            check_all_runs(t, test_types[type], value_bytes, turn % 2, turn); /* five kernels each */
        }
}

DEVICE_TEST(merge, equals_a_plain_merge_for_every_shape_of_keys)
{
    for (size_t turn = 0; turn < TEST_N_SHAPES; turn++) {
        check_pairs(t, ORDO_U32, 4, false, turn);
        check_all_runs(t, ORDO_U32, 4, false, turn);
    }
}

MOST_MASKS_TEST(merge, equals_a_plain_merge_on_devices_that_can_less)
{
    check_pairs(t, ORDO_U32, 4, false, 0);
    check_all_runs(t, ORDO_U32, 4, false, 0);
}

static void check_wide(struct test *t)
{
    check_pairs(t, ORDO_U128, 4, false, 1);
    check_pairs(t, ORDO_BYTES16, 0, true, 2);
    check_all_runs(t, ORDO_U128, 0, true, 3);
    check_all_runs(t, ORDO_BYTES16, 8, false, 4);
    check_pairs(t, ORDO_U32, 16, false, 5);
    check_all_runs(t, ORDO_U64, 16, false, 6);
}

DEVICE_TEST(merge, equals_a_plain_merge_for_keys_and_values_of_16_bytes)
{
    check_wide(t);
}

MASK_TEST(merge, groups_merge_keys_and_values_of_16_bytes, "cpu=0,progress=1")
{
    check_wide(t);
}

/* ---- tests: tunables ------------------------------------------------------------------------------------------- */

/* Each or every second group size, with few and many items. merge_tunings.c tests all pairs. */
static const uint32_t some_tunings[][2] = { { 1, 5 }, { 64, 17 }, { 128, 8 }, { 256, 11 }, { 512, 5 } };

static void check_some_tunings(struct test *t, const char *tunable, ordo_type type, uint32_t value_bytes, uint32_t step,
                               bool (*merges)(struct test *, ordo_type, uint32_t, size_t))
{
    for (uint32_t i = 0; i < sizeof some_tunings / sizeof *some_tunings; i += step) {
        set(t, tunable, "group", some_tunings[i][0]);
        set(t, tunable, "items", some_tunings[i][1]);
        test_true(t, merges(t, type, value_bytes, i));
    }
}

DEVICE_TEST(merge, any_tuning_gives_the_same_merge)
{
    test_unoptimized(t);
    check_some_tunings(t, "merge", ORDO_U32, 4, 1, merges_as_tuned);
    set(t, "merge", "staged", 1);
    check_some_tunings(t, "merge", ORDO_U64, 8, 2, merges_as_tuned);
    check_some_tunings(t, "merge_runs", ORDO_F64, 8, 2, merges_runs_as_tuned);
    check_some_tunings(t, "merge", ORDO_U128, 8, 2, merges_as_tuned);
    check_some_tunings(t, "merge", ORDO_U32, 16, 2, merges_as_tuned);
}

/* ---- tests: what callers do wrong ------------------------------------------------------------------------------- */

/* The outputs' guards detect writes outside; oclgrind and sanitizers detect reads. */
DEVICE_TEST(merge, unsorted_input_writes_nothing_outside_the_output)
{
    const uint32_t groups[] = { 0, 1, 64 }; /* 0: unchanged */
    for (size_t g = 0; g < 3; g++) {
        if (groups[g]) {
            set(t, "merge", "group", groups[g]);
            set(t, "merge", "items", 7);
            set(t, "merge_runs", "group", groups[g]);
            set(t, "merge_runs", "items", 9);
        }
        for (int shape = 0; shape < TEST_N_SHAPES; shape++) {
            struct merge_case pair = pair_case(ORDO_U32, 4, false, (enum test_shape) shape, 9000, 7001);
            struct merge_case runs = runs_case(ORDO_U32, 4, false, (enum test_shape) shape, N_RUN_COUNTS - 1);
            pair.unsorted = runs.unsorted = true;
            check_merge(t, &pair);
            check_runs(t, &runs);
        }
    }
}

DEVICE_TEST(merge, bad_arguments_are_refused)
{
    const struct ordo_merge_params good = { .key = ORDO_U32, .value_bytes = 4 };
    AUTO_ARRAY struct test_array   a = test_upload(t, NULL, 100, 4, 0), b = test_upload(t, NULL, 100, 4, 0);
    AUTO_ARRAY struct test_array   c = test_upload(t, NULL, 200, 4, 0), d = test_upload(t, NULL, 200, 4, 0);
    const struct ordo_slice        ak = test_slice(&a), bk = test_slice(&b), ck = test_slice(&c), dk = test_slice(&d);
    /* values that no size of values goes with */
    test_status(t, ordo_merge(t->dev, ordo_merge_params(.key = ORDO_U32), ak, ak, 9, bk, bk, 9, ck, dk, NULL),
                ORDO_INVALID);
    /* an output and an input */
    test_status(t, ordo_merge(t->dev, &good, ak, ak, 50, bk, bk, 50, ordo_at(b.mem, 49), dk, NULL), ORDO_INVALID);
    test_status(t, ordo_merge(t->dev, &good, ak, bk, 50, bk, bk, 50, ck, ak, NULL), ORDO_INVALID);
    /* counts beyond the limit, and with a sum that overflows */
    test_status(t, ordo_merge(t->dev, &good, ak, ak, ORDO_MAX_COUNT, bk, bk, 1, ck, dk, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_merge(t->dev, &good, ak, ak, SIZE_MAX, bk, bk, 2, ck, dk, NULL), ORDO_TOO_LARGE);
    test_ok(t, ordo_merge(t->dev, &good, ak, ak, 100, bk, bk, 100, ck, dk, NULL));
    test_ok(t, ordo_device_finish(t->dev));
}

DEVICE_TEST(merge, bad_runs_are_refused)
{
    const struct ordo_merge_params good = { .key = ORDO_U32, .value_bytes = 4 };
    AUTO_ARRAY struct test_array   a = test_upload(t, NULL, 300, 4, 0), b = test_upload(t, NULL, 300, 4, 0);
    AUTO_ARRAY struct test_array   c = test_upload(t, NULL, 300, 4, 0), d = test_upload(t, NULL, 300, 4, 0);
    const struct ordo_slice        ak = test_slice(&a), bk = test_slice(&b), ck = test_slice(&c), dk = test_slice(&d);
    const struct ordo_run          runs[ORDO_MAX_RUNS + 1] = { { 0, 100 }, { 200, 50 }, { 100, 50 } };
    const struct ordo_run          far[] = { { 0, 10 }, { SIZE_MAX, 10 } };
    const struct ordo_run          many[] = { { 0, ORDO_MAX_COUNT }, { 0, 1 } };
    test_status(t, ordo_merge_runs(t->dev, &good, ordo_at(a.mem, 9), bk, far, 2, ck, dk, NULL), ORDO_INVALID);
    test_status(t, ordo_merge_runs(t->dev, &good, ak, bk, many, 2, ck, dk, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_merge_runs(t->dev, &good, ak, bk, runs, 3, ordo_at(a.mem, 249), dk, NULL), ORDO_INVALID);
    /* into the gap between two runs */
    test_ok(t, ordo_merge_runs(t->dev, &good, ak, bk, (struct ordo_run[]) { { 0, 50 }, { 100, 50 } }, 2,
                               ordo_at(a.mem, 150), dk, NULL));
    test_ok(t, ordo_merge_runs(t->dev, &good, ak, bk, runs, 3, ck, dk, NULL));
    test_ok(t, ordo_merge_runs(t->dev, &good, ordo_none(), ordo_none(), NULL, 0, ordo_none(), ordo_none(), NULL));
    test_ok(t, ordo_device_finish(t->dev));
}

/* ---- tests: host arrays, scratch -------------------------------------------------------------------------------- */

DEVICE_TEST(merge, host_arrays_give_the_same_merge)
{
    for (size_t i = 0; i < N_PAIRS; i++) {
        const struct merge_case c =
            pair_case(ORDO_I32, i % 2 ? 4 : 0, false, TEST_FEW, pair_counts[i][0], pair_counts[i][1]);
        (void) merge_of(t, &c, true);
    }
    for (size_t i = 0; i < N_RUN_COUNTS; i++) {
        const struct merge_case c = runs_case(ORDO_I32, i % 2 ? 4 : 0, false, TEST_RANDOM, i);
        (void) runs_of(t, &c, true);
    }
    const struct ordo_merge_params good = { .key = ORDO_U32 };
    const uint32_t                 two[2] = { 1, 2 };
    test_status(t, ordo_merge_host(t->dev, &good, two, NULL, 2, NULL, NULL, 2, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_merge_host(t->dev, &good, two, NULL, SIZE_MAX, two, NULL, 2, NULL, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_merge_runs_host(t->dev, &good, NULL, NULL, NULL, 2, NULL, NULL), ORDO_INVALID);
}

/* 16 runs in the smallest tiles of each group size keep the header's promise. */
DEVICE_TEST(merge, scratch_of_many_runs_stays_within_the_promise)
{
    const uint32_t groups[] = { 0, 1, 64, 256 }; /* 0: unchanged */
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        struct merge_case c = { .type = ORDO_U32, .n_runs = ORDO_MAX_RUNS };
        for (size_t r = 0; r < ORDO_MAX_RUNS; r++)
            c.count[r] = 40000 + 100 * r;
        if (groups[g]) {
            set(t, "merge_runs", "group", groups[g]);
            set(t, "merge_runs", "items", 5);
        }
        test_ok(t, ordo_device_trim(t->dev));
        check_runs(t, &c);
        struct ordo_memory memory;
        test_ok(t, ordo_device_memory(t->dev, &memory));
        const size_t input = (size_t) 4 * (16 * 40000 + 100 * 120);
        test_context(t, "16 runs, group %u: %llu bytes of scratch for %zu of input", groups[g],
                     (unsigned long long) memory.scratch_peak_bytes, input);
        test_true(t, memory.scratch_peak_bytes > 0);
        test_true(t, memory.scratch_peak_bytes <= input * 8 / 100 + 65536);
    }
}
