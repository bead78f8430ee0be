/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions. */
#include "reduce_case.h"

/* ---- tests --------------------------------------------------------------------------------------------------- */

MOST_MASKS_TEST(reduce, is_right_at_every_seam_on_every_device_and_mask)
{
    test_look_back(t);
    try_seams(t, ORDO_I32, ORDO_SUM);
    try_seams(t, ORDO_F64, ORDO_MAX);
    try_reduce(t, ORDO_I32, ORDO_SUM, TEST_RANDOM, 3000017);
}

DEVICE_TEST(reduce, knows_every_type_operation_and_shape)
{
    for (size_t i = 0; i < 6; i++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++)
            for (int shape = 0; shape < TEST_N_SHAPES && goes_with(test_types[i], (ordo_op) op); shape++)
                try_reduce(t, test_types[i], (ordo_op) op, (enum test_shape) shape, test_below(t, 50000));
}

static void tuned(struct test *t)
{
    try_reduce(t, ORDO_U32, ORDO_SUM, TEST_RANDOM, 200000 + test_below(t, 9));
}

DEVICE_TEST(reduce, is_right_however_it_is_tuned)
{
    test_unoptimized(t);
    with_some_tunings(t, tuned);
}

/* Consecutive launches without waits, of none, one and many groups, on the same tickets: each sums 1 .. count. */
MASK_TEST(reduce, takes_one_launch_where_groups_may_wait, "progress=1", "cpu=0,progress=1")
{
    enum { LAUNCHES = 500, COUNT_MAX = 30000 };
    const struct ordo_reduce_params params = { ORDO_U64, ORDO_SUM };
    AUTO_FREE uint64_t *numbers = test_alloc(COUNT_MAX * sizeof *numbers), *want = test_alloc(LAUNCHES * sizeof *want);
    if (!t->facts->groups_progress)
        test_skip("ORDO_MASK=%s: groups promise no progress, so there are two launches", t->mask);
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", 64));
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", 4));
    test_true(t, ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, 8, COUNT_MAX, 0).groups > 1);
    test_true(t, ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, 8, COUNT_MAX, 0).lookback);
    for (uint64_t i = 0; i < COUNT_MAX; i++)
        numbers[i] = i + 1;
    AUTO_ARRAY struct test_array in = test_upload(t, numbers, COUNT_MAX, 8, 0),
                                 out = test_upload(t, NULL, LAUNCHES, 8, 0);
    for (size_t i = 0; i < LAUNCHES; i++) {
        const uint64_t count = test_below(t, COUNT_MAX + 1);

        want[i] = count * (count + 1) / 2;
        test_ok(t, ordo_reduce(t->dev, &params, test_slice(&in), count, ordo_at(out.mem, out.at + i), NULL));
    }
    test_context(t, "sums in one launch each");
    test_expect(t, ORDO_U64, &out, want, LAUNCHES);
}

DEVICE_TEST(reduce, refuses_bad_arguments)
{
    AUTO_ARRAY struct test_array    in = test_upload(t, NULL, 100, 4, 0), out = test_upload(t, NULL, 1, 4, 0);
    const struct ordo_slice         i = test_slice(&in), o = test_slice(&out);
    const struct ordo_reduce_params sum = { ORDO_U32, ORDO_SUM }, floats = { ORDO_F32, ORDO_SUM };
    const struct ordo_reduce_params no_op = { ORDO_U32, (ordo_op) 7 };
    test_context(t, "bad arguments");
    test_status(t, ordo_reduce(t->dev, &no_op, i, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &floats, i, 100, o, NULL), ORDO_UNSUPPORTED);
    test_status(t, ordo_reduce(t->dev, &sum, i, 100, ordo_at(in.mem, 99), NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &sum, i, 99, ordo_at(in.mem, 99), NULL), ORDO_OK);
    test_status(t, ordo_reduce_host(t->dev, &sum, NULL, 0, NULL), ORDO_INVALID);
}
