/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent operations on a HAMT: their histories are linearizable, and the trie is sound afterwards, also with
 * injected faults. Some histories have as many work-items as the device runs. Others are schedules of two that are the
 * same on all devices (tests/ltree/schedule.h), and kernels with a bug must fail in them.
 *
 * ORDO_TEST_HISTORIES=number of histories of 3,000 operations (default 12). */
#include "tests/dict/points.h"
#include "tests/ltree/schedule.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "dict/trie/hamt.h"
#include "shared/faults.h"

#include <stdlib.h>

/* ---- the structure ----------------------------------------------------------------------------------------------- */

/* The setting of a plan is `fixed_depth`. */
static ordo_status create_hamt(ordo_device *dev, const struct plan *plan, ordo_dict **out)
{
    return ordo_hamt_create(
        dev, ordo_hamt_config(.dict = { plan->type, plan->value_bytes }, .fixed_depth = plan->setting != 0), out);
}

static void record(ordo_dict *dict, uint32_t faults, cl_mem history)
{
    ordo_hamt_of(dict)->faults = faults;
    ordo_hamt_of(dict)->history = history;
}

static const struct plan plans[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 0, 3000, POINTS },
    { "forty keys", ORDO_U32, 4, 40, 50, 0, 3000, CHANGES },
    { "one word", ORDO_U32, 4, 20, 50, 0, 3000, POINTS, .dense = true },
    { "into nothing", ORDO_U32, 4, 2000, 0, 0, 3000, STORES },
    { "leaves that are full", ORDO_U32, 4, 3000, 70, 0, 3000, POINTS, .dense = true },
    { "keys that differ", ORDO_U32, 4, 9000, 50, 0, 3000, CHANGES },
};

static const struct plan kinds[] = {
    { "keys u64, values of 8 bytes", ORDO_U64, 8, 60, 50, 0, 3000, CHANGES },
    { "keys i32, no values", ORDO_I32, 0, 60, 50, 1, 3000, POINTS },
    { "keys f64, values of 4 bytes", ORDO_F64, 4, 900, 50, 0, 3000, CHANGES },
    { "keys f32, values of 8 bytes", ORDO_F32, 8, 900, 80, 1, 3000, POINTS },
};

static const struct points_subject subject = {
    create_hamt, record, plans, LENGTH(plans), kinds, LENGTH(kinds), .histories = 12,
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

Test(hamt_history, has_an_order_that_explains_it)
{
    test_each_device(many_histories);
    test_each_device_with("cpu=0,progress=1,group=1", some_histories);
    test_each_device_with("atomics=legacy", some_histories);
}

/* All faults, except operations that give up at once. */
#define ALL_FAULTS (FAULT_LATCHES | FAULT_NODES | FAULT_SLOW_STORES | FAULT_SLOW_LOOKS | FAULT_LATE_START)

MASK_TEST(hamt_history, has_one_with_injected_faults, "group=1")
{
    points_expect_faults(t, &subject, ALL_FAULTS);
}

DEVICE_TEST(hamt_history, has_one_with_every_kind_of_key_and_value)
{
    points_expect_kinds(t, &subject, ALL_FAULTS & ~FAULT_LATCHES);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

#define FILE_OF_ONE   "dict/trie/hamt_concurrent.cl"
#define FILE_OF_OTHER "dict/trie/hamt_other.cl"
#define KERNELS       "/* True if `more` is true in any lane"

static const char plays[] =
    "\ntypedef struct {\n"
    "    uint next, n, faults;\n"
    "} other_one;\n"
    "\nORDO_FN void other_plays(const other_hamt_batch *batch, __private other_one *other, uint ops)\n"
    "{\n"
    "    for (uint k = 0; k < ops && other->next < other->n; k++) {\n"
    "        other_hamt_op op;\n"
    "        op.faults.dice = other->next * 2654435761u;\n"
    "        op.faults.kinds = other->faults;\n"
    "        const bool more = other_hamt_take_op(batch, &op, other->next);\n"
    "        other->next += 2;\n"
    "        if (more && other_hamt_try(batch, &op) != TRY_DONE)\n"
    "            batch->pending[ordo_add(batch->state + HAMT_PENDING, 1)] = batch->first + op.i;\n"
    "    }\n"
    "}\n";

#define WAITS "        concurrent_wait(batch->state + HAMT_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);\n"

/* One work-item plays two: the first does operations 0, 2, 4, ... of a launch. Where it would pause, the second does
 * some of operations 1, 3, 5, ... */
static void put_schedule(const struct overlay *o)
{
    static const struct {
        const char *from, *to;
    } edits[] = {
        { "#include \"dict/trie/hamt_draft.cl\"\n",
          "#include \"dict/trie/hamt_draft.cl\"\n#include \"" FILE_OF_OTHER "\"\n" },
        { "*state, *pending, *history;\n", "*state, *pending, *history;\n    __private other_one *other;\n" },
        { WAITS,
          "        other_plays((const other_hamt_batch *) batch, batch->other, 1 + (op->faults.dice >> 5) % 6);\n" },
        { "concurrent_strikes(&op->faults, kind, 16)", "concurrent_strikes(&op->faults, kind, 3)" },
        { "    const hamt_batch batch = {\n", "    other_one other;\n"
                                              "    other.next = 1;\n"
                                              "    other.n = get_global_id(0) == 0 ? n : 0;\n"
                                              "    other.faults = faults;\n"
                                              "    const hamt_batch batch = {\n" },
        { "        .history = history,\n", "        .history = history,\n        .other = &other,\n" },
        { "base += get_global_size(0)", "base += 2" },
        { "    hamt_run(&batch, n, faults);\n", "    hamt_run(&batch, n, faults);\n"
                                                "    other_plays((const other_hamt_batch *) &batch, &other, n);\n" },
    };
    char *const text = overlay_text(o, FILE_OF_ONE), *const kernels = strstr(text, KERNELS);

    cr_assert(kernels != NULL);
    *kernels = 0;
    char *const other = schedule_other(text, plays);
    overlay_write(o, FILE_OF_OTHER, other);
    overlay_edit(o, FILE_OF_OTHER, WAITS, "        ;\n"); /* nothing to wait for */
    free(other);
    free(text);
    for (size_t i = 0; i < LENGTH(edits); i++)
        overlay_edit(o, FILE_OF_ONE, edits[i].from, edits[i].to);
}

#define SCHEDULE_OF_TWO (FAULT_ALONE | FAULT_SLOW_STORES | FAULT_SLOW_LOOKS)

static const struct plan scheduled[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 0, 1000, POINTS },
    { "into nothing", ORDO_U32, 4, 400, 0, 0, 1000, STORES },
    { "keys of one leaf", ORDO_U32, 4, 100, 50, 0, 1000, CHANGES, .dense = true },
    { "keys of 8 bytes", ORDO_U64, 4, 100, 60, 0, 1000, CHANGES },
};

static void run_schedules(struct test *t)
{
    for (uint64_t i = 0; i < 3 * LENGTH(scheduled); i++)
        points_expect(t, &subject, &scheduled[i % LENGTH(scheduled)],
                      SCHEDULE_OF_TWO | (i % 3 == 2 ? FAULT_LATCHES | FAULT_NODES : 0), t->seed * 1000 + i);
}

Test(hamt_history, has_an_order_in_schedules_of_two)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    put_schedule(&o);
    overlay_use(&o);
    test_each_device_with("group=1", run_schedules);
}

/* ---- bugs put in ------------------------------------------------------------------------------------------------- */

/* A bug may set a bit for a key without a slot. This edit lets the reader of the draft survive that. */
#define FILE_OF_READER "dict/trie/hamt_collect.cl"
#define NO_SLOT        "gone = word & HAMT_ERASED;", "gone = word == 0 || (word & HAMT_ERASED);"

static const struct bug {
    const char *name, *from, *to;
} bugs[] = {
    { "an election that nobody waits for", "        if (child == HAMT_ELECTED)\n            return TRY_AGAIN;\n",
      "        if (child == HAMT_ELECTED)\n            return TRY_DONE;\n" },
    { "a lost update", "ordo_cas(batch->draft.slots + place.slot, place.word, word) != place.word &&",
      "ordo_cas(batch->draft.slots + place.slot, place.word, word) != place.word && place.word == 0 &&" },
    { "an erased key is present", "place.word ? !(place.word & HAMT_ERASED) : hamt_was_there",
      "place.word ? true : hamt_was_there" },
    { "a key without a bit", "        draft_mark(&batch->draft, op->on, op->key);\n", "        ;\n" },
    { "an overtaken upsert of an absent key", "CODE_UPSERT && there && place.word)", "CODE_UPSERT && place.word)" },
    { "finds do not see updates", "    if (place.word == 0)\n        found =", "    if (true)\n        found =" },
};

static const struct bug *put_in;

static void expect_caught(struct test *t)
{
    char wrong[4096] = "";
    bool caught = false;

    test_context(t, "the bug '%s'", put_in->name);
    for (uint64_t i = 0; i < 36 && !caught; i++) /* plans with 4-byte keys */
        caught = !points_run(t, &subject, &scheduled[i % 3], SCHEDULE_OF_TWO, t->seed * 1000 + i, wrong, sizeof wrong);
    if (!caught)
        test_fail(t, __FILE__, __LINE__, "nothing was noticed");
}

Test(hamt_history, bugs_are_caught)
{
    for (size_t b = 0; b < LENGTH(bugs); b++) {
        put_in = &bugs[b];
        AUTO(overlay_end) struct overlay o = overlay_begin();
        cr_assert(overlay_count(&o, FILE_OF_ONE, put_in->from) == 1, "'%s' is not there once", put_in->from);
        overlay_edit(&o, FILE_OF_ONE, put_in->from, put_in->to);
        overlay_edit(&o, FILE_OF_READER, NO_SLOT);
        put_schedule(&o);
        overlay_use(&o);
        test_each_device_with("group=1", expect_caught);
    }
}
