/* SPDX-License-Identifier: Apache-2.0 */
/* The order of calls among the caller's commands: wait lists, events, queues. */
#include "ordo/sorted_array.h"
#include "tests/support/calls.h"
#include "tests/support/support.h"

#include <stdlib.h>

enum { COUNT = 50021 };

/* A sort that must wait for an event, because its input arrives during the wait. */
static void check_waits(struct test *t, cl_command_queue queue)
{
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, COUNT, 4, 3);
    AUTO_FREE uint32_t *written = test_alloc(COUNT * sizeof *written), *want = test_alloc(COUNT * sizeof *want);
    cl_command_queue    other = test_queue(t, 0);
    cl_int              code = CL_SUCCESS;
    cl_event            go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
    struct ordo_order   order = { .queue = queue, .n_wait = 1, .wait = &go, .done = &done };
    for (uint32_t i = 0; i < COUNT; i++) {
        written[i] = COUNT - i;
        want[i] = i + 1;
    }
    test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U32), test_slice(&keys), ordo_none(), test_slice(&keys),
                         ordo_none(), COUNT, &order));
    test_true(t, done != NULL && test_event_state(done) != CL_COMPLETE);
    test_true(t, clEnqueueWriteBuffer(other, keys.mem, CL_TRUE, 3 * sizeof *written, COUNT * sizeof *written, written,
                                      0, NULL, NULL) == CL_SUCCESS);
    test_true(t, test_event_state(done) != CL_COMPLETE);
    test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
    test_expect(t, ORDO_U32, &keys, want, COUNT);

    clReleaseEvent(go);
    clReleaseEvent(done);
    clReleaseCommandQueue(other);
}

DEVICE_TEST(order, a_call_waits_for_its_list)
{
    cl_command_queue own = test_queue(t, 0), loose = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    test_context(t, "the device's queue");
    check_waits(t, NULL);
    test_context(t, "an in-order queue");
    check_waits(t, own);
    test_context(t, "an out-of-order queue");
    if (loose)
        check_waits(t, loose);
    clReleaseCommandQueue(own);
    if (loose)
        clReleaseCommandQueue(loose);
}

/* ---- nothing to do ------------------------------------------------------------------------------------------- */

/* Every kind of call, without elements, must return an event that waits for the list. */
static ordo_status call_nothing(struct test *t, const struct array_call *call, const struct test_array out[2],
                                const struct ordo_order *order)
{
    AUTO_STRINGS struct call_strings strings = call_strings_of(t, call, 0);
    struct given                     g = call_given(t->dev, NULL, 0);
    struct ordo_slice                a[CALL_ARRAYS];

    g.strings = strings;
    g.k = 7;
    g.n_runs = 0;
    g.row_bytes = 3;
    g.order = order;
    for (size_t i = 0; i < CALL_ARRAYS; i++) {
        const struct call_array *is = &call->array[i];
        a[i] = is->output && !is->optional && is->more ? test_slice(&out[is->bytes == out[1].bytes]) : ordo_none();
    }
    return call->run(&g, a);
}

DEVICE_TEST(order, done_is_signalled_for_no_elements_too)
{
    struct test_array out[] = { test_upload(t, NULL, 1, 4, 2), test_upload(t, NULL, 1, 8, 2) };
    cl_int            code = CL_SUCCESS;
    for (size_t which = 0; which < n_primitive_calls; which++) {
        const struct array_call *call = &primitive_calls[which];
        if (strcmp(call->name, "ordo_select") == 0)
            continue; /* there is no element to select */
        cl_event                go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
        const struct ordo_order order = { .n_wait = 1, .wait = &go, .done = &done };
        test_context(t, "%s of no elements", call->name);
        test_ok(t, call_nothing(t, call, out, &order));
        test_true(t, done != NULL && test_event_state(done) != CL_COMPLETE);
        test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
        test_ok(t, ordo_device_finish(t->dev));
        clReleaseEvent(go);
        clReleaseEvent(done);
        test_ok(t, call_nothing(t, call, out, NULL));
    }
    test_expect(t, ORDO_U32, &out[0], &(uint32_t) { 0 }, 1);
    test_expect(t, ORDO_U64, &out[1], &(uint64_t) { 0 }, 1);
    for (size_t i = 0; i < LENGTH(out); i++)
        test_free(&out[i]);
}

/* ---- queues -------------------------------------------------------------------------------------------------- */

/* A chain of calls on a queue, enqueued before any wait. Each reads the last one's output. */
static void check_chain(struct test *t, cl_command_queue queue)
{
    enum { LINKS = 6 };
    const uint32_t      one = 1;
    AUTO_FREE uint32_t *ones = test_alloc(COUNT * sizeof *ones), *want = test_alloc(COUNT * sizeof *want);
    struct test_array   a;
    cl_event            done[LINKS] = { NULL };
    for (size_t i = 0; i < COUNT; i++)
        ones[i] = want[i] = one;
    a = test_upload(t, ones, COUNT, 4, 1);
    for (int link = 0; link < LINKS; link++) {
        const struct ordo_order order = {
            .queue = queue, .n_wait = link > 0, .wait = link > 0 ? &done[link - 1] : NULL, .done = &done[link]
        };
        for (size_t i = 1; i < COUNT; i++)
            want[i] += want[i - 1];
        test_ok(t, ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32, .op = ORDO_SUM, .inclusive = true),
                             test_slice(&a), test_slice(&a), COUNT, &order));
    }
    test_true(t, clWaitForEvents(1, &done[LINKS - 1]) == CL_SUCCESS);
    test_expect(t, ORDO_U32, &a, want, COUNT);
    for (int link = 0; link < LINKS; link++)
        clReleaseEvent(done[link]);
    test_free(&a);
}

EVERY_MASK_TEST(order, calls_follow_each_other_on_any_queue)
{
    cl_command_queue loose = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), own = test_queue(t, 0);
    test_context(t, "a chain on an in-order queue");
    check_chain(t, own);
    test_context(t, "a chain on an out-of-order queue");
    if (loose)
        check_chain(t, loose);
    test_context(t, "a chain on the device's queue");
    check_chain(t, NULL);
    clReleaseCommandQueue(own);
    if (loose)
        clReleaseCommandQueue(loose);
}

/* Scratch that one queue uses must not go to another queue. */
DEVICE_TEST(order, queues_at_once_share_no_scratch)
{
    cl_command_queue  queue[2] = { test_queue(t, 0), test_queue(t, 0) };
    struct test_array keys[2];
    uint32_t         *in[2], *want = test_alloc(COUNT * sizeof *want);
    for (int q = 0; q < 2; q++) {
        in[q] = test_alloc(COUNT * sizeof **in);
        for (uint32_t i = 0; i < COUNT; i++)
            in[q][i] = q ? COUNT - 1 - i : (uint32_t) ((uint64_t) i * 7919 % COUNT); /* a permutation: 7919 is prime */
        keys[q] = test_upload(t, in[q], COUNT, 4, 1);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        want[i] = i;
    for (int q = 0; q < 2; q++)
        test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U32), test_slice(&keys[q]), ordo_none(),
                             test_slice(&keys[q]), ordo_none(), COUNT, &(struct ordo_order) { .queue = queue[q] }));
    for (int q = 0; q < 2; q++) {
        test_context(t, "queue %d of two", q);
        test_true(t, clFinish(queue[q]) == CL_SUCCESS);
        test_expect(t, ORDO_U32, &keys[q], want, COUNT);
        test_free(&keys[q]);
        clReleaseCommandQueue(queue[q]);
        free(in[q]);
    }
    free(want);
}

/* Calls on two dictionaries, last used on the device's queue, in one out-of-order queue: the second call gets the first
 * one's scratch, and must wait for it. (PoCL 3.1 ignores the barriers before a barrier with a wait list. No call makes
 * such a barrier.) */
static void loose(struct test *t)
{
    enum { KEYS = 400000, ROUNDS = 4 };
    cl_command_queue    queue = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    AUTO_FREE uint32_t *keys = test_alloc(KEYS * sizeof *keys), *want = test_alloc(KEYS * sizeof *want);
    struct test_array   asked[2], bounds[2], out[2], found = test_upload(t, NULL, 1, 1, 0);
    ordo_dict          *dict[2] = { NULL, NULL };
    if (!queue)
        return;
    for (uint32_t d = 0; d < 2; d++) {
        test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 0 }), &dict[d]));
        for (uint32_t i = 0; i < KEYS; i++)
            keys[i] = 4 * i + d;
        test_ok(t, ordo_dict_build_host(dict[d], keys, NULL, KEYS));
        for (uint32_t i = 0; i < KEYS; i++)
            keys[i] = i * 2654435761u % (4 * (KEYS - 1));
        asked[d] = test_upload(t, keys, KEYS, 4, 0);
        for (uint32_t i = 0; i < KEYS; i++)
            keys[i] += 8;
        bounds[d] = test_upload(t, keys, KEYS, 4, 0);
        out[d] = test_upload(t, NULL, KEYS, 4, 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int d = 0; d < 2; d++)
            test_ok(t, ordo_dict_contains(dict[d], test_slice(&asked[0]), 1, test_slice(&found), NULL));
        test_ok(t, ordo_device_finish(t->dev));
        for (int d = 0; d < 2; d++)
            test_ok(t, ordo_dict_seek_within(dict[d], ORDO_GE, test_slice(&asked[d]), test_slice(&bounds[d]), KEYS,
                                             test_slice(&out[d]), ordo_none(), ordo_none(),
                                             &(struct ordo_order) { .queue = queue }));
        test_true(t, clFinish(queue) == CL_SUCCESS);
        for (uint32_t d = 0; d < 2; d++) {
            for (uint32_t i = 0; i < KEYS; i++)
                want[i] = (i * 2654435761u % (4 * (KEYS - 1)) + 3 - d) / 4 * 4 + d;
            test_expect(t, ORDO_U32, &out[d], want, KEYS);
        }
    }
    for (int d = 0; d < 2; d++) {
        ordo_dict_destroy(&dict[d]);
        test_free(&asked[d]);
        test_free(&bounds[d]);
        test_free(&out[d]);
    }
    test_free(&found);
    (void) clReleaseCommandQueue(queue);
}

Test(order, dictionaries_follow_each_other_in_an_out_of_order_queue)
{
    test_each_device(loose);
}
