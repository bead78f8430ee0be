/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of equal keys against plain host loops: the cases of by_key.c and scan_tunings.c. */
#ifndef ORDO_TESTS_BY_KEY_CASE_H
#define ORDO_TESTS_BY_KEY_CASE_H

#include "scan_common.h"

/* One call of a test. Without values it is ordo_unique. */
struct by_key_case {
    ordo_type key, value;
    ordo_op   op;
    bool      values, wide, sorted;
    uint32_t  bits;
    size_t    count, capacity;
    uint32_t  different;  /* number of different keys */
    size_t    run_length; /* mean length of a run of equal keys */
};

static inline size_t by_key_result_bytes(const struct by_key_case *c)
{
    return !c->values ? 0 : c->wide ? 8 : ordo_type_bytes(c->value);
}

/* ---- the reference ------------------------------------------------------------------------------------------- */

struct by_key_element {
    uint64_t order;
    size_t   index;
};

static inline int compare_elements(const void *a, const void *b)
{
    const struct by_key_element *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The elements in the order of their groups. */
static inline struct by_key_element *order_elements(const struct by_key_case *c, const void *keys)
{
    const size_t           bytes = ordo_type_bytes(c->key);
    const uint64_t         mask = c->bits && c->bits < 64 ? ((uint64_t) 1 << c->bits) - 1 : UINT64_MAX;
    struct by_key_element *e = test_alloc(c->count * sizeof *e);
    for (size_t i = 0; i < c->count; i++)
        e[i] = (struct by_key_element) { ordo_key_bits(c->key, (const char *) keys + i * bytes) & mask, i };
    if (!c->sorted)
        qsort(e, c->count, sizeof *e, compare_elements);
    return e;
}

/* A value in the type of the fold: of a wide sum in 8 bytes. */
static inline uint64_t by_key_value(const struct by_key_case *c, const void *values, size_t i)
{
    const uint64_t value = read_bits(values, ordo_type_bytes(c->value), i);
    return c->wide && c->value == ORDO_I32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) value : value;
}

struct by_key_outcome {
    void     *keys, *values;
    uint32_t *counts;
    uint32_t  groups;
};

/* The expected outputs. Elements beyond the groups, and beyond the capacity, are unchanged. */
static inline struct by_key_outcome by_key_on_host(const struct by_key_case *c, const void *keys, const void *values)
{
    const size_t                     bytes = ordo_type_bytes(c->key), result = by_key_result_bytes(c);
    AUTO_FREE struct by_key_element *e = order_elements(c, keys);
    struct by_key_outcome            o = { test_alloc(c->capacity * bytes), test_alloc(c->capacity * result),
                                           test_alloc(c->capacity * 4), 0 };
    memset(o.keys, TEST_EMPTY, c->capacity * bytes);
    memset(o.values, TEST_EMPTY, c->capacity * result);
    memset(o.counts, TEST_EMPTY, c->capacity * 4);
    for (size_t i = 0, end = 0; i < c->count; i = end, o.groups++) {
        const uint64_t key = read_bits(keys, bytes, e[i].index);
        uint64_t       all = c->values ? identity(c->value, c->op) : 0;
        for (end = i; end < c->count && read_bits(keys, bytes, e[end].index) == key; end++)
            all = c->values ? combine(c->value, c->op, all, by_key_value(c, values, e[end].index)) : 0;
        if (o.groups >= c->capacity)
            continue;
        write_bits(o.keys, bytes, o.groups, key);
        if (c->values)
            write_bits(o.values, result, o.groups, all);
        o.counts[o.groups] = (uint32_t) (end - i);
    }
    return o;
}

static inline void free_by_key(struct by_key_outcome *o)
{
    free(o->keys);
    free(o->values);
    free(o->counts);
}

/* ---- one call ------------------------------------------------------------------------------------------------ */

/* Repeated keys, single and in runs. */
static inline void by_key_keys(struct test *t, const struct by_key_case *c, void *keys)
{
    const size_t       bytes = ordo_type_bytes(c->key);
    AUTO_FREE uint8_t *some = test_alloc(c->different * bytes);
    test_keys(t, c->key, (enum test_shape) test_below(t, TEST_N_SHAPES), c->different, some);
    for (size_t i = 0; i < c->count; i++)
        if (i > 0 && test_below(t, c->run_length) > 0)
            memcpy((char *) keys + i * bytes, (const char *) keys + (i - 1) * bytes, bytes);
        else
            memcpy((char *) keys + i * bytes, some + test_below(t, c->different) * bytes, bytes);
}

static inline void describe_by_key(struct test *t, const struct by_key_case *c)
{
    test_context(t, "%s%s of %s, %zu %s %s keys of %u, runs of %zu, %u bits, room for %zu", c->wide ? "wide " : "",
                 c->values ? op_name[c->op] : "unique", c->values ? test_type_name[c->value] : "keys", c->count,
                 c->sorted ? "sorted" : "unsorted", test_type_name[c->key], (unsigned) c->different, c->run_length,
                 (unsigned) c->bits, c->capacity);
}

static inline ordo_status call_by_key(struct test *t, const struct by_key_case *c, const struct test_array a[6],
                                      bool counts)
{
    const struct ordo_reduce_by_key_params reduce = { c->key, c->value, c->op, c->wide, c->sorted, c->bits };
    const struct ordo_unique_params        unique = { c->key, c->sorted, c->bits };
    const struct ordo_slice                counted = counts ? test_slice(&a[4]) : ordo_none();
    if (!c->values)
        return ordo_unique(t->dev, &unique, test_slice(&a[0]), c->count, test_slice(&a[2]), counted, c->capacity,
                           test_slice(&a[5]), NULL);
    return ordo_reduce_by_key(t->dev, &reduce, test_slice(&a[0]), test_slice(&a[1]), c->count, test_slice(&a[2]),
                              test_slice(&a[3]), counted, c->capacity, test_slice(&a[5]), NULL);
}

static inline ordo_status call_by_key_host(struct test *t, const struct by_key_case *c, const void *keys,
                                           const void *values, struct by_key_outcome *got)
{
    const struct ordo_reduce_by_key_params reduce = { c->key, c->value, c->op, c->wide, c->sorted, c->bits };
    const struct ordo_unique_params        unique = { c->key, c->sorted, c->bits };
    if (!c->values)
        return ordo_unique_host(t->dev, &unique, keys, c->count, got->keys, got->counts, c->capacity, &got->groups);
    return ordo_reduce_by_key_host(t->dev, &reduce, keys, values, c->count, got->keys, got->values, got->counts,
                                   c->capacity, &got->groups);
}

static inline void try_by_key_host(struct test *t, const struct by_key_case *c, const void *keys, const void *values,
                                   const struct by_key_outcome *want)
{
    const size_t bytes = ordo_type_bytes(c->key), result = by_key_result_bytes(c);
    AUTO(free_by_key)
    struct by_key_outcome got = { test_alloc(c->capacity * bytes), test_alloc(c->capacity * result),
                                  test_alloc(c->capacity * 4), 77 };
    memset(got.keys, TEST_EMPTY, c->capacity * bytes);
    memset(got.values, TEST_EMPTY, c->capacity * result);
    memset(got.counts, TEST_EMPTY, c->capacity * 4);
    test_ok(t, call_by_key_host(t, c, keys, values, &got));
    test_true(t, got.groups == want->groups);
    test_same_bytes(t, "keys out of host arrays", got.keys, want->keys, c->capacity * bytes);
    test_same_bytes(t, "values out of host arrays", got.values, want->values, c->capacity * result);
    test_same_bytes(t, "counts out of host arrays", got.counts, want->counts, c->capacity * 4);
}

static inline void try_by_key(struct test *t, const struct by_key_case *c, bool host)
{
    const size_t          bytes = ordo_type_bytes(c->key), value = c->values ? ordo_type_bytes(c->value) : 0;
    const size_t          result = by_key_result_bytes(c);
    AUTO_FREE void       *keys = test_alloc(c->count * bytes), *values = test_alloc(c->count * value);
    struct test_array     a[6] = { { 0 } };
    struct by_key_outcome want;
    const bool            counts = test_below(t, 4) > 0;
    by_key_keys(t, c, keys);
    test_random_bytes(t, values, c->count * value);
    want = by_key_on_host(c, keys, values);
    a[0] = test_upload(t, keys, c->count, bytes, test_below(t, 6));
    if (c->values)
        a[1] = test_upload(t, values, c->count, value, test_below(t, 6));
    a[2] = test_upload(t, NULL, c->capacity, bytes, test_below(t, 6));
    if (c->values)
        a[3] = test_upload(t, NULL, c->capacity, result, test_below(t, 6));
    a[4] = test_upload(t, NULL, c->capacity, 4, test_below(t, 6));
    a[5] = test_upload(t, NULL, 1, 4, test_below(t, 6));

    describe_by_key(t, c);
    test_ok(t, call_by_key(t, c, a, counts));
    test_expect(t, ORDO_U32, &a[5], &want.groups, 1);
    test_expect(t, c->key, &a[2], want.keys, c->capacity);
    if (c->values)
        test_expect(t, c->wide ? ORDO_U64 : c->value, &a[3], want.values, c->capacity);
    if (counts)
        test_expect(t, ORDO_U32, &a[4], want.counts, c->capacity);
    test_expect(t, c->key, &a[0], keys, c->count);
    if (host)
        try_by_key_host(t, c, keys, values, &want);
    for (size_t i = 0; i < 6; i++)
        if (a[i].mem)
            test_free(&a[i]);
    free_by_key(&want);
}

/* ---- many cases ---------------------------------------------------------------------------------------------- */

/* Random, except for the types and whether there are values. */
static inline struct by_key_case random_by_key(struct test *t, ordo_type key, ordo_type value, bool values,
                                               size_t count)
{
    struct by_key_case c = { .key = key, .value = value, .values = values, .count = count };
    do
        c.op = (ordo_op) test_below(t, 3);
    while (!goes_with(value, c.op));
    c.wide = values && c.op == ORDO_SUM && (value == ORDO_U32 || value == ORDO_I32) && test_below(t, 2);
    c.sorted = test_below(t, 2);
    c.bits = test_below(t, 4) ? 0 : 1 + (uint32_t) test_below(t, 8 * ordo_type_bytes(key));
    c.capacity = test_below(t, 3) ? count : test_below(t, count + 1);
    c.different = (uint32_t[]) { 1, 3, 100, 5000, 1000000 }[test_below(t, 5)];
    c.run_length = (size_t[]) { 1, 1, 3, 100, 20000 }[test_below(t, 5)];
    return c;
}

#endif
