/* SPDX-License-Identifier: Apache-2.0 */
/* Runs sequences: one step after another on a new dictionary, with a check after each update. */
#include "sequence_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- the outcome ------------------------------------------------------------------------------------------------- */

void run_complain(struct run *run, const char *format, ...)
{
    va_list args;

    if (run->outcome.failed)
        return;
    run->outcome.failed = true;
    va_start(args, format);
    (void) vsnprintf(run->outcome.what, sizeof run->outcome.what, format, args);
    va_end(args);
}

void run_expect_status(struct run *run, const char *what, ordo_status got, ordo_status want)
{
    char text[512] = "";

    if (got == want)
        return;
    if (got != ORDO_OK)
        (void) ordo_device_last_error(run->t->dev, text, sizeof text);
    if (!run->outcome.failed)
        run->outcome.status = got;
    run_complain(run, "%s gave '%s', not '%s': %s", what, ordo_status_string(got), ordo_status_string(want), text);
}

/* FNV-1a by Fowler, Noll and Vo. */
void run_hash(struct run *run, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run->outcome.hash = (run->outcome.hash ^ ((const uint8_t *) bytes)[i]) * 0x100000001b3u;
}

void run_hash_number(struct run *run, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        run_hash(run, &(uint8_t) { (uint8_t) (number >> shift) }, 1);
}

/* ---- steps without arrays ---------------------------------------------------------------------------------------- */

static void check_statistics(struct run *run, bool compact)
{
    struct ordo_statistics is = { 0 };
    const size_t           bytes = ordo_type_bytes(run->s->type) + run->s->value_bytes;

    run_expect_status(run, "statistics", ordo_dict_statistics(run->dict, NULL, &is), ORDO_OK);
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "# %zu elements, %zu stale, %zu tombstones, %zu runs\n", is.elements, is.stale,
                       is.tombstones, is.runs);
    if (is.elements != run->model.count)
        run_complain(run, "the statistics say %zu elements, not %zu", is.elements, run->model.count);
    if (structure_is((int) run->s->subject, ORDO_IS_TRIE)
            ? is.bytes_data > is.elements * bytes + is.leaves * structure_leaf_bytes((int) run->s->subject)
            : is.bytes_data != (is.elements + is.stale + is.tombstones) * bytes)
        run_complain(run, "%zu bytes of data for %zu elements, %zu stale, %zu tombstones", is.bytes_data, is.elements,
                     is.stale, is.tombstones);
    if (is.bytes_peak < is.bytes_data + is.bytes_index + is.bytes_marks)
        run_complain(run, "the peak of %zu bytes is less than what is there", is.bytes_peak);
    if (structure_is((int) run->s->subject, ORDO_HAS_RUNS) &&
        (is.runs == 0) != (is.elements + is.stale + is.tombstones == 0))
        run_complain(run, "%zu runs of %zu elements, %zu stale, %zu tombstones", is.runs, is.elements, is.stale,
                     is.tombstones);
    if (compact && (is.stale || is.tombstones || is.runs > 1))
        run_complain(run, "after compact: %zu stale, %zu tombstones, %zu runs", is.stale, is.tombstones, is.runs);
}

/* Erases all elements by one batch. */
static void erase_all(struct run *run)
{
    const size_t       count = run->model.count;
    AUTO_FREE uint8_t *keys = test_alloc((count + 1) * ordo_type_bytes(run->s->type));

    for (size_t i = 0; i < count; i++)
        put_form(run->s->type, keys, i, run->model.element[i].form);
    run_expect_status(run, "erase of all", ordo_dict_erase_host(run->dict, keys, count), ORDO_OK);
    model_clear(&run->model);
    check_statistics(run, false);
}

static void do_plain(struct run *run, const struct step *step)
{
    size_t size = SIZE_MAX;

    switch (step->kind) {
    case STEP_SIZE:
        run_expect_status(run, "size", ordo_dict_size(run->dict, NULL, &size), ORDO_OK);
        if (size != run->model.count)
            run_complain(run, "the size is %zu, not %zu", size, run->model.count);
        run_hash_number(run, size);
        return;
    case STEP_STATISTICS:
        check_statistics(run, false);
        return;
    case STEP_COMPACT:
        if (step->salt % 2 && structure_is((int) run->s->subject, ORDO_KEEPS_STALE))
            run_expect_status(run, "cleanup", ordo_lsm_cleanup(run->dict, NULL), ORDO_OK);
        else
            run_expect_status(run, "compact", ordo_dict_compact(run->dict, NULL), ORDO_OK);
        check_statistics(run, true);
        return;
    case STEP_ERASE_ALL:
        erase_all(run);
        return;
    default:
        run_expect_status(run, "clear", ordo_dict_clear(run->dict), ORDO_OK);
        model_clear(&run->model);
        check_statistics(run, true);
        return;
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void do_step(struct run *run, const struct step *step)
{
    run->random.random = run->s->seed * 0x9e3779b97f4a7c15u + step->salt;
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "%s %" PRIu32 " %" PRIu32 "\n", step_word[step->kind], step->count, step->salt);
    if (step_has_columns(step->kind))
        run_batch(run, step);
    else
        do_plain(run, step);
    if (step_is_update(step->kind))
        run_expect_status(run, "the check", ordo_dict_check(run->dict, NULL), ORDO_OK);
}

static void begin_run(struct run *run)
{
    const struct ordo_dict_config config = { run->s->type, run->s->value_bytes };
    cl_int                        code = CL_SUCCESS;

    run->random.random = run->s->seed;
    run->outcome.hash = 0xcbf29ce484222325u;
    run->model = model_empty(run->s->type, run->s->value_bytes);
    run_make_keys(run);
    run->queue =
        clCreateCommandQueueWithProperties(ordo_device_context(run->t->dev), ordo_device_id(run->t->dev), NULL, &code);
    if (code != CL_SUCCESS)
        run_complain(run, "clCreateCommandQueueWithProperties: %s", ordo_cl_error_string(code));
    run_expect_status(run, "create", structures[run->s->subject].create(run->t->dev, &config, &run->dict), ORDO_OK);
}

static void end_run(struct run *run)
{
    ordo_dict_destroy(&run->dict);
    if (ordo_device_finish(run->t->dev) != ORDO_OK)
        run_complain(run, "finishing the device's queue failed");
    if (run->queue)
        (void) clReleaseCommandQueue(run->queue);
    model_free(&run->model);
    free(run->keys);
}

struct outcome sequence_run(struct test *t, const struct sequence *s, struct fault *fault)
{
    struct run run = { .t = t, .s = s, .fault = fault, .random = *t };

    begin_run(&run);
    for (size_t i = 0; i < s->n_steps && !run.outcome.failed; i++) {
        run.outcome.step = i;
        test_context(t, "%s, %s, %" PRIu32 " bytes of value, %s keys, seed %" PRIu64 ", step %zu: %s %" PRIu32,
                     structures[s->subject].word, test_type_name[s->type], s->value_bytes, key_shape_name[s->shape],
                     s->seed, i, step_word[s->step[i].kind], s->step[i].count);
        do_step(&run, &s->step[i]);
    }
    end_run(&run);
    return run.outcome;
}
