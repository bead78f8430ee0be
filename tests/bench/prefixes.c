/* SPDX-License-Identifier: Apache-2.0 */
/* Prefix queries for the X-fast trie and for other structures have the same answers. The model of the trie tries each
 * length. The other model uses segments with one longest prefix. */
#include "bench/workload/model.h"
#include "bench/workload/plan.h"

#include <criterion/criterion.h>
#include <string.h>

#define COUNT   ((size_t) 3001)
#define QUERIES ((size_t) 20011)

static struct dict_plan plan_of(enum workload workload, int variant, ordo_type type, enum dist dist, size_t count)
{
    const struct spec spec = { .workload = workload,
                               .variant = variant,
                               .type = type,
                               .value_bytes = 8,
                               .dist = dist,
                               .count = count,
                               .n_queries = QUERIES,
                               .fills = 1,
                               .seed = 5 };
    struct dict_plan  plan;
    cr_assert(plan_make(&spec, &plan));
    cr_assert(plan_advance(&plan, 0));
    return plan;
}

static void expect_same(const struct dict_plan *a, const struct dict_plan *b, enum column_id column)
{
    const struct column_batch *x = &a->work.cols, *y = &b->work.cols;
    cr_assert_eq(x->rows[column], QUERIES);
    cr_assert_eq(y->rows[column], QUERIES);
    cr_assert_eq(memcmp(x->at[column], y->at[column], QUERIES * column_width(x, column)), 0, "%s", column_name(column));
}

static void for_each_table(void (*compare)(ordo_type type, enum dist dist, size_t count))
{
    static const ordo_type types[] = { ORDO_U32, ORDO_U64 };
    static const enum dist dists[] = { UNIFORM, FEW, CLUSTERED, SEQUENTIAL };
    static const size_t    counts[] = { 1, 2, COUNT };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t d = 0; d < sizeof dists / sizeof *dists; d++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                compare(types[t], dists[d], counts[c]);
}

static void compare_longest(ordo_type type, enum dist dist, size_t count)
{
    struct dict_plan trie = plan_of(LONGESTPREFIX, XFAST, type, dist, count);
    struct dict_plan array = plan_of(LONGESTPREFIX, SORTED_ARRAY, type, dist, count);
    const uint8_t   *found = trie.work.cols.at[COL_FOUND];
    cr_assert_eq(trie.work.steps[0].call, DO_LONGEST_PREFIX);
    cr_assert_eq(array.work.steps[0].call, DO_SEEK);
    expect_same(&trie, &array, COL_KEYS);
    expect_same(&trie, &array, COL_FOUND);
    expect_same(&trie, &array, COL_VALUES_OUT);
    for (size_t i = 0; i < QUERIES; i++)
        cr_assert_eq(found[i], 1); /* the empty prefix is present */
    plan_free(&trie);
    plan_free(&array);
}

Test(prefixes, the_longest_is_that_of_its_stretch)
{
    for_each_table(compare_longest);
}

static void compare_counts(ordo_type type, enum dist dist, size_t count)
{
    struct dict_plan trie = plan_of(COUNTPREFIX, XFAST, type, dist, count);
    struct dict_plan array = plan_of(COUNTPREFIX, SORTED_ARRAY, type, dist, count);
    const uint8_t   *lengths = trie.work.cols.at[COL_LENGTHS];
    cr_assert_eq(trie.work.steps[0].call, DO_COUNT_PREFIX);
    cr_assert_eq(array.work.steps[0].call, DO_COUNT);
    expect_same(&trie, &array, COL_COUNTS);
    for (size_t i = 0; i < QUERIES; i++) {
        const uint64_t key = column_get(&trie.work.cols, COL_KEYS, i);
        cr_assert_eq(column_get(&array.work.cols, COL_KEYS, i), prefix_least(type, key, lengths[i]));
        cr_assert_eq(column_get(&array.work.cols, COL_HI, i), prefix_greatest(type, key, lengths[i]));
        cr_assert_gt(column_get(&trie.work.cols, COL_COUNTS, i), 0);
    }
    plan_free(&trie);
    plan_free(&array);
}

Test(prefixes, keys_under_a_prefix_are_those_of_an_interval)
{
    for_each_table(compare_counts);
}

/* One plan serves all structures of a point, except if the X-fast trie gets other queries. */
Test(prefixes, plans_are_shared_by_those_that_are_asked_alike)
{
    struct spec spec = { .workload = LONGESTPREFIX,
                         .variant = XFAST,
                         .type = ORDO_U32,
                         .value_bytes = 4,
                         .count = COUNT,
                         .n_queries = QUERIES,
                         .fills = 1,
                         .seed = 5 };
    cr_assert_eq(plan_borrow(&spec)->table.cols.rows[COL_KEYS], COUNT);
    plan_return(true);
    spec.variant = SORTED_ARRAY;
    cr_assert_gt(plan_borrow(&spec)->table.cols.rows[COL_KEYS], COUNT);
    plan_return(true);
    spec.variant = HAMT;
    cr_assert_gt(plan_borrow(&spec)->table.cols.rows[COL_KEYS], COUNT);
    plan_return(false);
}
