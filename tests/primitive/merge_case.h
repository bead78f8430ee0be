/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ordo_merge and ordo_merge_runs. */
#ifndef ORDO_TESTS_MERGE_CASE_H
#define ORDO_TESTS_MERGE_CASE_H

#include "array_case.h"

struct merge_case {
    ordo_type       type;
    uint32_t        value_bytes;
    bool            descending;
    enum test_shape shape;
    size_t          n_runs;
    size_t          count[ORDO_MAX_RUNS];
    bool            unsorted; /* runs stay unsorted: the result is undefined */
};

/* Fills array `i` with keys of the case, and sorts each run. */
static void fill_runs(struct array_case *c, const struct merge_case *m, size_t i, const struct ordo_run *run, size_t n)
{
    const size_t bytes = ordo_type_bytes(m->type);

    test_keys(c->t, m->type, m->shape, call_array_elements(&c->call->array[i], &c->g), c->host[i]);
    for (size_t r = 0; r < n && !m->unsorted; r++)
        test_sort_keys(m->type, m->descending, run[r].count, (char *) c->host[i] + run[r].at * bytes);
}

/* Makes the call on the device, or over host memory. Returns false if the device refuses its tunables. */
static bool finish_merge(struct array_case *c, const struct merge_case *m, bool host)
{
    for (size_t r = 0, used = 0; r < m->n_runs && used < sizeof c->name; r++)
        used += (size_t) snprintf(c->name + used, sizeof c->name - used, "%s%zu", r ? "+" : "", m->count[r]);
    c->unsorted = m->unsorted;
    if (!host)
        return array_case_runs(c);
    array_case_check_host(c);
    return true;
}

static bool merge_of(struct test *t, const struct merge_case *m, bool host)
{
    struct given g = array_given(t, m->type, m->value_bytes, m->count[0]);

    g.second = m->count[1];
    g.descending = m->descending;
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_merge", &g);
    for (size_t i = 0; i < 2; i++)
        fill_runs(&c, m, 2 * i, &(struct ordo_run) { 0, m->count[i] }, 1);
    return finish_merge(&c, m, host);
}

/* Places the runs in their buffer in random order, with gaps. */
static bool runs_of(struct test *t, const struct merge_case *m, bool host)
{
    struct ordo_run run[ORDO_MAX_RUNS];
    struct given    g = array_given(t, m->type, m->value_bytes, 0);
    size_t          order[ORDO_MAX_RUNS];

    for (size_t i = 0; i < m->n_runs; i++) {
        const size_t j = test_below(t, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < m->n_runs; i++) {
        g.n += test_below(t, 4);
        run[order[i]] = (struct ordo_run) { .at = g.n, .count = m->count[order[i]] };
        g.n += m->count[order[i]];
        g.count += m->count[order[i]];
    }
    g.descending = m->descending;
    g.runs = run;
    g.n_runs = m->n_runs;
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_merge_runs", &g);
    fill_runs(&c, m, 0, run, m->n_runs);
    return finish_merge(&c, m, host);
}

static bool try_merge(struct test *t, const struct merge_case *m)
{
    return merge_of(t, m, false);
}

static bool try_runs(struct test *t, const struct merge_case *m)
{
    return runs_of(t, m, false);
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
