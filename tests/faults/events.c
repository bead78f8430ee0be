/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on arrays and dictionaries with events that fail (events_driver.h). Each call is tried with each driver at some
 * of its commands, with ORDO_TEST_EVENTS=all at each. */
#include "tests/dict/dict_case.h"
#include "tests/faults/events_driver.h"
#include "tests/support/calls.h"

#include "dict/sorted_run.h"

#include <pthread.h>
#include <stdio.h>

/* ---- one call, on arrays or on a dictionary ---------------------------------------------------------------------- */

enum { HELD = 1200, BATCH = 500, MANY = 20000, NO_DICT = -1 };

struct content {
    size_t   count;
    uint32_t keys[HELD + 2 * BATCH], values[HELD + 2 * BATCH];
};

struct fixture {
    struct array_call   call;
    int                 structure; /* NO_DICT: a call on arrays */
    size_t              count;
    ordo_dict          *dict;
    struct call_strings strings;
    size_t              n;
    struct test_array   array[CALL_ARRAYS];
    void               *before[CALL_ARRAYS], *after[CALL_ARRAYS]; /* content of the arrays before and after the call */
    struct content      full, changed; /* content of the dictionary before and after the call */
    bool                changes;       /* the call may change the dictionary */
};

static size_t array_bytes(const struct fixture *s, size_t i)
{
    return call_array_count(&s->call.array[i], s->count) * s->call.array[i].bytes;
}

static void read_content(struct test *t, ordo_dict *dict, struct content *c)
{
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_export_host(dict, c->keys, c->values, LENGTH(c->keys), &c->count));
    model_put_in_order(dict, ORDO_U32, 4, c->keys, c->values, c->count);
}

static bool content_is(struct test *t, const struct fixture *s, const struct content *want)
{
    static struct content now;
    if (!s->dict)
        return true;
    read_content(t, s->dict, &now);
    return now.count == want->count && memcmp(now.keys, want->keys, now.count * sizeof *now.keys) == 0 &&
           memcmp(now.values, want->values, now.count * sizeof *now.values) == 0;
}

static void make_arrays(struct test *t, struct fixture *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->array[i] =
            test_upload(t, s->before[i], call_array_count(&s->call.array[i], s->count), s->call.array[i].bytes, i % 4);
}

static void free_arrays(struct fixture *s)
{
    for (size_t i = 0; i < s->n; i++)
        test_free(&s->array[i]);
}

/* Creates the dictionary and the arrays as before each call. An LSM has several runs. */
static void fixture_begin(struct test *t, struct fixture *s)
{
    uint32_t keys[BATCH], values[BATCH];

    make_arrays(t, s);
    s->strings = call_strings_of(t, &s->call, s->count);
    if (s->structure == NO_DICT)
        return;
    s->dict = make_dict(t, t->dev, s->structure, 0, HELD);
    for (uint32_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(3 * i);
        values[i] = i;
    }
    test_ok(t, ordo_dict_upsert_host(s->dict, keys, values, BATCH));
}

static void fixture_end(struct fixture *s)
{
    ordo_dict_destroy(&s->dict);
    call_strings_free(&s->strings);
    free_arrays(s);
}

static ordo_status run(struct test *t, const struct fixture *s, const struct ordo_order *order)
{
    struct given      g = call_given(t->dev, s->dict, s->count);
    struct ordo_slice slice[CALL_ARRAYS];

    for (size_t i = 0; i < s->n; i++)
        slice[i] = test_slice(&s->array[i]);
    g.strings = s->strings;
    g.order = order;
    return s->call.run(&g, slice);
}

/* Makes the call over host memory, with `before` in the arrays of `now`. */
static ordo_status run_host(struct test *t, const struct fixture *s, void *now[CALL_ARRAYS])
{
    struct given g = call_given(t->dev, s->dict, s->count);

    g.strings = s->strings;
    for (size_t i = 0; i < s->n; i++)
        memcpy(now[i], s->before[i], array_bytes(s, i));
    return s->call.run_host(&g, now);
}

/* Compares the outcome with a call's without failure. Guards of the arrays are intact. */
static void expect_done(struct test *t, const struct fixture *s)
{
    for (size_t i = 0; i < s->n; i++) {
        AUTO_FREE void *now = test_alloc(array_bytes(s, i));
        test_download(t, &s->array[i], now);
        test_same_bytes(t, s->call.array[i].name, now, s->after[i], array_bytes(s, i));
    }
    test_true(t, content_is(t, s, &s->changed));
}

/* Makes the call once and keeps its outcome. */
static void fixture_make(struct test *t, struct fixture *s, const struct array_call *call, int structure)
{
    const bool dict = structure != NO_DICT;

    *s = (struct fixture) { .call = dict && structure_is(structure, ORDO_NO_ORDER) ? call_without_order(call) : *call,
                            .structure = structure,
                            .count = dict ? BATCH : MANY,
                            .n = call_arrays(call),
                            .changes = dict && call->changes };
    test_context(t, "%s of a %s", call->name, dict ? structures[structure].name : "device");
    for (size_t i = 0; i < s->n; i++) {
        s->before[i] = test_alloc(array_bytes(s, i));
        s->after[i] = test_alloc(array_bytes(s, i));
        memset(s->before[i], TEST_EMPTY, array_bytes(s, i));
    }
    call_fill(t, &s->call, s->count, dict ? HELD : MANY, s->before);
    fixture_begin(t, s);
    if (dict)
        read_content(t, s->dict, &s->full);
    test_ok(t, run(t, s, NULL));
    for (size_t i = 0; i < s->n; i++)
        test_download(t, &s->array[i], s->after[i]);
    if (dict)
        read_content(t, s->dict, &s->changed);
    fixture_end(s);
}

static void fixture_free(struct fixture *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->before[i]);
        free(s->after[i]);
    }
}

static bool is_tried(const struct array_call *call, int structure)
{
    if (call->needs == ORDO_CAN_CONCURRENT)
        return structure == BLINK || structure == HASH || structure == HAMT || structure == XFAST;
    return call->needs != ORDO_CAN_ORDER || !structure_is(structure, ORDO_NO_ORDER);
}

/* Calls `body` for each call on arrays and each call on each structure. */
static unsigned long
for_each_fixture(struct test *t, unsigned long (*body)(struct test *t, struct fixture *s, size_t seed), bool arrays)
{
    static struct fixture s;
    unsigned long         tried = 0;

    for (size_t call = 0; call < n_primitive_calls && arrays; call++) {
        fixture_make(t, &s, &primitive_calls[call], NO_DICT);
        tried += body(t, &s, call);
        fixture_free(&s);
    }
    for (size_t call = 0; call < n_dict_calls; call++)
        for (int structure = 0; structure < N_STRUCTURES; structure++)
            if (is_tried(&dict_calls[call], structure)) {
                fixture_make(t, &s, &dict_calls[call], structure);
                tried += body(t, &s, call + (size_t) structure);
                fixture_free(&s);
            }
    return tried;
}

/* ---- an event of the list fails ---------------------------------------------------------------------------------- */

/* Whether the failure of the event explains the status. */
static bool explained(ordo_status got)
{
    return got == ORDO_OK || got == ORDO_OPENCL;
}

/* Makes the call with an event that fails, and a second time behind it. A call that may change the dictionary waits
 * for the event on the host, and changes nothing. Another call runs as a whole or not at all. Later calls are right.
 * Returns the number of commands. */
static unsigned long fail_listed(struct test *t, struct fixture *s, enum manner manner, unsigned long at)
{
    test_context(t, "%s of a %s, driver '%s', the event fails before command %lu", s->call.name,
                 s->dict || s->structure != NO_DICT ? structures[s->structure].name : "device", manner_name[manner],
                 at);
    fixture_begin(t, s);
    test_ok(t, ordo_device_trim(t->dev));
    const struct ordo_order waits = events_begin(t, manner, at);
    const ordo_status       first = run(t, s, &waits);
    const bool              done = first == ORDO_OK && driver.dropped == 0;

    if (s->changes)
        test_true(t, first == ORDO_OPENCL && driver.waits == 1 && driver.commands == 0);
    else
        test_true(t, explained(first) && explained(run(t, s, NULL)));
    const unsigned long commands = driver.commands;
    driver.struck = true;
    if (done)
        expect_done(t, s);
    test_true(t, content_is(t, s, &s->full));
    free_arrays(s);
    make_arrays(t, s);
    test_ok(t, run(t, s, NULL));
    expect_done(t, s);
    fixture_end(s);
    events_end(t);
    return commands;
}

static unsigned long fail_listed_at_each(struct test *t, struct fixture *s, size_t seed)
{
    const bool    all = test_wants_all("ORDO_TEST_EVENTS");
    unsigned long tried = 0;

    for (int manner = 0; manner < N_MANNERS; manner++) {
        const unsigned long commands = fail_listed(t, s, (enum manner) manner, 0);
        const unsigned long stride = all ? 1 : s->dict || s->structure != NO_DICT ? commands / 2 + 1 : N_MANNERS;
        tried++;
        for (unsigned long at = 1 + (seed + (size_t) manner) % stride; at <= commands; at += stride, tried++)
            (void) fail_listed(t, s, (enum manner) manner, at);
    }
    return tried;
}

DEVICE_TEST(events, that_fail_change_nothing)
{
    test_look_back(t);
    if (t->facts->groups_progress && !t->facts->cpu)
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", ORDO_SORT_ONESWEEP));
    const unsigned long tried = for_each_fixture(t, fail_listed_at_each, true);
    fprintf(stderr, "events: %lu calls with an event that failed\n", tried);
    test_true(t, tried > 100);
}

MASK_TEST(events, that_fail_leave_nothing_wrong_behind, "cpu=0,progress=1")
{
    static struct fixture s;

    test_look_back(t);
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", ORDO_SORT_ONESWEEP));
    for (size_t call = 0; call < n_primitive_calls; call++) {
        fixture_make(t, &s, &primitive_calls[call], NO_DICT);
        (void) fail_listed_at_each(t, &s, call);
        fixture_free(&s);
    }
}

/* ---- an event that an earlier call waits for --------------------------------------------------------------------- */

/* A query waits for an event. An update without a list, in the same queue or another one, blocks until the event has
 * ended, and then succeeds. */
static void update_behind(struct test *t, int structure, bool same_queue, bool fails)
{
    cl_command_queue  queue[2] = { test_queue(t, 0), test_queue(t, 0) };
    ordo_dict        *dict = make_dict(t, t->dev, structure, 0, HELD);
    const uint32_t    key = key_of(7), value = 77;
    uint32_t          got = 0;
    struct test_array keys = test_upload(t, &key, 1, 4, 0), values = test_upload(t, &value, 1, 4, 0),
                      found = test_upload(t, NULL, 1, 1, 0);

    test_context(t, "%s, %s queue, the event %s", structures[structure].name, same_queue ? "one" : "another",
                 fails ? "fails" : "comes");
    struct ordo_order query = events_begin(t, BEHIND, 0), update = { .queue = queue[!same_queue] };
    query.queue = queue[0];
    driver.complete = !fails;
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys), 1, test_slice(&found), &query));
    test_true(t, driver.waits == 0);
    test_ok(t, ordo_dict_upsert(dict, test_slice(&keys), test_slice(&values), 1, &update));
    test_true(t, driver.waits > 0);
    test_ok(t, ordo_dict_find_host(dict, &key, 1, &got, NULL));
    test_true(t, got == value);
    ordo_dict_destroy(&dict);
    test_free(&keys);
    test_free(&values);
    test_free(&found);
    events_end(t);
    for (int q = 0; q < 2; q++)
        (void) clReleaseCommandQueue(queue[q]);
}

DEVICE_TEST(events, of_earlier_calls_are_waited_for_by_updates)
{
    for (int structure = 0; structure < N_STRUCTURES; structure++)
        for (int which = 0; which < 4; which++)
            update_behind(t, structure, (which & 1) != 0, (which & 2) != 0);
}

/* ---- another command of the queue fails -------------------------------------------------------------------------- */

static unsigned long n_broken, n_sound;

static void expect_broken_until_built(struct test *t, ordo_dict *dict)
{
    const uint32_t key = 1;
    size_t         size = 0;

    test_status(t, ordo_dict_erase_host(dict, &key, 1), ORDO_BROKEN);
    test_status(t, ordo_dict_size(dict, NULL, &size), ORDO_BROKEN);
    test_ok(t, ordo_dict_build_host(dict, &key, &key, 1));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 1);
}

/* A dictionary that must be checked, and whose keys do not ascend. */
DEVICE_TEST(events, of_other_commands_break_a_dictionary_until_it_is_built)
{
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, SORTED_ARRAY, 0, HELD);
    const cl_uint        most = 0xffffffffu;

    test_true(t, clEnqueueWriteBuffer(ordo_device_queue(t->dev), ordo_runs_of(dict)->set.run[0].mem, CL_TRUE, 0,
                                      sizeof most, &most, 0, NULL, NULL) == CL_SUCCESS);
    dict->needs_check = true;
    expect_broken_until_built(t, dict);
}

/* A command of the caller waits for an event that fails before command `at` of the update behind it. The dictionary is
 * sound, or every call returns ORDO_BROKEN until it is built. */
static unsigned long drop_update(struct test *t, struct fixture *s, unsigned long at)
{
    cl_command_queue queue = test_queue(t, 0);
    size_t           size = 0;

    test_context(t, "%s of a %s, dropped up to command %lu", s->call.name, structures[s->structure].name, at);
    fixture_begin(t, s);
    const struct ordo_order own = events_begin(t, BEHIND, at ? at + 1 : 0);
    test_true(t, clEnqueueMarkerWithWaitList(queue, 1, own.wait, NULL) == CL_SUCCESS);
    (void) run(t, s, &(struct ordo_order) { .queue = queue });
    const unsigned long commands = driver.commands - 1;
    driver.struck = true;
    const ordo_status next = ordo_dict_size(s->dict, NULL, &size);
    test_true(t, next == ORDO_OK || next == ORDO_BROKEN);
    if (next == ORDO_BROKEN) {
        n_broken++;
        expect_broken_until_built(t, s->dict);
    } else {
        n_sound++;
        test_ok(t, ordo_dict_check(s->dict, NULL));
    }
    fixture_end(s);
    events_end(t);
    (void) clReleaseCommandQueue(queue);
    return commands;
}

static unsigned long drop_updates(struct test *t, struct fixture *s, size_t seed)
{
    unsigned long tried = 1;

    if (!s->changes)
        return 0;
    const unsigned long commands = drop_update(t, s, 0);
    const unsigned long stride = test_wants_all("ORDO_TEST_EVENTS") ? 1 : commands / 3 + 1;
    for (unsigned long at = 1 + seed % stride; at <= commands; at += stride, tried++)
        (void) drop_update(t, s, at);
    return tried;
}

DEVICE_TEST(events, of_other_commands_that_fail_leave_a_dictionary_sound_or_broken)
{
    n_broken = n_sound = 0;
    test_true(t, for_each_fixture(t, drop_updates, false) > 100);
    fprintf(stderr, "events: of updates that were dropped %lu left the dictionary sound, %lu broken\n", n_sound,
            n_broken);
}

/* A call on arrays in the device's own queue waits for an event. A call over host memory behind it is right, and none
 * of its commands is dropped. */
static unsigned long host_behind(struct test *t, struct fixture *s, size_t seed)
{
    static const uint32_t word = 5;
    struct test_array     in = test_upload(t, &word, 1, 4, 0), out = test_upload(t, NULL, 1, 4, 0);
    void                 *now[CALL_ARRAYS];

    if (!test_wants_all("ORDO_TEST_EVENTS") && s->structure != NO_DICT && seed % 3 != 0)
        return 0;
    for (size_t i = 0; i < s->n; i++)
        now[i] = test_alloc(array_bytes(s, i));
    fixture_begin(t, s);
    const struct ordo_order waits = events_begin(t, BEHIND, 0);
    test_ok(t, ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32), test_slice(&in), test_slice(&out), 1, &waits));
    driver.strike = driver.commands + 2; /* behind the first command of the call, if it has not waited */
    test_ok(t, run_host(t, s, now));
    for (size_t i = 0; i < s->n; i++) {
        if (s->call.array[i].output)
            test_same_bytes(t, s->call.array[i].name, now[i], s->after[i], array_bytes(s, i));
        free(now[i]);
    }
    test_true(t, content_is(t, s, &s->changed));
    test_free(&in);
    test_free(&out);
    fixture_end(s);
    events_end(t);
    return 1;
}

MASK_TEST(events, of_earlier_calls_spoil_no_call_over_host_memory, "cpu=0")
{
    test_true(t, for_each_fixture(t, host_behind, true) > n_primitive_calls);
}

/* A command of the caller waits for an event that fails during a call on arrays that waits for the device. No command
 * of the call is dropped. */
DEVICE_TEST(events, of_other_commands_that_fail_drop_no_part_of_a_call_that_waits)
{
    enum { N = 5000 };
    static const struct ordo_key_field   field = { .type = ORDO_U32, .bits = 20 };
    static uint32_t                      keys[N], ranks[N];
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    cl_command_queue                     queue = test_queue(t, 0);
    const struct ordo_order              order = { .queue = queue };
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = 7 * i;
        ranks[i] = i;
    }
    AUTO_ARRAY struct test_array in = test_upload(t, keys, N, 4, 1), out = test_upload(t, NULL, N, 4, 2);
    const struct ordo_slice      columns[] = { test_slice(&in) };
    for (int call = 0; call < 2; call++) {
        const struct ordo_order own = events_begin(t, BEHIND, 0);
        test_context(t, "%s", call ? "ordo_index_build_compressed" : "ordo_key_pack");
        test_true(t, clEnqueueMarkerWithWaitList(queue, 1, own.wait, NULL) == CL_SUCCESS);
        test_ok(t, call ? ordo_index_build_compressed(t->dev, ORDO_U32, columns[0], N, &order, &index)
                        : ordo_key_pack(t->dev, &field, 1, columns, NULL, N, test_slice(&out), ordo_none(), &order));
        test_true(t, driver.waits == 1 && driver.dropped == 2);
        events_end(t);
        test_true(t, clFinish(queue) == CL_SUCCESS);
        if (call)
            test_ok(t, ordo_search(t->dev, ordo_search_params(.key = ORDO_U32, .index = index), columns[0], N,
                                   columns[0], N, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, call ? ranks : keys, N);
    }
    (void) clReleaseCommandQueue(queue);
}

/* ---- another thread sets the event ------------------------------------------------------------------------------- */

/* With the real driver. A call may block or not. After the event its outcome is right. */
static unsigned long come_late(struct test *t, struct fixture *s, size_t seed)
{
    cl_int    code = CL_SUCCESS;
    cl_event  event = clCreateUserEvent(ordo_device_context(t->dev), &code);
    pthread_t setter;

    (void) seed;
    fixture_begin(t, s);
    test_true(t, code == CL_SUCCESS && pthread_create(&setter, NULL, events_set_later, event) == 0);
    test_ok(t, run(t, s, &(struct ordo_order) { .wait = &event, .n_wait = 1 }));
    expect_done(t, s);
    (void) pthread_join(setter, NULL);
    (void) clReleaseEvent(event);
    fixture_end(s);
    return 1;
}

DEVICE_TEST(events, that_come_late_hold_every_call_back)
{
    (void) for_each_fixture(t, come_late, false);
}
