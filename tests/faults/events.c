/* SPDX-License-Identifier: Apache-2.0 */
/* Events in order->wait that fail. What a driver does then is not the same everywhere, and the drivers at hand crash or hang,
 * so the test stands between the library and the driver (the linker's --wrap) and does it for them:
 *
 *   LISTED    commands with an event that fails in their wait list are not done; their own events fail
 *   BEHIND    nor are those that are enqueued behind such a one in its queue until the event fails
 *   REFUSED   as BEHIND, and what is enqueued with a failed event in its list is refused
 *
 * The event fails before command `strike` of all that follow, of which each has its turn: in the middle of the call that
 * waits for it, of the next one on the queue, or after both. Calls that are made from then on must be right, and until then
 * nothing may be written outside of the arrays.
 *
 * Some calls on dictionaries meet each manner at each command, every other call each manner at some (ORDO_TEST_EVENTS=all: at
 * each). With the driver as it is every call is held back by an event that comes late. */
#include "tests/dict/dict_case.h"
#include "tests/support/calls.h"

#include "runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* ---- a driver whose events fail ---------------------------------------------------------------------------------- */

enum manner { LISTED, BEHIND, REFUSED, N_MANNERS };
static const char *const manner_name[N_MANNERS] = { "listed", "behind", "refused" };

enum { DOOMED = 4096, CODE = -77 };

static struct {
    bool             active, struck, complete; /* complete: events are there after all, instead of having failed */
    enum manner      manner;
    unsigned long    commands, strike; /* enqueued since it is active; before which the event fails, 0: none */
    unsigned long    dropped;
    cl_event         doomed[DOOMED]; /* retained: events that fail, and have failed once it struck */
    size_t           n_doomed;
    cl_command_queue blocked; /* has a command that waits for one */
} driver;

static bool is_doomed(cl_event event)
{
    for (size_t i = 0; i < driver.n_doomed; i++)
        if (driver.doomed[i] == event)
            return true;
    return false;
}

static bool has_doomed(cl_uint n, const cl_event *wait)
{
    for (cl_uint i = 0; i < n; i++)
        if (is_doomed(wait[i]))
            return true;
    return false;
}

static cl_event doom(cl_context context)
{
    cl_int code = CL_SUCCESS;

    cr_assert(driver.n_doomed < DOOMED);
    cl_event event = clCreateUserEvent(context, &code);
    cr_assert(code == CL_SUCCESS && clRetainEvent(event) == CL_SUCCESS);
    return driver.doomed[driver.n_doomed++] = event;
}

enum fate { DONE, DROPPED, NOT_TAKEN };

/* What becomes of a command; one that is dropped hands out an event that fails. */
static enum fate fate_of(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
{
    if (!driver.active)
        return DONE;
    const bool listed = has_doomed(n, wait);
    driver.struck = driver.struck || ++driver.commands == driver.strike;
    if (listed && driver.struck && driver.manner == REFUSED)
        return NOT_TAKEN;
    if (!listed && (driver.manner == LISTED || driver.struck || driver.blocked != queue))
        return DONE;
    if (!driver.struck)
        driver.blocked = queue;
    driver.dropped++;
    if (done) {
        cl_context context = NULL;
        cr_assert(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, (void *) &context, NULL) ==
                  CL_SUCCESS);
        *done = doom(context);
    }
    return DROPPED;
}

/* Commands that are done wait for nothing: what is not doomed is done already, as the queue is in order. */
#define COMMAND(name, waits, params, args)                                                                             \
    cl_int CL_API_CALL __real_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params                                                                            \
    {                                                                                                                  \
        const enum fate fate = fate_of(queue, n, wait, done);                                                          \
        if (driver.active && (waits)) /* until the event fails */                                                      \
            driver.struck = true;                                                                                      \
        if (fate == NOT_TAKEN || (fate == DROPPED && (waits)))                                                         \
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;                                                       \
        if (driver.active) {                                                                                           \
            n = 0;                                                                                                     \
            wait = NULL;                                                                                               \
        }                                                                                                              \
        return fate == DROPPED ? CL_SUCCESS : __real_##name args;                                                      \
    }
#define WAITS_PARAMS cl_uint n, const cl_event *wait, cl_event *done
#define WAITS        n, wait, done

COMMAND(clEnqueueNDRangeKernel, false,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *from, const size_t *global,
         const size_t *local, WAITS_PARAMS),
        (queue, kernel, dims, from, global, local, WAITS))
COMMAND(clEnqueueReadBuffer, blocking,
        (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, void *to, WAITS_PARAMS),
        (queue, mem, blocking, at, size, to, WAITS))
COMMAND(clEnqueueWriteBuffer, blocking,
        (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, const void *from, WAITS_PARAMS),
        (queue, mem, blocking, at, size, from, WAITS))
COMMAND(clEnqueueFillBuffer, false,
        (cl_command_queue queue, cl_mem mem, const void *pattern, size_t bytes, size_t at, size_t size, WAITS_PARAMS),
        (queue, mem, pattern, bytes, at, size, WAITS))
COMMAND(clEnqueueCopyBuffer, false,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size, WAITS_PARAMS),
        (queue, from, to, from_at, to_at, size, WAITS))
COMMAND(clEnqueueMarkerWithWaitList, false, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))
COMMAND(clEnqueueBarrierWithWaitList, false, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))

cl_int CL_API_CALL __real_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have)
{
    const cl_int got = __real_clGetEventInfo(of, what, size, to, have);

    if (driver.active && got == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && driver.struck &&
        is_doomed(of))
        *(cl_int *) to = driver.complete ? CL_COMPLETE : CODE;
    return got;
}

/* The order of a call that waits for an event which fails before command `strike`. */
static struct ordo_order begin(const struct test *t, enum manner manner, unsigned long strike)
{
    driver.active = true;
    driver.struck = driver.complete = false;
    driver.manner = manner;
    driver.strike = strike;
    driver.commands = driver.dropped = 0;
    driver.blocked = NULL;
    (void) doom(ordo_device_context(t->dev));
    return (struct ordo_order) { .n_wait = 1, .wait = &driver.doomed[driver.n_doomed - 1] };
}

static void strike(void)
{
    driver.struck = true;
}

/* After this all is as it is with a driver whose events do not fail, but that those that failed have. The library keeps none
 * of them; the driver is told that they are there, as a real one may wait for them when the process ends (NVIDIA's, for ever). */
static void end(struct test *t)
{
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev)); /* it asks what became of the event */
    (void) clReleaseEvent(driver.doomed[0]);
    for (size_t i = 0; i < driver.n_doomed; i++) {
        cl_uint references = 0;
        (void) clGetEventInfo(driver.doomed[i], CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
        test_true(t, references == 1);
        (void) clSetUserEventStatus(driver.doomed[i], CL_COMPLETE);
        (void) clReleaseEvent(driver.doomed[i]);
    }
    driver.n_doomed = 0;
    driver.active = false;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------- */

/* Elements: in the quick ring fewer, so that a few calls take a launch less. */
static size_t many(void)
{
    return test_wants_all("ORDO_TEST_EVENTS") ? 40000 : 20000;
}

struct arrays {
    const struct array_call *call;
    struct test_array        array[CALL_ARRAYS];
    struct ordo_slice        slice[CALL_ARRAYS];
    void                    *held[CALL_ARRAYS]; /* what inputs hold, and right outputs */
    size_t                   n;
};

static size_t bytes_of(const struct arrays *a, size_t i)
{
    return a->array[i].count * a->array[i].bytes;
}

static void make_arrays(struct test *t, const struct array_call *call, struct arrays *a)
{
    *a = (struct arrays) { .call = call, .n = call_arrays(call) };
    for (size_t i = 0; i < a->n; i++) {
        const size_t count = call_array_count(&call->array[i], many());
        a->held[i] = test_alloc(count * call->array[i].bytes);
        memset(a->held[i], TEST_EMPTY, count * call->array[i].bytes);
    }
    call_fill(t, call, many(), many(), a->held);
    for (size_t i = 0; i < a->n; i++) {
        a->array[i] = test_upload(t, a->held[i], call_array_count(&call->array[i], many()), call->array[i].bytes, 3);
        a->slice[i] = test_slice(&a->array[i]);
    }
}

static void free_arrays(struct arrays *a)
{
    for (size_t i = 0; i < a->n; i++) {
        test_free(&a->array[i]);
        free(a->held[i]);
    }
}

static ordo_status run(struct test *t, const struct arrays *a, const struct ordo_order *order)
{
    struct given g = call_given(t->dev, NULL, many());

    g.order = order;
    return a->call->run(&g, a->slice);
}

/* Reads what the arrays hold, into `held` or to compare with it. Guards must be as they were. */
static void look(struct test *t, struct arrays *a, bool compare)
{
    for (size_t i = 0; i < a->n; i++) {
        void *now = test_alloc(bytes_of(a, i));
        test_download(t, &a->array[i], now);
        if (compare)
            test_same_bytes(t, a->call->array[i].name, now, a->held[i], bytes_of(a, i));
        else if (a->call->array[i].output)
            memcpy(a->held[i], now, bytes_of(a, i));
        free(now);
    }
}

/* Whether an error is one that the event's failure explains. */
static bool explained(ordo_status got)
{
    return got == ORDO_OK || got == ORDO_OPENCL;
}

/* The call with an event that fails, and again behind it; then as it should be, twice. Returns the commands that it took. */
static unsigned long try_arrays(struct test *t, struct arrays *a, enum manner manner, unsigned long at)
{
    test_context(t, "%s, driver '%s', the event fails before command %lu", a->call->name, manner_name[manner], at);
    test_ok(t, ordo_device_trim(t->dev));
    const struct ordo_order waits = begin(t, manner, at);
    test_true(t, explained(run(t, a, &waits)));
    test_true(t, explained(run(t, a, NULL)));
    const unsigned long commands = driver.commands;
    strike();
    for (int again = 0; again < 2; again++) {
        test_ok(t, run(t, a, NULL));
        look(t, a, true);
    }
    test_true(t, driver.dropped > 0 || at == 1);
    end(t);
    return commands;
}

/* Whether the event fails before this command with this manner of drivers: each command meets one of them, and all commands of a call
 * all; with ORDO_TEST_EVENTS=all each meets each. */
static bool command_is_tried(const struct test *t, size_t call, int manner, unsigned long at)
{
    return test_wants_all("ORDO_TEST_EVENTS") || (call + (size_t) manner + at + t->seed) % N_MANNERS == 0;
}

static void arrays_and_events(struct test *t)
{
    unsigned long tried = 0;

    test_look_back(t);
    if (t->facts->groups_progress && !t->facts->cpu)
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", ORDO_SORT_ONESWEEP));
    for (size_t i = 0; i < n_primitive_calls; i++) {
        struct arrays a;
        make_arrays(t, &primitive_calls[i], &a);
        test_ok(t, run(t, &a, NULL));
        look(t, &a, false);
        for (int manner = 0; manner < N_MANNERS; manner++) {
            const unsigned long commands = try_arrays(t, &a, (enum manner) manner, 0);
            for (unsigned long at = 1; at <= commands; at++)
                if (command_is_tried(t, i, manner, at)) {
                    (void) try_arrays(t, &a, (enum manner) manner, at);
                    tried++;
                }
        }
        free_arrays(&a);
    }
    fprintf(stderr, "events: %lu calls over arrays with an event that failed\n", tried);
    test_true(t, tried >= n_primitive_calls); /* fewer commands where there are groups */
}

Test(events, that_fail_leave_nothing_wrong_behind)
{
    test_each_device_with("cpu=0,progress=1", arrays_and_events);
}

Test(events, that_fail_leave_nothing_wrong_behind_on_a_device_as_it_is)
{
    test_each_device(arrays_and_events);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------- */

enum { HELD = 3000, BATCH = 500 };

/* A batch for each call: numbers of elements, of which half are there. */
static uint32_t batch_number(uint32_t i)
{
    return HELD - BATCH / 2 + i;
}

struct batch {
    struct test_array in[2], out[2]; /* keys and values; values and flags, or counts */
};

static void make_batch(struct test *t, struct batch *b)
{
    uint32_t words[2][BATCH];

    for (uint32_t i = 0; i < BATCH; i++) {
        words[0][i] = key_of(batch_number(i));
        words[1][i] = value_of(batch_number(i)) + 1;
    }
    for (int a = 0; a < 2; a++)
        b->in[a] = test_upload(t, words[a], BATCH, 4, 0);
    b->out[0] = test_upload(t, NULL, BATCH, 4, 1);
    b->out[1] = test_upload(t, NULL, BATCH, 1, 1);
}

static void free_batch(struct batch *b)
{
    for (int a = 0; a < 2; a++) {
        test_free(&b->in[a]);
        test_free(&b->out[a]);
    }
}

/* Calls on a dictionary that do not wait, those that do, updates and queries. */
static ordo_status upsert(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    return ordo_dict_upsert(dict, test_slice(&b->in[0]), test_slice(&b->in[1]), BATCH, order);
}

static ordo_status erase(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    return ordo_dict_erase(dict, test_slice(&b->in[0]), BATCH, order);
}

/* Call behind call, which merge what those before have left, and give the room for it back. */
static ordo_status churn(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    ordo_status got = upsert(dict, b, order);

    for (int more = 0; more < 6 && got == ORDO_OK; more++)
        got = upsert(dict, b, NULL);
    return got;
}

static ordo_status find(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    return ordo_dict_find(dict, test_slice(&b->in[0]), BATCH, test_slice(&b->out[0]), test_slice(&b->out[1]), order);
}

static ordo_status count(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    return ordo_dict_count(dict, test_slice(&b->in[0]), test_slice(&b->in[0]), BATCH, test_slice(&b->out[0]), order);
}

static ordo_status compact(ordo_dict *dict, const struct batch *b, const struct ordo_order *order)
{
    (void) b;
    return ordo_dict_compact(dict, order);
}

static const struct {
    const char *name;
    ordo_status (*run)(ordo_dict *dict, const struct batch *b, const struct ordo_order *order);
} dict_runs[] = { { "upsert", upsert }, { "erase", erase }, { "churn", churn },
                  { "find", find },     { "count", count }, { "compact", compact } };

/* What a dictionary that had HELD elements has after this call. */
static void model_after(struct model *model, size_t run)
{
    uint32_t keys[BATCH], values[BATCH];

    *model = model_empty(ORDO_U32, 4);
    model_fill(model, 0, HELD);
    for (uint32_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(batch_number(i));
        values[i] = value_of(batch_number(i)) + 1;
    }
    if (dict_runs[run].run == erase)
        model_batch(model, ORDO_ERASE, keys, values, BATCH);
    else if (dict_runs[run].run == upsert || dict_runs[run].run == churn)
        model_batch(model, ORDO_UPSERT, keys, values, BATCH);
}

/* A call that waits for the event that fails, and one behind it: the first is done or not, and the dictionary has what that
 * makes of it. Then the call as it should be. */
static unsigned long try_dictionary(struct test *t, int structure, size_t run, const struct batch *b,
                                    const struct model *after, enum manner manner, unsigned long at)
{
    size_t size = 0;

    test_context(t, "%s, %s, driver '%s', the event fails before command %lu", structures[structure].name,
                 dict_runs[run].name, manner_name[manner], at);
    ordo_dict              *dict = make_dict(t, t->dev, structure, 0, HELD);
    const struct ordo_order waits = begin(t, manner, at);
    const ordo_status       first = dict_runs[run].run(dict, b, &waits);
    const unsigned long     dropped = driver.dropped;
    const ordo_status       second = find(dict, b, NULL);
    test_true(t, explained(first) && explained(second));
    const unsigned long commands = driver.commands;
    strike();
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    if ((first == ORDO_OK && dropped == 0) || (dict_runs[run].run == churn && size != HELD)) /* some were done */
        expect_content(t, dict, after);
    else
        expect_numbers(t, dict, 0, HELD);
    test_ok(t, dict_runs[run].run(dict, b, NULL));
    expect_content(t, dict, after);
    ordo_dict_destroy(&dict);
    end(t);
    return commands;
}

static void dictionaries_and_events(struct test *t)
{
    struct batch  b;
    unsigned long tried = 0;

    make_batch(t, &b);
    for (size_t run = 0; run < LENGTH(dict_runs); run++) {
        struct model after;
        model_after(&after, run);
        for (int structure = 0; structure < N_STRUCTURES; structure++)
            for (int manner = 0; manner < N_MANNERS; manner++) {
                if (dict_runs[run].run == count && structure_is(structure, NO_ORDER))
                    continue;
                const unsigned long commands = try_dictionary(t, structure, run, &b, &after, (enum manner) manner, 0);
                for (unsigned long at = 1; at <= commands; at++)
                    if (command_is_tried(t, run + (size_t) structure, manner, at)) {
                        (void) try_dictionary(t, structure, run, &b, &after, (enum manner) manner, at);
                        tried++;
                    }
            }
        model_free(&after);
    }
    fprintf(stderr, "events: %lu calls on dictionaries with an event that failed\n", tried);
    test_true(t, tried > 100);
    free_batch(&b);
}

Test(events, that_fail_leave_dictionaries_as_they_were)
{
    test_each_device(dictionaries_and_events);
}

/* ---- every other call on a dictionary ------------------------------------------------------------------------------ */

enum { SCENE_HELD = 1200 }; /* for which outputs have room */

/* A dictionary's elements, in order. */
struct content {
    size_t   count;
    uint32_t keys[SCENE_HELD + 2 * BATCH], values[SCENE_HELD + 2 * BATCH];
};

/* One call of calls.c on one structure: what its arrays hold before, and what they hold and the dictionary has after it. */
struct scene {
    struct array_call   call;
    int                 structure;
    const struct batch *next; /* of a call that is made behind it */
    ordo_dict          *dict;
    size_t              n;
    struct test_array   array[CALL_ARRAYS];
    void               *before[CALL_ARRAYS], *after[CALL_ARRAYS];
    struct content      full, changed;
};

static void read_content(struct test *t, ordo_dict *dict, struct content *c)
{
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_export_host(dict, c->keys, c->values, LENGTH(c->keys), &c->count));
    model_put_in_order(dict, ORDO_U32, 4, c->keys, c->values, c->count);
}

static bool same_content(const struct content *a, const struct content *b)
{
    return a->count == b->count && memcmp(a->keys, b->keys, a->count * sizeof *a->keys) == 0 &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0;
}

static bool content_is(struct test *t, const struct scene *s, const struct content *want)
{
    static struct content now;

    read_content(t, s->dict, &now);
    return same_content(&now, want);
}

/* The dictionary and the arrays as they are before each call. An LSM has several runs. */
static void scene_begin(struct test *t, struct scene *s)
{
    uint32_t keys[BATCH], values[BATCH];

    s->dict = make_dict(t, t->dev, s->structure, 0, SCENE_HELD);
    for (uint32_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(3 * i);
        values[i] = i;
    }
    test_ok(t, ordo_dict_upsert_host(s->dict, keys, values, BATCH));
    for (size_t i = 0; i < s->n; i++)
        s->array[i] =
            test_upload(t, s->before[i], call_array_count(&s->call.array[i], BATCH), s->call.array[i].bytes, i);
}

static void scene_end(struct scene *s)
{
    ordo_dict_destroy(&s->dict);
    for (size_t i = 0; i < s->n; i++)
        test_free(&s->array[i]);
}

static ordo_status run_scene(struct test *t, const struct scene *s, const struct ordo_order *order)
{
    struct given      g = call_given(t->dev, s->dict, BATCH);
    struct ordo_slice slice[CALL_ARRAYS];

    for (size_t i = 0; i < s->n; i++)
        slice[i] = test_slice(&s->array[i]);
    g.order = order;
    return s->call.run(&g, slice);
}

/* That the call did what it does where nothing fails; guards of the arrays are as they were. */
static void expect_done(struct test *t, const struct scene *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t bytes = s->array[i].count * s->array[i].bytes;
        void        *now = test_alloc(bytes);
        test_download(t, &s->array[i], now);
        test_same_bytes(t, s->call.array[i].name, now, s->after[i], bytes);
        free(now);
    }
    test_true(t, content_is(t, s, &s->changed));
}

/* Learns what the call does. */
static void scene_make(struct test *t, struct scene *s, const struct array_call *call, int structure,
                       const struct batch *next)
{
    *s = (struct scene) { .next = next,
                          .call = structure_is(structure, NO_ORDER) ? call_without_order(call) : *call,
                          .structure = structure,
                          .n = call_arrays(call) };
    test_context(t, "%s of a %s", call->name, structures[structure].name);
    for (size_t i = 0; i < s->n; i++) {
        const size_t bytes = call_array_count(&call->array[i], BATCH) * call->array[i].bytes;
        s->before[i] = test_alloc(bytes);
        s->after[i] = test_alloc(bytes);
        memset(s->before[i], TEST_EMPTY, bytes);
    }
    call_fill(t, &s->call, BATCH, SCENE_HELD, s->before);
    scene_begin(t, s);
    read_content(t, s->dict, &s->full);
    test_ok(t, run_scene(t, s, NULL));
    for (size_t i = 0; i < s->n; i++)
        test_download(t, &s->array[i], s->after[i]);
    read_content(t, s->dict, &s->changed);
    scene_end(s);
}

static void scene_free(struct scene *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->before[i]);
        free(s->after[i]);
    }
}

static unsigned long n_lost; /* calls that were not done */

/* The call with an event that fails, and one behind it: it is done or not. Then, if it was not, as it should be, with arrays
 * that hold what they did. */
static unsigned long try_scene(struct test *t, struct scene *s, enum manner manner, unsigned long at)
{
    struct test_array stale[CALL_ARRAYS];
    size_t            size = 0;

    test_context(t, "%s of a %s, driver '%s', the event fails before command %lu", s->call.name,
                 structures[s->structure].name, manner_name[manner], at);
    scene_begin(t, s);
    const struct ordo_order waits = begin(t, manner, at);
    const ordo_status       first = run_scene(t, s, &waits);
    const bool              done = first == ORDO_OK && driver.dropped == 0;
    test_true(t, explained(first) && explained(find(s->dict, s->next, NULL)));
    const unsigned long commands = driver.commands;
    strike();
    test_ok(t, ordo_dict_size(s->dict, NULL, &size));
    n_lost += !done;
    if (!done) {
        test_true(t, content_is(t, s, &s->full));
        memcpy(stale, s->array, sizeof stale);
        for (size_t i = 0; i < s->n; i++)
            s->array[i] =
                test_upload(t, s->before[i], call_array_count(&s->call.array[i], BATCH), s->call.array[i].bytes, i);
        test_ok(t, run_scene(t, s, NULL));
        for (size_t i = 0; i < s->n; i++)
            test_free(&stale[i]);
    }
    expect_done(t, s);
    scene_end(s);
    end(t);
    return commands;
}

/* Those that dict_runs has not; a concurrent batch waits for its list before it begins. */
static bool call_is_tried(const struct array_call *call, int structure)
{
    static const char *const others[] = { "ordo_dict_upsert", "ordo_dict_erase", "ordo_dict_find", "ordo_dict_count" };

    for (size_t i = 0; i < LENGTH(others); i++)
        if (strcmp(call->name, others[i]) == 0)
            return false;
    return call->needs != ORDO_CAN_CONCURRENT && (call->needs != ORDO_CAN_ORDER || !structure_is(structure, NO_ORDER));
}

/* Each call on each structure meets each manner, at some of its commands; with ORDO_TEST_EVENTS=all at each. */
static unsigned long try_calls(struct test *t, size_t call, int structure, const struct batch *next)
{
    static struct scene s;
    const bool          all = test_wants_all("ORDO_TEST_EVENTS");
    unsigned long       tried = 0;

    scene_make(t, &s, &dict_calls[call], structure, next);
    for (int manner = 0; manner < N_MANNERS; manner++) {
        const unsigned long commands = try_scene(t, &s, (enum manner) manner, 0), stride = all ? 1 : commands / 3 + 1;
        for (unsigned long at = 1 + (call + (size_t) manner) % stride; at <= commands; at += stride, tried++)
            (void) try_scene(t, &s, (enum manner) manner, at);
    }
    scene_free(&s);
    return tried;
}

static void calls_and_events(struct test *t)
{
    struct batch  next;
    unsigned long tried = 0;

    n_lost = 0;
    make_batch(t, &next);
    for (size_t call = 0; call < n_dict_calls; call++)
        for (int structure = 0; structure < N_STRUCTURES; structure++)
            if (call_is_tried(&dict_calls[call], structure))
                tried += try_calls(t, call, structure, &next);
    free_batch(&next);
    fprintf(stderr, "events: %lu of all calls on dictionaries with an event that failed, %lu of which were lost\n",
            tried, n_lost);
    test_true(t, tried > 100 && n_lost > tried / 2);
}

Test(events, that_fail_leave_dictionaries_as_they_were_by_every_call)
{
    test_each_device(calls_and_events);
}

/* ---- behind an event that has not come ----------------------------------------------------------------------------- */

static void *set_later(void *event)
{
    const struct timespec while_the_call_begins = { .tv_nsec = 10000000 };

    (void) nanosleep(&while_the_call_begins, NULL);
    (void) clSetUserEventStatus(event, CL_COMPLETE);
    return NULL;
}

/* Each call may wait or not: once the event has come it has done what it does. */
static void behind(struct test *t)
{
    static struct scene s;

    for (size_t call = 0; call < n_dict_calls; call++)
        for (int structure = 0; structure < N_STRUCTURES; structure++) {
            cl_int    code = CL_SUCCESS;
            pthread_t setter;
            if (dict_calls[call].needs == ORDO_CAN_ORDER && structure_is(structure, NO_ORDER))
                continue;
            if (dict_calls[call].needs == ORDO_CAN_CONCURRENT && structure != BLINK)
                continue;
            scene_make(t, &s, &dict_calls[call], structure, NULL);
            scene_begin(t, &s);
            cl_event event = clCreateUserEvent(ordo_device_context(t->dev), &code);
            test_true(t, code == CL_SUCCESS && pthread_create(&setter, NULL, set_later, event) == 0);
            test_context(t, "%s of a %s behind an event", dict_calls[call].name, structures[structure].name);
            test_ok(t, run_scene(t, &s, &(struct ordo_order) { .wait = &event, .n_wait = 1 }));
            expect_done(t, &s);
            (void) pthread_join(setter, NULL);
            (void) clReleaseEvent(event);
            scene_end(&s);
            scene_free(&s);
        }
}

Test(events, that_come_late_hold_every_call_back)
{
    test_each_device(behind);
}

/* ---- buffers of calls that are taken back ------------------------------------------------------------------------- */

struct thing {
    cl_mem mem[2];
    int    calls;
};

/* A call on the thing that makes one of its buffers anew and lets go of the other. */
static void change(struct test *t, struct thing *thing, struct ordo_undo **undo, const struct ordo_order *order)
{
    struct ordo_call call;
    const int        made = ++thing->calls % 2;

    test_ok(t, ordo_call_begin(&call, t->dev, order));
    thing->calls--;
    ordo_undo_settle(t->dev, undo);
    test_ok(t, ordo_undo_begin(&call, undo, thing, sizeof *thing));
    test_ok(t, ordo_buffer_create(t->dev, 4096, &thing->mem[made]));
    test_ok(t, ordo_call_fill(&call, thing->mem[made], 0, 4096, 1));
    ordo_buffer_destroy(t->dev, &thing->mem[!made]);
    thing->calls++;
    test_ok(t, ordo_call_end(&call, ORDO_OK));
}

static void take_back(struct test *t, bool fails)
{
    struct thing       thing = { .calls = 0 };
    struct ordo_undo  *undo = NULL;
    struct ordo_call   call;
    struct ordo_memory before, during, after;
    uint32_t           word = 0;

    test_context(t, "buffers of calls whose event %s", fails ? "fails" : "comes after all");
    change(t, &thing, &undo, NULL);
    test_true(t, undo == NULL && thing.mem[1] != NULL && thing.mem[0] == NULL);
    test_ok(t, ordo_device_memory(t->dev, &before));
    const cl_mem            kept = thing.mem[1];
    const struct ordo_order waits = begin(t, LISTED, 0);
    change(t, &thing, &undo, &waits);
    change(t, &thing, &undo, NULL); /* lets go of what the one before has made */
    test_ok(t, ordo_device_memory(t->dev, &during));
    test_true(t, during.buffers == before.buffers + 2 && during.held_bytes == before.held_bytes + 8192);
    strike();
    driver.complete = !fails;
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    ordo_undo_settle(t->dev, &undo);
    test_true(t, undo == NULL);
    test_true(t, thing.calls == (fails ? 1 : 3) && thing.mem[0] == NULL && (thing.mem[1] == kept) == fails);
    test_ok(t, ordo_call_read(&call, thing.mem[1], 0, &word, sizeof word));
    test_true(t, word == 1 || !fails);
    test_ok(t, ordo_call_end(&call, ORDO_OK));
    test_ok(t, ordo_device_memory(t->dev, &after));
    test_true(t, after.buffers == before.buffers && after.held_bytes == before.held_bytes);
    ordo_buffer_destroy(t->dev, &thing.mem[1]);
    end(t);
}

static void buffers_and_events(struct test *t)
{
    take_back(t, true);
    take_back(t, false);
}

Test(events, that_fail_bring_buffers_back)
{
    test_each_device(buffers_and_events);
}
