/* SPDX-License-Identifier: Apache-2.0 */
#include "points.h"

#include "history_batch.h"

#include "shared/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A history that runs. */
struct run {
    struct test                 *t;
    const struct points_subject *subject;
    const struct plan           *plan;
    uint32_t                     faults;
    ordo_dict                   *dict;
    struct model                 before, after;
    size_t                       n, key_bytes;
    uint8_t                     *codes, *keys, *values, *found, *outcomes, *values_out;
    uint32_t                    *ticks;
};

/* Keys by number: spread over all keys, with the least and the greatest, or the greatest ones. */
static key_form form_at(const struct run *r, size_t number)
{
    const key_form all = form_mask(r->plan->type);
    return r->plan->dense ? all - number : history_key(r->plan->type, number, r->plan->keys);
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
        r->codes[i] = history_code(r->t, r->plan->weight, LENGTH(r->plan->weight));
        put_form(r->plan->type, r->keys, i, form_at(r, test_below(r->t, r->plan->keys)));
        if (vb)
            write_bits(r->values, vb, i, history_value(vb, i + 1));
    }
}

static void make_dict(struct run *r)
{
    const size_t       all = r->plan->keys, vb = r->plan->value_bytes;
    AUTO_FREE uint8_t *keys = test_alloc(all * r->key_bytes), *values = test_alloc(all * vb);
    size_t             count = 0;

    for (size_t number = 0; number < all; number++) {
        if (test_below(r->t, 100) >= r->plan->initial)
            continue;
        put_form(r->plan->type, keys, count, form_at(r, number));
        if (vb)
            write_bits(values, vb, count, history_value(vb, 1000000 + number));
        count++;
    }
    r->before = model_of_arrays(r->plan->type, vb, keys, values, count);
    test_ok(r->t, r->subject->create(r->t->dev, r->plan, &r->dict));
    if (count > 0)
        test_ok(r->t, ordo_dict_build_host(r->dict, keys, vb ? values : NULL, count));
}

/* ---- one history ------------------------------------------------------------------------------------------------- */

static struct ordo_host_concurrent_batch batch_of(const struct run *r)
{
    const bool has_values = r->plan->value_bytes > 0;

    return (struct ordo_host_concurrent_batch) { .codes = r->codes,
                                                 .keys = r->keys,
                                                 .values = has_values ? r->values : NULL,
                                                 .count = r->n,
                                                 .found = r->found,
                                                 .values_out = has_values ? r->values_out : NULL,
                                                 .outcomes = r->outcomes };
}

static void apply(struct run *r)
{
    const struct ordo_host_concurrent_batch batch = batch_of(r);
    AUTO_ARRAY struct test_array            ticks = test_upload(r->t, NULL, 2 * r->n, sizeof(uint32_t), 0);

    r->subject->record(r->dict, r->faults, ticks.mem);
    test_ok(r->t, ordo_dict_apply_concurrent_host(r->dict, &batch));
    r->subject->record(r->dict, 0, NULL);
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
        r->after = model_of_arrays(r->plan->type, vb, keys, values, count);
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
    AUTO(history_free) struct history       h = history_begin(&r->before, r->plan->value_bytes > 0);
    const struct ordo_host_concurrent_batch batch = batch_of(r);

    history_add_batch(&h, &batch, r->ticks);
    const enum history_verdict verdict = history_explain(&h, &r->after, wrong, bytes);
    if (verdict == HISTORY_UNDECIDED)
        (void) snprintf(wrong, bytes, UNDECIDED);
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

bool points_run(struct test *t, const struct points_subject *subject, const struct plan *plan, uint32_t faults,
                uint64_t seed, char *wrong, size_t bytes)
{
    struct run r = { .t = t,
                     .subject = subject,
                     .plan = plan,
                     .faults = faults,
                     .n = plan->operations,
                     .key_bytes = ordo_type_bytes(plan->type) };

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

void points_expect(struct test *t, const struct points_subject *subject, const struct plan *plan, uint32_t faults,
                   uint64_t seed)
{
    char wrong[4096] = "";

    test_context(t, "history '%s', seed %" PRIu64 ", faults %u", plan->name, seed, faults);
    if (!points_run(t, subject, plan, faults, seed, wrong, sizeof wrong))
        test_fail(t, __FILE__, __LINE__, "%s", wrong);
}

void points_expect_caught(struct test *t, const struct points_subject *subject, const struct plan *plans,
                          size_t n_plans, uint32_t faults, const char *bug)
{
    enum { TRIES = 36 };
    char wrong[4096] = "";

    test_context(t, "the bug '%s'", bug);
    for (uint64_t i = 0; i < TRIES; i++)
        if (!points_run(t, subject, &plans[i % n_plans], faults, t->seed * 1000 + i, wrong, sizeof wrong))
            return;
    test_fail(t, __FILE__, __LINE__, "nothing was noticed");
}

static const struct plan *plan_of(const struct points_subject *subject, size_t i)
{
    return &subject->plans[i % subject->n_plans];
}

void points_expect_many(struct test *t, const struct points_subject *subject)
{
    for (size_t i = 0; i < history_wanted(subject->histories); i++)
        points_expect(t, subject, plan_of(subject, i), FAULT_LATE_START, t->seed * 100000 + i);
}

void points_expect_each(struct test *t, const struct points_subject *subject)
{
    test_optimized(t);
    for (size_t i = 0; i < subject->n_plans; i++)
        points_expect(t, subject, &subject->plans[i], FAULT_LATE_START, t->seed * 100000 + i);
}

void points_expect_faults(struct test *t, const struct points_subject *subject, uint32_t faults)
{
    for (size_t i = 0; i < history_wanted(subject->histories) / 4; i++) {
        points_expect(t, subject, plan_of(subject, i), faults, t->seed * 100000 + i);
        points_expect(t, subject, plan_of(subject, i), faults | FAULT_NO_TRIES, t->seed * 200000 + i);
    }
}

void points_expect_kinds(struct test *t, const struct points_subject *subject, uint32_t faults)
{
    for (size_t i = 0; i < subject->n_kinds; i += test_wants_all("ORDO_TEST_KINDS") ? 1 : 2)
        for (uint64_t seed = 0; seed < 2; seed++)
            points_expect(t, subject, &subject->kinds[i], faults, t->seed * 1000 + seed);
}
