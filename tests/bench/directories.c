/* SPDX-License-Identifier: Apache-2.0 */
/* The demo finds directories of paths on the host and checks the answers of the device. Wrong answers are found. */
#include "bench/tools/demo/directories.h"
#include "bench/workload/keys.h"

#include "ordo/strings.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 3000

/* A column of lines, and its rows in order. */
static struct string_column column;
static uint32_t             offsets[MOST + 1], order[MOST];
static char                 bytes[32 * MOST];

static void add(const char *string)
{
    while (*string)
        bytes[column.n_bytes++] = *string++;
    offsets[++column.count] = (uint32_t) column.n_bytes;
}

static int by_string_then_row(const void *a_, const void *b_)
{
    const uint32_t a = *(const uint32_t *) a_, b = *(const uint32_t *) b_;
    const int      by_string = string_order(string_at(&column, a), string_at(&column, b));
    return by_string ? by_string : a < b ? -1 : a > b;
}

static struct sorted_strings sorted;
static struct directories    found;

static void find(bool slashes, uint32_t least)
{
    for (size_t i = 0; i < column.count; i++)
        order[i] = (uint32_t) i;
    qsort(order, column.count, sizeof *order, by_string_then_row);
    cr_assert(sorted_number(&column, order, &sorted));
    cr_assert(directories_find(&sorted, slashes, least, &found));
}

static void begin(void)
{
    column = (struct string_column) { .offsets = offsets, .offset_bytes = 4, .bytes = bytes };
}

static void end(void)
{
    directories_free(&found);
    sorted_free(&sorted);
}

static void expect_directory(size_t d, const char *name, uint32_t first, uint32_t under, uint32_t kept)
{
    cr_assert_lt(d, found.count);
    const struct string_view is = directory_name(&found, d);
    cr_assert(is.bytes == strlen(name) && !memcmp(is.at, name, is.bytes), "directory %zu is %.*s, not %s", d,
              (int) is.bytes, is.at, name);
    cr_assert(found.directory[d].first == first && found.directory[d].under == under && found.directory[d].kept == kept,
              "%s: first %u, under %u, kept %u", name, found.directory[d].first, found.directory[d].under,
              found.directory[d].kept);
}

Test(directories, equal_paths_have_one_id, .init = begin, .fini = end)
{
    add("b/c");
    add("a");
    add("b/c");
    add("");
    find(true, 1);
    cr_assert_eq(sorted.count, 3);
    static const uint32_t rows[] = { 3, 1, 0 }, ids[] = { 2, 1, 2, 0 };
    cr_assert(!memcmp(sorted.rows, rows, sizeof rows) && !memcmp(sorted.ids, ids, sizeof ids));
    cr_assert_eq(found.count, 1);
    expect_directory(0, "b/", 2, 1, 0);
    cr_assert(found.innermost[0] == NO_DIRECTORY && found.innermost[1] == NO_DIRECTORY && found.innermost[2] == 0);
}

/* "a-/" is between "a" and "a/". */
Test(directories, counts_and_large_parents, .init = begin, .fini = end)
{
    static const char *const paths[] = { "a/b/x", "a/b/y", "a/c/z", "a-/x", "a", "d//e", "a/" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        add(paths[i]);
    find(true, 2);
    cr_assert_eq(found.count, 6);
    expect_directory(0, "a-/", 1, 1, NO_DIRECTORY);
    expect_directory(1, "a/", 2, 4, 0);
    expect_directory(2, "a/b/", 3, 2, 1);
    expect_directory(3, "a/c/", 5, 1, 0);
    expect_directory(4, "d/", 6, 1, NO_DIRECTORY);
    expect_directory(5, "d//", 6, 1, NO_DIRECTORY);
    cr_assert_eq(found.n_kept, 2);

    uint32_t largest[3];
    cr_assert_eq(directories_largest(&found, 3, largest), 3);
    cr_assert(largest[0] == 0 && largest[1] == 1 && largest[2] == 2, "%u %u %u", largest[0], largest[1], largest[2]);
    cr_assert_eq(directories_largest(&found, 1, largest), 1);
    cr_assert_eq(largest[0], 1);
}

Test(directories, words_have_their_first_letters, .init = begin, .fini = end)
{
    add("ab");
    add("abc");
    add("b");
    add("b\xc3\xa9");
    add("\xc3\xa9");
    find(false, 2);
    cr_assert_eq(found.count, 3);
    expect_directory(0, "a", 0, 2, 0);
    expect_directory(1, "ab", 0, 2, 1);
    expect_directory(2, "b", 2, 2, 2);
    cr_assert_eq(found.innermost[4], NO_DIRECTORY);
}

static bool begins_with(struct string_view string, struct string_view prefix)
{
    return string.bytes >= prefix.bytes && !memcmp(string.at, prefix.at, prefix.bytes);
}

/* Compares with a linear search in every directory. */
Test(directories, random_paths, .init = begin, .fini = end)
{
    struct string_column names, large;
    for (size_t i = 0; i < MOST; i++) {
        char           path[32];
        const uint64_t bits = draw(1, i);
        int            length = 0;
        for (int part = 0; part < 1 + (int) (bits & 3); part++)
            length += snprintf(path + length, sizeof path - (size_t) length, "%s%c%s", part ? "/" : "",
                               (int) ("abc"[(bits >> (8 + 2 * part)) % 3]), bits >> (20 + part) & 1 ? "-" : "");
        add(path);
    }
    find(true, 20);
    cr_assert(found.count > 50 && found.n_kept > 5 && found.n_kept < found.count);
    cr_assert(directories_names(&found, false, &names) && directories_names(&found, true, &large));
    cr_assert(names.count == found.count && large.count == found.n_kept);
    for (size_t d = 0; d < names.count; d++) {
        uint32_t under = 0, first = 0;
        cr_assert(d == 0 || string_order(string_at(&names, d - 1), string_at(&names, d)) < 0);
        for (uint32_t id = (uint32_t) sorted.count; id-- > 0;)
            if (begins_with(string_at(&column, sorted.rows[id]), string_at(&names, d))) {
                under++;
                first = id;
            }
        cr_assert(found.directory[d].under == under && found.directory[d].first == first);
    }
    for (size_t id = 0; id < sorted.count; id++) {
        uint32_t nearest = NO_DIRECTORY;
        for (uint32_t k = 0; k < large.count; k++)
            if (begins_with(string_at(&column, sorted.rows[id]), string_at(&large, k)))
                nearest = k; /* the later one is longer */
        const uint32_t inner = found.innermost[id];
        cr_assert_eq(inner == NO_DIRECTORY ? inner : found.directory[inner].kept, nearest);
    }
    strings_free(&names);
    strings_free(&large);
}

Test(directories, wrong_words_are_found, .init = begin)
{
    static const uint32_t want[] = { 4, ORDO_NO_ID, 0 };
    uint32_t              got[] = { 4, ORDO_NO_ID, 0 };
    struct verdict        verdict = { 0 };
    add("usr/bin");
    add("nowhere");
    add("");
    check_words(&column, want, got, &verdict);
    cr_assert(verdict.checked == 3 && verdict.wrong == 0);
    for (size_t i = 0; i < 3; i++) {
        verdict = (struct verdict) { 0 };
        got[i] ^= 1;
        check_words(&column, want, got, &verdict);
        cr_assert_eq(verdict.wrong, 1);
        got[i] ^= 1;
    }
    got[0] = 9;
    check_words(&column, want, got, &verdict);
    cr_assert_str_eq(verdict.example, "9 for usr/bin");
}
