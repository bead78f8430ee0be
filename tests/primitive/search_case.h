/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ordo_search, ordo_equal_range and ordo_lookup. */
#ifndef ORDO_TESTS_SEARCH_CASE_H
#define ORDO_TESTS_SEARCH_CASE_H

#include "array_case.h"
#include "tests/support/wide.h"

struct search_case {
    ordo_type       type;
    enum test_shape shape;
    uint32_t        wide_shape; /* if not 0, the keys have the shape wide_shape - 1 of enum wide_shape */
    size_t          count, n_queries;
    size_t          at;     /* where the keys begin in their buffer */
    bool            sorted; /* the queries ascend */
    bool            hint;   /* passes .sorted_queries */
    bool            index;
    bool            compressed; /* it: the keys are gone then */
    ordo_scheme     scheme;
    uint32_t        value_bytes; /* of a lookup */
};

/* ---- input --------------------------------------------------------------------------------------------------- */

static struct test_form form_at(ordo_type type, const void *keys, size_t i)
{
    return test_form_of(type, (const uint8_t *) keys + i * ordo_type_bytes(type));
}

static void put_form_at(ordo_type type, void *keys, size_t i, struct test_form form)
{
    if (ordo_type_bytes(type) == 16)
        test_form_put(type, form, (uint8_t *) keys + i * 16);
    else
        put_form(type, keys, i, form.low);
}

static struct test_form neighbour(struct test_form form, bool above)
{
    const struct test_form up = { form.high + (form.low == UINT64_MAX), form.low + 1 };
    const struct test_form down = { form.high - (form.low == 0), form.low - 1 };

    return above ? up : down;
}

/* Keys, their neighbours on either side, extreme values and random ones. */
static void make_queries(struct test *t, const struct search_case *c, const void *keys, void *queries)
{
    test_keys(t, c->type, TEST_EXTREMES, c->n_queries, queries);
    for (size_t i = 0; i < c->n_queries; i++) {
        const uint64_t kind = test_below(t, 8);
        if (kind == 0)
            continue;
        const struct test_form none = { 0, 0 }, any = { test_random(t), test_random(t) };
        const struct test_form near = c->count ? form_at(c->type, keys, test_below(t, c->count)) : none;
        put_form_at(c->type, queries, i, kind == 1 ? any : kind <= 3 ? neighbour(near, kind == 3) : near);
    }
    if (c->sorted)
        test_sort_keys(c->type, false, c->n_queries, queries);
}

/* ---- a case on the device ------------------------------------------------------------------------------------ */

struct search_data {
    void             *keys, *queries;
    struct test_array keys_on, queries_on;
    ordo_index       *index;
};

static struct search_data make_search_data(struct test *t, const struct search_case *c)
{
    const size_t       key_bytes = ordo_type_bytes(c->type);
    struct search_data d = { .keys = test_alloc(c->count * key_bytes),
                             .queries = test_alloc(c->n_queries * key_bytes) };

    test_context(t, "an index of %zu %s keys", c->count, test_type_name[c->type]);
    if (c->wide_shape)
        test_wide_keys(t, c->type, (enum wide_shape)(c->wide_shape - 1), c->count, d.keys);
    else
        test_keys(t, c->type, c->shape, c->count, d.keys);
    test_sort_keys(c->type, false, c->count, d.keys);
    make_queries(t, c, d.keys, d.queries);
    d.keys_on = test_upload(t, d.keys, c->count, key_bytes, c->at);
    d.queries_on = test_upload(t, d.queries, c->n_queries, key_bytes, 3);
    if (c->compressed)
        test_ok(t, ordo_index_build_compressed(t->dev, c->type, test_slice(&d.keys_on), c->count, NULL, &d.index));
    else if (c->index)
        test_ok(t, ordo_index_build(t->dev, c->type, test_slice(&d.keys_on), c->count, NULL, &d.index));
    return d;
}

static void free_search_data(struct search_data *d)
{
    ordo_index_destroy(&d->index);
    test_free(&d->keys_on);
    test_free(&d->queries_on);
    free(d->keys);
    free(d->queries);
}

/* The arrays of ordo_search, ordo_equal_range or ordo_lookup. */
static struct array_case search_arrays(struct test *t, const char *call, const struct search_case *c,
                                       const struct search_data *d, bool upper)
{
    const size_t bytes = ordo_type_bytes(c->type);
    struct given g = array_given(t, c->type, c->value_bytes, c->n_queries);

    g.second = c->count;
    g.upper = upper;
    g.sorted_queries = c->hint;
    g.index = d->index;
    g.scheme = c->scheme;
    struct array_case a = array_case(t, call, &g);
    memcpy(a.host[0], d->keys, c->count * bytes);
    memcpy(a.host[strcmp(call, "ordo_lookup") == 0 ? 2 : 1], d->queries, c->n_queries * bytes);
    a.on[0] = &d->keys_on;
    a.gone = c->compressed;
    (void) snprintf(a.name, sizeof a.name, "%s, from %zu on, %s queries, scheme %d%s", test_shape_name[c->shape], c->at,
                    c->sorted ? "ascending" : "random", (int) c->scheme, c->compressed ? ", compressed" : "");
    return a;
}

/* Every check returns false if the device refuses the tunables. */
static inline bool check_ranks(struct test *t, const struct search_case *c, const struct search_data *d, bool upper)
{
    AUTO(array_case_free) struct array_case a = search_arrays(t, "ordo_search", c, d, upper);

    return array_case_runs(&a);
}

static inline bool check_ranges(struct test *t, const struct search_case *c, const struct search_data *d)
{
    AUTO(array_case_free) struct array_case a = search_arrays(t, "ordo_equal_range", c, d, false);

    return array_case_runs(&a);
}

static inline bool check_lookup(struct test *t, const struct search_case *c, const struct search_data *d,
                                bool want_found)
{
    AUTO(array_case_free) struct array_case a = search_arrays(t, "ordo_lookup", c, d, false);

    array_case_want(&a, 4, want_found);
    return array_case_runs(&a);
}

#endif
