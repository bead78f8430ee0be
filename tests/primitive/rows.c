/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any size, gathered and scattered. */
#include "tests/support/support.h"

#include <stdlib.h>

/* One call of a test. */
struct rows_case {
    size_t count, n_rows;
    size_t bytes;
    bool   scatter;
    bool   distinct; /* no index twice, and params say so */
    bool   outside;  /* some indices have no row */
};

/* ---- the reference ------------------------------------------------------------------------------------------- */

static void rows_on_host(const struct rows_case *c, const uint8_t *in, const uint32_t *index, uint8_t *out)
{
    for (size_t i = 0; i < c->count; i++)
        if (index[i] < c->n_rows && c->scatter)
            memcpy(out + index[i] * c->bytes, in + i * c->bytes, c->bytes);
        else if (index[i] < c->n_rows)
            memcpy(out + i * c->bytes, in + index[i] * c->bytes, c->bytes);
}

/* ---- one call ------------------------------------------------------------------------------------------------ */

/* Random indices, or 0, 1, 2 ... shuffled, with at least as many rows as indices. */
static uint32_t *make_indices(struct test *t, const struct rows_case *c)
{
    static const uint32_t none[] = { UINT32_MAX, UINT32_MAX - 1, 0x80000000u };
    uint32_t             *index = test_alloc((c->count + c->n_rows) * sizeof *index);
    for (size_t i = 0; i < c->count + c->n_rows; i++)
        index[i] = c->distinct ? (uint32_t) i : c->n_rows ? (uint32_t) test_below(t, c->n_rows) : 0;
    for (size_t i = c->n_rows; c->distinct && i > 1; i--) {
        const size_t   other = test_below(t, i);
        const uint32_t was = index[i - 1];
        index[i - 1] = index[other];
        index[other] = was;
    }
    for (size_t i = 0; c->outside && i < c->count; i++)
        if (test_below(t, 5) == 0)
            index[i] = test_below(t, 2) ? none[test_below(t, 3)] : (uint32_t) c->n_rows;
    return index;
}

static ordo_status call_rows(struct test *t, const struct rows_case *c, struct ordo_slice in, struct ordo_slice index,
                             struct ordo_slice out)
{
    const struct ordo_gather_params  gather = { (uint32_t) c->bytes };
    const struct ordo_scatter_params scatter = { (uint32_t) c->bytes, c->distinct };
    if (c->scatter)
        return ordo_scatter(t->dev, &scatter, in, index, c->count, out, c->n_rows, NULL);
    return ordo_gather(t->dev, &gather, in, c->n_rows, index, c->count, out, NULL);
}

static ordo_status call_rows_host(struct test *t, const struct rows_case *c, const void *in, const uint32_t *index,
                                  void *out)
{
    const struct ordo_gather_params  gather = { (uint32_t) c->bytes };
    const struct ordo_scatter_params scatter = { (uint32_t) c->bytes, c->distinct };
    if (c->scatter)
        return ordo_scatter_host(t->dev, &scatter, in, index, c->count, out, c->n_rows);
    return ordo_gather_host(t->dev, &gather, in, c->n_rows, index, c->count, out);
}

static void try_rows(struct test *t, const struct rows_case *c)
{
    const size_t        n_in = c->scatter ? c->count : c->n_rows, n_out = c->scatter ? c->n_rows : c->count;
    AUTO_FREE uint8_t  *in = test_alloc(n_in * c->bytes), *want = test_alloc(n_out * c->bytes);
    AUTO_FREE uint8_t  *got = test_alloc(n_out * c->bytes);
    AUTO_FREE uint32_t *index = make_indices(t, c);
    test_random_bytes(t, in, n_in * c->bytes);
    memset(want, TEST_EMPTY, n_out * c->bytes);
    memset(got, TEST_EMPTY, n_out * c->bytes);
    rows_on_host(c, in, index, want);
    AUTO_ARRAY struct test_array in_on = test_upload(t, in, n_in, c->bytes, test_below(t, 6));
    AUTO_ARRAY struct test_array index_on = test_upload(t, index, c->count, sizeof *index, test_below(t, 6));
    AUTO_ARRAY struct test_array out_on = test_upload(t, NULL, n_out, c->bytes, test_below(t, 6));

    test_context(t, "%s%s of %zu rows of %zu bytes, %zu rows in the table, from %zu to %zu",
                 c->distinct ? "distinct " : "", c->scatter ? "scatter" : "gather", c->count, c->bytes, c->n_rows,
                 in_on.at, out_on.at);
    test_ok(t, call_rows(t, c, test_slice(&in_on), test_slice(&index_on), test_slice(&out_on)));
    test_expect(t, ORDO_U32, &out_on, want, n_out);
    test_ok(t, call_rows_host(t, c, in, index, got));
    test_same_bytes(t, "rows out of host arrays", got, want, n_out * c->bytes);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void try_ways(struct test *t, size_t bytes, size_t count, size_t n_rows)
{
    struct rows_case c = { .count = count, .n_rows = n_rows, .bytes = bytes, .outside = test_below(t, 2) };
    try_rows(t, &c);
    c.scatter = true;
    try_rows(t, &c);
    c.distinct = count <= n_rows;
    if (c.distinct)
        try_rows(t, &c);
}

MASK_TEST(rows, of_every_size_go_where_they_belong, "", "cpu=0")
{
    static const size_t bytes[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 48, 100, 256, 1000, 4096 };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        try_ways(t, bytes[i], 1 + test_below(t, 40000 / bytes[i]), 1 + test_below(t, 40000 / bytes[i]));
    try_ways(t, 300000, 3, 2);
}

MOST_MASKS_TEST(rows, are_moved_at_every_seam_on_every_device_and_mask)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = test_seams(256, 2048, counts);
    for (size_t i = 0; i < n; i++) {
        try_ways(t, 4, counts[i], 1 + test_below(t, 5000));
        try_ways(t, 12, counts[i], counts[i] + test_below(t, 3));
    }
    try_ways(t, 8, 5, 0); /* every index is outside */
    try_ways(t, 8, 300007, 300007);
}

DEVICE_TEST(rows, refuses_bad_arguments)
{
    const struct ordo_gather_params gather = { 4 }, none = { 0 }, huge = { ORDO_MAX_ROW_BYTES + 1 }, wide = { 400 };
    AUTO_ARRAY struct test_array    in = test_upload(t, NULL, 100, 4, 0), index = test_upload(t, NULL, 100, 4, 0);
    AUTO_ARRAY struct test_array    out = test_upload(t, NULL, 100, 4, 0);
    const struct ordo_slice         i = test_slice(&in), x = test_slice(&index), o = test_slice(&out);
    uint32_t                        words[2] = { 0 };
    test_context(t, "bad arguments");
    test_status(t, ordo_gather(t->dev, &none, i, 100, x, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_gather(t->dev, &huge, i, 100, x, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_gather(t->dev, &wide, i, 1, x, 1, o, NULL), ORDO_OK);
    test_status(t, ordo_gather(t->dev, &wide, i, 2, x, 1, o, NULL), ORDO_INVALID);
    test_status(t, ordo_gather(t->dev, &wide, i, 1, x, 2, o, NULL), ORDO_INVALID);
    test_status(t, ordo_gather(t->dev, &gather, i, 100, x, 100, i, NULL), ORDO_INVALID);
    test_status(t, ordo_scatter(t->dev, ordo_scatter_params(.row_bytes = 0), i, x, 1, o, 1, NULL), ORDO_INVALID);
    test_status(t, ordo_scatter(t->dev, ordo_scatter_params(.row_bytes = 4), i, x, 100, x, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_gather_host(t->dev, &none, words, 1, words, 1, words), ORDO_INVALID);
    test_status(t, ordo_scatter_host(t->dev, ordo_scatter_params(.row_bytes = 0), words, words, 1, words, 1),
                ORDO_INVALID);
}
