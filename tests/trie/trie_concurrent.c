/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent batches on a HAMT and an X-fast trie: contents and answers. tests/trie/trie_history.c has operations on
 * equal keys. */
#include "tests/trie/trie_case.h"

#include "dict/trie/hamt.h"
#include "dict/trie/xfast.h"
#include "shared/faults.h"

enum kind { FREE_DEPTH, FIXED_DEPTH, X_FAST, N_KINDS };

static const char *const kind_name[] = { "HAMT", "HAMT of fixed depth", "X-fast trie" };

static ordo_dict *make(struct test *t, ordo_type key, uint32_t value_bytes, enum kind kind)
{
    const struct ordo_dict_config config = { key, value_bytes };
    ordo_dict                    *dict = NULL;
    test_ok(
        t, kind == X_FAST
               ? ordo_xfast_create(t->dev, ordo_xfast_config(.dict = config), &dict)
               : ordo_hamt_create(t->dev, ordo_hamt_config(.dict = config, .fixed_depth = kind == FIXED_DEPTH), &dict));
    return dict;
}

static struct ordo_drafts *drafts_of(ordo_dict *dict, enum kind kind)
{
    return kind == X_FAST ? &ordo_xfast_of(dict)->drafts : &ordo_hamt_of(dict)->drafts;
}

static void expect_outcomes(struct test *t, const uint8_t *outcomes, size_t n, uint8_t want)
{
    for (size_t i = 0; i < n; i++)
        if (outcomes[i] != want)
            test_fail(t, __FILE__, __LINE__, "operation %zu of %zu: outcome %u", i, n, outcomes[i]);
}

/* ---- fill, empty, refill ----------------------------------------------------------------------------------------- */

enum { MANY = 5000 };

/* Distinct keys: both ends of the type, a dense part and a sparse part. Keys of 4 bytes use the lower halves. */
static void make_keys(uint64_t *keys, bool wide)
{
    const uint64_t last = wide ? UINT64_MAX : UINT32_MAX;

    for (uint64_t i = 0; i < MANY; i++)
        keys[i] = i < MANY / 2 ? 1000 + i : i * (last / MANY);
    keys[0] = 0;
    keys[1] = last;
}

/* Applies operations of one code to all keys, with the numbers of the keys as values. All keys are then found, or
 * none. */
static void apply_to_all(struct test *t, ordo_dict *dict, const void *keys, ordo_code code, uint8_t want_found)
{
    AUTO_FREE uint8_t  *codes = test_alloc(MANY), *found = test_alloc(MANY), *outcomes = test_alloc(MANY);
    AUTO_FREE uint32_t *values = test_alloc(MANY * sizeof *values), *got = test_alloc(MANY * sizeof *got);
    const bool          stored = code != ORDO_ERASE;

    memset(codes, (int) code, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        values[i] = i;
    const struct ordo_host_concurrent_batch batch = { .codes = codes,
                                                      .keys = keys,
                                                      .values = stored ? values : NULL,
                                                      .count = MANY,
                                                      .found = found,
                                                      .outcomes = outcomes };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    expect_outcomes(t, outcomes, MANY, ORDO_DONE);
    expect_outcomes(t, found, MANY, want_found);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_find_host(dict, keys, MANY, got, found));
    expect_outcomes(t, found, MANY, stored);
    for (uint32_t i = 0; i < MANY && stored; i++)
        test_true(t, got[i] == i);
}

static void fill_and_empty(struct test *t, bool wide, enum kind kind)
{
    AUTO_DICT ordo_dict   *dict = make(t, key_type(wide), 4, kind);
    AUTO_FREE uint64_t    *wides = test_alloc(MANY * sizeof *wides);
    struct ordo_statistics s;
    size_t                 peak = 0;

    make_keys(wides, wide);
    AUTO_FREE void *keys = narrow(wides, MANY, wide);
    for (int round = 0; round < 4; round++) {
        test_context(t, "%s, keys of %d bytes, round %d", kind_name[kind], wide ? 8 : 4, round);
        apply_to_all(t, dict, keys, round % 2 ? ORDO_INSERT : ORDO_UPSERT, 0);
        apply_to_all(t, dict, keys, ORDO_UPSERT, 1);
        apply_to_all(t, dict, keys, ORDO_ERASE, 1);
        apply_to_all(t, dict, keys, ORDO_ERASE, 0);
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.elements == 0 && s.bytes_data == 0);
        test_true(t, round < 2 || s.bytes_peak == peak);
        peak = s.bytes_peak;
    }
}

DEVICE_TEST(trie_concurrent, fills_and_empties_the_trie)
{
    fill_and_empty(t, false, FREE_DEPTH);
    fill_and_empty(t, false, FIXED_DEPTH);
    fill_and_empty(t, true, FREE_DEPTH);
    fill_and_empty(t, false, X_FAST);
    fill_and_empty(t, true, X_FAST);
}

/* A key that is stored and erased by one batch into an empty trie leaves it empty. */
static void come_and_go(struct test *t, enum kind kind)
{
    static const uint8_t  codes[] = { ORDO_UPSERT, ORDO_ERASE };
    static const uint32_t keys[] = { 7, 7 };
    uint8_t               found[2], outcomes[2];
    size_t                size = 0;
    AUTO_DICT ordo_dict  *dict = make(t, ORDO_U32, 4, kind);

    for (int round = 0; round < 20; round++) {
        const struct ordo_host_concurrent_batch batch = {
            .codes = codes, .keys = keys, .values = keys, .count = 2, .found = found, .outcomes = outcomes
        };
        test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
        expect_outcomes(t, outcomes, 2, ORDO_DONE);
        test_ok(t, ordo_dict_check(dict, NULL));
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == (found[1] ? 0 : 1));
        test_ok(t, ordo_dict_clear(dict));
    }
}

DEVICE_TEST(trie_concurrent, keys_may_come_and_go)
{
    come_and_go(t, FREE_DEPTH);
    come_and_go(t, X_FAST);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Seeks, counts and ranges see the trie before the batch. Inserts and erases of other keys run in the same batch. If
 * `dropped`, memory for the X-fast trie's index was missing. */
static void query(struct test *t, enum kind kind, bool dropped)
{
    enum { HELD = 3000, COUNT = 700, EACH = 6, ROOM = COUNT * EACH };
    static uint8_t  codes[COUNT], found[COUNT], outcomes[COUNT], want_found[COUNT];
    static uint32_t keys[COUNT], hi[COUNT], values[COUNT], keys_out[COUNT], values_out[COUNT], counts[COUNT];
    static uint32_t want_keys[COUNT], want_values[COUNT], want_counts[COUNT], range_keys[ROOM], range_values[ROOM];
    static uint64_t rooms[COUNT + 1];
    AUTO_MODEL struct model model = model_empty(ORDO_U32, 4), before;
    AUTO_DICT ordo_dict    *dict = make(t, ORDO_U32, 4, kind);

    for (uint32_t i = 0; i < HELD; i++) {
        const uint32_t key = i < HELD / 2 ? 1000 + 3 * i : key_of(i);
        model_batch(&model, ORDO_UPSERT, &key, &(uint32_t) { value_of(i) }, 1);
    }
    before = model_copy(&model);
    AUTO_FREE uint32_t *all = test_alloc(HELD * sizeof *all), *its = test_alloc(HELD * sizeof *its);
    for (size_t i = 0; i < model.count; i++) {
        all[i] = (uint32_t) model.element[i].key;
        its[i] = (uint32_t) model.element[i].value;
    }
    test_ok(t, ordo_dict_build_host(dict, all, its, model.count));
    if (dropped)
        ordo_xfast_drop(ordo_xfast_of(dict));
    for (uint32_t i = 0; i < COUNT; i++) {
        codes[i] = (uint8_t) (ORDO_UPSERT + i % (ORDO_RANGE - ORDO_UPSERT + 1));
        keys[i] = i < COUNT / 2 ? 990 + 13 * i : key_of(i * 5);
        hi[i] = keys[i] + (i % 3 ? 20 : 1u << 21);
        values[i] = 1000000 + i;
        rooms[i + 1] = rooms[i] + i % EACH;
    }
    keys[0] = 0;
    keys[7] = UINT32_MAX; /* a seek */
    const struct ordo_host_concurrent_batch batch = { codes, keys,       hi,           values, COUNT,
                                                      found, keys_out,   values_out,   counts, outcomes,
                                                      rooms, range_keys, range_values, ROOM };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    for (uint32_t i = 0; i < COUNT; i++) { /* one operation at a time, on the trie before the batch */
        struct model                *of = codes[i] <= ORDO_ERASE ? &model : &before;
        uint64_t                     offsets[2];
        uint32_t                     elements[2][64];
        const struct ordo_host_batch one = { .codes = codes + i,
                                             .keys = keys + i,
                                             .hi = hi + i,
                                             .values = values + i,
                                             .count = 1,
                                             .found = want_found + i,
                                             .keys_out = want_keys + i,
                                             .values_out = want_values + i,
                                             .counts = want_counts + i,
                                             .offsets = offsets,
                                             .range_keys = elements[0],
                                             .range_values = elements[1],
                                             .range_capacity = 64 };
        const size_t                 n = model_apply(of, &one), room = i % EACH;
        test_context(t, "%s, operation %u, code %u, key %u", kind_name[kind], i, codes[i], keys[i]);
        test_true(t, codes[i] >= ORDO_COUNT || found[i] == want_found[i]);
        if (codes[i] >= ORDO_SEEK_LT && codes[i] <= ORDO_SEEK_GT && found[i])
            test_true(t, keys_out[i] == want_keys[i] && values_out[i] == want_values[i]);
        test_true(t, codes[i] < ORDO_COUNT || counts[i] == want_counts[i]);
        test_true(t, outcomes[i] == (codes[i] == ORDO_RANGE && n > room ? ORDO_CUT_SHORT : ORDO_DONE));
        if (codes[i] == ORDO_RANGE && n <= 64) {
            test_same(t, "keys", ORDO_U32, range_keys + rooms[i], elements[0], n < room ? n : room);
            test_same(t, "values", ORDO_U32, range_values + rooms[i], elements[1], n < room ? n : room);
        }
    }
    expect_content(t, dict, &model);
}

DEVICE_TEST(trie_concurrent, queries_see_the_trie_before_the_batch)
{
    for (enum kind kind = 0; kind < N_KINDS; kind++)
        query(t, kind, false);
    query(t, X_FAST, true);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Stores keys far from each other, which need most nodes of a HAMT. `each` is the number of bytes per operation. Allows
 * for an update's scratch, and for the trie. */
static void memory(struct test *t, enum kind kind, uint64_t each, uint64_t spare)
{
    AUTO_DICT ordo_dict *dict = make(t, ORDO_U64, 4, kind);
    AUTO_FREE uint64_t  *keys = test_alloc(MANY * sizeof *keys);
    struct ordo_memory   before, after;

    for (uint64_t i = 0; i < MANY; i++)
        keys[i] = i * (UINT64_MAX / MANY);
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    test_ok(t, ordo_device_memory(t->dev, &before));
    apply_to_all(t, dict, keys, ORDO_UPSERT, 0);
    test_ok(t, ordo_device_memory(t->dev, &after));
    const uint64_t took = after.held_peak_bytes - before.held_bytes;
    test_context(t, "%s: %llu bytes", kind_name[kind], (unsigned long long) took);
    test_true(t, took <= MANY * each + spare);
}

DEVICE_TEST(trie_concurrent, the_memory_matches_the_header)
{
    memory(t, FREE_DEPTH, 2560, 4 << 20);
    memory(t, X_FAST, 48, 3 << 19);
}

/* ---- inputs and statistics --------------------------------------------------------------------------------------- */

static void check_inputs(struct test *t, enum kind kind)
{
    static const uint8_t  codes[] = { ORDO_UPSERT, ORDO_COUNT, ORDO_RANGE, ORDO_COMBINE, 200 };
    static const uint32_t keys[] = { 1, 2, 3, 4, 5 };
    static const uint64_t rooms[6] = { 0 };
    uint8_t               outcomes[5];
    AUTO_DICT ordo_dict  *dict = make(t, ORDO_U32, 4, kind);

    for (int missing = 0; missing < 4; missing++) {
        const struct ordo_host_concurrent_batch batch = { .codes = codes,
                                                          .keys = keys,
                                                          .hi = missing == 0 ? NULL : keys,
                                                          .values = missing == 1 ? NULL : keys,
                                                          .rooms = missing == 2 ? NULL : rooms,
                                                          .count = 5,
                                                          .outcomes = outcomes };
        test_context(t, "input %d is missing", missing);
        test_status(t, ordo_dict_apply_concurrent_host(dict, &batch), missing < 3 ? ORDO_INVALID : ORDO_OK);
    }
    expect_outcomes(t, outcomes, 3, ORDO_DONE);
    expect_outcomes(t, outcomes + 3, 2, ORDO_UNKNOWN);
}

DEVICE_TEST(trie_concurrent, inputs_are_checked)
{
    check_inputs(t, FREE_DEPTH);
    check_inputs(t, X_FAST);
}

static void count_restarts(struct test *t, enum kind kind)
{
    AUTO_DICT ordo_dict   *dict = make(t, ORDO_U32, 4, kind);
    AUTO_FREE uint64_t    *wides = test_alloc(MANY * sizeof *wides);
    struct ordo_statistics s;

    make_keys(wides, false);
    AUTO_FREE void *keys = narrow(wides, MANY, false);
    drafts_of(dict, kind)->faults = FAULT_LATCHES;
    apply_to_all(t, dict, keys, ORDO_UPSERT, 0);
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    test_true(t, s.restarts > 0 && s.restarts < (size_t) 100 * MANY);
}

DEVICE_TEST(trie_concurrent, restarts_are_counted)
{
    count_restarts(t, FREE_DEPTH);
    count_restarts(t, X_FAST);
}
