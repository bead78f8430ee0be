/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT: the check names each broken invariant, and each kind of set gets leaves of its form. tests/dict has the
 * tests of all dictionaries. */
#include "tests/trie/trie_case.h"

#include "dict/trie/hamt.h"

/* ---- invariants -------------------------------------------------------------------------------------------------- */

/* Words of a record of u32 keys. */
enum { FIRST, BEFORE, PLACE, SECTORS, RECORD };

enum { DENSE = 5000, NEAR = 3000, FAR = 2000, ALL = DENSE + NEAR + FAR };

/* Dense keys, keys some hundred apart, and keys far apart: leaves of each form, in this order. */
static void spread(uint32_t *keys)
{
    for (uint32_t i = 0; i < ALL; i++)
        keys[i] = i < DENSE          ? 4096 + i
                  : i < DENSE + NEAR ? (1u << 20) + (i - DENSE) * 300
                                     : (1u << 28) + (i - DENSE - NEAR) * 100003;
}

static ordo_dict *make_of(struct test *t, uint32_t value_bytes, bool fixed_depth)
{
    AUTO_FREE uint32_t *keys = test_alloc(ALL * sizeof *keys);
    ordo_dict          *dict = NULL;

    spread(keys);
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, value_bytes }, .fixed_depth = fixed_depth),
                                &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, value_bytes ? keys : NULL, ALL));
    test_ok(t, ordo_dict_check(dict, NULL));
    return dict;
}

static ordo_dict *make(struct test *t, uint32_t value_bytes)
{
    return make_of(t, value_bytes, false);
}

static uint32_t count_of(struct test *t, cl_mem leaves, size_t leaf)
{
    return read_word(t, leaves, (leaf + 1) * RECORD + BEFORE) - read_word(t, leaves, leaf * RECORD + BEFORE);
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
    const uint32_t               first = read_word(t, leaves, at + FIRST), before = read_word(t, leaves, at + BEFORE),
                   place = read_word(t, leaves, at + PLACE);

    expect_broken(t, dict, leaves, at + FIRST, first + 1, "T1");
    expect_broken(t, dict, leaves, at + FIRST, read_word(t, leaves, at + RECORD + FIRST), "T1");
    expect_broken(t, dict, leaves, at + BEFORE, read_word(t, leaves, at + RECORD + BEFORE), "T3");
    expect_broken(t, dict, leaves, at + BEFORE, before + 1, "T");
    expect_broken(t, dict, leaves, at + PLACE, read_word(t, leaves, at + RECORD + PLACE), "T4");
    expect_broken(t, dict, leaves, at + PLACE, place | 0xfffffff0u, "T4");
}

MASK_TEST(hamt, check_names_a_wrong_word, "", "cpu=0")
{
    AUTO_DICT ordo_dict         *dict = make(t, 4);
    const struct ordo_hamt_trie *trie = &ordo_hamt_of(dict)->trie;
    const cl_mem                 leaves = trie->leaves.mem, pool = trie->pool.mem, tables = trie->tables.mem;
    const size_t                 cells = (size_t) 1 << trie->cell_bits, last = trie->n_leaves - 1;
    size_t                       near = 0;

    while (count_of(t, leaves, near) > HAMT_LEAF)
        near++;
    test_true(t, near >= DENSE >> HAMT_BITS && near < last);
    test_true(t, !(read_word(t, leaves, (near + 1) * RECORD + PLACE) & HAMT_WIDE));
    test_true(t, read_word(t, leaves, (last - 1) * RECORD + PLACE) & HAMT_WIDE);
    check_records(t, dict, 1);
    check_records(t, dict, near + 1);
    check_records(t, dict, last - 1);
    expect_broken(t, dict, leaves, BEFORE, 1, "T3");
    expect_broken(t, dict, leaves, (last + 1) * RECORD + BEFORE, ALL + 1, "T3");

    /* a bitmap and its sectors; short keys; whole keys */
    const size_t bitmap = word_of(read_word(t, leaves, RECORD + PLACE));
    const size_t keys = word_of(read_word(t, leaves, (near + 1) * RECORD + PLACE));
    const size_t whole = word_of(read_word(t, leaves, (last - 1) * RECORD + PLACE));
    expect_broken(t, dict, pool, bitmap, 0xfffffffeu, "T2");
    expect_broken(t, dict, pool, bitmap + HAMT_WORDS - 1, 0x7fffffffu, "T2");
    expect_broken(t, dict, leaves, RECORD + SECTORS, read_word(t, leaves, RECORD + SECTORS) + 1, "T2");
    expect_broken(t, dict, pool, keys, read_word(t, pool, keys) << 16 | read_word(t, pool, keys) >> 16, "T2");
    expect_broken(t, dict, pool, whole, read_word(t, pool, whole + 1), "T2");
    expect_broken(t, dict, pool, whole, read_word(t, leaves, (last - 1) * RECORD + FIRST) - 1, "T2");
    expect_broken(t, dict, pool, whole + 1, read_word(t, leaves, last * RECORD + FIRST), "T2");

    expect_broken(t, dict, tables, 0, read_word(t, tables, 0) - 1, "T5: cell 0 of the table of keys");
    expect_broken(t, dict, tables, cells / 2, (uint32_t) last + 2, "T5");
    expect_broken(t, dict, tables, cells + 1, read_word(t, tables, cells + 1) + 1, "T5: cell 1 of the table of ranks");
}

/* Changes the header, and words of each level of nodes: with a child, without one, the last. */
MASK_TEST(hamt, check_names_a_wrong_node, "", "cpu=0")
{
    AUTO_DICT ordo_dict         *dict = make_of(t, 4, true);
    const struct ordo_hamt_trie *trie = &ordo_hamt_of(dict)->trie;
    const cl_mem                 tables = trie->tables.mem;
    const size_t                 levels = HAMT_LEVELS(32), nodes = HAMT_HEADER + ((size_t) 1 << trie->rank_bits);

    for (size_t level = 0; level < levels; level++) {
        const size_t first = read_word(t, tables, level),
                     past = level > 0 ? read_word(t, tables, level - 1) : trie->nodes;
        const size_t end = nodes + past * HAMT_NODE, at = nodes + first * HAMT_NODE;
        expect_broken(t, dict, tables, level, (uint32_t) first + 1, "T5: the nodes");
        expect_broken(t, dict, tables, at, read_word(t, tables, at) + 1, "T5: the nodes");
        expect_broken(t, dict, tables, (at + end) / 2, read_word(t, tables, (at + end) / 2) - 1, "T5: the nodes");
        expect_broken(t, dict, tables, end - 1, 0, "T5: the nodes");
    }
    expect_broken(t, dict, tables, HAMT_HEADER + 1, read_word(t, tables, HAMT_HEADER + 1) + 1, "T5: cell 1");
}

/* ---- forms of leaves --------------------------------------------------------------------------------------------- */

/* Bits a key of all memory held for `count` keys without values, `apart` from each other. */
static double bits_a_key(struct test *t, uint32_t count, uint32_t apart)
{
    uint32_t  *keys = test_alloc(count * sizeof *keys);
    ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < count; i++)
        keys[i] = apart == 1 ? i : i * apart + (uint32_t) (test_random(t) % apart);
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, count));
    const struct ordo_statistics s = statistics_of(t, dict);
    ordo_dict_destroy(&dict);
    free(keys);
    return 8.0 * (double) (s.bytes_data + s.bytes_index + s.bytes_marks + s.bytes_spare) / count;
}

/* Expects a leaf for each region of 1024 keys that has one, 256 bytes for a node, and 5 levels for 4-byte keys. */
DEVICE_TEST(hamt, fixed_depth_makes_each_leaf_a_bitmap)
{
    enum { N = 4000 };
    ordo_dict          *dict = make_of(t, 0, true);
    AUTO_FREE uint32_t *keys = test_alloc(ALL * sizeof *keys);
    size_t              regions = 0;

    spread(keys);
    for (size_t i = 0; i < ALL; i++)
        regions += i == 0 || keys[i] >> HAMT_BITS != keys[i - 1] >> HAMT_BITS;
    struct ordo_statistics s = statistics_of(t, dict);
    test_true(t, s.leaves == regions && s.levels == 5 && s.bytes_data == regions * 128);
    test_true(t, s.bytes_index >= ordo_hamt_of(dict)->trie.nodes * 256);
    ordo_dict_destroy(&dict);

    AUTO_FREE uint64_t *wide = test_alloc(N * sizeof *wide);
    for (uint64_t i = 0; i < N; i++)
        wide[i] = i << 52 | i;
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U64, 0 }, .fixed_depth = true), &dict));
    test_ok(t, ordo_dict_build_host(dict, wide, NULL, N));
    test_ok(t, ordo_dict_check(dict, NULL));
    s = statistics_of(t, dict);
    test_true(t, s.leaves == N && s.levels == 10);
    ordo_dict_destroy(&dict);
}

DEVICE_TEST(hamt, memory_fits_the_kind_of_set)
{
    enum { N = 1 << 18 };

    test_true(t, bits_a_key(t, N, 1) <= 1.2);      /* bitmaps */
    test_true(t, bits_a_key(t, N, 4) <= 4.8);      /* bitmaps, a quarter full */
    test_true(t, bits_a_key(t, N, 256) <= 24);     /* short keys */
    test_true(t, bits_a_key(t, N, 16000) <= 41.6); /* whole keys */
}

/* Expects equal records. `record`: words of each; with places_differ, blocks may lie elsewhere. */
static void expect_same_leaves(struct test *t, ordo_dict *a, ordo_dict *b, size_t record, bool places_differ)
{
    const struct ordo_hamt_trie *x = &ordo_hamt_of(a)->trie, *y = &ordo_hamt_of(b)->trie;
    const size_t                 place = record == RECORD ? PLACE : 3, used = record == RECORD ? RECORD : 5;

    test_true(t, x->n == y->n && x->n_leaves == y->n_leaves && x->live == y->live);
    if (x->n_leaves == 0)
        return;
    AUTO_FREE uint32_t *is = read_words(t, x->leaves.mem, (x->n_leaves + 1) * record);
    AUTO_FREE uint32_t *wanted = read_words(t, y->leaves.mem, (y->n_leaves + 1) * record);
    for (size_t i = 0; i < x->n_leaves; i++)
        for (size_t w = 0; w < used; w++) {
            const uint32_t mask = w == place && places_differ ? HAMT_WIDE : UINT32_MAX;
            if ((is[i * record + w] & mask) != (wanted[i * record + w] & mask))
                test_fail(t, __FILE__, __LINE__, "leaf %zu of %u: word %zu is %#x, not %#x", i, x->n_leaves, w,
                          is[i * record + w], wanted[i * record + w]);
        }
}

/* Stores the elements of a build in batches, in another order, and erases others. */
static void check_history_of(struct test *t, bool fixed_depth)
{
    enum { BATCH = 700 };
    AUTO_DICT ordo_dict *built = make_of(t, 4, fixed_depth), *grown = NULL;
    AUTO_FREE uint32_t  *keys = test_alloc(ALL * sizeof *keys), *extra = test_alloc(BATCH * sizeof *extra);

    spread(keys);
    for (size_t i = ALL; i > 1; i--) {
        const size_t   j = test_random(t) % i;
        const uint32_t key = keys[i - 1];
        keys[i - 1] = keys[j];
        keys[j] = key;
    }
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_U32, 4 }, .fixed_depth = fixed_depth), &grown));
    for (size_t i = 0; i < ALL; i += BATCH) {
        const size_t n = ALL - i < BATCH ? ALL - i : BATCH;
        for (size_t e = 0; e < BATCH; e++) /* none of `keys` */
            extra[e] = (uint32_t) (test_random(t) % (1u << 20)) * 1024 + 0x80000000u;
        test_ok(t, ordo_dict_upsert_host(grown, extra, extra, BATCH));
        test_ok(t, ordo_dict_upsert_host(grown, &keys[i], &keys[i], n));
        test_ok(t, ordo_dict_erase_host(grown, extra, BATCH));
        test_ok(t, ordo_dict_check(grown, NULL));
    }
    test_ok(t, ordo_dict_compact(grown, NULL));
    test_ok(t, ordo_dict_check(grown, NULL));
    test_true(t, ordo_hamt_of(built)->trie.used == ordo_hamt_of(grown)->trie.used);
    expect_same_leaves(t, built, grown, RECORD, false);
}

MASK_TEST(hamt, a_set_has_one_shape_after_any_history, "", "cpu=0,progress=1")
{
    check_history_of(t, false);
    check_history_of(t, true);
}

/* ---- two kinds of update ----------------------------------------------------------------------------------------- */

/* Draws keys that are crowded in some regions: the number of free low bits varies. */
static uint64_t draw_key(struct test *t, ordo_type key)
{
    static const unsigned free_bits[] = { 11, 13, 16, 20, 31, 60 };
    const unsigned        most = free_bits[test_random(t) % (key == ORDO_U32 ? 5 : 6)];
    const uint64_t        region = test_random(t) % 3 << (key == ORDO_U32 ? 30 : 62);
    return region + (test_random(t) & ((UINT64_C(1) << most) - 1));
}

static void expect_same_elements(struct test *t, ordo_dict *a, ordo_dict *b, uint32_t value_bytes)
{
    const size_t n = ordo_hamt_of(a)->trie.n;
    char        *out = test_alloc(4 * (n + 1) * 8), *at[4];
    size_t       count = 0;

    memset(out, 0, 4 * (n + 1) * 8);
    for (size_t i = 0; i < 4; i++)
        at[i] = out + i * (n + 1) * 8;
    test_ok(t, ordo_dict_export_host(a, at[0], value_bytes ? at[1] : NULL, n, &count));
    test_true(t, count == n);
    test_ok(t, ordo_dict_export_host(b, at[2], value_bytes ? at[3] : NULL, n, &count));
    test_true(t, count == n && memcmp(at[0], at[2], 2 * (n + 1) * 8) == 0);
    free(out);
}

enum { TWO_MAX = 4000, TWO_REPEATS = HAMT_UPDATES_MAX + 1 };

static void draw_batch(struct test *t, ordo_type key, void *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t one = draw_key(t, key);
        if (key == ORDO_U32)
            ((uint32_t *) keys)[i] = (uint32_t) one;
        else
            ((uint64_t *) keys)[i] = one;
    }
    for (size_t i = 0, bytes = key == ORDO_U32 ? 4 : 8; i < TWO_REPEATS; i++)
        memcpy((char *) keys + (n + i) * bytes, (char *) keys + (n - 1) * bytes, bytes);
}

/* Gives one dictionary each batch, another one the batch with its last update repeated, so that a leaf has too many
 * updates for one work-item. */
static void two_ways(struct test *t, ordo_type key, uint32_t value_bytes, bool fixed_depth)
{
    AUTO_DICT ordo_dict *leaf_by_leaf = NULL, *by_elements = NULL;
    AUTO_FREE uint64_t  *keys = test_alloc((TWO_MAX + TWO_REPEATS) * sizeof *keys);
    AUTO_FREE uint64_t  *values = test_alloc((TWO_MAX + TWO_REPEATS) * sizeof *values);

    const struct ordo_hamt_config config = { .dict = { key, value_bytes }, .fixed_depth = fixed_depth };
    test_ok(t, ordo_hamt_create(t->dev, &config, &leaf_by_leaf));
    test_ok(t, ordo_hamt_create(t->dev, &config, &by_elements));
    for (int round = 0; round < 40; round++) {
        const size_t leaves = ordo_hamt_of(leaf_by_leaf)->trie.n_leaves;
        const size_t most = round % 3 == 0 ? 20 : round % 3 == 1 ? leaves / 2 + 1 : TWO_MAX;
        const size_t n = 1 + test_random(t) % most;
        const bool   erases = round % 4 == 3;
        test_context(t, "round %d: %zu updates%s", round, n, erases ? ", erased" : "");
        draw_batch(t, key, keys, n);
        for (size_t i = 0; i < n + TWO_REPEATS; i++)
            values[i] = i < n ? test_random(t) : values[n - 1];
        if (value_bytes == 4)
            for (size_t i = 0; i < TWO_REPEATS; i++)
                memcpy((uint32_t *) values + n + i, (uint32_t *) values + n - 1, 4);
        for (int way = 0; way < 2; way++) {
            ordo_dict   *dict = way ? by_elements : leaf_by_leaf;
            const size_t count = n + (way ? TWO_REPEATS : 0);
            test_ok(t, erases ? ordo_dict_erase_host(dict, keys, count)
                              : ordo_dict_upsert_host(dict, keys, value_bytes ? values : NULL, count));
            test_ok(t, ordo_dict_check(dict, NULL));
        }
        expect_same_leaves(t, leaf_by_leaf, by_elements, key == ORDO_U32 ? RECORD : 6, true);
        expect_same_elements(t, leaf_by_leaf, by_elements, value_bytes);
    }
}

MASK_TEST(hamt, both_kinds_of_update_make_the_same_leaves, "", "cpu=0,progress=1")
{
    two_ways(t, ORDO_U32, 0, false);
    two_ways(t, ORDO_U32, 4, false);
    two_ways(t, ORDO_U64, 8, false);
    two_ways(t, ORDO_U32, 4, true);
}

/* Bitmaps become sorted keys by erasures, then bitmaps again. At last all keys are erased. */
DEVICE_TEST(hamt, bitmaps_empty_and_fill_again)
{
    enum { N = 6000, KEPT = 37 };
    uint32_t               *keys = test_alloc(N * sizeof *keys), gone = 0;
    AUTO_DICT ordo_dict    *dict = NULL;
    AUTO_MODEL struct model model = model_empty(ORDO_U32, 4);

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
    free(keys);
}

/* All keys but the first and last lie in one cell, so a search continues among its leaves. */
DEVICE_TEST(hamt, keys_may_share_one_cell)
{
    enum { N = 20000 };
    uint64_t            *keys = test_alloc(N * sizeof *keys), got = 0;
    AUTO_FREE uint32_t  *ranks = test_alloc(N * sizeof *ranks);
    AUTO_DICT ordo_dict *dict = NULL;

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
    AUTO_FREE uint64_t *selected = test_alloc(N * sizeof *selected);
    test_ok(t, ordo_dict_select_host(dict, ranks, N, selected, NULL, NULL));
    for (uint32_t i = 0; i < N; i++)
        got += selected[i] == keys[N - 1 - i];
    test_true(t, got == N);
    free(keys);
}
