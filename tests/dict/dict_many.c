/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of hundreds of thousands of keys, more than the sequences of `dict` have: several levels, many
 * partitions or runs, batches applied in parts, growth. The test knows the state of each possible key and checks all of
 * them after each batch. */
#include "dict_case.h"

#include <stdlib.h>

enum { POSSIBLE = 420000, BUILT = 130000 };

/* Key number i is key_at(i); all differ. Values have the same size. */
struct many {
    struct test *t;
    ordo_dict   *dict;
    int          subject;
    size_t       bytes; /* size of a key and of a value */
    uint64_t    *value; /* by key number */
    uint8_t     *there;
    size_t       count;
    char        *keys, *values; /* of a batch, or of all */
    uint32_t    *number;        /* for each key of a batch */
    uint8_t     *found, *codes;
};

static uint64_t key_at(const struct many *m, uint32_t i)
{
    return m->bytes == 4 ? key_of(i) : i * 0x9e3779b97f4a7c15u;
}

static void set_at(const struct many *m, char *column, size_t at, uint64_t x)
{
    memcpy(column + at * m->bytes, &x, m->bytes); /* little-endian */
}

static uint64_t get_at(const struct many *m, const char *column, size_t at)
{
    uint64_t x = 0;
    memcpy(&x, column + at * m->bytes, m->bytes);
    return x;
}

/* Writes row `at` of a batch: key number i and a value. */
static void put_row(struct many *m, size_t at, uint32_t i, uint64_t value)
{
    m->number[at] = i;
    set_at(m, m->keys, at, key_at(m, i));
    set_at(m, m->values, at, value);
}

static void store(struct many *m, uint32_t i, uint64_t value)
{
    m->count += !m->there[i];
    m->there[i] = 1;
    m->value[i] = m->bytes == 4 ? (uint32_t) value : value;
}

static void take_away(struct many *m, uint32_t i)
{
    m->count -= m->there[i];
    m->there[i] = 0;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void expect_finds(struct many *m)
{
    for (uint32_t i = 0; i < POSSIBLE; i++) {
        set_at(m, m->keys, i, key_at(m, i));
        set_at(m, m->values, i, 0);
    }
    test_ok(m->t, ordo_dict_find_host(m->dict, m->keys, POSSIBLE, m->values, m->found));
    for (uint32_t i = 0; i < POSSIBLE; i++) {
        if (m->found[i] != m->there[i])
            test_fail(m->t, __FILE__, __LINE__, "key %u is %s", i, m->found[i] ? "there" : "not there");
        if (m->found[i] && get_at(m, m->values, i) != m->value[i])
            test_fail(m->t, __FILE__, __LINE__, "key %u has %#llx for %#llx", i,
                      (unsigned long long) get_at(m, m->values, i), (unsigned long long) m->value[i]);
    }
}

/* The number of a key; POSSIBLE for an unknown key. */
static uint32_t number_of(const struct many *m, uint64_t key)
{
    const uint64_t i = m->bytes == 4 ? (uint32_t) (key * 244002641u) : key * 0xf1de83e19937733du;
    return i < POSSIBLE ? (uint32_t) i : POSSIBLE;
}

/* Checks that each element is exported once. */
static void expect_export(struct many *m)
{
    size_t n = 0;
    memset(m->found, 0, POSSIBLE);
    test_ok(m->t, ordo_dict_export_host(m->dict, m->keys, m->values, POSSIBLE, &n));
    test_true(m->t, n == m->count);
    for (size_t at = 0; at < n; at++) {
        const uint32_t i = number_of(m, get_at(m, m->keys, at));
        if (i == POSSIBLE || !m->there[i] || m->found[i]++ || m->value[i] != get_at(m, m->values, at))
            test_fail(m->t, __FILE__, __LINE__, "element %zu of the export is key %u with %#llx", at, i,
                      (unsigned long long) get_at(m, m->values, at));
    }
}

static void expect_all(struct many *m)
{
    size_t size = 0;
    test_ok(m->t, ordo_dict_check(m->dict, NULL));
    test_ok(m->t, ordo_dict_size(m->dict, NULL, &size));
    test_true(m->t, size == m->count);
    expect_finds(m);
    expect_export(m);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

enum batch { BUILD, UPSERT, INSERT, ERASE };
static const char *const batch_name[] = { "build", "upsert", "insert", "erase" };

/* `n` numbers from [from, from + span), in random order, some twice and one many times. */
static void do_batch(struct many *m, enum batch what, uint32_t from, uint32_t span, size_t n)
{
    test_context(m->t, "%s, %zu-byte keys: %s of %zu from %u on", structures[m->subject].word, m->bytes,
                 batch_name[what], n, from);
    for (size_t at = 0; at < n; at++)
        put_row(m, at, at % 50 == 7 ? from + 1 : from + (uint32_t) test_below(m->t, span), test_random(m->t));
    if (what == BUILD) {
        memset(m->there, 0, POSSIBLE);
        m->count = 0;
    }
    for (size_t at = 0; at < n; at++) {
        if (what == ERASE)
            take_away(m, m->number[at]);
        else if (what != INSERT || !m->there[m->number[at]])
            store(m, m->number[at], get_at(m, m->values, at));
    }
    test_ok(m->t, what == BUILD    ? ordo_dict_build_host(m->dict, m->keys, m->values, n)
                  : what == UPSERT ? ordo_dict_upsert_host(m->dict, m->keys, m->values, n)
                  : what == INSERT ? ordo_dict_insert_host(m->dict, m->keys, m->values, n, NULL)
                                   : ordo_dict_erase_host(m->dict, m->keys, n));
    expect_all(m);
}

/* Finds, upserts, inserts and erasures in random order, with known results. */
static void do_mixed(struct many *m, uint32_t from, uint32_t span, size_t n)
{
    static const uint8_t codes[] = { ORDO_FIND, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE };
    uint8_t             *want = test_alloc(n);

    test_context(m->t, "%s, %zu-byte keys: %zu mixed from %u on", structures[m->subject].word, m->bytes, n, from);
    for (size_t at = 0; at < n; at++) {
        put_row(m, at, from + (uint32_t) test_below(m->t, span), test_random(m->t));
        m->codes[at] = codes[test_below(m->t, 4)];
        const uint32_t i = m->number[at];
        want[at] = m->there[i];
        if (m->codes[at] == ORDO_ERASE)
            take_away(m, i);
        else if (m->codes[at] == ORDO_UPSERT || (m->codes[at] == ORDO_INSERT && !m->there[i]))
            store(m, i, get_at(m, m->values, at));
    }
    const struct ordo_host_batch batch = {
        .codes = m->codes, .keys = m->keys, .values = m->values, .count = n, .found = m->found
    };
    test_ok(m->t, ordo_dict_apply_host(m->dict, &batch, NULL));
    for (size_t at = 0; at < n; at++)
        if (m->codes[at] == ORDO_FIND && m->found[at] != want[at])
            test_fail(m->t, __FILE__, __LINE__, "find %zu, of key %u: %d", at, m->number[at], m->found[at]);
    free(want);
    expect_all(m);
}

static void do_many(struct test *t, int subject, ordo_type type)
{
    struct many m = { .t = t,
                      .subject = subject,
                      .bytes = ordo_type_bytes(type),
                      .value = test_alloc(POSSIBLE * sizeof *m.value),
                      .there = test_alloc(POSSIBLE),
                      .keys = test_alloc((size_t) POSSIBLE * 8),
                      .values = test_alloc((size_t) POSSIBLE * 8),
                      .number = test_alloc(POSSIBLE * sizeof *m.number),
                      .found = test_alloc(POSSIBLE),
                      .codes = test_alloc(POSSIBLE) };

    memset(m.there, 0, POSSIBLE);
    test_ok(t, create(t->dev, subject, type, (uint32_t) m.bytes, &m.dict));
    do_batch(&m, BUILD, 0, BUILT, (size_t) 2 * BUILT); /* 0.87 of the numbers */
    do_batch(&m, ERASE, BUILT / 4, BUILT / 2, 40000);
    do_batch(&m, UPSERT, BUILT / 2, POSSIBLE - BUILT / 2, 100001); /* grows */
    do_mixed(&m, 0, POSSIBLE, 120000);
    do_batch(&m, INSERT, 0, POSSIBLE, 3000); /* few into many */
    do_batch(&m, INSERT, 0, POSSIBLE, 200000);
    do_batch(&m, ERASE, 0, POSSIBLE, 1000);
    test_ok(t, ordo_dict_compact(m.dict, NULL));
    expect_all(&m);
    do_batch(&m, ERASE, 100, POSSIBLE - 200, POSSIBLE); /* most of the numbers */
    do_batch(&m, ERASE, 100, POSSIBLE - 200, POSSIBLE);
    do_mixed(&m, 0, POSSIBLE, 300000);
    ordo_dict_destroy(&m.dict);
    free(m.value);
    free(m.there);
    free(m.keys);
    free(m.values);
    free(m.number);
    free(m.found);
    free(m.codes);
}

/* All structures and half of the variants; with 8-byte keys half of the structures. The seed selects them.
 * ORDO_TEST_KINDS=all tests all. */
static bool is_met(const struct test *t, int subject, ordo_type type)
{
    const bool half = ((uint64_t) subject + t->seed) % 2 == (type == ORDO_U32);

    return test_wants_all("ORDO_TEST_KINDS") || half || (type == ORDO_U32 && subject < N_STRUCTURES) ||
           (subject == SKIPLIST_16 && type == ORDO_U32);
}

DEVICE_TEST(dict_many, each_structure_holds_many_keys)
{
    for (int subject = 0; subject < N_SUBJECTS; subject++)
        if (is_met(t, subject, ORDO_U32))
            do_many(t, subject, ORDO_U32);
}

/* The 8-byte type for which other tests build kernels as well (structures.h). Keys have random bits. */
DEVICE_TEST(dict_many, each_structure_holds_many_large_keys)
{
    for (int structure = 0; structure < N_STRUCTURES; structure++)
        if (is_met(t, structure, ORDO_F64))
            do_many(t, structure, ORDO_F64);
}

/* As an unknown GPU only one hash table, selected by the seed, because a CPU takes minutes for the others. */
MASK_TEST(dict_many, a_gpu_holds_many_keys_in_hash_tables, "cpu=0")
{
    const bool all = test_wants_all("ORDO_TEST_KINDS");

    if (all || t->seed % 2)
        do_many(t, HASH, ORDO_U32);
    if (all || t->seed % 2 == 0)
        do_many(t, HASH_DENSE, ORDO_F64);
}
