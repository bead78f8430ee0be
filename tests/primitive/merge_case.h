/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ordo_merge and ordo_merge_runs, and a plain merge on the host. A value is its key's origin, which shows a
 * wrong order of equal keys. */
#ifndef ORDO_TESTS_MERGE_CASE_H
#define ORDO_TESTS_MERGE_CASE_H

#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "shared/key.h"

/* ---- a case: runs in one buffer, and the merged result ------------------------------------------------------- */

struct merge_case {
    ordo_type       type;
    uint32_t        value_bytes;
    bool            descending;
    enum test_shape shape;
    size_t          n_runs;
    size_t          count[ORDO_MAX_RUNS];
    bool            unsorted; /* runs stay unsorted: the result is undefined */
};

struct merge_data {
    struct ordo_run run[ORDO_MAX_RUNS];
    size_t          extent; /* of the runs' buffer, with gaps, in any order */
    size_t          total;
    void           *keys, *values;
    void           *want_keys, *want_values;
};

static size_t key_bytes(const struct merge_case *c)
{
    return ordo_type_bytes(c->type);
}

static struct ordo_merge_params params_of(const struct merge_case *c)
{
    return (struct ordo_merge_params) { .key = c->type, .value_bytes = c->value_bytes, .descending = c->descending };
}

/* The word that orders element i of `keys`. */
static uint64_t order_of(const struct merge_case *c, const void *keys, size_t i)
{
    const uint64_t bits = ordo_key_bits(c->type, (const char *) keys + i * key_bytes(c));
    return c->descending ? ~bits : bits;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

static void sort_keys(const struct merge_case *c, void *keys, size_t count)
{
    const size_t        bytes = key_bytes(c);
    AUTO_FREE uint64_t *words = test_alloc(count * sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = order_of(c, keys, i);
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = c->descending ? ~words[i] : words[i];
        const uint64_t key = key_from_bits_of((int) c->type, bytes == 4 ? bits & UINT32_MAX : bits);
        memcpy((char *) keys + i * bytes, &key, bytes);
    }
}

/* Places the runs in the buffer in random order, with gaps. */
static void place_runs(struct test *t, const struct merge_case *c, struct merge_data *d)
{
    size_t order[ORDO_MAX_RUNS];
    for (size_t i = 0; i < c->n_runs; i++) {
        const size_t j = test_below(t, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < c->n_runs; i++) {
        const size_t r = order[i];
        d->extent += test_below(t, 4);
        d->run[r] = (struct ordo_run) { .at = d->extent, .count = c->count[r] };
        d->extent += c->count[r];
        d->total += c->count[r];
    }
}

/* A plain merge: the least first key of all runs, from the earliest run if several are equal. */
static void merge_on_host(const struct merge_case *c, struct merge_data *d)
{
    const size_t bytes = key_bytes(c);
    size_t       taken[ORDO_MAX_RUNS] = { 0 };
    for (size_t to = 0; to < d->total; to++) {
        size_t   best = c->n_runs;
        uint64_t least = 0;
        for (size_t r = 0; r < c->n_runs; r++) {
            if (taken[r] == d->run[r].count)
                continue;
            const uint64_t head = order_of(c, d->keys, d->run[r].at + taken[r]);
            if (best == c->n_runs || head < least) {
                best = r;
                least = head;
            }
        }
        const size_t from = d->run[best].at + taken[best]++;
        memcpy((char *) d->want_keys + to * bytes, (const char *) d->keys + from * bytes, bytes);
        memcpy((char *) d->want_values + to * c->value_bytes, (const char *) d->values + from * c->value_bytes,
               c->value_bytes);
    }
}

static struct merge_data make_data(struct test *t, const struct merge_case *c)
{
    struct merge_data d = { .extent = 0 };
    place_runs(t, c, &d);
    d.keys = test_alloc(d.extent * key_bytes(c));
    d.values = test_alloc(d.extent * c->value_bytes);
    d.want_keys = test_alloc(d.total * key_bytes(c));
    d.want_values = test_alloc(d.total * c->value_bytes);

    test_keys(t, c->type, c->shape, d.extent, d.keys);
    for (size_t i = 0; i < d.extent; i++) {
        const uint64_t place = i | (uint64_t) (~i & UINT32_MAX) << 32;
        memcpy((char *) d.values + i * c->value_bytes, &place, c->value_bytes);
    }
    if (c->unsorted)
        return d;
    for (size_t r = 0; r < c->n_runs; r++)
        sort_keys(c, (char *) d.keys + d.run[r].at * key_bytes(c), c->count[r]);
    merge_on_host(c, &d);
    return d;
}

static void free_data(struct merge_data *d)
{
    free(d->keys);
    free(d->values);
    free(d->want_keys);
    free(d->want_values);
}

static void describe(struct test *t, const char *call, const struct merge_case *c)
{
    char counts[160] = "";
    for (size_t r = 0, used = 0; r < c->n_runs && used < sizeof counts; r++)
        used += (size_t) snprintf(counts + used, sizeof counts - used, "%s%zu", r ? "+" : "", c->count[r]);
    test_context(t, "%s, %s keys, %u value bytes, %s, %s, counts %s", call, test_type_name[c->type], c->value_bytes,
                 c->descending ? "descending" : "ascending", test_shape_name[c->shape], counts);
}

/* ---- running a case ------------------------------------------------------------------------------------------- */

/* The device arrays of a case, at odd offsets. */
struct merge_arrays {
    struct test_array keys, values, keys_out, values_out;
};

static struct merge_arrays upload(const struct test *t, const struct merge_case *c, const struct merge_data *d)
{
    const struct test_array none = { .mem = NULL };
    return (struct merge_arrays) {
        .keys = test_upload(t, d->keys, d->extent, key_bytes(c), 3),
        .values = c->value_bytes ? test_upload(t, d->values, d->extent, c->value_bytes, 5) : none,
        .keys_out = test_upload(t, NULL, d->total, key_bytes(c), 1),
        .values_out = c->value_bytes ? test_upload(t, NULL, d->total, c->value_bytes, 7) : none,
    };
}

static void free_arrays(const struct merge_case *c, struct merge_arrays *a)
{
    test_free(&a->keys);
    test_free(&a->keys_out);
    if (c->value_bytes) {
        test_free(&a->values);
        test_free(&a->values_out);
    }
}

static struct ordo_slice slice_or_none(const struct test_array *array)
{
    return array->mem ? test_slice(array) : ordo_none();
}

static struct ordo_slice run_of(const struct test_array *array, const struct ordo_run *run)
{
    return array->mem ? ordo_at(array->mem, array->at + run->at) : ordo_none();
}

/* Compares the outputs and their guards; after unsorted input only the guards. */
static void expect_outputs(const struct test *t, const struct merge_case *c, const struct merge_data *d,
                           const struct merge_arrays *a)
{
    const ordo_type value_type = c->value_bytes == 8 ? ORDO_U64 : ORDO_U32;
    const size_t    compared = c->unsorted ? 0 : d->total;
    test_expect(t, c->type, &a->keys_out, d->want_keys, compared);
    if (c->value_bytes)
        test_expect(t, value_type, &a->values_out, d->want_values, compared);
}

/* One run of a case on the device. Returns false if the device refuses its tunables. */
static bool try_merge(struct test *t, const struct merge_case *c)
{
    const struct ordo_merge_params    params = params_of(c);
    AUTO(free_data) struct merge_data d = make_data(t, c);
    struct merge_arrays               a = upload(t, c, &d);
    describe(t, "ordo_merge", c);
    const ordo_status got = ordo_merge(t->dev, &params, run_of(&a.keys, &d.run[0]), run_of(&a.values, &d.run[0]),
                                       d.run[0].count, run_of(&a.keys, &d.run[1]), run_of(&a.values, &d.run[1]),
                                       d.run[1].count, slice_or_none(&a.keys_out), slice_or_none(&a.values_out), NULL);
    if (got != ORDO_UNSUPPORTED) {
        test_ok(t, got);
        expect_outputs(t, c, &d, &a);
    }
    free_arrays(c, &a);
    return got != ORDO_UNSUPPORTED;
}

static bool try_runs(struct test *t, const struct merge_case *c)
{
    const struct ordo_merge_params    params = params_of(c);
    AUTO(free_data) struct merge_data d = make_data(t, c);
    struct merge_arrays               a = upload(t, c, &d);
    describe(t, "ordo_merge_runs", c);
    const ordo_status got = ordo_merge_runs(t->dev, &params, slice_or_none(&a.keys), slice_or_none(&a.values), d.run,
                                            c->n_runs, slice_or_none(&a.keys_out), slice_or_none(&a.values_out), NULL);
    if (got != ORDO_UNSUPPORTED) {
        test_ok(t, got);
        expect_outputs(t, c, &d, &a);
    }
    free_arrays(c, &a);
    return got != ORDO_UNSUPPORTED;
}

/* ---- cases ---------------------------------------------------------------------------------------------------- */

/* Lengths of runs: few and many, empty ones, very different lengths, a very long first one, all too short for a sample.
 */
static const struct {
    size_t n_runs, count[ORDO_MAX_RUNS];
} run_counts[] = {
    { 0, { 0 } },
    { 1, { 0 } },
    { 1, { 1000 } },
    { 2, { 1000, 1 } },
    { 3, { 0, 0, 0 } },
    { 3, { 0, 5, 0 } },
    { 3, { 1, 1, 1 } },
    { 3, { 700, 1, 900 } },
    { 3, { 12000, 11000, 10000 } },
    { 3, { 40000, 700, 30 } },
    { 4, { 5000, 0, 5000, 5000 } },
    { 5, { 1, 20000, 3, 400, 50 } },
    { 8, { 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096 } },
    { 9, { 1, 2, 4, 8, 16, 32, 64, 128, 256 } },
    { 9, { 60000, 9000, 9000, 2000, 2000, 500, 500, 3, 700 } },
    { 16, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
    { 16, { 30, 31, 32, 33, 63, 64, 65, 66, 95, 96, 97, 98, 127, 128, 129, 130 } },
    { 16, { 40000, 20000, 10000, 5000, 2500, 1250, 625, 312, 156, 78, 39, 19, 9, 4, 2, 1 } },
    { 16, { 0, 0, 0, 9000, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9000 } },
    { 16, { 3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 2999, 2998, 2997, 2996, 2995, 2994, 2993, 2992 } },
};
#define N_RUN_COUNTS (sizeof run_counts / sizeof *run_counts)

static struct merge_case pair_case(ordo_type type, uint32_t value_bytes, bool descending, enum test_shape shape,
                                   size_t a_count, size_t b_count)
{
    return (struct merge_case) { .type = type,
                                 .value_bytes = value_bytes,
                                 .descending = descending,
                                 .shape = shape,
                                 .n_runs = 2,
                                 .count = { a_count, b_count } };
}

static struct merge_case runs_case(ordo_type type, uint32_t value_bytes, bool descending, enum test_shape shape,
                                   size_t i)
{
    struct merge_case c = { .type = type,
                            .value_bytes = value_bytes,
                            .descending = descending,
                            .shape = shape,
                            .n_runs = run_counts[i].n_runs };
    memcpy(c.count, run_counts[i].count, sizeof c.count);
    return c;
}

/* ---- tunables -------------------------------------------------------------------------------------------------- */

static void set(struct test *t, const char *tunable, const char *field, uint32_t value)
{
    char name[48];
    (void) snprintf(name, sizeof name, "%s.%s", tunable, field);
    test_ok(t, ordo_device_set_tunable(t->dev, name, value));
}

/* Several tiles, and every shape in turn, with the current tunables. */
static bool merges_as_tuned(struct test *t, ordo_type type, uint32_t value_bytes, size_t turn)
{
    const enum test_shape   shape = (enum test_shape)(turn % TEST_N_SHAPES);
    const struct merge_case long_pair = pair_case(type, value_bytes, turn % 2, shape, 20011, 18013);
    const struct merge_case short_pair = pair_case(type, value_bytes, turn % 2, TEST_EQUAL, 301, 5);
    return try_merge(t, &long_pair) && try_merge(t, &short_pair);
}

static bool merges_runs_as_tuned(struct test *t, ordo_type type, uint32_t value_bytes, size_t turn)
{
    bool ran = false;
    for (size_t i = 0; i < N_RUN_COUNTS; i++) {
        const struct merge_case c =
            runs_case(type, value_bytes, turn % 2, (enum test_shape)((turn + i) % TEST_N_SHAPES), i);
        ran = try_runs(t, &c) || ran;
    }
    return ran;
}

#endif
