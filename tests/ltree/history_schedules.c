/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that histories are right in schedules of two, which are the same on every device. */
#include "history_schedules.h"
#include "tree.h"

struct overlay begin_schedules(const struct edit edits[EDITS_MAX])
{
    const struct overlay o = overlay_begin();

    schedule_flatten(&o);
    for (int e = 0; e < EDITS_MAX && edits[e].file; e++) {
        cr_assert(overlay_count(&o, edits[e].file, edits[e].text) == 1, "'%s' is not in %s once", edits[e].text,
                  edits[e].file);
        overlay_edit(&o, edits[e].file, edits[e].text, edits[e].instead);
    }
    schedule_put(&o);
    overlay_use(&o);
    return o;
}

static const struct plan scheduled[] = {
    SCHEDULED("few keys", 4, 7, ANY_ORDER, 1000, points),
    SCHEDULED("a leaf of keys", 4, 24, ANY_ORDER, 2000, seeks_of_changes),
    SCHEDULED("splits", 4, 1200, ANY_ORDER, 4000, stores),
    SCHEDULED("ascending splits", 4, 2000, ASCENDING, 4000, stores),
    SCHEDULED("seeks during splits", 4, 1200, ANY_ORDER, 4000, seeks_of_splits),
    SCHEDULED("everything", 4, 300, ANY_ORDER, 4000, everything),
    SCHEDULED("scans", 4, 600, ANY_ORDER, 4000, scans),
    SCHEDULED("leaves that empty", 4, 1200, ANY_ORDER, 4000, seeks_of_merges),
};

/* Schedules are the same on every device. A GPU's compiler takes seconds for each sum of faults and size of values, so
 * a GPU runs one sum and every second plan, by the seed; a skiplist every second plan. ORDO_TEST_BUGS=all runs all. */
static bool schedule_is_tried(const struct test *t, size_t i, size_t pass, size_t passes)
{
    const bool half = i % 2 == t->seed / passes % 2;

    if (test_wants_all("ORDO_TEST_BUGS"))
        return true;
    return ordo_device_facts(t->dev)->cpu ? !TEST_SKIPLIST || half : pass == t->seed % passes && half;
}

/* Faults of each pass over the plans. Schedules have further faults. */
static const uint32_t pass_faults[] = { 0, 0, FAULT_LATCHES + FAULT_NODES, FAULT_LATCHES + FAULT_NO_TRIES };

/* Passes take turns between teams of one lane and whole sub-groups. */
static void run_schedules(struct test *t)
{
    for (size_t i = 0; i < LENGTH(pass_faults) * LENGTH(scheduled); i++) {
        const size_t pass = i / LENGTH(scheduled);
        struct plan  plan = scheduled[i % LENGTH(scheduled)];
        (void) tree_uses_team(t->dev, pass % 2 ? t->facts->sub_group : 1);
        plan.faults |= pass_faults[pass];
        if (schedule_is_tried(t, i, pass, LENGTH(pass_faults)))
            expect_history(t, &plan, t->seed * 1000 + i);
    }
}

/* Edits under which kernels must be right, too. A skiplist has one of them, by the seed; both with ORDO_TEST_BUGS=all.
 */
static const struct edit grounds[][EDITS_MAX] = { { SEEN_BEFORE }, { BY_ADDRESS } };

static void expect_schedules(const struct edit edits[EDITS_MAX], test_body body)
{
    AUTO(overlay_end) struct overlay o = begin_schedules(edits);

    test_each_device_with("group=1", body);
}

Test(ltree_history, has_an_order_in_schedules_of_two)
{
    const bool one = TEST_SKIPLIST && !test_wants_all("ORDO_TEST_BUGS");

    for (size_t g = 0; g < LENGTH(grounds); g++)
        if (!one || g == (test_seed() - 1) % LENGTH(grounds))
            expect_schedules(grounds[g], run_schedules);
}

/* ---- values of 8 bytes ------------------------------------------------------------------------------------------- */

static const struct plan wide[] = {
    SCHEDULED("few keys, values of 8 bytes", 8, 7, ANY_ORDER, 1000, seeks_of_changes),
    SCHEDULED("splits, values of 8 bytes", 8, 1200, ANY_ORDER, 4000, everything),
};

static void run_wide_schedules(struct test *t)
{
    for (uint64_t seed = 0; seed < 12; seed++)
        if (schedule_is_tried(t, seed / 2, seed / 6, 2))
            expect_history(t, &wide[seed % LENGTH(wide)], t->seed * 1000 + seed);
}

Test(ltree_history, has_an_order_where_values_of_8_bytes_are_torn)
{
    static const struct edit torn[EDITS_MAX] = { TORN_READS, TORN_WRITES };

    if (TEST_SKIPLIST && !test_wants_all("ORDO_TEST_BUGS"))
        test_skip("of a skiplist in the suite `slow`: values are read and written as a B-link tree's are");
    expect_schedules(torn, run_wide_schedules);
}
