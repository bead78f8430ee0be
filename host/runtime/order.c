/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's order: checks of it, and what comes of events that fail.
 *
 * A driver drops commands of which an event in the wait list fails. Some drop besides all that was enqueued behind them in
 * the queue until then, and do what is enqueued later. A call of which a part is done would leave the next ones what is not
 * so (counters that are not zero), and itself read what was never written. So all commands of a call wait for one event,
 * its gate, and so do those of later calls on the queue until that event is complete: each call is done as a whole, or not
 * at all. */
#include "device_private.h"

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

/* Event i of the wait list. */
static ordo_status check_event(struct ordo_call *call, cl_uint i)
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
    call->waits = call->waits || state != CL_COMPLETE;
    return ORDO_OK;
}

ordo_status ordo_order_check(struct ordo_call *call)
{
    ordo_device             *dev = call->dev;
    const struct ordo_order *order = call->order;
    if (order && !order->n_wait != !order->wait)
        return ordo_fail(dev, ORDO_INVALID, 0, __FILE__, __LINE__, "order->n_wait is %u, but there is %s wait list",
                         (unsigned) order->n_wait, order->wait ? "a" : "no");
    if (call->queue != dev->queue)
        ORDO_TRY(check_queue(dev, call->queue, &call->out_of_order));
    for (cl_uint i = 0; order && i < order->n_wait; i++)
        ORDO_TRY(check_event(call, i));
    return ORDO_OK;
}

/* ---- doubts -------------------------------------------------------------------------------------------------- */

cl_int ordo_event_state(cl_event event)
{
    cl_int       state = CL_QUEUED;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : CL_QUEUED;
}

static void forget(struct ordo_doubt **at)
{
    struct ordo_doubt *doubt = *at;
    *at = doubt->next;
    clReleaseEvent(doubt->event);
    free(doubt);
}

void ordo_doubts_settle(ordo_device *dev)
{
    for (struct ordo_doubt **at = &dev->doubts; *at;) {
        const cl_int state = ordo_event_state((*at)->event);
        if (state < 0)
            ordo_scratch_drop_zeroed(dev, (*at)->queue);
        if (state > CL_COMPLETE)
            at = &(*at)->next;
        else
            forget(at);
    }
}

void ordo_doubts_forget(ordo_device *dev)
{
    while (dev->doubts)
        forget(&dev->doubts);
}

static struct ordo_doubt *doubt_of(ordo_device *dev, cl_command_queue queue)
{
    struct ordo_doubt *doubt = dev->doubts;
    while (doubt && doubt->queue != queue)
        doubt = doubt->next;
    return doubt;
}

/* ---- gates --------------------------------------------------------------------------------------------------- */

ordo_status ordo_gate_add(struct ordo_call *call, cl_uint n, const cl_event *events)
{
    ordo_device *dev = call->dev;
    cl_event     both[2] = { events[0], call->gate }, all = NULL;
    if (n == 1)
        ORDO_TRY_CL(dev, clRetainEvent(both[0]), "clRetainEvent");
    else
        ORDO_TRY_CL(dev, clEnqueueMarkerWithWaitList(call->queue, n, events, &both[0]), "clEnqueueMarkerWithWaitList");
    if (!call->gate) {
        call->gate = both[0];
        return ORDO_OK;
    }
    const cl_int code = clEnqueueMarkerWithWaitList(call->queue, 2, both, &all);
    clReleaseEvent(both[0]);
    ORDO_TRY_CL(dev, code, "clEnqueueMarkerWithWaitList");
    clReleaseEvent(call->gate);
    call->gate = all;
    return ORDO_OK;
}

/* What is enqueued behind the call waits for its gate. */
static ordo_status leave_doubt(struct ordo_call *call)
{
    ordo_device       *dev = call->dev;
    struct ordo_doubt *doubt = doubt_of(dev, call->queue), *fresh = NULL;
    if (!doubt)
        ORDO_REQUIRE_MEMORY(dev, fresh = calloc(1, sizeof *fresh));
    const cl_int code = clRetainEvent(call->gate);
    if (code != CL_SUCCESS)
        free(fresh);
    ORDO_TRY_CL(dev, code, "clRetainEvent");
    if (doubt) {
        clReleaseEvent(doubt->event);
        doubt->event = call->gate;
    } else {
        *fresh = (struct ordo_doubt) { dev->doubts, call->queue, call->gate };
        dev->doubts = fresh;
    }
    return ORDO_OK;
}

bool ordo_gate_is_needed(const struct ordo_call *call)
{
    return call->waits || call->gate || doubt_of(call->dev, call->queue);
}

ordo_status ordo_gate_close(struct ordo_call *call)
{
    if (call->gated)
        return ORDO_OK;
    const struct ordo_doubt *doubt = doubt_of(call->dev, call->queue);
    if (doubt && doubt->event != call->gate)
        ORDO_TRY(ordo_gate_add(call, 1, &doubt->event));
    if (call->waits)
        ORDO_TRY(ordo_gate_add(call, call->order->n_wait, call->order->wait));
    if (call->gate && (!doubt || doubt->event != call->gate))
        ORDO_TRY(leave_doubt(call));
    call->gated = true;
    return ORDO_OK;
}
