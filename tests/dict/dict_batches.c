/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of updates that are small for the sorted array that they are merged into. */
#include "tests/support/support.h"

#include "ordo/sorted_array.h"

#include <stdlib.h>

/* The array begins with the even keys from FIRST to FIRST + 2 * (N - 1). All keys are less than KEYS. */
enum { N = 30000, FIRST = 1000, KEYS = FIRST + 2 * N + 1000, BATCH_MAX = 450 };

struct content {
    ordo_dict *dict;
    ordo_type  type;
    size_t     value_bytes;
    bool       is_in[KEYS];
    uint32_t   value[KEYS];
};

static void put_number(void *array, size_t bytes, size_t i, uint64_t number)
{
    const uint64_t words[2] = { number, 0 };
    if (bytes)
        memcpy((char *) array + i * bytes, words, bytes);
}

static uint32_t number_at(const void *array, size_t bytes, size_t i)
{
    uint32_t number = 0;
    memcpy(&number, (const char *) array + i * bytes, bytes ? sizeof number : 0);
    return number;
}

static void expect_all(struct test *t, const struct content *c)
{
    const size_t    key_bytes = ordo_type_bytes(c->type);
    AUTO_FREE void *keys = test_alloc(KEYS * key_bytes), *values = test_alloc((size_t) KEYS * 8);
    size_t          count = 0, at = 0;
    test_ok(t, ordo_dict_check(c->dict, NULL));
    test_ok(t, ordo_dict_export_host(c->dict, keys, c->value_bytes ? values : NULL, KEYS, &count));
    for (uint32_t key = 0; key < KEYS; key++)
        if (c->is_in[key]) {
            test_true(t, at < count && number_at(keys, key_bytes, at) == key);
            test_true(t, c->value_bytes == 0 || number_at(values, c->value_bytes, at) == c->value[key]);
            at++;
        }
    test_true(t, at == count);
}

/* Upserts or erases `count` keys, which may repeat. */
static void update(struct test *t, struct content *c, bool erase, const uint32_t *keys, uint32_t count)
{
    const size_t    key_bytes = ordo_type_bytes(c->type);
    AUTO_FREE void *given = test_alloc(count * key_bytes), *values = test_alloc((size_t) count * 8);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t) test_random(t);
        put_number(given, key_bytes, i, keys[i]);
        put_number(values, c->value_bytes, i, value);
        c->is_in[keys[i]] = !erase;
        c->value[keys[i]] = value;
    }
    test_ok(t, erase ? ordo_dict_erase_host(c->dict, given, count)
                     : ordo_dict_upsert_host(c->dict, given, c->value_bytes ? values : NULL, count));
    expect_all(t, c);
}

/* Batches with random keys from `low` to `low` + `width` - 1. */
static void update_within(struct test *t, struct content *c, const char *where, uint32_t low, uint32_t width)
{
    static const uint32_t counts[] = { 1, 64, 65, BATCH_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int erase = 0; erase < 2; erase++) {
            uint32_t keys[BATCH_MAX];
            test_context(t, "%s: %s of %u keys", where, erase ? "erase" : "upsert", (unsigned) counts[i]);
            for (uint32_t k = 0; k < counts[i]; k++)
                keys[k] = low + (uint32_t) test_below(t, width);
            update(t, c, erase != 0, keys, counts[i]);
        }
}

static void check_batches(struct test *t, ordo_type type, uint32_t value_bytes)
{
    static struct content c;
    const size_t          key_bytes = ordo_type_bytes(type);
    AUTO_FREE void       *keys = test_alloc(N * key_bytes), *values = test_alloc((size_t) N * 8);
    c = (struct content) { .type = type, .value_bytes = value_bytes };
    for (uint32_t i = 0; i < N; i++) {
        put_number(keys, key_bytes, i, FIRST + 2 * i);
        put_number(values, value_bytes, i, i);
        c.is_in[FIRST + 2 * i] = true;
        c.value[FIRST + 2 * i] = i;
    }
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { type, value_bytes }), &c.dict));
    test_ok(t, ordo_dict_build_host(c.dict, keys, value_bytes ? values : NULL, N));
    update_within(t, &c, "anywhere", 0, KEYS);
    update_within(t, &c, "before all", 0, FIRST);
    update_within(t, &c, "after all", FIRST + 2 * N, KEYS - FIRST - 2 * N);
    update_within(t, &c, "in one part", FIRST + N, 500);
    update_within(t, &c, "one key", FIRST + 2, 1);
    ordo_dict_destroy(&c.dict);
}

EVERY_MASK_TEST(dict_batches, small_batches_are_merged)
{
    check_batches(t, ORDO_U32, 4);
}

MASK_TEST(dict_batches, of_all_sizes_of_keys_and_values, "cpu=0", "cpu=0,lanes=one,group=64")
{
    check_batches(t, ORDO_U32, 0);
    check_batches(t, ORDO_U64, 8);
    check_batches(t, ORDO_U128, 4);
}
