/* SPDX-License-Identifier: Apache-2.0 */
/* Scans, reductions, compactions and groups of equal keys with every tuning of a profile. Each needs its own kernel, so
 * this takes long on a CPU. */
#include "by_key_case.h"
#include "compact_case.h"
#include "reduce_case.h"
#include "scan_case.h"

/* The effect of the tuning on this device. */
static uint64_t outcome(const struct test *t)
{
    const struct ordo_tiles tiles = ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, 4, 1, 0);
    return (uint64_t) tiles.lookback << 63 | (uint64_t) tiles.group << 32 | tiles.items;
}

enum { OUTCOMES_MAX = 256 };

/* Runs body with every tuning, once for tunings with the same effect. */
static void with_every_tuning(struct test *t, test_body body)
{
    const struct ordo_tunable_info methods = test_tunable(t, t->dev, "scan.k4.method");
    const struct ordo_tunable_info groups = test_tunable(t, t->dev, "scan.k4.group");
    const struct ordo_tunable_info items = test_tunable(t, t->dev, "scan.k4.items");
    uint64_t                       seen[OUTCOMES_MAX];
    size_t                         n_seen = 0;
    for (uint32_t i = 0; i < methods.n_choices * groups.n_choices * items.n_choices; i++) {
        bool again = false;

        set_tuning(t, methods.choice[i % methods.n_choices], groups.choice[i / methods.n_choices % groups.n_choices],
                   items.choice[i / methods.n_choices / groups.n_choices]);
        for (size_t k = 0; k < n_seen; k++)
            again = again || seen[k] == outcome(t);
        if (again)
            continue;
        test_true(t, n_seen < OUTCOMES_MAX);
        seen[n_seen++] = outcome(t);
        body(t);
    }
    test_true(t, n_seen > 1);
}

/* ---- scan ---------------------------------------------------------------------------------------------------- */

static void try_kind(struct test *t, ordo_type type, ordo_op op, bool segmented)
{
    struct subject s = random_subject(t, type, op, 0);
    size_t         counts[TEST_SEAMS];
    const size_t   n = seams_of(t, s.type, counts);
    s.segmented = segmented;
    for (size_t i = n - 4; i < n; i++) {
        s.count = counts[i];
        try_scan(t, &s, TEST_RANDOM, 0);
    }
}

static void scan_as_tuned(struct test *t)
{
    try_kind(t, ORDO_U32, ORDO_SUM, false);
    try_kind(t, ORDO_I64, ORDO_MAX, true);
}

MASK_TEST(scan_tunings, every_tuning_gives_the_same_scan, "progress=1")
{
    with_every_tuning(t, scan_as_tuned);
}

/* ---- reduce -------------------------------------------------------------------------------------------------- */

static void reduce_as_tuned(struct test *t)
{
    try_reduce(t, ORDO_U32, ORDO_SUM, TEST_RANDOM, 200000 + test_below(t, 9));
    try_reduce(t, ORDO_F64, ORDO_MIN, TEST_RANDOM, 200000 + test_below(t, 9));
}

DEVICE_TEST(scan_tunings, every_tuning_gives_the_same_reduction)
{
    with_every_tuning(t, reduce_as_tuned);
}

/* ---- compact ------------------------------------------------------------------------------------------------- */

static void compact_as_tuned(struct test *t)
{
    try_compact(t, 4, 0, 60000 + test_below(t, 9), false);
    try_compact(t, 8, 4, 60000 + test_below(t, 9), false);
}

MASK_TEST(scan_tunings, every_tuning_gives_the_same_compaction, "progress=1")
{
    with_every_tuning(t, compact_as_tuned);
}

/* ---- groups of equal keys ------------------------------------------------------------------------------------ */

static void by_key_as_tuned(struct test *t)
{
    struct by_key_case c = random_by_key(t, ORDO_U64, ORDO_U32, true, 60000 + test_below(t, 9));
    c.sorted = true;
    try_by_key(t, &c, false);
    c = random_by_key(t, ORDO_U32, ORDO_F64, true, 60000 + test_below(t, 9));
    c.sorted = true;
    try_by_key(t, &c, false);
}

MASK_TEST(scan_tunings, every_tuning_gives_the_same_groups, "progress=1")
{
    with_every_tuning(t, by_key_as_tuned);
}
