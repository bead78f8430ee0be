/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries large enough for work in parts: the maximum number of runs, more queries and elements than ranks are
 * kept for. A formula gives the expected results. Takes minutes and 3 GiB, so it is in the suite `slow`. */
#include "tests/support/support.h"

#include "ordo/lsm.h"
#include "ordo/sorted_array.h"

#include <stdlib.h>

static struct ordo_statistics statistics_of(struct test *t, ordo_dict *dict)
{
    struct ordo_statistics s;

    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s;
}

/* ---- many runs --------------------------------------------------------------------------------------------------- */

/* Batch b stores value b for every multiple of 2^b below KEYS, so each is half the size of the one before. The first
 * RUNS_MAX stay separate runs on a CPU with growth 2. */
enum { KEYS = 1 << 25, BATCHES = 17, RUNS_MAX = 16, QUERIES = 200000 };

static uint32_t newest_of(uint32_t key)
{
    uint32_t b = 0;

    while (b + 1 < BATCHES && key % (2u << b) == 0)
        b++;
    return b;
}

static ordo_dict *make_many_runs(struct test *t)
{
    ordo_dict          *dict = NULL;
    AUTO_FREE uint32_t *keys = test_alloc((size_t) KEYS * sizeof *keys),
                       *values = test_alloc((size_t) KEYS * sizeof *values);

    test_ok(t,
            ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = 2, .keep_runs = true), &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        const uint32_t count = KEYS >> b;
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = i << b;
            values[i] = b;
        }
        test_context(t, "batch %u", b);
        test_ok(t, ordo_dict_upsert_host(dict, keys, values, count));
        test_ok(t, ordo_device_trim(t->dev));
        if (b + 1 == RUNS_MAX && t->facts->cpu)
            test_true(t, statistics_of(t, dict).runs == RUNS_MAX);
    }
    return dict;
}

/* With `erased`, odd batches erase elements whose number is a multiple of 3. */
static bool is_erased(uint32_t key)
{
    return key % 2 && key / 2 % 3 == 0;
}

static void expect_found(struct test *t, ordo_dict *dict, bool erased)
{
    static uint32_t keys[QUERIES], values[QUERIES], want[QUERIES];
    static uint8_t  found[QUERIES], want_found[QUERIES];

    for (size_t i = 0; i < QUERIES; i++) {
        keys[i] = (uint32_t) test_below(t, KEYS + KEYS / 8) & ~((1u << test_below(t, 20)) - 1);
        want_found[i] = keys[i] < KEYS && !(erased && is_erased(keys[i]));
        values[i] = want[i] = 77;
        if (want_found[i])
            want[i] = newest_of(keys[i]);
    }
    test_ok(t, ordo_dict_find_host(dict, keys, QUERIES, values, found));
    test_same(t, "values", ORDO_U32, values, want, QUERIES);
    test_same_bytes(t, "found", found, want_found, QUERIES);
}

/* The number of present keys below `end`. */
static uint32_t keys_below(uint32_t end, bool erased)
{
    return end - (erased ? (end / 2 + 2) / 3 : 0);
}

static void expect_counts(struct test *t, ordo_dict *dict, bool erased)
{
    static uint32_t lo[QUERIES], hi[QUERIES], counts[QUERIES], want[QUERIES];

    for (size_t i = 0; i < QUERIES; i++) {
        lo[i] = (uint32_t) test_below(t, KEYS);
        hi[i] = lo[i] + (uint32_t) test_below(t, i % 2 ? 200 : KEYS);
        want[i] = keys_below(hi[i] < KEYS ? hi[i] + 1 : KEYS, erased) - keys_below(lo[i], erased);
    }
    test_ok(t, ordo_dict_count_host(dict, lo, hi, QUERIES, counts));
    test_same(t, "counts", ORDO_U32, counts, want, QUERIES);
}

static void expect_successors(struct test *t, ordo_dict *dict, bool erased)
{
    static uint32_t keys[QUERIES], next[QUERIES], want[QUERIES], values[QUERIES], want_values[QUERIES];

    for (size_t i = 0; i < QUERIES; i++) {
        keys[i] = (uint32_t) test_below(t, KEYS - 10);
        want[i] = keys[i] + 1;
        while (erased && is_erased(want[i]))
            want[i]++;
        want_values[i] = newest_of(want[i]);
    }
    test_ok(t, ordo_dict_seek_host(dict, ORDO_GT, keys, QUERIES, next, values, NULL));
    test_same(t, "successors", ORDO_U32, next, want, QUERIES);
    test_same(t, "their values", ORDO_U32, values, want_values, QUERIES);
}

/* More ranges than ranks in all runs are kept for, and their elements, two keys each. */
static void expect_ranges(struct test *t, ordo_dict *dict)
{
    const size_t        n = 2200000;
    AUTO_FREE uint32_t *lo = test_alloc(n * 4), *hi = test_alloc(n * 4), *keys = test_alloc(2 * n * 4),
                       *values = test_alloc(2 * n * 4), *want = test_alloc(2 * n * 4);
    AUTO_FREE uint64_t *offsets = test_alloc((n + 1) * sizeof *offsets);
    size_t              needed = 0;

    for (uint32_t i = 0; i < n; i++) {
        lo[i] = i * 2654435761u % (KEYS - 1);
        hi[i] = lo[i] + 1;
    }
    test_ok(t, ordo_dict_range_host(dict, lo, hi, n, offsets, keys, values, 2 * n, &needed));
    test_true(t, needed == 2 * n);
    for (size_t i = 0; i <= n; i++)
        test_true(t, offsets[i] == 2 * i);
    for (size_t i = 0; i < 2 * n; i++)
        want[i] = lo[i / 2] + i % 2;
    test_same(t, "keys of ranges", ORDO_U32, keys, want, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        want[i] = newest_of(want[i]);
    test_same(t, "values of ranges", ORDO_U32, values, want, 2 * n);
}

static void erase_some(struct test *t, ordo_dict *dict)
{
    AUTO_FREE uint32_t *keys = test_alloc((size_t) KEYS / 2 * sizeof *keys);
    uint32_t            n = 0;

    for (uint32_t key = 0; key < KEYS; key++)
        if (is_erased(key))
            keys[n++] = key;
    test_ok(t, ordo_dict_erase_host(dict, keys, n));
}

DEVICE_TEST(dict_large, the_maximum_number_of_runs)
{
    AUTO_DICT ordo_dict *dict = make_many_runs(t);
    size_t               size = 0;

    test_context(t, "%d batches", (int) BATCHES);
    expect_found(t, dict, false);
    expect_counts(t, dict, false);
    expect_successors(t, dict, false);
    expect_ranges(t, dict);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_context(t, "%d batches, and some erased", (int) BATCHES);
    erase_some(t, dict);
    expect_found(t, dict, true);
    expect_counts(t, dict, true);
    expect_successors(t, dict, true);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == keys_below(KEYS, true));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_context(t, "%d batches, compact", (int) BATCHES);
    test_ok(t, ordo_dict_compact(dict, NULL));
    expect_found(t, dict, true);
    expect_counts(t, dict, true);
    expect_successors(t, dict, true);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* ---- many queries ------------------------------------------------------------------------------------------------ */

DEVICE_TEST(dict_large, more_counts_than_one_pass_ranks)
{
    enum { COUNTS = (1 << 25) + 12345, STORED = 10000 };
    AUTO_FREE uint32_t *lo = test_alloc((size_t) COUNTS * 4), *hi = test_alloc((size_t) COUNTS * 4),
                       *counts = test_alloc((size_t) COUNTS * 4);
    AUTO_DICT ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < STORED; i++)
        lo[i] = 4 * i;
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_upsert_host(dict, lo, NULL, STORED));
    test_ok(t, ordo_dict_upsert_host(dict, lo, NULL, STORED / 5));
    for (uint32_t i = 0; i < COUNTS; i++) {
        lo[i] = i % (4 * STORED);
        hi[i] = lo[i] + 7;
    }
    test_context(t, "%d counts", (int) COUNTS);
    test_ok(t, ordo_dict_count_host(dict, lo, hi, COUNTS, counts));
    for (uint32_t i = 0; i < COUNTS; i++) {
        const uint32_t end = hi[i] / 4 + 1 < STORED ? hi[i] / 4 + 1 : STORED, want = end - (lo[i] + 3) / 4;
        if (counts[i] != want)
            test_fail(t, __FILE__, __LINE__, "counts[%u] is %u, not %u", i, counts[i], want);
    }
}

/* ---- large batches ----------------------------------------------------------------------------------------------- */

/* Multiples of 2, then of 3, then erases multiples of 4. */
DEVICE_TEST(dict_large, larger_batches_than_one_pass_ranks)
{
    enum { COUNT = (1 << 24) + 777 };
    AUTO_FREE uint64_t  *keys = test_alloc((size_t) COUNT * 8);
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0, want = 0;

    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U64, 0 }), &dict));
    for (uint64_t step = 2; step <= 4; step++) {
        for (uint64_t i = 0; i < COUNT; i++)
            keys[i] = (COUNT - 1 - i) * step;
        test_context(t, "multiples of %d", (int) step);
        test_ok(t,
                step == 4 ? ordo_dict_erase_host(dict, keys, COUNT) : ordo_dict_upsert_host(dict, keys, NULL, COUNT));
        test_ok(t, ordo_device_trim(t->dev));
    }
    for (uint64_t key = 0; key < 3 * (uint64_t) COUNT; key++)
        want += key % 4 != 0 && ((key % 2 == 0 && key < 2 * (uint64_t) COUNT) || key % 3 == 0);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == want);
    test_ok(t, ordo_dict_check(dict, NULL));
}
