/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of known content, for the tests of arguments, order and memory. Element i has key_of(i) and
 * value_of(i). */
#ifndef ORDO_TESTS_DICT_CASE_H
#define ORDO_TESTS_DICT_CASE_H

#include "model.h"
#include "structures.h"
#include "tests/support/support.h"

#include <stdlib.h>

static inline uint32_t key_of(uint32_t i)
{
    return i * 2654435761u;
}
static inline uint32_t value_of(uint32_t i)
{
    return i ^ 0xabcdu;
}

/* Writes the keys of numbers from `from` on. */
static inline void number_keys(uint32_t *keys, uint32_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        keys[i] = key_of(from + i);
}

/* A dictionary of u32 keys and 4-byte values with elements from .. from + count - 1. */
static inline ordo_dict *make_dict(struct test *t, ordo_device *dev, int structure, uint32_t from, uint32_t count)
{
    ordo_dict          *dict = NULL;
    AUTO_FREE uint32_t *keys = test_alloc(count * sizeof *keys), *values = test_alloc(count * sizeof *values);

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(from + i);
        values[i] = value_of(from + i);
    }
    test_ok(t, create(dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, count));
    return dict;
}

static inline struct ordo_statistics statistics_of(struct test *t, ordo_dict *dict)
{
    struct ordo_statistics s;

    memset(&s, 0x77, sizeof s);
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s;
}

/* Checks the dictionary and compares its content with the model. */
static inline void expect_content(struct test *t, ordo_dict *dict, const struct model *model)
{
    AUTO_FREE uint32_t *keys = test_alloc(model->count * sizeof *keys),
                       *values = test_alloc(model->count * sizeof *values);
    AUTO_FREE uint32_t *want = test_alloc(model->count * sizeof *want);
    size_t              count = 0;

    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_export_host(dict, keys, values, model->count, &count));
    test_true(t, count == model->count);
    model_put_in_order(dict, ORDO_U32, 4, keys, values, count);
    for (size_t i = 0; i < count; i++)
        want[i] = (uint32_t) model->element[i].key;
    test_same(t, "exported keys", ORDO_U32, keys, want, count);
    for (size_t i = 0; i < count; i++)
        want[i] = (uint32_t) model->element[i].value;
    test_same(t, "exported values", ORDO_U32, values, want, count);
}

/* Applies operations of one code to the model. values may be NULL. */
static inline void model_batch(struct model *model, ordo_code code, const uint32_t *keys, const uint32_t *values,
                               size_t count)
{
    AUTO_FREE uint8_t *codes = test_alloc(count);

    memset(codes, (int) code, count);
    (void) model_apply(model,
                       &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = count });
}

static inline void model_fill(struct model *model, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < from + count; i++)
        model_batch(model, ORDO_UPSERT, &(uint32_t) { key_of(i) }, &(uint32_t) { value_of(i) }, 1);
}

static inline void expect_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t count)
{
    AUTO_MODEL struct model model = model_empty(ORDO_U32, 4);

    model_fill(&model, from, count);
    expect_content(t, dict, &model);
}

#endif
