/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "bench/common/threads.h"
#include "keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t order_at(const struct check *check, const void *keys, size_t i)
{
    return key_order(check->spec->type, element(keys, check->key_bytes, i));
}

static uint64_t input_index(const struct check *check, uint64_t value)
{
    const uint64_t i = (uint32_t) value;
    return value == value_of(check->spec->value_bytes, (size_t) i) && i < check->spec->count ? i : UINT64_MAX;
}

/* With values, pairs (key, input index) ascend strictly and each key belongs to its index. So all indices differ,
 * none is missing, and equal keys keep their order. */
static bool ordered_at(const struct check *check, size_t i, char *why)
{
    const struct answer *out = check->answer;
    const uint64_t       here = order_at(check, out->keys, i), before = i ? order_at(check, out->keys, i - 1) : 0;
    if (before > here)
        return because(why, "out[%zu] is less than out[%zu]: 0x%" PRIx64 " after 0x%" PRIx64 " (ordered forms)", i,
                       i - 1, here, before);
    if (!check->spec->value_bytes)
        return true;

    const uint64_t value = element(out->values, check->spec->value_bytes, i);
    const uint64_t index = input_index(check, value);
    if (index == UINT64_MAX)
        return because(why, "values_out[%zu] = 0x%" PRIx64 " is no value of the input", i, value);
    if (element(check->in->keys, check->key_bytes, (size_t) index) != element(out->keys, check->key_bytes, i))
        return because(why, "out[%zu] has the value of in[%" PRIu64 "] but another key", i, index);
    if (i && before == here && !check->ties_may_swap) {
        const uint64_t left = input_index(check, element(out->values, check->spec->value_bytes, i - 1));
        if (left != UINT64_MAX && left >= index)
            return because(why, "out[%zu] and out[%zu] have one key but are in[%" PRIu64 "] and in[%" PRIu64 "]", i - 1,
                           i, left, index);
    }
    return true;
}

static bool rank_right_at(const struct check *check, size_t i, char *why)
{
    const size_t   count = check->spec->count, rank = check->answer->ranks[i];
    const uint64_t query = order_at(check, check->in->queries, i);
    if (rank > count)
        return because(why, "rank[%zu] = %zu of %zu keys", i, rank, count);
    if (rank > 0 && order_at(check, check->in->keys, rank - 1) >= query)
        return because(why, "rank[%zu] = %zu is too high", i, rank);
    if (rank < count && order_at(check, check->in->keys, rank) < query)
        return because(why, "rank[%zu] = %zu is too low", i, rank);
    return true;
}

static bool ranges_right_at(const struct check *check, size_t i, char *why)
{
    const size_t   count = check->spec->count, rank = check->answer->ranks[i], upper = check->answer->uppers[i];
    const uint64_t query = order_at(check, check->in->queries, i);
    if (!rank_right_at(check, i, why))
        return false;
    if (upper < rank || upper > count)
        return because(why, "upper[%zu] = %zu of %zu keys, lower = %zu", i, upper, count, rank);
    if (upper > rank && order_at(check, check->in->keys, upper - 1) != query)
        return because(why, "upper[%zu] = %zu is too high", i, upper);
    if (upper < count && order_at(check, check->in->keys, upper) <= query)
        return because(why, "upper[%zu] = %zu is too low", i, upper);
    return true;
}

/* The first of ascending keys that is not less. */
static size_t first_not_below(const struct check *check, const void *keys, size_t count, uint64_t order)
{
    size_t from = 0, to = count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (order_at(check, keys, middle) < order)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Whether element `index` is the first with this key. */
static bool is_first(const struct check *check, uint64_t index, uint64_t query)
{
    return index < check->spec->count && order_at(check, check->in->keys, (size_t) index) == query &&
           (index == 0 || order_at(check, check->in->keys, (size_t) index - 1) < query);
}

static bool lookup_right_at(const struct check *check, size_t i, char *why)
{
    const struct spec *spec = check->spec;
    const uint64_t     query = order_at(check, check->in->queries, i);
    const uint8_t      found = check->answer->found[i];
    const uint64_t     value = spec->value_bytes ? element(check->answer->values, spec->value_bytes, i) : 0;

    if (found == 1 && spec->value_bytes && is_first(check, input_index(check, value), query))
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

/* Equal sums of hashes mean equal multisets, with very high probability. */
static bool check_sets(const struct check *check, char *why)
{
    const uint32_t value_bytes = check->spec->value_bytes;
    uint64_t       in_less_out = 0;
    for (size_t i = 0; i < check->spec->count; i++)
        if (value_bytes)
            in_less_out += draw(3, i) - draw(3, (uint32_t) element(check->answer->values, value_bytes, i));
        else
            in_less_out += draw(3, element(check->in->keys, check->key_bytes, i)) -
                           draw(3, element(check->answer->keys, check->key_bytes, i));
    return in_less_out == 0 || because(why, "the output does not hold the same elements as the input");
}

static bool check_order(struct check *check, char *why)
{
    if (!check_all(check, check->spec->count, ordered_at, why))
        return false;
    const bool proven = check->spec->value_bytes && !check->ties_may_swap;
    return proven || check_sets(check, why);
}

/* ---- results that depend on all elements before ---------------------------------------------------------------- */

/* Maxima are in ordered form. */
static bool check_scan(const struct check *check, char *why)
{
    const struct spec *spec = check->spec;
    const bool         maximum = spec_op(spec) == ORDO_MAX;
    const size_t       bytes = check->key_bytes;
    uint64_t           all = 0;
    for (size_t i = 0; i < spec->count; i++) {
        const uint64_t before = all;
        const uint64_t here = maximum ? order_at(check, check->in->keys, i) : element(check->in->keys, bytes, i);
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

static bool check_compact(const struct check *check, char *why)
{
    const struct answer *out = check->answer;
    const size_t         bytes = check->key_bytes, value_bytes = check->spec->value_bytes;
    size_t               kept = 0;
    if (out->kept != check->in->kept)
        return because(why, "%u were kept, not %zu", out->kept, check->in->kept);
    for (size_t i = 0; i < check->spec->count; i++) {
        if (!check->in->flags[i])
            continue;
        const bool key = element(out->keys, bytes, kept) == element(check->in->keys, bytes, i);
        const bool value =
            !value_bytes || element(out->values, value_bytes, kept) == value_of((uint32_t) value_bytes, i);
        if (!key || !value)
            return because(why, "out[%zu] is not in[%zu]: another %s", kept, i, key ? "value" : "key");
        kept++;
    }
    return true;
}

/* ---- groups, the first k, the median ------------------------------------------------------------------------- */

/* The place of a key among ascending groups; `groups` if it is missing. */
static size_t group_of(const struct check *check, size_t groups, uint64_t order)
{
    const void  *keys = check->answer->keys;
    const size_t at = first_not_below(check, keys, groups, order);
    return at < groups && order_at(check, keys, at) == order ? at : groups;
}

/* Subtracts every element from its group; nothing may remain. */
static bool take_apart(const struct check *check, size_t groups, uint64_t *sums, uint32_t *counts, char *why)
{
    const uint32_t value_bytes = check->spec->value_bytes;

    for (size_t i = 0; i < check->spec->count; i++) {
        const size_t g = group_of(check, groups, order_at(check, check->in->keys, i));
        if (g == groups)
            return because(why, "the key of in[%zu] is in no group", i);
        sums[g] += value_bytes ? element(check->in->values, value_bytes, i) : 0;
        counts[g]++;
    }
    for (size_t g = 0; g < groups; g++) {
        const uint64_t want = value_bytes == 4 ? (uint32_t) sums[g] : sums[g];
        if (counts[g] != check->answer->counts[g])
            return because(why, "group %zu has %u elements, not %u", g, check->answer->counts[g], counts[g]);
        if (value_bytes && element(check->answer->values, value_bytes, g) != want)
            return because(why, "the sum of group %zu is 0x%" PRIx64 ", not 0x%" PRIx64, g,
                           element(check->answer->values, value_bytes, g), want);
    }
    return true;
}

static bool check_groups(const struct check *check, char *why)
{
    const size_t groups = check->answer->kept;
    if (groups > check->spec->count)
        return because(why, "%zu groups of %zu elements", groups, check->spec->count);
    for (size_t g = 1; g < groups; g++)
        if (order_at(check, check->answer->keys, g - 1) >= order_at(check, check->answer->keys, g))
            return because(why, "the keys of groups %zu and %zu do not ascend", g - 1, g);
    uint64_t  *sums = calloc(groups + 1, sizeof *sums);
    uint32_t  *counts = calloc(groups + 1, sizeof *counts);
    const bool good = sums && counts && take_apart(check, groups, sums, counts, why);
    free(sums);
    free(counts);
    return good;
}

/* Counts keys greater than and equal to one, and hashes the greater ones. */
struct above {
    size_t   greater, equal;
    uint64_t greater_hash;
};
static struct above count_above(const struct check *check, const void *keys, size_t count, uint64_t order)
{
    struct above above = { 0, 0, 0 };
    for (size_t i = 0; i < count; i++) {
        const uint64_t here = order_at(check, keys, i);
        above.greater += here > order;
        above.equal += here == order;
        above.greater_hash += here > order ? draw(5, here) : 0;
    }
    return above;
}

/* The greatest keys come first. With values, pairs (key, index) are in strict order, so none occurs twice. All keys
 * greater than the last one must be there, and of keys equal to it the first ones. */
static bool check_top(const struct check *check, char *why)
{
    const struct answer *out = check->answer;
    const size_t         k = spec_top(check->spec), bytes = check->spec->value_bytes;
    if (k == 0)
        return true;
    for (size_t i = 0; i < k; i++) {
        const uint64_t index = bytes ? input_index(check, element(out->values, bytes, i)) : 0;
        const uint64_t here = order_at(check, out->keys, i), before = i ? order_at(check, out->keys, i - 1) : here;
        if (here > before)
            return because(why, "out[%zu] is greater than out[%zu]", i, i - 1);
        if (!bytes)
            continue;
        if (index == UINT64_MAX || order_at(check, check->in->keys, (size_t) index) != here)
            return because(why, "out[%zu] has a value of another key", i);
        if (i && here == before && input_index(check, element(out->values, bytes, i - 1)) >= index)
            return because(why, "out[%zu] and out[%zu] have one key but are not in order", i - 1, i);
    }
    const uint64_t     last = order_at(check, out->keys, k - 1);
    const struct above in = count_above(check, check->in->keys, check->spec->count, last);
    const struct above got = count_above(check, out->keys, k, last);
    if (in.greater != got.greater || in.greater_hash != got.greater_hash || in.equal < got.equal)
        return because(why, "%zu keys are greater than the last one, %zu came out, or others did", in.greater,
                       got.greater);
    for (size_t i = 0, seen = 0; bytes && seen < got.equal; i++) {
        if (order_at(check, check->in->keys, i) != last)
            continue;
        if (input_index(check, element(out->values, bytes, got.greater + seen)) != i)
            return because(why, "in[%zu] should have come out, as the first of equal keys", i);
        seen++;
    }
    return true;
}

static bool check_select(const struct check *check, char *why)
{
    const size_t       k = check->spec->count / 2;
    const struct above in =
        count_above(check, check->in->keys, check->spec->count, order_at(check, check->answer->keys, 0));
    const size_t less = check->spec->count - in.greater - in.equal;
    return (less <= k && k < less + in.equal) ||
           because(why, "%zu keys are less than that of rank %zu, %zu are it", less, k, in.equal);
}

static bool row_right_at(const struct check *check, size_t i, char *why)
{
    const size_t bytes = spec_row_bytes(check->spec), from = (size_t) element(check->in->keys, 4, i);
    return memcmp((const char *) check->answer->keys + i * bytes, (const char *) check->in->rows + from * bytes,
                  bytes) == 0 ||
           because(why, "row %zu is not row %zu", i, from);
}

bool answer_check(const struct spec *spec, const struct inputs *in, const struct answer *answer, bool ties_may_swap,
                  char *why)
{
    struct check check = { spec, in, answer, ties_may_swap, type_bytes(spec->type), NULL, { 0 } };

    why[0] = 0;
    switch (spec->workload) {
    case SCAN:
    case REDUCE:
        return check_scan(&check, why);
    case COMPACT:
        return check_compact(&check, why);
    case GROUPBY:
        return check_groups(&check, why);
    case TOP:
        return check_top(&check, why);
    case SELECT:
        return check_select(&check, why);
    case SEARCH:
        return check_all(&check, spec->n_queries, rank_right_at, why);
    case EQUAL_RANGE:
        return check_all(&check, spec->n_queries, ranges_right_at, why);
    case LOOKUP:
        return check_all(&check, spec->n_queries, lookup_right_at, why);
    case GATHER:
        return check_all(&check, spec->count, row_right_at, why);
    default:
        return check_order(&check, why);
    }
}
