/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on arrays of numbers in device memory, for tests that count each byte of it. */
#ifndef ORDO_TESTS_DEVICE_NUMBERS_H
#define ORDO_TESTS_DEVICE_NUMBERS_H

#include "tests/support/support.h"

/* Keys and values of numbers from `from` on, and results. None of it counts as memory of the device. */
struct arrays {
    size_t            count;
    struct test_array keys, hi, values, out_keys, out_values, found, counts, offsets;
};

struct arrays arrays_make(struct test *t, uint32_t from, uint32_t count);
void          arrays_free(struct arrays *a);

ordo_status upsert(ordo_dict *dict, const struct arrays *a);

/* Checks with every kind of query that exactly the keys of the arrays are present. */
void expect_all(struct test *t, ordo_dict *dict, const struct arrays *a);

#endif
