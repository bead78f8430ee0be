/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT's own: that each broken invariant is noticed, and that each kind of set gets the leaves that fit it. What all
 * dictionaries promise is tested in tests/dict. */
#include "tests/dict/dict_case.h"

#include "dict/trie/hamt.h"

static void poke(struct test *t, cl_mem mem, size_t word, uint32_t to)
{
    test_true(t, clEnqueueWriteBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, word * sizeof to, sizeof to, &to, 0,
                                      NULL, NULL) == CL_SUCCESS);
}

static uint32_t peek(struct test *t, cl_mem mem, size_t word)
{
    uint32_t is = 0;

    test_true(t, clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, word * sizeof is, sizeof is, &is, 0, NULL,
                                     NULL) == CL_SUCCESS);
    return is;
}

/* ---- invariants --------------------------------------------------------------------------------------------------- */

/* Words of a record of u32 keys. */
enum { FIRST, BEFORE, PLACE, SECTORS, RECORD };

static void expect_noticed(struct test *t, ordo_dict *dict, cl_mem mem, size_t word, uint32_t to, const char *invariant)
{
    const uint32_t was = peek(t, mem, word);
    char           text[512] = "";

    test_context(t, "%s: word %zu, %#x for %#x", invariant, word, to, was);
    test_true(t, was != to);
    poke(t, mem, word, to);
    test_status(t, ordo_dict_check(dict, NULL), ORDO_BROKEN);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, invariant))
        test_fail(t, __FILE__, __LINE__, "the message names another invariant than %s: %s", invariant, text);
    poke(t, mem, word, was);
    test_ok(t, ordo_dict_check(dict, NULL));
}

enum { DENSE = 5000, NEAR = 3000, FAR = 2000, ALL = DENSE + NEAR + FAR };

/* A dense stretch, keys some hundred apart, and keys far apart: leaves of each form, in this order. */
static void spread(uint32_t *keys)
{
    for (uint32_t i = 0; i < ALL; i++)
        keys[i] = i < DENSE          ? 4096 + i
                  : i < DENSE + NEAR ? (1u << 20) + (i - DENSE) * 300
                                     : (1u << 28) + (i - DENSE - NEAR) * 100003;
}

static ordo_dict *make(struct test *t, uint32_t value_bytes)
{
    uint32_t  *keys = test_alloc(ALL * sizeof *keys);
    ordo_dict *dict = NULL;

    spread(keys);
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, value_bytes }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, value_bytes ? keys : NULL, ALL));
    test_ok(t, ordo_dict_check(dict, NULL));
    free(keys);
    return dict;
}

static uint32_t count_of(struct test *t, cl_mem leaves, size_t leaf)
{
    return peek(t, leaves, (leaf + 1) * RECORD + BEFORE) - peek(t, leaves, leaf * RECORD + BEFORE);
}

static size_t word_of(uint32_t place)
{
    return (size_t) (place >> 1) * (HAMT_UNIT / 4);
}

static void check_records(struct test *t, ordo_dict *dict, size_t leaf)
{
    const struct ordo_hamt_trie *trie = &ordo_hamt_of(dict)->trie;
    const cl_mem                 leaves = trie->leaves.mem;
    const size_t                 at = leaf * RECORD;
    const uint32_t               first = peek(t, leaves, at + FIRST), before = peek(t, leaves, at + BEFORE),
                   place = peek(t, leaves, at + PLACE);

    expect_noticed(t, dict, leaves, at + FIRST, first + 1, "T1");
    expect_noticed(t, dict, leaves, at + FIRST, peek(t, leaves, at + RECORD + FIRST), "T1");
    expect_noticed(t, dict, leaves, at + BEFORE, peek(t, leaves, at + RECORD + BEFORE), "T3");
    expect_noticed(t, dict, leaves, at + BEFORE, before + 1, "T");
    expect_noticed(t, dict, leaves, at + PLACE, peek(t, leaves, at + RECORD + PLACE), "T4");
    expect_noticed(t, dict, leaves, at + PLACE, place | 0xfffffff0u, "T4");
}

static void check_words(struct test *t)
{
    ordo_dict                   *dict = make(t, 4);
    const struct ordo_hamt_trie *trie = &ordo_hamt_of(dict)->trie;
    const cl_mem                 leaves = trie->leaves.mem, pool = trie->pool.mem, tables = trie->tables.mem;
    const size_t                 cells = (size_t) 1 << trie->cell_bits, last = trie->n_leaves - 1;
    size_t                       near = 0;

    while (count_of(t, leaves, near) > HAMT_LEAF)
        near++;
    test_true(t, near >= DENSE >> HAMT_BITS && near < last);
    test_true(t, !(peek(t, leaves, (near + 1) * RECORD + PLACE) & HAMT_WIDE));
    test_true(t, peek(t, leaves, (last - 1) * RECORD + PLACE) & HAMT_WIDE);
    check_records(t, dict, 1);
    check_records(t, dict, near + 1);
    check_records(t, dict, last - 1);
    expect_noticed(t, dict, leaves, BEFORE, 1, "T3");
    expect_noticed(t, dict, leaves, (last + 1) * RECORD + BEFORE, ALL + 1, "T3");

    /* a bitmap, and what is counted in it; short keys, whole keys */
    const size_t bitmap = word_of(peek(t, leaves, RECORD + PLACE));
    const size_t keys = word_of(peek(t, leaves, (near + 1) * RECORD + PLACE));
    const size_t whole = word_of(peek(t, leaves, (last - 1) * RECORD + PLACE));
    expect_noticed(t, dict, pool, bitmap, 0xfffffffeu, "T2");
    expect_noticed(t, dict, pool, bitmap + HAMT_WORDS - 1, 0x7fffffffu, "T2");
    expect_noticed(t, dict, leaves, RECORD + SECTORS, peek(t, leaves, RECORD + SECTORS) + 1, "T2");
    expect_noticed(t, dict, pool, keys, peek(t, pool, keys) << 16 | peek(t, pool, keys) >> 16, "T2");
    expect_noticed(t, dict, pool, whole, peek(t, pool, whole + 1), "T2");
    expect_noticed(t, dict, pool, whole, peek(t, leaves, (last - 1) * RECORD + FIRST) - 1, "T2");
    expect_noticed(t, dict, pool, whole + 1, peek(t, leaves, last * RECORD + FIRST), "T2");

    expect_noticed(t, dict, tables, 0, peek(t, tables, 0) - 1, "T5: cell 0 of the table of keys");
    expect_noticed(t, dict, tables, cells / 2, (uint32_t) last + 2, "T5");
    expect_noticed(t, dict, tables, cells + 1, peek(t, tables, cells + 1) + 1, "T5: cell 1 of the table of ranks");
    ordo_dict_destroy(&dict);
}

Test(hamt, a_wrong_word_is_noticed)
{
    test_each_device(check_words);
    test_each_device_with("cpu=0", check_words);
}

/* ---- forms of leaves ---------------------------------------------------------------------------------------------- */

static struct ordo_dict_statistics statistics_of(struct test *t, ordo_dict *dict)
{
    struct ordo_dict_statistics s;

    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s;
}

/* Bits a key of all that is held for so many keys without values, `apart` from each other. */
static double bits_a_key(struct test *t, uint32_t count, uint32_t apart)
{
    uint32_t  *keys = test_alloc(count * sizeof *keys);
    ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < count; i++)
        keys[i] = apart == 1 ? i : i * apart + (uint32_t) (test_random(t) % apart);
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, count));
    const struct ordo_dict_statistics s = statistics_of(t, dict);
    ordo_dict_destroy(&dict);
    free(keys);
    return 8.0 * (double) (s.bytes_data + s.bytes_index + s.bytes_marks + s.bytes_spare) / count;
}

static void check_memory(struct test *t)
{
    enum { N = 1 << 18 };

    test_true(t, bits_a_key(t, N, 1) <= 1.2);      /* bitmaps */
    test_true(t, bits_a_key(t, N, 4) <= 4.8);      /* bitmaps, a quarter full */
    test_true(t, bits_a_key(t, N, 256) <= 24);     /* short keys */
    test_true(t, bits_a_key(t, N, 16000) <= 41.6); /* whole keys */
}

Test(hamt, memory_is_what_the_kind_of_set_takes)
{
    test_each_device(check_memory);
}

/* What a trie is: records but for where blocks are, and tables. */
static void expect_same_shape(struct test *t, ordo_dict *a, ordo_dict *b)
{
    const struct ordo_hamt_trie *x = &ordo_hamt_of(a)->trie, *y = &ordo_hamt_of(b)->trie;

    test_true(t, x->n_leaves == y->n_leaves && x->n == y->n && x->live == y->live && x->used == y->used);
    for (size_t i = 0; i < x->n_leaves; i++)
        for (size_t w = 0; w < RECORD; w++)
            test_true(t, peek(t, x->leaves.mem, i * RECORD + w) == peek(t, y->leaves.mem, i * RECORD + w));
}

/* Elements in batches, some of them erased again, in another order than by one build. */
static void check_history(struct test *t)
{
    enum { BATCH = 700 };
    ordo_dict *built = make(t, 4), *grown = NULL;
    uint32_t  *keys = test_alloc(ALL * sizeof *keys), *extra = test_alloc(BATCH * sizeof *extra);

    spread(keys);
    for (size_t i = ALL; i > 1; i--) {
        const size_t   j = test_random(t) % i;
        const uint32_t key = keys[i - 1];
        keys[i - 1] = keys[j];
        keys[j] = key;
    }
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, 4 }), &grown));
    for (size_t i = 0; i < ALL; i += BATCH) {
        const size_t n = ALL - i < BATCH ? ALL - i : BATCH;
        for (size_t e = 0; e < BATCH; e++) /* none of them one of those */
            extra[e] = (uint32_t) (test_random(t) % (1u << 20)) * 1024 + 0x80000000u;
        test_ok(t, ordo_dict_upsert_host(grown, extra, extra, BATCH));
        test_ok(t, ordo_dict_upsert_host(grown, &keys[i], &keys[i], n));
        test_ok(t, ordo_dict_erase_host(grown, extra, BATCH));
        test_ok(t, ordo_dict_check(grown, NULL));
    }
    test_ok(t, ordo_dict_compact(grown, NULL));
    test_ok(t, ordo_dict_check(grown, NULL));
    expect_same_shape(t, built, grown);
    ordo_dict_destroy(&built);
    ordo_dict_destroy(&grown);
    free(keys);
    free(extra);
}

Test(hamt, a_set_has_one_shape_whatever_came_before)
{
    test_each_device(check_history);
    test_each_device_with("cpu=0,progress=1", check_history);
}

/* Bitmaps thin out until their keys are sorted, and fill again; then nothing is left. */
static void check_thinning(struct test *t)
{
    enum { N = 6000, KEPT = 37 };
    uint32_t    *keys = test_alloc(N * sizeof *keys), gone = 0;
    ordo_dict   *dict = NULL;
    struct model model = model_empty(ORDO_U32, 4);

    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, 4 }), &dict));
    for (uint32_t i = 0; i < N; i++)
        keys[i] = 700 + i;
    for (int round = 0; round < 2; round++) {
        test_context(t, "round %d", round);
        for (uint32_t i = 0; i < N; i++)
            keys[i] = 700 + i;
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, N));
        model_batch(&model, ORDO_UPSERT, keys, keys, N);
        expect_content(t, dict, &model);
        test_true(t, statistics_of(t, dict).leaves <= (N >> HAMT_BITS) + 2);
        gone = 0;
        for (uint32_t i = 0; i < N; i++)
            if (i % KEPT != 0)
                keys[gone++] = 700 + i;
        test_ok(t, ordo_dict_erase_host(dict, keys, gone));
        model_batch(&model, ORDO_ERASE, keys, NULL, gone);
        expect_content(t, dict, &model);
    }
    for (uint32_t i = 0; i < N; i++)
        keys[i] = 700 + i;
    test_ok(t, ordo_dict_erase_host(dict, keys, N));
    model_batch(&model, ORDO_ERASE, keys, NULL, N);
    expect_content(t, dict, &model);
    test_true(t, statistics_of(t, dict).leaves == 0);
    ordo_dict_destroy(&dict);
    model_free(&model);
    free(keys);
}

Test(hamt, bitmaps_thin_out_and_fill_again)
{
    test_each_device(check_thinning);
}

/* Keys of one cell but for the ends of all: the way into it goes on among its leaves. */
static void check_one_cell(struct test *t)
{
    enum { N = 20000 };
    uint64_t  *keys = test_alloc(N * sizeof *keys), got = 0;
    uint32_t  *ranks = test_alloc(N * sizeof *ranks);
    ordo_dict *dict = NULL;

    keys[0] = 0;
    keys[N - 1] = UINT64_MAX;
    for (uint64_t i = 1; i < N - 1; i++)
        keys[i] = (UINT64_C(1) << 40) + i * 5000;
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U64, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, N));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_rank_host(dict, ORDO_LT, keys, N, ranks));
    for (uint32_t i = 0; i < N; i++)
        test_true(t, ranks[i] == i);
    for (uint32_t i = 0; i < N; i++)
        ranks[i] = N - 1 - i;
    uint64_t *selected = test_alloc(N * sizeof *selected);
    test_ok(t, ordo_dict_select_host(dict, ranks, N, selected, NULL, NULL));
    for (uint32_t i = 0; i < N; i++)
        got += selected[i] == keys[N - 1 - i];
    test_true(t, got == N);
    ordo_dict_destroy(&dict);
    free(selected);
    free(keys);
    free(ranks);
}

Test(hamt, keys_may_all_be_near_each_other)
{
    test_each_device(check_one_cell);
}
