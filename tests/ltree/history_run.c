/* SPDX-License-Identifier: Apache-2.0 */
/* Runs histories: makes the input, has the tree do the batch, and checks results and tree. */
#include "history_run.h"

#include "tests/ltree/schedule.h"

#include "dict/ltree/ltree.h"

#include <inttypes.h>
#include <stdio.h>

bool is_wrong(struct run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) vsnprintf(r->wrong, sizeof r->wrong, format, args);
    va_end(args);
    return false;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static struct ordo_host_concurrent_batch batch_of(const struct run *r)
{
    const bool has_values = r->plan->value_bytes > 0;

    return (struct ordo_host_concurrent_batch) {
        .codes = r->in.codes,
        .keys = r->in.keys,
        .hi = r->in.hi,
        .values = has_values ? r->in.values : NULL,
        .count = r->n,
        .found = r->out.found,
        .keys_out = r->out.keys_out,
        .values_out = has_values ? r->out.values_out : NULL,
        .counts = r->out.counts,
        .outcomes = r->out.outcomes,
        .rooms = r->in.rooms,
        .range_keys = r->out.range_keys,
        .range_values = has_values ? r->out.range_values : NULL,
        .range_capacity = (size_t) r->in.rooms[r->n],
    };
}

static bool apply(struct run *r, const struct ordo_host_concurrent_batch *batch)
{
    struct test_array  ticks = test_upload(r->t, NULL, 2 * r->n, sizeof(uint32_t), 0);
    struct ordo_ltree *tree = ordo_ltree_of(r->dict);

    tree->faults = r->plan->faults;
    tree->history = ticks.mem;
    const ordo_status status = ordo_dict_apply_concurrent_host(r->dict, batch);
    tree->history = NULL;
    test_download(r->t, &ticks, r->out.ticks);
    test_free(&ticks);
    return status == ORDO_OK || is_wrong(r, "the batch gave '%s'", ordo_status_string(status));
}

/* ---- the tree afterwards ----------------------------------------------------------------------------------------- */

/* Checks the tree's invariants. */
static bool check_tree(struct run *r)
{
    char              text[512] = "";
    const ordo_status checked = ordo_dict_check(r->dict, NULL);

    if (checked == ORDO_OK)
        return true;
    (void) ordo_device_last_error(r->t->dev, text, sizeof text);
    return is_wrong(r, "the tree after the batch: '%s' %s", ordo_status_string(checked), text);
}

static bool check_ascends(struct run *r, const uint8_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (form_at(r, keys, i) <= form_at(r, keys, i - 1))
            return is_wrong(r, "the exported key %zu is not greater than the one before it", i);
    return true;
}

/* Reads the tree's content. */
static bool read_after(struct run *r)
{
    const size_t       room = n_numbers(r->plan) + 1;
    AUTO_FREE uint8_t *keys = test_alloc(room * r->key_bytes), *values = test_alloc(room * r->plan->value_bytes);
    size_t             count = 0, size = 0;

    const ordo_status exported =
        ordo_dict_export_host(r->dict, keys, r->plan->value_bytes ? values : NULL, room, &count);
    const ordo_status sized = exported != ORDO_OK ? exported : ordo_dict_size(r->dict, NULL, &size);
    if (sized != ORDO_OK)
        return is_wrong(r, "reading the tree after the batch: '%s'", ordo_status_string(sized));
    r->after = model_of_arrays(r->plan->type, r->plan->value_bytes, keys, values, count);
    if (size != count)
        return is_wrong(r, "the tree says that it has %zu elements, and has %zu", size, count);
    return check_ascends(r, keys, count);
}

/* ---- one history ------------------------------------------------------------------------------------------------- */

static void free_run(struct run *r)
{
    void *const all[] = { r->in.codes,       r->in.keys,          r->in.hi,        r->in.values,      r->in.rooms,
                          r->out.found,      r->out.outcomes,     r->out.keys_out, r->out.values_out, r->out.counts,
                          r->out.range_keys, r->out.range_values, r->out.ticks };
    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
    model_free(&r->before);
    model_free(&r->after);
    ordo_dict_destroy(&r->dict);
}

static bool play(struct run *r)
{
    const struct ordo_host_concurrent_batch batch = batch_of(r);

    return make_dict(r) && apply(r, &batch) && check_tree(r) && read_after(r) && check_unused_slots(r) &&
           check_history(r, &batch);
}

bool run_history(struct test *t, const struct plan *plan, uint64_t seed, char *wrong)
{
    struct run r = { .t = t, .plan = plan, .seed = seed, .n = plan->operations };

    t->random = seed;
    r.key_bytes = ordo_type_bytes(plan->type);
    make_input(&r);
    const bool good = play(&r);
    memcpy(wrong, r.wrong, sizeof r.wrong);
    free_run(&r);
    return good;
}

/* One history of this many has its finds before its updates. */
enum { FINDS_ARE_FIRST = 7 };

void expect_history(struct test *t, const struct plan *plan, uint64_t seed)
{
    char wrong[WRONG_BYTES] = "";

    /* Schedules do not depend on compilers. PoCL's code of a GPU's kernels runs on no GPU. */
    if ((plan->faults & SCHEDULE_FAULTS) == SCHEDULE_FAULTS || strstr(t->mask, "cpu=0"))
        test_unoptimized(t);
    else
        test_optimized(t);
    test_context(t, "history '%s', seed %" PRIu64 ", faults %u", plan->name, seed, plan->faults);
    test_ok(t, ordo_device_set_tunable(t->dev, "links.finds", seed % FINDS_ARE_FIRST == 0));
    if (!run_history(t, plan, seed, wrong))
        test_fail(t, __FILE__, __LINE__, "%s", wrong);
}
