/* SPDX-License-Identifier: Apache-2.0 */
/* The demo checks the answers of the device. Right answers pass, and each kind of wrong answer fails. */
#include "bench/tools/demo/ranges.h"

#include <criterion/criterion.h>

#include <stdlib.h>

/* 10..19 AA, 20..20 BB, 40..49 AA */
static uint32_t           first[] = { 10, 20, 40 };
static uint32_t           last[] = { 19, 20, 49 };
static uint16_t           country[] = { 0x4141, 0x4242, 0x4141 };
static const struct geoip three = { .count = 3, .first = first, .last = last, .country = country };

static const uint32_t             sorted_rows[] = { 0, 1, 2 };
static const struct mapping_table right_table = { first, sorted_rows };

static struct mapping_result check(struct mapping_table table, const uint32_t *addresses, const uint32_t *ranks,
                                   size_t count)
{
    struct mapping_result result;
    cr_assert(mapping_result_make(&result));
    cr_assert(mapping_check(&three, table, addresses, ranks, count, &result));
    cr_assert_eq(result.checked, count);
    return result;
}

Test(mapping, right_answers_are_counted_by_country)
{
    const uint32_t        addresses[] = { 0, 10, 19, 20, 21, 39, 40, 49, 50, 4294967295u };
    const uint32_t        ranks[] = { 0, 1, 1, 2, 2, 2, 3, 3, 3, 3 };
    struct mapping_result result = check(right_table, addresses, ranks, 10);
    cr_assert_eq(result.wrong, 0);
    cr_assert_eq(result.unlisted, 5);
    cr_assert_eq(result.by_country[0x4141], 4);
    cr_assert_eq(result.by_country[0x4242], 1);
    mapping_result_free(&result);
}

Test(mapping, wrong_ranks_are_found)
{
    static const uint32_t address = 20;
    static const uint32_t wrong[] = { 0, 1, 3, 4, 4294967295u };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct mapping_result result = check(right_table, &address, &wrong[i], 1);
        cr_assert_eq(result.wrong, 1, "rank %u of address 20 passed", wrong[i]);
        cr_assert_eq(result.example, 20);
        cr_assert_eq(result.example_rank, wrong[i]);
        mapping_result_free(&result);
    }
    /* An address in no range, with another place that is in no range. */
    static const uint32_t gap = 30, before_all = 0;
    struct mapping_result result = check(right_table, &gap, &before_all, 1);
    cr_assert_eq(result.wrong, 1);
    mapping_result_free(&result);
}

Test(mapping, wrong_rows_are_found)
{
    static const uint32_t swapped[] = { 1, 0, 2 }, beyond[] = { 0, 3, 4294967295u };
    static const uint32_t addresses[] = { 10, 20, 40 }, ranks[] = { 1, 2, 3 };

    cr_assert_eq(mapping_check_sort(&three, right_table), 0);
    cr_assert_eq(mapping_check_sort(&three, (struct mapping_table) { first, swapped }), 2);
    cr_assert_eq(mapping_check_sort(&three, (struct mapping_table) { first, beyond }), 2);
    cr_assert_eq(mapping_check_sort(&three, (struct mapping_table) { last, sorted_rows }), 2); /* last[1] is first[1] */

    struct mapping_result result = check((struct mapping_table) { first, swapped }, addresses, ranks, 3);
    cr_assert_eq(result.wrong, 2);
    mapping_result_free(&result);
    result = check((struct mapping_table) { first, beyond }, addresses, ranks, 3);
    cr_assert_eq(result.wrong, 2);
    mapping_result_free(&result);
}

/* Enough for several threads. */
#define MANY 200000

Test(mapping, one_wrong_answer_among_many_is_found)
{
    uint32_t *addresses = malloc(MANY * sizeof *addresses);
    uint32_t *ranks = malloc(MANY * sizeof *ranks);
    cr_assert(addresses && ranks);
    cr_assert(mapping_repeated(&three, addresses, MANY));
    for (size_t i = 0; i < MANY; i++)
        ranks[i] = (uint32_t) geoip_rank(&three, addresses[i]);
    struct mapping_result result = check(right_table, addresses, ranks, MANY);
    cr_assert_eq(result.wrong, 0);
    cr_assert_eq(result.unlisted, 0, "every host lies in a range");
    cr_assert_eq(result.by_country[0x4141] + result.by_country[0x4242], MANY);
    mapping_result_free(&result);

    for (size_t i = 0; i < MANY; i += MANY - 1) {
        ranks[i] ^= 1;
        result = check(right_table, addresses, ranks, MANY);
        cr_assert_eq(result.wrong, 1);
        cr_assert_eq(result.example, addresses[i]);
        mapping_result_free(&result);
        ranks[i] ^= 1;
    }
    free(ranks);
    free(addresses);
}

Test(mapping, shuffled_rows_are_all_there)
{
    static uint32_t rows[MANY];
    static bool     seen[MANY];
    mapping_shuffle(rows, MANY);
    size_t in_place = 0;
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_lt(rows[i], MANY);
        cr_assert_not(seen[rows[i]], "row %u comes twice", rows[i]);
        seen[rows[i]] = true;
        in_place += rows[i] == i;
    }
    cr_assert_lt(in_place, 20, "%zu of %d rows are where they were", in_place, MANY);
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a;
    const uint32_t y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

Test(mapping, repeated_addresses_repeat_and_random_ones_do_not)
{
    static uint32_t addresses[MANY];
    mapping_random(addresses, MANY);
    qsort(addresses, MANY, sizeof addresses[0], ascending);
    size_t same = 0;
    for (size_t i = 1; i < MANY; i++)
        same += addresses[i] == addresses[i - 1];
    cr_assert_lt(same, 50, "%zu repetitions", same);

    cr_assert(mapping_repeated(
        &(struct geoip) {
            .count = 1, .first = (uint32_t[]) { 0 }, .last = (uint32_t[]) { 4294967295u }, .country = country },
        addresses, MANY));
    qsort(addresses, MANY, sizeof addresses[0], ascending);
    size_t run = 1, longest = 1;
    for (size_t i = 1; i < MANY; i++) {
        run = addresses[i] == addresses[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    /* The busiest host has a share of log 2 / log 100001 = 6 %. */
    cr_assert(longest > MANY / 20 && longest < MANY / 14, "the busiest host comes %zu times", longest);
}
