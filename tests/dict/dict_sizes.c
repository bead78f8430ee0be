/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that dictionaries take: what their statistics say, and the figures of the headers. */
#include "dict_case.h"

#include "runtime/internal.h"

/* A type of keys and a size of values. Other tests build kernels for the first SHAPES_MET shapes. */
static const struct shape {
    ordo_type key;
    uint32_t  value_bytes;
} shapes[] = { { ORDO_U32, 4 }, { ORDO_BYTES16, 16 }, { ORDO_U32, 0 }, { ORDO_U32, 16 },
               { ORDO_U64, 4 }, { ORDO_U64, 8 },      { ORDO_U128, 0 } };
enum { SHAPES_MET = 2 };

static bool shape_is_met(const struct test *t, int structure, size_t shape)
{
    const ordo_type key = shapes[shape].key;

    return structure_takes((size_t) structure, key) &&
           (test_wants_all("ORDO_TEST_KINDS") ||
            (shape < SHAPES_MET && type_is_met(key, (size_t) structure, t->seed, t->facts->cpu)));
}

/* Writes keys or values of `bytes` bytes, numbered from `from` on. All words of one are equal. */
static void number_words(uint32_t *words, size_t bytes, uint32_t from, uint32_t count)
{
    for (size_t i = 0; i < count * bytes / 4; i++)
        words[i] = key_of(from + (uint32_t) (i * 4 / bytes));
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

static size_t bytes_now(const struct ordo_statistics *s)
{
    return s->bytes_data + s->bytes_index + s->bytes_marks + s->bytes_spare;
}

/* Elements have `bytes` bytes each. */
static void expect_elements(struct test *t, int structure, size_t bytes, const struct ordo_statistics *s,
                            size_t elements, size_t stale, size_t tombstones, size_t runs)
{
    if (s->elements != elements || s->stale != stale || s->tombstones != tombstones || s->runs != runs)
        test_fail(t, __FILE__, __LINE__,
                  "the statistics say %zu elements, %zu stale, %zu tombstones, %zu runs; not %zu, %zu, %zu, %zu",
                  s->elements, s->stale, s->tombstones, s->runs, elements, stale, tombstones, runs);
    if (structure_is(structure, ORDO_IS_TRIE))
        test_true(t, s->bytes_data <= elements * bytes + s->leaves * structure_leaf_bytes(structure));
    else
        test_true(t, s->bytes_data == (elements + stale + tombstones) * bytes);
    test_true(t, s->bytes_peak >= bytes_now(s));
}

/* Checks that elements from .. end - 1 have these values and earlier ones are absent. */
static void expect_found(struct test *t, ordo_dict *dict, uint32_t from, uint32_t end, const uint32_t *values)
{
    AUTO_FREE uint32_t *keys = test_alloc(end * sizeof *keys), *found_values = test_alloc(end * sizeof *found_values);
    AUTO_FREE uint8_t  *found = test_alloc(end);

    number_keys(keys, 0, end);
    test_ok(t, ordo_dict_find_host(dict, keys, end, found_values, found));
    for (uint32_t i = 0; i < end; i++)
        if (found[i] != (i >= from) || (found[i] && found_values[i] != values[i]))
            test_fail(t, __FILE__, __LINE__, "element %u is %sfound, with %u", i, found[i] ? "" : "not ",
                      found_values[i]);
}

/* No device merges runs of these sizes. */
enum { STORED = 400000, REPLACED = 60000, ERASED = 15000, ABSENT = 4000 };
enum { FEW_BYTES = 4 << 20 }; /* of cached blocks too small to free */

static void check_statistics(struct test *t, int structure, struct shape shape)
{
    const size_t           kb = ordo_type_bytes(shape.key), bytes = kb + shape.value_bytes;
    AUTO_FREE uint32_t    *keys = test_alloc(STORED * kb), *some = test_alloc((size_t) STORED * shape.value_bytes);
    const uint32_t        *values = shape.value_bytes ? some : NULL;
    AUTO_DICT ordo_dict   *dict = NULL;
    struct ordo_statistics s;

    const bool   stale = structure_is(structure, ORDO_KEEPS_STALE), tree = structure_is(structure, ORDO_IS_TREE);
    const bool   leaves = tree || structure_is(structure, ORDO_IS_TRIE);
    const size_t run = structure_is(structure, ORDO_HAS_RUNS);

    test_context(t, "statistics of a %s, keys of %zu bytes, values of %u", structures[structure].name, kb,
                 shape.value_bytes);
    number_words(some, shape.value_bytes, 0, STORED);
    test_ok(t, create(t->dev, structure, shape.key, shape.value_bytes, &dict));
    s = statistics_of(t, dict);
    expect_elements(t, structure, bytes, &s, 0, 0, 0, 0);
    test_true(t, bytes_now(&s) == 0 && s.bytes_peak == 0 && s.cleanups == 0);

    number_words(keys, kb, 0, STORED);
    test_ok(t, ordo_dict_build_host(dict, keys, values, STORED));
    s = statistics_of(t, dict);
    expect_elements(t, structure, bytes, &s, STORED, 0, 0, run);
    number_words(keys, kb, 1000, REPLACED);
    test_ok(t, ordo_dict_upsert_host(dict, keys, values, REPLACED));
    s = statistics_of(t, dict);
    expect_elements(t, structure, bytes, &s, STORED, stale ? REPLACED : 0, 0, stale ? 2 : run);
    number_words(keys, kb, STORED - ERASED, ERASED);
    test_ok(t, ordo_dict_erase_host(dict, keys, ERASED));
    s = statistics_of(t, dict);
    if (stale)
        expect_elements(t, structure, bytes, &s, STORED - ERASED, REPLACED + ERASED, ERASED, 3);
    else
        expect_elements(t, structure, bytes, &s, STORED - ERASED, 0, 0, run);
    number_words(keys, kb, STORED, ABSENT);
    test_ok(t, ordo_dict_erase_host(dict, keys, ABSENT));
    s = statistics_of(t, dict);
    if (stale) /* the runs of tombstones may have become one */
        expect_elements(t, structure, bytes, &s, STORED - ERASED, REPLACED + ERASED, ERASED + ABSENT, s.runs);
    else
        expect_elements(t, structure, bytes, &s, STORED - ERASED, 0, 0, run);

    test_status(t, ordo_lsm_cleanup(dict, NULL), stale ? ORDO_OK : ORDO_UNSUPPORTED);
    if (stale) {
        s = statistics_of(t, dict);
        expect_elements(t, structure, bytes, &s, STORED - ERASED, 0, 0, 1);
        test_true(t, bytes_now(&s) <= (s.bytes_data + s.bytes_index + s.bytes_marks) / 10 * 21 + FEW_BYTES);
    }
    test_ok(t, ordo_dict_compact(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, structure, bytes, &s, STORED - ERASED, 0, 0, run);
    test_true(t, tree || structure_is(structure, ORDO_REBUILDS) ? s.cleanups > 0 : s.cleanups == stale);
    test_true(t, (s.leaves > 0) == leaves && (s.levels > 0) == leaves);
    if (tree)
        test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 * 4);
    else if (structure_is(structure, ORDO_NO_ORDER)) /* 5 more bytes for each 8 slots */
        test_true(t, bytes_now(&s) <= (s.bytes_data + s.elements / 8 * 5) / 10 * 14);
    else if (structure_is(structure, ORDO_HAS_PREFIXES))
        test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 * 3);
    else
        test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 + s.elements * kb / 100 * (kb > 8 ? 15 : 8));
}

DEVICE_TEST(dict_sizes, statistics_count_stored_elements)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        for (size_t i = 0; i < LENGTH(shapes); i++)
            if (shape_is_met(t, s, i))
                check_statistics(t, s, shapes[i]);
}

/* Stores new keys batch by batch, then cleans up. At no time is the memory above 2.2 times the stored keys and values
 * plus the cached blocks. */
static void check_peak(struct test *t, ordo_dict *dict, struct shape shape)
{
    enum { BATCH = 30011, BATCHES = 40 };
    static uint32_t        keys[4 * BATCH], some[4 * BATCH];
    const size_t           kb = ordo_type_bytes(shape.key);
    const uint32_t        *values = shape.value_bytes ? some : NULL;
    struct ordo_statistics s;
    size_t                 peak = 0;

    for (uint32_t b = 0; b <= BATCHES; b++) {
        number_words(keys, kb, b * BATCH, BATCH);
        test_ok(t, b < BATCHES ? ordo_dict_upsert_host(dict, keys, values, BATCH) : ordo_dict_compact(dict, NULL));
        s = statistics_of(t, dict);
        if (s.bytes_peak > peak && s.bytes_peak > s.bytes_data / 10 * 22 + FEW_BYTES)
            test_fail(t, __FILE__, __LINE__, "batch %u: the peak is %zu bytes for %zu bytes of data", b, s.bytes_peak,
                      s.bytes_data);
        peak = s.bytes_peak;
    }
    ordo_dict_destroy(&dict);
}

DEVICE_TEST(dict_sizes, the_peak_is_bounded)
{
    ordo_dict *dict = NULL;

    for (uint32_t growth = 2; growth <= 16; growth *= 2) {
        test_context(t, "the peak of an lsm of growth %u", growth);
        test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = growth), &dict));
        check_peak(t, dict, shapes[0]);
    }
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        if (!shape_is_met(t, SORTED_ARRAY, i))
            continue;
        test_context(t, "the peak of a sorted array, shape %zu", i);
        test_ok(t, create(t->dev, SORTED_ARRAY, shapes[i].key, shapes[i].value_bytes, &dict));
        check_peak(t, dict, shapes[i]);
    }
}

/* ---- memory figures of the headers ------------------------------------------------------------------------------- */

enum { MANY = 1 << 20, SPARE = 4 << 20 };

/* Maximum memory of a build without the old content: percent of keys and values, and bytes for each key. */
static const struct figure {
    int      structure;
    uint32_t percent, key_bytes;
} figures[] = {
    { SORTED_ARRAY, 330, 0 }, { LSM, 330, 0 },    { FAST, 330, 0 },  { BLINK, 500, 0 },
    { SKIPLIST, 500, 0 },     { XFAST, 200, 14 }, { HAMT, 300, 14 },
};

static struct ordo_memory memory_of(struct test *t, ordo_device *dev)
{
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(dev, &memory));
    return memory;
}

/* Frees cached blocks, and resets the peaks. Returns the bytes that the device holds. */
static uint64_t held_by(struct test *t, ordo_device *dev)
{
    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    return memory_of(t, dev).held_bytes;
}

static void expect_at_most(struct test *t, const char *what, uint64_t bytes, uint64_t most)
{
    if (bytes > most)
        test_fail(t, __FILE__, __LINE__, "%s takes %llu bytes, and the header says %llu at most", what,
                  (unsigned long long) bytes, (unsigned long long) most);
}

/* Seeks n keys within this scratch for each query. */
static void expect_seeks(struct test *t, ordo_dict *dict, const struct test_array *keys, const struct test_array *out,
                         size_t key_bytes)
{
    (void) held_by(t, t->dev);
    test_ok(t, ordo_dict_seek(dict, ORDO_GE, test_slice(keys), MANY, ordo_none(), ordo_none(), ordo_none(), NULL));
    expect_at_most(t, "a seek", memory_of(t, t->dev).scratch_peak_bytes, (uint64_t) MANY * (key_bytes + 5) + 4096);
    (void) held_by(t, t->dev);
    test_ok(t, ordo_dict_count(dict, test_slice(keys), test_slice(keys), MANY, test_slice(out), NULL));
    expect_at_most(t, "a count", memory_of(t, t->dev).scratch_peak_bytes, (uint64_t) MANY * 8 + 4096);
}

static void expect_figure(struct test *t, const struct figure *f, struct shape shape)
{
    const uint32_t       value_bytes = shape.value_bytes;
    const size_t         kb = ordo_type_bytes(shape.key), n = MANY;
    AUTO_FREE uint64_t  *words = test_alloc(n * 2 * sizeof *words);
    AUTO_DICT ordo_dict *dict = NULL;
    const uint64_t       most = (kb + value_bytes) * n * f->percent / 100 + n * f->key_bytes + SPARE;
    struct test_array    keys, values, out = test_upload(t, NULL, n, 8, 0);

    test_context(t, "memory of a %s, keys of %zu bytes, values of %u", structures[f->structure].word, kb, value_bytes);
    for (size_t i = 0; i < n * 2; i++)
        words[i] = test_random(t);
    keys = test_upload(t, words, n, kb, 0);
    values = test_upload(t, words, value_bytes ? n : 1, value_bytes ? value_bytes : 4, 0);
    test_ok(t, create(t->dev, f->structure, shape.key, value_bytes, &dict));
    const uint64_t before = held_by(t, t->dev);
    test_ok(t, ordo_dict_build(dict, test_slice(&keys), value_bytes ? test_slice(&values) : ordo_none(), n, NULL));
    expect_at_most(t, "a build", memory_of(t, t->dev).held_peak_bytes - before, most);
    (void) held_by(t, t->dev);
    test_ok(t, ordo_dict_compact(dict, NULL));
    expect_at_most(t, "a compact", memory_of(t, t->dev).held_peak_bytes - before, most);
    expect_seeks(t, dict, &keys, &out, kb);
    test_free(&keys);
    test_free(&values);
    test_free(&out);
}

DEVICE_TEST(dict_sizes, builds_compacts_and_seeks_match_the_headers)
{
    for (size_t i = 0; i < LENGTH(figures); i++)
        for (size_t s = 0; s < LENGTH(shapes); s++)
            if (shape_is_met(t, figures[i].structure, s))
                expect_figure(t, &figures[i], shapes[s]);
}

/* Random u64 keys: nearly each has its own container and bitmap. */
DEVICE_TEST(dict_sizes, roaring_bytes_match_the_header)
{
    enum { KEYS = 1 << 16 };
    AUTO_FREE uint64_t  *keys = test_alloc(KEYS * sizeof *keys);
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0;

    test_context(t, "memory of Roaring bytes");
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = test_random(t);
    test_ok(t, create(t->dev, HAMT, ORDO_U64, 0, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, KEYS));
    (void) held_by(t, t->dev);
    test_ok(t, ordo_hamt_write_roaring(dict, ordo_none(), 0, &size, NULL));
    expect_at_most(t, "a write", memory_of(t, t->dev).scratch_peak_bytes, (uint64_t) KEYS * (8 + 44) * 104 / 100);
    AUTO_ARRAY struct test_array bytes = test_upload(t, NULL, size, 1, 0);
    test_ok(t, ordo_hamt_write_roaring(dict, test_slice(&bytes), size, &size, NULL));
    test_ok(t, ordo_dict_clear(dict));
    const uint64_t before = held_by(t, t->dev);
    test_ok(t, ordo_hamt_read_roaring(dict, test_slice(&bytes), size, NULL));
    expect_at_most(t, "a read", memory_of(t, t->dev).held_peak_bytes - before,
                   (uint64_t) KEYS * (32 + 40 + 8 + 8 + 3 * 8 + 14) + SPARE / 4);
}

/* 64 runs of 65536 keys each. */
DEVICE_TEST(dict_sizes, roaring_runs_take_no_memory_per_key)
{
    enum { CONTAINERS = 64 };
    uint8_t              bytes[4 + CONTAINERS / 8 + 14 * CONTAINERS] = { 0x3b, 0x30, CONTAINERS - 1 };
    uint8_t             *descriptors = &bytes[4 + CONTAINERS / 8], *offsets = descriptors + (size_t) 4 * CONTAINERS;
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "memory of Roaring runs");
    for (size_t c = 0; c < CONTAINERS; c++) {
        const size_t at = sizeof bytes - 6 * (CONTAINERS - c);
        bytes[4 + c / 8] = 0xff;
        memcpy(&descriptors[4 * c], (const uint8_t[]) { (uint8_t) c, 0, 0xff, 0xff }, 4);
        memcpy(&offsets[4 * c], (const uint8_t[]) { (uint8_t) at, (uint8_t) (at >> 8), 0, 0 }, 4);
        memcpy(&bytes[at], (const uint8_t[]) { 1, 0, 0, 0, 0xff, 0xff }, 6);
    }
    test_ok(t, create(t->dev, HAMT, ORDO_U32, 0, &dict));
    AUTO_ARRAY struct test_array in = test_upload(t, bytes, sizeof bytes, 1, 0);
    const uint64_t               before = held_by(t, t->dev);
    test_ok(t, ordo_hamt_read_roaring(dict, test_slice(&in), sizeof bytes, NULL));
    expect_at_most(t, "a read", memory_of(t, t->dev).held_peak_bytes - before,
                   (uint64_t) 64 * CONTAINERS * (128 + 24 + 36) + (uint64_t) CONTAINERS * (44 + 8) + SPARE / 4);
    size_t size = 0;
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == CONTAINERS << 16);
}

/* Cleans up unresolved runs: a run of `held` elements with a tenth replaced, and a run that erases `erased` of them. */
static void clean_up(struct test *t, uint32_t held, uint32_t erased)
{
    AUTO_FREE uint32_t    *keys = test_alloc(held * sizeof *keys);
    AUTO_DICT ordo_dict   *dict = NULL;
    struct ordo_statistics s;
    const size_t           cleanups = held > 1 || erased > 0; /* one element needs no cleanup */
    const size_t           put_in = ((size_t) held + held / 10 + erased) * 8;

    test_context(t, "cleanup of %u elements, %u erased", held, erased);
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = 2), &dict));
    number_keys(keys, 0, held);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, held));
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys + 1, held / 10));
    test_ok(t, ordo_dict_erase_host(dict, keys, erased));
    test_ok(t, ordo_lsm_cleanup(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, LSM, 8, &s, held - erased, 0, 0, held > erased);
    test_true(t, s.cleanups == cleanups && s.bytes_peak <= put_in / 10 * 22 + FEW_BYTES);
    test_true(t, bytes_now(&s) <= s.bytes_data / 10 * 42 + FEW_BYTES); /* the block of the run and a cached one */
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = erased; i < held / 10; i++)
        keys[i] = keys[i + 1];
    expect_found(t, dict, erased, held, keys);
    test_ok(t, ordo_dict_compact(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, LSM, 8, &s, held - erased, 0, 0, held > erased);
    test_true(t, s.cleanups == cleanups);
    test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 + s.elements * 4 / 100 * 8 + 4096);
    expect_found(t, dict, erased, held, keys);
}

MASK_TEST(dict_sizes, a_cleanup_matches_the_header, "", "cpu=0,progress=1")
{
    const uint32_t held = t->mask[0] ? 200000 : 600000; /* a CPU is slow as an unknown GPU */

    test_look_back(t);
    clean_up(t, held, 0);
    clean_up(t, held, held / 10);
    clean_up(t, held, held / 10 * 9); /* leaves most of the memory unused */
    clean_up(t, held, held);
    clean_up(t, 1, 0);
    clean_up(t, 1, 1);
}

/* Counts cleanups by policies. Without a policy a cleanup occurs at 8 times the live elements. */
DEVICE_TEST(dict_sizes, cleanup_follows_its_policy)
{
    static const struct {
        bool     doubled;
        uint32_t percent;
        bool     cleans_new, cleans_same; /* cleans up with new keys; with the same keys */
    } policy[] = { { false, 0, false, true }, { true, 0, true, true }, { false, 30, false, true } };
    enum { BATCH = 2000, BATCHES = 20 };
    static uint32_t   keys[BATCH];
    struct test_array stored = test_upload(t, NULL, BATCH, 4, 0); /* calls over host memory give further guarantees */

    for (size_t p = 0; p < LENGTH(policy); p++)
        for (int same = 0; same < 2; same++) {
            const struct ordo_lsm_config config = { .dict = { ORDO_U32, 4 },
                                                    .cleanup_doubled = policy[p].doubled,
                                                    .cleanup_stale_percent = policy[p].percent,
                                                    .cleanup_least = 1000 };
            AUTO_DICT ordo_dict         *dict = NULL;
            test_context(t, "cleanup policy %zu, keys %s", p, same ? "the same" : "new");
            test_ok(t, ordo_lsm_create(t->dev, &config, &dict));
            for (uint32_t b = 0; b < BATCHES; b++) {
                number_keys(keys, same ? 0 : b * BATCH, BATCH);
                test_free(&stored);
                stored = test_upload(t, keys, BATCH, 4, 0);
                test_ok(t, ordo_dict_upsert(dict, test_slice(&stored), test_slice(&stored), BATCH, NULL));
            }
            const struct ordo_statistics s = statistics_of(t, dict);
            test_true(t, s.elements == (same ? BATCH : (size_t) BATCH * BATCHES));
            test_true(t, (s.cleanups > 0) == (same ? policy[p].cleans_same : policy[p].cleans_new));
            test_ok(t, ordo_dict_check(dict, NULL));
        }
    test_free(&stored);
}

DEVICE_TEST(dict_sizes, clear_and_destroy_free_memory)
{
    AUTO_DEVICE ordo_device *dev = test_open_again(t);

    for (int s = 0; s < N_STRUCTURES; s++) {
        test_context(t, "memory of a %s", structures[s].name);
        const uint64_t before = held_by(t, dev);
        ordo_dict     *dict = make_dict(t, dev, s, 0, 50000);
        uint32_t       keys[1000];
        number_keys(keys, 0, 1000);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_ok(t, ordo_dict_erase_host(dict, keys, 500));
        test_true(t, held_by(t, dev) >= before + (uint64_t) 50000 * 8);
        test_ok(t, ordo_dict_clear(dict));
        const struct ordo_statistics is = statistics_of(t, dict);
        test_true(t, is.elements == 0 && bytes_now(&is) == 0 && is.bytes_peak >= (size_t) 50000 * 8);
        test_true(t, held_by(t, dev) == before);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_true(t, held_by(t, dev) > before);
        ordo_dict_destroy(&dict);
        test_true(t, held_by(t, dev) == before);
    }
}
