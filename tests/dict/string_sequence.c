/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of batches on a dictionary of strings (sequence.h). */
#include "sequence.h"
#include "string_trial.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- from seeds -------------------------------------------------------------------------------------------------- */

static enum step_kind random_update(struct test *random)
{
    static const enum step_kind kinds[] = { STEP_BUILD,  STEP_COMPACT, STEP_ERASE,  STEP_ERASE,
                                            STEP_ERASE,  STEP_ERASE,   STEP_UPSERT, STEP_UPSERT,
                                            STEP_UPSERT, STEP_UPSERT,  STEP_UPSERT, STEP_UPSERT };

    if (test_below(random, 40) == 0)
        return test_below(random, 2) ? STEP_CLEAR : STEP_ERASE_ALL;
    return kinds[test_below(random, LENGTH(kinds))];
}

struct sequence string_sequence_random(enum string_shape shape, uint32_t value_bytes, uint64_t seed, size_t updates,
                                       uint32_t most)
{
    struct test     random = { .random = seed };
    struct sequence s = {
        .subject = STRING_DICT, .value_bytes = value_bytes, .strings = shape, .n_keys = 1, .seed = seed
    };

    sequence_add(&s, STEP_QUERIES, 20);
    for (size_t i = 0; i < updates; i++) {
        const uint32_t size = test_below(&random, 4) ? most : 5;
        sequence_add(&s, random_update(&random), (uint32_t) (1 + test_below(&random, size)));
        sequence_add(&s, STEP_QUERIES, (uint32_t) (20 + test_below(&random, 200)));
    }
    sequence_add(&s, STEP_CLEAR, 1);
    sequence_add(&s, STEP_QUERIES, 20);
    return s;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

struct string_run {
    const struct sequence *s;
    struct fault          *fault;
    struct test            own; /* its failures end the run, and its test_random is the step's */
    struct test_catch      caught;
    struct string_trial    trial;
    struct outcome         outcome;
};

bool string_sequence_takes(enum step_kind kind)
{
    return kind == STEP_BUILD || kind == STEP_UPSERT || kind == STEP_ERASE || kind == STEP_EXPORT ||
           kind == STEP_COMPACT || kind == STEP_CLEAR || kind == STEP_ERASE_ALL || kind == STEP_QUERIES;
}

static void spoil(struct string_run *run, enum step_kind kind)
{
    struct string_map *m = &run->trial.m;
    struct fault      *fault = run->fault;

    if (!fault || fault->done || fault->kind != kind || m->n == 0)
        return;
    fault->done = true;
    if (fault->column < N_COLUMNS) {
        m->at[0].value ^= 1;
        return;
    }
    free(m->at[0].bytes);
    memmove(m->at, m->at + 1, --m->n * sizeof *m->at);
}

static void clean_up(struct string_run *run)
{
    struct ordo_string_dict_statistics is;

    test_ok(&run->own, ordo_string_dict_cleanup(run->trial.dict, NULL));
    test_ok(&run->own, ordo_string_dict_get_statistics(run->trial.dict, &is));
    test_true(&run->own, is.stale == 0 && is.runs <= 1);
}

static void erase_all(struct string_run *run)
{
    AUTO_COLUMN struct string_case c = string_trial_all(&run->trial);

    string_trial_change(&run->trial, STRINGS_ERASE, &c);
}

static void do_step(struct string_run *run, const struct step *step)
{
    struct string_trial    *r = &run->trial;
    const enum string_shape shape = run->s->strings;

    spoil(run, step->kind);
    switch (step->kind) {
    case STEP_BUILD:
        string_trial_update(r, STRINGS_BUILD, shape, step->count, 3);
        break;
    case STEP_UPSERT:
        string_trial_update(r, STRINGS_UPSERT, shape, step->count, test_below(&run->own, 8));
        break;
    case STEP_ERASE:
        string_trial_update(r, STRINGS_ERASE, shape, step->count, 9);
        break;
    case STEP_ERASE_ALL:
        erase_all(run);
        break;
    case STEP_COMPACT:
        clean_up(run);
        break;
    case STEP_CLEAR:
        test_ok(&run->own, ordo_string_dict_clear(r->dict));
        string_map_clear(&r->m);
        break;
    case STEP_EXPORT:
        string_trial_export(r);
        break;
    case STEP_QUERIES:
        string_trial_ask(r, shape, step->count ? step->count : 1);
        break;
    default:
        test_fail(&run->own, __FILE__, __LINE__, "a dictionary of strings has no %s", step_word[step->kind]);
    }
    test_ok(&run->own, ordo_string_dict_check(r->dict, NULL));
}

static void do_steps(struct string_run *run)
{
    const struct sequence *s = run->s;

    run->trial = string_trial_begin(&run->own, s->value_bytes);
    for (size_t i = 0; i < s->n_steps; i++) {
        const struct step *step = &s->step[i];
        run->outcome.step = i;
        run->own.random = s->seed * 0x9e3779b97f4a7c15u + step->salt;
        if (getenv("ORDO_TEST_TRACE"))
            (void) fprintf(stderr, "%s %" PRIu32 " %" PRIu32 "\n", step_word[step->kind], step->count, step->salt);
        test_context(&run->own, "%s strings, %" PRIu32 " bytes of value, seed %" PRIu64 ", step %zu: %s %" PRIu32,
                     string_shape_name[s->strings], s->value_bytes, s->seed, i, step_word[step->kind], step->count);
        do_step(run, step);
    }
}

struct outcome string_sequence_run(struct test *t, const struct sequence *s, struct fault *fault)
{
    AUTO_FREE struct string_run *const run = test_alloc(sizeof *run);

    *run = (struct string_run) { .s = s, .fault = fault, .own = *t };
    run->own.caught = &run->caught;
    if (setjmp(run->caught.back) == 0) {
        do_steps(run);
    } else {
        run->outcome.failed = true;
        memcpy(run->outcome.what, run->caught.what, sizeof run->caught.what);
    }
    memcpy(t->context, run->own.context, sizeof t->context);
    string_trial_end(&run->trial);
    return run->outcome;
}
