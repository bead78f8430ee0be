/* SPDX-License-Identifier: Apache-2.0 */
/* See string_trial.h. */
#include "tests/dict/string_trial.h"

#include <stdlib.h>

struct string_column_at string_upload(struct test *t, const struct string_case *c)
{
    const uint32_t          wide = test_below(t, 2) ? 4 : 8;
    struct string_column_at k = { .c = c, .wide_or_narrow = string_offsets(c, wide) };
    k.on_offsets = test_upload(t, k.wide_or_narrow, c->count + 1, wide, test_below(t, 4));
    k.on_bytes = test_upload(t, c->bytes, c->n_bytes, 1, test_below(t, 20));
    k.host = (struct ordo_host_strings) { k.wide_or_narrow, wide, c->bytes, c->n_bytes, c->count };
    k.device = (struct ordo_strings) { test_slice(&k.on_offsets), wide, test_slice(&k.on_bytes), c->n_bytes, c->count };
    return k;
}

void string_column_at_free(struct string_column_at *k)
{
    free(k->wide_or_narrow);
    test_free(&k->on_offsets);
    test_free(&k->on_bytes);
}

/* Values as a call takes them: the low bytes of `values`. Without values, the buffer has 4 bytes for each. */
/* The halves of a value of 16 bytes differ. */
static void put_value(uint8_t *to, uint64_t value, size_t bytes)
{
    const uint64_t halves[] = { value, ~value };
    memcpy(to, halves, bytes);
}

static void *narrow(const uint64_t *values, size_t count, uint32_t bytes)
{
    uint8_t *out = test_alloc(count * (bytes ? bytes : 4));
    memset(out, 0, count * (bytes ? bytes : 4));
    for (size_t i = 0; i < count && bytes; i++)
        put_value(out + i * bytes, values[i], bytes);
    return out;
}

static struct ordo_slice if_values(const struct string_trial *r, const struct test_array *values)
{
    return r->value_bytes ? test_slice(values) : ordo_none();
}

static ordo_status call_update(const struct string_trial *r, enum string_change kind, const struct string_column_at *k,
                               const void *host_values, struct ordo_slice values, bool host)
{
    if (kind == STRINGS_BUILD)
        return host ? ordo_string_dict_build_host(r->dict, &k->host, host_values)
                    : ordo_string_dict_build(r->dict, &k->device, values, NULL);
    if (kind == STRINGS_UPSERT)
        return host ? ordo_string_dict_upsert_host(r->dict, &k->host, host_values)
                    : ordo_string_dict_upsert(r->dict, &k->device, values, NULL);
    return host ? ordo_string_dict_erase_host(r->dict, &k->host) : ordo_string_dict_erase(r->dict, &k->device, NULL);
}

static void change_map(struct string_map *m, enum string_change kind, const struct string_case *c,
                       const uint64_t *values)
{
    if (kind == STRINGS_BUILD)
        string_map_clear(m);
    if (kind == STRINGS_ERASE)
        string_map_erase(m, c);
    else
        string_map_upsert(m, c, values);
}

ordo_status string_trial_try(struct string_trial *r, enum string_change kind, const struct string_case *c)
{
    struct test                          *t = r->t;
    AUTO_UPLOADED struct string_column_at k = string_upload(t, c);
    AUTO_FREE uint64_t                   *values = test_alloc(c->count * 8);
    test_random_bytes(t, values, c->count * 8);
    AUTO_FREE void              *given = narrow(values, c->count, r->value_bytes);
    AUTO_ARRAY struct test_array on_device =
        test_upload(t, given, c->count, r->value_bytes ? r->value_bytes : 4, test_below(t, 4));
    const bool host = test_below(t, 2);
    if (r->hazard)
        r->hazard(r->user, true);
    const ordo_status got = call_update(r, kind, &k, r->value_bytes ? given : NULL, if_values(r, &on_device), host);
    if (r->hazard)
        r->hazard(r->user, false);
    if (got == ORDO_OK)
        change_map(&r->m, kind, c, values);
    return got;
}

void string_trial_change(struct string_trial *r, enum string_change kind, const struct string_case *c)
{
    test_ok(r->t, string_trial_try(r, kind, c));
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static void try_find(struct string_trial *r, const struct string_column_at *k)
{
    struct test                 *t = r->t;
    const size_t                 n = k->c->count, bytes = r->value_bytes;
    AUTO_FREE uint8_t           *found = test_alloc(n), *got_found = test_alloc(n);
    AUTO_FREE uint8_t           *want = test_alloc(n * 16), *got = test_alloc(n * 16);
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, n, bytes ? bytes : 4, test_below(t, 4));
    AUTO_ARRAY struct test_array on_found = test_upload(t, NULL, n, 1, test_below(t, 9));
    memset(want, TEST_EMPTY, n * 16);
    memset(got, TEST_EMPTY, n * 16);
    for (size_t i = 0, at = 0; i < n; i++) {
        found[i] = string_map_has(&r->m, k->c, i, &at);
        if (found[i])
            put_value(want + i * bytes, r->m.at[at].value, bytes);
    }
    test_ok(t, ordo_string_dict_find(r->dict, &k->device, if_values(r, &out), test_slice(&on_found), NULL));
    test_expect(t, ORDO_U32, &on_found, found, n);
    if (bytes)
        test_expect(t, bytes == 16 ? ORDO_U128 : bytes == 8 ? ORDO_U64 : ORDO_U32, &out, want, n);
    test_ok(t, ordo_string_dict_find_host(r->dict, &k->host, bytes ? got : NULL, test_below(t, 2) ? got_found : NULL));
    test_same_bytes(t, "values", got, want, n * bytes);
    test_ok(t, ordo_string_dict_find_host(r->dict, &k->host, NULL, got_found));
    test_same_bytes(t, "found", got_found, found, n);
}

static void try_search(struct string_trial *r, const struct string_column_at *k, ordo_string_search search)
{
    struct test                 *t = r->t;
    const size_t                 n = k->c->count;
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, n, 4, test_below(t, 4));
    AUTO_FREE uint32_t          *want = test_alloc(n * 4), *got = test_alloc(n * 4);
    for (size_t i = 0; i < n; i++)
        want[i] = string_map_search(&r->m, search, k->c, i);
    test_ok(t, ordo_string_dict_search(r->dict, search, &k->device, test_slice(&out), NULL));
    test_expect(t, ORDO_U32, &out, want, n);
    test_ok(t, ordo_string_dict_search_host(r->dict, search, &k->host, got));
    test_same(t, "ranks", ORDO_U32, got, want, n);
}

/* Prefixes, and ranges from each query to the next one. */
static void try_ranges(struct string_trial *r, const struct string_column_at *k, bool prefix)
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
        from[i] = (uint32_t) string_map_bound(&r->m, k->c, i, false);
        const uint32_t to = prefix ? 0 : (uint32_t) string_map_bound(&r->m, k->c, i + 1, true);
        number[i] = prefix ? string_map_prefixes(&r->m, k->c, i, from[i]) : to > from[i] ? to - from[i] : 0;
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
static void add_entry(const struct string_trial *r, size_t i, struct string_case *c, uint8_t *values, size_t row)
{
    string_add_text(c, (const char *) r->m.at[i].bytes, r->m.at[i].length);
    put_value(values + row * r->value_bytes, r->m.at[i].value, r->value_bytes);
}

static const uint64_t *offsets_or_zero(const struct string_case *c)
{
    static const uint64_t zero = 0;
    return c->count ? c->offsets : &zero;
}

void string_trial_export(struct string_trial *r)
{
    struct test                   *t = r->t;
    const size_t                   n = r->m.n, bytes = r->value_bytes;
    AUTO_COLUMN struct string_case want = { .count = 0 };
    AUTO_FREE uint8_t             *values = test_alloc(n * 16), *got_values = test_alloc(n * 16 + 16);
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
        test_expect(t, bytes == 16 ? ORDO_U128 : bytes == 8 ? ORDO_U64 : ORDO_U32, &on_values, values, n);
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

void string_trial_select(struct string_trial *r)
{
    struct test                   *t = r->t;
    const size_t                   n = 1 + test_below(t, 300), bytes = r->value_bytes;
    AUTO_COLUMN struct string_case want = { .count = 0 };
    AUTO_FREE uint8_t             *values = test_alloc(n * 16), *got_values = test_alloc(n * 16);
    AUTO_FREE uint8_t             *found = test_alloc(n), *got_found = test_alloc(n);
    AUTO_FREE uint32_t            *ranks = test_alloc(n * 4);
    size_t                         needed = 7;
    memset(values, TEST_EMPTY, n * 16);
    memset(got_values, TEST_EMPTY, n * 16);
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
        test_expect(t, bytes == 16 ? ORDO_U128 : bytes == 8 ? ORDO_U64 : ORDO_U32, &on_values, values, n);
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
static void add_stored(struct string_trial *r, struct string_case *c, bool changed)
{
    const struct string_entry *e = &r->m.at[test_below(r->t, r->m.n)];
    const size_t               cut = changed && test_below(r->t, 3) == 0 ? test_below(r->t, e->length + 1) : e->length;
    const size_t               more = changed && test_below(r->t, 4) == 0;
    uint8_t                   *to = string_add(c, cut + more);
    memcpy(to, e->bytes, cut);
    if (more)
        to[cut] = test_below(r->t, 2) ? 0 : 0xff;
}

struct string_case string_trial_batch(struct string_trial *r, enum string_shape shape, size_t n, uint64_t stored,
                                      bool changed)
{
    struct string_case c = string_make_column(r->t, shape, 0);
    while (c.count < n)
        if (r->m.n && test_below(r->t, 10) < stored)
            add_stored(r, &c, changed);
        else
            string_add_shape(r->t, &c, shape);
    return c;
}

struct string_case string_trial_all(const struct string_trial *r)
{
    struct string_case c = string_make_column(r->t, RANDOM, 0);
    for (size_t i = 0; i < r->m.n; i++)
        string_add_text(&c, (const char *) r->m.at[i].bytes, r->m.at[i].length);
    return c;
}

void string_trial_check(struct string_trial *r, enum string_shape shape)
{
    string_trial_ask(r, shape, 20 + test_below(r->t, 200));
}

void string_trial_ask(struct string_trial *r, enum string_shape shape, size_t n)
{
    struct test                          *t = r->t;
    AUTO_COLUMN struct string_case        q = string_trial_batch(r, shape, n, 8, true);
    AUTO_UPLOADED struct string_column_at k = string_upload(t, &q);
    struct ordo_string_dict_statistics    stats;
    size_t                                size = 0;
    test_ok(t, ordo_string_dict_check(r->dict, NULL));
    test_ok(t, ordo_string_dict_size(r->dict, &size));
    test_true(t, size == r->m.n);
    test_ok(t, ordo_string_dict_get_statistics(r->dict, &stats));
    test_true(t, stats.strings == size && (r->lacks_memory || (stats.stale <= size && stats.runs <= 16)));
    try_find(r, &k);
    for (int search = ORDO_STRING_FIND; search <= ORDO_STRING_LONGEST_PREFIX; search++)
        try_search(r, &k, (ordo_string_search) search);
    try_ranges(r, &k, true);
    try_ranges(r, &k, false);
    string_trial_export(r);
    string_trial_select(r);
}

struct string_trial string_trial_begin(struct test *t, uint32_t value_bytes)
{
    struct string_trial r = { .t = t, .value_bytes = value_bytes };
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = value_bytes), &r.dict));
    return r;
}

void string_trial_end(struct string_trial *r)
{
    ordo_string_dict_destroy(&r->dict);
    string_map_free(&r->m);
}

void string_trial_update(struct string_trial *r, enum string_change kind, enum string_shape shape, size_t n,
                         uint64_t stored)
{
    AUTO_COLUMN struct string_case c = string_trial_batch(r, shape, n, stored, false);
    string_trial_change(r, kind, &c);
}
