/* SPDX-License-Identifier: Apache-2.0 */
/* Compactions: the cases of compact.c and scan_tunings.c. */
#ifndef ORDO_TESTS_COMPACT_CASE_H
#define ORDO_TESTS_COMPACT_CASE_H

#include "array_case.h"

/* All, none, a few, most, long runs. Any byte but 0 is a flag. */
static inline void random_flags(struct test *t, uint8_t *flags, size_t count)
{
    const uint64_t of_ten = (uint64_t[]) { 0, 1, 5, 9, 10 }[test_below(t, 5)];
    const size_t   segment = test_below(t, 2) ? 1 : 1000;
    uint8_t        flag = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % segment == 0)
            flag = test_below(t, 10) < of_ten ? (uint8_t) (1 + test_below(t, 255)) : 0;
        flags[i] = flag;
    }
}

/* Elements after the kept ones must be unchanged. */
static inline void try_compact(struct test *t, uint32_t key_bytes, uint32_t value_bytes, size_t count, bool host)
{
    const ordo_type                         type = key_bytes == 16 ? ORDO_U128 : key_bytes == 8 ? ORDO_U64 : ORDO_U32;
    const struct given                      g = array_given(t, type, value_bytes, count);
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_compact", &g);

    random_flags(t, c.host[2], count);
    if (host)
        array_case_check_host(&c);
    else
        array_case_check(&c);
}

#endif
