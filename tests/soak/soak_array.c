/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of array.h and their right results (soak.h). Arrays are numbered as in tests/support/calls.c. */
#include "soak.h"

#include "tests/primitive/scan_common.h"

#include <stdlib.h>

static uint64_t word_at(const struct play *p, size_t array, size_t i)
{
    return p->want[array] && p->bytes[array] ? read_bits(p->want[array], p->bytes[array], i) : 0;
}

static void put(struct play *p, size_t array, size_t i, uint64_t word)
{
    if (p->want[array] && p->bytes[array])
        write_bits(p->want[array], p->bytes[array], i, word);
}

static uint64_t form_at(const struct play *p, size_t array, size_t i)
{
    return ordo_key_bits(p->g.type, (const uint8_t *) p->want[array] + i * p->bytes[array]);
}

/* ---- elements in order ------------------------------------------------------------------------------------------- */

struct item {
    uint64_t form, key, value;
    size_t   i;
};

static int by_form(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    return x->form != y->form ? (x->form < y->form ? -1 : 1) : x->i < y->i ? -1 : x->i > y->i;
}

/* The bits that a sort compares, complemented for descending order. */
static uint64_t sorted_form(const struct play *p, uint64_t form, bool greatest_first)
{
    const uint32_t all = (uint32_t) (8 * ordo_type_bytes(p->g.type)), first = p->g.first_bit;
    const uint32_t bits = p->g.bits ? p->g.bits : all - first;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t) 1 << bits) - 1;

    form = form >> first & mask;
    return greatest_first ? UINT64_MAX - form : form;
}

/* Makes items of elements first .. first + n - 1 of two arrays, and sorts them stably. */
static void add_items(const struct play *p, struct item *items, size_t keys, size_t values, size_t n, size_t from,
                      bool greatest_first)
{
    for (size_t i = 0; i < n; i++)
        items[from + i] = (struct item) { sorted_form(p, form_at(p, keys, i), greatest_first), word_at(p, keys, i),
                                          values < CALL_ARRAYS ? word_at(p, values, i) : 0, from + i };
}

static struct item *sorted_items(const struct play *p, size_t keys, size_t values, size_t n, bool greatest_first)
{
    struct item *items = test_alloc((n + 1) * sizeof *items);

    add_items(p, items, keys, values, n, 0, greatest_first);
    qsort(items, n, sizeof *items, by_form);
    return items;
}

static void put_items(struct play *p, const struct item *items, size_t n, size_t keys, size_t values)
{
    for (size_t i = 0; i < n; i++) {
        put(p, keys, i, items[i].key);
        if (values < CALL_ARRAYS)
            put(p, values, i, items[i].value);
    }
}

/* Sorts an input by key. */
static void sort_input(struct play *p, size_t keys, size_t from, size_t n)
{
    AUTO_FREE struct item *items = test_alloc((n + 1) * sizeof *items);

    for (size_t i = 0; i < n; i++)
        items[i] = (struct item) { sorted_form(p, form_at(p, keys, from + i), p->g.descending),
                                   word_at(p, keys, from + i), 0, i };
    qsort(items, n, sizeof *items, by_form);
    for (size_t i = 0; i < n; i++)
        put(p, keys, from + i, items[i].key);
}

/* ---- scans and reductions ---------------------------------------------------------------------------------------- */

static void choose_scan(struct life *l, struct play *p)
{
    p->g.array_op = (ordo_op) (goes_with(p->g.type, ORDO_SUM) ? soak_below(l, 3) : 1 + soak_below(l, 2));
    p->g.inclusive = soak_one_in(l, 2);
}

static void scan(struct play *p, const uint8_t *heads, size_t out)
{
    const uint64_t none = identity(p->g.type, p->g.array_op);
    uint64_t       all = none;

    for (size_t i = 0; i < p->g.count; i++) {
        const uint64_t before = heads && heads[i] ? none : all;
        all = combine(p->g.type, p->g.array_op, before, word_at(p, 0, i));
        put(p, out, i, p->g.inclusive ? all : before);
    }
}

static void model_scan(struct life *l, struct play *p)
{
    (void) l;
    scan(p, NULL, 1);
}

static void model_segmented_scan(struct life *l, struct play *p)
{
    (void) l;
    scan(p, p->want[1], 2);
}

static void model_reduce(struct life *l, struct play *p)
{
    uint64_t all = identity(p->g.type, p->g.array_op);

    (void) l;
    for (size_t i = 0; i < p->g.count; i++)
        all = combine(p->g.type, p->g.array_op, all, word_at(p, 0, i));
    put(p, 1, 0, all);
}

static void model_compact(struct life *l, struct play *p)
{
    const uint8_t *flags = p->want[2];
    uint32_t       kept = 0;

    (void) l;
    for (size_t i = 0; i < p->g.count; i++) {
        if (!flags[i])
            continue;
        put(p, 3, kept, word_at(p, 0, i));
        put(p, 4, kept++, word_at(p, 1, i));
    }
    put(p, 5, 0, kept);
    p->compared[3] = p->compared[4] = kept;
}

/* ---- sorts, merges, the first of an order ------------------------------------------------------------------------ */

static void choose_sort(struct life *l, struct play *p)
{
    const uint32_t all = (uint32_t) (8 * ordo_type_bytes(p->g.type));

    p->g.descending = soak_one_in(l, 2);
    if (soak_one_in(l, 2))
        return;
    p->g.first_bit = (uint32_t) soak_below(l, all);
    p->g.bits = (uint32_t) soak_below(l, all - p->g.first_bit + 1);
}

static void model_sort(struct life *l, struct play *p)
{
    AUTO_FREE struct item *items = sorted_items(p, 0, 1, p->g.count, p->g.descending);

    (void) l;
    put_items(p, items, p->g.count, 2, 3);
}

static void choose_merge(struct life *l, struct play *p)
{
    p->g.descending = soak_one_in(l, 2);
}

static void fix_merge(struct life *l, struct play *p)
{
    (void) l;
    sort_input(p, 0, 0, p->g.count);
    sort_input(p, 2, 0, p->g.second);
}

static void model_merge(struct life *l, struct play *p)
{
    const size_t           n = p->g.count + p->g.second;
    AUTO_FREE struct item *items = test_alloc((n + 1) * sizeof *items);

    (void) l;
    add_items(p, items, 0, 1, p->g.count, 0, p->g.descending);
    add_items(p, items, 2, 3, p->g.second, p->g.count, p->g.descending);
    qsort(items, n, sizeof *items, by_form);
    put_items(p, items, n, 4, 5);
}

/* Runs in any order, some empty. */
static void fix_merge_runs(struct life *l, struct play *p)
{
    static struct ordo_run runs[ORDO_MAX_RUNS];
    const size_t           n = 1 + soak_below(l, ORDO_MAX_RUNS);
    size_t                 at = 0;

    for (size_t r = 0; r < n; r++) {
        const size_t left = p->g.count - at;
        runs[r] = (struct ordo_run) { at, r + 1 == n ? left : soak_below(l, left + 1) };
        sort_input(p, 0, at, runs[r].count);
        at += runs[r].count;
    }
    for (size_t r = n; r > 1; r--) {
        const size_t          other = soak_below(l, r);
        const struct ordo_run was = runs[r - 1];
        runs[r - 1] = runs[other];
        runs[other] = was;
    }
    p->g.runs = runs;
    p->g.n_runs = n;
}

static void model_merge_runs(struct life *l, struct play *p)
{
    AUTO_FREE struct item *items = test_alloc((p->g.count + 1) * sizeof *items);
    size_t                 n = 0;

    (void) l;
    for (size_t r = 0; r < p->g.n_runs; r++)
        for (size_t i = 0; i < p->g.runs[r].count; i++, n++) {
            const size_t at = p->g.runs[r].at + i;
            items[n] = (struct item) { sorted_form(p, form_at(p, 0, at), p->g.descending), word_at(p, 0, at),
                                       word_at(p, 1, at), n };
        }
    qsort(items, n, sizeof *items, by_form);
    put_items(p, items, n, 2, 3);
}

static void choose_top(struct life *l, struct play *p)
{
    p->g.greatest = soak_one_in(l, 2);
    if (soak_one_in(l, 2))
        p->g.k = soak_below(l, p->g.n < 1000 ? p->g.n : 1000);
}

static void model_top(struct life *l, struct play *p)
{
    AUTO_FREE struct item *items = sorted_items(p, 0, 1, p->g.count, p->g.greatest);

    (void) l;
    put_items(p, items, p->g.k, 2, 3);
    for (size_t i = 0; i < p->g.k; i++)
        put(p, 4, i, items[i].i);
}

static void model_select(struct life *l, struct play *p)
{
    AUTO_FREE struct item *items = sorted_items(p, 0, CALL_ARRAYS, p->g.count, p->g.greatest);

    (void) l;
    put(p, 1, 0, items[p->g.k].key);
    put(p, 2, 0, items[p->g.k].i);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void choose_groups(struct life *l, struct play *p)
{
    static const ordo_type values[] = { ORDO_U32, ORDO_U64, ORDO_I32, ORDO_F32 };

    p->g.value = values[soak_below(l, LENGTH(values))];
    p->g.array_op = (ordo_op) (goes_with(p->g.value, ORDO_SUM) ? soak_below(l, 3) : 1 + soak_below(l, 2));
    p->g.wide = p->g.array_op == ORDO_SUM && (p->g.value == ORDO_U32 || p->g.value == ORDO_I32) && soak_one_in(l, 2);
    p->g.sorted = soak_one_in(l, 3);
}

static uint64_t widened(const struct play *p, uint64_t value)
{
    return p->g.wide && p->g.value == ORDO_I32 ? (uint64_t) (int64_t) (int32_t) (uint32_t) value : value;
}

/* Groups of adjacent equal keys: writes keys, values (CALL_ARRAYS: none), counts and their number. */
static void model_groups(struct play *p, size_t values, size_t keys_out, size_t values_out, size_t counts,
                         size_t groups)
{
    const size_t           n = p->g.count;
    AUTO_FREE struct item *items = test_alloc((n + 1) * sizeof *items);
    size_t                 g = 0;

    add_items(p, items, 0, values, n, 0, false);
    if (!p->g.sorted)
        qsort(items, n, sizeof *items, by_form);
    for (size_t i = 0, end = 0; i < n; i = end, g++) {
        uint64_t all = widened(p, items[i].value);
        for (end = i + 1; end < n && items[end].key == items[i].key; end++)
            all = combine(p->g.value, p->g.array_op, all, widened(p, items[end].value));
        if (g >= p->g.room)
            continue;
        put(p, keys_out, g, items[i].key);
        put(p, counts, g, end - i);
        if (values < CALL_ARRAYS)
            put(p, values_out, g, all);
    }
    put(p, groups, 0, g);
}

static void model_by_key(struct life *l, struct play *p)
{
    (void) l;
    model_groups(p, 1, 2, 3, 4, 5);
}

static void model_unique(struct life *l, struct play *p)
{
    (void) l;
    model_groups(p, CALL_ARRAYS, 1, CALL_ARRAYS, 2, 3);
}

/* ---- searches ---------------------------------------------------------------------------------------------------- */

static void choose_search(struct life *l, struct play *p)
{
    p->g.upper = soak_one_in(l, 2);
    p->g.sorted_queries = soak_one_in(l, 4);
    p->g.scheme = (ordo_scheme) soak_below(l, 4);
}

static size_t bound(const struct play *p, uint64_t form, bool upper)
{
    size_t low = 0, high = p->g.second;

    while (low < high) {
        const size_t   middle = low + (high - low) / 2;
        const uint64_t is = form_at(p, 0, middle);
        if (upper ? is <= form : is < form)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void model_search(struct life *l, struct play *p)
{
    (void) l;
    for (size_t i = 0; i < p->g.count; i++)
        put(p, 2, i, bound(p, form_at(p, 1, i), p->g.upper));
}

static void model_equal_range(struct life *l, struct play *p)
{
    (void) l;
    for (size_t i = 0; i < p->g.count; i++) {
        put(p, 2, i, bound(p, form_at(p, 1, i), false));
        put(p, 3, i, bound(p, form_at(p, 1, i), true));
    }
}

static void model_lookup(struct life *l, struct play *p)
{
    uint8_t *found = p->want[4];

    (void) l;
    for (size_t i = 0; i < p->g.count; i++) {
        const uint64_t form = form_at(p, 2, i);
        const size_t   at = bound(p, form, false);
        const bool     is_there = at < p->g.second && form_at(p, 0, at) == form;
        if (found)
            found[i] = is_there;
        if (is_there)
            put(p, 3, i, word_at(p, 1, at));
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void choose_rows(struct life *l, struct play *p)
{
    p->g.row_bytes = (uint32_t) soak_size(l, 40);
}

static void copy_row(struct play *p, size_t out, size_t to, size_t in, size_t from)
{
    memcpy((uint8_t *) p->want[out] + to * p->bytes[out], (const uint8_t *) p->want[in] + from * p->bytes[in],
           p->bytes[in]);
}

static void model_gather(struct life *l, struct play *p)
{
    const uint32_t *indices = p->want[1];

    (void) l;
    for (size_t i = 0; i < p->g.count; i++)
        if (indices[i] < p->g.second)
            copy_row(p, 2, i, 0, indices[i]);
}

static void model_scatter(struct life *l, struct play *p)
{
    const uint32_t *indices = p->want[1];

    (void) l;
    for (size_t i = 0; i < p->g.count; i++)
        if (indices[i] < p->g.second)
            copy_row(p, 2, indices[i], 0, i);
}

/* ---- keys of two columns ----------------------------------------------------------------------------------------- */

/* The fields of tests/support/calls.c: bit 62 of a key is the null bit, the first column follows, and the lowest 30
 * bits are the second column, in descending order. */
enum { SECOND_BITS = 30, SECOND_LAST = (1 << SECOND_BITS) - 1, SECOND_BIAS = 1 << (SECOND_BITS - 1), NULL_BIT = 62 };

static void choose_fields(struct life *l, struct play *p)
{
    (void) l;
    p->g.type = ORDO_U64;
}

static void model_key_pack(struct life *l, struct play *p)
{
    const uint8_t *valid = p->want[2];

    (void) l;
    for (size_t i = 0; i < p->g.count; i++) {
        const uint64_t second = SECOND_LAST - ((uint32_t) word_at(p, 1, i) + SECOND_BIAS);
        const bool     is_valid = valid[i / 8] >> i % 8 & 1;
        put(p, 3, i, is_valid ? (uint64_t) 1 << NULL_BIT | word_at(p, 0, i) << SECOND_BITS | second : second);
    }
    put(p, 4, 0, UINT32_MAX);
    put(p, 4, 1, UINT32_MAX);
}

static void model_key_unpack(struct life *l, struct play *p)
{
    uint8_t *valid = p->want[3];

    (void) l;
    for (size_t i = 0; i < p->g.count; i++) {
        const uint64_t key = word_at(p, 0, i);
        const bool     is_valid = key >> NULL_BIT & 1;
        put(p, 1, i, is_valid ? (uint32_t) (key >> SECOND_BITS) : 0);
        put(p, 2, i, (uint32_t) (SECOND_LAST - (key & SECOND_LAST)) - (uint32_t) SECOND_BIAS);
        if (valid)
            valid[i / 8] = (uint8_t) ((i % 8 ? valid[i / 8] : 0) | is_valid << i % 8);
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define ROW                                                                                                            \
    {                                                                                                                  \
        1, 0, 0, 1                                                                                                     \
    }

const struct soak_row soak_array_rows[] = {
    { "ordo_scan", ROW, ROW_ARRAY, .choose = choose_scan, .model = model_scan },
    { "ordo_segmented_scan", ROW, ROW_ARRAY, .choose = choose_scan, .model = model_segmented_scan },
    { "ordo_reduce", ROW, ROW_ARRAY, .choose = choose_scan, .model = model_reduce },
    { "ordo_compact", ROW, ROW_ARRAY, .model = model_compact },
    { "ordo_sort", ROW, ROW_ARRAY, .choose = choose_sort, .model = model_sort },
    { "ordo_merge", ROW, ROW_ARRAY, .choose = choose_merge, .fix = fix_merge, .model = model_merge },
    { "ordo_merge_runs", ROW, ROW_ARRAY, .choose = choose_merge, .fix = fix_merge_runs, .model = model_merge_runs },
    { "ordo_search", ROW, ROW_ARRAY, .choose = choose_search, .model = model_search },
    { "ordo_lookup", ROW, ROW_ARRAY, .choose = choose_search, .model = model_lookup },
    { "ordo_equal_range", ROW, ROW_ARRAY, .choose = choose_search, .model = model_equal_range },
    { "ordo_reduce_by_key", ROW, ROW_ARRAY, .choose = choose_groups, .model = model_by_key },
    { "ordo_unique", ROW, ROW_ARRAY, .choose = choose_groups, .model = model_unique },
    { "ordo_top_k", ROW, ROW_ARRAY, .choose = choose_top, .model = model_top },
    { "ordo_select", ROW, ROW_ARRAY, .choose = choose_top, .model = model_select },
    { "ordo_gather", ROW, ROW_ARRAY, .choose = choose_rows, .model = model_gather },
    { "ordo_scatter", ROW, ROW_ARRAY, .choose = choose_rows, .model = model_scatter },
    { "ordo_key_pack", ROW, ROW_ARRAY, .choose = choose_fields, .model = model_key_pack },
    { "ordo_key_unpack", ROW, ROW_ARRAY, .choose = choose_fields, .model = model_key_unpack },
};
const size_t n_soak_array_rows = LENGTH(soak_array_rows);
