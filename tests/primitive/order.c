/* SPDX-License-Identifier: Apache-2.0 */
/* The order of calls among the caller's commands: wait lists, events, queues. */
#include "ordo/sorted_array.h"
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
static ordo_status call_nothing(struct test *t, int which, const struct test_array *out, const struct ordo_order *order)
{
    const struct ordo_slice none = ordo_none();
    switch (which) {
    case 0:
        return ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32), none, none, 0, order);
    case 1:
        return ordo_segmented_scan(t->dev, ordo_scan_params(.type = ORDO_U32), none, none, none, 0, order);
    case 2:
        return ordo_reduce(t->dev, ordo_reduce_params(.type = ORDO_U32), none, 0, test_slice(out), order);
    case 3:
        return ordo_compact(t->dev, ordo_compact_params(.key_bytes = 4), none, none, none, 0, none, none,
                            test_slice(out), order);
    case 4:
        return ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U32), none, none, none, none, 0, order);
    case 5:
        return ordo_merge(t->dev, ordo_merge_params(.key = ORDO_U32), none, none, 0, none, none, 0, none, none, order);
    case 6:
        return ordo_merge_runs(t->dev, ordo_merge_params(.key = ORDO_U32), none, none, NULL, 0, none, none, order);
    case 7:
        return ordo_search(t->dev, ordo_search_params(.key = ORDO_U32), none, 0, none, 0, none, order);
    case 8:
        return ordo_equal_range(t->dev, ordo_equal_range_params(.key = ORDO_U32), none, 0, none, 0, none, none, order);
    case 9:
        return ordo_reduce_by_key(t->dev, ordo_reduce_by_key_params(.key = ORDO_U32), none, none, 0, none, none, none,
                                  0, test_slice(out), order);
    case 10:
        return ordo_unique(t->dev, ordo_unique_params(.key = ORDO_U32), none, 0, none, none, 0, test_slice(out), order);
    case 11:
        return ordo_gather(t->dev, ordo_gather_params(.row_bytes = 3), none, 0, none, 0, none, order);
    case 12:
        return ordo_top_k(t->dev, ordo_top_k_params(.key = ORDO_U32), none, none, 0, 7, none, none, none, order);
    case 13:
        return ordo_scatter(t->dev, ordo_scatter_params(.row_bytes = 3), none, none, 0, none, 0, order);
    case 14:
        return ordo_key_pack(t->dev, &(struct ordo_key_field) { .bits = 1 }, 1, &none, NULL, 0, none, none, order);
    case 15:
        return ordo_key_unpack(t->dev, &(struct ordo_key_field) { .bits = 1 }, 1, none, 0, &none, NULL, order);
    default:
        return ordo_lookup(t->dev, ordo_lookup_params(.key = ORDO_U32), none, none, 0, none, 0, none, none, order);
    }
}

DEVICE_TEST(order, done_is_signalled_for_no_elements_too)
{
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, 1, 4, 2);
    cl_int                       code = CL_SUCCESS;
    for (int which = 0; which < 17; which++) {
        cl_event                go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
        const struct ordo_order order = { .n_wait = 1, .wait = &go, .done = &done };
        test_context(t, "call %d of no elements", which);
        test_ok(t, call_nothing(t, which, &out, &order));
        test_true(t, done != NULL && test_event_state(done) != CL_COMPLETE);
        test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
        test_ok(t, ordo_device_finish(t->dev));
        clReleaseEvent(go);
        clReleaseEvent(done);
        test_ok(t, call_nothing(t, which, &out, NULL));
    }
    test_expect(t, ORDO_U32, &out, &(uint32_t) { 0 }, 1);
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

/* ---- refused orders ----------------------------------------------------------------------------------------- */

DEVICE_TEST(order, bad_orders_are_refused)
{
    AUTO_ARRAY struct test_array  a = test_upload(t, NULL, 100, 4, 1);
    const struct ordo_scan_params sum = { ORDO_U32, ORDO_SUM, false };
    uint8_t                       untouched[400];
    cl_int                        code = CL_SUCCESS;
    cl_device_id                  id = ordo_device_id(t->dev);
    cl_context                    context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_command_queue              foreign = clCreateCommandQueueWithProperties(context, id, NULL, &code);
    cl_event                      event = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
    test_context(t, "bad orders");
    test_status(t, ordo_scan(t->dev, &sum, test_slice(&a), test_slice(&a), 100, &(struct ordo_order) { .n_wait = 1 }),
                ORDO_INVALID);
    test_status(t,
                ordo_scan(t->dev, &sum, test_slice(&a), test_slice(&a), 100, &(struct ordo_order) { .wait = &event }),
                ORDO_INVALID);
    test_status(t,
                ordo_scan(t->dev, &sum, test_slice(&a), test_slice(&a), 100,
                          &(struct ordo_order) { .queue = foreign, .done = &done }),
                ORDO_INVALID);
    test_true(t, done == NULL);
    memset(untouched, TEST_EMPTY, sizeof untouched);
    test_expect(t, ORDO_U32, &a, untouched, 100);

    test_ok(t, ordo_scan(t->dev, &sum, test_slice(&a), test_slice(&a), 100, NULL));
    clSetUserEventStatus(event, CL_COMPLETE); /* some drivers wait for it when the context is released */
    clReleaseEvent(event);
    clReleaseCommandQueue(foreign);
    clReleaseContext(context);
}
