/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the device that nobody waits for. They come over a queue of their own: a read on the queue of calls would wait for
 * all that was enqueued since (and one that does not wait stops an H200's queue for 0.14 ms). */
#include "device_private.h"

#include <unistd.h>

void ordo_answer_forget(ordo_device *dev, struct ordo_answer *answer)
{
    if (answer->ready && dev->pid == getpid()) /* see ordo_device_close */
        clReleaseEvent(answer->ready);
    answer->ready = NULL;
}

void ordo_answer_destroy(ordo_device *dev, struct ordo_answer *answer)
{
    ordo_answer_forget(dev, answer);
    ordo_buffer_destroy(dev, &answer->words);
}

/* The words stay: to let go of a buffer waits for all that was enqueued, on an H200. */
ordo_status ordo_answer_begin(struct ordo_call *call, struct ordo_answer *answer, size_t bytes)
{
    ordo_answer_forget(call->dev, answer);
    return answer->words ? ORDO_OK : ordo_buffer_create(call->dev, bytes, &answer->words);
}

ordo_status ordo_answer_ask(struct ordo_call *call, struct ordo_answer *answer)
{
    ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(call->queue, 0, NULL, &answer->ready),
                "clEnqueueMarkerWithWaitList");
    ORDO_TRY_CL(call->dev, clFlush(call->queue), "clFlush");
    return ORDO_OK;
}

static ordo_status read_answer(ordo_device *dev, const struct ordo_answer *answer, void *to, size_t bytes)
{
    if (!dev->answers)
        ORDO_TRY(ordo_queue_create(dev, 0, &dev->answers));
    ORDO_TRY_WAIT(dev, clEnqueueReadBuffer(dev->answers, answer->words, CL_TRUE, 0, bytes, to, 1, &answer->ready, NULL),
                  "clEnqueueReadBuffer");
    return ORDO_OK;
}

ordo_status ordo_answer_take(struct ordo_call *call, struct ordo_answer *answer, bool wait, void *to, size_t bytes,
                             bool *taken)
{
    *taken = false;
    if (!answer->ready || (!wait && ordo_event_state(answer->ready) > CL_COMPLETE))
        return ORDO_OK;
    const ordo_status got = read_answer(call->dev, answer, to, bytes);
    ordo_answer_forget(call->dev, answer);
    *taken = got == ORDO_OK;
    return got;
}
