/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of strings, compared with a sorted list on the host. */
#include "tests/primitive/string_case.h"

#include "dict/strings/string_dict.h"
#include "runtime/internal.h"

#include <stdio.h>

/* ---- the model --------------------------------------------------------------------------------------------------- */

struct entry {
    uint8_t *bytes;
    size_t   length;
    uint64_t value;
};

/* Entries in ascending order. */
struct model {
    struct entry *at;
    size_t        n, room;
};

static void model_clear(struct model *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->at[i].bytes);
    m->n = 0;
}

static void model_free(struct model *m)
{
    model_clear(m);
    free(m->at);
}
#define AUTO_MODEL AUTO(model_free)

static const uint8_t *row_bytes(const struct string_case *c, size_t row)
{
    return c->bytes + c->offsets[row];
}

static int compare(const struct entry *e, const uint8_t *bytes, size_t length)
{
    const size_t least = e->length < length ? e->length : length;
    const int    order = least ? memcmp(e->bytes, bytes, least) : 0;
    return order ? order : e->length < length ? -1 : e->length > length;
}

/* Returns the number of entries less than row i, or if `upper`, less or equal. */
static size_t model_bound(const struct model *m, const struct string_case *c, size_t i, bool upper)
{
    size_t from = 0, to = m->n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (compare(&m->at[middle], row_bytes(c, i), string_length(c, i)) < (int) upper)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool model_has(const struct model *m, const struct string_case *c, size_t i, size_t *at)
{
    *at = model_bound(m, c, i, false);
    return *at < m->n && compare(&m->at[*at], row_bytes(c, i), string_length(c, i)) == 0;
}

static void model_upsert(struct model *m, const struct string_case *c, const uint64_t *values)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t at = 0;
        if (!model_has(m, c, i, &at)) {
            if (m->n == m->room) {
                m->room = 2 * m->room + 64;
                m->at = realloc(m->at, m->room * sizeof *m->at);
                cr_assert(m->at != NULL);
            }
            memmove(m->at + at + 1, m->at + at, (m->n++ - at) * sizeof *m->at);
            m->at[at] = (struct entry) { test_alloc(string_length(c, i)), string_length(c, i), 0 };
            memcpy(m->at[at].bytes, row_bytes(c, i), string_length(c, i));
        }
        m->at[at].value = values[i];
    }
}

static void model_erase(struct model *m, const struct string_case *c)
{
    for (size_t i = 0, at = 0; i < c->count; i++)
        if (model_has(m, c, i, &at)) {
            free(m->at[at].bytes);
            memmove(m->at + at, m->at + at + 1, (--m->n - at) * sizeof *m->at);
        }
}

static uint32_t model_search(const struct model *m, ordo_string_search search, const struct string_case *q, size_t i)
{
    const uint32_t lower = (uint32_t) model_bound(m, q, i, false), upper = (uint32_t) model_bound(m, q, i, true);
    switch (search) {
    case ORDO_STRING_FIND:
        return lower < upper ? lower : ORDO_NO_ID;
    case ORDO_STRING_LT:
        return lower ? lower - 1 : ORDO_NO_ID;
    case ORDO_STRING_LE:
        return upper ? upper - 1 : ORDO_NO_ID;
    case ORDO_STRING_GE:
        return lower < m->n ? lower : ORDO_NO_ID;
    case ORDO_STRING_GT:
        return upper < m->n ? upper : ORDO_NO_ID;
    case ORDO_STRING_LOWER:
        return lower;
    default:
        return upper;
    }
}

static uint32_t model_prefixes(const struct model *m, const struct string_case *q, size_t i, size_t first)
{
    const size_t length = string_length(q, i);
    size_t       n = first;
    while (n < m->n && m->at[n].length >= length &&
           (length == 0 || memcmp(m->at[n].bytes, row_bytes(q, i), length) == 0))
        n++;
    return (uint32_t) (n - first);
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* A dictionary and its model. */
struct trial {
    struct test      *t;
    ordo_string_dict *dict;
    struct model      m;
    uint32_t          value_bytes;
};

/* A column in host and device memory. */
struct column {
    const struct string_case *c;
    void                     *wide_or_narrow;
    struct test_array         on_offsets, on_bytes;
    struct ordo_host_strings  host;
    struct ordo_strings       device;
};

static struct column column_of(struct test *t, const struct string_case *c)
{
    const uint32_t wide = test_below(t, 2) ? 4 : 8;
    struct column  k = { .c = c, .wide_or_narrow = string_offsets(c, wide) };
    k.on_offsets = test_upload(t, k.wide_or_narrow, c->count + 1, wide, test_below(t, 4));
    k.on_bytes = test_upload(t, c->bytes, c->n_bytes, 1, test_below(t, 20));
    k.host = (struct ordo_host_strings) { k.wide_or_narrow, wide, c->bytes, c->n_bytes, c->count };
    k.device = (struct ordo_strings) { test_slice(&k.on_offsets), wide, test_slice(&k.on_bytes), c->n_bytes, c->count };
    return k;
}

static void column_free(struct column *k)
{
    free(k->wide_or_narrow);
    test_free(&k->on_offsets);
    test_free(&k->on_bytes);
}
#define AUTO_BOTH AUTO(column_free)

/* Values as a call takes them: the low bytes of `values`. Without values, the buffer has 4 bytes for each. */
static void *narrow(const uint64_t *values, size_t count, uint32_t bytes)
{
    uint8_t *out = test_alloc(count * (bytes ? bytes : 4));
    memset(out, 0, count * (bytes ? bytes : 4));
    for (size_t i = 0; i < count && bytes; i++)
        memcpy(out + i * bytes, &values[i], bytes);
    return out;
}

static struct ordo_slice if_values(const struct trial *r, const struct test_array *values)
{
    return r->value_bytes ? test_slice(values) : ordo_none();
}

enum change { BUILD, UPSERT, ERASE };

static void change(struct trial *r, enum change kind, const struct string_case *c)
{
    struct test            *t = r->t;
    AUTO_BOTH struct column k = column_of(t, c);
    AUTO_FREE uint64_t     *values = test_alloc(c->count * 8);
    test_random_bytes(t, values, c->count * 8);
    AUTO_FREE void              *given = narrow(values, c->count, r->value_bytes);
    AUTO_ARRAY struct test_array on_device =
        test_upload(t, given, c->count, r->value_bytes ? r->value_bytes : 4, test_below(t, 4));
    const bool              host = test_below(t, 2);
    const struct ordo_slice v = if_values(r, &on_device);
    const void             *host_values = r->value_bytes ? given : NULL;
    if (kind == BUILD)
        model_clear(&r->m);
    if (kind == ERASE)
        model_erase(&r->m, c);
    else
        model_upsert(&r->m, c, values);
    switch (kind) {
    case BUILD:
        test_ok(t, host ? ordo_string_dict_build_host(r->dict, &k.host, host_values)
                        : ordo_string_dict_build(r->dict, &k.device, v, NULL));
        break;
    case UPSERT:
        test_ok(t, host ? ordo_string_dict_upsert_host(r->dict, &k.host, host_values)
                        : ordo_string_dict_upsert(r->dict, &k.device, v, NULL));
        break;
    case ERASE:
        test_ok(t, host ? ordo_string_dict_erase_host(r->dict, &k.host)
                        : ordo_string_dict_erase(r->dict, &k.device, NULL));
        break;
    }
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static void try_find(struct trial *r, const struct column *k)
{
    struct test                 *t = r->t;
    const size_t                 n = k->c->count, bytes = r->value_bytes;
    AUTO_FREE uint8_t           *found = test_alloc(n), *got_found = test_alloc(n);
    AUTO_FREE uint8_t           *want = test_alloc(n * 8), *got = test_alloc(n * 8);
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, n, bytes ? bytes : 4, test_below(t, 4));
    AUTO_ARRAY struct test_array on_found = test_upload(t, NULL, n, 1, test_below(t, 9));
    memset(want, TEST_EMPTY, n * 8);
    memset(got, TEST_EMPTY, n * 8);
    for (size_t i = 0, at = 0; i < n; i++) {
        found[i] = model_has(&r->m, k->c, i, &at);
        if (found[i])
            memcpy(want + i * bytes, &r->m.at[at].value, bytes);
    }
    test_ok(t, ordo_string_dict_find(r->dict, &k->device, if_values(r, &out), test_slice(&on_found), NULL));
    test_expect(t, ORDO_U32, &on_found, found, n);
    if (bytes)
        test_expect(t, bytes == 8 ? ORDO_U64 : ORDO_U32, &out, want, n);
    test_ok(t, ordo_string_dict_find_host(r->dict, &k->host, bytes ? got : NULL, test_below(t, 2) ? got_found : NULL));
    test_same_bytes(t, "values", got, want, n * bytes);
    test_ok(t, ordo_string_dict_find_host(r->dict, &k->host, NULL, got_found));
    test_same_bytes(t, "found", got_found, found, n);
}

static void try_search(struct trial *r, const struct column *k, ordo_string_search search)
{
    struct test                 *t = r->t;
    const size_t                 n = k->c->count;
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *want = test_alloc(n * 4), *got = test_alloc(n * 4);
    for (size_t i = 0; i < n; i++)
        want[i] = model_search(&r->m, search, k->c, i);
    test_ok(t, ordo_string_dict_search(r->dict, search, &k->device, test_slice(&out), NULL));
    test_expect(t, ORDO_U32, &out, want, n);
    test_ok(t, ordo_string_dict_search_host(r->dict, search, &k->host, got));
    test_same(t, "ranks", ORDO_U32, got, want, n);
}

/* Prefixes, and ranges from each query to the next one. */
static void try_ranges(struct trial *r, const struct column *k, bool prefix)
{
    struct test                 *t = r->t;
    const size_t                 n = k->c->count - !prefix;
    AUTO_ARRAY struct test_array first = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array counts = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *from = test_alloc(n * 4), *number = test_alloc(n * 4), *got = test_alloc(n * 4);
    const bool                   both = test_below(t, 3) > 0;
    const struct ordo_slice      first_out = both ? test_slice(&first) : ordo_none();
    struct ordo_strings          lo = k->device, hi = k->device;
    struct ordo_host_strings     host_lo = k->host, host_hi = k->host;
    for (size_t i = 0; i < n; i++) {
        from[i] = (uint32_t) model_bound(&r->m, k->c, i, false);
        const uint32_t to = prefix ? 0 : (uint32_t) model_bound(&r->m, k->c, i + 1, true);
        number[i] = prefix ? model_prefixes(&r->m, k->c, i, from[i]) : to > from[i] ? to - from[i] : 0;
    }
    lo.count = hi.count = host_lo.count = host_hi.count = n;
    hi.offsets.at++;
    host_hi.offsets = (const char *) host_hi.offsets + host_hi.offset_bytes;
    test_ok(t, prefix ? ordo_string_dict_prefix(r->dict, &lo, first_out, test_slice(&counts), NULL)
                      : ordo_string_dict_range(r->dict, &lo, &hi, first_out, test_slice(&counts), NULL));
    if (both)
        test_expect(t, ORDO_U32, &first, from, n);
    test_expect(t, ORDO_U32, &counts, number, n);
    test_ok(t, prefix ? ordo_string_dict_prefix_host(r->dict, &host_lo, got, NULL)
                      : ordo_string_dict_range_host(r->dict, &host_lo, &host_hi, got, NULL));
    test_same(t, "first", ORDO_U32, got, from, n);
}

/* ---- elements by rank -------------------------------------------------------------------------------------------- */

/* Appends entry i to a column, and its value to `values`. */
static void add_entry(const struct trial *r, size_t i, struct string_case *c, uint8_t *values, size_t row)
{
    string_add_text(c, (const char *) r->m.at[i].bytes, r->m.at[i].length);
    memcpy(values + row * r->value_bytes, &r->m.at[i].value, r->value_bytes);
}

static const uint64_t *offsets_or_zero(const struct string_case *c)
{
    static const uint64_t zero = 0;
    return c->count ? c->offsets : &zero;
}

static void try_export(struct trial *r)
{
    struct test                   *t = r->t;
    const size_t                   n = r->m.n, bytes = r->value_bytes;
    AUTO_COLUMN struct string_case want = { .count = 0 };
    AUTO_FREE uint8_t             *values = test_alloc(n * 8), *got_values = test_alloc(n * 8 + 8);
    size_t                         count = 7, needed = 7;
    for (size_t i = 0; i < n; i++)
        add_entry(r, i, &want, values, i);
    AUTO_ARRAY struct test_array      offsets = test_upload(t, NULL, n + 1, 8, test_below(t, 4));
    AUTO_ARRAY struct test_array      out = test_upload(t, NULL, want.n_bytes, 1, test_below(t, 20));
    AUTO_ARRAY struct test_array      on_values = test_upload(t, NULL, n, bytes ? bytes : 4, test_below(t, 4));
    AUTO_FREE uint64_t               *got_offsets = test_alloc((n + 3) * 8);
    AUTO_FREE uint8_t                *got = test_alloc(want.n_bytes + 9);
    const struct ordo_string_elements to = { test_slice(&offsets), test_slice(&out), want.n_bytes,
                                             if_values(r, &on_values) };
    test_ok(t, ordo_string_dict_export(r->dict, &to, n, &count, &needed, NULL));
    test_true(t, count == n && needed == want.n_bytes);
    test_expect(t, ORDO_U64, &offsets, offsets_or_zero(&want), n + 1);
    test_expect(t, ORDO_U32, &out, want.bytes, want.n_bytes);
    if (bytes)
        test_expect(t, bytes == 8 ? ORDO_U64 : ORDO_U32, &on_values, values, n);
    count = needed = 7;
    test_ok(t, ordo_string_dict_export_host(r->dict,
                                            &(struct ordo_host_string_elements) { got_offsets, got, want.n_bytes + 9,
                                                                                  bytes ? got_values : NULL },
                                            n + 1, &count, &needed));
    test_true(t, count == n && needed == want.n_bytes);
    test_same(t, "offsets", ORDO_U64, got_offsets, offsets_or_zero(&want), n + 1);
    test_same_bytes(t, "bytes", got, want.bytes, want.n_bytes);
    test_same_bytes(t, "values", got_values, values, n * bytes);
    if (n == 0)
        return;
    count = needed = 7;
    test_status(t, ordo_string_dict_export(r->dict, &to, n - 1, &count, &needed, NULL), ORDO_TOO_SMALL);
    test_true(t, count == n && needed == want.n_bytes);
}

static void try_select(struct trial *r)
{
    struct test                   *t = r->t;
    const size_t                   n = 1 + test_below(t, 300), bytes = r->value_bytes;
    AUTO_COLUMN struct string_case want = { .count = 0 };
    AUTO_FREE uint8_t             *values = test_alloc(n * 8), *got_values = test_alloc(n * 8);
    AUTO_FREE uint8_t             *found = test_alloc(n), *got_found = test_alloc(n);
    AUTO_FREE uint32_t            *ranks = test_alloc(n * 4);
    size_t                         needed = 7;
    memset(values, TEST_EMPTY, n * 8);
    memset(got_values, TEST_EMPTY, n * 8);
    for (size_t i = 0; i < n; i++) {
        ranks[i] = test_below(t, 9) ? (uint32_t) test_below(t, r->m.n + 1) : ORDO_NO_ID;
        found[i] = ranks[i] < r->m.n;
        if (found[i])
            add_entry(r, ranks[i], &want, values, i);
        else
            string_add(&want, 0);
    }
    AUTO_ARRAY struct test_array      on_ranks = test_upload(t, ranks, n, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array      offsets = test_upload(t, NULL, n + 1, 8, test_below(t, 4));
    AUTO_ARRAY struct test_array      out = test_upload(t, NULL, want.n_bytes, 1, test_below(t, 20));
    AUTO_ARRAY struct test_array      on_values = test_upload(t, NULL, n, bytes ? bytes : 4, test_below(t, 4));
    AUTO_ARRAY struct test_array      on_found = test_upload(t, NULL, n, 1, test_below(t, 4));
    AUTO_FREE uint64_t               *got_offsets = test_alloc((n + 1) * 8);
    AUTO_FREE uint8_t                *got = test_alloc(want.n_bytes + 9);
    const struct ordo_string_elements to = { test_slice(&offsets), test_slice(&out), want.n_bytes,
                                             if_values(r, &on_values) };
    test_ok(t, ordo_string_dict_select(r->dict, test_slice(&on_ranks), n, &to, test_slice(&on_found), NULL, NULL));
    test_expect(t, ORDO_U64, &offsets, want.offsets, n + 1);
    test_expect(t, ORDO_U32, &out, want.bytes, want.n_bytes);
    test_expect(t, ORDO_U32, &on_found, found, n);
    if (bytes)
        test_expect(t, bytes == 8 ? ORDO_U64 : ORDO_U32, &on_values, values, n);
    struct ordo_host_string_elements host = { got_offsets, got, want.n_bytes + 9, bytes ? got_values : NULL };
    test_ok(t, ordo_string_dict_select_host(r->dict, ranks, n, &host, got_found, &needed));
    test_true(t, needed == want.n_bytes);
    test_same(t, "offsets", ORDO_U64, got_offsets, want.offsets, n + 1);
    test_same_bytes(t, "bytes", got, want.bytes, want.n_bytes);
    test_same_bytes(t, "values", got_values, values, n * bytes);
    test_same_bytes(t, "found", got_found, found, n);
    if (want.n_bytes == 0)
        return;
    host.capacity = want.n_bytes - 1;
    test_status(t, ordo_string_dict_select_host(r->dict, ranks, n, &host, NULL, &needed), ORDO_TOO_SMALL);
    test_true(t, needed == want.n_bytes);
}

/* ---- the content ------------------------------------------------------------------------------------------------- */

/* Adds a stored string, perhaps shortened or extended. */
static void add_stored(struct trial *r, struct string_case *c, bool changed)
{
    const struct entry *e = &r->m.at[test_below(r->t, r->m.n)];
    const size_t        cut = changed && test_below(r->t, 3) == 0 ? test_below(r->t, e->length + 1) : e->length;
    const size_t        more = changed && test_below(r->t, 4) == 0;
    uint8_t            *to = string_add(c, cut + more);
    memcpy(to, e->bytes, cut);
    if (more)
        to[cut] = test_below(r->t, 2) ? 0 : 0xff;
}

/* A batch of `n` strings: `stored` of 10 come from the dictionary. */
static struct string_case make_batch(struct trial *r, enum string_shape shape, size_t n, uint64_t stored, bool changed)
{
    struct string_case c = string_make_column(r->t, shape, 0);
    while (c.count < n)
        if (r->m.n && test_below(r->t, 10) < stored)
            add_stored(r, &c, changed);
        else
            string_add_shape(r->t, &c, shape);
    return c;
}

static void try_content(struct trial *r, enum string_shape shape)
{
    struct test                       *t = r->t;
    AUTO_COLUMN struct string_case     q = make_batch(r, shape, 20 + test_below(t, 200), 8, true);
    AUTO_BOTH struct column            k = column_of(t, &q);
    struct ordo_string_dict_statistics stats;
    size_t                             size = 0;
    test_ok(t, ordo_string_dict_check(r->dict, NULL));
    test_ok(t, ordo_string_dict_size(r->dict, &size));
    test_true(t, size == r->m.n);
    test_ok(t, ordo_string_dict_get_statistics(r->dict, &stats));
    test_true(t, stats.strings == size && stats.stale <= size && stats.runs <= 16);
    try_find(r, &k);
    for (int search = ORDO_STRING_FIND; search < ORDO_STRING_LONGEST_PREFIX; search++)
        try_search(r, &k, (ordo_string_search) search);
    try_ranges(r, &k, true);
    try_ranges(r, &k, false);
    try_export(r);
    try_select(r);
}

static size_t held_bytes(struct test *t)
{
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(t->dev, &memory));
    return (size_t) (memory.held_bytes - memory.scratch_bytes);
}

static struct trial begin_trial(struct test *t, uint32_t value_bytes)
{
    struct trial r = { .t = t, .value_bytes = value_bytes };
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = value_bytes), &r.dict));
    return r;
}

static void end_trial(struct trial *r)
{
    ordo_string_dict_destroy(&r->dict);
    model_free(&r->m);
}

static void update(struct trial *r, enum change kind, enum string_shape shape, size_t n, uint64_t stored)
{
    AUTO_COLUMN struct string_case c = make_batch(r, shape, n, stored, false);
    change(r, kind, &c);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const uint32_t value_bytes[] = { 4, 8, 0 };

/* Fills, erases and refills. */
static void try_sequence(struct test *t, enum string_shape shape, size_t n_steps, size_t most)
{
    const size_t held = held_bytes(t);
    struct trial r = begin_trial(t, value_bytes[test_below(t, LENGTH(value_bytes))]);
    test_context(t, "%s: empty", string_shape_name[shape]);
    try_content(&r, shape);
    for (size_t step = 0; step < n_steps; step++) {
        const uint64_t kind = test_below(t, 16);
        const size_t   n = test_below(t, 4) ? 1 + test_below(t, most) : 1 + test_below(t, 5);
        test_context(t, "%s: step %zu, kind %u, %zu strings, values of %u bytes", string_shape_name[shape], step,
                     (unsigned) kind, n, r.value_bytes);
        if (kind == 0)
            update(&r, BUILD, shape, n, 3);
        else if (kind == 1)
            test_ok(t, ordo_string_dict_cleanup(r.dict, NULL));
        else if (kind < 6)
            update(&r, ERASE, shape, n, 9);
        else
            update(&r, UPSERT, shape, n, 3);
        try_content(&r, shape);
    }
    test_ok(t, ordo_string_dict_clear(r.dict));
    test_true(t, held_bytes(t) == held);
    model_clear(&r.m);
    try_content(&r, shape);
    end_trial(&r);
    test_true(t, held_bytes(t) == held);
}

MASK_TEST(string_dict, agrees_with_the_model_for_every_shape, "", "cpu=0")
{
    for (int shape = 0; shape < N_SHAPES; shape++)
        try_sequence(t, (enum string_shape) shape, 8, 300);
}

MOST_MASKS_TEST(string_dict, agrees_with_the_model_for_larger_batches)
{
    try_sequence(t, (enum string_shape)(RANDOM + t->seed % 2), 6, 3000);
}

/* Counts at boundaries of words of marks. */
MASK_TEST(string_dict, agrees_with_the_model_at_every_size, "")
{
    static const size_t counts[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4097 };
    for (size_t i = 0; i < LENGTH(counts); i++) {
        struct trial r = begin_trial(t, value_bytes[i % LENGTH(value_bytes)]);
        test_context(t, "%zu strings", counts[i]);
        update(&r, BUILD, RANDOM, counts[i], 0);
        try_content(&r, RANDOM);
        update(&r, ERASE, RANDOM, 1, 10);
        try_content(&r, RANDOM);
        update(&r, UPSERT, RANDOM, 2, 5);
        try_content(&r, RANDOM);
        end_trial(&r);
    }
}

/* Each batch repeats its strings. The last value counts. */
MASK_TEST(string_dict, stores_the_last_of_equal_strings, "", "cpu=0")
{
    const uint32_t                 offsets[] = { 0, 0, 1, 1, 2, 4 }, values[] = { 1, 2, 3, 4, 5 };
    const struct ordo_host_strings column = { offsets, 4, "aa\0\0", 4, 5 }; /* "", "a", "", "a", NULs */
    uint32_t                       got[5] = { 0 };
    uint8_t                        found[5];
    size_t                         size = 0;
    AUTO(ordo_string_dict_destroy) ordo_string_dict *dict = NULL;
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &dict));
    for (int again = 0; again < 2; again++) {
        test_ok(t, ordo_string_dict_upsert_host(dict, &column, values));
        test_ok(t, ordo_string_dict_size(dict, &size));
        test_true(t, size == 3);
        test_ok(t, ordo_string_dict_find_host(dict, &column, got, found));
        test_same(t, "values", ORDO_U32, got, ((const uint32_t[]) { 3, 4, 3, 4, 5 }), 5);
    }
}

/* Few small batches after a large one: runs that are not merged. */
MASK_TEST(string_dict, keeps_few_runs, "")
{
    struct ordo_string_dict_statistics stats;
    struct trial                       r = begin_trial(t, 8);
    size_t                             most = 0;
    update(&r, BUILD, PATHS, 20000, 0);
    for (size_t i = 0; i < 60; i++) {
        test_context(t, "batch %zu", i);
        update(&r, UPSERT, RANDOM, 1 + test_below(t, 30), 2);
        test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
        most = stats.runs > most ? stats.runs : most;
        if (i % 20 == 0)
            try_content(&r, PATHS);
    }
    test_true(t, most > 1 && most <= 8);
    try_content(&r, RANDOM);
    test_ok(t, ordo_string_dict_cleanup(r.dict, NULL));
    test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
    test_true(t, stats.runs == 1 && stats.stale == 0 && stats.cleanups > 0);
    try_content(&r, PATHS);
    end_trial(&r);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Upserts or erases a batch while only `more` bytes of device memory are free. Returns whether there was enough. */
static bool update_within(struct trial *r, bool erase, const struct string_case *c, size_t more)
{
    struct test            *t = r->t;
    const uint64_t          unlimited = t->dev->memory_limit;
    AUTO_BOTH struct column k = column_of(t, c);
    AUTO_FREE uint64_t     *values = test_alloc(c->count * 8);
    test_random_bytes(t, values, c->count * 8);
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->memory_limit = held_bytes(t) + more;
    const ordo_status got =
        erase ? ordo_string_dict_erase_host(r->dict, &k.host) : ordo_string_dict_upsert_host(r->dict, &k.host, values);
    t->dev->memory_limit = unlimited;
    test_true(t, got == ORDO_OK || got == ORDO_NO_DEVICE_MEMORY);
    if (got == ORDO_OK && erase)
        model_erase(&r->m, c);
    else if (got == ORDO_OK)
        model_upsert(&r->m, c, values);
    return got == ORDO_OK;
}

/* An update that lacks memory changes nothing. One that lacks memory only for a merge leaves the runs apart. */
MASK_TEST(string_dict, keeps_its_content_if_memory_lacks, "")
{
    struct ordo_string_dict_statistics stats;
    size_t                             lacked = 0, stored = 0, stale = 0;
    struct trial                       r = begin_trial(t, 8);
    update(&r, BUILD, PATHS, 3000, 0);
    for (size_t more = 1 << 12; more < 1 << 20; more += more / 4) {
        const bool                     erase = test_below(t, 2);
        AUTO_COLUMN struct string_case c = make_batch(&r, RANDOM, 600, erase ? 9 : 2, false);
        test_context(t, "%s with %zu bytes", erase ? "erase" : "upsert", more);
        const bool done = update_within(&r, erase, &c, more);
        lacked += !done;
        stored += done;
        test_ok(t, ordo_string_dict_check(r.dict, NULL));
        test_ok(t, ordo_string_dict_get_statistics(r.dict, &stats));
        stale += stats.stale > stats.strings;
        try_export(&r);
    }
    test_context(t, "%zu updates that lacked memory, %zu that did not, %zu that left too many stale strings", lacked,
                 stored, stale);
    test_true(t, lacked > 2 && stored > 2);
    try_select(&r);
    test_ok(t, ordo_string_dict_cleanup(r.dict, NULL));
    try_content(&r, PATHS);
    end_trial(&r);
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void expect_message(struct test *t, const char *part)
{
    char message[256] = "";
    (void) ordo_device_last_error(t->dev, message, sizeof message);
    if (!strstr(message, part))
        test_fail(t, __FILE__, __LINE__, "the message is '%s'", message);
}

/* Offsets that descend or exceed the column change nothing. */
MASK_TEST(string_dict, refuses_bad_offsets, "", "cpu=0")
{
    static const uint32_t          bad[] = { 0, 2, 1, 9, 3 }, good[] = { 0, 1, 2, 3 };
    static const uint32_t          want[] = { 0, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID };
    const struct ordo_host_strings host = { bad, 4, "abc", 3, 4 };
    AUTO_ARRAY struct test_array   on_offsets = test_upload(t, bad, 5, 4, 1), on_bytes = test_upload(t, "abc", 3, 1, 2);
    AUTO_ARRAY struct test_array   out = test_upload(t, NULL, 4, 4, 0), counts = test_upload(t, NULL, 4, 4, 0);
    const struct ordo_strings      column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 3, 4 };
    struct trial                   r = begin_trial(t, 0);
    test_ok(t, ordo_string_dict_build_host(r.dict, &(struct ordo_host_strings) { good, 4, "abc", 3, 3 }, NULL));
    for (int runs = 1; runs <= 2; runs++) {
        size_t size = 0;
        test_context(t, "bad offsets, %d runs", runs);
        test_status(t, ordo_string_dict_upsert(r.dict, &column, ordo_none(), NULL), ORDO_INVALID);
        expect_message(t, "offsets descend at row 1, from 2 to 1");
        test_status(t, ordo_string_dict_build(r.dict, &column, ordo_none(), NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_erase(r.dict, &column, NULL), ORDO_INVALID);
        expect_message(t, "offsets descend at row 1, from 2 to 1");
        test_status(t, ordo_string_dict_upsert_host(r.dict, &host, NULL), ORDO_INVALID);
        test_ok(t, ordo_string_dict_search(r.dict, ORDO_STRING_UPPER, &column, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { 1, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID }), 4);
        test_ok(t, ordo_string_dict_search(r.dict, ORDO_STRING_FIND, &column, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID }), 4);
        test_ok(t, ordo_string_dict_prefix(r.dict, &column, test_slice(&out), test_slice(&counts), NULL));
        test_expect(t, ORDO_U32, &counts, ((const uint32_t[]) { 0, 0, 0, 0 }), 4);
        test_expect(t, ORDO_U32, &out, ((const uint32_t[]) { 1, want[1], want[2], want[3] }), 4);
        test_ok(t, ordo_string_dict_size(r.dict, &size));
        test_true(t, size == (runs == 1 ? 3 : 2));
        test_ok(t, ordo_string_dict_check(r.dict, NULL));
        /* Now one of the strings is hidden. */
        test_ok(t, ordo_string_dict_erase_host(r.dict, &(struct ordo_host_strings) { good, 4, "c", 1, 1 }));
    }
    end_trial(&r);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* Updates and queries in several queues see each other, and results wait for order->done. */
MASK_TEST(string_dict, orders_calls_in_several_queues, "", "cpu=0")
{
    enum { N = 2000 };
    cl_command_queue               queue = test_queue(t, 0);
    cl_event                       done = NULL;
    const struct ordo_order        order = { .queue = queue, .done = &done }, plain = { .queue = queue };
    struct trial                   r = begin_trial(t, 4);
    AUTO_COLUMN struct string_case c = string_make_column(t, PATHS, N);
    AUTO_BOTH struct column        k = column_of(t, &c);
    AUTO_FREE uint32_t            *values = test_alloc((size_t) N * 4), *got = test_alloc((size_t) N * 4);
    AUTO_ARRAY struct test_array   on_values = test_upload(t, NULL, N, 4, 0), out = test_upload(t, NULL, N, 4, 0);
    for (uint32_t step = 0; step < 6; step++) {
        size_t size = 0, at = 0;
        test_context(t, "step %u", step);
        AUTO_FREE uint64_t *wide = test_alloc((size_t) N * 8);
        for (uint32_t i = 0; i < N; i++)
            wide[i] = values[i] = i * 7 + step;
        model_upsert(&r.m, &c, wide);
        cr_assert(clEnqueueWriteBuffer(queue, on_values.mem, CL_FALSE, 0, (size_t) N * 4, values, 0, NULL, NULL) ==
                  CL_SUCCESS);
        test_ok(t, ordo_string_dict_upsert(r.dict, &k.device, test_slice(&on_values), step % 2 ? &order : &plain));
        test_ok(t, ordo_string_dict_find(r.dict, &k.device, test_slice(&out), ordo_none(), NULL));
        test_ok(t, ordo_string_dict_find(r.dict, &k.device, test_slice(&out), ordo_none(), &order));
        test_ok(t, ordo_string_dict_size(r.dict, &size));
        test_true(t, size == r.m.n && clWaitForEvents(1, &done) == CL_SUCCESS);
        (void) clReleaseEvent(done);
        test_download(t, &out, got);
        for (size_t i = 0; i < N; i++)
            test_true(t, model_has(&r.m, &c, i, &at) && got[i] == (uint32_t) r.m.at[at].value);
    }
    end_trial(&r);
    (void) clReleaseCommandQueue(queue);
}
