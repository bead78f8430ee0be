/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent operations on a linked tree: histories of single-key operations are linearizable, operations on many keys
 * report what dict.h promises, and the tree is sound afterwards, also if latches fail, nodes run out and stores are
 * delayed. These histories have as many work-items as the device runs, which interact by chance; history_schedules.c
 * has the others. If one work-item does all (atomics=legacy), only schedules are meaningful. */
#define _GNU_SOURCE
#include "history_run.h"
#include "tree.h"

#include "tests/dict/history_batch.h"

#include "shared/faults.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether each thread of PoCL can have its own processor. PoCL has as many threads as processors, unless told
 * otherwise, and ends the process if it cannot get one of these. */
static bool has_processors(void)
{
    const char *const told = getenv("POCL_MAX_PTHREAD_COUNT");
    const long        there = sysconf(_SC_NPROCESSORS_CONF), threads = told ? strtol(told, NULL, 0) : there;
    cpu_set_t         may;
    return sched_getaffinity(0, sizeof may, &may) == 0 && CPU_COUNT(&may) == there && threads <= there;
}

/* Makes PoCL pin its threads. Otherwise Linux runs two threads that wake each other on one processor for milliseconds,
 * and most histories have no concurrent operations. Comes before the first OpenCL call. */
static void spread_threads(void)
{
    if (has_processors())
        (void) setenv("POCL_AFFINITY", "1", 0);
}

TestSuite(ltree_history, .init = spread_threads);

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static const struct plan plans[] = {
    { "few keys", ORDO_U32, 4, 7, 0, 50, ANY_ORDER, 5000, points, 0, 0 },
    { "forty keys", ORDO_U32, 4, 40, 0, 50, ANY_ORDER, 5000, points, 0, 0 },
    { "seeks during splits", ORDO_U32, 4, 2500, 0, 0, ANY_ORDER, 5000, seeks_of_splits, 0, 0 },
    { "erase against upsert", ORDO_U32, 4, 60, 0, 50, ANY_ORDER, 5000, upserts_and_erases, 0, 0 },
    { "root splits", ORDO_U32, 4, 5000, 0, 0, ANY_ORDER, 5000, stores, 0, 0 },
    { "splits and seeks", ORDO_U32, 4, 1200, 0, 0, ANY_ORDER, 5000, seeks_of_splits, 0, 0 },
    { "ascending keys", ORDO_U32, 4, 4000, 0, 0, ASCENDING, 5000, stores, 0, 0 },
    { "descending keys", ORDO_U32, 4, 4000, 0, 0, DESCENDING, 5000, stores, 0, 0 },
    { "everything", ORDO_U32, 4, 300, 1, 50, ANY_ORDER, 5000, everything, 0, 0 },
    { "scans of few leaves", ORDO_U32, 4, 50, 2, 50, ANY_ORDER, 5000, scans, 0, 0 },
    { "scans during splits", ORDO_U32, 4, 1500, 1, 10, ANY_ORDER, 5000, scans, 0, 0 },
    { "leaves that empty", ORDO_U32, 4, 3000, 0, 90, ANY_ORDER, 5000, erases, 0, 0 },
    { "all erased from the left", ORDO_U32, 4, 3000, 0, 100, ASCENDING, 5000, erases, 0, 0 },
    { "all erased from the right", ORDO_U32, 4, 3000, 0, 100, DESCENDING, 5000, erases, 0, 0 },
    { "seeks of leaves that empty", ORDO_U32, 4, 600, 0, 90, ANY_ORDER, 5000, seeks_of_merges, 0, 0 },
    { "a pool of few leaves", ORDO_U32, 4, 1500, 0, 5, ANY_ORDER, 5000, points, 9, 0 },
    { "a pool of few leaves, everything", ORDO_U32, 4, 400, 1, 20, ANY_ORDER, 5000, everything, 40, 0 },
};

/* The B-link tree tests the code that both share (cl/dict/ltree). A skiplist runs fewer histories, first those in
 * which chunks merge. */
enum { FIRST_PLAN = TEST_SKIPLIST ? 11 : 0, HISTORIES = TEST_SKIPLIST ? 50 : 100 };

static void run_plans(struct test *t, size_t count, uint32_t faults)
{
    for (size_t i = 0; i < count; i++) {
        struct plan plan = plans[(i + FIRST_PLAN) % LENGTH(plans)];
        plan.faults = faults;
        expect_history(t, &plan, t->seed * 100000 + i);
    }
}

static size_t at_most_each_plan(void)
{
    const size_t wanted = history_wanted(HISTORIES);
    return wanted < LENGTH(plans) ? wanted : LENGTH(plans);
}

/* ---- histories --------------------------------------------------------------------------------------------------- */

static void many_histories(struct test *t)
{
    run_plans(t, history_wanted(HISTORIES), FAULT_LATE_START);
}

Test(ltree_history, has_an_order_that_explains_it)
{
    test_each_device(many_histories);
}

/* Groups of one work-item: on a CPU work-items of a larger group take turns, operation by operation. */
Test(ltree_history, has_one_in_groups_of_one)
{
    test_each_device_with("group=1", many_histories);
}

/* Leaves out kernels that only one test has: of two tests a B-link tree runs one and a skiplist the other, by the
 * seed. */
static bool is_left_out(const struct test *t, uint64_t which)
{
    return (t->seed + which + TEST_SKIPLIST) % 2 && !test_wants_all("ORDO_TEST_KINDS");
}

MASK_TEST(ltree_history, has_one_on_unknown_devices, "cpu=0", "cpu=0,progress=1,group=1")
{
    if (is_left_out(t, 0))
        test_skip("unknown devices: with another seed, or in the suite `slow` (ORDO_TEST_KINDS=all)");
    run_plans(t, LENGTH(plans), FAULT_LATE_START);
}

enum {
    SLOW_FAULTS = FAULT_SLOW_STORES + FAULT_SLOW_LOOKS + FAULT_SLOW_RAISE + FAULT_LATE_START,
    EVERY_FAULT = FAULT_LATCHES + FAULT_NODES + SLOW_FAULTS /* without the faults that end concurrency */
};

/* Failing latches, refused nodes, long pauses between a change's stores and between a reader's looks. */
MASK_TEST(ltree_history, has_one_with_faults_injected, "", "group=1")
{
    if (!t->mask[0] || !is_left_out(t, 2))
        run_plans(t, history_wanted(HISTORIES) / 4, EVERY_FAULT);
    if (!t->mask[0] || !is_left_out(t, 3))
        run_plans(t, history_wanted(HISTORIES) / 8, SLOW_FAULTS);
}

static void team_histories(struct test *t)
{
    static const struct plan wide = {
        "keys bytes16, values of 4 bytes", ORDO_BYTES16, 4, 300, 1, 50, ANY_ORDER, 2500, everything, 0, EVERY_FAULT
    };
    const size_t count = at_most_each_plan();

    for (size_t i = 1; i < LENGTH(tree_teams); i++) {
        if (!tree_uses_team(t->dev, tree_teams[i]))
            continue;
        run_plans(t, count, FAULT_LATE_START);
        run_plans(t, count, EVERY_FAULT);
        run_plans(t, count, FAULT_NO_TRIES + EVERY_FAULT);
        expect_history(t, &wide, t->seed * 1000 + i);
    }
}

/* Teams of several lanes, where sub-groups have them. */
DEVICE_TEST(ltree_history, has_one_by_teams)
{
    if (t->facts->lanes == ORDO_LANES_ONE)
        test_skip("%s: its lanes do not communicate", t->facts->name);
    team_histories(t);
}

/* A setting that papers compare. */
struct setting {
    const char *name[2];
    uint32_t    value[2];
};

static void run_with_setting(struct test *t, const struct setting *setting)
{
    const size_t count = at_most_each_plan();

    for (int n = 0; n < 2; n++)
        test_ok(t, ordo_device_set_tunable(t->dev, setting->name[n], setting->value[n]));
    run_plans(t, count, FAULT_LATE_START);
    run_plans(t, count, EVERY_FAULT);
    run_plans(t, count / 2, FAULT_NO_TRIES + EVERY_FAULT);
    for (int n = 0; n < 2; n++)
        test_ok(t, ordo_device_set_tunable(t->dev, setting->name[n], 0));
}

/* Latch coupling by every team, and an operation's next step after it finds a latched node by one lane. */
DEVICE_TEST(ltree_history, has_one_with_settings_of_papers)
{
    static const struct setting coupled = { { "links.coupled", "links.retry" }, { 1, 0 } };
    static const struct setting retries[] = { { { "links.retry", "links.fences" }, { 1, 1 } },
                                              { { "links.retry", "links.uncached" }, { 2, 1 } } };

    for (size_t i = 0; i < LENGTH(tree_teams); i++)
        if (tree_uses_team(t->dev, tree_teams[i]))
            run_with_setting(t, &coupled);
    test_true(t, tree_uses_team(t->dev, 1));
    for (size_t s = 0; s < LENGTH(retries); s++)
        run_with_setting(t, &retries[s]);
}

/* Operations give up immediately, so that many updates are done in order in the end. */
MASK_TEST(ltree_history, has_one_where_operations_give_up_at_once, "", "cpu=0,progress=1,group=1")
{
    if (t->mask[0] && is_left_out(t, 1))
        return;
    run_plans(t, 2 * LENGTH(plans), FAULT_NO_TRIES + EVERY_FAULT);
    run_plans(t, LENGTH(plans), FAULT_NO_TRIES + FAULT_LATE_START);
}

#define KIND(name, type, value_bytes)                                                                                  \
    {                                                                                                                  \
        name, type, value_bytes, 500, 1, 50, ANY_ORDER, 2500, everything, 0, SLOW_FAULTS                               \
    }

DEVICE_TEST(ltree_history, has_one_with_every_kind_of_key_and_value)
{
    static const struct plan kinds[] = {
        KIND("keys f64, values of 8 bytes", ORDO_F64, 8),   KIND("keys i64, values of 16 bytes", ORDO_I64, 16),
        KIND("keys u128, values of 8 bytes", ORDO_U128, 8), KIND("keys i64, no values", ORDO_I64, 0),
        KIND("keys u64, values of 8 bytes", ORDO_U64, 8),   KIND("keys i32, no values", ORDO_I32, 0),
        KIND("keys i64, values of 4 bytes", ORDO_I64, 4),   KIND("keys f32, values of 8 bytes", ORDO_F32, 8),
        KIND("keys f64, no values", ORDO_F64, 0),           KIND("keys bytes16, no values", ORDO_BYTES16, 0),
    };
    /* Each kind compiles kernels. By default these are only kinds that tests of dictionaries compile, too. */
    const size_t n = test_wants_all("ORDO_TEST_KINDS") ? LENGTH(kinds) : TEST_SKIPLIST ? 3 : 4;

    for (size_t i = 0; i < n; i++)
        for (uint64_t seed = 0; seed < 3; seed++)
            expect_history(t, &kinds[i], t->seed * 1000 + seed);
}
