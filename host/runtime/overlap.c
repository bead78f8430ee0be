/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers arrays in two queues beside the device's queue. These transfers and kernels run at the same time. */
#include "internal.h"

/* 16 MiB take 300 us on a link of 55 GB/s, much longer than the host needs to enqueue a piece. Finds of 2^24 keys in a
 * hash table take 1.18 of the transfers' time with pieces of 8 or 16 MiB, 1.21 with 4, 1.25 with 64, and 2.1 with 2
 * (H200). */
#define PIECE_BYTES ((size_t) 16 << 20)

void ordo_overlap_open(ordo_device *dev)
{
    dev->piece_bytes = PIECE_BYTES;
}

size_t ordo_piece_bytes(const ordo_device *dev)
{
    return !dev || dev->facts.cpu || dev->dry_run || dev->pid != getpid() ? 0 : dev->piece_bytes;
}

static ordo_status open_queue(ordo_device *dev, cl_command_queue *queue, struct ordo_call *out)
{
    if (!*queue)
        ORDO_TRY(ordo_queue_create(dev, 0, queue));
    *out = (struct ordo_call) { .dev = dev, .queue = *queue };
    return ORDO_OK;
}

/* Commands of earlier calls in the device's queue may still use the scratch of this call. */
ordo_status ordo_overlap_begin(struct ordo_call *call, struct ordo_overlap *out)
{
    ordo_device *dev = call->dev;

    ORDO_TRY(open_queue(dev, &dev->queue_up, &out->up));
    ORDO_TRY(open_queue(dev, &dev->queue_down, &out->down));
    ORDO_TRY_WAIT(dev, clFinish(dev->queue), "clFinish");
    return ORDO_OK;
}

void ordo_overlap_close(ordo_device *dev)
{
    if (dev->queue_up)
        clReleaseCommandQueue(dev->queue_up);
    if (dev->queue_down)
        clReleaseCommandQueue(dev->queue_down);
}

static ordo_status enqueue(struct ordo_call *side, bool up, struct ordo_transfer *arrays, size_t n,
                           struct ordo_pending_transfers *pending)
{
    ordo_device *dev = side->dev;

    if (side->n_wait > 0)
        ORDO_TRY_CL(dev, clFlush(dev->queue), "clFlush");
    ORDO_TRY(ordo_call_transfer(side, up, arrays, n, pending));
    ORDO_TRY_CL(dev, clFlush(side->queue), "clFlush");
    return ORDO_OK;
}

ordo_status ordo_overlap_send(struct ordo_overlap *overlap, struct ordo_transfer *arrays, size_t n,
                              struct ordo_pending_transfers *pending)
{
    return enqueue(&overlap->up, true, arrays, n, pending);
}

ordo_status ordo_overlap_fetch(struct ordo_overlap *overlap, cl_event after, struct ordo_transfer *arrays, size_t n,
                               struct ordo_pending_transfers *pending)
{
    struct ordo_call *side = &overlap->down;

    side->wait = &after;
    side->n_wait = 1;
    const ordo_status status = enqueue(side, false, arrays, n, pending);
    side->wait = NULL;
    side->n_wait = 0;
    clReleaseEvent(after);
    return status;
}
