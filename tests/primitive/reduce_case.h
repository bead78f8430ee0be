/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: the cases of reduce.c and scan_tunings.c. */
#ifndef ORDO_TESTS_REDUCE_CASE_H
#define ORDO_TESTS_REDUCE_CASE_H

#include "array_case.h"

static inline void try_reduce(struct test *t, ordo_type type, ordo_op op, enum test_shape shape, size_t count)
{
    struct given g = array_given(t, type, 0, count);

    g.array_op = op;
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_reduce", &g);
    test_keys(t, type, shape, count, c.host[0]);
    array_case_check(&c);
    array_case_check_host(&c);
}

static inline void try_seams(struct test *t, ordo_type type, ordo_op op)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = array_seams(t, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, ordo_type_bytes(type), counts);
    for (size_t i = 0; i < n; i++)
        try_reduce(t, type, op, (enum test_shape) test_below(t, TEST_N_SHAPES), counts[i]);
}

#endif
