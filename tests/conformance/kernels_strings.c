/* SPDX-License-Identifier: Apache-2.0 */
/* Indices and dictionaries of strings: see kernels.c. */
#include "kernel_parts.h"

/* Strings of four bytes, whose ids are known. */
static void index_of(struct test *t, const struct ordo_host_strings *column, const uint32_t *ids,
                     const struct ordo_string_index_params *params)
{
    enum { MOST = 60 };
    ordo_string_index *index = NULL;
    uint32_t           found[MOST], first[MOST], counts[MOST], rows[MOST], starts[MOST + 1];
    uint64_t           offsets[MOST + 1];
    uint8_t            bytes[4 * MOST];
    size_t             needed = 0;

    struct ordo_string_index_statistics stats = { 0 };
    test_ok(t, ordo_string_index_build_host(t->dev, params, column, &index));
    test_ok(t, ordo_string_index_get_statistics(index, &stats));
    test_true(t, stats.ids == column->count && stats.compared >= stats.ids);
    for (int search = ORDO_STRING_FIND; search <= ORDO_STRING_LONGEST_PREFIX; search++) {
        const int64_t off[] = { 0, -1, 0, 0, 1, 0, 1, 0 };
        test_ok(t, ordo_string_index_search_host(index, (ordo_string_search) search, column, found));
        for (size_t i = 0; i < column->count; i++) {
            const int64_t want = ids[i] + off[search];
            const bool    none = want < 0 || (search == ORDO_STRING_GT && want == (int64_t) column->count);
            test_true(t, found[i] == (none ? ORDO_NO_ID : (uint32_t) want));
        }
    }
    test_ok(t, ordo_string_index_prefix_host(index, column, first, counts));
    test_true(t, first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_range_host(index, column, column, first, counts));
    test_true(t, first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_common_host(index, column, offsets, first, counts));
    test_true(t, offsets[1] == 4 && first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_rows_host(index, starts, rows, MOST));
    for (size_t i = 0; i < column->count; i++)
        test_true(t, rows[ids[i]] == i && starts[i] == i);
    test_ok(t, ordo_string_index_strings_host(index, ids, column->count, offsets, bytes, sizeof bytes, &needed));
    test_true(t, needed == column->n_bytes && memcmp(bytes, column->bytes, needed) == 0);
    ordo_string_index_destroy(&index);
}

/* Stores every second string with its number as the value. */
static void dictionary_of(struct test *t, const struct ordo_host_strings *column)
{
    enum { MOST = 60 };
    uint32_t          values[MOST], ranks[MOST], first[MOST], counts[MOST], longest[MOST];
    uint64_t          offsets[MOST + 1];
    uint8_t           found[MOST], bytes[4 * MOST];
    size_t            count = 0, needed = 0;
    ordo_string_dict *dict = NULL;

    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &dict));
    for (uint32_t i = 0; i < column->count; i++)
        values[i] = i;
    test_ok(t, ordo_string_dict_upsert_host(dict, column, values));
    for (size_t i = 1; i < column->count; i += 2) {
        const struct ordo_host_strings one = { (const uint32_t *) column->offsets + i, 4, column->bytes,
                                               column->n_bytes, 1 };
        test_ok(t, i % 4 == 1 ? ordo_string_dict_upsert_host(dict, &one, values + i) : ORDO_OK);
        test_ok(t, ordo_string_dict_erase_host(dict, &one));
    }
    const uint32_t                 greater = 60, ends[] = { 2, 3 };
    const struct ordo_host_strings b = { ends, 4, column->bytes, column->n_bytes, 1 };
    test_ok(t, ordo_string_dict_upsert_host(dict, &b, &greater)); /* "b", in a second run */
    test_ok(t, ordo_string_dict_check(dict, NULL));
    test_ok(t, ordo_string_dict_find_host(dict, column, values, found));
    test_ok(t, ordo_string_dict_search_host(dict, ORDO_STRING_FIND, column, ranks));
    test_ok(t, ordo_string_dict_prefix_host(dict, column, first, counts));
    test_ok(t, ordo_string_dict_search_host(dict, ORDO_STRING_LONGEST_PREFIX, column, longest));
    for (uint32_t i = 0; i < column->count; i++) {
        test_true(t, found[i] == !(i % 2) && values[i] == i && ranks[i] == (i % 2 ? ORDO_NO_ID : i / 2));
        test_true(t, first[i] == (i + 1) / 2 && counts[i] == !(i % 2) && longest[i] == ranks[i]);
    }
    const struct ordo_host_string_elements out = { offsets, bytes, sizeof bytes, values };
    test_ok(t, ordo_string_dict_select_host(dict, first, 3, &out, found, &needed));
    test_true(t, needed == 12 && values[0] == 0 && values[1] == 2 && memcmp(bytes, column->bytes, 4) == 0);
    test_ok(t, ordo_string_dict_export_host(dict, &out, MOST, &count, &needed));
    for (size_t i = 0; i < count; i++)
        test_true(t, values[i] == 2 * i);
    test_true(t, count == column->count / 2 + 1 && needed == 4 * (count - 1) + 1);
    ordo_string_dict_destroy(&dict);
}

void part_strings(struct test *t)
{
    enum { N = 60, STEP = 37 };
    uint8_t  bytes[4 * N];
    uint32_t offsets[N + 1] = { 0 }, ids[N];

    test_context(t, "strings");
    for (uint32_t step = 1; step <= STEP; step += STEP - 1) {
        for (uint32_t i = 0; i < N; i++) {
            ids[i] = i * step % N;
            memcpy(bytes + 4 * (size_t) i, (const uint8_t[]) { 'a', (uint8_t) (ids[i] / 8), 'b', (uint8_t) ids[i] }, 4);
            offsets[i + 1] = 4 * (i + 1);
        }
        const struct ordo_host_strings column = { offsets, 4, bytes, sizeof bytes, N };
        index_of(t, &column, ids, ordo_string_index_params(.sorted = step == 1));
        index_of(t, &column, ids, ordo_string_index_params(.sorted = step == 1, .partial = { 4, 16 }));
        for (uint32_t lanes = 16; step == 1 && lanes > 0; lanes /= 4) {
            test_ok(t, ordo_device_set_tunable(t->dev, "strings.lanes", lanes));
            index_of(t, &column, ids, ordo_string_index_params(.sorted = true));
            dictionary_of(t, &column);
        }
    }
}
