/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on strings, and on their indexes and dictionaries, with events that fail (events_driver.h) or come late. */
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
    uint32_t offsets[BATCH + 1], values[BATCH], ids[BATCH];
    uint8_t  bytes[BATCH * LENGTH_MAX];
};

enum { OFFSETS, BYTES, VALUES, IDS, N_INPUTS, OFFSETS_OUT = N_INPUTS, BYTES_OUT, NUMBERS, COUNTS, FLAGS, N_ARRAYS };

static const struct {
    const char *name;
    size_t      count, bytes;
} arrays[N_ARRAYS] = {
    { "offsets", BATCH + 1, 4 },    { "bytes", (size_t) BATCH *LENGTH_MAX, 1 },
    { "values", BATCH, 4 },         { "ids", BATCH, 4 },
    { "offsets_out", MOST + 1, 8 }, { "bytes_out", (size_t) MOST *LENGTH_MAX, 1 },
    { "numbers", MOST, 4 },         { "counts", BATCH, 4 },
    { "flags", BATCH, 1 },
};

struct fixture {
    ordo_device       *dev;
    ordo_string_dict  *dict;  /* has two runs and stale strings */
    ordo_string_index *index; /* of the batch of the calls */
    struct test_array  array[N_ARRAYS];
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

static ordo_status sort(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_sort_strings(f->dev, ordo_sort_strings_params(.descending = true), c, slice(f, COUNTS), slice(f, FLAGS),
                             order);
}

/* Builds an index, and then finds the strings of its column in the same queue. */
static ordo_status index_by(struct fixture *f, const struct ordo_string_index_params *params,
                            const struct ordo_strings *c, const struct ordo_order *order)
{
    const struct ordo_order built = { order ? order->queue : NULL, order ? order->n_wait : 0,
                                      order ? order->wait : NULL, NULL };
    ordo_string_index *index = NULL;
    ordo_status        got = ordo_string_index_build(f->dev, params, c, &built, &index);
    if (got == ORDO_OK)
        got = ordo_string_index_search(index, ORDO_STRING_FIND, c, slice(f, COUNTS), order);
    ordo_string_index_destroy(&index);
    return got;
}

static ordo_status index_bits(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return index_by(f, ordo_string_index_params(.keep_rows = true), c, order);
}

static ordo_status index_partial(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return index_by(f, ordo_string_index_params(.partial = { .key_bytes = 4, .page_keys = 16 }), c, order);
}

static ordo_status strings_of(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    (void) c;
    return ordo_string_index_strings(f->index, slice(f, IDS), BATCH, slice(f, OFFSETS_OUT), slice(f, BYTES_OUT),
                                     arrays[BYTES_OUT].count, NULL, order);
}

static ordo_status rows_of(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order)
{
    return ordo_gather_strings(f->dev, c, slice(f, IDS), BATCH, slice(f, OFFSETS_OUT), slice(f, BYTES_OUT),
                               arrays[BYTES_OUT].count, NULL, order);
}

enum { N_BLOCKING = 13 }; /* the first calls block */

static const struct string_call {
    const char *name;
    ordo_status (*run)(struct fixture *f, const struct ordo_strings *c, const struct ordo_order *order);
} calls[] = {
    { "build", build },       { "upsert", upsert },       { "upsert of few", upsert_few },
    { "erase", erase },       { "cleanup", cleanup },     { "select", select_ranks },
    { "export", export_all }, { "check", check },         { "sort", sort },
    { "index", index_bits },  { "index", index_partial }, { "gather", strings_of },
    { "gather", rows_of },    { "find", find },           { "search", search },
    { "prefix", prefix },     { "range", range },
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
        b->ids[i] = i * 7 % count;
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
    const void *const         inputs[N_INPUTS] = { b->offsets, b->bytes, b->values, b->ids };
    static const struct batch empty;
    const void *const         nothing[N_INPUTS] = { empty.offsets, empty.bytes, empty.values, empty.ids };
    f->dev = t->dev;
    test_ok(t, ordo_string_index_build_host(
                   t->dev, ordo_string_index_params(0),
                   &(struct ordo_host_strings) { b->offsets, 4, b->bytes, sizeof b->bytes, BATCH }, &f->index));
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
    ordo_string_index_destroy(&f->index);
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

/* A command of the caller waits for an event that fails while the call waits for this command. No command of the call
 * is dropped. */
static void run_behind(struct test *t, const struct string_call *call)
{
    cl_command_queue queue = test_queue(t, 0);
    struct fixture   f;
    test_context(t, "%s of strings behind a command that fails", call->name);
    fixture_begin(t, &f, false);
    const struct ordo_order own = events_begin(t, BEHIND, 0);
    test_true(t, clEnqueueMarkerWithWaitList(queue, 1, own.wait, NULL) == CL_SUCCESS);
    test_ok(t, run(&f, call, &(struct ordo_order) { .queue = queue }));
    test_true(t, driver.waits == 1 && driver.dropped == 2);
    test_true(t, clFinish(queue) == CL_SUCCESS);
    expect_outcome(t, &f, &after);
    fixture_end(&f);
    events_end(t);
    (void) clReleaseCommandQueue(queue);
}

DEVICE_TEST(events, of_other_commands_that_fail_drop_no_part_of_a_call_on_strings)
{
    for (size_t i = 0; i < N_BLOCKING; i++) {
        learn(t, &calls[i]);
        run_behind(t, &calls[i]);
    }
}

/* ---- another thread sets the event ------------------------------------------------------------------------------- */

/* In a queue without order, another thread lets the inputs be written. The call waits for them, and a read of an output
 * waits for order->done. */
static void come_late(struct test *t, const struct string_call *call)
{
    cl_command_queue    queue = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const struct batch *b = batch_of_calls();
    const void *const   inputs[N_INPUTS] = { b->offsets, b->bytes, b->values, b->ids };
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

/* A search waits for an event that comes late. Statistics of the index behind it wait too. */
DEVICE_TEST(events, that_come_late_hold_statistics_of_an_index_back)
{
    cl_int                                             code = CL_SUCCESS;
    cl_event                                           event = clCreateUserEvent(ordo_device_context(t->dev), &code);
    const struct ordo_order                            order = { .n_wait = 1, .wait = &event };
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
    struct ordo_string_index_statistics                statistics;
    struct fixture                                     f;
    pthread_t                                          setter;
    fixture_begin(t, &f, false);
    const struct ordo_strings c = column(&f);
    test_ok(t,
            ordo_string_index_build(t->dev, ordo_string_index_params(.partial = { .key_bytes = 4 }), &c, NULL, &index));
    test_ok(t, ordo_string_index_search(index, ORDO_STRING_FIND, &c, slice(&f, COUNTS), &order));
    test_true(t, code == CL_SUCCESS && pthread_create(&setter, NULL, events_set_later, event) == 0);
    test_ok(t, ordo_string_index_get_statistics(index, &statistics));
    test_true(t, statistics.ids == BATCH && statistics.compared >= BATCH);
    (void) pthread_join(setter, NULL);
    (void) clReleaseEvent(event);
    fixture_end(&f);
}
