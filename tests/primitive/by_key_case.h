/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of equal keys: the cases of by_key.c and scan_tunings.c. */
#ifndef ORDO_TESTS_BY_KEY_CASE_H
#define ORDO_TESTS_BY_KEY_CASE_H

#include "array_case.h"
#include "tests/support/wide.h"

/* One call of a test. Without values it is ordo_unique. */
struct by_key_case {
    ordo_type key, value;
    ordo_op   op;
    bool      values, wide, sorted;
    uint32_t  bits;
    size_t    count, capacity;
    uint32_t  different;  /* number of different keys */
    size_t    run_length; /* mean length of a run of equal keys */
    uint32_t  spread;     /* if not 0, keys differ in the low `bits` bits, and one of `spread` keys in others too */
};

static inline void by_key_numbers(struct test *t, const struct by_key_case *c, void *keys)
{
    const size_t   bytes = ordo_type_bytes(c->key);
    const uint64_t above = test_random(t) << c->bits;
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t other = test_below(t, c->spread) == 0 ? (uint64_t) test_below(t, 3) << c->bits : 0;
        const uint64_t key = (above ^ other) | test_below(t, (size_t) 1 << c->bits);
        memcpy((char *) keys + i * bytes, &key, bytes); /* of a little-endian host */
    }
}

/* Repeated keys, single and in runs. */
static inline void by_key_keys(struct test *t, const struct by_key_case *c, void *keys)
{
    const size_t       bytes = ordo_type_bytes(c->key);
    AUTO_FREE uint8_t *some = test_alloc(c->different * bytes);
    if (bytes == 16 && test_below(t, 2))
        test_wide_keys(t, c->key, (enum wide_shape) test_below(t, WIDE_N_SHAPES), c->different, some);
    else
        test_keys(t, c->key, (enum test_shape) test_below(t, TEST_N_SHAPES), c->different, some);
    for (size_t i = 0; i < c->count; i++)
        if (i > 0 && test_below(t, c->run_length) > 0)
            memcpy((char *) keys + i * bytes, (const char *) keys + (i - 1) * bytes, bytes);
        else
            memcpy((char *) keys + i * bytes, some + test_below(t, c->different) * bytes, bytes);
}

static inline void try_by_key(struct test *t, const struct by_key_case *k, bool host)
{
    struct given g = array_given(t, k->key, 0, k->count);

    g.value = k->value;
    g.array_op = k->op;
    g.wide = k->wide;
    g.sorted = k->sorted;
    g.bits = k->bits;
    g.room = k->capacity;
    AUTO(array_case_free) struct array_case c = array_case(t, k->values ? "ordo_reduce_by_key" : "ordo_unique", &g);
    (void) snprintf(c.name, sizeof c.name, "%u different, runs of %zu", (unsigned) k->different, k->run_length);
    if (k->spread)
        by_key_numbers(t, k, c.host[0]);
    else
        by_key_keys(t, k, c.host[0]);
    array_case_check(&c);
    if (host)
        array_case_check_host(&c);
}

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
