/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent operations on a hash table: their histories are linearizable, and the table is sound afterwards, also with
 * injected faults and full buckets. Some histories have as many work-items as the device runs. Others are schedules of
 * two that are equal on all devices (tests/ltree/schedule.h), and kernels with a bug must fail in them.
 *
 * ORDO_TEST_HISTORIES=number of histories of 3,000 operations (default 40). */
#include "tests/dict/points.h"
#include "tests/ltree/schedule.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "dict/hash/hash.h"
#include "shared/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the structure ----------------------------------------------------------------------------------------------- */

/* The setting of a plan is the load. */
static ordo_status create_hash(ordo_device *dev, const struct plan *plan, ordo_dict **out)
{
    return ordo_hash_create(
        dev, ordo_hash_config(.dict = { plan->type, plan->value_bytes }, .load_percent = plan->setting), out);
}

static void record(ordo_dict *dict, uint32_t faults, cl_mem history)
{
    ordo_hash_of(dict)->faults = faults;
    ordo_hash_of(dict)->history = history;
}

static const struct plan plans[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 25, 3000, POINTS },
    { "forty keys", ORDO_U32, 4, 40, 50, 50, 3000, CHANGES },
    { "full buckets", ORDO_U32, 4, 900, 90, 95, 3000, CHANGES },
    { "into nothing", ORDO_U32, 4, 2000, 0, 80, 3000, STORES },
    { "some partitions", ORDO_U32, 4, 9000, 50, 80, 3000, POINTS },
    { "growth", ORDO_U32, 4, 3000, 20, 95, 3000, STORES },
};

static const struct plan kinds[] = {
    { "keys u64, values of 8 bytes", ORDO_U64, 8, 60, 50, 80, 3000, CHANGES },
    { "keys i32, no values", ORDO_I32, 0, 60, 50, 80, 3000, POINTS },
    { "keys f64, values of 4 bytes", ORDO_F64, 4, 60, 50, 95, 3000, CHANGES },
    { "keys f32, values of 8 bytes", ORDO_F32, 8, 900, 80, 95, 3000, POINTS },
    { "keys u128, values of 4 bytes", ORDO_U128, 4, 60, 50, 80, 3000, CHANGES },
    { "keys bytes16, no values", ORDO_BYTES16, 0, 900, 80, 95, 3000, POINTS },
    { "keys i64, values of 16 bytes", ORDO_I64, 16, 60, 50, 80, 3000, CHANGES },
};

static const struct points_subject subject = {
    create_hash, record, plans, LENGTH(plans), kinds, LENGTH(kinds), .histories = 40,
};

/* ---- histories --------------------------------------------------------------------------------------------------- */

static void many_histories(struct test *t)
{
    points_expect_many(t, &subject);
}

static void some_histories(struct test *t)
{
    points_expect_each(t, &subject);
}

Test(hash_history, has_an_order_that_explains_it)
{
    test_each_device(many_histories);
    test_each_device_with("cpu=0,progress=1,group=1", some_histories);
    test_each_device_with("atomics=legacy", some_histories);
}

/* All faults, except operations that give up at once. */
#define ALL_FAULTS (FAULT_LATCHES | FAULT_SLOW_STORES | FAULT_SLOW_LOOKS | FAULT_LATE_START)

MASK_TEST(hash_history, has_one_with_injected_faults, "group=1")
{
    points_expect_faults(t, &subject, ALL_FAULTS);
}

DEVICE_TEST(hash_history, has_one_with_every_kind_of_key_and_value)
{
    points_expect_kinds(t, &subject, ALL_FAULTS & ~FAULT_LATCHES);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

#define FILE_OF_ONE   "dict/hash/concurrent.cl"
#define FILE_OF_OTHER "dict/hash/other.cl"

static const char plays[] =
    "\ntypedef struct {\n"
    "    __global const uint *again;\n"
    "    uint                 first, next, n, faults;\n"
    "} other_one;\n"
    "\nORDO_FN void other_plays(const other_hash_batch *batch, __private other_one *other, uint ops)\n"
    "{\n"
    "    for (uint k = 0; k < ops && other->next < other->n; k++) {\n"
    "        const uint    at = other->first + other->next;\n"
    "        other_hash_op op;\n"
    "        op.faults.dice = at * 2654435761u;\n"
    "        op.faults.kinds = other->faults;\n"
    "        other->next += 2;\n"
    "        if (!other_hash_take_op(batch, &op, other->again ? other->again[at] : at, other->again != 0))\n"
    "            continue;\n"
    "        const uint came = other_hash_try(batch, &op);\n"
    "        if (came != TRY_DONE)\n"
    "            other_hash_give_up(batch, &op, came);\n"
    "    }\n"
    "}\n";

#define WAITS "        concurrent_wait(batch->state + HASH_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);\n"

static const struct schedule_copy copy = { FILE_OF_ONE, "#if SUBGROUP_MAY_PART && RUN_GROUP", WAITS, plays };

/* One work-item plays two: the first does operations 0, 2, 4, ... of a launch. Where it would pause, the second does
 * some of operations 1, 3, 5, ... */
static void put_schedule(const struct overlay *o)
{
    static const struct {
        const char *from, *to;
    } edits[] = {
        { "#include \"dict/hash/filter.cl\"\n", "#include \"dict/hash/filter.cl\"\n#include \"" FILE_OF_OTHER "\"\n" },
        { "*state, *latches, *pending, *history;\n",
          "*state, *latches, *pending, *history;\n    __private other_one *other;\n" },
        { WAITS,
          "        other_plays((const other_hash_batch *) batch, batch->other, 1 + (op->faults.dice >> 5) % 6);\n" },
        { "concurrent_strikes(&op->faults, kind, 16)", "concurrent_strikes(&op->faults, kind, 3)" },
        { "    const hash_batch batch = {\n", "    other_one other;\n"
                                              "    other.again = again;\n"
                                              "    other.first = first;\n"
                                              "    other.next = 1;\n"
                                              "    other.n = get_global_id(0) == 0 ? n : 0;\n"
                                              "    other.faults = faults;\n"
                                              "    const hash_batch batch = {\n" },
        { "        .history = history,\n", "        .history = history,\n        .other = &other,\n" },
        { "alone ? 1 : get_global_size(0)", "alone ? 2 : get_global_size(0)" },
        { "    hash_run(&batch, again, first, n, how, faults);\n",
          "    hash_run(&batch, again, first, n, how, faults);\n"
          "    other_plays((const other_hash_batch *) &batch, &other, n);\n" },
    };

    schedule_write_other(o, &copy, FILE_OF_OTHER);
    for (size_t i = 0; i < LENGTH(edits); i++)
        overlay_edit(o, FILE_OF_ONE, edits[i].from, edits[i].to);
}

static const struct plan scheduled[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 25, 1000, CHANGES },
    { "full buckets", ORDO_U32, 4, 100, 90, 95, 1000, CHANGES },
    { "into some slots", ORDO_U32, 4, 400, 30, 50, 1000, STORES },
    { "keys of 8 bytes", ORDO_U64, 4, 100, 60, 90, 1000, CHANGES },
    { "keys of 16 bytes", ORDO_U128, 4, 100, 60, 90, 1000, CHANGES },
};

static void run_schedules(struct test *t)
{
    for (uint64_t i = 0; i < 3 * LENGTH(scheduled); i++)
        points_expect(t, &subject, &scheduled[i % LENGTH(scheduled)],
                      SCHEDULE_OF_TWO + (i % 3 == 2 ? FAULT_LATCHES : 0), t->seed * 1000 + i);
}

Test(hash_history, has_an_order_in_schedules_of_two)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    put_schedule(&o);
    overlay_use(&o);
    test_each_device_with("group=1", run_schedules);
}

/* ---- bugs put in ------------------------------------------------------------------------------------------------- */

static const struct bug {
    const char *name, *from, *to;
} bugs[] = {
    { "no latch", "    if (was & bit)\n", "    if (false)\n" },
    { "a slot taken without a look", "    if (ordo_cas(upper, empty, op->mixed) != empty)\n        return false;\n",
      "    ordo_store_relaxed(upper, op->mixed);\n" },
    { "given back before the change",
      "    const uint came = hash_change(batch, &table, op);\n    ordo_fence_device();\n    (void) ordo_add(latch, 0u "
      "- bit);\n",
      "    (void) ordo_add(latch, 0u - bit);\n    const uint came = hash_change(batch, &table, op);\n" },
    { "what has spilled is not counted", "        hash_spill(table, op, finding->spilled, 1);\n", "        ;\n" },
    { "what has spilled is not looked for", "finding.spilled == 0 && finding.empty[0]", "finding.empty[0]" },
};

/* The plans with 4-byte keys. */
enum { PLANS_OF_BUGS = 3 };

static const struct bug *put_in;

static void expect_caught(struct test *t)
{
    points_expect_caught(t, &subject, scheduled, PLANS_OF_BUGS, SCHEDULE_OF_TWO, put_in->name);
}

Test(hash_history, bugs_are_caught)
{
    for (size_t b = 0; b < LENGTH(bugs); b++) {
        put_in = &bugs[b];
        AUTO(overlay_end) struct overlay o = overlay_begin();
        cr_assert(overlay_count(&o, FILE_OF_ONE, put_in->from) == 1, "'%s' is not there once", put_in->from);
        overlay_edit(&o, FILE_OF_ONE, put_in->from, put_in->to);
        put_schedule(&o);
        overlay_use(&o);
        test_each_device_with("group=1", expect_caught);
    }
}
