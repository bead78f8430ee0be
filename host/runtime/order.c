/* SPDX-License-Identifier: Apache-2.0 */
/* Manages wait lists, incomplete events, and the order of calls on one object. */
#include "internal.h"

#include <stdlib.h>

/* ---- queues -------------------------------------------------------------------------------------------------- */

ordo_status ordo_queue_create(ordo_device *dev, cl_command_queue_properties properties, cl_command_queue *out)
{
    cl_int code = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    *out = clCreateCommandQueue(dev->context, dev->id, properties, &code);
#pragma GCC diagnostic pop
    ORDO_TRY_CL(dev, code, "clCreateCommandQueue (is the device one of the context's?)");
    return ORDO_OK;
}

ordo_status ordo_queue_check(ordo_device *dev, cl_command_queue queue, const char *name, bool *out_of_order)
{
#define GET(what, out)                                                                                                 \
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, (what), sizeof(out), (void *) &(out), NULL),                         \
                "clGetCommandQueueInfo of %s", name)
    cl_context                  context = NULL;
    cl_device_id                id = NULL;
    cl_command_queue_properties properties = 0;
    GET(CL_QUEUE_CONTEXT, context);
    GET(CL_QUEUE_DEVICE, id);
    GET(CL_QUEUE_PROPERTIES, properties);
#undef GET
    ORDO_REQUIRE(dev, context == dev->context, ORDO_INVALID, "%s belongs to another context", name);
    ORDO_REQUIRE(dev, id == dev->id, ORDO_INVALID, "%s belongs to another device", name);
    *out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return ORDO_OK;
}

/* ---- pending events ------------------------------------------------------------------------------------------ */

/* Returns CL_COMPLETE, a negative number if the event failed, or a positive one if it is incomplete. */
static cl_int state_of(cl_event event)
{
    cl_int       state = CL_QUEUED;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : CL_QUEUED;
}

bool ordo_event_ended(cl_event event)
{
    return state_of(event) <= CL_COMPLETE;
}

static void forget(struct ordo_pending **at)
{
    struct ordo_pending *pending = *at;
    *at = pending->next;
    clReleaseEvent(pending->event);
    clReleaseCommandQueue(pending->queue);
    free(pending);
}

void ordo_pending_forget(ordo_device *dev)
{
    while (dev->pending)
        forget(&dev->pending);
}

/* Removes ended events from dev->pending. If an event failed, the driver may have dropped commands that fill scratch
 * blocks with zeros. So free blocks no longer count as zeroed. */
static void forget_ended(ordo_device *dev)
{
    for (struct ordo_pending **at = &dev->pending; *at;) {
        const cl_int state = state_of((*at)->event);
        if (state < 0)
            ordo_scratch_distrust(dev);
        if (state > CL_COMPLETE)
            at = &(*at)->next;
        else
            forget(at);
    }
}

static ordo_status add_pending(struct ordo_call *call, cl_event event)
{
    ordo_device *dev = call->dev;
    for (const struct ordo_pending *p = dev->pending; p; p = p->next)
        if (p->queue == call->queue && p->event == event)
            return ORDO_OK;
    struct ordo_pending *fresh = malloc(sizeof *fresh);
    ORDO_REQUIRE_MEMORY(dev, fresh);
    cl_int code = clRetainEvent(event);
    if (code == CL_SUCCESS && (code = clRetainCommandQueue(call->queue)) != CL_SUCCESS)
        clReleaseEvent(event);
    if (code != CL_SUCCESS) {
        free(fresh);
        return ordo_fail_cl(dev, code, __FILE__, __LINE__, "clRetainEvent or clRetainCommandQueue");
    }
    *fresh = (struct ordo_pending) { dev->pending, call->queue, event };
    dev->pending = fresh;
    return ORDO_OK;
}

ordo_status ordo_call_pass_events(struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_pending && !call->passed; i++)
        ORDO_TRY(add_pending(call, call->wait[i]));
    call->passed = true;
    return ORDO_OK;
}

/* ---- the wait list of a call --------------------------------------------------------------------------------- */

/* Adds an event if the list lacks it. Leaves space for one more event, which hand_out_event in call.c adds. */
static ordo_status add_event(struct ordo_call *call, cl_event event)
{
    for (cl_uint i = 0; i < call->n_wait; i++)
        if (call->wait[i] == event)
            return ORDO_OK;
    cl_event *more = realloc(call->wait, (call->n_wait + (size_t) 2) * sizeof(cl_event));
    ORDO_REQUIRE_MEMORY(call->dev, more);
    call->wait = more;
    ORDO_TRY_CL(call->dev, clRetainEvent(event), "clRetainEvent");
    call->wait[call->n_wait++] = event;
    return ORDO_OK;
}

void ordo_call_drop_events(struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_wait; i++)
        clReleaseEvent(call->wait[i]);
    free(call->wait);
    call->wait = NULL;
    call->n_wait = 0;
}

static ordo_status add_listed(struct ordo_call *call, cl_uint i)
{
    ordo_device   *dev = call->dev;
    const cl_event event = call->order->wait[i];
    cl_context     context = NULL;
    ORDO_REQUIRE(dev, event, ORDO_INVALID, "order->wait[%u] is NULL", (unsigned) i);
    const cl_int code = clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, (void *) &context, NULL);
    ORDO_REQUIRE(dev, code != CL_INVALID_EVENT, ORDO_INVALID, "order->wait[%u] is no event", (unsigned) i);
    ORDO_TRY_CL(dev, code, "clGetEventInfo of order->wait[%u]", (unsigned) i);
    ORDO_REQUIRE(dev, context == dev->context, ORDO_INVALID, "order->wait[%u] is an event of another context",
                 (unsigned) i);
    const cl_int state = state_of(event);
    if (state < 0)
        return ordo_fail(dev, ORDO_OPENCL, state, __FILE__, __LINE__, "order->wait[%u] has failed", (unsigned) i);
    return state == CL_COMPLETE ? ORDO_OK : add_event(call, event);
}

/* Fills the call's wait list. Also adds the incomplete events for which earlier calls on the same queue wait. If such
 * an event fails, the driver then drops all commands of this call. Otherwise it might drop only some. */
static ordo_status add_events(struct ordo_call *call)
{
    ordo_device             *dev = call->dev;
    const struct ordo_order *order = call->order;
    if (order && !order->n_wait != !order->wait)
        return ORDO_FAIL(dev, ORDO_INVALID, "order->n_wait is %u, but there is %s wait list", (unsigned) order->n_wait,
                         order->wait ? "a" : "no");
    if (call->queue != dev->queue)
        ORDO_TRY(ordo_queue_check(dev, call->queue, "order->queue", &call->out_of_order));
    for (cl_uint i = 0; order && i < order->n_wait; i++)
        ORDO_TRY(add_listed(call, i));
    for (const struct ordo_pending *p = dev->pending; p; p = p->next)
        if (p->queue == call->queue)
            ORDO_TRY(add_event(call, p->event));
    return ORDO_OK;
}

/* If the object's last call used another queue, adds the marker last->done to the wait list. If `renew` is true, first
 * replaces a marker that has failed. Sets *must_wait if the host must wait for the marker. */
static ordo_status add_last(struct ordo_call *call, struct ordo_last_call *last, bool renew, bool *must_wait)
{
    if (!last || !last->queue || last->queue == call->queue)
        return ORDO_OK;
    if (last->done && renew && state_of(last->done) < 0) {
        clReleaseEvent(last->done);
        last->done = NULL;
    }
    if (!last->done)
        ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(last->queue, 0, NULL, &last->done),
                    "clEnqueueMarkerWithWaitList");
    if (ordo_event_ended(last->done))
        return ORDO_OK;
    ORDO_TRY_CL(call->dev, clFlush(last->queue), "clFlush");
    if (!*must_wait && (call->n_wait > 0 || ordo_pending_in(call->dev, last->queue))) {
        ordo_call_drop_events(call);
        *must_wait = true;
    }
    return add_event(call, last->done);
}

/* The caller must not hold the device's lock. Waits for one event at a time, because a wait for several events may
 * return when the first fails. */
static ordo_status wait_on_host(const struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_wait; i++) {
        const cl_int waited = clWaitForEvents(1, &call->wait[i]);
        if (waited != CL_SUCCESS && !ordo_event_ended(call->wait[i]))
            return ordo_waited(call->dev, waited, __FILE__, __LINE__, "clWaitForEvents");
    }
    return ORDO_OK;
}

bool ordo_call_try_barrier(const struct ordo_call *call)
{
    return clEnqueueBarrierWithWaitList(call->queue, 0, NULL, NULL) == CL_SUCCESS;
}

/* If the driver refuses the barrier, tries once more. An error would leave the call half done. */
ordo_status ordo_call_barrier(const struct ordo_call *call)
{
    if (!ordo_call_try_barrier(call))
        ORDO_TRY_CL(call->dev, clEnqueueBarrierWithWaitList(call->queue, 0, NULL, NULL),
                    "clEnqueueBarrierWithWaitList");
    return ORDO_OK;
}

cl_int ordo_call_mark(const struct ordo_call *call, cl_event *out)
{
    cl_event list[2] = { call->begun, NULL };
    if (!call->begun || !call->out_of_order)
        return clEnqueueMarkerWithWaitList(call->queue, call->begun ? 1 : 0, call->begun ? list : NULL, out);
    cl_int code = clEnqueueMarkerWithWaitList(call->queue, 0, NULL, &list[1]);
    if (code == CL_SUCCESS) {
        code = clEnqueueMarkerWithWaitList(call->queue, 2, list, out);
        clReleaseEvent(list[1]);
    }
    return code;
}

/* If the marker after an object's last call fails, a call in another queue enqueues a new marker, at most this many
 * times. */
#define ROUNDS_MAX 4

ordo_status ordo_call_begin_after(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order,
                                  struct ordo_last_call *last, bool waits)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    memset(call, 0, sizeof *call);
    call->dev = dev;
    call->order = order;
    call->queue = order && order->queue ? order->queue : dev->queue;
    call->out_of_order = dev->own_queue_out_of_order;

    for (int round = 0;; round++) {
        bool must_wait = waits;
        ordo_lock(dev);
        forget_ended(dev);
        ordo_status status = add_events(call);
        if (status == ORDO_OK)
            status = add_last(call, last, round < ROUNDS_MAX, &must_wait);
        must_wait = must_wait && call->n_wait > 0;
        if (status == ORDO_OK && !must_wait && call->out_of_order && dev->barrier_lost)
            status = ordo_call_barrier(call);
        if (status == ORDO_OK && !must_wait && last) {
            const cl_int code = clRetainCommandQueue(call->queue);
            call->retained = code == CL_SUCCESS ? call->queue : NULL;
            if (code != CL_SUCCESS)
                status = ordo_fail_cl(dev, code, __FILE__, __LINE__, "clRetainCommandQueue");
        }
        call->n_pending = call->n_wait;
        if (status == ORDO_OK && !must_wait)
            return ORDO_OK;
        ordo_unlock(dev);
        if (status == ORDO_OK)
            status = wait_on_host(call);
        ordo_call_drop_events(call);
        ORDO_TRY(status);
    }
}

ordo_status ordo_call_begin(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order)
{
    return ordo_call_begin_after(call, dev, order, NULL, false);
}

/* ---- calls on an object -------------------------------------------------------------------------------------- */

ordo_status ordo_call_settled(struct ordo_call *call)
{
    call->again = call->n_pending > 0;
    return call->again ? ORDO_OPENCL : ORDO_OK;
}

ordo_status ordo_call_changes(struct ordo_call *call)
{
    ORDO_TRY(ordo_call_settled(call));
    call->changes = call->queue != call->dev->queue;
    return ORDO_OK;
}

static void release(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

/* Does not call the driver in the child of a fork, where NVIDIA's driver would wait forever for a missing thread. */
void ordo_last_call_forget(const ordo_device *dev, struct ordo_last_call *last)
{
    if (dev->pid == getpid()) {
        release(&last->done);
        release(&last->begun);
        if (last->queue)
            clReleaseCommandQueue(last->queue);
    }
    *last = (struct ordo_last_call) { .queue = NULL };
}

/* If last->begun has failed, the driver has dropped commands that change the object. */
static void check_begun(ordo_device *dev, struct ordo_last_call *last)
{
    const cl_int state = last->begun ? state_of(last->begun) : CL_QUEUED;
    if (state > CL_COMPLETE)
        return;
    if (state < 0) {
        ordo_scratch_distrust(dev);
        last->dropped = true;
    }
    release(&last->begun);
}

bool ordo_last_call_dropped(ordo_device *dev, struct ordo_last_call *last)
{
    check_begun(dev, last);
    const bool dropped = last->dropped;
    last->dropped = false;
    return dropped;
}

void ordo_last_call_trust(struct ordo_last_call *last)
{
    release(&last->begun);
    last->dropped = false;
}

/* Returns an event that ends with the call's commands, or NULL. */
static cl_event event_after(const struct ordo_call *call)
{
    cl_event event = NULL;
    if (call->queue == call->dev->queue)
        return NULL;
    return ordo_call_mark(call, &event) == CL_SUCCESS ? event : NULL;
}

/* Records `call` as the object's last call, for which later calls in other queues wait. */
void ordo_call_remember(struct ordo_call *call, struct ordo_last_call *last)
{
    if (call->n_pending > 0 && !call->passed) /* The call enqueued no command. */
        return;
    const cl_command_queue before = last->queue;
    last->queue = call->retained;
    call->retained = before;
    release(&last->done);
    last->done = event_after(call);
    call->ended = last->done;
    if (!call->begun)
        return;
    /* call->begun replaces the older event last->begun. check_begun detects its failure up to now. If it fails later,
     * call->begun fails too. */
    check_begun(call->dev, last);
    release(&last->begun);
    if (clRetainEvent(call->begun) == CL_SUCCESS)
        last->begun = call->begun;
    else
        last->dropped = true; /* The next call could not detect it. */
}
