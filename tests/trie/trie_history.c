/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent operations on a HAMT and an X-fast trie: their histories are linearizable, and the trie is sound
 * afterwards, also with injected faults. Some histories have as many work-items as the device runs. Others are
 * schedules of two that are the same on all devices (tests/ltree/schedule.h), and kernels with a bug must fail in them.
 *
 * ORDO_TEST_HISTORIES=number of histories of 3,000 operations (default 12 of a HAMT, 6 of an X-fast trie). */
#include "tests/dict/points.h"
#include "tests/ltree/schedule.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "dict/trie/hamt.h"
#include "dict/trie/xfast.h"
#include "shared/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the structures ---------------------------------------------------------------------------------------------- */

/* The setting of a plan is `fixed_depth`. */
static ordo_status create_hamt(ordo_device *dev, const struct plan *plan, ordo_dict **out)
{
    return ordo_hamt_create(
        dev, ordo_hamt_config(.dict = { plan->type, plan->value_bytes }, .fixed_depth = plan->setting != 0), out);
}

/* The setting of a plan is `group`. */
static ordo_status create_xfast(ordo_device *dev, const struct plan *plan, ordo_dict **out)
{
    return ordo_xfast_create(dev, ordo_xfast_config(.dict = { plan->type, plan->value_bytes }, .group = plan->setting),
                             out);
}

static void record(struct ordo_drafts *drafts, uint32_t faults, cl_mem history)
{
    drafts->faults = faults;
    drafts->history = history;
}

static void record_hamt(ordo_dict *dict, uint32_t faults, cl_mem history)
{
    record(&ordo_hamt_of(dict)->drafts, faults, history);
}

static void record_xfast(ordo_dict *dict, uint32_t faults, cl_mem history)
{
    record(&ordo_xfast_of(dict)->drafts, faults, history);
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
    { "keys i64, values of 16 bytes", ORDO_I64, 16, 60, 50, 0, 3000, CHANGES },
};

enum { N_SUBJECTS = 2 };

static const struct points_subject subjects[N_SUBJECTS] = {
    { create_hamt, record_hamt, plans, LENGTH(plans), kinds, LENGTH(kinds), .histories = 12 },
    { create_xfast, record_xfast, plans, LENGTH(plans), kinds, LENGTH(kinds), .histories = 6 },
};

/* The file that runs the operations of each structure, and a copy of it for the second work-item of a schedule. */
static const char *const file_of[N_SUBJECTS] = { "dict/trie/hamt_concurrent.cl", "dict/trie/xfast_concurrent.cl" };
static const char *const other_of[N_SUBJECTS] = { "dict/trie/hamt_other.cl", "dict/trie/xfast_other.cl" };

/* ---- histories --------------------------------------------------------------------------------------------------- */

static void many_histories(struct test *t)
{
    for (size_t s = 0; s < N_SUBJECTS; s++)
        points_expect_many(t, &subjects[s]);
}

static void some_histories(struct test *t)
{
    for (size_t s = 0; s < N_SUBJECTS; s++)
        points_expect_each(t, &subjects[s]);
}

Test(trie_history, has_an_order_that_explains_it)
{
    test_each_device(many_histories);
    test_each_device_with("cpu=0,progress=1,group=1", some_histories);
    test_each_device_with("atomics=legacy", some_histories);
}

/* All faults, except operations that give up at once. */
#define ALL_FAULTS (FAULT_LATCHES | FAULT_NODES | FAULT_SLOW_STORES | FAULT_SLOW_LOOKS | FAULT_LATE_START)

MASK_TEST(trie_history, has_one_with_injected_faults, "group=1")
{
    for (size_t s = 0; s < N_SUBJECTS; s++)
        points_expect_faults(t, &subjects[s], ALL_FAULTS);
}

DEVICE_TEST(trie_history, has_one_with_every_kind_of_key_and_value)
{
    for (size_t s = 0; s < N_SUBJECTS; s++)
        points_expect_kinds(t, &subjects[s], ALL_FAULTS & ~FAULT_LATCHES);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

#define KERNELS "#if SUBGROUP_MAY_PART && RUN_GROUP % ORDO_SUBGROUP == 0\n#define DRAFT_ANY_LANE"

/* The files that the structures share. */
static const char *const parts[] = { "dict/trie/draft_batch.cl", "dict/trie/draft_body.cl" };

/* Returns the part that a line includes, or NULL. */
static const char *part_of(const char *line)
{
    for (size_t i = 0; i < LENGTH(parts); i++) {
        char include[100];
        (void) snprintf(include, sizeof include, "#include \"%s\"\n", parts[i]);
        if (strncmp(line, include, strlen(include)) == 0)
            return parts[i];
    }
    return NULL;
}

/* Prints a text without the lines that include parts. If `o`, prints the included parts instead. */
static void print_flat(FILE *out, const struct overlay *o, const char *text)
{
    for (const char *line = text, *end; *line; line = end) {
        const char *const part = part_of(line), *const newline = strchr(line, '\n');
        end = newline ? newline + 1 : line + strlen(line);
        if (!part && (o || strncmp(line, "#pragma once", 12) != 0))
            (void) fprintf(out, "%.*s", (int) (end - line), line);
        if (part && o) {
            AUTO_FREE char *const of_part = overlay_text(o, part);
            print_flat(out, NULL, of_part);
        }
    }
}

/* Puts the file of a structure and the parts that it includes into one file. */
static void flatten(const struct overlay *o, const char *file)
{
    AUTO_FREE char *const text = overlay_text(o, file);
    AUTO_FREE char       *made = NULL;
    size_t                bytes = 0;
    FILE                 *out = open_memstream(&made, &bytes);

    cr_assert(out != NULL);
    print_flat(out, o, text);
    cr_assert(fclose(out) == 0);
    overlay_write(o, file, made);
}

static const char plays[] =
    "\ntypedef struct {\n"
    "    uint next, n, faults;\n"
    "} other_one;\n"
    "\nORDO_FN void other_plays(const other_draft_batch *batch, __private other_one *other, uint ops)\n"
    "{\n"
    "    for (uint k = 0; k < ops && other->next < other->n; k++) {\n"
    "        other_draft_op op;\n"
    "        op.faults.dice = other->next * 2654435761u;\n"
    "        op.faults.kinds = other->faults;\n"
    "        const bool more = other_draft_take_op(batch, &op, other->next);\n"
    "        other->next += 2;\n"
    "        if (more && other_draft_try(batch, &op) != TRY_DONE)\n"
    "            batch->pending[ordo_add(batch->state + DRAFT_PENDING, 1)] = batch->first + op.i;\n"
    "    }\n"
    "}\n";

#define WAITS "        concurrent_wait(batch->state + DRAFT_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);\n"

#define INCLUDES "#include \"dict/value.cl\"\n"

/* One work-item plays two: the first does operations 0, 2, 4, ... of a launch. Where it would pause, the second does
 * some of operations 1, 3, 5, ... The file must be flat. */
static void put_schedule(const struct overlay *o, size_t subject)
{
    static const struct {
        const char *from, *to;
    } edits[] = {
        { "*state, *pending, *history;\n", "*state, *pending, *history;\n    __private other_one *other;\n" },
        { WAITS,
          "        other_plays((const other_draft_batch *) batch, batch->other, 1 + (op->faults.dice >> 5) % 6);\n" },
        { "concurrent_strikes(&op->faults, kind, 16)", "concurrent_strikes(&op->faults, kind, 3)" },
        { "    const draft_batch batch = DRAFT_BATCH_HERE(trie);\n",
          "    other_one   other = { 1, get_global_id(0) == 0 ? n : 0, faults };\n"
          "    draft_batch batch = DRAFT_BATCH_HERE(trie);\n"
          "    batch.other = &other;\n" },
        { "base += get_global_size(0)", "base += 2" },
        { "    draft_run(&batch, n, faults);\n", "    draft_run(&batch, n, faults);\n"
                                                 "    other_plays((const other_draft_batch *) &batch, &other, n);\n" },
    };
    const char *const file = file_of[subject], *const other_file = other_of[subject];
    const struct schedule_copy copy = { file, KERNELS, WAITS, plays };
    char                       includes[200];

    schedule_write_other(o, &copy, other_file);
    (void) snprintf(includes, sizeof includes, INCLUDES "#include \"%s\"\n", other_file);
    overlay_edit(o, file, INCLUDES, includes);
    for (size_t i = 0; i < LENGTH(edits); i++)
        overlay_edit(o, file, edits[i].from, edits[i].to);
}

static const struct plan scheduled[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 0, 1000, POINTS },
    { "into nothing", ORDO_U32, 4, 400, 0, 0, 1000, STORES },
    { "keys of one leaf", ORDO_U32, 4, 100, 50, 0, 1000, CHANGES, .dense = true },
    { "keys of 8 bytes", ORDO_U64, 4, 100, 60, 0, 1000, CHANGES },
};

static void run_schedules(struct test *t)
{
    for (uint64_t i = 0; i < 3 * LENGTH(scheduled) * N_SUBJECTS; i++)
        points_expect(t, &subjects[i % N_SUBJECTS], &scheduled[i / N_SUBJECTS % LENGTH(scheduled)],
                      SCHEDULE_OF_TWO + (i % 3 == 2 ? FAULT_LATCHES | FAULT_NODES : 0), t->seed * 1000 + i);
}

Test(trie_history, has_an_order_in_schedules_of_two)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    for (size_t s = 0; s < N_SUBJECTS; s++) {
        flatten(&o, file_of[s]);
        put_schedule(&o, s);
    }
    overlay_use(&o);
    test_each_device_with("group=1", run_schedules);
}

/* ---- bugs put in ------------------------------------------------------------------------------------------------- */

/* A bug may set a bit for a key without a slot. This edit lets the reader of a HAMT's draft survive that. */
#define FILE_OF_READER "dict/trie/hamt_collect.cl"
#define NO_SLOT        "gone = word & DRAFT_ERASED;", "gone = word == 0 || (word & DRAFT_ERASED);"

enum { HAMT_ONLY = 1, XFAST_ONLY = 2, BOTH = HAMT_ONLY | XFAST_ONLY };

/* `file` is NULL for the file that runs operations. */
static const struct bug {
    const char *name, *from, *to;
    uint32_t    subjects;
    const char *file;
} bugs[] = {
    { "an election that nobody waits for", "        if (child == HAMT_ELECTED)\n            return TRY_AGAIN;\n",
      "        if (child == HAMT_ELECTED)\n            return TRY_DONE;\n", HAMT_ONLY, NULL },
    { "a lost update", "ordo_cas(batch->table.slots + place.slot, place.word, word) != place.word &&",
      "ordo_cas(batch->table.slots + place.slot, place.word, word) != place.word && place.word == 0 &&", BOTH, NULL },
    { "an erased key is present", "place.word ? !(place.word & DRAFT_ERASED) : draft_was_there",
      "place.word ? true : draft_was_there", XFAST_ONLY, NULL },
    { "a key without a bit", "        draft_claimed(batch, op);\n", "        ;\n", HAMT_ONLY, NULL },
    { "an overtaken upsert of an absent key", "CODE_UPSERT && there && place.word)", "CODE_UPSERT && place.word)",
      HAMT_ONLY, NULL },
    { "finds do not see updates",
      "    if (place.word == 0)\n        found =", "    if (true)\n        found =", XFAST_ONLY, NULL },
    { "an erased key is merged", "        const bool gone = word & DRAFT_ERASED;\n",
      "        const bool gone = false;\n", XFAST_ONLY, "dict/trie/draft_collect.cl" },
    { "a listed key is another", "keys_out[to] = d.keys[DRAFT_UPDATE(word)];",
      "keys_out[to] = d.keys[DRAFT_UPDATE(word)] ^ 1;", XFAST_ONLY, "dict/trie/draft_collect.cl" },
};

/* The plans with 4-byte keys. */
enum { PLANS_OF_BUGS = 3 };

static const struct bug *put_in;
static size_t            put_into; /* subject */

static void expect_caught(struct test *t)
{
    points_expect_caught(t, &subjects[put_into], scheduled, PLANS_OF_BUGS, SCHEDULE_OF_TWO, put_in->name);
}

static void expect_bug(const struct bug *bug, size_t subject)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    const char *const                file = bug->file ? bug->file : file_of[subject];

    put_in = bug;
    put_into = subject;
    flatten(&o, file_of[subject]);
    cr_assert(overlay_count(&o, file, bug->from) == 1, "'%s' is not there once", bug->from);
    overlay_edit(&o, file, bug->from, bug->to);
    overlay_edit(&o, FILE_OF_READER, NO_SLOT);
    put_schedule(&o, subject);
    overlay_use(&o);
    test_each_device_with("group=1", expect_caught);
}

Test(trie_history, bugs_are_caught)
{
    for (size_t b = 0; b < LENGTH(bugs); b++)
        for (size_t s = 0; s < N_SUBJECTS; s++)
            if (bugs[b].subjects >> s & 1)
                expect_bug(&bugs[b], s);
}
