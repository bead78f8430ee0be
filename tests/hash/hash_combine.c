/* SPDX-License-Identifier: Apache-2.0 */
/* Combines on hash tables (HASH_COMBINES of cl/dict/hash/batch.cl): every type and operation, thousands of equal keys,
 * partitions that hash_update_sparse leaves, full tables. Sums show values that are combined twice. */
#include "tests/hash/colliding.h"

#include "ordo/hash.h"
#include "shared/key.h"

#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A table and its expected content, by places in a pool of different keys. */
struct subject {
    struct test *t;
    ordo_dict   *dict;
    size_t       key_bytes, value_bytes, pool;
    uint64_t    *keys, *values; /* of the pool, 8 bytes each */
    bool        *there;
};

static struct subject make_subject(struct test *t, ordo_type key, uint32_t value_bytes, uint32_t load, size_t pool)
{
    struct subject s = { .t = t, .key_bytes = ordo_type_bytes(key), .value_bytes = value_bytes, .pool = pool };

    test_ok(t, ordo_hash_create(t->dev, ordo_hash_config(.dict = { key, value_bytes }, .load_percent = load), &s.dict));
    s.keys = test_alloc(pool * sizeof *s.keys);
    s.values = test_alloc(pool * sizeof *s.values);
    s.there = test_alloc(pool * sizeof *s.there);
    for (size_t i = 0; i < pool; i++) {
        s.keys[i] = s.key_bytes == 8 ? i * 0x9e3779b97f4a7c15u : (uint32_t) (i * 0x9e3779b1u);
        s.there[i] = false;
    }
    return s;
}

static void end_subject(struct subject *s)
{
    ordo_dict_destroy(&s->dict);
    free(s->keys);
    free(s->values);
    free(s->there);
}

static struct ordo_hash_table table_of(const struct subject *s)
{
    return ordo_hash_of(s->dict)->table;
}

/* Packs words into 4 or 8 bytes each. */
static void *packed(const uint64_t *words, size_t count, size_t bytes)
{
    char *out = test_alloc(count * bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * bytes, &words[i], bytes);
    return out;
}

static void expect_pool(const struct subject *s)
{
    AUTO_FREE void    *keys = packed(s->keys, s->pool, s->key_bytes);
    AUTO_FREE char    *got = test_alloc(s->pool * s->value_bytes);
    AUTO_FREE uint8_t *found = test_alloc(s->pool);

    test_ok(s->t, ordo_dict_check(s->dict, NULL));
    test_ok(s->t, ordo_dict_find_host(s->dict, keys, s->pool, got, found));
    for (size_t i = 0; i < s->pool; i++) {
        uint64_t value = 0;
        memcpy(&value, got + i * s->value_bytes, s->value_bytes);
        if (found[i] != s->there[i] || (found[i] && value != s->values[i]))
            test_fail(s->t, __FILE__, __LINE__, "key %zu of the pool: found %d, value %#llx; expected %d, %#llx", i,
                      found[i], (unsigned long long) value, s->there[i], (unsigned long long) s->values[i]);
    }
}

static uint64_t combined(ordo_type type, ordo_op op, uint64_t a, uint64_t b)
{
    const uint64_t mask = ordo_type_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX;
    if (op == ORDO_SUM)
        return (a + b) & mask;
    return (key_bits_of((int) type, a) < key_bits_of((int) type, b)) == (op == ORDO_MIN) ? a : b;
}

/* Combines values at places of the pool, in the table and in the pool. */
static void expect_combines(struct subject *s, ordo_type type, ordo_op op, const uint32_t *places,
                            const uint64_t *brought, size_t count)
{
    uint64_t *words = test_alloc(count * sizeof *words);

    for (size_t i = 0; i < count; i++) {
        const uint32_t at = places[i];
        words[i] = s->keys[at];
        s->values[at] = s->there[at] ? combined(type, op, s->values[at], brought[i]) : brought[i];
        s->there[at] = true;
    }
    void *keys = packed(words, count, s->key_bytes), *values = packed(brought, count, s->value_bytes);
    test_ok(s->t, ordo_dict_combine_host(s->dict, type, op, keys, values, count));
    free(keys);
    free(values);
    free(words);
    expect_pool(s);
}

/* Draws places from .. from + of - 1 and values of every kind, with NaNs, infinities and both zeros. */
static void draw(const struct subject *s, ordo_type type, uint32_t *places, uint64_t *brought, size_t count,
                 size_t from, size_t of)
{
    static const uint64_t narrow[] = { 0, 0x80000000, 0x7fc00000, 0xffc00000, 0x7f800000, 0xff800000, UINT32_MAX };
    static const uint64_t wide[] = {
        0,         0x8000000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000000, 0xfff0000000000000,
        UINT64_MAX
    };
    const bool is_wide = ordo_type_bytes(type) == 8;

    for (size_t i = 0; i < count; i++) {
        places[i] = (uint32_t) (from + test_below(s->t, of));
        brought[i] = test_random(s->t) & (is_wide ? UINT64_MAX : UINT32_MAX);
        if (is_wide && test_below(s->t, 4) == 0) /* equal upper halves */
            brought[i] |= 0x00000fff00000000;
        if (test_below(s->t, 5) == 0)
            brought[i] = (is_wide ? wide : narrow)[test_below(s->t, LENGTH(narrow))];
    }
}

static void combine_some(struct subject *s, ordo_type type, ordo_op op, size_t count, size_t from, size_t of)
{
    AUTO_FREE uint32_t *places = test_alloc(count * sizeof *places);
    AUTO_FREE uint64_t *brought = test_alloc(count * sizeof *brought);

    draw(s, type, places, brought, count, from, of);
    expect_combines(s, type, op, places, brought, count);
}

/* Combines each place once, from 0 on. */
static void combine_each(struct subject *s, size_t count)
{
    AUTO_FREE uint32_t *places = test_alloc(count * sizeof *places);
    AUTO_FREE uint64_t *brought = test_alloc(count * sizeof *brought);

    draw(s, ORDO_U32, places, brought, count, 0, 1);
    for (size_t i = 0; i < count; i++)
        places[i] = (uint32_t) i;
    expect_combines(s, ORDO_U32, ORDO_SUM, places, brought, count);
}

/* ---- every type and operation ------------------------------------------------------------------------------------ */

/* An empty table; a few old and new keys, some equal; many updates of a few keys. */
static void check_ways(struct test *t, ordo_type key, uint32_t value_bytes)
{
    enum { POOL = 9000 };
    for (int type = ORDO_U32; type <= ORDO_F64; type++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++) {
            if (ordo_type_bytes((ordo_type) type) != value_bytes || (op == ORDO_SUM && type >= ORDO_F32))
                continue;
            AUTO(end_subject) struct subject s = make_subject(t, key, value_bytes, 70, POOL);
            test_context(t, "%s keys, %s values, operation %d", test_type_name[key], test_type_name[type], op);
            combine_some(&s, (ordo_type) type, (ordo_op) op, POOL / 2, 0, POOL / 2);
            combine_some(&s, (ordo_type) type, (ordo_op) op, 300, 0, POOL);
            combine_some(&s, (ordo_type) type, (ordo_op) op, 900, 100, 70);
            combine_some(&s, (ordo_type) type, (ordo_op) op, 1, 0, POOL);
        }
}

MASK_TEST(hash_combine, every_type_and_operation, "", "cpu=0,progress=1")
{
    check_ways(t, ORDO_U32, 4);
    check_ways(t, ORDO_U64, 8);
    if (test_wants_all("ORDO_TEST_KINDS")) {
        check_ways(t, ORDO_F32, 8);
        check_ways(t, ORDO_I64, 4);
    }
}

/* ---- equal keys -------------------------------------------------------------------------------------------------- */

/* Updates of one key, as many as a partition takes and more, alone and among others. */
MASK_TEST(hash_combine, thousands_of_updates_of_one_key, "", "cpu=0,progress=1")
{
    static const size_t counts[] = { 2, HASH_UPDATES_MAX - 1, HASH_UPDATES_MAX, HASH_UPDATES_MAX + 1,
                                     (size_t) 1 << 16 };
    enum { POOL = 20000 };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 50, POOL);
    AUTO_FREE uint32_t              *places = test_alloc(counts[LENGTH(counts) - 1] * sizeof *places);
    AUTO_FREE uint64_t              *brought = test_alloc(counts[LENGTH(counts) - 1] * sizeof *brought);

    combine_some(&s, ORDO_U32, ORDO_SUM, POOL, 0, POOL - 100);
    for (size_t c = 0; c < LENGTH(counts); c++)
        for (int others = 0; others < 2; others++) {
            test_context(t, "%zu of one key, %s", counts[c], others ? "among others" : "alone");
            draw(&s, ORDO_U32, places, brought, counts[c], 0, POOL);
            for (size_t i = 0; i < counts[c]; i++)
                if (!others || i % 8)
                    places[i] = (uint32_t) (POOL - 1 - c);
            expect_combines(&s, ORDO_U32, ORDO_SUM, places, brought, counts[c]);
        }
}

/* ---- dense updates after sparse ones ---------------------------------------------------------------------------- */

/* More keys of one bucket than two buckets hold, some of them old: old ones are combined before some are stashed. Then
 * batches with stashed elements, and with more updates of a partition than sparse ones take. */
MASK_TEST(hash_combine, partitions_left_by_sparse_updates, "", "cpu=0,progress=1")
{
    enum { OTHERS = 100000, COLLIDING = 400, POOL = OTHERS + COLLIDING };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 50, POOL);
    AUTO_FREE uint32_t              *good = colliding_keys(1, UINT32_MAX / OTHERS & ~1u, OTHERS);
    AUTO_FREE uint32_t              *bad = colliding_keys(0x55500000, 2, COLLIDING);

    for (size_t i = 0; i < POOL; i++)
        s.keys[i] = i < OTHERS ? good[i] : bad[i - OTHERS];
    test_context(t, "a table of %d keys", (int) OTHERS);
    combine_each(&s, OTHERS);
    test_true(t, table_of(&s).seed == ordo_hash_seed(0, 1));
    const size_t buckets = table_of(&s).n_buckets;
    test_context(t, "some keys of one bucket");
    combine_some(&s, ORDO_U32, ORDO_SUM, 40, OTHERS, 8);
    test_context(t, "more keys of it than it has room for");
    combine_some(&s, ORDO_U32, ORDO_SUM, (size_t) 3 * COLLIDING / 2, OTHERS, COLLIDING);
    test_context(t, "again, with elements astray");
    combine_some(&s, ORDO_U32, ORDO_SUM, COLLIDING, OTHERS, COLLIDING);
    combine_some(&s, ORDO_U32, ORDO_MAX, OTHERS / 4, 0, POOL);
    test_context(t, "more updates of a partition than are few");
    combine_some(&s, ORDO_U32, ORDO_SUM, 2000, OTHERS, COLLIDING);
    test_true(t, table_of(&s).n_buckets == buckets);
}

/* Dense updates only. */
MASK_TEST(hash_combine, dense_updates, "", "cpu=0,progress=1")
{
    enum { POOL = 9000 };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 80, POOL);

    ordo_hash_of(s.dict)->whole = true;
    for (int round = 0; round < 4; round++)
        combine_some(&s, ORDO_U32, ORDO_SUM, 1000, 0, POOL);
}

/* ---- tables without room ----------------------------------------------------------------------------------------- */

static void check_growth(struct test *t)
{
    enum { POOL = 40000 };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 95, POOL);

    for (size_t count = 1; count < POOL; count = count * 5 + 3) {
        test_context(t, "%zu more", count);
        combine_some(&s, ORDO_U32, ORDO_SUM, count, 0, POOL);
    }
    test_true(t, ordo_hash_of(s.dict)->rebuilds > 1);
    test_context(t, "a table that is nearly empty");
    test_ok(t, ordo_dict_clear(s.dict));
    memset(s.there, 0, POOL * sizeof *s.there);
    combine_some(&s, ORDO_U32, ORDO_SUM, 100, 0, POOL);
}

/* Erases most elements. The next batch rebuilds the table and combines with the rest. */
static void check_shrinking(struct test *t)
{
    enum { POOL = 150000, LEFT = 100 };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 80, POOL);

    test_context(t, "a table of which most is erased");
    combine_some(&s, ORDO_U32, ORDO_SUM, POOL, 0, POOL);
    const size_t    buckets = table_of(&s).n_buckets;
    AUTO_FREE void *keys = packed(s.keys + LEFT, POOL - LEFT, s.key_bytes);
    ordo_hash_of(s.dict)->elements_min = (size_t) POOL * 10; /* keeps the table as it is */
    test_ok(t, ordo_dict_erase_host(s.dict, keys, POOL - LEFT));
    memset(s.there + LEFT, 0, (POOL - LEFT) * sizeof *s.there);
    test_true(t, table_of(&s).n_buckets == buckets);
    combine_some(&s, ORDO_U32, ORDO_SUM, (size_t) 3 * LEFT, 0, (size_t) 2 * LEFT);
    test_true(t, table_of(&s).n_buckets < buckets);
}

/* All keys of one partition under the first seed: the table is planned anew for each seed. */
static void check_seeds(struct test *t)
{
    enum { COUNT = 30000 };
    AUTO(end_subject) struct subject s = make_subject(t, ORDO_U32, 4, 80, COUNT);
    AUTO_FREE uint32_t              *bad = colliding_keys(0x12000000, 2, COUNT);

    test_context(t, "keys of one partition");
    for (size_t i = 0; i < COUNT; i++)
        s.keys[i] = bad[i];
    combine_some(&s, ORDO_U32, ORDO_SUM, (size_t) 4 * COUNT, 0, COUNT);
    test_true(t, table_of(&s).seed != ordo_hash_seed(0, 1));
}

MASK_TEST(hash_combine, rebuilt_tables, "", "cpu=0,progress=1")
{
    check_growth(t);
    check_shrinking(t);
    check_seeds(t);
}
