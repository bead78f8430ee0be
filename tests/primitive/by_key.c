/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of equal keys: reductions by key, and unique keys. */
#include "by_key_case.h"

#include "tests/support/overlay.h"

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void try_seams(struct test *t, ordo_type key, ordo_type value, bool values)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = array_seams(t, ORDO_BY_KEY_GROUP, ORDO_BY_KEY_ITEMS, 8, counts);
    for (size_t i = 0; i < n; i++) {
        struct by_key_case c = random_by_key(t, key, value, values, counts[i]);
        c.sorted = true;
        try_by_key(t, &c, false);
    }
}

EVERY_MASK_TEST(by_key, is_right_at_every_seam_on_every_device_and_mask)
{
    try_seams(t, ORDO_U32, ORDO_U64, true);
    try_seams(t, ORDO_I64, ORDO_U32, false);
}

MASK_TEST(by_key, knows_every_type_of_key_and_value, "", "cpu=0,progress=1")
{
    const size_t step = t->mask[0] && !test_wants_all("ORDO_TEST_KINDS") ? 3 : 1; /* each is kernels to build */
    for (size_t k = 0; k < 6; k += step) {
        struct by_key_case c =
            random_by_key(t, test_types[k], test_types[test_below(t, 6)], true, test_below(t, 30000));
        try_by_key(t, &c, true);
        if (k % 2 == 0)
            continue;
        c = random_by_key(t, test_types[k], ORDO_U32, false, test_below(t, 30000));
        try_by_key(t, &c, true);
    }
}

/* Both types have the same kernels if the keys are sorted. */
static void check_wide(struct test *t, bool values)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = array_seams(t, ORDO_BY_KEY_GROUP, ORDO_BY_KEY_ITEMS, 16, counts);
    for (size_t i = 0; i < n + 2; i++) {
        struct by_key_case c =
            random_by_key(t, test_wide_types[i % 2], ORDO_I32, values, i < n ? counts[i] : 20000 + test_below(t, 99));
        c.op = ORDO_SUM;
        c.wide = values;
        c.sorted = i < n;
        try_by_key(t, &c, i >= n);
    }
}

MASK_TEST(by_key, takes_keys_of_16_bytes, "", "cpu=0", "cpu=0,progress=1")
{
    check_wide(t, true);
    check_wide(t, false);
}

/* Every operation and type of value, sums in both widths. The seed omits half of these kernels (`reduce` has all of
 * these folds), unless ORDO_TEST_KINDS=all. */
DEVICE_TEST(by_key, knows_every_operation)
{
    for (size_t v = 0; v < 6; v++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++)
            for (int wide = 0; wide < 2; wide++) {
                struct by_key_case c = random_by_key(t, ORDO_U32, test_types[v], true, 3000 + test_below(t, 9));
                if (!goes_with(test_types[v], (ordo_op) op) ||
                    (wide && (op != ORDO_SUM || ordo_type_bytes(test_types[v]) == 8)))
                    continue;
                if (!test_wants_all("ORDO_TEST_KINDS") && (v + (size_t) op + (size_t) wide + t->seed) % 2 == 0)
                    continue;
                c.op = (ordo_op) op;
                c.wide = wide;
                try_by_key(t, &c, true);
            }
}

/* Groups by a small number, as in a table. */
MASK_TEST(by_key, groups_a_million_rows, "", "cpu=0,progress=1")
{
    struct by_key_case c = { .key = ORDO_U32,
                             .value = ORDO_U32,
                             .values = true,
                             .wide = true,
                             .count = 1000003,
                             .capacity = 1000003,
                             .different = 100000,
                             .run_length = 1 };
    try_by_key(t, &c, true);
    if (t->facts->cpu) {
        c.bits = 17;
        c.spread = 1000000000;
        try_by_key(t, &c, true);
        c.spread = 0;
        c.bits = 0;
    }
    c.sorted = true;
    c.run_length = 3000;
    try_by_key(t, &c, false);
}

/* Keys that differ in few low bits. CPUs index tables by these bits instead of a sort. */
MASK_TEST(by_key, groups_by_numbers, "")
{
    static const ordo_type keys[] = { ORDO_U32, ORDO_I32, ORDO_U64, ORDO_I64, ORDO_F32 };
    static const uint32_t  spreads[] = { 1, 1000, 1000000000 };
    test_unoptimized(t);
    for (size_t k = 0; k < LENGTH(keys); k++) {
        struct by_key_case c = random_by_key(t, keys[k], k % 2 ? ORDO_I32 : ORDO_U64, k != 3, 0);
        c.sorted = false;
        for (size_t i = 0; i < 3 * LENGTH(spreads); i++) {
            c.spread = spreads[i % 3];
            c.bits = 1 + (uint32_t) test_below(t, 12);
            c.count = ((size_t) 1 << c.bits) * (i / 3 + 1) / 2 - test_below(t, 2);
            c.capacity = test_below(t, 2) ? c.count : test_below(t, c.count + 1);
            try_by_key(t, &c, true);
        }
        c.count += 20000;
        try_by_key(t, &c, true);
    }
}

static void tuned(struct test *t)
{
    struct by_key_case c = random_by_key(t, ORDO_U32, ORDO_U32, true, 60000 + test_below(t, 9));
    c.sorted = true;
    try_by_key(t, &c, false);
    c = random_by_key(t, ORDO_U64, ORDO_U64, false, 60000 + test_below(t, 9));
    c.sorted = true;
    try_by_key(t, &c, false);
}

MASK_TEST(by_key, is_right_however_it_is_tuned, "progress=1")
{
    test_unoptimized(t);
    if (!test_compiler_ends_processes(t))
        with_some_tunings(t, tuned);
}

static void unanswered(struct test *t)
{
    set_tuning(t, ORDO_SCAN_LOOKBACK, 64, 4);
    tuned(t);
}

/* Odd tiles hide their own fold, and all tiles their prefix. No tile polls. */
Test(by_key, tiles_that_do_not_answer_are_folded_again)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "group/lookback.cl", "#define LOOKBACK_POLLS 65536", "#define LOOKBACK_POLLS 16");
    overlay_edit(&o, "group/lookback.cl", "#define LOOKBACK_FAULTS 0", "#define LOOKBACK_FAULTS 5");
    overlay_use(&o);
    test_each_device_with("cpu=0,progress=1", unanswered);
}

/* The header's promise for sorted keys: 1 % of the input and 64 KiB. */
MASK_TEST(by_key, takes_little_scratch, "progress=1")
{
    enum { COUNT = 3000000 };
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, COUNT, 4, 0), values = test_upload(t, NULL, COUNT, 4, 0);
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, 3, 8, 0), groups = test_upload(t, NULL, 1, 4, 0);
    const uint32_t               one = 1;
    struct ordo_memory           memory;
    for (int method = 0; method < 2; method++) {
        test_context(t, "scratch of method %d", method);
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", (uint32_t) method));
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t,
                ordo_reduce_by_key(t->dev, ordo_reduce_by_key_params(.value = ORDO_U32, .wide = true, .sorted = true),
                                   test_slice(&keys), test_slice(&values), COUNT, ordo_at(out.mem, 0),
                                   ordo_at(out.mem, 1), ordo_at(out.mem, 4), 1, test_slice(&groups), NULL));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        test_true(t, memory.scratch_peak_bytes > 0 && memory.scratch_peak_bytes <= COUNT * 8 / 100 + 65536);
        test_expect(t, ORDO_U32, &groups, &one, 1);
    }
}

DEVICE_TEST(by_key, refuses_bad_arguments)
{
    const struct ordo_reduce_by_key_params sum = { ORDO_U32, ORDO_U32, ORDO_SUM, false, false, 0 };
    struct ordo_reduce_by_key_params       bad;
    struct test_array                      array[6];
    struct ordo_slice                      k, v, ko, vo, c, g;
    for (size_t i = 0; i < 6; i++)
        array[i] = test_upload(t, NULL, 100, 4, 0);
    k = test_slice(&array[0]), v = test_slice(&array[1]), ko = test_slice(&array[2]);
    vo = test_slice(&array[3]), c = test_slice(&array[4]), g = test_slice(&array[5]);

    test_context(t, "bad arguments");
    bad = sum, bad.value = ORDO_F32;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 100, g, NULL), ORDO_UNSUPPORTED);
    bad = sum, bad.value = (ordo_type) 9;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 100, g, NULL), ORDO_INVALID);
    bad = sum, bad.op = (ordo_op) 3;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 100, g, NULL), ORDO_INVALID);
    bad = sum, bad.bits = 33;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 100, g, NULL), ORDO_INVALID);
    bad = sum, bad.wide = true, bad.op = ORDO_MAX;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 50, g, NULL), ORDO_INVALID);
    bad = sum, bad.wide = true, bad.value = ORDO_U64;
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 50, ko, vo, c, 50, g, NULL), ORDO_INVALID);
    bad = sum, bad.wide = true; /* results of 8 bytes: 58 and the guard fit */
    test_status(t, ordo_reduce_by_key(t->dev, &bad, k, v, 100, ko, vo, c, 100, g, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce_by_key(t->dev, &sum, k, v, 100, ko, vo, ordo_none(), 100, g, NULL), ORDO_OK);
    test_status(t, ordo_reduce_by_key(t->dev, &sum, k, v, 100, ordo_none(), ordo_none(), c, 0, g, NULL), ORDO_OK);
    for (size_t i = 0; i < 6; i++)
        test_free(&array[i]);
}
