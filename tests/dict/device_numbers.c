/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on arrays of numbers in device memory: see device_numbers.h. */
#include "device_numbers.h"

#include "dict_case.h"

struct arrays arrays_make(struct test *t, uint32_t from, uint32_t count)
{
    AUTO_FREE uint32_t *keys = test_alloc(count * sizeof *keys), *values = test_alloc(count * sizeof *values);
    struct arrays       a = { .count = count };

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(from + i);
        values[i] = value_of(from + i);
    }
    a.keys = test_upload(t, keys, count, 4, 0);
    a.hi = test_upload(t, keys, count, 4, 0);
    a.values = test_upload(t, values, count, 4, 0);
    a.out_keys = test_upload(t, NULL, count, 4, 0);
    a.out_values = test_upload(t, NULL, count, 4, 0);
    a.found = test_upload(t, NULL, count, 1, 0);
    a.counts = test_upload(t, NULL, count, 4, 0);
    a.offsets = test_upload(t, NULL, (size_t) count + 1, 8, 0);
    return a;
}

void arrays_free(struct arrays *a)
{
    test_free(&a->keys);
    test_free(&a->hi);
    test_free(&a->values);
    test_free(&a->out_keys);
    test_free(&a->out_values);
    test_free(&a->found);
    test_free(&a->counts);
    test_free(&a->offsets);
}

ordo_status upsert(ordo_dict *dict, const struct arrays *a)
{
    return ordo_dict_upsert(dict, test_slice(&a->keys), test_slice(&a->values), a->count, NULL);
}

static void expect_words(struct test *t, const struct test_array *array, size_t count, uint32_t word, const char *what)
{
    AUTO_FREE uint32_t *words = test_alloc(array->count * sizeof *words);

    test_download(t, array, words);
    for (size_t i = 0; i < count; i++)
        if (words[i] != word)
            test_fail(t, __FILE__, __LINE__, "%s %zu is %u, not %u", what, i, words[i], word);
}

/* Checks order queries. want: the values. */
static void expect_in_order(struct test *t, ordo_dict *dict, const struct arrays *a, uint32_t *want)
{
    const struct ordo_slice keys = test_slice(&a->keys), hi = test_slice(&a->hi);
    size_t                  count = 0;

    test_ok(t, ordo_dict_count(dict, keys, hi, a->count, test_slice(&a->counts), NULL));
    expect_words(t, &a->counts, a->count, 1, "count");
    test_ok(t, ordo_dict_range(dict, keys, hi, a->count, test_slice(&a->offsets), test_slice(&a->out_keys),
                               test_slice(&a->out_values), a->count, &count, NULL));
    test_true(t, count == a->count);
    test_expect(t, ORDO_U32, &a->out_values, want, a->count);
    test_download(t, &a->keys, want);
    test_expect(t, ORDO_U32, &a->out_keys, want, a->count);
    test_ok(t, ordo_dict_seek(dict, ORDO_GE, keys, a->count, test_slice(&a->out_keys), ordo_none(), ordo_none(), NULL));
    test_expect(t, ORDO_U32, &a->out_keys, want, a->count);
}

void expect_all(struct test *t, ordo_dict *dict, const struct arrays *a)
{
    const struct ordo_slice keys = test_slice(&a->keys);
    AUTO_FREE uint32_t     *want = test_alloc(a->count * sizeof *want);
    size_t                  size = 0, count = 0;

    test_download(t, &a->values, want);
    test_ok(t, ordo_dict_find(dict, keys, a->count, test_slice(&a->out_values), test_slice(&a->found), NULL));
    test_expect(t, ORDO_U32, &a->out_values, want, a->count);
    if (ordo_dict_can(dict, ORDO_CAN_ORDER))
        expect_in_order(t, dict, a, want);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == a->count);
    test_ok(t, ordo_dict_export(dict, test_slice(&a->out_keys), test_slice(&a->out_values), a->count, &count, NULL));
    test_true(t, count == a->count);
    test_ok(t, ordo_dict_check(dict, NULL));
}
