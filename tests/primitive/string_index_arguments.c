/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of strings refuse bad columns, queries and ids. */
#include "tests/support/support.h"

#include "ordo/strings.h"

static void refuse_build(struct test *t, const uint64_t *offsets, size_t count, bool is_sorted, ordo_status want,
                         const char *part)
{
    const struct ordo_string_index_params params = { .sorted = is_sorted };
    const struct ordo_host_strings        host = { offsets, 8, "badcab", 6, count };
    AUTO_ARRAY struct test_array          on_offsets = test_upload(t, offsets, count + 1, 8, 1);
    AUTO_ARRAY struct test_array          on_bytes = test_upload(t, "badcab", 6, 1, 3);
    const struct ordo_strings             column = { test_slice(&on_offsets), 8, test_slice(&on_bytes), 6, count };
    ordo_string_index                    *index = (ordo_string_index *) t;
    test_context(t, "%s", part);
    test_status(t, ordo_string_index_build(t->dev, &params, &column, NULL, &index), want);
    test_true(t, index == NULL);
    test_message(t, part);
    test_status(t, ordo_string_index_build_host(t->dev, &params, &host, &index), want);
    test_true(t, index == NULL);
    test_message(t, part);
}

MASK_TEST(string_index_arguments, of_bad_columns_is_refused, "", "cpu=0")
{
    const uint64_t descends[] = { 0, 4, 2, 6 }, outside[] = { 0, 2, 5, 7 }, unsorted[] = { 1, 3, 4, 6 };
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        refuse_build(t, descends, 3, is_sorted, ORDO_INVALID, "offsets descend at row 1, from 4 to 2");
        refuse_build(t, outside, 3, is_sorted, ORDO_INVALID, "row 2 has bytes 5 to 7: the column has 6");
    }
    refuse_build(t, unsorted, 3, true, ORDO_INVALID, "string 2 is less than the one before"); /* "ad", "c", "ab" */
}

#define AUTO_INDEX AUTO(ordo_string_index_destroy)

/* Returns an index of "ab", "ad", "c". */
static ordo_string_index *small_index(struct test *t)
{
    const uint64_t                 offsets[] = { 1, 3, 4, 6 };
    const struct ordo_host_strings host = { offsets, 8, "badcab", 6, 3 };
    ordo_string_index             *index = NULL;
    test_ok(t, ordo_string_index_build_host(t->dev, ordo_string_index_params(0), &host, &index));
    return index;
}
/* Bad queries have no result, and the other queries have theirs. Calls on host memory refuse them. */
MASK_TEST(string_index_arguments, does_not_read_bad_queries, "", "cpu=0")
{
    const uint32_t                 offsets[] = { 0, 2, 1, 2, 9, 3 }; /* "ab", bad, "b", bad, bad */
    const uint32_t                 want[] = { 0, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID, ORDO_NO_ID };
    const uint32_t                 none[] = { 1, 0, 0, 0, 0 };
    const uint32_t                 same[] = { 1, 0, 3, 0, 0 }; /* "b" shares no byte with any string */
    uint32_t                       ids[5];
    const struct ordo_host_strings host = { offsets, 4, "abc", 3, 5 };
    AUTO_INDEX ordo_string_index  *index = small_index(t);
    AUTO_ARRAY struct test_array   on_offsets = test_upload(t, offsets, 6, 4, 0), out = test_upload(t, NULL, 5, 4, 1);
    AUTO_ARRAY struct test_array   on_bytes = test_upload(t, "abc", 3, 1, 1), counts = test_upload(t, NULL, 5, 4, 1);
    const struct ordo_strings      queries = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 3, 5 };
    test_context(t, "bad queries");
    test_ok(t, ordo_string_index_search(index, ORDO_STRING_FIND, &queries, test_slice(&out), NULL));
    test_expect(t, ORDO_U32, &out, want, 5);
    test_ok(t, ordo_string_index_prefix(index, &queries, ordo_none(), test_slice(&counts), NULL));
    test_expect(t, ORDO_U32, &counts, none, 5);
    test_ok(t, ordo_string_index_common(index, &queries, ordo_none(), ordo_none(), test_slice(&counts), NULL));
    test_expect(t, ORDO_U32, &counts, same, 5);
    test_status(t, ordo_string_index_search_host(index, ORDO_STRING_FIND, &host, ids), ORDO_INVALID);
    test_message(t, "offsets descend at row 1, from 2 to 1");
}

MASK_TEST(string_index_arguments, refuses_other_numbers_of_bounds, "")
{
    const uint64_t                 offsets[] = { 1, 3, 4, 6 };
    const struct ordo_host_strings lo = { offsets, 8, "badcab", 6, 3 }, hi = { offsets, 8, "badcab", 6, 2 };
    uint32_t                       counts[3];
    AUTO_INDEX ordo_string_index  *index = small_index(t);
    test_context(t, "three lower bounds, two upper bounds");
    test_status(t, ordo_string_index_range_host(index, &lo, &hi, NULL, counts), ORDO_INVALID);
    test_message(t, "lo has 3 strings, but hi has 2");
    test_status(t, ordo_string_index_range_host(index, &lo, NULL, NULL, counts), ORDO_INVALID);
}

MASK_TEST(string_index_arguments, refuses_ids_out_of_range, "", "cpu=0")
{
    const uint32_t                ids[] = { 2, 0, 3, ORDO_NO_ID };
    uint64_t                      offsets[5];
    uint8_t                       bytes[8];
    size_t                        needed = 5;
    AUTO_INDEX ordo_string_index *index = small_index(t);
    test_context(t, "ids out of range");
    test_status(t, ordo_string_index_strings_host(index, ids, 4, offsets, bytes, 8, &needed), ORDO_INVALID);
    test_message(t, "ids[2] is 3: there are 3 strings");
    test_status(t, ordo_string_index_strings_host(index, ids, 2, offsets, bytes, 2, &needed), ORDO_TOO_SMALL);
    test_true(t, needed == 3);
    test_message(t, "the strings have 3 bytes, capacity is 2");
    test_ok(t, ordo_string_index_strings_host(index, ids, 2, offsets, bytes, 8, &needed));
    test_true(t, memcmp(bytes, "cab", 3) == 0 && offsets[0] == 0 && offsets[1] == 1 && offsets[2] == 3);
    test_status(t, ordo_string_index_rows_host(index, NULL, (uint32_t *) (void *) offsets, 2), ORDO_TOO_SMALL);
    test_message(t, "the index knows 3 rows, capacity is 2");
}
