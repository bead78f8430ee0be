/* SPDX-License-Identifier: Apache-2.0 */
/* See array_model.h. Arrays are numbered as in tests/support/calls.c. */
#include "array_model.h"

#include "scan_common.h"
#include "tests/support/wide.h"

struct modelled {
    const struct given *g;
    void *const        *a;
    size_t              bytes[CALL_ARRAYS]; /* of an element */
};

static key_form word_at(const struct modelled *m, size_t array, size_t i)
{
    return m->a[array] && m->bytes[array] ? read_key(m->a[array], m->bytes[array], i) : 0;
}

static void put(const struct modelled *m, size_t array, size_t i, key_form word)
{
    if (m->a[array] && m->bytes[array])
        write_bits(m->a[array], m->bytes[array], i, word);
}

static struct test_form form_at(const struct modelled *m, size_t array, size_t i)
{
    return test_form_of(m->g->type, (const uint8_t *) m->a[array] + i * m->bytes[array]);
}

/* ---- elements in order ------------------------------------------------------------------------------------------- */

struct item {
    struct test_form form;
    key_form         value;
    uint64_t         key[2]; /* a key of 4 or 8 bytes in the first word */
    size_t           i;
};

static int by_form(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int          order = test_form_compare(x->form, y->form);

    return order ? order : x->i < y->i ? -1 : x->i > y->i;
}

/* The bits that a call compares, complemented for descending order. */
static struct test_form sorted_form(const struct given *g, const void *key)
{
    const uint32_t all = (uint32_t) (8 * ordo_type_bytes(g->type)), bits = g->bits ? g->bits : all - g->first_bit;

    return test_form_bits(test_form_of(g->type, key), g->descending || g->greatest, g->first_bit, bits);
}

/* Makes items `to` and after of elements `at` to at + n - 1 of two arrays. */
static void add_items(const struct modelled *m, struct item *items, size_t to, size_t keys, size_t values, size_t at,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const void *key = (const uint8_t *) m->a[keys] + (at + i) * m->bytes[keys];
        items[to + i] = (struct item) { .form = sorted_form(m->g, key),
                                        .value = values < CALL_ARRAYS ? word_at(m, values, at + i) : 0,
                                        .i = to + i };
        memcpy(items[to + i].key, key, m->bytes[keys]);
    }
}

static void put_key(const struct modelled *m, size_t array, size_t i, const struct item *item)
{
    if (m->a[array])
        memcpy((uint8_t *) m->a[array] + i * m->bytes[array], item->key, m->bytes[array]);
}

static struct item *items_of(const struct modelled *m, size_t keys, size_t values, size_t n, bool sorted)
{
    struct item *items = test_alloc((n + 1) * sizeof *items);

    add_items(m, items, 0, keys, values, 0, n);
    if (sorted)
        qsort(items, n, sizeof *items, by_form);
    return items;
}

static void put_items(const struct modelled *m, const struct item *items, size_t n, size_t keys, size_t values)
{
    for (size_t i = 0; i < n; i++) {
        put_key(m, keys, i, &items[i]);
        put(m, values, i, items[i].value);
    }
}

/* ---- scans, reductions, compactions ------------------------------------------------------------------------------ */

static void scan(const struct modelled *m, const uint8_t *heads, size_t out)
{
    const uint64_t none = identity(m->g->type, m->g->array_op);
    uint64_t       all = none;

    for (size_t i = 0; i < m->g->count; i++) {
        const uint64_t before = heads && heads[i] ? none : all;
        all = combine(m->g->type, m->g->array_op, before, word_at(m, 0, i));
        put(m, out, i, m->g->inclusive ? all : before);
    }
}

static void model_scan(const struct modelled *m)
{
    scan(m, NULL, 1);
}

static void model_segmented_scan(const struct modelled *m)
{
    scan(m, m->a[1], 2);
}

static void model_reduce(const struct modelled *m)
{
    uint64_t all = identity(m->g->type, m->g->array_op);

    for (size_t i = 0; i < m->g->count; i++)
        all = combine(m->g->type, m->g->array_op, all, word_at(m, 0, i));
    put(m, 1, 0, all);
}

static void model_compact(const struct modelled *m)
{
    const uint8_t *flags = m->a[2];
    uint32_t       kept = 0;

    for (size_t i = 0; i < m->g->count; i++) {
        if (!flags[i])
            continue;
        if (m->a[3])
            memcpy((uint8_t *) m->a[3] + kept * m->bytes[3], (const uint8_t *) m->a[0] + i * m->bytes[0], m->bytes[0]);
        put(m, 4, kept++, word_at(m, 1, i));
    }
    put(m, 5, 0, kept);
}

/* ---- sorts, merges, the first of an order ------------------------------------------------------------------------ */

static void model_sort(const struct modelled *m)
{
    AUTO_FREE struct item *items = items_of(m, 0, 1, m->g->count, true);

    put_items(m, items, m->g->count, 2, 3);
}

static void model_merge(const struct modelled *m)
{
    const size_t           n = m->g->count + m->g->second;
    AUTO_FREE struct item *items = test_alloc((n + 1) * sizeof *items);

    add_items(m, items, 0, 0, 1, 0, m->g->count);
    add_items(m, items, m->g->count, 2, 3, 0, m->g->second);
    qsort(items, n, sizeof *items, by_form);
    put_items(m, items, n, 4, 5);
}

static void model_merge_runs(const struct modelled *m)
{
    AUTO_FREE struct item *items = test_alloc((m->g->count + 1) * sizeof *items);
    size_t                 n = 0;

    for (size_t r = 0; r < m->g->n_runs; n += m->g->runs[r++].count)
        add_items(m, items, n, 0, 1, m->g->runs[r].at, m->g->runs[r].count);
    qsort(items, n, sizeof *items, by_form);
    put_items(m, items, n, 2, 3);
}

/* The first n items in order; the others follow in any order (Hoare's Find, CACM 1961). */
static struct item *first_items(const struct modelled *m, size_t values, size_t n)
{
    struct item *items = items_of(m, 0, values, m->g->count, false);

    for (size_t from = 0, end = m->g->count; n < m->g->count && end - from > 1;) {
        const struct item pivot = items[from + (end - 1 - from) / 2];
        size_t            i = from, j = end - 1;
        for (;; i++, j--) {
            while (by_form(&items[i], &pivot) < 0)
                i++;
            while (by_form(&items[j], &pivot) > 0)
                j--;
            if (i >= j)
                break;
            const struct item was = items[i];
            items[i] = items[j];
            items[j] = was;
        }
        if (n <= j)
            end = j + 1;
        else
            from = j + 1;
    }
    qsort(items, n, sizeof *items, by_form);
    return items;
}

static void model_top(const struct modelled *m)
{
    const size_t           k = m->g->k < m->g->count ? m->g->k : m->g->count;
    AUTO_FREE struct item *items = first_items(m, 1, k);

    put_items(m, items, k, 2, 3);
    for (size_t i = 0; i < k; i++)
        put(m, 4, i, items[i].i);
}

static void model_select(const struct modelled *m)
{
    AUTO_FREE struct item *items = first_items(m, CALL_ARRAYS, m->g->k + 1);

    put_key(m, 1, 0, &items[m->g->k]);
    put(m, 2, 0, items[m->g->k].i);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static uint64_t widened(const struct given *g, uint64_t value)
{
    return g->wide && g->value == ORDO_I32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) value : value;
}

/* Groups of adjacent equal keys: writes keys, values (CALL_ARRAYS: none), counts and their number. */
static void model_groups(const struct modelled *m, size_t values, size_t keys_out, size_t values_out, size_t counts,
                         size_t groups)
{
    const size_t           n = m->g->count;
    AUTO_FREE struct item *items = items_of(m, 0, values, n, !m->g->sorted);
    size_t                 group = 0;

    for (size_t i = 0, end = 0; i < n; i = end, group++) {
        uint64_t all = widened(m->g, items[i].value);
        for (end = i + 1; end < n && memcmp(items[end].key, items[i].key, sizeof items[i].key) == 0; end++)
            all = combine(m->g->value, m->g->array_op, all, widened(m->g, items[end].value));
        if (group >= m->g->room)
            continue;
        put_key(m, keys_out, group, &items[i]);
        put(m, counts, group, end - i);
        if (values < CALL_ARRAYS)
            put(m, values_out, group, all);
    }
    put(m, groups, 0, group);
}

static void model_by_key(const struct modelled *m)
{
    model_groups(m, 1, 2, 3, 4, 5);
}

static void model_unique(const struct modelled *m)
{
    model_groups(m, CALL_ARRAYS, 1, CALL_ARRAYS, 2, 3);
}

/* ---- searches ---------------------------------------------------------------------------------------------------- */

static size_t bound(const struct modelled *m, struct test_form form, bool upper)
{
    size_t low = 0, high = m->g->second;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int    order = test_form_compare(form_at(m, 0, middle), form);
        if (order < 0 || (upper && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void model_search(const struct modelled *m)
{
    for (size_t i = 0; i < m->g->count; i++)
        put(m, 2, i, bound(m, form_at(m, 1, i), m->g->upper));
}

static void model_equal_range(const struct modelled *m)
{
    for (size_t i = 0; i < m->g->count; i++) {
        put(m, 2, i, bound(m, form_at(m, 1, i), false));
        put(m, 3, i, bound(m, form_at(m, 1, i), true));
    }
}

static void model_lookup(const struct modelled *m)
{
    uint8_t *found = m->a[4];

    for (size_t i = 0; i < m->g->count; i++) {
        const struct test_form form = form_at(m, 2, i);
        const size_t           at = bound(m, form, false);
        const bool             is_there = at < m->g->second && test_form_compare(form_at(m, 0, at), form) == 0;
        if (found)
            found[i] = is_there;
        if (is_there)
            put(m, 3, i, word_at(m, 1, at));
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Row i of the input goes to a row of the output, or comes from there. */
static void move_rows(const struct modelled *m, bool scatter)
{
    const uint32_t *indices = m->a[1];

    for (size_t i = 0; i < m->g->count; i++)
        if (indices[i] < m->g->second)
            memcpy((uint8_t *) m->a[2] + (scatter ? indices[i] : i) * m->bytes[2],
                   (const uint8_t *) m->a[0] + (scatter ? i : indices[i]) * m->bytes[0], m->bytes[0]);
}

static void model_gather(const struct modelled *m)
{
    move_rows(m, false);
}

static void model_scatter(const struct modelled *m)
{
    move_rows(m, true);
}

/* ---- keys of two columns ----------------------------------------------------------------------------------------- */

/* The fields of tests/support/calls.c: bit 62 of a key is the null bit, the first column follows, and the lowest 30
 * bits are the second column, in descending order. */
enum { SECOND_BITS = 30, SECOND_LAST = (1 << SECOND_BITS) - 1, SECOND_BIAS = 1 << (SECOND_BITS - 1), NULL_BIT = 62 };

static void model_key_pack(const struct modelled *m)
{
    const uint8_t *valid = m->a[2];

    for (size_t i = 0; i < m->g->count; i++) {
        const uint64_t second = SECOND_LAST - ((uint32_t) word_at(m, 1, i) + SECOND_BIAS);
        const bool     is_valid = valid[i / 8] >> i % 8 & 1;
        put(m, 3, i, is_valid ? (uint64_t) 1 << NULL_BIT | word_at(m, 0, i) << SECOND_BITS | second : second);
    }
    put(m, 4, 0, UINT32_MAX);
    put(m, 4, 1, UINT32_MAX);
}

static void model_key_unpack(const struct modelled *m)
{
    uint8_t *valid = m->a[3];

    for (size_t i = 0; i < m->g->count; i++) {
        const uint64_t key = word_at(m, 0, i);
        const bool     is_valid = key >> NULL_BIT & 1;
        put(m, 1, i, is_valid ? (uint32_t) (key >> SECOND_BITS) : 0);
        put(m, 2, i, (uint32_t) (SECOND_LAST - (key & SECOND_LAST)) - (uint32_t) SECOND_BIAS);
        if (valid)
            valid[i / 8] = (uint8_t) ((i % 8 ? valid[i / 8] : 0) | is_valid << i % 8);
    }
}

static const struct modelled *sorted_strings;

static int compare_strings(uint32_t x, uint32_t y)
{
    const struct modelled *m = sorted_strings;
    const uint8_t         *bytes = m->a[1];
    const size_t           a = word_at(m, 0, x), a_length = word_at(m, 0, x + 1) - a, b = word_at(m, 0, y),
                 b_length = word_at(m, 0, y + 1) - b;
    const int order = memcmp(bytes + a, bytes + b, a_length < b_length ? a_length : b_length);

    return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

static int by_string(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    const int      order = compare_strings(x, y);

    return order ? (sorted_strings->g->descending ? -order : order) : x < y ? -1 : x > y;
}

static void model_sort_strings(const struct modelled *m)
{
    uint32_t *rows = m->a[2];

    sorted_strings = m;
    for (size_t i = 0; i < m->g->count; i++)
        rows[i] = (uint32_t) i;
    qsort(rows, m->g->count, sizeof *rows, by_string);
    for (size_t i = 0; i < m->g->count; i++)
        put(m, 3, i, i > 0 && compare_strings(rows[i - 1], rows[i]) == 0);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

void model_array_call(const struct array_call *call, const struct given *g, void *const a[])
{
    static const struct {
        const char *name;
        void (*run)(const struct modelled *m);
    } calls[] = {
        { "scan", model_scan },
        { "segmented_scan", model_segmented_scan },
        { "reduce", model_reduce },
        { "compact", model_compact },
        { "sort", model_sort },
        { "merge", model_merge },
        { "merge_runs", model_merge_runs },
        { "search", model_search },
        { "lookup", model_lookup },
        { "equal_range", model_equal_range },
        { "reduce_by_key", model_by_key },
        { "unique", model_unique },
        { "top_k", model_top },
        { "select", model_select },
        { "gather", model_gather },
        { "scatter", model_scatter },
        { "key_pack", model_key_pack },
        { "key_unpack", model_key_unpack },
        { "sort_strings", model_sort_strings },
    };
    struct modelled m = { .g = g, .a = a };
    size_t          i = 0;

    for (size_t array = 0; array < call_arrays(call); array++)
        m.bytes[array] = call_array_bytes(&call->array[array], g);
    while (i < LENGTH(calls) && strcmp(calls[i].name, call->name + strlen("ordo_")) != 0)
        i++;
    cr_assert(i < LENGTH(calls), "%s has no model", call->name);
    calls[i].run(&m);
}
