/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent batches with known answers: bad arguments, outcomes, operations on separate keys, growth from nothing,
 * pools that may not grow, ranges over more leaves than a launch passes. (Operations on the same keys:
 * ltree_history.c.) */
#include "tests/dict/model.h"
#include "tests/ltree/tree.h"
#include "tests/support/support.h"

#include "dict/ltree/ltree.h"
#include "ordo/lsm.h"
#include "ordo/sorted_array.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t key_of(uint32_t i)
{
    return i * 2654435761u;
}

/* A tree of u32 keys and 4-byte values. */
static ordo_dict *make_tree(struct test *t, size_t max_leaves)
{
    ordo_dict *dict = NULL;
    test_ok(t, create_tree(t->dev, ordo_blink_config(.dict = { ORDO_U32, 4 }, .max_leaves = max_leaves), &dict));
    return dict;
}

static void fill_bytes(void *to, size_t bytes)
{
    memset(to, TEST_EMPTY, bytes);
}

/* ---- operations that do not meet --------------------------------------------------------------------------------- */

/* The arrays of a batch in host memory, and a copy for the model. */
struct batch {
    size_t    n;
    uint8_t  *codes, *found, *outcomes, *want_found;
    uint32_t *keys, *hi, *values, *keys_out, *values_out, *counts, *want_keys, *want_values, *want_counts;
    uint32_t *range_keys, *range_values, *want_range_keys, *want_range_values;
    uint64_t *rooms, *offsets;
    size_t    room;
};

static void *empty(size_t bytes)
{
    void *made = test_alloc(bytes);
    fill_bytes(made, bytes);
    return made;
}

static struct batch make_batch(size_t n)
{
    const size_t w = n * sizeof(uint32_t);
    return (struct batch) { .n = n,
                            .codes = test_alloc(n),
                            .found = empty(n),
                            .outcomes = empty(n),
                            .want_found = empty(n),
                            .keys = test_alloc(w),
                            .hi = test_alloc(w),
                            .values = test_alloc(w),
                            .keys_out = empty(w),
                            .values_out = empty(w),
                            .counts = empty(w),
                            .want_keys = empty(w),
                            .want_values = empty(w),
                            .want_counts = empty(w),
                            .rooms = test_alloc((n + 1) * sizeof(uint64_t)),
                            .offsets = test_alloc((n + 1) * sizeof(uint64_t)) };
}

static void free_batch(struct batch *b)
{
    void *const all[] = { b->codes,
                          b->found,
                          b->outcomes,
                          b->want_found,
                          b->keys,
                          b->hi,
                          b->values,
                          b->keys_out,
                          b->values_out,
                          b->counts,
                          b->want_keys,
                          b->want_values,
                          b->want_counts,
                          b->range_keys,
                          b->range_values,
                          b->want_range_keys,
                          b->want_range_values,
                          b->rooms,
                          b->offsets };
    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
}

/* Even operations change keys of the lower half, one each. Odd ones query the upper half, which nobody changes. So in
 * any order the results are the model's. */
static void make_apart(struct test *t, struct batch *b)
{
    static const uint8_t changes[] = { ORDO_FIND, ORDO_CONTAINS, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE };

    for (size_t i = 0; i < b->n; i++) {
        const uint32_t upper = 0x80000000u + (uint32_t) test_below(t, 0x7fffffff);
        b->codes[i] =
            i % 2 == 0 ? changes[test_below(t, LENGTH(changes))] : (uint8_t) test_below(t, ORDO_N_CONCURRENT_CODES);
        if (i % 2 == 1 && b->codes[i] >= ORDO_UPSERT && b->codes[i] <= ORDO_ERASE)
            b->codes[i] = ORDO_FIND;
        if (b->codes[i] == ORDO_SEEK_LT || b->codes[i] == ORDO_SEEK_LE)
            b->codes[i] += 2; /* a predecessor may lie in the lower half */
        b->keys[i] = i % 2 == 0         ? (uint32_t) i * 3
                     : test_below(t, 2) ? upper
                                        : 0x80000000u + (uint32_t) test_below(t, b->n) * 5;
        b->hi[i] = b->keys[i] + (uint32_t) test_below(t, 400);
        b->values[i] = (uint32_t) test_random(t);
    }
}

static void fill_dict(struct test *t, ordo_dict *dict, struct model *model, size_t n)
{
    AUTO_FREE uint32_t *keys = test_alloc(2 * n * sizeof *keys), *values = test_alloc(2 * n * sizeof *values);
    AUTO_FREE uint8_t  *codes = test_alloc(2 * n);

    for (size_t i = 0; i < n; i++) {
        keys[2 * i] = (uint32_t) i * 6;
        keys[2 * i + 1] = 0x80000000u + (uint32_t) i * 5;
        values[2 * i] = (uint32_t) test_random(t);
        values[2 * i + 1] = (uint32_t) test_random(t);
    }
    memset(codes, ORDO_UPSERT, 2 * n);
    test_ok(t, ordo_dict_upsert_host(dict, keys, values, 2 * n));
    (void) model_apply(model,
                       &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = 2 * n });
}

static void run_on_model(struct batch *b, struct model *model)
{
    struct ordo_host_batch batch = { .codes = b->codes,
                                     .keys = b->keys,
                                     .hi = b->hi,
                                     .values = b->values,
                                     .count = b->n,
                                     .found = b->want_found,
                                     .keys_out = b->want_keys,
                                     .values_out = b->want_values,
                                     .counts = b->want_counts,
                                     .offsets = b->offsets };
    b->room = model_room(model, &batch);
    b->want_range_keys = empty(b->room * sizeof(uint32_t));
    b->want_range_values = empty(b->room * sizeof(uint32_t));
    b->range_keys = empty(b->room * sizeof(uint32_t));
    b->range_values = empty(b->room * sizeof(uint32_t));
    batch.range_keys = b->want_range_keys;
    batch.range_values = b->want_range_values;
    batch.range_capacity = b->room;
    (void) model_apply(model, &batch);
}

static ordo_status run_on_tree(const struct batch *b, ordo_dict *dict)
{
    return ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = b->codes,
                                                                                        .keys = b->keys,
                                                                                        .hi = b->hi,
                                                                                        .values = b->values,
                                                                                        .count = b->n,
                                                                                        .found = b->found,
                                                                                        .keys_out = b->keys_out,
                                                                                        .values_out = b->values_out,
                                                                                        .counts = b->counts,
                                                                                        .outcomes = b->outcomes,
                                                                                        .rooms = b->offsets,
                                                                                        .range_keys = b->range_keys,
                                                                                        .range_values = b->range_values,
                                                                                        .range_capacity = b->room });
}

static void expect_content(struct test *t, ordo_dict *dict, const struct model *model)
{
    AUTO_FREE uint32_t *keys = test_alloc(model->count * sizeof *keys),
                       *values = test_alloc(model->count * sizeof *values);
    size_t count = 0, size = 0;

    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == model->count);
    test_ok(t, ordo_dict_export_host(dict, keys, values, model->count, &count));
    for (size_t i = 0; i < count; i++)
        if (keys[i] != (uint32_t) model->element[i].key || values[i] != (uint32_t) model->element[i].value)
            test_fail(t, __FILE__, __LINE__, "element %zu is %u: %u, should be %u: %u", i, keys[i], values[i],
                      (uint32_t) model->element[i].key, (uint32_t) model->element[i].value);
}

static void apart_by(struct test *t, uint32_t lanes)
{
    static const size_t counts[] = { 1, 2, 63, 64, 65, 3000 };

    for (size_t k = 0; k < LENGTH(counts); k++) {
        AUTO_DICT ordo_dict          *dict = make_tree(t, 0);
        AUTO_MODEL struct model       model = model_empty(ORDO_U32, 4);
        AUTO(free_batch) struct batch b = make_batch(counts[k]);

        test_context(t, "%zu operations that do not meet, by teams of %u", b.n, lanes);
        fill_dict(t, dict, &model, b.n);
        make_apart(t, &b);
        run_on_model(&b, &model);
        test_ok(t, run_on_tree(&b, dict));
        for (size_t i = 0; i < b.n; i++)
            test_true(t, b.outcomes[i] == ORDO_DONE);
        test_same_bytes(t, "found", b.found, b.want_found, b.n);
        test_same(t, "keys_out", ORDO_U32, b.keys_out, b.want_keys, b.n);
        test_same(t, "values_out", ORDO_U32, b.values_out, b.want_values, b.n);
        test_same(t, "counts", ORDO_U32, b.counts, b.want_counts, b.n);
        test_same(t, "range_keys", ORDO_U32, b.range_keys, b.want_range_keys, b.room);
        test_same(t, "range_values", ORDO_U32, b.range_values, b.want_range_values, b.room);
        expect_content(t, dict, &model);
    }
}

static void apart(struct test *t)
{
    for (size_t i = 0; i < LENGTH(tree_teams); i++)
        if (tree_uses_team(t->dev, tree_teams[i]))
            apart_by(t, tree_teams[i]);
}

Test(ltree_concurrent, operations_that_do_not_meet_do_what_they_do_alone)
{
    test_each_device_and_most_masks(apart);
    test_each_device_with("atomics=legacy", apart);
    test_each_device_with("group=1", apart);
}

/* ---- growth ------------------------------------------------------------------------------------------------------ */

/* Stores keys 0 .. n - 1, each once. Returns how many were stored. */
static size_t store_all(struct test *t, ordo_dict *dict, struct batch *b, ordo_code code)
{
    size_t stored = 0;

    for (size_t i = 0; i < b->n; i++) {
        b->codes[i] = (uint8_t) code;
        b->keys[i] = key_of((uint32_t) i);
        b->values[i] = (uint32_t) i;
    }
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = b->codes,
                                                                                            .keys = b->keys,
                                                                                            .values = b->values,
                                                                                            .count = b->n,
                                                                                            .found = b->found,
                                                                                            .outcomes = b->outcomes }));
    for (size_t i = 0; i < b->n; i++)
        stored += b->outcomes[i] == ORDO_DONE;
    return stored;
}

/* Finds exactly the stored keys. */
static void expect_stored(struct test *t, ordo_dict *dict, struct batch *b)
{
    memset(b->codes, ORDO_FIND, b->n);
    fill_bytes(b->values_out, b->n * sizeof(uint32_t));
    test_ok(
        t, ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = b->codes,
                                                                                        .keys = b->keys,
                                                                                        .count = b->n,
                                                                                        .found = b->found,
                                                                                        .values_out = b->values_out }));
    for (size_t i = 0; i < b->n; i++) {
        const bool     stored = b->outcomes[i] == ORDO_DONE;
        const uint32_t want = stored ? (uint32_t) i : TEST_EMPTY * 0x01010101u;
        if (b->found[i] != stored || b->values_out[i] != want)
            test_fail(t, __FILE__, __LINE__, "operation %zu, outcome %u: found %u, value %u", i, b->outcomes[i],
                      b->found[i], b->values_out[i]);
    }
}

MASK_TEST(ltree_concurrent, an_empty_tree_grows, "", "cpu=0")
{
    test_optimized(t);
    AUTO_DICT ordo_dict          *dict = make_tree(t, 0);
    AUTO(free_batch) struct batch b = make_batch(300000);
    size_t                        size = 0;

    test_context(t, "%zu keys into an empty tree", b.n);
    test_true(t, store_all(t, dict, &b, ORDO_INSERT) == b.n);
    for (size_t i = 0; i < b.n; i++)
        test_true(t, b.found[i] == 0);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == b.n);
    expect_stored(t, dict, &b);
}

MASK_TEST(ltree_concurrent, a_pool_that_may_not_grow_refuses_what_it_has_no_room_for, "", "atomics=legacy")
{
    static const size_t caps[] = { 1, 2, 3, 20 };

    for (size_t k = 0; k < LENGTH(caps); k++) {
        AUTO_DICT ordo_dict          *dict = make_tree(t, caps[k]);
        AUTO(free_batch) struct batch b = make_batch(2000);
        size_t                        size = 0;

        test_context(t, "%zu keys into %zu leaves", b.n, caps[k]);
        const size_t stored = store_all(t, dict, &b, k % 2 ? ORDO_INSERT : ORDO_UPSERT);
        /* A leaf is full at most, and half full at least after a split. */
        test_true(t, stored >= tree_slots() / 2 * caps[k] && stored <= tree_slots() * caps[k]);
        for (size_t i = 0; i < b.n; i++)
            test_true(t, b.outcomes[i] == ORDO_DONE || (b.outcomes[i] == ORDO_NOT_STORED && b.found[i] == TEST_EMPTY));
        test_ok(t, ordo_dict_check(dict, NULL));
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == stored);
        expect_stored(t, dict, &b);
        /* Stored keys can be replaced and erased, and then new ones fit again. */
        memset(b.codes, ORDO_ERASE, b.n);
        test_ok(t, ordo_dict_apply_concurrent_host(
                       dict, &(struct ordo_host_concurrent_batch) { .codes = b.codes, .keys = b.keys, .count = b.n }));
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == 0);
        b.n = 10;
        test_true(t, store_all(t, dict, &b, ORDO_UPSERT) == 10);
    }
}

/* ---- what gives up ----------------------------------------------------------------------------------------------- */

enum { LEFT = 5000 };

/* Failed steps, from the statistics. */
static size_t restarts_of(struct test *t, ordo_dict *dict)
{
    struct ordo_statistics s;
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s.restarts;
}

/* Erases all keys. Some operations give up (faults) and are done in order, which rebuilds the almost empty tree from
 * nothing. Then it takes operations as usual. */
MASK_TEST(ltree_concurrent, erases_that_give_up_may_leave_nothing, "", "cpu=0")
{
    test_optimized(t);
    AUTO_DICT ordo_dict          *dict = make_tree(t, 0);
    AUTO(free_batch) struct batch b = make_batch(LEFT);
    size_t                        size = 1, erased = 0;

    test_true(t, restarts_of(t, dict) == 0);
    test_true(t, store_all(t, dict, &b, ORDO_UPSERT) == LEFT);
    const size_t before = restarts_of(t, dict);
    ordo_ltree_of(dict)->faults = FAULT_LATCHES + FAULT_NO_TRIES;
    test_context(t, "%d keys erased by operations that give up", LEFT);
    memset(b.codes, ORDO_ERASE, b.n);
    fill_bytes(b.found, b.n);
    fill_bytes(b.outcomes, b.n);
    test_ok(t,
            ordo_dict_apply_concurrent_host(
                dict, &(struct ordo_host_concurrent_batch) {
                          .codes = b.codes, .keys = b.keys, .count = b.n, .found = b.found, .outcomes = b.outcomes }));
    for (size_t i = 0; i < b.n; i++)
        erased += b.found[i] == 1 && b.outcomes[i] == ORDO_DONE;
    test_true(t, erased == LEFT);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 0);
    /* one latch in eight fails, once for each operation; a second turn is not counted */
    const size_t after = restarts_of(t, dict);
    test_true(t, after > before + (size_t) LEFT / 16 && after < before + (size_t) 2 * LEFT);
    ordo_ltree_of(dict)->faults = 0;
    test_true(t, store_all(t, dict, &b, ORDO_INSERT) == LEFT);
    expect_stored(t, dict, &b);
    const size_t then = restarts_of(t, dict);
    test_true(t, then >= after);
    memset(b.codes, ORDO_FIND, b.n);
    test_ok(t, ordo_dict_apply_concurrent_host(dict,
                                               &(struct ordo_host_concurrent_batch) {
                                                   .codes = b.codes, .keys = b.keys, .count = b.n, .found = b.found }));
    test_true(t, restarts_of(t, dict) == then);
}

/* Runs every operation on one key, so that all want one leaf. */
MASK_TEST(ltree_concurrent, very_many_operations_may_want_one_key, "", "cpu=0")
{
    test_optimized(t);
    static const uint8_t          codes[] = { ORDO_UPSERT, ORDO_ERASE, ORDO_INSERT };
    AUTO_DICT ordo_dict          *dict = make_tree(t, 0);
    AUTO(free_batch) struct batch b = make_batch(100000);
    size_t                        size = 0, came = 0, went = 0;

    test_context(t, "%zu operations on one key", b.n);
    for (size_t i = 0; i < b.n; i++) {
        b.codes[i] = codes[i % 3];
        b.keys[i] = 42;
        b.values[i] = (uint32_t) i;
    }
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = b.codes,
                                                                                            .keys = b.keys,
                                                                                            .values = b.values,
                                                                                            .count = b.n,
                                                                                            .found = b.found,
                                                                                            .outcomes = b.outcomes }));
    for (size_t i = 0; i < b.n; i++) {
        test_true(t, b.outcomes[i] == ORDO_DONE);
        came += b.codes[i] != ORDO_ERASE && !b.found[i];
        went += b.codes[i] == ORDO_ERASE && b.found[i];
    }
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, came - went == size && size <= 1);
}

/* ---- long ranges ------------------------------------------------------------------------------------------------- */

enum { LONG = 500000 };

/* Half-full leaves: some 35,000. A work-item passes 16,384 in a launch. */
DEVICE_TEST(ltree_concurrent, ranges_go_on_where_a_launch_has_left_them)
{
    AUTO_DICT ordo_dict *dict = NULL;
    AUTO_FREE uint32_t  *keys = test_alloc(LONG * sizeof *keys), *values = test_alloc(LONG * sizeof *values);
    AUTO_FREE uint32_t  *got_keys = empty(LONG * sizeof *got_keys), *got_values = empty(LONG * sizeof *got_values);
    const uint8_t        codes[] = { ORDO_RANGE, ORDO_COUNT, ORDO_RANGE, ORDO_FIND };
    const uint32_t       lo[] = { 0, 3, 0, 14 }, hi[] = { UINT32_MAX, 7 * (LONG - 2), UINT32_MAX, 0 };
    const uint64_t       rooms[] = { 0, LONG, LONG, LONG, LONG };
    uint32_t             counts[4] = { 0 };
    uint8_t              outcomes[4] = { 9, 9, 9, 9 };

    for (uint32_t i = 0; i < LONG; i++) {
        keys[i] = 7 * i;
        values[i] = ~i;
    }
    test_context(t, "ranges of %d elements", LONG);
    test_ok(t, create_tree(t->dev, ordo_blink_config(.dict = { ORDO_U32, 4 }, .fill_percent = 50), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, LONG));
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = codes,
                                                                                            .keys = lo,
                                                                                            .hi = hi,
                                                                                            .count = 4,
                                                                                            .counts = counts,
                                                                                            .outcomes = outcomes,
                                                                                            .rooms = rooms,
                                                                                            .range_keys = got_keys,
                                                                                            .range_values = got_values,
                                                                                            .range_capacity = LONG }));
    test_same(t, "keys", ORDO_U32, got_keys, keys, LONG);
    test_same(t, "values", ORDO_U32, got_values, values, LONG);
    test_true(t, counts[0] == LONG && counts[1] == LONG - 2 && counts[2] == LONG && counts[3] == 0);
    test_true(t, outcomes[0] == ORDO_DONE && outcomes[1] == ORDO_DONE && outcomes[2] == ORDO_CUT_SHORT &&
                     outcomes[3] == ORDO_DONE);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void refuse_missing_arrays(struct test *t, size_t held)
{
    static const uint8_t          codes[] = { ORDO_INSERT, ORDO_COUNT, ORDO_RANGE };
    static const uint32_t         keys[] = { 1, 2, 3 }, hi[] = { 4, 5, 6 }, values[] = { 7, 8, 9 };
    static const uint64_t         rooms[] = { 0, 0, 0, 0 };
    AUTO_DICT ordo_dict          *dict = make_tree(t, 0);
    AUTO(free_batch) struct batch b = make_batch(held);
    size_t                        size = 0;

    if (held > 0)
        test_true(t, store_all(t, dict, &b, ORDO_INSERT) == held);
    for (int missing = 0; missing < 4; missing++) {
        const struct ordo_host_concurrent_batch batch = { .codes = codes,
                                                          .keys = keys,
                                                          .values = missing == 0 ? NULL : values,
                                                          .hi = missing == 1 ? NULL : hi,
                                                          .rooms = missing == 2 ? NULL : rooms,
                                                          .count = LENGTH(codes) };
        test_context(t, "a tree of %zu, array %d missing", held, missing);
        test_status(t, ordo_dict_apply_concurrent_host(dict, &batch), missing < 3 ? ORDO_INVALID : ORDO_OK);
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == held + (missing == 3));
    }
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* A store needs values, a count or a range upper bounds, and a range rooms. (All other arguments: bad_arguments.) In a
 * tree with elements, the kernel must refuse the batch, as it starts before the host knows the batch's operations. */
DEVICE_TEST(ltree_concurrent, missing_arrays_are_refused_and_nothing_happens)
{
    refuse_missing_arrays(t, 0);
    refuse_missing_arrays(t, 1000);
}

/* Unknown codes among known ones; rooms past the end of the outputs. */
MOST_MASKS_TEST(ltree_concurrent, odd_input_does_no_harm)
{
    AUTO_DICT ordo_dict *dict = make_tree(t, 0);
    const uint8_t        codes[] = { ORDO_UPSERT, 11, 12, 255, ORDO_UPSERT, 100 };
    const uint32_t       keys[] = { 5, 6, 7, 8, 9, 10 }, values[] = { 50, 60, 70, 80, 90, 100 };
    uint8_t              found[] = { 7, 7, 7, 7, 7, 7 }, outcomes[6];

    test_context(t, "unknown codes");
    test_ok(
        t, ordo_dict_apply_concurrent_host(
               dict,
               &(struct ordo_host_concurrent_batch) {
                   .codes = codes, .keys = keys, .values = values, .count = 6, .found = found, .outcomes = outcomes }));
    for (size_t i = 0; i < 6; i++) {
        test_true(t, outcomes[i] == (codes[i] < ORDO_N_CONCURRENT_CODES ? ORDO_DONE : ORDO_UNKNOWN));
        test_true(t, found[i] == (codes[i] < ORDO_N_CONCURRENT_CODES ? 0 : 7));
    }

    const uint8_t  ranges[] = { ORDO_RANGE, ORDO_RANGE, ORDO_RANGE };
    const uint32_t lo[] = { 0, 0, 9 }, hi[] = { 100, 100, 5 };
    const uint64_t rooms[] = { 0, 2, 100, UINT64_MAX };
    uint32_t       got[4] = { 1, 1, 1, 1 }, counts[3] = { 9, 9, 9 };

    test_context(t, "rooms behind the capacity");
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = ranges,
                                                                                            .keys = lo,
                                                                                            .hi = hi,
                                                                                            .count = 3,
                                                                                            .counts = counts,
                                                                                            .outcomes = outcomes,
                                                                                            .rooms = rooms,
                                                                                            .range_keys = got,
                                                                                            .range_capacity = 3 }));
    test_true(t, got[0] == 5 && got[1] == 9 && got[2] == 5 && got[3] == 1);
    test_true(t, counts[0] == 2 && counts[1] == 2 && counts[2] == 0);
    test_true(t, outcomes[0] == ORDO_DONE && outcomes[1] == ORDO_CUT_SHORT && outcomes[2] == ORDO_DONE);
}

DEVICE_TEST(ltree_concurrent, others_say_that_they_cannot)
{
    const struct ordo_dict_config config = { ORDO_U32, 4 };
    const uint8_t                 code = ORDO_FIND;
    const uint32_t                key = 1;
    ordo_dict                    *dicts[2] = { NULL, NULL }, *tree = make_tree(t, 0);

    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = config), &dicts[0]));
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = config), &dicts[1]));
    for (size_t i = 0; i < 2; i++) {
        test_context(t, "a %s", ordo_dict_name(dicts[i]));
        test_true(t, !ordo_dict_can(dicts[i], ORDO_CAN_CONCURRENT));
        test_status(t,
                    ordo_dict_apply_concurrent_host(
                        dicts[i], &(struct ordo_host_concurrent_batch) { .codes = &code, .keys = &key, .count = 1 }),
                    ORDO_UNSUPPORTED);
        ordo_dict_destroy(&dicts[i]);
    }
    test_true(t, ordo_dict_can(tree, ORDO_CAN_CONCURRENT) && !ordo_dict_can(NULL, ORDO_CAN_CONCURRENT));
    ordo_dict_destroy(&tree);
}
