/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of strings, compared with a sorted list on the host. Also checks the invariants S1 to S3 of
 * cl/shared/string_index.h. */
#include "tests/primitive/string_model.h"

#include "primitive/string_index.h"
#include "shared/string_partial.h"
#include "shared/strings.h"

#include <stdio.h>

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Adds a string of the column, perhaps shortened, extended, or with another byte. */
static void add_query(struct test *t, struct string_case *q, const struct string_case *c)
{
    const size_t   row = test_below(t, c->count), length = string_length(c, row);
    const uint64_t kind = test_below(t, 8);
    const size_t   cut = kind == 0 ? test_below(t, length + 1) : length, more = kind == 1 ? 1 + test_below(t, 3) : 0;
    uint8_t       *to = string_add(q, cut + more);
    memcpy(to, test_string_at(c, row), cut);
    test_random_bytes(t, to + cut, more);
    if (kind == 2 && more)
        memset(to + cut, 0, more);
    if ((kind == 3 || kind == 4) && cut)
        to[test_below(t, cut)] ^= (uint8_t) (1u << test_below(t, 8));
    if (kind == 5 && cut)
        to[cut - 1]++;
}

static struct string_case make_queries(struct test *t, const struct string_case *c, enum string_shape shape, size_t n)
{
    struct string_case q = string_make_column(t, shape, 1 + test_below(t, 3));
    string_add(&q, 0);
    while (q.count < n)
        if (c->count && test_below(t, 6))
            add_query(t, &q, c);
        else
            string_add_shape(t, &q, shape);
    return q;
}

/* ---- one index --------------------------------------------------------------------------------------------------- */

/* A column, its index, and queries, each in host and device memory. */
struct trial {
    struct test                 *t;
    const struct sorted_strings *s;
    const struct string_case    *q;
    ordo_string_index           *index;
    bool                         keep_rows;
    struct ordo_host_strings     host; /* the queries */
    struct ordo_strings          queries;
};

static struct ordo_strings strings_of(const struct test_array *offsets, const struct test_array *bytes,
                                      const struct string_case *c)
{
    return (struct ordo_strings) { .offsets = test_slice(offsets),
                                   .offset_bytes = (uint32_t) offsets->bytes,
                                   .bytes = test_slice(bytes),
                                   .n_bytes = c->n_bytes,
                                   .count = c->count };
}

static void try_search(const struct trial *r, ordo_string_search search)
{
    struct test                 *t = r->t;
    const size_t                 n = r->q->count;
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *want = test_alloc(n * 4), *got = test_alloc(n * 4);
    for (size_t i = 0; i < n; i++)
        want[i] = model_string_search(r->s, search, r->q, i);
    test_ok(t, ordo_string_index_search(r->index, search, &r->queries, test_slice(&out), NULL));
    test_expect(t, ORDO_U32, &out, want, n);
    test_ok(t, ordo_string_index_search_host(r->index, search, &r->host, got));
    test_same(t, "ids", ORDO_U32, got, want, n);
}

static void try_prefixes(const struct trial *r)
{
    struct test                 *t = r->t;
    const size_t                 n = r->q->count;
    const bool                   both = test_below(t, 4) > 0;
    AUTO_ARRAY struct test_array first = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array counts = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *from = test_alloc(n * 4), *number = test_alloc(n * 4), *got = test_alloc(n * 4);
    for (size_t i = 0; i < n; i++) {
        from[i] = model_string_bound(r->s, r->q, i, false);
        number[i] = 0;
        while (from[i] + number[i] < r->s->ids && string_begins(r->s, from[i] + number[i], r->q, i, false))
            number[i]++;
    }
    test_ok(t, ordo_string_index_prefix(r->index, &r->queries, both ? test_slice(&first) : ordo_none(),
                                        test_slice(&counts), NULL));
    if (both)
        test_expect(t, ORDO_U32, &first, from, n);
    test_expect(t, ORDO_U32, &counts, number, n);
    test_ok(t, ordo_string_index_prefix_host(r->index, &r->host, got, NULL));
    test_same(t, "first", ORDO_U32, got, from, n);
}

/* Ranges from each query to the next one. */
static void try_ranges(const struct trial *r)
{
    struct test                 *t = r->t;
    const size_t                 n = r->q->count - 1, wide = r->queries.offset_bytes;
    AUTO_ARRAY struct test_array first = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array counts = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *from = test_alloc(n * 4), *number = test_alloc(n * 4), *got = test_alloc(n * 4);
    struct ordo_strings          lo = r->queries, hi = r->queries;
    struct ordo_host_strings     host_lo = r->host, host_hi = r->host;
    for (size_t i = 0; i < n; i++) {
        const uint32_t to = model_string_bound(r->s, r->q, i + 1, true);
        from[i] = model_string_bound(r->s, r->q, i, false);
        number[i] = to > from[i] ? to - from[i] : 0;
    }
    lo.count = hi.count = host_lo.count = host_hi.count = n;
    hi.offsets.at++;
    host_hi.offsets = (const char *) host_hi.offsets + wide;
    test_ok(t, ordo_string_index_range(r->index, &lo, &hi, test_slice(&first), test_slice(&counts), NULL));
    test_expect(t, ORDO_U32, &first, from, n);
    test_expect(t, ORDO_U32, &counts, number, n);
    test_ok(t, ordo_string_index_range_host(r->index, &host_lo, &host_hi, NULL, got));
    test_same(t, "counts", ORDO_U32, got, number, n);
}

static void try_common(const struct trial *r)
{
    struct test                 *t = r->t;
    const size_t                 n = r->q->count, most = n < 40 ? n : 40;
    const bool                   all = test_below(t, 4) > 0;
    struct ordo_strings          queries = r->queries;
    struct ordo_host_strings     host = r->host;
    AUTO_ARRAY struct test_array lengths = test_upload(t, NULL, most, 8, test_below(t, 4));
    AUTO_ARRAY struct test_array first = test_upload(t, NULL, most, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array counts = test_upload(t, NULL, most, 4, test_below(t, 4));
    uint32_t                     from[40], number[40], got[40];
    uint64_t                     same[40], got_same[40];
    for (size_t i = 0; i < most; i++)
        same[i] = model_string_common(r->s, r->q, i, &from[i], &number[i]);
    queries.count = host.count = most;
    test_ok(t,
            ordo_string_index_common(r->index, &queries, test_slice(&lengths), all ? test_slice(&first) : ordo_none(),
                                     all ? test_slice(&counts) : ordo_none(), NULL));
    test_expect(t, ORDO_U64, &lengths, same, most);
    if (all) {
        test_expect(t, ORDO_U32, &first, from, most);
        test_expect(t, ORDO_U32, &counts, number, most);
    }
    test_ok(t, ordo_string_index_common_host(r->index, &host, NULL, got, NULL));
    test_same(t, "first", ORDO_U32, got, from, most);
    test_ok(t, ordo_string_index_common_host(r->index, &host, got_same, NULL, got));
    test_same(t, "lengths", ORDO_U64, got_same, same, most);
    test_same(t, "counts", ORDO_U32, got, number, most);
}

static void try_rows(const struct trial *r)
{
    struct test                 *t = r->t;
    const struct sorted_strings *s = r->s;
    const size_t                 n = r->keep_rows ? s->c->count : s->ids;
    AUTO_ARRAY struct test_array starts = test_upload(t, NULL, s->ids + 1, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array rows = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *want = test_alloc(((size_t) s->ids + 1) * 4), *first = test_alloc(n * 4 + 4);
    for (uint32_t id = 0; id <= s->ids; id++) {
        want[id] = r->keep_rows ? s->starts[id] : id;
        if (id < s->ids)
            first[id] = s->rows[s->starts[id]];
    }
    test_ok(t, ordo_string_index_rows(r->index, test_slice(&starts), test_slice(&rows), n, NULL));
    test_expect(t, ORDO_U32, &starts, want, s->ids + 1);
    test_expect(t, ORDO_U32, &rows, r->keep_rows ? s->rows : first, n);
    AUTO_FREE uint32_t *got = test_alloc(n * 4 + 4);
    if (n == 0)
        return;
    test_status(t, ordo_string_index_rows(r->index, ordo_none(), test_slice(&rows), n - 1, NULL), ORDO_TOO_SMALL);
    test_ok(t, ordo_string_index_rows_host(r->index, NULL, got, n));
    test_same(t, "rows", ORDO_U32, got, r->keep_rows ? s->rows : first, n);
}

/* Returns random ids, in a column of their strings. */
static void try_strings(const struct trial *r)
{
    struct test                   *t = r->t;
    const struct sorted_strings   *s = r->s;
    AUTO_COLUMN struct string_case want = { .count = 0 };
    const size_t                   n = s->ids ? 1 + test_below(t, 300) : 0;
    AUTO_FREE uint32_t            *ids = test_alloc((n + 1) * 4);
    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t) test_below(t, s->ids);
        const uint32_t row = s->rows[s->starts[ids[i]]];
        string_add_text(&want, (const char *) test_string_at(s->c, row), string_length(s->c, row));
    }
    size_t                       needed = 7;
    const uint64_t               none = 0;
    const uint64_t *const        want_offsets = n ? want.offsets : &none;
    AUTO_ARRAY struct test_array of = test_upload(t, ids, n, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array offsets = test_upload(t, NULL, n + 1, 8, test_below(t, 4));
    AUTO_ARRAY struct test_array bytes = test_upload(t, NULL, want.n_bytes, 1, test_below(t, 20));
    AUTO_FREE uint8_t           *got = test_alloc(want.n_bytes + 1);
    AUTO_FREE uint64_t          *got_offsets = test_alloc((n + 1) * 8);
    if (want.n_bytes) {
        test_status(t,
                    ordo_string_index_strings(r->index, test_slice(&of), n, test_slice(&offsets), test_slice(&bytes),
                                              want.n_bytes - 1, &needed, NULL),
                    ORDO_TOO_SMALL);
        test_true(t, needed == want.n_bytes);
    }
    test_ok(t, ordo_string_index_strings(r->index, test_slice(&of), n, test_slice(&offsets), test_slice(&bytes),
                                         want.n_bytes, NULL, NULL));
    test_expect(t, ORDO_U64, &offsets, want_offsets, n + 1);
    test_expect(t, ORDO_U32, &bytes, want.bytes, want.n_bytes);
    test_ok(t, ordo_string_index_strings_host(r->index, ids, n, got_offsets, got, want.n_bytes, &needed));
    test_true(t, needed == want.n_bytes);
    test_same(t, "offsets", ORDO_U64, got_offsets, want_offsets, n + 1);
    test_same_bytes(t, "bytes", got, want.bytes, want.n_bytes);
}

/* ---- invariants -------------------------------------------------------------------------------------------------- */

/* The position where two different strings differ first. */
static uint32_t first_apart(const struct string_case *c, uint32_t a, uint32_t b)
{
    const size_t a_length = string_length(c, a), b_length = string_length(c, b);
    size_t       same = 0;
    while (same < a_length && same < b_length && test_string_at(c, a)[same] == test_string_at(c, b)[same])
        same++;
    if (same == a_length || same == b_length)
        return (uint32_t) same << 4;
    uint32_t bit = 1;
    while (((test_string_at(c, a)[same] ^ test_string_at(c, b)[same]) >> (8 - bit) & 1) == 0)
        bit++;
    return (uint32_t) same << 4 | bit;
}

/* Returns the number of tests in the subtree of test i. */
static size_t subtree(const uint32_t *tests, size_t n, size_t i)
{
    size_t from = i, to = i + 1;
    while (from > 0 && tests[from - 1] > tests[i])
        from--;
    while (to < n && tests[to] > tests[i])
        to++;
    return to - from;
}

/* S2 and S3, for the level above `level`, whose tests and cuts are given. */
static void check_above(struct test *t, const uint32_t *tests, size_t n, const uint32_t *above, const uint32_t *cuts,
                        size_t n_above)
{
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (subtree(tests, n, i) < STRING_NODE)
            continue;
        test_true(t, next < n_above && cuts[next] == i && above[next] == tests[i]); /* S2 */
        test_true(t, i - (next ? cuts[next - 1] + 1 : 0) < STRING_NODE);            /* S3 */
        next++;
    }
    test_true(t, next == n_above);
    test_true(t, n - (next ? cuts[next - 1] + 1 : 0) < STRING_NODE); /* S3 */
}

/* Collects the branches below branch `at` in the order of their cuts, and checks that children are greater tests. */
static void list_branches(struct test *t, const string_branch *branch, uint32_t at, size_t n, uint32_t *tests,
                          uint32_t *cuts, size_t *listed)
{
    const string_branch b = branch[at];
    test_true(t, at < n && b.right < n);
    if (b.left) {
        test_true(t, branch[at + 1].position > b.position);
        list_branches(t, branch, at + 1, n, tests, cuts, listed);
    }
    tests[*listed] = b.position;
    cuts[(*listed)++] = b.cut;
    if (b.right) {
        test_true(t, branch[b.right].position > b.position);
        list_branches(t, branch, b.right, n, tests, cuts, listed);
    }
}

static void check_index(struct test *t, const struct ordo_string_index *x, const struct sorted_strings *s)
{
    struct ordo_string_index_statistics stats;
    test_ok(t, ordo_string_index_get_statistics(x, &stats));
    test_true(t, stats.ids == s->ids && stats.rows == s->c->count && stats.levels == x->levels);
    test_true(t, stats.ids <= stats.compared && stats.compared <= stats.candidates);
    if (x->partial || s->ids == 0)
        return;
    test_true(t, stats.candidates == stats.ids);
    size_t bytes = 0;
    cr_assert(clGetMemObjectInfo(x->words, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS);
    AUTO_FREE uint32_t *words = test_alloc(bytes);
    cr_assert(clEnqueueReadBuffer(ordo_device_queue(t->dev), x->words, CL_TRUE, 0, bytes, words, 0, NULL, NULL) ==
              CL_SUCCESS);
    const string_head  *head = (const void *) words;
    const string_level *level = head->level;
    test_true(t, level[0].count == s->ids - 1 && head->levels >= 1 && head->n_branches == stats.branches);
    for (uint32_t i = 0; i + 1 < s->ids; i++) /* S1 */
        test_true(t, words[level[0].tests + i] == first_apart(s->c, s->rows[s->starts[i]], s->rows[s->starts[i + 1]]));
    for (uint32_t k = 1; k < head->levels; k++)
        check_above(t, words + level[k - 1].tests, level[k - 1].count, words + level[k].tests, words + level[k].cuts,
                    level[k].count);
    const string_level *last = &level[head->levels - 1];
    AUTO_FREE uint32_t *tests = test_alloc(head->n_branches * 4 + 4), *cuts = test_alloc(head->n_branches * 4 + 4);
    size_t              listed = 0;
    if (head->n_branches)
        list_branches(t, (const void *) (words + head->branches), 0, head->n_branches, tests, cuts, &listed);
    test_true(t, listed == head->n_branches);
    check_above(t, words + last->tests, last->count, tests, cuts, listed);
}

/* ---- all calls on one index -------------------------------------------------------------------------------------- */

static void try_index(struct test *t, const struct sorted_strings *s, const struct string_case *q,
                      ordo_string_index *index, bool keep_rows)
{
    const uint32_t               wide = test_below(t, 2) ? 4 : 8;
    AUTO_FREE void              *offsets = string_offsets(q, wide);
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, q->count + 1, wide, test_below(t, 4));
    AUTO_ARRAY struct test_array on_bytes = test_upload(t, q->bytes, q->n_bytes, 1, test_below(t, 20));
    const struct trial           r = { .t = t,
                                       .s = s,
                                       .q = q,
                                       .index = index,
                                       .keep_rows = keep_rows,
                                       .host = { offsets, wide, q->bytes, q->n_bytes, q->count },
                                       .queries = strings_of(&on_offsets, &on_bytes, q) };
    check_index(t, index, s);
    for (int search = ORDO_STRING_FIND; search <= ORDO_STRING_LONGEST_PREFIX; search++)
        try_search(&r, (ordo_string_search) search);
    try_prefixes(&r);
    try_ranges(&r);
    try_common(&r);
    try_rows(&r);
    try_strings(&r);
}

/* A column with the sorted strings of another one. */
static struct string_case in_order(const struct sorted_strings *s)
{
    struct string_case c = { .count = 0 };
    for (size_t i = 0; i < s->c->count; i++)
        string_add_text(&c, (const char *) test_string_at(s->c, s->rows[i]), string_length(s->c, s->rows[i]));
    return c;
}

/* Builds an index of a column in device or host memory, and tries it. */
static void try_build(struct test *t, const char *name, const struct string_case *c, const struct string_case *q,
                      bool is_sorted, const struct ordo_string_partial *partial)
{
    const struct ordo_string_index_params params = { is_sorted, test_below(t, 2), *partial };
    const bool                            on_host = test_below(t, 3) == 0;
    const uint32_t                        wide = test_below(t, 2) ? 4 : 8;
    AUTO_SORTED struct sorted_strings     s = sort_strings_of(c);
    AUTO_FREE void                       *offsets = string_offsets(c, wide);
    AUTO_ARRAY struct test_array          on_offsets = test_upload(t, offsets, c->count + 1, wide, test_below(t, 4));
    AUTO_ARRAY struct test_array          on_bytes = test_upload(t, c->bytes, c->n_bytes, 1, test_below(t, 20));
    const struct ordo_strings             column = strings_of(&on_offsets, &on_bytes, c);
    const struct ordo_host_strings        host = { offsets, wide, c->bytes, c->n_bytes, c->count };
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
    test_context(t, "%s: %zu strings of %zu bytes, %s, %s, offsets of %u, rows %s, partial keys %u/%u/%u/%d", name,
                 c->count, c->n_bytes, is_sorted ? "sorted" : "unsorted", on_host ? "on the host" : "on the device",
                 wide, params.keep_rows ? "kept" : "not kept", partial->key_bytes, partial->page_keys,
                 partial->nibble_bits, (int) partial->prefix);
    if (on_host)
        test_ok(t, ordo_string_index_build_host(t->dev, &params, &host, &index));
    else
        test_ok(t, ordo_string_index_build(t->dev, &params, &column, NULL, &index));
    try_index(t, &s, q, index, params.keep_rows);
}

static struct ordo_string_partial any_partial(struct test *t)
{
    static const uint32_t pages[] = { 0, 4, 5, 15, 16, 64, 255, PARTIAL_PAGE_MAX };
    static const uint32_t bytes[] = { 4, 4, 8, 12, 16, 20, 64, PARTIAL_KEY_BYTES_MAX };
    static const uint32_t bits[] = { 0, 1, 2, 4, 8 };
    return (struct ordo_string_partial) { bytes[test_below(t, LENGTH(bytes))], pages[test_below(t, LENGTH(pages))],
                                          bits[test_below(t, LENGTH(bits))], (ordo_string_prefix) test_below(t, 3) };
}

static void try_column(struct test *t, const char *name, const struct string_case *c, const struct string_case *q)
{
    const struct ordo_string_partial  none = { 0 }, first = any_partial(t), second = any_partial(t);
    AUTO_SORTED struct sorted_strings s = sort_strings_of(c);
    AUTO_COLUMN struct string_case    sorted = in_order(&s);
    try_build(t, name, c, q, false, &none);
    try_build(t, name, c, q, false, &first);
    if (sorted.count == 0)
        return;
    try_build(t, name, &sorted, q, true, &none);
    try_build(t, name, &sorted, q, true, &second);
}

static void try_shape(struct test *t, enum string_shape shape, size_t count, size_t n_queries)
{
    AUTO_COLUMN struct string_case c = string_make_column(t, shape, count);
    AUTO_COLUMN struct string_case q = make_queries(t, &c, shape, n_queries);
    try_column(t, string_shape_name[shape], &c, &q);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

MASK_TEST(string_index, agrees_with_the_model_for_every_shape, "", "cpu=0")
{
    for (int shape = 0; shape < N_SHAPES; shape++) {
        try_shape(t, (enum string_shape) shape, 1 + test_below(t, 60), 100);
        try_shape(t, (enum string_shape) shape, 1000 + test_below(t, 4000), 400);
    }
}

MOST_MASKS_TEST(string_index, agrees_with_the_model_at_every_size)
{
    static const size_t counts[] = { 0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097 };
    for (size_t i = 0; i < LENGTH(counts); i++)
        try_shape(t, (enum string_shape)((i + t->seed) % N_SHAPES), counts[i], 4 + test_below(t, 300));
}

/* Teams of every width. The column of a chain has branches, and the one of random strings many levels. */
DEVICE_TEST(string_index, agrees_with_the_model_for_every_team)
{
    static const uint32_t lanes[] = { 2, 4, 8, 16 };
    for (size_t i = 0; i < LENGTH(lanes); i++) {
        test_ok(t, ordo_device_set_tunable(t->dev, "strings.lanes", lanes[i]));
        for (int shape = 0; shape < N_SHAPES; shape++)
            try_shape(t, (enum string_shape) shape, 1 + test_below(t, 3000), 1 + test_below(t, 400));
    }
    test_ok(t, ordo_device_set_tunable(t->dev, "strings.lanes", 1));
}

/* Longer strings than a launch of the build compares, and many that are prefixes of others. */
MASK_TEST(string_index, of_strings_longer_than_64_KiB, "", "cpu=0")
{
    static const size_t lengths[] = { STRINGS_PREFIX_MAX - 1, STRINGS_PREFIX_MAX, STRINGS_PREFIX_MAX + 1, 200001 };
    AUTO_COLUMN struct string_case c = { .count = 0 }, q = { .count = 0 };
    for (size_t i = 0; i < LENGTH(lengths); i++)
        for (size_t copy = 0; copy < 3; copy++) {
            string_add_long(&c, lengths[i], SIZE_MAX, 0);
            string_add_long(&c, lengths[i], lengths[i] - 1 - copy, 0);
            string_add_long(&c, lengths[i], STRINGS_PREFIX_MAX - copy, 0xff);
            string_add_long(&q, lengths[i], lengths[i] - 2, (uint8_t) (100 + copy));
            string_add_long(&q, lengths[i] + copy, SIZE_MAX, 0);
        }
    try_column(t, "long strings", &c, &q);
}

/* A chain of prefixes among random strings, so that the index has levels and branches. */
MASK_TEST(string_index, of_a_chain_among_other_strings, "", "cpu=0")
{
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (size_t i = 0; i < 6000; i++)
        if (i % 4)
            string_add_shape(t, &c, RANDOM);
        else
            string_add_long(&c, i / 4, SIZE_MAX, 0);
    AUTO_COLUMN struct string_case q = make_queries(t, &c, RANDOM, 300);
    for (size_t i = 0; i < 50; i++)
        string_add_long(&q, test_below(t, 1700), test_below(t, 1700), 'm');
    try_column(t, "a chain among others", &c, &q);
}

/* Descending tests: each string differs from the next one earlier than any before. */
MASK_TEST(string_index, of_strings_that_differ_ever_earlier, "")
{
    AUTO_COLUMN struct string_case c = { .count = 0 }, q = { .count = 0 };
    for (size_t i = 0; i < 500; i++) {
        string_add_long(&c, 500, 499 - i, 'm');
        string_add_long(&q, 500, test_below(t, 500), (uint8_t) ('k' + test_below(t, 4)));
    }
    try_column(t, "ever earlier", &c, &q);
}

/* The README's bytes per id: 4 bytes in level 0, and less than 1.5 above it. */
MASK_TEST(string_index, takes_few_bytes_per_string, "")
{
    static const enum string_shape shapes[] = { RANDOM, PATHS, FEW_VALUES };
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        AUTO_COLUMN struct string_case                     c = string_make_column(t, shapes[i], 20000);
        const struct ordo_host_strings                     host = { c.offsets, 8, c.bytes, c.n_bytes, c.count };
        AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
        struct ordo_string_index_statistics                stats;
        test_context(t, "%s", string_shape_name[shapes[i]]);
        test_ok(t, ordo_string_index_build_host(t->dev, ordo_string_index_params(0), &host, &index));
        test_ok(t, ordo_string_index_get_statistics(index, &stats));
        fprintf(stderr, "%s: %zu ids, %.2f bytes each, %u levels, %zu branches\n", string_shape_name[shapes[i]],
                stats.ids, (double) stats.bytes / (double) stats.ids, stats.levels, stats.branches);
        test_true(t, stats.bytes < 10 * stats.ids + 1000);
    }
}

/* Scratch of a build, none of a search, and all freed in the end. */
DEVICE_TEST(string_index, takes_the_memory_that_the_header_states)
{
    AUTO_COLUMN struct string_case    c = string_make_column(t, PATHS, 100000);
    AUTO_SORTED struct sorted_strings s = sort_strings_of(&c);
    AUTO_COLUMN struct string_case    sorted = in_order(&s);
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        const struct string_case    *of = is_sorted ? &sorted : &c;
        AUTO_ARRAY struct test_array offsets = test_upload(t, of->offsets, of->count + 1, 8, 0);
        AUTO_ARRAY struct test_array bytes = test_upload(t, of->bytes, of->n_bytes, 1, 0);
        AUTO_ARRAY struct test_array ids = test_upload(t, NULL, of->count, 4, 0);
        const struct ordo_strings    column = strings_of(&offsets, &bytes, of);
        ordo_string_index           *index = NULL;
        struct ordo_memory           before, built, searched, after;
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_device_memory(t->dev, &before));
        test_ok(t,
                ordo_string_index_build(t->dev, ordo_string_index_params(.sorted = is_sorted), &column, NULL, &index));
        test_ok(t, ordo_device_memory(t->dev, &built));
        test_ok(t, ordo_device_trim(t->dev));
        for (int search = ORDO_STRING_FIND; search <= ORDO_STRING_LONGEST_PREFIX; search++)
            test_ok(t, ordo_string_index_search(index, (ordo_string_search) search, &column, test_slice(&ids), NULL));
        test_ok(t, ordo_string_index_common(index, &column, ordo_none(), test_slice(&ids), ordo_none(), NULL));
        test_ok(t, ordo_device_memory(t->dev, &searched));
        ordo_string_index_destroy(&index);
        test_ok(t, ordo_device_memory(t->dev, &after));
        test_context(t, "%s: %zu rows, %llu bytes of scratch", is_sorted ? "sorted" : "unsorted", of->count,
                     (unsigned long long) built.scratch_peak_bytes);
        test_true(t, built.scratch_peak_bytes <= (is_sorted ? 24 : 64) * of->count + (4 << 20));
        test_true(t, searched.scratch_peak_bytes == 0);
        test_true(t, after.held_bytes == before.held_bytes && after.buffers == before.buffers);
    }
}
