/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on dictionaries of strings with events that fail (events_driver.h) or come late. */
#include "tests/faults/events_driver.h"

#include "ordo/string_dict.h"

#include <pthread.h>
#include <stdio.h>

enum { STORED = 500, BATCH = 300, MOST = STORED + BATCH, LENGTH_MAX = 8 };

struct content {
    uint64_t offsets[MOST + 1];
    uint8_t  bytes[MOST * LENGTH_MAX];
    uint32_t values[MOST];
    size_t   count, needed;
};

/* A batch as a call takes it. */
struct batch {
    uint32_t offsets[BATCH + 1], values[BATCH];
    uint8_t  bytes[BATCH * LENGTH_MAX];
};

enum { OFFSETS, BYTES, VALUES, N_INPUTS, OFFSETS_OUT = N_INPUTS, BYTES_OUT, NUMBERS, COUNTS, FLAGS, N_ARRAYS };

static const struct {
    const char *name;
    size_t      count, bytes;
} arrays[N_ARRAYS] = {
    { "offsets", BATCH + 1, 4 },
    { "bytes", (size_t) BATCH *LENGTH_MAX, 1 },
    { "values", BATCH, 4 },
    { "offsets_out", MOST + 1, 8 },
    { "bytes_out", (size_t) MOST *LENGTH_MAX, 1 },
    { "numbers", MOST, 4 },
    { "counts", BATCH, 4 },
    { "flags", BATCH, 1 },
};

struct fixture {
    ordo_string_dict *dict; /* has two runs and stale strings */
    struct test_array array[N_ARRAYS];
};

/* The outcome of a call: its outputs, and the content after it. */
struct outcome {
    uint8_t        output[N_ARRAYS][MOST * LENGTH_MAX + LENGTH_MAX];
    struct content content;
};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct ordo_slice slice(const struct fixture *f, int array)
{
    return test_slice(&f->array[array]);
}

static struct ordo_strings column(const struct fixture *f)
{
    return (struct ordo_strings) { slice(f, OFFSETS), 4, slice(f, BYTES), arrays[BYTES].count, BATCH };
}

static struct ordo_string_elements elements(const struct fixture *f)
{
    return (struct ordo_string_elements) { slice(f, OFFSETS_OUT), slice(f, BYTES_OUT), arrays[BYTES_OUT].count,
                                           slice(f, NUMBERS) };
}

static ordo_status build(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_build(f->dict, c, slice(f, VALUES), order);
}

static ordo_status upsert(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_upsert(f->dict, c, slice(f, VALUES), order);
}

static ordo_status upsert_few(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    struct ordo_strings few = *c;
    few.count = 3;
    return ordo_string_dict_upsert(f->dict, &few, slice(f, VALUES), order);
}

static ordo_status erase(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_erase(f->dict, c, order);
}

static ordo_status cleanup(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    (void) c;
    return ordo_string_dict_cleanup(f->dict, order);
}

static ordo_status select_ranks(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    const struct ordo_string_elements out = elements(f);
    (void) c;
    return ordo_string_dict_select(f->dict, slice(f, VALUES), BATCH, &out, slice(f, FLAGS), NULL, order);
}

static ordo_status export_all(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    const struct ordo_string_elements out = elements(f);
    size_t                            count = 0, needed = 0;
    (void) c;
    return ordo_string_dict_export(f->dict, &out, MOST, &count, &needed, order);
}

static ordo_status check(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    (void) c;
    return ordo_string_dict_check(f->dict, order);
}

static ordo_status find(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_find(f->dict, c, slice(f, COUNTS), slice(f, FLAGS), order);
}

static ordo_status search(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_search(f->dict, ORDO_STRING_LONGEST_PREFIX, c, slice(f, COUNTS), order);
}

static ordo_status prefix(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_prefix(f->dict, c, slice(f, NUMBERS), slice(f, COUNTS), order);
}

static ordo_status range(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_string_dict_range(f->dict, c, c, slice(f, NUMBERS), slice(f, COUNTS), order);
}

/* The first N_BLOCKING calls block. The first N_UPDATES of them may change the dictionary. */
enum { N_UPDATES = 5, N_BLOCKING = 8 };

static const struct string_call {
    const char *name;
    ordo_status (*run)(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order);
} calls[] = {
    { "build", build },       { "upsert", upsert },   { "upsert of few", upsert_few },
    { "erase", erase },       { "cleanup", cleanup }, { "select", select_ranks },
    { "export", export_all }, { "check", check },     { "find", find },
    { "search", search },     { "prefix", prefix },   { "range", range },
};

static ordo_status run(struct fixture *f, const struct string_call *call, const struct ordo_order *order)
{
    const struct ordo_strings c = column(f);
    return call->run(f, &c, order);
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* Strings of 1 to LENGTH_MAX bytes, with numbers from `from` on in base 5. Values are ranks for select. */
static void fill(struct batch *b, uint32_t from, uint32_t count)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        b->offsets[i] = end;
        b->values[i] = i * 7 % MOST;
        for (uint32_t rest = from + i + 1; rest > 0; rest /= 5)
            b->bytes[end++] = (uint8_t) (rest % 5);
    }
    b->offsets[count] = end;
}

static void upsert_host(struct test *t, ordo_string_dict *dict, uint32_t from, uint32_t count)
{
    static struct batch b;
    fill(&b, from, count);
    test_ok(t, ordo_string_dict_upsert_host(
                   dict, &(struct ordo_host_strings) { b.offsets, 4, b.bytes, sizeof b.bytes, count }, b.values));
}

static void read_content(struct test *t, ordo_string_dict *dict, struct content *c)
{
    memset(c, 0, sizeof *c);
    test_ok(t, ordo_string_dict_check(dict, NULL));
    test_ok(t, ordo_string_dict_export_host(
                   dict, &(struct ordo_host_string_elements) { c->offsets, c->bytes, sizeof c->bytes, c->values }, MOST,
                   &c->count, &c->needed));
}

/* The batch of the call: half of its strings are stored. */
static const struct batch *batch_of_calls(void)
{
    static struct batch b;
    fill(&b, STORED - BATCH / 2, BATCH);
    return &b;
}

/* If `late`, the inputs are uploaded as a batch of empty strings, and the caller writes them. */
static void fixture_begin(struct test *t, struct fixture *f, bool late)
{
    const struct batch       *b = batch_of_calls();
    const void *const         inputs[N_INPUTS] = { b->offsets, b->bytes, b->values };
    static const struct batch empty;
    const void *const         nothing[N_INPUTS] = { empty.offsets, empty.bytes, empty.values };
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &f->dict));
    for (uint32_t from = 0; from < STORED; from += BATCH)
        upsert_host(t, f->dict, from, STORED - from < BATCH ? STORED - from : BATCH);
    test_ok(t, ordo_string_dict_cleanup(f->dict, NULL));
    upsert_host(t, f->dict, 10, 40);
    for (int i = 0; i < N_ARRAYS; i++)
        f->array[i] = test_upload(t,
                                  i >= N_INPUTS ? NULL
                                  : late        ? nothing[i]
                                                : inputs[i],
                                  arrays[i].count, arrays[i].bytes, (size_t) i % 4);
}

static void fixture_end(struct fixture *f)
{
    ordo_string_dict_destroy(&f->dict);
    for (int i = 0; i < N_ARRAYS; i++)
        test_free(&f->array[i]);
}

static void read_outcome(struct test *t, struct fixture *f, struct outcome *o)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < N_ARRAYS; i++)
        test_download(t, &f->array[i], o->output[i]);
    read_content(t, f->dict, &o->content);
}

static void expect_content(struct test *t, struct fixture *f, const struct content *want)
{
    static struct content now;
    read_content(t, f->dict, &now);
    test_true(t, memcmp(&now, want, sizeof now) == 0);
}

static void expect_outcome(struct test *t, struct fixture *f, const struct outcome *want)
{
    static struct outcome now;
    read_outcome(t, f, &now);
    for (int i = 0; i < N_ARRAYS; i++)
        test_same_bytes(t, arrays[i].name, now.output[i], want->output[i], arrays[i].count * arrays[i].bytes);
    test_true(t, memcmp(&now.content, &want->content, sizeof now.content) == 0);
}

/* The content before a call, and the outcome of the call without events. */
static struct content full;
static struct outcome after;

static void learn(struct test *t, const struct string_call *call)
{
    struct fixture f;
    test_context(t, "%s of strings", call->name);
    fixture_begin(t, &f, false);
    read_content(t, f.dict, &full);
    test_ok(t, run(&f, call, NULL));
    read_outcome(t, &f, &after);
    fixture_end(&f);
}

/* ---- an event of the list fails ---------------------------------------------------------------------------------- */

/* A call that blocks waits for the event on the host, and enqueues nothing. */
static void fail_listed(struct test *t, const struct string_call *call, enum manner manner)
{
    struct fixture f;
    test_context(t, "%s of strings, driver '%s'", call->name, manner_name[manner]);
    fixture_begin(t, &f, false);
    test_ok(t, ordo_device_trim(t->dev));
    const struct ordo_order order = events_begin(t, manner, 0);
    const ordo_status       got = run(&f, call, &order);
    test_true(t, got == ORDO_OPENCL && driver.waits == 1 && driver.commands == 0);
    expect_content(t, &f, &full);
    test_ok(t, run(&f, call, NULL));
    expect_outcome(t, &f, &after);
    fixture_end(&f);
    events_end(t);
}

DEVICE_TEST(events, that_fail_leave_strings_unchanged)
{
    for (size_t i = 0; i < N_BLOCKING; i++) {
        learn(t, &calls[i]);
        for (int manner = 0; manner < N_MANNERS; manner++)
            fail_listed(t, &calls[i], (enum manner) manner);
    }
}

/* ---- another command of the queue fails -------------------------------------------------------------------------- */

/* A command of the caller waits for an event that fails before command `at` of the update behind it. Returns the number
 * of the update's commands. */
static unsigned long drop_update(struct test *t, const struct string_call *call, unsigned long at)
{
    cl_command_queue queue = test_queue(t, 0);
    struct fixture   f;
    test_context(t, "%s of strings, dropped up to command %lu", call->name, at);
    fixture_begin(t, &f, false);
    const struct ordo_order own = events_begin(t, BEHIND, at ? at + 1 : 0);
    test_true(t, clEnqueueMarkerWithWaitList(queue, 1, own.wait, NULL) == CL_SUCCESS);
    const ordo_status   got = run(&f, call, &(struct ordo_order) { .queue = queue });
    const unsigned long commands = driver.commands - 1;
    driver.struck = true;
    expect_content(t, &f, got == ORDO_OK ? &after.content : &full);
    fixture_end(&f);
    events_end(t);
    (void) clReleaseCommandQueue(queue);
    return commands;
}

DEVICE_TEST(events, of_other_commands_that_fail_leave_strings_unchanged)
{
    unsigned long tried = 0;
    for (size_t i = 0; i < N_UPDATES; i++) {
        learn(t, &calls[i]);
        const unsigned long commands = drop_update(t, &calls[i], 0);
        const unsigned long stride = test_wants_all("ORDO_TEST_EVENTS") ? 1 : commands / 12 + 1;
        for (unsigned long at = 1 + t->seed % stride; at <= commands; at += stride, tried++)
            (void) drop_update(t, &calls[i], at);
    }
    (void) fprintf(stderr, "events: %lu updates of strings that were dropped in part\n", tried);
    test_true(t, tried > N_UPDATES);
}

/* ---- another thread sets the event ------------------------------------------------------------------------------- */

/* In a queue without order, another thread lets the inputs be written. The call waits for them, and a read of an output
 * waits for order->done. */
static void come_late(struct test *t, const struct string_call *call)
{
    cl_command_queue    queue = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const struct batch *b = batch_of_calls();
    const void *const   inputs[N_INPUTS] = { b->offsets, b->bytes, b->values };
    cl_event            gate = NULL, written[N_INPUTS], done = NULL;
    cl_int              code = CL_SUCCESS;
    uint32_t            counts[BATCH];
    struct fixture      f;
    pthread_t           setter;
    if (!queue)
        test_skip("the device has no queue without order");
    test_context(t, "%s of strings that come late", call->name);
    fixture_begin(t, &f, true);
    gate = clCreateUserEvent(ordo_device_context(t->dev), &code);
    for (int i = 0; i < N_INPUTS; i++)
        test_true(t, clEnqueueWriteBuffer(queue, f.array[i].mem, CL_FALSE, f.array[i].at * arrays[i].bytes,
                                          arrays[i].count * arrays[i].bytes, inputs[i], 1, &gate,
                                          &written[i]) == CL_SUCCESS);
    test_true(t, clFlush(queue) == CL_SUCCESS && pthread_create(&setter, NULL, events_set_later, gate) == 0);
    const struct ordo_order order = { .queue = queue, .n_wait = N_INPUTS, .wait = written, .done = &done };
    test_ok(t, run(&f, call, &order));
    test_true(t, clEnqueueReadBuffer(queue, f.array[COUNTS].mem, CL_TRUE, f.array[COUNTS].at * 4, sizeof counts, counts,
                                     1, &done, NULL) == CL_SUCCESS);
    test_same_bytes(t, "counts", counts, after.output[COUNTS], sizeof counts);
    expect_outcome(t, &f, &after);
    (void) pthread_join(setter, NULL);
    (void) clReleaseEvent(done);
    (void) clReleaseEvent(gate);
    for (int i = 0; i < N_INPUTS; i++)
        (void) clReleaseEvent(written[i]);
    fixture_end(&f);
    (void) clReleaseCommandQueue(queue);
}

DEVICE_TEST(events, that_come_late_hold_calls_on_strings_back)
{
    for (size_t i = 0; i < LENGTH(calls); i++) {
        learn(t, &calls[i]);
        come_late(t, &calls[i]);
    }
}
