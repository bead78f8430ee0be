/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: broken invariants, keys chosen to collide, loads, memory, updates in place. */
#include "tests/dict/broken.h"
#include "tests/hash/colliding.h"

#include "ordo/hash.h"
#include "runtime/internal.h"
#include "shared/faults.h"

#include <stdlib.h>

static ordo_dict *make_empty(struct test *t, const struct ordo_hash_config *config)
{
    ordo_dict *dict = NULL;
    test_ok(t, ordo_hash_create(t->dev, config, &dict));
    return dict;
}

static uint32_t *spread_keys(size_t count)
{
    uint32_t *keys = test_alloc(count * sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = i * 0x9e3779b1u;
    return keys;
}

/* ---- broken invariants ------------------------------------------------------------------------------------------- */

enum { ELEMENTS = 20000 };

static ordo_dict *make_table(struct test *t, ordo_type type, uint32_t value_bytes)
{
    const size_t    bytes = ordo_type_bytes(type);
    AUTO_FREE char *keys = test_alloc(ELEMENTS * bytes), *values = test_alloc((size_t) ELEMENTS * 8);
    ordo_dict      *dict = NULL;

    memset(keys, 0, ELEMENTS * bytes);
    memset(values, 1, (size_t) ELEMENTS * 8);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        memcpy(keys + i * bytes, &i, sizeof i);
    test_ok(t, ordo_hash_create(t->dev, ordo_hash_config(.dict = { type, value_bytes }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, value_bytes ? values : NULL, ELEMENTS));
    test_ok(t, ordo_dict_check(dict, NULL));
    return dict;
}

/* The index in the buckets of the upper word of a slot's mixed key. */
static size_t upper_word(const ordo_dict *dict, size_t bucket, size_t slot)
{
    const size_t words = dict->key_bytes / 4;
    return bucket * ordo_hash_bucket_bytes(dict) / 4 + (slot + 1) * words - 1;
}

/* The first bucket of partition 0 that has slots 0 and 1 full (`full`), or an empty slot. */
static size_t find_bucket(struct test *t, ordo_dict *dict, bool full, size_t *slot)
{
    const struct ordo_hash_table *table = &ordo_hash_of(dict)->table;
    const uint32_t                n = peek(t, table->starts, 1);

    for (size_t b = 0; b < n; b++)
        for (*slot = 0; *slot < (full ? 1 : HASH_SLOTS); ++*slot) {
            const bool there = peek(t, table->buckets, upper_word(dict, b, *slot)) >> (32 - table->bits) == 0;
            const bool next = !full || peek(t, table->buckets, upper_word(dict, b, 1)) >> (32 - table->bits) == 0;
            if (there == full && next)
                return b;
        }
    test_fail(t, __FILE__, __LINE__, "no such bucket");
    return 0;
}

static void break_one_by_one(struct test *t, ordo_type type, uint32_t value_bytes)
{
    AUTO_DICT ordo_dict          *dict = make_table(t, type, value_bytes);
    const struct ordo_hash_table *table = &ordo_hash_of(dict)->table;
    size_t                        slot = 0;
    const size_t                  full = upper_word(dict, find_bucket(t, dict, true, &slot), 0);
    const size_t                  with_room = find_bucket(t, dict, false, &slot);
    const size_t                  empty = upper_word(dict, with_room, slot);

    /* In a bucket that is not the key's; a key that the bucket has already. With larger keys the lower words differ. */
    expect_noticed(t, dict, table->buckets, full,
                   peek(t, table->buckets, full) ^ 1u << (31 - table->bits) ^ 1u << (30 - table->bits), "H1");
    if (dict->key_bytes == 4)
        expect_noticed(t, dict, table->buckets, full, peek(t, table->buckets, full + 1), "H1");
    expect_noticed(t, dict, table->buckets, empty, peek(t, table->buckets, empty) ^ 1, "H2");
    if (dict->key_bytes > 4)
        expect_noticed(t, dict, table->buckets, empty - 1, 77, "H2");
    /* One element more in the home bucket; HASH_SCAN without a stashed element. */
    expect_noticed(t, dict, table->spills, 0, peek(t, table->spills, 0) + 1, "H3");
    expect_noticed(t, dict, table->spills, table->n_buckets / 8, UINT32_MAX, "H3");
    if (t->facts->cpu) {
        const size_t filters = HASH_SPILL_WORDS(table->n_buckets);
        expect_noticed(t, dict, table->spills, filters, peek(t, table->spills, filters) ^ 1, "H5");
        const size_t last_filter = filters + table->n_buckets - 1;
        expect_noticed(t, dict, table->spills, last_filter, peek(t, table->spills, last_filter) ^ HASH_SPILLED, "H5");
    }
    /* Also the last partition; a start after the next one; the number of buckets. */
    expect_noticed(t, dict, table->counts, 0, peek(t, table->counts, 0) + 1, "H4");
    const size_t last = ordo_hash_partitions(table) - 1;
    expect_noticed(t, dict, table->counts, last, peek(t, table->counts, last) - 1, "H4");
    expect_noticed(t, dict, table->counts, 1, peek(t, table->counts, 1) | HASH_RECOUNT, "H4");
    expect_noticed(t, dict, table->starts, 1, peek(t, table->starts, 2) + 1, "H4");
    expect_noticed(t, dict, table->starts, last + 1, peek(t, table->starts, last + 1) + 1, "H4");
    expect_noticed(t, dict, table->starts, 0, 1, "H4");
}

MASK_TEST(hash, a_wrong_word_is_noticed, "", "cpu=0")
{
    break_one_by_one(t, ORDO_U32, 4);
    break_one_by_one(t, ORDO_I64, 0);
    break_one_by_one(t, ORDO_U128, 0);
}

/* ---- keys chosen to collide -------------------------------------------------------------------------------------- */

/* Expects each key to have itself as its value, or to be absent. */
static void expect_pairs(struct test *t, ordo_dict *dict, const uint32_t *keys, size_t count, bool there)
{
    AUTO_FREE uint32_t *values = test_alloc(count * sizeof *values);
    AUTO_FREE uint8_t  *found = test_alloc(count), *want = test_alloc(count);

    test_ok(t, ordo_dict_check(dict, NULL));
    memset(values, 0, count * sizeof *values);
    memset(want, there, count);
    test_ok(t, ordo_dict_find_host(dict, keys, count, values, found));
    test_same_bytes(t, "found", found, want, count);
    if (there)
        test_same(t, "values", ORDO_U32, values, keys, count);
}

static void expect_size(struct test *t, ordo_dict *dict, size_t want)
{
    size_t size = 0;
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == want);
}

/* Runs operations of every kind on a table without buckets. Unoptimized kernels read no absent memory either. */
DEVICE_TEST(hash, an_empty_table_takes_a_concurrent_batch)
{
    enum { STORED = 100, COUNT = 2 * STORED };
    uint32_t             keys[COUNT];
    uint8_t              codes[COUNT], found[COUNT], outcomes[COUNT], none[COUNT] = { 0 };
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }));

    test_unoptimized(t);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = 7 * i;
        codes[i] = (uint8_t) (i < STORED ? (i % 2 ? ORDO_INSERT : ORDO_UPSERT) : (i % 2 ? ORDO_ERASE : ORDO_FIND));
    }
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = keys, .found = found, .outcomes = outcomes, .count = COUNT
    };
    for (int round = 0; round < 2; round++) {
        test_context(t, "%s", round ? "cleared" : "created");
        test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
        test_same_bytes(t, "found", found, none, COUNT);
        test_same_bytes(t, "outcomes", outcomes, none, COUNT);
        expect_pairs(t, dict, keys, STORED, true);
        expect_pairs(t, dict, keys + STORED, STORED, false);
        expect_size(t, dict, STORED);
        test_ok(t, ordo_dict_clear(dict));
    }
}

/* Builds and upserts keys of one partition under the first seed. */
DEVICE_TEST(hash, keys_of_one_partition_get_another_seed)
{
    enum { COUNT = 100000 };
    AUTO_FREE uint32_t *bad = colliding_keys(0x12000000, 2, COUNT),
                       *good = colliding_keys(1, UINT32_MAX / COUNT & ~1u, COUNT);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }));

    test_context(t, "a build");
    test_ok(t, ordo_dict_build_host(dict, bad, bad, COUNT));
    test_true(t, ordo_hash_of(dict)->table.seed != ordo_hash_seed(0, 1));
    expect_pairs(t, dict, bad, COUNT, true);
    expect_size(t, dict, COUNT);
    test_context(t, "an upsert into what is there");
    test_ok(t, ordo_dict_build_host(dict, good, good, COUNT));
    test_true(t, ordo_hash_of(dict)->table.seed == ordo_hash_seed(0, 1));
    test_ok(t, ordo_dict_upsert_host(dict, bad, bad, COUNT));
    test_true(t, ordo_hash_of(dict)->table.seed != ordo_hash_seed(0, 1));
    expect_pairs(t, dict, bad, COUNT, true);
    expect_pairs(t, dict, good, COUNT, true);
    test_context(t, "erased again");
    test_ok(t, ordo_dict_erase_host(dict, bad, COUNT));
    expect_pairs(t, dict, good, COUNT, true);
    expect_pairs(t, dict, bad, COUNT, false);
}

static ordo_dict *make_seeded(struct test *t, uint64_t seed, const uint32_t *keys, size_t count)
{
    ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }, .seed = seed));

    test_ok(t, ordo_dict_build_host(dict, keys, keys, count));
    expect_pairs(t, dict, keys, count, true);
    return dict;
}

/* Keys that collide under one seed do not under another, and a table keeps its seed. */
DEVICE_TEST(hash, another_seed_separates_keys_that_collide)
{
    enum { COUNT = 20000, MORE = 40000, LARGE = 2300 };
    AUTO_FREE uint32_t *bad = colliding_keys(0x12000000, 2, COUNT),
                       *good = colliding_keys(1, UINT32_MAX / MORE & ~1u, MORE);
    AUTO_DICT ordo_dict *dict = make_seeded(t, UINT64_MAX, bad, COUNT);

    test_context(t, "a seed of the configuration");
    test_true(t, ordo_hash_of(dict)->table.seed == ordo_hash_seed(UINT64_MAX, 1));
    ordo_dict_destroy(&dict);
    test_context(t, "growth");
    dict = make_seeded(t, 0, bad, COUNT);
    const uint64_t seed = ordo_hash_of(dict)->table.seed;
    test_true(t, seed != ordo_hash_seed(0, 1));
    test_ok(t, ordo_dict_upsert_host(dict, good, good, MORE));
    test_true(t, ordo_hash_of(dict)->rebuilds > 0 && ordo_hash_of(dict)->table.seed == seed);
    expect_pairs(t, dict, bad, COUNT, true);
    ordo_dict_destroy(&dict);
    test_context(t, "a partition that is fuller than the others");
    dict = make_seeded(t, 0, bad, LARGE);
    test_true(t, ordo_hash_of(dict)->table.seed == ordo_hash_seed(0, 1));
}

/* The part of the buckets that have at least this many spills. */
static double part_with_spills(struct test *t, ordo_dict *dict, uint8_t least)
{
    const struct ordo_hash_table *table = &ordo_hash_of(dict)->table;
    AUTO_FREE uint8_t            *spills = test_alloc(table->n_buckets);
    size_t                        n = 0;

    read_bytes(t, table->spills, 0, spills, table->n_buckets);
    for (size_t b = 0; b < table->n_buckets; b++)
        n += spills[b] >= least;
    return (double) n / (double) table->n_buckets;
}

/* Stores more keys of one home bucket than a byte counts. Each has another second bucket, so all fit. After they are
 * erased, some twice, no bucket has HASH_SCAN. */
MASK_TEST(hash, more_keys_of_a_home_bucket_than_a_byte_counts, "", "cpu=0")
{
    enum { OTHERS = 100000, COLLIDING = 400 };
    AUTO_FREE uint32_t *bad = colliding_keys(0x55500000, 2, COLLIDING),
                       *good = colliding_keys(1, UINT32_MAX / OTHERS & ~1u, OTHERS);
    AUTO_FREE uint32_t  *twice = test_alloc((size_t) 2 * COLLIDING * sizeof *twice);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }, .load_percent = 50));

    for (size_t i = 0; i < (size_t) 2 * COLLIDING; i++)
        twice[i] = bad[i % COLLIDING];
    test_context(t, "%d keys of one bucket", (int) COLLIDING);
    test_ok(t, ordo_dict_build_host(dict, good, good, OTHERS));
    test_ok(t, ordo_dict_upsert_host(dict, bad, bad, COLLIDING));
    test_true(t, ordo_hash_of(dict)->table.seed == ordo_hash_seed(0, 1));
    expect_pairs(t, dict, bad, COLLIDING, true);
    expect_pairs(t, dict, good, OTHERS, true);
    test_true(t, part_with_spills(t, dict, HASH_SCAN) > 0);
    test_ok(t, ordo_dict_erase_host(dict, bad, COLLIDING / 2));
    expect_pairs(t, dict, bad, COLLIDING / 2, false);
    expect_pairs(t, dict, bad + COLLIDING / 2, COLLIDING - COLLIDING / 2, true);
    expect_size(t, dict, OTHERS + COLLIDING - COLLIDING / 2);
    test_ok(t, ordo_dict_erase_host(dict, twice, (size_t) 2 * COLLIDING));
    expect_pairs(t, dict, bad, COLLIDING, false);
    expect_pairs(t, dict, good, OTHERS, true);
    expect_size(t, dict, OTHERS);
    test_true(t, part_with_spills(t, dict, HASH_SCAN) == 0);
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */

static void check_load(struct test *t, uint32_t percent, bool allowed)
{
    AUTO_DICT ordo_dict *dict = NULL;
    const ordo_status    got =
        ordo_hash_create(t->dev, ordo_hash_config(.dict = { ORDO_U32, 4 }, .load_percent = percent), &dict);

    test_context(t, "load %u", percent);
    test_status(t, got, allowed ? ORDO_OK : ORDO_INVALID);
    test_true(t, !dict == !allowed);
}

/* A build makes a table of the load, and updates grow it. */
static void check_fullness(struct test *t, uint32_t percent)
{
    enum { COUNT = 120000, MORE = 2000 };
    AUTO_FREE uint32_t  *keys = spread_keys((size_t) 2 * COUNT);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }, .load_percent = percent));

    test_context(t, "load %u", percent);
    test_ok(t, ordo_dict_build_host(dict, keys, keys, COUNT));
    const size_t slots = ordo_hash_of(dict)->table.n_buckets * HASH_SLOTS;
    test_true(t, slots * percent / 100 >= COUNT - slots / 100 && slots * percent / 100 <= COUNT + slots / 50);
    for (size_t n = COUNT; n < (size_t) 2 * COUNT; n += MORE)
        test_ok(t, ordo_dict_upsert_host(dict, keys + n, keys + n, MORE));
    expect_pairs(t, dict, keys, (size_t) 2 * COUNT, true);
    expect_size(t, dict, (size_t) 2 * COUNT);
    test_true(t, ordo_hash_of(dict)->table.n_buckets * HASH_SLOTS >= (size_t) 2 * COUNT);
    test_true(t, percent < 50 || ordo_hash_of(dict)->rebuilds > 0);
    test_ok(t, ordo_dict_compact(dict, NULL));
    expect_pairs(t, dict, keys, (size_t) 2 * COUNT, true);
}

DEVICE_TEST(hash, loads_from_25_to_95_percent)
{
    static const uint32_t allowed[] = { 0, 25, 95 }, refused[] = { 24, 96, UINT32_MAX }, full[] = { 25, 80, 95 };
    for (size_t i = 0; i < 3; i++) {
        check_load(t, allowed[i], true);
        check_load(t, refused[i], false);
        check_fullness(t, full[i]);
    }
}

/* ---- erasures ---------------------------------------------------------------------------------------------------- */

/* Replaces the content three times in 24 steps. Misses read more buckets, but not more in later steps. Then erases
 * most. */
DEVICE_TEST(hash, misses_stay_fast_after_erasures)
{
    enum { STORED = 1 << 16, ROUNDS = 24, EACH = STORED / 8 };
    const size_t         all = STORED + ROUNDS * EACH;
    AUTO_FREE uint32_t  *keys = spread_keys(all);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, 4 }, .load_percent = 80));

    test_ok(t, ordo_dict_build_host(dict, keys, keys, STORED));
    const size_t n_buckets = ordo_hash_of(dict)->table.n_buckets;
    const double built = 1 + part_with_spills(t, dict, 1);
    double       earlier = 0;
    for (size_t r = 0; r < ROUNDS; r++) {
        test_ok(t, ordo_dict_erase_host(dict, keys + r * EACH, EACH));
        test_ok(t, ordo_dict_upsert_host(dict, keys + STORED + r * EACH, keys, EACH));
        if (r == ROUNDS / 2)
            earlier = 1 + part_with_spills(t, dict, 1);
    }
    const double later = 1 + part_with_spills(t, dict, 1);
    test_ok(t, ordo_dict_erase_host(dict, keys + all - STORED, (size_t) STORED - STORED / 4));
    test_ok(t, ordo_dict_check(dict, NULL));
    const double left = 1 + part_with_spills(t, dict, 1);
    test_context(t, "a miss read %.3f buckets, then %.3f and %.3f, and at last %.3f", built, earlier, later, left);
    test_true(t, ordo_hash_of(dict)->table.n_buckets == n_buckets);
    test_true(t, built < 1.35 && later < 1.65 && later < earlier + 0.03);
    test_true(t, left < 1 + (later - 1) / 2);
}

/* Erases a large table and then absent keys. `keeps`: the table keeps its memory until the last erasure. */
static void empty_table(struct test *t, ordo_type type, uint32_t value_bytes, bool keeps)
{
    enum { COUNT = 1 << 17, QUARTER = COUNT / 4, ABSENT = 1000 };
    const size_t         bytes = ordo_type_bytes(type);
    AUTO_FREE char      *keys = test_alloc(COUNT * bytes);
    AUTO_FREE uint64_t  *values = test_alloc(ABSENT * sizeof *values);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { type, value_bytes }));

    test_context(t, "keys of %zu bytes, memory %s", bytes, keeps ? "kept" : "freed");
    memset(keys, 0, COUNT * bytes);
    memset(values, 0, ABSENT * sizeof *values);
    for (uint32_t i = 0; i < COUNT; i++)
        memcpy(keys + i * bytes, &(uint32_t) { i * 0x9e3779b1u }, sizeof i);
    test_ok(t, ordo_dict_build_host(dict, keys, value_bytes ? keys : NULL, COUNT));
    for (size_t i = 0; i < COUNT; i += QUARTER) {
        ordo_hash_of(dict)->elements_min = keeps ? (size_t) 10 * COUNT : ordo_hash_of(dict)->elements_min;
        test_ok(t, ordo_dict_erase_host(dict, keys + i * bytes, QUARTER));
    }
    expect_size(t, dict, 0);
    test_true(t, (ordo_hash_of(dict)->table.n_buckets > 0) == keeps);
    ordo_hash_of(dict)->elements_min = 0;
    test_ok(t, ordo_dict_erase_host(dict, keys, ABSENT));
    expect_size(t, dict, 0);
    test_true(t, ordo_hash_of(dict)->table.n_buckets == 0);
    test_ok(t, ordo_dict_erase_host(dict, keys, 3));
    test_ok(t, ordo_dict_upsert_host(dict, keys, value_bytes ? values : NULL, ABSENT));
    expect_size(t, dict, ABSENT);
    test_ok(t, ordo_dict_check(dict, NULL));
}

DEVICE_TEST(hash, erasures_store_nothing_in_an_emptied_table)
{
    empty_table(t, ORDO_U32, 4, true);
    empty_table(t, ORDO_U32, 4, false);
    empty_table(t, ORDO_I64, 0, true);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t peak_of_scratch(struct test *t)
{
    struct ordo_memory memory;

    test_ok(t, ordo_device_memory(t->dev, &memory));
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    return memory.scratch_peak_bytes;
}

/* Peaks that hash.h states: scratch of a build 3 times the keys and values, of a rebuild 4 times. */
static void expect_peaks(struct test *t, uint32_t value_bytes)
{
    enum { COUNT = 1 << 19, SMALL = 1 << 18 };
    const size_t         unit = COUNT * (sizeof(uint32_t) + value_bytes);
    AUTO_FREE uint32_t  *keys = spread_keys(COUNT);
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { ORDO_U32, value_bytes }));

    test_context(t, "values of %u bytes", value_bytes);
    AUTO_ARRAY struct test_array array = test_upload(t, keys, COUNT, sizeof *keys, 0);
    const struct ordo_slice      all = test_slice(&array), values = value_bytes ? all : ordo_none();
    (void) peak_of_scratch(t);
    test_ok(t, ordo_dict_build(dict, all, values, COUNT, NULL));
    const uint64_t build = peak_of_scratch(t);
    test_ok(t, ordo_dict_compact(dict, NULL));
    const uint64_t compact = peak_of_scratch(t);
    test_context(t, "scratch of a build of %zu bytes: %llu, of a compact %llu", unit, (unsigned long long) build,
                 (unsigned long long) compact);
    test_true(t, build > 0 && build <= 3 * unit + SMALL);
    test_true(t, compact > 0 && compact <= 4 * unit + SMALL);
}

DEVICE_TEST(hash, scratch_stays_within_the_documented_peaks)
{
    expect_peaks(t, 0);
    expect_peaks(t, 4);
}

/* A concurrent batch stores all that an upsert with the same memory stores. */
static void store_with_little(struct test *t, uint64_t limit)
{
    enum { COUNT = 1 << 17, KEYS = COUNT / 2 };
    const uint64_t       unlimited = t->dev->memory_limit;
    AUTO_FREE uint32_t  *keys = test_alloc(COUNT * sizeof *keys);
    AUTO_FREE uint8_t   *codes = test_alloc(COUNT), *outcomes = test_alloc(COUNT), *done = test_alloc(COUNT);
    AUTO_DICT ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = i % KEYS * 0x9e3779b1u;
    memset(codes, ORDO_UPSERT, COUNT);
    memset(done, ORDO_DONE, COUNT);
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = keys, .outcomes = outcomes, .count = COUNT
    };
    test_ok(t, ordo_hash_create(t->dev, ordo_hash_config(.dict = { ORDO_U32, 4 }), &dict));
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(t->dev, &memory));
    t->dev->memory_limit = memory.held_bytes + limit;
    test_context(t, "%llu bytes for all", (unsigned long long) limit);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, COUNT));
    expect_size(t, dict, KEYS);
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    test_same_bytes(t, "outcomes", outcomes, done, COUNT);
    expect_pairs(t, dict, keys, COUNT, true);
    expect_size(t, dict, KEYS);
    t->dev->memory_limit = unlimited;
}

DEVICE_TEST(hash, a_concurrent_batch_stores_all_that_an_upsert_does_with_little_memory)
{
    store_with_little(t, (uint64_t) 5 << 20);
    store_with_little(t, (uint64_t) 8 << 20);
}

/* Runs a concurrent batch in which some operations give up, in a table with capacity for all, with the memory that
 * hash.h states. */
DEVICE_TEST(hash, a_concurrent_batch_needs_no_more_memory_than_documented)
{
    enum { OPERATIONS_MAX = 1000 };
    static const size_t counts[] = { 1, 64, OPERATIONS_MAX };
    AUTO_FREE uint32_t *keys = test_alloc(OPERATIONS_MAX * sizeof *keys);
    AUTO_FREE uint8_t  *codes = test_alloc(OPERATIONS_MAX), *outcomes = test_alloc(OPERATIONS_MAX);

    memset(codes, ORDO_UPSERT, OPERATIONS_MAX);
    for (size_t i = 0; i < OPERATIONS_MAX; i++)
        keys[i] = (uint32_t) (3 + 7919 * i);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const size_t                 n = counts[i];
        const uint64_t               unlimited = t->dev->memory_limit;
        AUTO_DICT ordo_dict         *dict = make_table(t, ORDO_U32, 4);
        AUTO_ARRAY struct test_array c = test_upload(t, codes, n, 1, 0), k = test_upload(t, keys, n, sizeof *keys, 0);
        AUTO_ARRAY struct test_array o = test_upload(t, NULL, n, 1, 0);
        struct ordo_memory           memory;

        test_context(t, "%zu operations", n);
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        ordo_hash_of(dict)->faults = FAULT_LATCHES | FAULT_NO_TRIES | FAULT_ALONE;
        t->dev->memory_limit = memory.held_bytes + ((uint64_t) 64 << 10) + 10 * n;
        test_ok(t, ordo_dict_apply_concurrent(dict,
                                              &(struct ordo_concurrent_batch) { .codes = test_slice(&c),
                                                                                .keys = test_slice(&k),
                                                                                .values = test_slice(&k),
                                                                                .count = n,
                                                                                .outcomes = test_slice(&o) },
                                              NULL));
        t->dev->memory_limit = unlimited;
        test_download(t, &o, outcomes);
        for (size_t j = 0; j < n; j++)
            test_true(t, outcomes[j] == ORDO_DONE);
    }
}

DEVICE_TEST(hash, a_device_with_little_local_memory_is_refused)
{
    const uint64_t local = t->dev->facts.local_bytes;
    ordo_dict     *dict = NULL;
    char           text[512] = "";

    t->dev->facts.local_bytes = HASH_LOCAL_MAX - 1;
    test_status(t, ordo_hash_create(t->dev, ordo_hash_config(.dict = { ORDO_U32, 4 }), &dict), ORDO_UNSUPPORTED);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    t->dev->facts.local_bytes = local;
    test_true(t, strstr(text, "needs 16384 bytes of local memory, and the device has 16383") != NULL);
}

/* ---- keys of 8 bytes --------------------------------------------------------------------------------------------- */

/* Stores keys into small partitions, one by one. */
static void store_one_by_one(struct test *t, ordo_type type)
{
    enum { COUNT = 20, MORE = 6 };
    uint64_t             keys[COUNT + MORE];
    AUTO_DICT ordo_dict *dict = make_empty(t, ordo_hash_config(.dict = { type, 0 }));

    test_context(t, "%s keys", test_type_name[type]);
    for (uint32_t i = 0; i < COUNT + MORE; i++)
        keys[i] = (i + 1) * 0x1e3779b97f4a7c15u >> 1;
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, COUNT));
    for (size_t i = COUNT; i < COUNT + MORE; i++) {
        test_ok(t, ordo_dict_upsert_host(dict, keys + i, NULL, 1));
        test_ok(t, ordo_dict_check(dict, NULL));
        expect_size(t, dict, i + 1);
    }
}

/* The last with optimized kernels, as users have them. */
MASK_TEST(hash, keys_of_8_bytes_in_kernels_of_gpus, "cpu=0")
{
    store_one_by_one(t, ORDO_I64);
    store_one_by_one(t, ORDO_F64);
    test_optimized(t);
    store_one_by_one(t, ORDO_U64);
}
