/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without a batch, and calls of one structure alone (soak.h). */
#include "soak.h"

#include "tests/primitive/string_model.h"

#include <stdlib.h>

static void check(struct life *l)
{
    life_context(l, "the whole content, %zu elements", l->model.count);
    soak_check_content(l);
}

static void clear(struct life *l)
{
    life_context(l, "ordo_dict_clear of %zu elements", l->model.count);
    test_ok(&l->t, ordo_dict_clear(l->dict));
    model_clear(&l->model);
}

static void compact(struct life *l)
{
    life_context(l, "ordo_dict_compact of %zu elements", l->model.count);
    test_ok(&l->t, ordo_dict_compact(l->dict, NULL));
    soak_check_content(l);
}

static void cleanup(struct life *l)
{
    life_context(l, "ordo_lsm_cleanup of %zu elements", l->model.count);
    test_status(&l->t, ordo_lsm_cleanup(l->dict, NULL), l->structure == LSM ? ORDO_OK : ORDO_UNSUPPORTED);
    soak_check_content(l);
}

static void trim(struct life *l)
{
    life_context(l, "ordo_device_trim");
    test_ok(&l->t, ordo_device_trim(l->t.dev));
}

/* Another dictionary is destroyed while this one is used. */
static void other_dictionary(struct life *l)
{
    AUTO_DICT ordo_dict *other = NULL;
    uint64_t             keys[100];

    life_context(l, "another dictionary");
    for (size_t i = 0; i < LENGTH(keys); i++)
        keys[i] = test_random(&l->t);
    test_ok(&l->t, create(l->t.dev, l->structure, ORDO_U64, 0, &other));
    test_ok(&l->t, ordo_dict_build_host(other, keys, NULL, LENGTH(keys)));
}

/* ---- prefixes ---------------------------------------------------------------------------------------------------- */

static bool has_prefixes(const struct life *l)
{
    return l->structure == XFAST && (l->config.key == ORDO_U32 || l->config.key == ORDO_U64);
}

static uint64_t key_at(const struct life *l, const void *keys, size_t i)
{
    return l->config.key == ORDO_U32 ? ((const uint32_t *) keys)[i] : ((const uint64_t *) keys)[i];
}

/* Keys that exist, and some that do not. */
static void *make_queries(struct life *l, size_t n)
{
    void *keys = test_alloc(ordo_type_bytes(l->config.key) * n);

    for (size_t i = 0; i < n; i++)
        put_form(l->config.key, keys, i,
                 soak_one_in(l, 8) ? test_random(&l->t) : l->forms[soak_below(l, l->n_forms)] + soak_below(l, 3) - 1);
    return keys;
}

static void count_prefixes(struct life *l)
{
    const size_t        n = soak_size(l, 5000);
    const unsigned      bits = 8 * (unsigned) ordo_type_bytes(l->config.key);
    AUTO_FREE void     *keys = make_queries(l, n);
    AUTO_FREE uint8_t  *lengths = test_alloc(n);
    AUTO_FREE uint32_t *counts = test_alloc(n * sizeof *counts);

    for (size_t i = 0; i < n; i++)
        lengths[i] = (uint8_t) soak_below(l, bits + 5);
    life_context(l, "ordo_xfast_count_prefix_host of %zu, %zu elements", n, l->model.count);
    test_ok(&l->t, ordo_xfast_count_prefix_host(l->dict, keys, lengths, n, counts));
    for (size_t i = 0; i < n; i++) {
        const unsigned length = lengths[i] < bits ? lengths[i] : bits;
        const uint64_t rest = length == 0 ? UINT64_MAX : length == 64 ? 0 : ((uint64_t) 1 << (bits - length)) - 1;
        const uint64_t low = key_at(l, keys, i) & ~rest;
        size_t         want = l->model.count;
        if (length > 0) {
            want = 0;
            for (size_t at = model_rank(&l->model, low);
                 at < l->model.count && l->model.element[at].form <= (low | rest); at++)
                want++;
        }
        if (counts[i] != want)
            soak_fail(l, "%u keys have the first %u bits of %#llx, not %zu", counts[i], length,
                      (unsigned long long) key_at(l, keys, i), want);
    }
}

/* The place of the longest prefix of a key among the elements, or the number of elements. */
static size_t longest_prefix(const struct life *l, uint64_t key)
{
    const bool narrow = l->config.key == ORDO_U32;

    for (unsigned length = narrow ? 31 : 63;; length--) {
        const uint64_t prefix = narrow ? ordo_prefix_u32((uint32_t) key, length) : ordo_prefix_u64(key, length);
        const size_t   at = model_rank(&l->model, prefix);
        if (at < l->model.count && l->model.element[at].form == prefix)
            return at;
        if (length == 0)
            return l->model.count;
    }
}

static void find_prefixes(struct life *l)
{
    const size_t        n = soak_size(l, 5000);
    AUTO_FREE void     *keys = make_queries(l, n);
    AUTO_FREE uint64_t *prefixes = test_alloc(8 * n), *values = l->config.value_bytes ? test_alloc(8 * n) : NULL;
    AUTO_FREE uint8_t  *found = test_alloc(n);

    memset(prefixes, TEST_EMPTY, 8 * n);
    life_context(l, "ordo_xfast_longest_prefix_host of %zu, %zu elements", n, l->model.count);
    test_ok(&l->t, ordo_xfast_longest_prefix_host(l->dict, keys, n, prefixes, values, found));
    for (size_t i = 0; i < n; i++) {
        const size_t at = longest_prefix(l, key_at(l, keys, i));
        if (found[i] != (at < l->model.count))
            soak_fail(l, "prefix of %#llx: found is %u", (unsigned long long) key_at(l, keys, i), found[i]);
        if (found[i] && key_at(l, prefixes, i) != l->model.element[at].key)
            soak_fail(l, "prefix of %#llx: %#llx, not %#llx", (unsigned long long) key_at(l, keys, i),
                      (unsigned long long) key_at(l, prefixes, i), (unsigned long long) l->model.element[at].key);
    }
}

static void prefixes(struct life *l)
{
    if (has_prefixes(l))
        soak_one_in(l, 2) ? count_prefixes(l) : find_prefixes(l);
}

/* ---- Roaring ----------------------------------------------------------------------------------------------------- */

/* Writes the set and reads it into another dictionary and into this one. Both must equal it. */
static void roaring(struct life *l)
{
    size_t size = 0, again = 0;

    if (l->structure != HAMT || (l->config.key != ORDO_U32 && l->config.key != ORDO_U64))
        return;
    life_context(l, "ordo_hamt_write_roaring_host of %zu elements", l->model.count);
    test_ok(&l->t, ordo_hamt_write_roaring(l->dict, ordo_none(), 0, &size, NULL));
    AUTO_FREE uint8_t *bytes = test_alloc(size);
    test_status(&l->t, ordo_hamt_write_roaring_host(l->dict, bytes, size - 1, &again), ORDO_TOO_SMALL);
    test_ok(&l->t, ordo_hamt_write_roaring_host(l->dict, bytes, size, &again));
    SOAK_MUST(l, size == again);
    if (l->config.value_bytes == 0) {
        life_context(l, "ordo_hamt_read_roaring_host of %zu bytes, %zu elements", size, l->model.count);
        if (soak_one_in(l, 2))
            test_ok(&l->t, ordo_dict_clear(l->dict));
        test_ok(&l->t, ordo_hamt_read_roaring_host(l->dict, bytes, size));
        test_status(&l->t, ordo_hamt_read_roaring_host(l->dict, bytes, size - 1), ORDO_INVALID);
        soak_check_content(l);
    }
}

/* ---- an index over an array -------------------------------------------------------------------------------------- */

/* Searches all keys of the life, with a compressed or a plain index. */
static void search_index(struct life *l)
{
    const size_t        n = l->n_forms, n_queries = soak_size(l, 5000), bytes = ordo_type_bytes(l->config.key);
    const bool          compressed = soak_one_in(l, 2) && !has_wide_keys(l);
    AUTO_FREE void     *keys = test_alloc(n * bytes), *queries = make_queries(l, n_queries);
    AUTO_FREE uint32_t *ranks = test_alloc(n_queries * sizeof *ranks);
    AUTO(ordo_index_destroy) ordo_index *index = NULL;

    for (size_t i = 0; i < n; i++)
        put_form(l->config.key, keys, i, l->forms[i]);
    AUTO_ARRAY struct test_array a = test_upload(&l->t, keys, n, bytes, 3),
                                 q = test_upload(&l->t, queries, n_queries, bytes, 1);
    AUTO_ARRAY struct test_array r = test_upload(&l->t, NULL, n_queries, 4, 2);
    life_context(l, "ordo_search of %zu among %zu, %s index", n_queries, n, compressed ? "compressed" : "plain");
    test_ok(&l->t, compressed ? ordo_index_build_compressed(l->t.dev, l->config.key, test_slice(&a), n, NULL, &index)
                              : ordo_index_build(l->t.dev, l->config.key, test_slice(&a), n, NULL, &index));
    test_ok(&l->t,
            ordo_search(l->t.dev, ordo_search_params(.key = l->config.key, .index = index),
                        compressed ? ordo_none() : test_slice(&a), n, test_slice(&q), n_queries, test_slice(&r), NULL));
    test_download(&l->t, &r, ranks);
    for (size_t i = 0; i < n_queries; i++) {
        const key_form form = form_of_key(l->config.key, queries, i);
        if (ranks[i] != rank_of_form(l->forms, n, form))
            soak_fail(l, "rank %zu is %u, not %zu", i, ranks[i], rank_of_form(l->forms, n, form));
    }
}

/* ---- an index of strings ----------------------------------------------------------------------------------------- */

struct strings {
    struct life                 *l;
    const struct sorted_strings *sorted;
    const struct string_case    *asked;
    struct ordo_host_strings     queries;
    const ordo_string_index     *index;
};

static void search_each(const struct strings *s, uint32_t *ids, uint32_t *want)
{
    const ordo_string_search search = (ordo_string_search) soak_below(s->l, ORDO_STRING_LONGEST_PREFIX + 1);

    life_context(s->l, "ordo_string_index_search %d of %zu among %u", (int) search, s->asked->count, s->sorted->ids);
    for (size_t i = 0; i < s->asked->count; i++)
        want[i] = model_string_search(s->sorted, search, s->asked, i);
    test_ok(&s->l->t, ordo_string_index_search_host(s->index, search, &s->queries, ids));
    test_same(&s->l->t, "ids", ORDO_U32, ids, want, s->asked->count);
}

static void find_common(const struct strings *s, uint32_t *first, uint32_t *want_first)
{
    const size_t        n = s->asked->count;
    AUTO_FREE uint32_t *counts = test_alloc(n * 4), *want_counts = test_alloc(n * 4);
    AUTO_FREE uint64_t *lengths = test_alloc(n * 8), *want_lengths = test_alloc(n * 8);

    life_context(s->l, "ordo_string_index_common of %zu among %u", n, s->sorted->ids);
    for (size_t i = 0; i < n; i++)
        want_lengths[i] = model_string_common(s->sorted, s->asked, i, &want_first[i], &want_counts[i]);
    test_ok(&s->l->t, ordo_string_index_common_host(s->index, &s->queries, lengths, first, counts));
    test_same(&s->l->t, "lengths", ORDO_U64, lengths, want_lengths, n);
    test_same(&s->l->t, "first", ORDO_U32, first, want_first, n);
    test_same(&s->l->t, "counts", ORDO_U32, counts, want_counts, n);
}

/* Indexes a column, perhaps an empty one, and searches another column of the same shape. */
static void search_strings(struct life *l)
{
    const enum string_shape                            shape = (enum string_shape) soak_below(l, N_SHAPES);
    AUTO_COLUMN struct string_case                     c = string_make_column(&l->t, shape, soak_size(l, 3000) - 1);
    AUTO_COLUMN struct string_case                     q = string_make_column(&l->t, shape, soak_size(l, 300));
    AUTO_SORTED struct sorted_strings                  sorted = sort_strings_of(&c);
    const struct ordo_host_strings                     column = { c.offsets, 8, c.bytes, c.n_bytes, c.count };
    AUTO_FREE uint32_t                                *ids = test_alloc(q.count * 4), *want = test_alloc(q.count * 4);
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;

    life_context(l, "ordo_string_index_build_host of %zu", c.count);
    test_ok(&l->t, ordo_string_index_build_host(l->t.dev, ordo_string_index_params(.keep_rows = soak_one_in(l, 2)),
                                                &column, &index));
    (soak_one_in(l, 3) ? find_common : search_each)(
        &(struct strings) { l, &sorted, &q, { q.offsets, 8, q.bytes, q.n_bytes, q.count }, index }, ids, want);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

const struct soak_row soak_own_rows[] = {
    { "check", { 6, 3, 5, 1 }, .run = check },
    { "clear", { 1, 0, 0, 0 }, .run = clear },
    { "compact", { 2, 1, 1, 1 }, .needs = ORDO_CAN_COMPACT, .run = compact },
    { "cleanup", { 1, 1, 1, 1 }, .run = cleanup },
    { "trim", { 1, 1, 1, 1 }, .run = trim },
    { "other_dictionary", { 1, 0, 0, 0 }, .run = other_dictionary },
    { "prefixes", { 4, 1, 1, 4 }, .run = prefixes },
    { "roaring", { 2, 1, 1, 2 }, .run = roaring },
    { "search_index", { 1, 0, 0, 1 }, .run = search_index },
    { "search_strings", { 1, 0, 0, 1 }, .run = search_strings },
};
const size_t n_soak_own_rows = LENGTH(soak_own_rows);
