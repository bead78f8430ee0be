/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's order: its checks, and the events that a call waits for.
 *
 * A driver drops a command if an event in its wait list fails. Some drivers also drop the commands that are enqueued
 * behind it in its queue up to the moment of failure, and run those that are enqueued later. A call that runs in part would
 * read scratch that was never written. So each call runs as a whole or not at all: all its commands have the same wait list,
 * which also has the pending events of the queue. An event is pending in a queue while it is not complete and a call has
 * passed it to the driver there. */
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

/* ---- checks -------------------------------------------------------------------------------------------------- */

/* The queue must belong to the device's context and device; says whether it is out-of-order. */
static ordo_status check_queue(ordo_device *dev, cl_command_queue queue, bool *out_of_order)
{
    cl_context                  context = NULL;
    cl_device_id                id = NULL;
    cl_command_queue_properties properties = 0;
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, (void *) &context, NULL),
                "clGetCommandQueueInfo of order->queue");
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, (void *) &id, NULL),
                "clGetCommandQueueInfo of order->queue");
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
                "clGetCommandQueueInfo of order->queue");
    ORDO_REQUIRE(dev, context == dev->context, ORDO_INVALID, "order->queue belongs to another context");
    ORDO_REQUIRE(dev, id == dev->id, ORDO_INVALID, "order->queue belongs to another device");
    *out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return ORDO_OK;
}

/* ---- events -------------------------------------------------------------------------------------------------- */

cl_int ordo_event_state(cl_event event)
{
    cl_int       state = CL_QUEUED;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : CL_QUEUED;
}

ordo_status ordo_order_add(struct ordo_call *call, cl_event event)
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

/* Adds event i of the order's list if it is not complete. */
static ordo_status add_listed(struct ordo_call *call, cl_uint i)
{
    ordo_device   *dev = call->dev;
    const cl_event event = call->order->wait[i];
    cl_context     context = NULL;
    cl_int         state = CL_QUEUED;
    ORDO_REQUIRE(dev, event, ORDO_INVALID, "order->wait[%u] is NULL", (unsigned) i);
    const cl_int code = clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, (void *) &context, NULL);
    ORDO_REQUIRE(dev, code != CL_INVALID_EVENT, ORDO_INVALID, "order->wait[%u] is no event", (unsigned) i);
    ORDO_TRY_CL(dev, code, "clGetEventInfo of order->wait[%u]", (unsigned) i);
    ORDO_REQUIRE(dev, context == dev->context, ORDO_INVALID, "order->wait[%u] is an event of another context",
                 (unsigned) i);
    ORDO_TRY_CL(dev, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL),
                "clGetEventInfo of order->wait[%u]", (unsigned) i);
    if (state < 0)
        return ordo_fail(dev, ORDO_OPENCL, state, __FILE__, __LINE__, "order->wait[%u] has failed", (unsigned) i);
    return state == CL_COMPLETE ? ORDO_OK : ordo_order_add(call, event);
}

ordo_status ordo_order_take(struct ordo_call *call)
{
    ordo_device             *dev = call->dev;
    const struct ordo_order *order = call->order;
    if (order && !order->n_wait != !order->wait)
        return ORDO_FAIL(dev, ORDO_INVALID, "order->n_wait is %u, but there is %s wait list", (unsigned) order->n_wait,
                         order->wait ? "a" : "no");
    if (call->queue != dev->queue)
        ORDO_TRY(check_queue(dev, call->queue, &call->out_of_order));
    for (cl_uint i = 0; order && i < order->n_wait; i++)
        ORDO_TRY(add_listed(call, i));
    for (const struct ordo_pending *p = dev->pending; p; p = p->next)
        if (p->queue == call->queue)
            ORDO_TRY(ordo_order_add(call, p->event));
    return ORDO_OK;
}

/* *out: the event of the object's last call, if that was on another queue and is not complete. An event that failed does not
 * tell whether calls before it are done, so it is replaced by a new marker. */
static ordo_status last_event(struct ordo_call *call, struct ordo_last_call *last, bool renew, cl_event *out)
{
    *out = NULL;
    if (!last || !last->queue || last->queue == call->queue)
        return ORDO_OK;
    if (last->done && renew && ordo_event_state(last->done) < 0) {
        clReleaseEvent(last->done);
        last->done = NULL;
    }
    if (!last->done)
        ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(last->queue, 0, NULL, &last->done),
                    "clEnqueueMarkerWithWaitList");
    if (ordo_event_state(last->done) <= CL_COMPLETE)
        return ORDO_OK;
    ORDO_TRY_CL(call->dev, clFlush(last->queue), "clFlush");
    *out = last->done;
    return ORDO_OK;
}

ordo_status ordo_order_follow(struct ordo_call *call, struct ordo_last_call *last, bool renew, bool *must_wait)
{
    cl_event event = NULL;
    ORDO_TRY(last_event(call, last, renew, &event));
    if (!event)
        return ORDO_OK;
    if (!*must_wait && (call->n_wait > 0 || ordo_pending_in(call->dev, last->queue))) {
        ordo_order_drop(call);
        *must_wait = true;
    }
    return ordo_order_add(call, event);
}

void ordo_order_drop(struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_wait; i++)
        clReleaseEvent(call->wait[i]);
    free(call->wait);
    call->wait = NULL;
    call->n_wait = 0;
}

/* One event after the other: a wait for several may return when the first of them fails. */
ordo_status ordo_order_wait(const struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_wait; i++) {
        const cl_int waited = clWaitForEvents(1, &call->wait[i]);
        if (ordo_event_state(call->wait[i]) > CL_COMPLETE)
            return ordo_waited(call->dev, waited != CL_SUCCESS ? waited : CL_INVALID_EVENT, __FILE__, __LINE__,
                               "clWaitForEvents");
    }
    return ORDO_OK;
}

/* ---- pending events ------------------------------------------------------------------------------------------ */

static void forget(struct ordo_pending **at)
{
    struct ordo_pending *pending = *at;
    *at = pending->next;
    clReleaseEvent(pending->event);
    clReleaseCommandQueue(pending->queue);
    free(pending);
}

void ordo_pending_settle(ordo_device *dev)
{
    for (struct ordo_pending **at = &dev->pending; *at;) {
        const cl_int state = ordo_event_state((*at)->event);
        if (state < 0)
            ordo_scratch_drop_zeroed(dev, (*at)->queue);
        if (state > CL_COMPLETE)
            at = &(*at)->next;
        else
            forget(at);
    }
}

void ordo_pending_forget(ordo_device *dev)
{
    while (dev->pending)
        forget(&dev->pending);
}

static ordo_status add_pending(struct ordo_call *call, cl_event event)
{
    ordo_device *dev = call->dev;
    for (const struct ordo_pending *p = dev->pending; p; p = p->next)
        if (p->queue == call->queue && p->event == event)
            return ORDO_OK;
    struct ordo_pending *fresh = malloc(sizeof *fresh);
    ORDO_REQUIRE_MEMORY(dev, fresh);
    const cl_int event_kept = clRetainEvent(event);
    const cl_int queue_kept = event_kept == CL_SUCCESS ? clRetainCommandQueue(call->queue) : event_kept;
    if (queue_kept != CL_SUCCESS) {
        if (event_kept == CL_SUCCESS)
            clReleaseEvent(event);
        free(fresh);
        return ordo_fail_cl(dev, queue_kept, __FILE__, __LINE__, "clRetainEvent or clRetainCommandQueue");
    }
    *fresh = (struct ordo_pending) { dev->pending, call->queue, event };
    dev->pending = fresh;
    return ORDO_OK;
}

ordo_status ordo_order_pass(struct ordo_call *call)
{
    for (cl_uint i = 0; i < call->n_pending && !call->passed; i++)
        ORDO_TRY(add_pending(call, call->wait[i]));
    call->passed = true;
    return ORDO_OK;
}
