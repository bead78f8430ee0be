/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and checks of the tools on the host. Right answers pass, and each kind of wrong answer fails. */
#include "bench/workload/workload.h"
#include "bench/workload/baseline.h"
#include "bench/workload/inputs.h"
#include "bench/workload/keys.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Odd, and large enough for several threads. */
#define COUNT   ((size_t) 20011)
#define QUERIES ((size_t) 17001)

/* ---- a right answer, by plain code --------------------------------------------------------------------------- */

struct outputs {
    void    *keys, *values;
    uint32_t ranks[QUERIES];
    uint8_t  found[QUERIES];
    uint64_t total;
    uint32_t kept;
    uint32_t uppers[QUERIES], counts[COUNT];
};

static struct spec spec_of(enum workload workload, int variant, ordo_type type, uint32_t value_bytes, enum dist dist)
{
    return (struct spec) { .workload = workload,
                           .variant = variant,
                           .type = type,
                           .value_bytes = workload_has_values(workload) ? value_bytes : 0,
                           .dist = dist,
                           .count = COUNT,
                           .n_queries = workload_has_queries(workload) ? QUERIES : 0,
                           .seed = 3 };
}

/* The distribution of this number, or the next one that keys of this type can have. */
static enum dist dist_for(ordo_type type, int number)
{
    while (dist_key_bytes((enum dist)(number % N_DISTS)) > type_bytes(type))
        number++;
    return (enum dist)(number % N_DISTS);
}

static size_t key_bytes(const struct spec *spec)
{
    return ordo_type_bytes(spec->type);
}

struct place {
    struct key_form form;
    size_t          from;
};

static int by_form_then_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int           order = key_form_compare(x->form, y->form);
    return order ? order : x->from < y->from ? -1 : x->from > y->from;
}

static void answer_by_comparing(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    struct place *places = malloc(COUNT * sizeof *places);
    for (size_t i = 0; i < COUNT; i++)
        places[i] = (struct place) { key_form_at(spec->type, in->keys, i), i };
    qsort(places, COUNT, sizeof *places, by_form_then_place);
    for (size_t i = 0; i < COUNT; i++) {
        move_element(out->keys, i, in->keys, places[i].from, key_bytes(spec));
        if (spec->value_bytes)
            move_element(out->values, i, in->values, places[i].from, spec->value_bytes);
    }
    free(places);
}

/* Sorts by insertion of runs that are sorted already or by radix, in ordered form: stable. */
static void answer_by_sorting(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t bytes = key_bytes(spec);
    if (bytes == 16) {
        answer_by_comparing(spec, in, out);
        return;
    }
    void *spare_keys = malloc(COUNT * bytes), *spare_values = malloc(COUNT * 8);
    for (size_t i = 0; i < COUNT; i++)
        set_element(out->keys, bytes, i, key_order(spec->type, element(in->keys, bytes, i)));
    if (spec->value_bytes)
        memcpy(out->values, in->values, COUNT * spec->value_bytes);
    host_radix_sort((struct pairs) { out->keys, out->values }, (struct pairs) { spare_keys, spare_values }, bytes,
                    spec->value_bytes, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        set_element(out->keys, bytes, i, key_stored(spec->type, element(out->keys, bytes, i)));
    free(spare_keys);
    free(spare_values);
}

static void answer_scan(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t bytes = key_bytes(spec);
    const bool   maximum = spec_op(spec) == ORDO_MAX;
    void        *orders = malloc(COUNT * bytes);
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t key = element(in->keys, bytes, i);
        set_element(orders, bytes, i, maximum ? key_order(spec->type, key) : key);
    }
    const uint64_t all = host_scan(orders, bytes, COUNT, maximum, out->keys);
    for (size_t i = 0; i < COUNT && maximum; i++)
        set_element(out->keys, bytes, i, key_stored(spec->type, element(out->keys, bytes, i)));
    set_element(&out->total, bytes, 0, maximum ? key_stored(spec->type, all) : all);
    free(orders);
}

/* Number of keys less than the query, or with `upper` not greater. */
static size_t rank_of(const struct spec *spec, const struct inputs *in, struct key_form query, bool upper)
{
    size_t from = 0, to = COUNT;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (key_form_compare(key_form_at(spec->type, in->keys, middle), query) < (upper ? 1 : 0))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void answer_queries(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    for (size_t q = 0; q < QUERIES; q++) {
        const struct key_form query = key_form_at(spec->type, in->queries, q);
        const size_t          rank = rank_of(spec, in, query, false), upper = rank_of(spec, in, query, true);
        out->ranks[q] = (uint32_t) rank;
        out->uppers[q] = (uint32_t) upper;
        out->found[q] = upper > rank;
        if (out->found[q] && spec->value_bytes)
            set_element(out->values, spec->value_bytes, q, element(in->values, spec->value_bytes, rank));
    }
}

static bool same_key(const struct outputs *out, size_t bytes, size_t i, size_t k)
{
    const char *keys = out->keys;
    return memcmp(keys + i * bytes, keys + k * bytes, bytes) == 0;
}

/* From the sorted elements. */
static void answer_groups(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t bytes = key_bytes(spec), vb = spec->value_bytes;
    size_t       g = 0;
    answer_by_sorting(spec, in, out);
    for (size_t i = 0, end = 0; i < COUNT; i = end, g++) {
        uint64_t sum = 0;
        for (end = i; end < COUNT && same_key(out, bytes, i, end); end++)
            sum += vb ? element(out->values, vb, end) : 0;
        move_element(out->keys, g, out->keys, i, bytes);
        if (vb)
            set_element(out->values, vb, g, sum);
        out->counts[g] = (uint32_t) (end - i);
    }
    out->kept = (uint32_t) g;
}

/* The greatest keys come first. Equal keys keep the order of the input. */
static void answer_top(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t bytes = key_bytes(spec), vb = spec->value_bytes, k = spec_top(spec);
    char        *keys = malloc(COUNT * 8), *values = malloc(COUNT * 8);
    answer_by_sorting(spec, in, out);
    memcpy(keys, out->keys, COUNT * bytes);
    memcpy(values, out->values, COUNT * (vb ? vb : 1));
    for (size_t end = COUNT, to = 0; end > 0 && to < k;) {
        size_t first = end - 1;
        while (first > 0 && element(keys, bytes, first - 1) == element(keys, bytes, end - 1))
            first--;
        for (size_t i = first; i < end && to < k; i++, to++) {
            set_element(out->keys, bytes, to, element(keys, bytes, i));
            if (vb)
                set_element(out->values, vb, to, element(values, vb, i));
        }
        end = first;
    }
    free(keys);
    free(values);
}

static void answer_compact(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    out->kept = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (!in->flags[i])
            continue;
        move_element(out->keys, out->kept, in->keys, i, key_bytes(spec));
        if (spec->value_bytes)
            move_element(out->values, out->kept, in->values, i, spec->value_bytes);
        out->kept++;
    }
}

static void answer_rows(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    (void) host_gather(in->rows, in->keys, spec_row_bytes(spec), COUNT, out->keys);
}

static void answer_right(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    memset(out->keys, POISON_BYTE, COUNT * 64);
    memset(out->values, POISON_BYTE, COUNT * 8);
    switch (spec->workload) {
    case SCAN:
    case REDUCE:
        answer_scan(spec, in, out);
        break;
    case COMPACT:
        answer_compact(spec, in, out);
        break;
    case SEARCH:
    case LOOKUP:
    case EQUAL_RANGE:
        answer_queries(spec, in, out);
        break;
    case GROUPBY:
        answer_groups(spec, in, out);
        break;
    case TOP:
        answer_top(spec, in, out);
        break;
    case SELECT:
        answer_by_sorting(spec, in, out);
        set_element(out->keys, key_bytes(spec), 0, element(out->keys, key_bytes(spec), COUNT / 2));
        break;
    case GATHER:
        answer_rows(spec, in, out);
        break;
    default:
        answer_by_sorting(spec, in, out);
        break;
    }
}

static bool passes(const struct spec *spec, const struct inputs *in, const struct outputs *out, char *why)
{
    const struct answer answer = { .keys = out->keys,
                                   .values = out->values,
                                   .ranks = out->ranks,
                                   .found = out->found,
                                   .total = &out->total,
                                   .kept = out->kept,
                                   .uppers = out->uppers,
                                   .counts = out->counts };
    return answer_check(spec, in, &answer, false, why);
}

static struct outputs *make_outputs(void)
{
    struct outputs *out = calloc(1, sizeof *out);
    cr_assert(out);
    out->keys = malloc(COUNT * 64); /* the widest rows */
    out->values = malloc(COUNT * 8);
    cr_assert(out->keys && out->values);
    return out;
}

static void free_outputs(struct outputs *out)
{
    free(out->keys);
    free(out->values);
    free(out);
}

/* ---- every point of the axes --------------------------------------------------------------------------------- */

static void for_each_spec(void (*body)(const struct spec *spec, const struct inputs *in, struct outputs *out))
{
    struct outputs *out = make_outputs();
    for (int w = 0; w < N_WORKLOADS; w++)
        for (int variant = 0; variant_name((enum workload) w, variant); variant++)
            for (int type = 0; type < N_TYPES; type++)
                for (uint32_t value_bytes = 0; value_bytes <= 8; value_bytes += 4) {
                    if (workload_is_strings((enum workload) w) || /* string_keys.c */
                        workload_is_roaring((enum workload) w) ||
                        (type_is_wide((ordo_type) type) && !workload_takes_wide((enum workload) w)) ||
                        (workload_takes_u128((enum workload) w) && type != ORDO_U128))
                        continue;
                    const struct spec spec = spec_of((enum workload) w, variant, (ordo_type) type, value_bytes,
                                                     dist_for((ordo_type) type, w + type + (int) value_bytes));
                    struct inputs     in;
                    cr_assert(inputs_make(&spec, &in));
                    body(&spec, &in, out);
                    inputs_free(&in);
                }
    free_outputs(out);
}

static void expect_pass(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    char why[WHY_BYTES];
    answer_right(spec, in, out);
    cr_expect(passes(spec, in, out, why), "%s %s %s+%u %s: %s", workload_name(spec->workload),
              variant_name(spec->workload, spec->variant), type_name(spec->type), spec->value_bytes,
              dist_name(spec->dist), why);
}

Test(workload, right_answers_pass)
{
    for_each_spec(expect_pass);
}

static void expect_fail(const struct spec *spec, const struct inputs *in, const struct outputs *out, const char *what)
{
    char why[WHY_BYTES];
    cr_expect(!passes(spec, in, out, why), "%s of %s+%u %s with %s passed", workload_name(spec->workload),
              type_name(spec->type), spec->value_bytes, dist_name(spec->dist), what);
    cr_expect(why[0] != 0, "it says why");
}

/* A different key or value at one place. */
static void flip(void *array, size_t bytes, size_t i)
{
    ((uint8_t *) array)[i * bytes] ^= 1;
}

static void swap_elements(void *array, size_t bytes, size_t i, size_t k)
{
    uint64_t was[2];
    move_element(was, 0, array, i, bytes);
    move_element(array, i, array, k, bytes);
    move_element(array, k, was, 0, bytes);
}

/* Wrong in the last place only. */
static void expect_one_wrong_place_to_fail(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t bytes = key_bytes(spec), last = COUNT - 1;
    answer_right(spec, in, out);
    switch (spec->workload) {
    case REDUCE:
        flip(&out->total, bytes, 0);
        expect_fail(spec, in, out, "another total");
        break;
    case COMPACT:
        flip(out->keys, bytes, out->kept - 1);
        expect_fail(spec, in, out, "another key");
        flip(out->keys, bytes, out->kept - 1);
        out->kept++;
        expect_fail(spec, in, out, "one kept too many");
        break;
    case SEARCH:
        out->ranks[QUERIES - 1]++;
        expect_fail(spec, in, out, "a rank too high");
        out->ranks[QUERIES - 1] = (uint32_t) COUNT + 1;
        expect_fail(spec, in, out, "a rank beyond the end");
        break;
    case EQUAL_RANGE:
        out->uppers[QUERIES - 1]++;
        expect_fail(spec, in, out, "an upper bound too high");
        out->uppers[QUERIES - 1] = out->ranks[QUERIES - 1] - 1;
        expect_fail(spec, in, out, "an upper bound below the lower one");
        break;
    case GROUPBY:
        out->counts[out->kept - 1]++;
        expect_fail(spec, in, out, "a count too high");
        out->counts[out->kept - 1]--;
        flip(out->keys, bytes, out->kept - 1);
        expect_fail(spec, in, out, "another key");
        break;
    case TOP:
        flip(out->keys, bytes, spec_top(spec) - 1);
        expect_fail(spec, in, out, "another key");
        break;
    case SELECT: /* far away: neighbours may be the same key */
        set_element(out->keys, bytes, 0, ~element(out->keys, bytes, 0));
        expect_fail(spec, in, out, "another key");
        break;
    case GATHER:
        ((uint8_t *) out->keys)[COUNT * spec_row_bytes(spec) - 1] ^= 1;
        expect_fail(spec, in, out, "another row");
        break;
    case LOOKUP:
        out->found[QUERIES - 1] ^= 1;
        expect_fail(spec, in, out, "found the other way");
        break;
    default:
        flip(out->keys, bytes, last);
        expect_fail(spec, in, out, "another key");
        break;
    }
}

Test(workload, one_wrong_place_fails)
{
    for_each_spec(expect_one_wrong_place_to_fail);
}

static void expect_wrong_values_to_fail(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    answer_right(spec, in, out);
    const size_t last = (spec->workload == LOOKUP    ? QUERIES
                         : spec->workload == COMPACT ? in->kept
                         : spec->workload == GROUPBY ? out->kept
                         : spec->workload == TOP     ? spec_top(spec)
                                                     : COUNT) -
                        1;
    if (!spec->value_bytes)
        return;
    flip(out->values, spec->value_bytes, last);
    expect_fail(spec, in, out, "another value (or one where none belongs)");
}

Test(workload, wrong_values_fail)
{
    for_each_spec(expect_wrong_values_to_fail);
}

/* ---- what only sorts can get wrong --------------------------------------------------------------------------- */

/* The last i for which keys i - 1 and i are equal (or differ). */
static size_t last_neighbours(const struct outputs *out, size_t bytes, bool equal)
{
    for (size_t i = COUNT - 1; i > 0; i--)
        if ((element(out->keys, bytes, i) == element(out->keys, bytes, i - 1)) == equal)
            return i;
    return 0;
}

Test(workload, equal_keys_out_of_their_order_fail)
{
    const struct spec spec = spec_of(SORT, 0, ORDO_F32, 4, FEW);
    struct outputs   *out = make_outputs();
    struct inputs     in;
    cr_assert(inputs_make(&spec, &in));
    answer_right(&spec, &in, out);
    const size_t i = last_neighbours(out, 4, true);
    cr_assert(i > 0);
    swap_elements(out->values, 4, i - 1, i);
    expect_fail(&spec, &in, out, "two equal keys exchanged");

    const struct answer answer = { .keys = out->keys, .values = out->values };
    char                why[WHY_BYTES];
    cr_expect(answer_check(&spec, &in, &answer, true, why), "ties may swap where that is allowed: %s", why);
    inputs_free(&in);
    free_outputs(out);
}

Test(workload, neighbours_out_of_order_fail)
{
    for (uint32_t value_bytes = 0; value_bytes <= 8; value_bytes += 4) {
        const struct spec spec = spec_of(MERGE, 0, ORDO_I64, value_bytes, UNIFORM);
        struct outputs   *out = make_outputs();
        struct inputs     in;
        cr_assert(inputs_make(&spec, &in));
        answer_right(&spec, &in, out);
        const size_t i = last_neighbours(out, 8, false);
        swap_elements(out->keys, 8, i - 1, i);
        if (value_bytes)
            swap_elements(out->values, value_bytes, i - 1, i);
        expect_fail(&spec, &in, out, "two neighbours exchanged");
        inputs_free(&in);
        free_outputs(out);
    }
}

/* The keys are in order, but one key appears twice and its neighbour is missing. */
Test(workload, a_key_twice_fails)
{
    for (uint32_t value_bytes = 0; value_bytes <= 8; value_bytes += 4) {
        const struct spec spec = spec_of(SORT, 0, ORDO_U32, value_bytes, ZIPF);
        struct outputs   *out = make_outputs();
        struct inputs     in;
        cr_assert(inputs_make(&spec, &in));
        answer_right(&spec, &in, out);
        const size_t i = last_neighbours(out, 4, false);
        set_element(out->keys, 4, i, element(out->keys, 4, i - 1));
        if (value_bytes)
            set_element(out->values, value_bytes, i, element(out->values, value_bytes, i - 1));
        expect_fail(&spec, &in, out, "an element twice");
        inputs_free(&in);
        free_outputs(out);
    }
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

Test(workload, runs_are_sorted_and_cover_the_array)
{
    for (int variant = 0; variant < 3; variant++)
        for (int dist = 0; dist < N_DISTS; dist++) {
            const ordo_type   type = dist_key_bytes((enum dist) dist) <= 8 ? ORDO_F64 : ORDO_U128;
            const struct spec spec = spec_of(MERGE_RUNS, variant, type, 4, (enum dist) dist);
            struct inputs     in;
            size_t            next = 0;
            cr_assert(inputs_make(&spec, &in));
            for (size_t r = 0; r < spec_runs(&spec); r++) {
                const struct ordo_run run = spec_run(&spec, r);
                cr_expect_eq(run.at, next);
                next = run.at + run.count;
                for (size_t i = run.at + 1; i < next; i++)
                    cr_assert(key_form_compare(key_form_at(type, in.keys, i - 1), key_form_at(type, in.keys, i)) <= 0,
                              "%s: element %zu of run %zu", dist_name((enum dist) dist), i - run.at, r);
            }
            cr_expect_eq(next, COUNT);
            inputs_free(&in);
        }
}

/* Keys drawn in order and keys sorted afterwards have one distribution. Each sixteenth of the range gets about as
 * many keys. */
Test(workload, ordered_draws_are_uniform)
{
    const struct spec spec = spec_of(SEARCH, VARIANT_SORTED, ORDO_U64, 0, UNIFORM);
    struct inputs     in;
    size_t            part[16] = { 0 };
    cr_assert(inputs_make(&spec, &in));
    for (size_t i = 0; i < COUNT; i++)
        part[element(in.keys, 8, i) >> 60]++;
    for (int p = 0; p < 16; p++)
        cr_expect(part[p] > COUNT / 16 * 9 / 10 && part[p] < COUNT / 16 * 11 / 10, "part %d has %zu of %zu", p, part[p],
                  COUNT);
    inputs_free(&in);
}

/* A key of a distribution, the key before it, and the first two keys. */
struct drawn {
    ordo_type       type;
    struct key_form key, before, first, second;
};

static bool halves_are_equal(const struct drawn *d, bool upper)
{
    const uint64_t differ = d->key.low ^ d->first.low;
    if (type_is_wide(d->type))
        return upper ? d->key.high == d->first.high : differ == 0;
    return (upper ? differ >> 4 * type_bytes(d->type) : differ << (64 - 4 * type_bytes(d->type))) == 0;
}

/* Sensors below 1000, and times that ascend. */
static bool is_packed(const struct drawn *d, size_t i)
{
    const uint64_t word = type_is_wide(d->type) ? d->key.high : d->key.low;
    const uint64_t before = type_is_wide(d->type) ? d->before.high : d->before.low;
    return word >> 48 < 1000 && (i == 0 || word << 16 > before << 16);
}

static bool is_uuid(const struct drawn *d, uint64_t version)
{
    return (d->key.high >> 12 & 15) == version && d->key.low >> 62 == 2;
}

/* The key before, without its first base, is the key without its last one. */
static bool is_next_of_bases(const struct drawn *d, size_t i)
{
    const unsigned bits = type_bytes(d->type) == 4 ? 30 : 62;
    const uint64_t common = ((uint64_t) 1 << (bits - 2)) - 1;
    if (type_is_wide(d->type))
        return d->key.high >> bits == 0 && (i == 0 || (d->before.low == (d->key.low >> 2 | d->key.high << 62) &&
                                                       (d->before.high & common) == d->key.high >> 2));
    return d->key.low >> bits == 0 && (i == 0 || (d->before.low & common) == d->key.low >> 2);
}

static bool has_shape(enum dist dist, const struct drawn *d, size_t i)
{
    switch (dist) {
    case EQUAL:
        return key_form_compare(d->key, d->first) == 0;
    case ALTERNATING:
        return (key_form_compare(d->key, d->second) == 0) == (i % 2 == 1);
    case LOW_CONSTANT:
        return halves_are_equal(d, false) && (i == 0 || !halves_are_equal(d, true));
    case HIGH_CONSTANT:
        return halves_are_equal(d, true) && (i == 0 || !halves_are_equal(d, false));
    case SENSOR_TIMES:
        return is_packed(d, i);
    case UUID4:
        return is_uuid(d, 4) && (i == 0 || key_form_compare(d->key, d->before) != 0);
    case KMERS:
        return is_next_of_bases(d, i);
    case UUID7:
        return is_uuid(d, 7) && (i == 0 || d->key.high >> 16 >= d->before.high >> 16);
    default:
        return true;
    }
}

static void for_each_draw(void (*body)(ordo_type type, enum dist dist))
{
    for (int type = 0; type < N_TYPES; type++)
        for (int dist = 0; dist < N_DISTS; dist++)
            if (dist_key_bytes((enum dist) dist) <= type_bytes((ordo_type) type))
                body((ordo_type) type, (enum dist) dist);
}

static void check_shape(ordo_type type, enum dist dist)
{
    enum { N = 1000 }; /* few enough that random halves of 16 bits differ from the first */
    uint64_t keys[2 * N];
    keys_draw(type, dist, 3, N, keys);
    for (size_t i = 0; i < N; i++) {
        const struct drawn d = { type, key_form_at(type, keys, i), key_form_at(type, keys, i ? i - 1 : 0),
                                 key_form_at(type, keys, 0), key_form_at(type, keys, 1) };
        cr_assert(has_shape(dist, &d, i), "%s of %s: key %zu", dist_name(dist), type_name(type), i);
    }
}

Test(workload, keys_have_the_shape_of_their_distribution)
{
    for_each_draw(check_shape);
}

/* RFC 9562: the version is in byte 6, the variant in byte 8. */
Test(workload, uuids_have_their_bytes_in_order)
{
    uint8_t keys[100][16];
    for (int version = 4; version <= 7; version += 3) {
        keys_draw(ORDO_BYTES16, version == 4 ? UUID4 : UUID7, 3, 100, keys);
        for (int i = 0; i < 100; i++)
            cr_assert(keys[i][6] >> 4 == version && keys[i][8] >> 6 == 2, "key %d of version %d", i, version);
    }
}

/* Another seed gives other keys, unless the distribution has no random ones. */
static void check_seed(ordo_type type, enum dist dist)
{
    const size_t bytes = 100 * type_bytes(type);
    const bool   fixed = dist == EQUAL || dist_is_in_order(dist);
    uint64_t     keys[200], again[200], other[200];
    keys_draw(type, dist, 3, 100, keys);
    keys_draw(type, dist, 3, 100, again);
    keys_draw(type, dist, 4, 100, other);
    cr_assert(memcmp(keys, again, bytes) == 0, "%s of %s", dist_name(dist), type_name(type));
    cr_assert((memcmp(keys, other, bytes) == 0) == fixed, "%s of %s", dist_name(dist), type_name(type));
}

Test(workload, keys_depend_on_the_seed_alone)
{
    for_each_draw(check_seed);
}

Test(workload, stored_keys_keep_their_order)
{
    const float floats[] = { -1e30f, -1.5f, -0.0f, 0.0f, 1e-40f, 2.0f, 1e30f };
    uint32_t    before = 0;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        uint32_t stored;
        memcpy(&stored, &floats[i], 4);
        const uint64_t order = key_order(ORDO_F32, stored);
        cr_expect(i == 0 || order > before, "%g", floats[i]);
        before = (uint32_t) order;
    }
    for (int type = ORDO_U32; type <= ORDO_F64; type++)
        for (uint64_t i = 0; i < 1000; i++) {
            const uint64_t order =
                type == ORDO_U32 || type == ORDO_I32 || type == ORDO_F32 ? draw(1, i) >> 32 : draw(1, i);
            const uint64_t stored = key_stored((ordo_type) type, order);
            cr_expect_eq(key_order((ordo_type) type, stored), order);
            cr_expect_eq(key_order((ordo_type) type, stored), ordo_key_bits((ordo_type) type, &stored));
        }
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

Test(workload, numbers_of_wide_keys_keep_their_order)
{
    static const ordo_type types[] = { ORDO_U128, ORDO_BYTES16 };
    static const uint64_t  numbers[] = { 0, 1, 65535, 65536, 65537, UINT64_C(1) << 48, UINT64_MAX - 65536, UINT64_MAX };
    enum { N = sizeof numbers / sizeof *numbers };
    uint64_t keys[2 * N];
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < N; i++) {
            key_number_put(types[t], keys, i, numbers[i]);
            cr_expect_eq(key_number_at(types[t], keys, i), numbers[i]);
            cr_expect(i == 0 ||
                          key_form_compare(key_form_at(types[t], keys, i - 1), key_form_at(types[t], keys, i)) < 0,
                      "%s: number %zu", type_name(types[t]), i);
        }
}

Test(workload, sizes_are_read)
{
    size_t sizes[8];
    char   why[WHY_BYTES];
    cr_expect_eq(parse_sizes("12,16..18,=1000,2^20,1000000", sizes, 8, why), 7);
    const size_t want[] = { 1 << 12, 1 << 16, 1 << 17, 1 << 18, 1000, 1 << 20, 1000000 };
    for (int i = 0; i < 7; i++)
        cr_expect_eq(sizes[i], want[i]);

    static const char *const bad[] = { "",           ",",      "12,", "x",   "12..",
                                       "14..12",     "..",     "=",   "=0",  "2^",
                                       "2^32",       "-1",     "12 ", "1e6", "99999999999999999999",
                                       "4294967295", "12..=20" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(parse_sizes(bad[i], sizes, 8, why), -1, "'%s' is refused", bad[i]);
}

static const char *letter(int i)
{
    static const char *const names[] = { "a", "ab", "b" };
    return names[i];
}

Test(workload, names_are_read)
{
    int  chosen[4];
    char why[WHY_BYTES];
    cr_expect_eq(parse_names("ab,a", letter, 3, chosen, 4, why), 2);
    cr_expect_eq(chosen[0], 1);
    cr_expect_eq(chosen[1], 0);
    cr_expect_eq(parse_names("ab,", letter, 3, chosen, 4, why), -1);
    cr_expect_eq(parse_names("abc", letter, 3, chosen, 4, why), -1);
    cr_expect_str_eq(why, "unknown 'abc' (choose a, ab or b)");
}
