/* SPDX-License-Identifier: Apache-2.0 */
/* The first elements of an order against a plain sort: the cases of top.c and top_tunings.c. */
#ifndef ORDO_TESTS_TOP_CASE_H
#define ORDO_TESTS_TOP_CASE_H

#include "tests/support/support.h"

#include <stdlib.h>

struct top_case {
    ordo_type       type;
    enum test_shape shape;
    bool            greatest;
    uint32_t        value_bytes;
    size_t          count, k;
};

/* ---- the reference ------------------------------------------------------------------------------------------- */

struct top_element {
    uint64_t order;
    size_t   index;
};

static inline int compare_top(const void *a, const void *b)
{
    const struct top_element *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* All elements in the order. */
static inline struct top_element *top_on_host(const struct top_case *c, const void *keys)
{
    struct top_element *e = test_alloc(c->count * sizeof *e);
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t order = ordo_key_bits(c->type, (const char *) keys + i * ordo_type_bytes(c->type));
        e[i] = (struct top_element) { c->greatest ? ~order : order, i };
    }
    qsort(e, c->count, sizeof *e, compare_top);
    return e;
}

static inline size_t top_out(const struct top_case *c)
{
    return c->k < c->count ? c->k : c->count;
}

/* The elements of `array` that come first. */
static inline void *top_picked(const struct top_element *e, size_t n, const void *array, size_t bytes)
{
    char *out = test_alloc(n * bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * bytes, (const char *) array + e[i].index * bytes, bytes);
    return out;
}

/* ---- one call ------------------------------------------------------------------------------------------------ */

static inline void describe_top(struct test *t, const char *call, const struct top_case *c)
{
    test_context(t, "%s, the %zu %s of %zu %s %s keys, values of %u", call, c->k, c->greatest ? "greatest" : "least",
                 c->count, test_shape_name[c->shape], test_type_name[c->type], (unsigned) c->value_bytes);
}

static inline void try_select(struct test *t, const struct top_case *c, const struct test_array *keys,
                              const void *host_keys, const struct top_element *e)
{
    const struct ordo_select_params params = { c->type, c->greatest };
    const size_t                    bytes = ordo_type_bytes(c->type), k = c->k;
    const uint32_t                  want_index = (uint32_t) e[k].index;
    AUTO_FREE void                 *want = top_picked(e + k, 1, host_keys, bytes);
    AUTO_ARRAY struct test_array    key = test_upload(t, NULL, 1, bytes, test_below(t, 6));
    AUTO_ARRAY struct test_array    index = test_upload(t, NULL, 1, 4, test_below(t, 6));
    uint64_t                        got_key = 0;
    uint32_t                        got_index = 0;
    describe_top(t, "select", c);
    test_ok(t, ordo_select(t->dev, &params, test_slice(keys), c->count, k, test_slice(&key),
                           test_below(t, 4) ? test_slice(&index) : ordo_none(), NULL));
    test_expect(t, c->type, &key, want, 1);
    test_ok(t, ordo_select(t->dev, &params, test_slice(keys), c->count, k, test_slice(&key), test_slice(&index), NULL));
    test_expect(t, ORDO_U32, &index, &want_index, 1);
    test_ok(t, ordo_select_host(t->dev, &params, host_keys, c->count, k, &got_key, &got_index));
    test_same(t, "key out of host arrays", c->type, &got_key, want, 1);
    test_true(t, got_index == want_index);
}

static inline void try_top_host(struct test *t, const struct top_case *c, const void *keys, const void *values,
                                const void *want_keys, const void *want_values, const uint32_t *want_indices)
{
    const struct ordo_top_k_params params = { c->type, c->value_bytes, c->greatest };
    const size_t                   bytes = ordo_type_bytes(c->type), out = top_out(c);
    AUTO_FREE void                *got_keys = test_alloc(out * bytes), *got_values = test_alloc(out * c->value_bytes);
    AUTO_FREE uint32_t            *got_indices = test_alloc(out * 4);
    test_ok(t, ordo_top_k_host(t->dev, &params, keys, c->value_bytes ? values : NULL, c->count, c->k, got_keys,
                               c->value_bytes ? got_values : NULL, got_indices));
    test_same(t, "keys out of host arrays", c->type, got_keys, want_keys, out);
    test_same_bytes(t, "values out of host arrays", got_values, want_values, out * c->value_bytes);
    test_same(t, "indices out of host arrays", ORDO_U32, got_indices, want_indices, out);
}

/* too: also the element of that rank, and from host arrays. */
static inline void try_top(struct test *t, const struct top_case *c, bool too)
{
    const struct ordo_top_k_params params = { c->type, c->value_bytes, c->greatest };
    const size_t                   bytes = ordo_type_bytes(c->type), out = top_out(c), vb = c->value_bytes;
    AUTO_FREE void                *keys = test_alloc(c->count * bytes), *values = test_alloc(c->count * vb);
    struct test_array              values_on = { 0 }, values_out = { 0 };
    const bool                     indexed = test_below(t, 4) > 0;
    test_keys(t, c->type, c->shape, c->count, keys);
    test_random_bytes(t, values, c->count * vb);
    AUTO_FREE struct top_element *e = top_on_host(c, keys);
    AUTO_FREE void     *want_keys = top_picked(e, out, keys, bytes), *want_values = top_picked(e, out, values, vb);
    AUTO_FREE uint32_t *want_indices = test_alloc(out * 4);
    for (size_t i = 0; i < out; i++)
        want_indices[i] = (uint32_t) e[i].index;

    struct test_array keys_on = test_upload(t, keys, c->count, bytes, test_below(t, 6));
    struct test_array keys_out = test_upload(t, NULL, out, bytes, test_below(t, 6));
    struct test_array indices = test_upload(t, NULL, out, 4, test_below(t, 6));
    if (vb) {
        values_on = test_upload(t, values, c->count, vb, test_below(t, 6));
        values_out = test_upload(t, NULL, out, vb, test_below(t, 6));
    }
    describe_top(t, "top_k", c);
    test_ok(t, ordo_top_k(t->dev, &params, test_slice(&keys_on), test_slice(&values_on), c->count, c->k,
                          test_slice(&keys_out), test_slice(&values_out), indexed ? test_slice(&indices) : ordo_none(),
                          NULL));
    test_expect(t, c->type, &keys_out, want_keys, out);
    if (indexed)
        test_expect(t, ORDO_U32, &indices, want_indices, out);
    if (vb)
        test_expect(t, vb == 4 ? ORDO_U32 : ORDO_U64, &values_out, want_values, out);
    test_expect(t, c->type, &keys_on, keys, c->count);
    if (too)
        try_top_host(t, c, keys, values, want_keys, want_values, want_indices);
    if (too && c->k < c->count)
        try_select(t, c, &keys_on, keys, e);

    test_free(&keys_on);
    test_free(&keys_out);
    test_free(&indices);
    if (vb) {
        test_free(&values_on);
        test_free(&values_out);
    }
}

#endif
