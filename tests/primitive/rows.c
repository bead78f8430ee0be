/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any size, gathered and scattered. */
#include "array_case.h"

/* One call of a test. */
struct rows_case {
    size_t count, n_rows;
    size_t bytes;
    bool   scatter;
    bool   distinct; /* no index twice, and params say so */
    bool   outside;  /* some indices have no row */
};

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

static void try_rows(struct test *t, const struct rows_case *r)
{
    struct given g = array_given(t, ORDO_U32, 0, r->count);

    g.row_bytes = (uint32_t) r->bytes;
    g.distinct = r->distinct;
    g.second = r->n_rows;
    AUTO(array_case_free) struct array_case c = array_case(t, r->scatter ? "ordo_scatter" : "ordo_gather", &g);
    AUTO_FREE uint32_t                     *index = make_indices(t, r);
    memcpy(c.host[1], index, r->count * sizeof *index);
    array_case_check(&c);
    array_case_check_host(&c);
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
    const struct ordo_gather_params none = { 0 }, huge = { ORDO_MAX_ROW_BYTES + 1 }, wide = { 400 };
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
    test_status(t, ordo_scatter(t->dev, ordo_scatter_params(.row_bytes = 0), i, x, 1, o, 1, NULL), ORDO_INVALID);
    test_status(t, ordo_gather_host(t->dev, &none, words, 1, words, 1, words), ORDO_INVALID);
    test_status(t, ordo_scatter_host(t->dev, ordo_scatter_params(.row_bytes = 0), words, words, 1, words, 1),
                ORDO_INVALID);
}
