/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent operations on a hash table: their histories are linearizable, and the table is sound afterwards, also with
 * injected faults and full buckets. Some histories have as many work-items as the device runs. Others are schedules of
 * two that are equal on all devices (tests/ltree/schedule.h), and kernels with a bug must fail in them.
 *
 * ORDO_TEST_HISTORIES=number of histories of 3,000 operations (default 40). */
#include "tests/dict/history.h"
#include "tests/ltree/schedule.h"
#include "tests/primitive/scan_common.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "dict/hash/hash.h"
#include "shared/faults.h"
#include "shared/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what a history is made of ----------------------------------------------------------------------------------- */

struct plan {
    const char *name;
    ordo_type   type;
    uint32_t    value_bytes;
    uint32_t    keys, initial; /* percent of them that exist before */
    uint32_t    load;
    size_t      operations;
    uint8_t     weight[ORDO_ERASE + 1]; /* percent of each code */
    uint32_t    faults;                 /* sum of enum ordo_fault */
};

/*                       find contains upsert insert erase */
#define POINTS                                                                                                         \
    {                                                                                                                  \
        25, 10, 25, 15, 25                                                                                             \
    }
#define CHANGES                                                                                                        \
    {                                                                                                                  \
        0, 0, 20, 40, 40                                                                                               \
    }
#define STORES                                                                                                         \
    {                                                                                                                  \
        5, 0, 60, 30, 5                                                                                                \
    }

static const struct plan plans[] = {
    { "few keys", ORDO_U32, 4, 7, 50, 25, 3000, POINTS, 0 },
    { "forty keys", ORDO_U32, 4, 40, 50, 50, 3000, CHANGES, 0 },
    { "full buckets", ORDO_U32, 4, 900, 90, 95, 3000, CHANGES, 0 },
    { "into nothing", ORDO_U32, 4, 2000, 0, 80, 3000, STORES, 0 },
    { "some partitions", ORDO_U32, 4, 9000, 50, 80, 3000, POINTS, 0 },
    { "growth", ORDO_U32, 4, 3000, 20, 95, 3000, STORES, 0 },
};

static const struct plan kinds[] = {
    { "keys u64, values of 8 bytes", ORDO_U64, 8, 60, 50, 80, 3000, CHANGES, 0 },
    { "keys i32, no values", ORDO_I32, 0, 60, 50, 80, 3000, POINTS, 0 },
    { "keys f64, values of 4 bytes", ORDO_F64, 4, 60, 50, 95, 3000, CHANGES, 0 },
    { "keys f32, values of 8 bytes", ORDO_F32, 8, 900, 80, 95, 3000, POINTS, 0 },
};

/* A history that runs. */
struct run {
    struct test       *t;
    const struct plan *plan;
    ordo_dict         *dict;
    struct model       before, after;
    size_t             n, key_bytes;
    uint8_t           *codes, *keys, *values, *found, *outcomes, *values_out;
    uint32_t          *ticks;
};

/* Keys by number, spread over all keys, with the least and the greatest. */
static uint64_t key_at(const struct run *r, size_t number)
{
    const uint64_t all = r->key_bytes == 8 ? UINT64_MAX : UINT32_MAX;
    const uint64_t form = number + 1 == r->plan->keys ? all : number * (all / r->plan->keys);
    return key_from_bits_of((int) r->plan->type, form);
}

static uint8_t pick_code(struct run *r)
{
    uint64_t left = test_below(r->t, 100);
    uint8_t  code = 0;
    while (left >= r->plan->weight[code])
        left -= r->plan->weight[code++];
    return code;
}

/* All values differ. The halves of 8-byte values are equal. */
static uint64_t value_number(const struct run *r, uint64_t number)
{
    return r->plan->value_bytes == 8 ? number * 0x100000001u : number;
}

static void make_input(struct run *r)
{
    const size_t n = r->n, vb = r->plan->value_bytes;

    r->codes = test_alloc(n);
    r->keys = test_alloc(n * r->key_bytes);
    r->values = test_alloc(n * vb);
    r->found = test_alloc(n);
    r->outcomes = test_alloc(n);
    r->values_out = test_alloc(n * vb);
    r->ticks = test_alloc(2 * n * sizeof *r->ticks);
    memset(r->found, TEST_EMPTY, n);
    memset(r->outcomes, TEST_EMPTY, n);
    memset(r->values_out, TEST_EMPTY, n * vb);
    for (size_t i = 0; i < n; i++) {
        r->codes[i] = pick_code(r);
        write_bits(r->keys, r->key_bytes, i, key_at(r, test_below(r->t, r->plan->keys)));
        if (vb)
            write_bits(r->values, vb, i, value_number(r, i + 1));
    }
}

static struct model model_of_arrays(const struct run *r, const uint8_t *keys, const uint8_t *values, size_t count)
{
    struct model       model = model_empty(r->plan->type, r->plan->value_bytes);
    AUTO_FREE uint8_t *codes = test_alloc(count);

    memset(codes, ORDO_UPSERT, count);
    (void) model_apply(&model,
                       &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = count });
    return model;
}

static void make_dict(struct run *r)
{
    const size_t       all = r->plan->keys, vb = r->plan->value_bytes;
    AUTO_FREE uint8_t *keys = test_alloc(all * r->key_bytes), *values = test_alloc(all * vb);
    size_t             count = 0;

    for (size_t number = 0; number < all; number++) {
        if (test_below(r->t, 100) >= r->plan->initial)
            continue;
        write_bits(keys, r->key_bytes, count, key_at(r, number));
        if (vb)
            write_bits(values, vb, count, value_number(r, 1000000 + number));
        count++;
    }
    r->before = model_of_arrays(r, keys, values, count);
    test_ok(r->t, ordo_hash_create(
                      r->t->dev,
                      ordo_hash_config(.dict = { r->plan->type, r->plan->value_bytes }, .load_percent = r->plan->load),
                      &r->dict));
    if (count > 0)
        test_ok(r->t, ordo_dict_build_host(r->dict, keys, vb ? values : NULL, count));
}

/* ---- one history ------------------------------------------------------------------------------------------------- */

static void apply(struct run *r)
{
    const bool                              has_values = r->plan->value_bytes > 0;
    const struct ordo_host_concurrent_batch batch = { .codes = r->codes,
                                                      .keys = r->keys,
                                                      .values = has_values ? r->values : NULL,
                                                      .count = r->n,
                                                      .found = r->found,
                                                      .values_out = has_values ? r->values_out : NULL,
                                                      .outcomes = r->outcomes };
    AUTO_ARRAY struct test_array            ticks = test_upload(r->t, NULL, 2 * r->n, sizeof(uint32_t), 0);
    struct ordo_hash                       *hash = ordo_hash_of(r->dict);

    hash->faults = r->plan->faults;
    hash->history = ticks.mem;
    test_ok(r->t, ordo_dict_apply_concurrent_host(r->dict, &batch));
    hash->faults = 0;
    hash->history = NULL;
    test_download(r->t, &ticks, r->ticks);
}

static bool read_after(struct run *r, char *wrong, size_t bytes)
{
    const size_t room = r->plan->keys + 1, vb = r->plan->value_bytes;
    uint8_t     *keys = test_alloc(room * r->key_bytes), *values = test_alloc(room * vb);
    size_t       count = 0;

    r->after = model_empty(r->plan->type, r->plan->value_bytes);
    const bool sound = ordo_dict_check(r->dict, NULL) == ORDO_OK &&
                       ordo_dict_export_host(r->dict, keys, vb ? values : NULL, room, &count) == ORDO_OK;
    if (sound)
        r->after = model_of_arrays(r, keys, values, count);
    else
        (void) ordo_device_last_error(r->t->dev, wrong, bytes);
    free(keys);
    free(values);
    if (sound && r->after.count != count)
        (void) snprintf(wrong, bytes, "a key is exported twice");
    return sound && r->after.count == count;
}

static bool explain(struct run *r, char *wrong, size_t bytes)
{
    const size_t   vb = r->plan->value_bytes;
    struct history h = history_begin(&r->before, vb > 0);

    for (size_t i = 0; i < r->n; i++)
        history_add(&h, (struct history_op) {
                            .key = key_bits_of((int) r->plan->type, read_bits(r->keys, r->key_bytes, i)),
                            .wrote = vb ? read_bits(r->values, vb, i) : 0,
                            .saw = vb && r->codes[i] == ORDO_FIND ? read_bits(r->values_out, vb, i) : 0,
                            .begin = r->ticks[2 * i],
                            .end = r->ticks[2 * i + 1],
                            .code = r->codes[i],
                            .found = r->found[i] == 1,
                        });
    const enum history_verdict verdict = history_explain(&h, &r->after, wrong, bytes);
    history_free(&h);
    if (verdict == HISTORY_UNDECIDED)
        (void) snprintf(wrong, bytes, "too many orders to try");
    return verdict == HISTORY_EXPLAINED;
}

static bool all_done(struct run *r, char *wrong, size_t bytes)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->outcomes[i] != ORDO_DONE || r->found[i] > 1) {
            (void) snprintf(wrong, bytes, "operation %zu: outcome %u, found %u", i, r->outcomes[i], r->found[i]);
            return false;
        }
    return true;
}

/* Runs a history. False if it is wrong, with the reason in `wrong`. */
static bool run_history(struct test *t, const struct plan *plan, uint64_t seed, char *wrong, size_t bytes)
{
    struct run r = { .t = t, .plan = plan, .n = plan->operations, .key_bytes = ordo_type_bytes(plan->type) };

    t->random = seed;
    make_input(&r);
    make_dict(&r);
    apply(&r);
    const bool  good = all_done(&r, wrong, bytes) && read_after(&r, wrong, bytes) && explain(&r, wrong, bytes);
    void *const all[] = { r.codes, r.keys, r.values, r.found, r.outcomes, r.values_out, r.ticks };
    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
    model_free(&r.before);
    model_free(&r.after);
    ordo_dict_destroy(&r.dict);
    return good;
}

static void expect_history(struct test *t, struct plan plan, uint32_t faults, uint64_t seed)
{
    char wrong[4096] = "";

    plan.faults = faults;
    test_context(t, "history '%s', seed %" PRIu64 ", faults %u", plan.name, seed, faults);
    if (!run_history(t, &plan, seed, wrong, sizeof wrong))
        test_fail(t, __FILE__, __LINE__, "%s", wrong);
}

/* ---- histories --------------------------------------------------------------------------------------------------- */

static size_t wanted_histories(void)
{
    const char *text = getenv("ORDO_TEST_HISTORIES");
    return text ? strtoull(text, NULL, 0) : 40;
}

static void many_histories(struct test *t)
{
    for (size_t i = 0; i < wanted_histories(); i++)
        expect_history(t, plans[i % LENGTH(plans)], FAULT_LATE_START, t->seed * 100000 + i);
}

static void some_histories(struct test *t)
{
    test_optimized(t);
    for (size_t i = 0; i < LENGTH(plans); i++)
        expect_history(t, plans[i], FAULT_LATE_START, t->seed * 100000 + i);
}

Test(hash_history, has_an_order_that_explains_it)
{
    test_each_device(many_histories);
    test_each_device_with("cpu=0,progress=1,group=1", some_histories);
    test_each_device_with("atomics=legacy", some_histories);
}

/* All faults, also with operations that give up at once. */
#define ALL_FAULTS (FAULT_LATCHES | FAULT_SLOW_STORES | FAULT_SLOW_LOOKS | FAULT_LATE_START)

MASK_TEST(hash_history, has_one_with_injected_faults, "group=1")
{
    for (size_t i = 0; i < wanted_histories() / 4; i++) {
        expect_history(t, plans[i % LENGTH(plans)], ALL_FAULTS, t->seed * 100000 + i);
        expect_history(t, plans[i % LENGTH(plans)], ALL_FAULTS | FAULT_NO_TRIES, t->seed * 200000 + i);
    }
}

DEVICE_TEST(hash_history, has_one_with_every_kind_of_key_and_value)
{
    for (size_t i = 0; i < LENGTH(kinds); i += test_wants_all("ORDO_TEST_KINDS") ? 1 : 2)
        for (uint64_t seed = 0; seed < 2; seed++)
            expect_history(t, kinds[i], ALL_FAULTS & ~FAULT_LATCHES, t->seed * 1000 + seed);
}

/* ---- schedules --------------------------------------------------------------------------------------------------- */

#define FILE_OF_ONE   "dict/hash/concurrent.cl"
#define FILE_OF_OTHER "dict/hash/other.cl"
#define KERNELS       "#if SUBGROUP_MAY_PART && RUN_GROUP"

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
    { "few keys", ORDO_U32, 4, 7, 50, 25, 1000, CHANGES, 0 },
    { "full buckets", ORDO_U32, 4, 100, 90, 95, 1000, CHANGES, 0 },
    { "into some slots", ORDO_U32, 4, 400, 30, 50, 1000, STORES, 0 },
    { "keys of 8 bytes", ORDO_U64, 4, 100, 60, 90, 1000, CHANGES, 0 },
};

static void run_schedules(struct test *t)
{
    for (uint64_t i = 0; i < 3 * LENGTH(scheduled); i++)
        expect_history(t, scheduled[i % LENGTH(scheduled)], SCHEDULE_OF_TWO | (i % 3 == 2 ? FAULT_LATCHES : 0),
                       t->seed * 1000 + i);
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

static const struct bug *put_in;

static void expect_caught(struct test *t)
{
    char wrong[4096] = "";
    bool caught = false;

    test_context(t, "the bug '%s'", put_in->name);
    for (uint64_t i = 0; i < 36 && !caught; i++) {
        struct plan plan = scheduled[i % 3]; /* 4-byte keys */
        plan.faults = SCHEDULE_OF_TWO;
        caught = !run_history(t, &plan, t->seed * 1000 + i, wrong, sizeof wrong);
    }
    if (!caught)
        test_fail(t, __FILE__, __LINE__, "nothing was noticed");
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
