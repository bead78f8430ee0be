/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ordo_search and ordo_lookup, and the plain binary search on the host that they are compared with. */
#ifndef ORDO_TESTS_SEARCH_CASE_H
#define ORDO_TESTS_SEARCH_CASE_H

#include "tests/support/support.h"

#include <stdlib.h>

#include "shared/key.h"

struct search_case {
    ordo_type       type;
    enum test_shape shape;
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

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}

static void put_key(ordo_type type, void *keys, size_t i, uint64_t bits)
{
    const uint64_t mask = ordo_type_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t key = key_from_bits_of((int) type, bits & mask);

    memcpy((char *) keys + i * ordo_type_bytes(type), &key, ordo_type_bytes(type));
}

static uint64_t bits_at(ordo_type type, const void *keys, size_t i)
{
    return ordo_key_bits(type, (const char *) keys + i * ordo_type_bytes(type));
}

static void sort_by_bits(ordo_type type, void *keys, size_t count)
{
    AUTO_FREE uint64_t *words = test_alloc(count * sizeof *words);

    for (size_t i = 0; i < count; i++)
        words[i] = bits_at(type, keys, i);
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++)
        put_key(type, keys, i, words[i]);
}

/* Keys, their neighbours on either side, extreme values and random ones. */
static void make_queries(struct test *t, const struct search_case *c, const void *keys, void *queries)
{
    test_keys(t, c->type, TEST_EXTREMES, c->n_queries, queries);
    for (size_t i = 0; i < c->n_queries; i++) {
        const uint64_t kind = test_below(t, 8);
        if (kind == 0)
            continue;
        const uint64_t near = c->count ? bits_at(c->type, keys, test_below(t, c->count)) : 0;
        put_key(c->type, queries, i, kind == 1 ? test_random(t) : kind == 2 ? near - 1 : kind == 3 ? near + 1 : near);
    }
    if (c->sorted)
        sort_by_bits(c->type, queries, c->n_queries);
}

/* ---- the reference ------------------------------------------------------------------------------------------- */

static size_t rank_on_host(ordo_type type, const void *keys, size_t count, uint64_t query, bool upper)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t   middle = low + (high - low) / 2;
        const uint64_t key = bits_at(type, keys, middle);
        if (upper ? key <= query : key < query)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- a case on the device ------------------------------------------------------------------------------------ */

struct search_data {
    void             *keys, *queries, *values;
    struct test_array keys_on, queries_on, values_on;
    ordo_index       *index;
};

static void describe_search(struct test *t, const char *call, const struct search_case *c)
{
    test_context(t, "%s, %s keys, %s, count %zu from %zu on, %zu %s queries%s, %s index, scheme %d, %u value bytes",
                 call, test_type_name[c->type], test_shape_name[c->shape], c->count, c->at, c->n_queries,
                 c->sorted ? "ascending" : "random", c->hint ? " said to ascend" : "",
                 c->compressed ? "with a compressed"
                 : c->index    ? "with"
                               : "without",
                 (int) c->scheme, c->value_bytes);
}

static struct search_data make_search_data(struct test *t, const struct search_case *c)
{
    const size_t       key_bytes = ordo_type_bytes(c->type);
    struct search_data d = { .keys = test_alloc(c->count * key_bytes),
                             .queries = test_alloc(c->n_queries * key_bytes),
                             .values = test_alloc(c->count * 8) };

    describe_search(t, "ordo_index_build", c);
    test_keys(t, c->type, c->shape, c->count, d.keys);
    sort_by_bits(c->type, d.keys, c->count);
    make_queries(t, c, d.keys, d.queries);
    test_random_bytes(t, d.values, c->count * 8);
    d.keys_on = test_upload(t, d.keys, c->count, key_bytes, c->at);
    d.queries_on = test_upload(t, d.queries, c->n_queries, key_bytes, 3);
    if (c->value_bytes)
        d.values_on = test_upload(t, d.values, c->count, c->value_bytes, 5);
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
    if (d->values_on.mem)
        test_free(&d->values_on);
    free(d->keys);
    free(d->queries);
    free(d->values);
}

static inline struct ordo_slice keys_of(const struct search_case *c, const struct search_data *d)
{
    return c->compressed && c->count ? ordo_none() : test_slice(&d->keys_on);
}

/* Every check returns false if the device refuses the tunables. */
static inline bool check_ranks(struct test *t, const struct search_case *c, const struct search_data *d, bool upper)
{
    const struct ordo_search_params params = {
        .key = c->type, .upper = upper, .sorted_queries = c->hint, .index = d->index, .scheme = c->scheme
    };
    AUTO_ARRAY struct test_array ranks = test_upload(t, NULL, c->n_queries, sizeof(uint32_t), 1);
    AUTO_FREE uint32_t          *want = test_alloc(c->n_queries * sizeof *want);

    for (size_t i = 0; i < c->n_queries; i++)
        want[i] = (uint32_t) rank_on_host(c->type, d->keys, c->count, bits_at(c->type, d->queries, i), upper);
    describe_search(t, upper ? "ordo_search, upper bound" : "ordo_search, lower bound", c);
    const ordo_status got = ordo_search(t->dev, &params, keys_of(c, d), c->count, test_slice(&d->queries_on),
                                        c->n_queries, test_slice(&ranks), NULL);
    if (got != ORDO_UNSUPPORTED) {
        test_ok(t, got);
        test_expect(t, ORDO_U32, &ranks, want, c->n_queries);
    }
    return got != ORDO_UNSUPPORTED;
}

/* Checks both bounds. Without an index, host arrays must give the same. */
static inline bool check_ranges(struct test *t, const struct search_case *c, const struct search_data *d)
{
    const struct ordo_equal_range_params params = { .key = c->type, .sorted_queries = c->hint, .index = d->index };
    AUTO_ARRAY struct test_array         lower = test_upload(t, NULL, c->n_queries, sizeof(uint32_t), 1);
    AUTO_ARRAY struct test_array         upper = test_upload(t, NULL, c->n_queries, sizeof(uint32_t), 2);
    uint32_t *want[2] = { test_alloc(c->n_queries * sizeof **want), test_alloc(c->n_queries * sizeof **want) };

    for (size_t i = 0; i < c->n_queries; i++)
        for (int bound = 0; bound < 2; bound++)
            want[bound][i] =
                (uint32_t) rank_on_host(c->type, d->keys, c->count, bits_at(c->type, d->queries, i), bound == 1);
    describe_search(t, "ordo_equal_range", c);
    const ordo_status got = ordo_equal_range(t->dev, &params, keys_of(c, d), c->count, test_slice(&d->queries_on),
                                             c->n_queries, test_slice(&lower), test_slice(&upper), NULL);
    if (got != ORDO_UNSUPPORTED) {
        test_ok(t, got);
        test_expect(t, ORDO_U32, &lower, want[0], c->n_queries);
        test_expect(t, ORDO_U32, &upper, want[1], c->n_queries);
    }
    free(want[0]);
    free(want[1]);
    return got != ORDO_UNSUPPORTED;
}

static inline bool check_lookup(struct test *t, const struct search_case *c, const struct search_data *d,
                                bool want_found)
{
    const struct ordo_lookup_params params = {
        .key = c->type, .value_bytes = c->value_bytes, .sorted_queries = c->hint, .index = d->index, .scheme = c->scheme
    };
    const struct test_array none = { .mem = NULL };
    const size_t            bytes = c->value_bytes;
    AUTO_FREE uint8_t      *values = test_alloc(c->n_queries * bytes), *found = test_alloc(c->n_queries);

    test_random_bytes(t, values, c->n_queries * bytes); /* values of keys that are not there stay */
    struct test_array values_on = bytes ? test_upload(t, values, c->n_queries, bytes, 7) : none;
    struct test_array found_on = want_found ? test_upload(t, NULL, c->n_queries, 1, 1) : none;
    for (size_t i = 0; i < c->n_queries; i++) {
        const uint64_t query = bits_at(c->type, d->queries, i);
        const size_t   rank = rank_on_host(c->type, d->keys, c->count, query, false);
        found[i] = rank < c->count && bits_at(c->type, d->keys, rank) == query;
        if (found[i])
            memcpy(values + i * bytes, (const uint8_t *) d->values + rank * bytes, bytes);
    }
    describe_search(t, "ordo_lookup", c);
    const ordo_status got =
        ordo_lookup(t->dev, &params, keys_of(c, d), bytes ? test_slice(&d->values_on) : ordo_none(), c->count,
                    test_slice(&d->queries_on), c->n_queries, bytes ? test_slice(&values_on) : ordo_none(),
                    want_found ? test_slice(&found_on) : ordo_none(), NULL);
    if (got != ORDO_UNSUPPORTED) {
        test_ok(t, got);
        if (want_found)
            test_expect(t, ORDO_U32, &found_on, found, c->n_queries);
        if (bytes)
            test_expect(t, bytes == 4 ? ORDO_U32 : ORDO_U64, &values_on, values, c->n_queries);
    }
    if (bytes)
        test_free(&values_on);
    if (want_found)
        test_free(&found_on);
    return got != ORDO_UNSUPPORTED;
}

#endif
