/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "key_file.h"
#include "keys.h"
#include "roaring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool draw_keys(const struct spec *spec, bool ascending, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    if (ascending)
        return keys_draw_sorted(spec->type, dist, seed, count, keys);
    keys_draw(spec->type, dist, seed, count, keys);
    return true;
}

/* The keys of a run of the input: drawn, or of a file. */
static bool make_run(const struct spec *spec, bool ascending, size_t r, void *keys)
{
    const struct ordo_run run = spec_run(spec, r);
    const size_t          bytes = type_bytes(spec->type);
    void *const           to = (char *) keys + run.at * bytes;
    if (spec->dist != KEYS_FILE)
        return draw_keys(spec, ascending, spec->dist, spec->seed + r * 100, run.count, to);
    numbers_copy(spec->numbers, bytes, run.at, run.count, to);
    return !ascending || elements_sort(spec->type, to, NULL, 0, run.count);
}

/* Draws each key from GROUPS, and sorts them if equal keys must be adjacent. */
static bool make_groups(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = type_bytes(spec->type);
    if (!make_run(spec, false, 0, in->keys))
        return false;
    for (size_t i = 0; i < spec->count && spec->dist == UNIFORM; i++) {
        const uint64_t number = draw(spec->seed, i) % GROUPS, group = draw(4000, number);
        if (bytes == 16)
            key_form_put(spec->type, in->keys, i, (struct key_form) { group, draw(4001, number) });
        else
            set_element(in->keys, bytes, i, key_stored(spec->type, bytes == 4 ? group >> 32 : group));
    }
    return spec->variant == 0 || elements_sort(spec->type, in->keys, NULL, 0, spec->count);
}

size_t inputs_column(const struct spec *spec, int c)
{
    return c == 0 ? 0 : spec->count;
}

struct columns_fill {
    const struct spec   *spec;
    const struct inputs *in;
};

/* A float like this one that is finite and not -0, so that < orders all of them. */
static uint32_t plain_float(uint32_t bits)
{
    return (bits & 0x7f800000u) == 0x7f800000u ? bits ^ 0x40000000u : bits == 0x80000000u ? 0 : bits;
}

/* Splits key i into columns. The key becomes the one that they pack into. */
static void columns_of(void *fill_, size_t i)
{
    const struct columns_fill *fill = fill_;
    struct key_form            form = key_form_at(ORDO_U128, fill->in->keys, i);
    const uint32_t             number = plain_float((uint32_t) key_stored(ORDO_F32, (uint32_t) form.high));
    form.high = (form.high >> 32) << 32 | key_order(ORDO_F32, number);
    key_form_put(ORDO_U128, fill->in->keys, i, form);
    set_element(fill->in->rows, 4, inputs_column(fill->spec, 0) + i, form.high >> 32);
    set_element(fill->in->rows, 4, inputs_column(fill->spec, 1) + i, number);
    set_element(fill->in->rows, 8, inputs_column(fill->spec, 2) + i, form.low);
}

/* gather: random indices and distinct rows. */
static bool make_keys(const struct spec *spec, struct inputs *in)
{
    const enum workload w = spec->workload;
    const bool          sorted = w == MERGE || w == MERGE_RUNS || w == SEARCH || w == LOOKUP || w == EQUAL_RANGE;
    const size_t        words = w == GATHER ? spec->count * spec_row_bytes(spec) / 4 : 0;
    if (w == GROUPBY)
        return make_groups(spec, in);
    for (size_t i = 0; i < spec->count && w == GATHER; i++)
        set_element(in->keys, 4, i, draw(spec->seed, i) % spec->count);
    for (size_t i = 0; i < words; i++)
        set_element(in->rows, 4, i, draw(spec->seed + 1, i));
    bool made = true;
    for (size_t r = 0; r < spec_runs(spec) && w != GATHER && made; r++)
        made = make_run(spec, sorted, r, in->keys);
    if (w == COLUMNS && made)
        for_each(spec->count, columns_of, &(struct columns_fill) { spec, in });
    return made;
}

struct hits {
    const struct spec   *spec;
    const struct inputs *in;
};

static void hits_of(void *arg, size_t i)
{
    const struct hits *hits = arg;
    const struct spec *spec = hits->spec;
    const size_t       bytes = type_bytes(spec->type);
    const uint64_t     r = draw(spec->seed + 8, i);
    if (r % 8 != 0)
        move_element(hits->in->queries, i, hits->in->keys, (size_t) (r / 8 % spec->count), bytes);
}

static bool make_queries(const struct spec *spec, const struct inputs *in)
{
    const bool      sorted = variant_is_sorted(spec->variant);
    const bool      given = spec->dist == KEYS_FILE || dist_has_times(spec->dist); /* times would ascend */
    const bool      drawn = spec->workload == SEARCH && !given;
    const enum dist dist = spec->dist == KEYS_FILE || dist_is_in_order(spec->dist) ? UNIFORM : spec->dist;
    if (!draw_keys(spec, drawn && sorted, dist, spec->seed + 9, spec->n_queries, in->queries))
        return false;
    if (drawn)
        return true;
    if (spec->count > 0)
        for_each(spec->n_queries, hits_of, &(struct hits) { spec, in });
    return !sorted || elements_sort(spec->type, in->queries, NULL, 0, spec->n_queries);
}

static bool make_set(const struct spec *spec, struct inputs *in)
{
    uint32_t *keys = in->keys = malloc(spec->count * sizeof *keys + 1);
    in->rows = malloc(roaring_bytes_max(spec->count));
    if (!keys || !in->rows || !keys_draw_sorted(ORDO_U32, spec->dist, spec->seed, spec->count, keys))
        return false;
    for (size_t i = 0; i < spec->count; i++)
        if (i == 0 || keys[i] != keys[in->kept - 1])
            keys[in->kept++] = keys[i];
    in->set_bytes = roaring_write(keys, in->kept, in->rows);
    return true;
}

bool inputs_make(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = spec->workload == GATHER ? 4 : type_bytes(spec->type);
    const size_t row_bytes = spec->workload == GATHER || spec->workload == COLUMNS ? spec_row_bytes(spec) : 0;
    const bool   queries = !workload_is_dict(spec->workload) && workload_has_queries(spec->workload);
    *in = (struct inputs) { 0 };
    if (workload_is_strings(spec->workload)) {
        const bool strings = strings_make(spec, &in->strings, &in->asked);
        if (!strings)
            inputs_free(in);
        return strings;
    }
    if (workload_is_roaring(spec->workload)) {
        const bool set = make_set(spec, in);
        if (!set)
            inputs_free(in);
        return set;
    }
    in->keys = malloc(spec->count * bytes + 1);
    in->values = spec->value_bytes ? malloc(spec->count * spec->value_bytes + 1) : NULL;
    in->flags = spec->workload == COMPACT ? malloc(spec->count + 1) : NULL;
    in->rows = row_bytes ? malloc(spec->count * row_bytes + 1) : NULL;
    in->queries = queries ? malloc(spec->n_queries * bytes + 1) : NULL;
    bool made = in->keys && (in->values || !spec->value_bytes) && (in->flags || spec->workload != COMPACT) &&
                (in->queries || !queries) && (in->rows || !row_bytes);
    made = made && make_keys(spec, in) && (!queries || make_queries(spec, in));
    if (!made) {
        inputs_free(in);
        return false;
    }
    values_make(spec->value_bytes, 0, spec->count, in->values);
    for (size_t i = 0; i < spec->count && in->flags; i++) {
        const uint64_t r = draw(spec->seed + 7, i);
        in->flags[i] = r & 1 ? (uint8_t) (1 + (r >> 1) % 255) : 0;
        in->kept += in->flags[i] != 0;
    }
    return true;
}

void inputs_free(struct inputs *in)
{
    free(in->keys);
    free(in->values);
    free(in->flags);
    free(in->queries);
    free(in->rows);
    strings_free(&in->strings);
    strings_free(&in->asked);
    *in = (struct inputs) { 0 };
}

struct check;
/* Whether element i is right, alone and after element i - 1. Writes the reason unless `why` is NULL. */
typedef bool (*right_fn)(const struct check *check, size_t i, char *why);

struct check {
    const struct spec   *spec;
    const struct inputs *in;
    const struct answer *answer;
    bool                 ties_may_swap;
    size_t               key_bytes;
    right_fn             right_at;
    size_t               first_wrong[MAX_PARTS]; /* SIZE_MAX: none */
};

static struct key_form form_at(const struct check *check, const void *keys, size_t i)
{
    return key_form_at(check->spec->type, keys, i);
}

/* Negative, zero or positive: key i of `keys` against a query. */
static int compared(const struct check *check, const void *keys, size_t i, struct key_form query)
{
    return key_form_compare(form_at(check, keys, i), query);
}

static bool rank_right_at(const struct check *check, size_t i, char *why)
{
    const size_t          count = check->spec->count, rank = check->answer->ranks[i];
    const struct key_form query = form_at(check, check->in->queries, i);
    if (rank > count)
        return because(why, "rank[%zu] = %zu of %zu keys", i, rank, count);
    if (rank > 0 && compared(check, check->in->keys, rank - 1, query) >= 0)
        return because(why, "rank[%zu] = %zu is too high", i, rank);
    if (rank < count && compared(check, check->in->keys, rank, query) < 0)
        return because(why, "rank[%zu] = %zu is too low", i, rank);
    return true;
}

static bool ranges_right_at(const struct check *check, size_t i, char *why)
{
    const size_t          count = check->spec->count, rank = check->answer->ranks[i], upper = check->answer->uppers[i];
    const struct key_form query = form_at(check, check->in->queries, i);
    if (!rank_right_at(check, i, why))
        return false;
    if (upper < rank || upper > count)
        return because(why, "upper[%zu] = %zu of %zu keys, lower = %zu", i, upper, count, rank);
    if (upper > rank && compared(check, check->in->keys, upper - 1, query) != 0)
        return because(why, "upper[%zu] = %zu is too high", i, upper);
    if (upper < count && compared(check, check->in->keys, upper, query) <= 0)
        return because(why, "upper[%zu] = %zu is too low", i, upper);
    return true;
}

/* The first of ascending keys that is not less. */
static size_t first_not_below(const struct check *check, const void *keys, size_t count, struct key_form query)
{
    size_t from = 0, to = count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (compared(check, keys, middle, query) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Whether element `index` is the first with this key. */
static bool is_first(const struct check *check, uint64_t index, struct key_form query)
{
    return index < check->spec->count && compared(check, check->in->keys, (size_t) index, query) == 0 &&
           (index == 0 || compared(check, check->in->keys, (size_t) index - 1, query) < 0);
}

static bool lookup_right_at(const struct check *check, size_t i, char *why)
{
    const struct spec    *spec = check->spec;
    const struct key_form query = form_at(check, check->in->queries, i);
    const uint8_t         found = check->answer->found[i];
    const uint64_t        value = spec->value_bytes ? element(check->answer->values, spec->value_bytes, i) : 0;
    if (found == 1 && spec->value_bytes && value == value_of(spec->value_bytes, (uint32_t) value) &&
        is_first(check, (uint32_t) value, query))
        return true; /* needs no search */
    const size_t rank = first_not_below(check, check->in->keys, check->spec->count, query);
    const bool   present = is_first(check, rank, query);
    if (found != present)
        return because(why, "found[%zu] = %u, but the key is %s", i, found, present ? "there" : "not there");
    if (!spec->value_bytes)
        return true;
    if (present)
        return because(why, "values_out[%zu] = 0x%" PRIx64 ", but in[%zu] is the first such key", i, value, rank);
    if (value != POISON_WORD >> (64 - 8 * spec->value_bytes))
        return because(why, "values_out[%zu] was written although the key is not there", i);
    return true;
}

static void check_span(void *arg, size_t from, size_t to, int part)
{
    struct check *check = arg;
    check->first_wrong[part] = SIZE_MAX;
    for (size_t i = from; i < to; i++) {
        if (check->right_at(check, i, NULL))
            continue;
        check->first_wrong[part] = i;
        return;
    }
}

static bool check_all(struct check *check, size_t count, right_fn right_at, char *why)
{
    check->right_at = right_at;
    const int parts = for_spans(count, check_span, check);
    for (int p = 0; p < parts; p++)
        if (check->first_wrong[p] != SIZE_MAX)
            return check->right_at(check, check->first_wrong[p], why);
    return true;
}

/* Maxima are in ordered form. */
static bool check_scan(const struct check *check, char *why)
{
    const struct spec *spec = check->spec;
    const bool         maximum = spec_op(spec) == ORDO_MAX;
    const size_t       bytes = check->key_bytes;
    uint64_t           all = 0;
    for (size_t i = 0; i < spec->count; i++) {
        const uint64_t before = all;
        const uint64_t here = maximum ? form_at(check, check->in->keys, i).low : element(check->in->keys, bytes, i);
        all = !maximum ? (all + here) & (bytes == 4 ? UINT32_MAX : UINT64_MAX) : here > all ? here : all;
        const uint64_t want = maximum ? key_stored(spec->type, all) : before;
        if (spec->workload == SCAN && element(check->answer->keys, bytes, i) != want)
            return because(why, "out[%zu] = 0x%" PRIx64 ", not 0x%" PRIx64, i, element(check->answer->keys, bytes, i),
                           want);
    }
    if (spec->workload == SCAN)
        return true;
    const uint64_t got = element(check->answer->total, bytes, 0), want = maximum ? key_stored(spec->type, all) : all;
    return got == want || because(why, "the result is 0x%" PRIx64 ", not 0x%" PRIx64, got, want);
}

static bool same_key(const struct check *check, const void *a, size_t i, const void *b, size_t k)
{
    const size_t bytes = check->key_bytes;
    return memcmp((const char *) a + i * bytes, (const char *) b + k * bytes, bytes) == 0;
}

static bool check_compact(const struct check *check, char *why)
{
    const struct answer *out = check->answer;
    const size_t         value_bytes = check->spec->value_bytes;
    size_t               kept = 0;
    if (out->kept != check->in->kept)
        return because(why, "%u were kept, not %zu", out->kept, check->in->kept);
    for (size_t i = 0; i < check->spec->count; i++) {
        if (!check->in->flags[i])
            continue;
        const bool key = same_key(check, out->keys, kept, check->in->keys, i);
        const bool value =
            !value_bytes || element(out->values, value_bytes, kept) == value_of((uint32_t) value_bytes, i);
        if (!key || !value)
            return because(why, "out[%zu] is not in[%zu]: another %s", kept, i, key ? "value" : "key");
        kept++;
    }
    return true;
}

static uint64_t value_at(const struct check *check, const void *values, size_t i)
{
    return check->spec->value_bytes ? element(values, check->spec->value_bytes, i) : 0;
}

/* If ties may swap, equal sums of hashes mean equal sets of values of a key, with very high probability. */
static bool order_right(const struct check *check, const struct pairs *sorted, char *why)
{
    const struct answer *out = check->answer;
    uint64_t             more = 0;
    for (size_t i = 0; i < check->spec->count; i++) {
        const struct key_form key = form_at(check, sorted->keys, i), got = form_at(check, out->keys, i);
        const uint64_t        value = value_at(check, out->values, i), want = value_at(check, sorted->values, i);
        if (!same_key(check, out->keys, i, sorted->keys, i))
            return because(why,
                           "out[%zu] has the ordered form 0x%" PRIx64 "%016" PRIx64 ", not 0x%" PRIx64 "%016" PRIx64, i,
                           got.high, got.low, key.high, key.low);
        if (value != want && !check->ties_may_swap)
            return because(why, "values_out[%zu] = 0x%" PRIx64 ", not 0x%" PRIx64, i, value, want);
        more += draw(key.low ^ key.high, value) - draw(key.low ^ key.high, want);
    }
    return more == 0 || because(why, "the output does not hold the same elements as the input");
}

static bool groups_right(const struct check *check, const struct pairs *sorted, char *why)
{
    const struct answer *out = check->answer;
    const size_t         count = check->spec->count;
    size_t               groups = 0;
    for (size_t i = 0, end = 0; i < count; i = end, groups++) {
        uint64_t sum = 0;
        for (; end < count && same_key(check, sorted->keys, end, sorted->keys, i); end++)
            sum += value_at(check, sorted->values, end);
        sum = check->spec->value_bytes == 4 ? (uint32_t) sum : sum;
        if (groups >= out->kept || !same_key(check, out->keys, groups, sorted->keys, i))
            return because(why, "group %zu has another key, or is missing", groups);
        if (out->counts[groups] != end - i)
            return because(why, "group %zu has %u elements, not %zu", groups, out->counts[groups], end - i);
        if (value_at(check, out->values, groups) != sum)
            return because(why, "the sum of group %zu is 0x%" PRIx64 ", not 0x%" PRIx64, groups,
                           value_at(check, out->values, groups), sum);
    }
    return groups == out->kept || because(why, "%u groups came out, not %zu", out->kept, groups);
}

/* The greatest keys come first, equal keys in input order. */
static bool top_right(const struct check *check, const struct pairs *sorted, char *why)
{
    const struct answer *out = check->answer;
    const size_t         k = spec_top(check->spec);
    for (size_t end = check->spec->count, first = end, at = 0; at < k; end = first) {
        while (first > 0 && same_key(check, sorted->keys, first - 1, sorted->keys, end - 1))
            first--;
        for (size_t i = first; i < end && at < k; i++, at++)
            if (!same_key(check, out->keys, at, sorted->keys, i) ||
                value_at(check, out->values, at) != value_at(check, sorted->values, i))
                return because(why, "out[%zu] has another key or value", at);
    }
    return true;
}

static bool median_right(const struct check *check, const struct pairs *sorted, char *why)
{
    const size_t k = check->spec->count / 2;
    return same_key(check, check->answer->keys, 0, sorted->keys, k) ||
           because(why, "the result is 0x%" PRIx64 ", not 0x%" PRIx64,
                   element(check->answer->keys, check->key_bytes, 0), element(sorted->keys, check->key_bytes, k));
}

static bool check_sorted(const struct check *check, char *why,
                         bool (*right)(const struct check *check, const struct pairs *sorted, char *why))
{
    const size_t count = check->spec->count, bytes = check->key_bytes, value_bytes = check->spec->value_bytes;
    struct pairs sorted = { malloc(count * bytes + 1), malloc(count * value_bytes + 1) };
    bool         good = sorted.keys && sorted.values;
    if (good) {
        memcpy(sorted.keys, check->in->keys, count * bytes);
        if (value_bytes)
            memcpy(sorted.values, check->in->values, count * value_bytes);
        good = elements_sort(check->spec->type, sorted.keys, sorted.values, (uint32_t) value_bytes, count);
    }
    good = good ? right(check, &sorted, why) : because(why, "no memory to check the results");
    free(sorted.keys);
    free(sorted.values);
    return good;
}

static bool row_right_at(const struct check *check, size_t i, char *why)
{
    const size_t bytes = spec_row_bytes(check->spec), from = (size_t) element(check->in->keys, 4, i);
    return memcmp((const char *) check->answer->keys + i * bytes, (const char *) check->in->rows + from * bytes,
                  bytes) == 0 ||
           because(why, "row %zu is not row %zu", i, from);
}

static bool check_set(const struct check *check, char *why)
{
    const bool   reads = check->spec->workload == READROARING;
    const size_t count = reads ? check->in->kept : check->in->set_bytes, bytes = reads ? sizeof(uint32_t) : 1;
    const char  *what = reads ? "keys" : "bytes", *got = check->answer->keys;
    const char  *want = reads ? check->in->keys : check->in->rows;
    if (check->answer->kept != count)
        return because(why, "the set has %u %s, not %zu", check->answer->kept, what, count);
    for (size_t i = 0; i < count; i++)
        if (memcmp(got + i * bytes, want + i * bytes, bytes) != 0)
            return because(why, "%s[%zu] is wrong", what, i);
    return true;
}

bool answer_check(const struct spec *spec, const struct inputs *in, const struct answer *answer, bool ties_may_swap,
                  char *why)
{
    struct check check = { spec, in, answer, ties_may_swap, type_bytes(spec->type), NULL, { 0 } };
    why[0] = 0;
    if (workload_is_strings(spec->workload))
        return strings_check(spec, &in->strings, &in->asked, &answer->strings, why);
    switch (spec->workload) {
    case SCAN:
    case REDUCE:
        return check_scan(&check, why);
    case COMPACT:
        return check_compact(&check, why);
    case GROUPBY:
        return check_sorted(&check, why, groups_right);
    case TOP:
        return check_sorted(&check, why, top_right);
    case SELECT:
        return check_sorted(&check, why, median_right);
    case SEARCH:
        return check_all(&check, spec->n_queries, rank_right_at, why);
    case EQUAL_RANGE:
        return check_all(&check, spec->n_queries, ranges_right_at, why);
    case LOOKUP:
        return check_all(&check, spec->n_queries, lookup_right_at, why);
    case GATHER:
        return check_all(&check, spec->count, row_right_at, why);
    case READROARING:
    case WRITEROARING:
        return check_set(&check, why);
    default:
        return check_sorted(&check, why, order_right);
    }
}
