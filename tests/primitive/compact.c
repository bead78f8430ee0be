/* SPDX-License-Identifier: Apache-2.0 */
/* Compactions. */
#include "compact_case.h"

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void try_seams(struct test *t, uint32_t key_bytes, uint32_t value_bytes)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = array_seams(t, ORDO_COMPACT_GROUP, ORDO_COMPACT_ITEMS, key_bytes, counts);
    for (size_t i = 0; i < n; i++)
        try_compact(t, key_bytes, value_bytes, counts[i], false);
}

EVERY_MASK_TEST(compact, is_right_at_every_seam_on_every_device_and_mask)
{
    try_seams(t, 4, 0);
    try_seams(t, 8, 4);
}

MASK_TEST(compact, takes_every_size_of_key_and_value, "", "cpu=0,progress=1")
{
    for (uint32_t key_bytes = 4; key_bytes <= 16; key_bytes *= 2)
        for (uint32_t value_bytes = 0; value_bytes <= 16; value_bytes = value_bytes ? 2 * value_bytes : 4)
            for (int trial = 0; trial < 5; trial++)
                try_compact(t, key_bytes, value_bytes, test_below(t, 100000), false);
    try_compact(t, 4, 4, 3000017, false);
}

static void tuned(struct test *t)
{
    try_compact(t, 4, 8, 60000 + test_below(t, 9), false);
}

MASK_TEST(compact, is_right_however_it_is_tuned, "progress=1")
{
    test_unoptimized(t);
    with_some_tunings(t, tuned);
}

DEVICE_TEST(compact, takes_host_arrays)
{
    for (size_t count = 0; count < 40000; count = count * 3 + 1)
        try_compact(t, count % 4 == 1 ? 16 : 8, count % 2 ? 4 : 0, count, true);
}

DEVICE_TEST(compact, refuses_bad_arguments)
{
    const struct ordo_compact_params p = { 4, 4 }, keys_alone = { 4, 0 }, odd_key = { 3, 4 };
    struct test_array                array[6];
    struct ordo_slice                k, v, f, ko, vo, n;
    for (size_t i = 0; i < 6; i++)
        array[i] = test_upload(t, NULL, 100, 4, 0);
    k = test_slice(&array[0]), v = test_slice(&array[1]), f = test_slice(&array[2]);
    ko = test_slice(&array[3]), vo = test_slice(&array[4]), n = test_slice(&array[5]);

    test_context(t, "bad arguments");
    test_status(t, ordo_compact(t->dev, &odd_key, k, v, f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &keys_alone, k, v, f, 100, ko, ordo_none(), n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 50, ko, vo, ordo_at(ko.mem, 49), NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 50, ko, vo, ordo_at(ko.mem, 50), NULL), ORDO_OK);
    test_status(t, ordo_compact_host(t->dev, &keys_alone, NULL, NULL, NULL, 0, NULL, NULL, NULL), ORDO_INVALID);
    for (size_t i = 0; i < 6; i++)
        test_free(&array[i]);
}
