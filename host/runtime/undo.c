/* SPDX-License-Identifier: Apache-2.0 */
/* Taking back what a call did to an object of which commands wait for an event that fails: none of them was done (order.c), so
 * the object has to be as it was on the host too. While events are to come, each call on it is recorded: a copy of what the
 * host keeps of the object, and the buffers that the call destroyed, which are kept that long. */
#include "device_private.h"

#include <stdlib.h>

static void release_dropped(ordo_device *dev, struct ordo_undo *undo)
{
    while (undo->dropped) {
        struct ordo_held *held = undo->dropped;
        undo->dropped = held->next;
        ordo_held_release(dev, held);
    }
}

/* What the call destroyed is there again, and what it created is not. */
static void take_back(ordo_device *dev, struct ordo_undo *undo)
{
    while (undo->dropped) {
        struct ordo_held *held = undo->dropped;
        undo->dropped = held->next;
        held->next = dev->held;
        dev->held = held;
    }
    for (struct ordo_held **at = &dev->held; *at;) {
        struct ordo_held *held = *at;
        if (held->creator != undo->number) {
            at = &held->next;
            continue;
        }
        *at = held->next;
        ordo_held_release(dev, held);
    }
    memcpy(undo->object, undo->was, undo->bytes);
}

static void forget(struct ordo_undo *undo)
{
    if (undo->gate)
        clReleaseEvent(undo->gate);
    free(undo);
}

/* The newest first, as each is a copy of what those before it left. */
static void take_back_all(ordo_device *dev, struct ordo_undo *undo)
{
    if (!undo)
        return;
    take_back_all(dev, undo->newer);
    take_back(dev, undo);
    forget(undo);
}

void ordo_undo_settle(ordo_device *dev, struct ordo_undo **oldest)
{
    while (*oldest) {
        struct ordo_undo *undo = *oldest;
        const cl_int      state = undo->gate ? ordo_event_state(undo->gate) : CL_COMPLETE;
        if (state > CL_COMPLETE)
            return;
        if (state < 0) {
            take_back_all(dev, undo);
            *oldest = NULL;
            ordo_log(dev, ORDO_LOG_WARNING, "an event that calls were to wait for has failed: they are taken back");
            return;
        }
        *oldest = undo->newer;
        release_dropped(dev, undo);
        forget(undo);
    }
}

void ordo_undo_forget(ordo_device *dev, struct ordo_undo **oldest)
{
    if (!*oldest)
        return;
    const bool forked = dev->pid != getpid(); /* see ordo_device_close */
    while (*oldest) {
        struct ordo_undo *undo = *oldest;
        *oldest = undo->newer;
        if (forked)
            undo->gate = NULL;
        while (forked && undo->dropped) {
            struct ordo_held *held = undo->dropped;
            undo->dropped = held->next;
            free(held);
        }
        if (undo->dropped) { /* which is counted, as other threads' calls are */
            ordo_lock(dev);
            release_dropped(dev, undo);
            ordo_unlock(dev);
        }
        forget(undo);
    }
}

ordo_status ordo_undo_begin(struct ordo_call *call, struct ordo_undo **oldest, void *object, size_t bytes)
{
    ordo_device       *dev = call->dev;
    struct ordo_undo **at = oldest;
    cl_event           last = NULL;
    for (; *at; at = &(*at)->newer)
        last = (*at)->gate ? (*at)->gate : last;
    if (last)
        ORDO_TRY(ordo_gate_add(call, 1, &last));
    if (!ordo_gate_is_needed(call))
        return ORDO_OK;
    struct ordo_undo *undo = calloc(1, sizeof *undo + bytes);
    ORDO_REQUIRE_MEMORY(dev, undo);
    undo->number = ++dev->undo_number;
    undo->object = object;
    undo->bytes = bytes;
    memcpy(undo->was, object, bytes);
    *at = dev->undo = call->undo = undo;
    return ORDO_OK;
}

void ordo_undo_end(struct ordo_call *call)
{
    if (!call->undo)
        return;
    call->undo->gate = call->gate;
    call->gate = NULL;
    call->dev->undo = NULL;
}
