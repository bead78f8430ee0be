/* SPDX-License-Identifier: Apache-2.0 */
/* Searches in sorted keys of 16 bytes. */
#include "search_case.h"

static const size_t counts[] = { 0, 1, 2, 15, 17, 257, 4096, 4097, 50021 };

static void check_way(struct test *t, struct search_case c, int way)
{
    c.sorted = way & 1;
    c.hint = way >> 1 & 1;
    c.index = way >> 2 & 1;
    c.scheme = way < 8 ? ORDO_SCHEME_AUTO : way == 8 ? ORDO_SCHEME_BUFFERED : ORDO_SCHEME_SORTED;
    AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
    test_true(t, check_ranks(t, &c, &d, way % 2 == 0));
    test_true(t, check_ranges(t, &c, &d));
    test_true(t, check_lookup(t, &c, &d, true));
}

/* Every size and way with each type; `turn` rotates the shapes of keys. */
static void check_type(struct test *t, ordo_type type, uint32_t value_bytes, size_t turn)
{
    for (size_t i = 0; i < LENGTH(counts); i++)
        for (int way = 0; way < 10; way++)
            if (way < 8 || counts[i] > 4000)
                check_way(t,
                          (struct search_case) { .type = type,
                                                 .shape = (enum test_shape)((i + turn) % TEST_N_SHAPES),
                                                 .count = counts[i],
                                                 .n_queries = 1025,
                                                 .at = (i + turn) * 3 % 17,
                                                 .value_bytes = value_bytes },
                          way);
}

DEVICE_TEST(search_wide, ranks_and_values_are_those_of_a_binary_search)
{
    test_ok(t, ordo_device_set_tunable(t->dev, "search.items", 2));
    check_type(t, ORDO_U128, 4, t->seed);
    check_type(t, ORDO_BYTES16, 0, t->seed + 3);
    check_type(t, ORDO_U64, 16, t->seed + 2);
}

MASK_TEST(search_wide, groups_search_keys_of_16_bytes, "cpu=0")
{
    check_type(t, ORDO_BYTES16, 8, t->seed + 1);
    test_ok(t, ordo_device_set_tunable(t->dev, "search.node_keys", 32));
    check_type(t, ORDO_U128, 0, t->seed + 4);
    check_type(t, ORDO_U32, 16, t->seed + 5);
}

/* An index distinguishes 64 bits of keys. These keys share bits before them, or differ only after them. */
MASK_TEST(search_wide, keys_that_an_index_cannot_distinguish, "", "cpu=0")
{
    for (uint32_t layout = 0; layout < 2; layout++) {
        test_ok(t, ordo_device_set_tunable(t->dev, "search.layout", layout));
        for (uint32_t shape = 0; shape < WIDE_N_SHAPES; shape++)
            check_way(t,
                      (struct search_case) { .type = test_wide_types[shape % 2],
                                             .wide_shape = 1 + shape,
                                             .count = 20011,
                                             .n_queries = 1025,
                                             .at = shape,
                                             .value_bytes = 4 },
                      shape == 3 ? 8 : 4);
    }
}

DEVICE_TEST(search_wide, compressed_indexes_are_refused)
{
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, 100, 16, 0);
    for (int i = 0; i < 2; i++) {
        ordo_index *index = NULL;
        char        message[512];
        test_status(t, ordo_index_build_compressed(t->dev, test_wide_types[i], test_slice(&keys), 100, NULL, &index),
                    ORDO_UNSUPPORTED);
        (void) ordo_device_last_error(t->dev, message, sizeof message);
        test_true(t, strstr(message, "ordo_index_build_compressed"));
        test_true(t, strstr(message, test_type_name[test_wide_types[i]]));
    }
}
