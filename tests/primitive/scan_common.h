/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of scans, reductions and compactions on the host, and some tunings. */
#ifndef ORDO_TESTS_SCAN_COMMON_H
#define ORDO_TESTS_SCAN_COMMON_H

#include "tests/support/support.h"
#include "tests/support/words.h"

#include "primitive/tiles.h"

#include <stdlib.h>

/* ---- operations ---------------------------------------------------------------------------------------------- */

static const char *const op_name[] = { "sum", "min", "max" };

/* Whether a type has sums. */
static inline bool goes_with(ordo_type type, ordo_op op)
{
    return op != ORDO_SUM || (type != ORDO_F32 && type != ORDO_F64);
}

/* The bits of op's identity: 0; the greatest or least key in total order. */
static inline uint64_t identity(ordo_type type, ordo_op op)
{
    static const uint64_t greatest[] = { 0xffffffff, UINT64_MAX, 0x7fffffff, INT64_MAX, 0x7fffffff, INT64_MAX };
    static const uint64_t least[] = { 0, 0, 0x80000000, 0x8000000000000000, 0xffffffff, UINT64_MAX };
    return op == ORDO_SUM ? 0 : op == ORDO_MIN ? greatest[type] : least[type];
}

static inline uint64_t combine(ordo_type type, ordo_op op, uint64_t a, uint64_t b)
{
    uint32_t narrow[2] = { (uint32_t) a, (uint32_t) b };
    uint64_t wide[2] = { a, b };
    if (op == ORDO_SUM)
        return a + b;
    const bool     is_wide = ordo_type_bytes(type) == 8;
    const uint64_t x = ordo_key_bits(type, is_wide ? (void *) &wide[0] : (void *) &narrow[0]);
    const uint64_t y = ordo_key_bits(type, is_wide ? (void *) &wide[1] : (void *) &narrow[1]);
    return op == ORDO_MIN ? (y < x ? b : a) : (y > x ? b : a);
}

/* ---- tunings ------------------------------------------------------------------------------------------------- */

static inline void set_tuning(const struct test *t, uint32_t method, uint32_t group, uint32_t items)
{
    static const char *const groups[] = { "scan.group", "compact.group", "by_key.group" };
    static const char *const each[] = { "scan.items", "compact.items", "by_key.items" };
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", method));
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        test_ok(t, ordo_device_set_tunable(t->dev, groups[i], group));
        test_ok(t, ordo_device_set_tunable(t->dev, each[i], items));
    }
}

/* Runs body with some tunings of each kind. scan_tunings.c has all. */
static inline void with_some_tunings(struct test *t, test_body body)
{
    set_tuning(t, ORDO_SCAN_LOOKBACK, 64, 4);
    body(t);
    set_tuning(t, ORDO_SCAN_LOOKBACK, 512, 24);
    body(t);
    set_tuning(t, ORDO_SCAN_LOOKBACK, 1, 1024);
    body(t);
    set_tuning(t, ORDO_SCAN_REDUCE, 256, 16);
    body(t);
    set_tuning(t, ORDO_SCAN_REDUCE, 128, 12);
    body(t);
}

#endif
