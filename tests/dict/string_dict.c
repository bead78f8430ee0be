/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of strings, compared with a sorted list on the host. */
#include "tests/dict/sequence.h"
#include "tests/dict/string_trial.h"

#include "runtime/internal.h"

#include <stdio.h>

static const uint32_t value_bytes[] = { 4, 8, 0, 16 };

static void pass_sequence(struct test *t, enum string_shape shape, size_t updates, uint32_t most)
{
    const struct sequence s =
        string_sequence_random(shape, value_bytes[test_below(t, LENGTH(value_bytes))], test_random(t), updates, most);

    sequence_pass(t, &s);
}

MASK_TEST(string_dict, agrees_with_the_model_for_every_shape, "", "cpu=0")
{
    for (int shape = 0; shape < N_SHAPES; shape++)
        pass_sequence(t, (enum string_shape) shape, 8, 300);
}

MOST_MASKS_TEST(string_dict, agrees_with_the_model_for_larger_batches)
{
    pass_sequence(t, (enum string_shape)(RANDOM + t->seed % 2), 6, 3000);
}

/* Counts at boundaries of words of marks. */
MASK_TEST(string_dict, agrees_with_the_model_at_every_size, "")
{
    static const size_t counts[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4097 };
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct string_trial r = string_trial_begin(t, value_bytes[i % LENGTH(value_bytes)]);
        test_context(t, "%zu strings", counts[i]);
        string_trial_update(&r, STRINGS_BUILD, RANDOM, counts[i], 0);
        string_trial_check(&r, RANDOM);
        string_trial_update(&r, STRINGS_ERASE, RANDOM, 1, 10);
        string_trial_check(&r, RANDOM);
        string_trial_update(&r, STRINGS_UPSERT, RANDOM, 2, 5);
        string_trial_check(&r, RANDOM);
        string_trial_end(&r);
    }
}

/* Each batch repeats its strings. The last value counts. */
MASK_TEST(string_dict, stores_the_last_of_equal_strings, "", "cpu=0")
{
    const uint32_t                 offsets[] = { 0, 0, 1, 1, 2, 4 }, values[] = { 1, 2, 3, 4, 5 };
    const struct ordo_host_strings column = { offsets, 4, "aa\0\0", 4, 5 }; /* "", "a", "", "a", NULs */
    uint32_t                       got[5] = { 0 };
    uint8_t                        found[5];
    size_t                         size = 0;
    AUTO(ordo_string_dict_destroy) ordo_string_dict *dict = NULL;
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &dict));
    for (int again = 0; again < 2; again++) {
        test_ok(t, ordo_string_dict_upsert_host(dict, &column, values));
        test_ok(t, ordo_string_dict_size(dict, &size));
        test_true(t, size == 3);
        test_ok(t, ordo_string_dict_find_host(dict, &column, got, found));
        test_same(t, "values", ORDO_U32, got, ((const uint32_t[]) { 3, 4, 3, 4, 5 }), 5);
    }
}

/* All stored prefixes but the empty string and a few others are erased, in several runs. */
MASK_TEST(string_dict, finds_the_longest_prefix_past_erased_ones, "", "cpu=0")
{
    enum { MOST = 300 };
    struct string_trial            r = string_trial_begin(t, 4);
    AUTO_COLUMN struct string_case all = { .count = 0 }, erased = { .count = 0 }, late = { .count = 0 };
    test_context(t, "a chain of %d strings", MOST);
    for (size_t length = 0; length < MOST; length++) {
        string_add_long(&all, length, SIZE_MAX, 0);
        if (length % 97 && length < MOST - 4)
            string_add_long(&erased, length, SIZE_MAX, 0);
        if (length % 50 == 7)
            string_add_long(&late, length, SIZE_MAX, 0);
    }
    string_trial_change(&r, STRINGS_BUILD, &all);
    string_trial_update(&r, STRINGS_UPSERT, RANDOM, (size_t) 2 * MOST, 0);
    string_trial_change(&r, STRINGS_ERASE, &erased);
    string_trial_check(&r, CHAIN);
    string_trial_change(&r, STRINGS_UPSERT, &late);
    string_trial_check(&r, CHAIN);
    string_trial_end(&r);
}

/* Teams of lanes that search in several runs for visible prefixes of different lengths. */
DEVICE_TEST(string_dict, agrees_with_the_model_for_teams)
{
    for (uint32_t lanes = 16; lanes > 1; lanes /= 4) {
        test_ok(t, ordo_device_set_tunable(t->dev, "strings.lanes", lanes));
        pass_sequence(t, CHAIN, 6, 300);
        pass_sequence(t, PATHS, 6, 300);
    }
    test_ok(t, ordo_device_set_tunable(t->dev, "strings.lanes", 1));
}

/* Few small batches after a large one: runs that are not merged. */
MASK_TEST(string_dict, keeps_few_runs, "")
{
    struct ordo_string_dict_statistics stats;
    struct string_trial                r = string_trial_begin(t, 8);
    size_t                             most = 0;
    string_trial_update(&r, STRINGS_BUILD, PATHS, 20000, 0);
    for (size_t i = 0; i < 60; i++) {
        test_context(t, "batch %zu", i);
        string_trial_update(&r, STRINGS_UPSERT, RANDOM, 1 + test_below(t, 30), 2);
        test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
        most = stats.runs > most ? stats.runs : most;
        if (i % 20 == 0)
            string_trial_check(&r, PATHS);
    }
    test_true(t, most > 1 && most <= 8);
    string_trial_check(&r, RANDOM);
    test_ok(t, ordo_string_dict_cleanup(r.dict, NULL));
    test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
    test_true(t, stats.runs == 1 && stats.stale == 0 && stats.cleanups > 0);
    string_trial_check(&r, PATHS);
    string_trial_end(&r);
}

/* ---- sequences of a seed ----------------------------------------------------------------------------------------- */

/* A replayed sequence is in tests/dict/replay. Here each wrong value or string in the model must be noticed by the next
 * step. */
MASK_TEST(string_dict, a_wrong_model_is_reported, "")
{
    static const enum step_kind kinds[] = { STEP_QUERIES, STEP_EXPORT };
    struct sequence s = { .subject = STRING_DICT, .value_bytes = 8, .strings = RANDOM, .n_keys = 1, .seed = t->seed };

    sequence_add(&s, STEP_UPSERT, 50);
    sequence_add(&s, STEP_QUERIES, 9);
    sequence_add(&s, STEP_EXPORT, 1);
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (int column = COL_VALUES; column <= N_COLUMNS; column += N_COLUMNS - COL_VALUES) {
            struct fault         fault = { .kind = kinds[i], .column = (enum column) column };
            const struct outcome o = string_sequence_run(t, &s, &fault);
            test_true(t, fault.done && o.failed && o.step == i + 1);
        }
    test_true(t, !string_sequence_run(t, &s, NULL).failed);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

/* Offsets that descend or exceed the column change nothing. */
MASK_TEST(string_dict, refuses_bad_offsets, "", "cpu=0")
{
    static const uint32_t          bad[] = { 0, 2, 1, 9, 3 }, good[] = { 0, 1, 2, 3 };
    static const uint32_t          want[] = { 0, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID };
    const struct ordo_host_strings host = { bad, 4, "abc", 3, 4 };
    AUTO_ARRAY struct test_array   on_offsets = test_upload(t, bad, 5, 4, 1), on_bytes = test_upload(t, "abc", 3, 1, 2);
    AUTO_ARRAY struct test_array   out = test_upload(t, NULL, 4, 4, 0), counts = test_upload(t, NULL, 4, 4, 0);
    const struct ordo_strings      column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 3, 4 };
    struct string_trial            r = string_trial_begin(t, 0);
    test_ok(t, ordo_string_dict_build_host(r.dict, &(struct ordo_host_strings) { good, 4, "abc", 3, 3 }, NULL));
    for (int runs = 1; runs <= 2; runs++) {
        size_t size = 0;
        test_context(t, "bad offsets, %d runs", runs);
        test_status(t, ordo_string_dict_upsert(r.dict, &column, ordo_none(), NULL), ORDO_INVALID);
        test_message(t, "offsets descend at row 1, from 2 to 1");
        test_status(t, ordo_string_dict_build(r.dict, &column, ordo_none(), NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_erase(r.dict, &column, NULL), ORDO_INVALID);
        test_message(t, "offsets descend at row 1, from 2 to 1");
        test_status(t, ordo_string_dict_upsert_host(r.dict, &host, NULL), ORDO_INVALID);
        test_ok(t, ordo_string_dict_search(r.dict, ORDO_STRING_UPPER, &column, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { 1, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID }), 4);
        test_ok(t, ordo_string_dict_search(r.dict, ORDO_STRING_FIND, &column, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID }), 4);
        test_ok(t, ordo_string_dict_search(r.dict, ORDO_STRING_LONGEST_PREFIX, &column, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, want, 4);
        test_ok(t, ordo_string_dict_prefix(r.dict, &column, test_slice(&out), test_slice(&counts), NULL));
        test_expect(t, ORDO_U32, &counts, ((const uint32_t[]) { 0, 0, 0, 0 }), 4);
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { 1, want[1], want[2], want[3] }), 4);
        test_ok(t, ordo_string_dict_size(r.dict, &size));
        test_true(t, size == (runs == 1 ? 3 : 2));
        test_ok(t, ordo_string_dict_check(r.dict, NULL));
        /* Now one of the strings is hidden. */
        test_ok(t, ordo_string_dict_erase_host(r.dict, &(struct ordo_host_strings) { good, 4, "c", 1, 1 }));
    }
    string_trial_end(&r);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* Updates and queries in several queues see each other, and results wait for order->done. */
MASK_TEST(string_dict, orders_calls_in_several_queues, "", "cpu=0")
{
    enum { N = 2000 };
    cl_command_queue                      queue = test_queue(t, 0);
    cl_event                              done = NULL;
    const struct ordo_order               order = { .queue = queue, .done = &done }, plain = { .queue = queue };
    struct string_trial                   r = string_trial_begin(t, 4);
    AUTO_COLUMN struct string_case        c = string_make_column(t, PATHS, N);
    AUTO_UPLOADED struct string_column_at k = string_upload(t, &c);
    AUTO_FREE uint32_t                   *values = test_alloc((size_t) N * 4), *got = test_alloc((size_t) N * 4);
    AUTO_ARRAY struct test_array on_values = test_upload(t, NULL, N, 4, 0), out = test_upload(t, NULL, N, 4, 0);
    for (uint32_t step = 0; step < 6; step++) {
        size_t size = 0, at = 0;
        test_context(t, "step %u", step);
        AUTO_FREE uint64_t *wide = test_alloc((size_t) N * 8);
        for (uint32_t i = 0; i < N; i++)
            wide[i] = values[i] = i * 7 + step;
        string_map_upsert(&r.m, &c, wide);
        cr_assert(clEnqueueWriteBuffer(queue, on_values.mem, CL_FALSE, 0, (size_t) N * 4, values, 0, NULL, NULL) ==
                  CL_SUCCESS);
        test_ok(t, ordo_string_dict_upsert(r.dict, &k.device, test_slice(&on_values), step % 2 ? &order : &plain));
        test_ok(t, ordo_string_dict_find(r.dict, &k.device, test_slice(&out), ordo_none(), NULL));
        test_ok(t, ordo_string_dict_find(r.dict, &k.device, test_slice(&out), ordo_none(), &order));
        test_ok(t, ordo_string_dict_size(r.dict, &size));
        test_true(t, size == r.m.n && clWaitForEvents(1, &done) == CL_SUCCESS);
        (void) clReleaseEvent(done);
        test_download(t, &out, got);
        for (size_t i = 0; i < N; i++)
            test_true(t, string_map_has(&r.m, &c, i, &at) && got[i] == (uint32_t) r.m.at[at].value);
    }
    string_trial_end(&r);
    (void) clReleaseCommandQueue(queue);
}
