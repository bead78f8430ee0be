/* SPDX-License-Identifier: Apache-2.0 */
/* One sort and its expected result, for the tests of the sort and its tunings. */
#ifndef ORDO_TESTS_SORT_CASE_H
#define ORDO_TESTS_SORT_CASE_H

#include "tests/support/wide.h"

#include <stdlib.h>

/* ---- the reference ------------------------------------------------------------------------------------------- */

struct item {
    struct test_form digits; /* the sorted bits, complemented if descending */
    size_t           from;
};

static int by_digits_then_index(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int          order = test_form_compare(x->digits, y->digits);
    return order ? order : x->from < y->from ? -1 : x->from > y->from;
}

static struct item *sorted_items(const struct ordo_sort_params *params, const void *keys, size_t count)
{
    const size_t   bytes = ordo_type_bytes(params->key);
    const uint32_t bits = params->bits ? params->bits : (uint32_t) (8 * bytes) - params->first_bit;
    struct item   *items = test_alloc(count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const struct test_form form = test_form_of(params->key, (const char *) keys + i * bytes);
        items[i] = (struct item) { test_form_bits(form, params->descending, params->first_bit, bits), i };
    }
    qsort(items, count, sizeof *items, by_digits_then_index);
    return items;
}

/* Elements of `from` in the order of items. */
static void *permuted(const struct item *items, const void *from, size_t count, size_t bytes)
{
    char *to = test_alloc(count * bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * bytes, (const char *) from + items[i].from * bytes, bytes);
    return to;
}

/* ---- one comparison ------------------------------------------------------------------------------------------ */

static struct ordo_slice slice_of(const struct test_array *array)
{
    return array->mem ? test_slice(array) : ordo_none();
}

struct job {
    struct ordo_sort_params params;
    enum test_shape         shape;
    size_t                  count;
    bool                    in_place;
};

/* Sorts these keys; `name` appears in messages; ignores job->shape. */
static void check_keys(struct test *t, const struct job *job, const void *keys, const char *name)
{
    const size_t    kb = ordo_type_bytes(job->params.key), vb = job->params.value_bytes, n = job->count;
    const ordo_type value_type = vb == 8 ? ORDO_U64 : ORDO_U32;
    AUTO_FREE void *values = test_alloc(n * vb);
    test_random_bytes(t, values, n * vb);
    AUTO_FREE struct item *items = sorted_items(&job->params, keys, n);
    AUTO_FREE void        *want_keys = permuted(items, keys, n, kb), *want_values = permuted(items, values, n, vb);
    test_context(t, "%s, values of %zu, %s%s, bits %u+%u, count %zu%s", test_type_name[job->params.key], vb, name,
                 job->params.descending ? " descending" : "", job->params.first_bit, job->params.bits, n,
                 job->in_place ? ", in place" : "");
    struct test_array in_keys = test_upload(t, keys, n, kb, 3), out_keys = { 0 };
    struct test_array in_values = { 0 }, out_values = { 0 };
    if (vb)
        in_values = test_upload(t, values, n, vb, 1);
    if (!job->in_place) {
        out_keys = test_upload(t, NULL, n, kb, 1);
        if (vb)
            out_values = test_upload(t, NULL, n, vb, 5);
    }
    const struct test_array *to_keys = job->in_place ? &in_keys : &out_keys;
    const struct test_array *to_values = job->in_place ? &in_values : &out_values;
    test_ok(t, ordo_sort(t->dev, &job->params, slice_of(&in_keys), slice_of(&in_values), slice_of(to_keys),
                         slice_of(to_values), n, NULL));
    test_expect(t, job->params.key, to_keys, want_keys, n);
    if (vb)
        test_expect(t, value_type, to_values, want_values, n);
    if (!job->in_place)
        test_expect(t, job->params.key, &in_keys, keys, n);

    test_free(&in_keys);
    test_free(&in_values);
    test_free(&out_keys);
    test_free(&out_values);
}

static inline void check_job(struct test *t, const struct job *job)
{
    AUTO_FREE void *keys = test_alloc(job->count * ordo_type_bytes(job->params.key));
    test_keys(t, job->params.key, job->shape, job->count, keys);
    check_keys(t, job, keys, test_shape_name[job->shape]);
}

#endif
