/* SPDX-License-Identifier: Apache-2.0 */
/* The demo checks the answers of the device. Right answers pass, and each kind of wrong answer fails. */
#include "bench/tools/demo/ranges.h"
#include "bench/workload/keys.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10..19 AA, 20..20 BB, 40..49 AA */
static uint32_t           first[] = { 10, 20, 40 };
static uint32_t           last[] = { 19, 20, 49 };
static uint16_t           country[] = { 0x4141, 0x4242, 0x4141 };
static const struct geoip three = { .count = 3, .first = first, .last = last, .country = country };

static const uint32_t sorted_rows[] = { 0, 1, 2 };

static struct verdict ranks_of(const struct geoip *geoip, const uint32_t *addresses, const uint32_t *ranks,
                               size_t count)
{
    struct verdict verdict = { 0 };
    check_answers(geoip, ASK_RANK, NULL, addresses, count, &(struct answers) { NULL, ranks }, 1, &verdict);
    cr_assert_eq(verdict.checked, count);
    return verdict;
}

Test(mapping, right_ranks_pass_and_are_counted_by_country)
{
    const uint32_t addresses[] = { 0, 10, 19, 20, 21, 39, 40, 49, 50, 4294967295u };
    const uint32_t ranks[] = { 0, 1, 1, 2, 2, 2, 3, 3, 3, 3 };
    static size_t  by_country[N_COUNTRIES];
    cr_assert_eq(ranks_of(&three, addresses, ranks, 10).wrong, 0);
    cr_assert_eq(count_countries(&three, addresses, ranks, 10, by_country), 5);
    cr_assert_eq(by_country[0x4141], 4);
    cr_assert_eq(by_country[0x4242], 1);
}

Test(mapping, wrong_ranks_are_found)
{
    static const uint32_t address = 20;
    static const uint32_t wrong[] = { 0, 1, 3, 4, 4294967295u };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct verdict verdict = ranks_of(&three, &address, &wrong[i], 1);
        cr_assert_eq(verdict.wrong, 1, "rank %u of address 20 passed", wrong[i]);
        char example[80];
        snprintf(example, sizeof example, "%u for address 20", wrong[i]);
        cr_assert_str_eq(verdict.example, example);
    }
    /* An address in no range, with another place that is in no range. */
    static const uint32_t gap = 30, before_all = 0;
    cr_assert_eq(ranks_of(&three, &gap, &before_all, 1).wrong, 1);
}

Test(mapping, wrong_rows_are_found)
{
    static const uint32_t swapped[] = { 1, 0, 2 }, beyond[] = { 0, 3, 4294967295u };
    cr_assert_eq(check_sort(&three, first, sorted_rows), 0);
    cr_assert_eq(check_sort(&three, first, swapped), 2);
    cr_assert_eq(check_sort(&three, first, beyond), 2);
    cr_assert_eq(check_sort(&three, last, sorted_rows), 2); /* last[1] is first[1] */
}

/* Two structures answer the same addresses. Each wrong answer of either is counted. */
Test(mapping, wrong_rows_and_missing_answers_are_found)
{
    static const uint32_t addresses[] = { 5, 15, 30, 45 }, holders[] = { 7, 0, 7, 2 }, nearest[] = { 7, 0, 0, 0 };
    static const uint8_t  held[] = { 0, 1, 0, 1 }, preceded[] = { 0, 1, 1, 1 }, none[] = { 0, 0, 0, 0 };
    static const uint8_t  all[] = { 1, 1, 1, 1 };
    static const uint32_t only_first[] = { 0, 0, 0 }, no_row[] = { 3, 3, 3, 3 };
    static const struct {
        enum question  question;
        struct answers answers;
        size_t         wrong;
    } cases[] = { { ASK_ROW, { held, holders }, 0 },         { ASK_ROW, { none, holders }, 2 },
                  { ASK_ROW, { all, holders }, 2 },          { ASK_ROW, { all, no_row }, 4 },
                  { ASK_NEAREST, { preceded, nearest }, 0 }, { ASK_NEAREST, { preceded, holders }, 2 },
                  { ASK_NEAREST, { none, nearest }, 3 },     { ASK_NEAREST, { all, no_row }, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct answers both[] = { cases[i].answers, cases[i].answers };
        struct verdict       verdict = { 0 };
        check_answers(&three, cases[i].question, only_first, addresses, 4, both, 2, &verdict);
        cr_assert_eq(verdict.wrong, 2 * cases[i].wrong, "case %zu: %zu", i, verdict.wrong);
        cr_assert_eq(verdict.checked, 8);
        cr_assert_eq(verdict.withdrawn, cases[i].question == ASK_NEAREST); /* 45 */
    }
}

/* Enough for several threads. */
#define MANY 200000

Test(mapping, one_wrong_answer_among_many_is_found)
{
    uint32_t *addresses = malloc(MANY * sizeof *addresses);
    uint32_t *ranks = malloc(MANY * sizeof *ranks);
    cr_assert(addresses && ranks);
    repeated_addresses(&three, addresses, MANY);
    for (size_t i = 0; i < MANY; i++) {
        const size_t rank = geoip_rank(&three, addresses[i]);
        cr_assert_lt(geoip_row(&three, addresses[i], rank), three.count, "every host lies in a range");
        ranks[i] = (uint32_t) rank;
    }
    cr_assert_eq(ranks_of(&three, addresses, ranks, MANY).wrong, 0);
    for (size_t i = 0; i < MANY; i += MANY - 1) {
        ranks[i] ^= 1;
        const struct verdict verdict = ranks_of(&three, addresses, ranks, MANY);
        cr_assert_eq(verdict.wrong, 1);
        char example[80];
        snprintf(example, sizeof example, "%u for address %u", ranks[i], addresses[i]);
        cr_assert_str_eq(verdict.example, example);
        ranks[i] ^= 1;
    }
    free(ranks);
    free(addresses);
}

Test(mapping, shuffled_numbers_are_all_there)
{
    static uint32_t rows[MANY];
    static bool     seen[MANY];
    numbers_shuffle(0, MANY, rows);
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
    random_addresses(addresses, MANY);
    qsort(addresses, MANY, sizeof addresses[0], ascending);
    size_t same = 0;
    for (size_t i = 1; i < MANY; i++)
        same += addresses[i] == addresses[i - 1];
    cr_assert_lt(same, 50, "%zu repetitions", same);

    repeated_addresses(
        &(struct geoip) {
            .count = 1, .first = (uint32_t[]) { 0 }, .last = (uint32_t[]) { 4294967295u }, .country = country },
        addresses, MANY);
    qsort(addresses, MANY, sizeof addresses[0], ascending);
    size_t run = 1, longest = 1;
    for (size_t i = 1; i < MANY; i++) {
        run = addresses[i] == addresses[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    /* The busiest host has a share of log 2 / log 100001 = 6 %. */
    cr_assert(longest > MANY / 20 && longest < MANY / 14, "the busiest host comes %zu times", longest);
}

/* 2001:db8::/32 AA, 2001:db9::1 BB, 2001:dba::/48 AA */
static struct ip6 first6[] = { { { 0x20, 1, 0x0d, 0xb8 } },
                               { { 0x20, 1, 0x0d, 0xb9, [15] = 1 } },
                               { { 0x20, 1, 0x0d, 0xba } } };
static struct ip6 last6[] = { { { 0x20, 1, 0x0d, 0xb8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } },
                              { { 0x20, 1, 0x0d, 0xb9, [15] = 1 } },
                              { { 0x20, 1, 0x0d, 0xba, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } } };
static const struct geoip6 three6 = { .count = 3, .first = first6, .last = last6, .country = country };

Test(mapping, wrong_ranks_and_rows_of_ipv6_are_found)
{
    const struct ip6 addresses[] = { { { 0 } }, first6[0], last6[0], first6[1], { { 0x20, 1, 0x0d, 0xb9 } } };
    uint32_t         ranks[] = { 0, 1, 1, 2, 1 };
    static size_t    by_country[N_COUNTRIES];
    struct verdict   verdict = { 0 };
    check_ranks6(&three6, addresses, ranks, 5, &verdict);
    cr_assert(verdict.checked == 5 && verdict.wrong == 0);
    cr_assert_eq(count_countries6(&three6, addresses, ranks, 5, by_country), 2);
    cr_assert_eq(by_country[0x4141], 2);
    cr_assert_eq(by_country[0x4242], 1);
    for (size_t i = 0; i < 5; i++) {
        ranks[i] ^= 1;
        verdict = (struct verdict) { 0 };
        check_ranks6(&three6, addresses, ranks, 5, &verdict);
        cr_assert_eq(verdict.wrong, 1);
        ranks[i] ^= 1;
    }
    ranks[3] = 7;
    check_ranks6(&three6, addresses, ranks, 5, &verdict);
    cr_assert_str_eq(verdict.example, "7 for address 2001:db9::1");

    static const uint32_t swapped[] = { 1, 0, 2 };
    cr_assert_eq(check_sort6(&three6, first6, sorted_rows), 0);
    cr_assert_eq(check_sort6(&three6, first6, swapped), 2);
    cr_assert_eq(check_sort6(&three6, last6, sorted_rows), 2); /* last6[1] is first6[1] */
}

/* Half of the bounds lie outside. Every busy host lies in a range. */
Test(mapping, addresses_of_ipv6_lie_at_bounds_or_in_ranges)
{
    struct ip6 *addresses = malloc(MANY * sizeof *addresses);
    size_t      at[4] = { 0 }, others = 0;
    cr_assert(addresses);
    bounds6(&three6, addresses, MANY);
    struct ip6 outside[] = { first6[0], last6[0] };
    memset(outside[0].byte + 3, 0xff, 13);
    outside[0].byte[3] = 0xb7;
    memset(outside[1].byte + 3, 0, 13);
    outside[1].byte[3] = 0xb9;
    const struct ip6 places[] = { first6[0], last6[0], outside[0], outside[1] };
    for (size_t i = 0; i < MANY; i++) {
        size_t place = 0;
        while (place < 4 && ip6_order(&addresses[i], &places[place]) != 0)
            place++;
        if (place < 4)
            at[place]++;
        else
            others++;
    }
    for (size_t place = 0; place < 3; place++)
        cr_assert(at[place] > MANY / 14 && at[place] < MANY / 10, "place %zu: %zu", place, at[place]);
    cr_assert(at[3] > MANY / 7 && at[3] < MANY / 5, "%zu", at[3]); /* also next to the second range */
    cr_assert(others > MANY / 2 && others < MANY * 2 / 3, "%zu", others);

    repeated_addresses6(&three6, addresses, MANY);
    for (size_t i = 0; i < MANY; i++)
        cr_assert_lt(geoip6_row(&three6, &addresses[i], geoip6_rank(&three6, &addresses[i])), 3);
    free(addresses);
}
