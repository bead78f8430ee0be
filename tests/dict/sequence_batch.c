/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with arrays: the call, the model's answer, and their comparison. */
#include "sequence_run.h"

#include "tests/support/calls.h"

#include <stdio.h>
#include <stdlib.h>

/* A step that runs. */
struct batch {
    const struct step *step;
    struct columns     in;        /* all inputs, for the model */
    struct columns     got, want; /* the call's arrays, and the model's */
    size_t             needed;    /* elements of its ranges */
    ordo_status        status;    /* expected */
    bool               on_host;
    bool               unasked; /* the call does not ask for the number of elements of ranges */
    bool               refused; /* changes nothing */
};

/* ---- input ------------------------------------------------------------------------------------------------------- */

static struct batch batch_begin(struct run *run, const struct step *step)
{
    struct batch b = { .step = step, .in = { .count = step_operations(step) } };

    columns_add(&b.in, run->s, IN_CODES | IN_KEYS | IN_HIS | (run->s->value_bytes ? IN_VALUES : 0));
    draw_inputs(run, step, &b.in);
    const unsigned               columns = draw_columns(run, step, &b.in);
    const struct ordo_host_batch all = columns_batch(&b.in);
    b.needed = model_room(&run->model, &all);
    const size_t room = draw_room(run, b.needed);
    b.got = (struct columns) { .count = b.in.count, .room = room, .value = b.in.value, .combine = b.in.combine };
    b.want = b.got;
    columns_add(&b.got, run->s, columns);
    columns_add(&b.want, run->s, columns);
    for (int i = 0; i < COL_FOUND; i++)
        columns_take(&b.got, &b.in, (enum column) i);
    b.on_host = run_below(run, 3) == 0;
    b.unasked = !b.on_host && step->kind == STEP_RANGE && run_below(run, 3) == 0;
    return b;
}

static void batch_free(struct batch *b)
{
    columns_free(&b->in);
    columns_free(&b->got);
    columns_free(&b->want);
}

/* The model applies the operations. */
static ordo_status apply_to_model(struct run *run, const struct batch *b)
{
    struct ordo_host_batch batch = columns_batch(&b->want);
    uint8_t               *found = b->want.of[COL_FOUND];
    const bool             small = b->needed > b->want.room;

    batch.codes = b->in.of[COL_CODES];
    batch.keys = b->in.of[COL_KEYS];
    batch.hi = b->in.of[COL_HI];
    batch.values = b->in.of[COL_VALUES];
    if (b->step->kind == STEP_APPLY && small)
        return ORDO_TOO_SMALL;
    if (small)
        batch.range_capacity = 0;
    if (b->step->kind == STEP_BUILD)
        model_clear(&run->model);
    (void) model_apply(&run->model, &batch);
    for (size_t i = 0; b->step->kind == STEP_INSERT && found && i < b->want.count; i++)
        found[i] = !found[i];
    return small ? ORDO_TOO_SMALL : ORDO_OK;
}

/* Writes the expected status and outputs. */
static void expect(struct run *run, struct batch *b)
{
    b->status = apply_to_model(run, b);
    b->refused = b->step->kind == STEP_APPLY && b->status == ORDO_TOO_SMALL;
    if (b->unasked)
        b->status = ORDO_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Makes the call of a step over device memory, or over host memory if `s` is NULL. */
static ordo_status make_call(struct run *run, enum step_kind kind, const struct columns *c, const struct ordo_slice *s,
                             size_t *needed, const struct ordo_order *order)
{
    const bool        seek = strncmp(step_word[kind], "seek", 4) == 0;
    struct given      g = call_given(run->t->dev, run->dict, c->count);
    struct ordo_slice slice[CALL_ARRAYS];
    void             *host[CALL_ARRAYS];
    char              name[64];

    (void) snprintf(name, sizeof name, "ordo_dict_%s", seek ? "seek" : step_word[kind]);
    const struct array_call *call = call_named(name);
    g.relation = (ordo_relation) (seek ? step_columns[kind].code - ORDO_SEEK_LT : 0);
    g.value = c->value;
    g.op = c->combine;
    g.room = c->room;
    g.got = needed;
    g.order = order;
    for (size_t i = 0; i < call_arrays(call); i++) {
        const enum column column = column_of(kind, call->array[i].name);
        host[i] = c->of[column];
        slice[i] = s ? s[column] : ordo_none();
    }
    return s ? call->run(&g, slice) : call->run_host(&g, host);
}

/* Uploads a call's arrays, each at an offset. */
static void upload(struct run *run, const struct columns *c, struct test_array array[N_COLUMNS],
                   struct ordo_slice slice[N_COLUMNS])
{
    for (int i = 0; i < N_COLUMNS; i++) {
        slice[i] = ordo_none();
        if (!c->of[i])
            continue;
        array[i] = test_upload(run->t, c->of[i], c->elements[i], c->bytes[i], run_below(run, 20));
        slice[i] = test_slice(&array[i]);
    }
}

static void download(struct run *run, struct columns *c, struct test_array array[N_COLUMNS])
{
    for (int i = 0; i < N_COLUMNS; i++) {
        if (!c->of[i])
            continue;
        const size_t changed = test_read(run->t, &array[i], c->of[i], column_name[i]);
        if (changed != SIZE_MAX)
            run_complain(run, "%s: byte %zu was written, outside the array", column_name[i], changed);
        test_free(&array[i]);
    }
}

static void wait_for(struct run *run, cl_event done)
{
    if (!done) {
        run_complain(run, "order->done received no event");
        return;
    }
    if (clWaitForEvents(1, &done) != CL_SUCCESS)
        run_complain(run, "waiting for order->done failed");
    (void) clReleaseEvent(done);
}

/* Makes the call over device memory, on the test's or the device's queue. */
static ordo_status call_by_device(struct run *run, enum step_kind kind, struct columns *c, size_t *needed)
{
    struct test_array       array[N_COLUMNS];
    struct ordo_slice       slice[N_COLUMNS];
    cl_event                done = NULL;
    const bool              other = run_below(run, 3) == 0;
    const struct ordo_order order = { .queue = run->queue, .done = &done };

    upload(run, c, array, slice);
    const ordo_status status = make_call(run, kind, c, slice, needed, other ? &order : NULL);
    if (done || (other && status == ORDO_OK))
        wait_for(run, done);
    download(run, c, array);
    return status;
}

static ordo_status call(struct run *run, struct batch *b, size_t *needed)
{
    return b->on_host ? make_call(run, b->step->kind, &b->got, NULL, needed, NULL)
                      : call_by_device(run, b->step->kind, &b->got, needed);
}

static bool reports_need(enum step_kind kind)
{
    return kind == STEP_RANGE || kind == STEP_EXPORT || kind == STEP_APPLY;
}

static void call_and_check(struct run *run, struct batch *b)
{
    const enum step_kind kind = b->step->kind;
    size_t               needed = SIZE_MAX;

    run_expect_status(run, step_word[kind], call(run, b, b->unasked ? NULL : &needed), b->status);
    if (!b->unasked && reports_need(kind) && needed != b->needed)
        run_complain(run, "%zu elements are said to be needed, not %zu", needed, b->needed);
}

/* ---- structures without order ------------------------------------------------------------------------------------ */

static bool is_order_code(uint8_t code)
{
    return (code >= ORDO_SEEK_LT && code <= ORDO_RANGE) || (code >= ORDO_RANK_LT && code <= ORDO_SELECT);
}

/* Whether a step has order queries, and the structure has none. */
static bool lacks_order(const struct run *run, const struct batch *b)
{
    const bool mixed = b->step->kind == STEP_APPLY &&
                       (has_code(&b->in, ORDO_SEEK_LT, ORDO_RANGE) || has_code(&b->in, ORDO_RANK_LT, ORDO_SELECT));

    return structure_is((int) run->s->subject, ORDO_NO_ORDER) && (step_is_order_query(b->step->kind) || mixed);
}

/* Replaces order queries of a mixed batch by key queries, and takes the model's results for them, so that all other
 * results must match. */
static void apply_rest(struct run *run, struct batch *b)
{
    uint8_t        *codes = b->got.of[COL_CODES];
    AUTO_FREE bool *order = test_alloc(b->got.count * sizeof *order);
    size_t          needed = 0;

    for (size_t i = 0; i < b->got.count; i++) {
        order[i] = is_order_code(codes[i]);
        codes[i] = order[i] ? (uint8_t) ORDO_CONTAINS : codes[i];
    }
    run_expect_status(run, step_word[STEP_APPLY], call(run, b, &needed), ORDO_OK);
    for (size_t i = 0; i < b->got.count; i++)
        for (int c = COL_FOUND; order[i] && c <= COL_COUNTS; c++)
            columns_take_element(&b->got, &b->want, (enum column) c, i);
    for (int c = COL_OFFSETS; c < N_COLUMNS; c++)
        columns_take(&b->got, &b->want, (enum column) c);
}

/* Order queries are refused and change nothing. */
static void do_without_order(struct run *run, struct batch *b)
{
    size_t needed = 0;

    run_expect_status(run, step_word[b->step->kind], call(run, b, &needed), ORDO_UNSUPPORTED);
    if (b->step->kind == STEP_APPLY && !b->refused)
        apply_rest(run, b);
    for (int i = COL_FOUND; b->step->kind != STEP_APPLY && i < N_COLUMNS; i++)
        columns_take(&b->got, &b->want, (enum column) i);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void spoil(struct run *run, const struct step *step, const struct columns *got)
{
    struct fault *fault = run->fault;

    if (!fault || fault->done || fault->kind != step->kind)
        return;
    if (fault->column == N_COLUMNS && run->model.count > 0) {
        run->model.count--;
        memmove(run->model.element, run->model.element + 1, run->model.count * sizeof *run->model.element);
        fault->done = true;
    } else if (fault->column < N_COLUMNS && got->of[fault->column] && got->elements[fault->column] > 0) {
        const size_t bytes = got->elements[fault->column] * got->bytes[fault->column];
        ((uint8_t *) got->of[fault->column])[bytes / 2] ^= 1;
        fault->done = true;
    }
}

/* Compares outputs with the model's, and adds them to the hash. */
static void compare_outputs(struct run *run, const struct batch *b)
{
    for (int i = COL_FOUND; i < N_COLUMNS && !b->refused; i++) {
        if (!b->got.of[i])
            continue;
        columns_compare(run, (enum column) i, &b->in, &b->got, &b->want);
        run_hash(run, b->got.of[i], b->got.elements[i] * b->got.bytes[i]);
    }
    run_hash_number(run, b->needed);
}

void run_batch(struct run *run, const struct step *step)
{
    AUTO(batch_free) struct batch b = batch_begin(run, step);

    expect(run, &b);
    if (lacks_order(run, &b))
        do_without_order(run, &b);
    else
        call_and_check(run, &b);
    if (step->kind == STEP_EXPORT && b.status == ORDO_OK)
        model_put_in_order(run->dict, run->s->type, run->s->value_bytes, b.got.of[COL_RANGE_KEYS],
                           b.got.of[COL_RANGE_VALUES], b.needed);
    columns_check_guards(run, &b.got);
    spoil(run, step, &b.got);
    compare_outputs(run, &b);
}
