/* SPDX-License-Identifier: Apache-2.0 */
/* Copies all small arrays of a call with one upload and one download, because each command takes at least 12 us. */
#include "internal.h"

#include <stdlib.h>

/* If commands still use all stages, the next call waits for them. */
#define STAGES_MAX 4

static void destroy(ordo_device *dev, struct ordo_stage *stage)
{
    if (stage->pinned)
        ordo_pinned_destroy(dev, &stage->pinned, stage->host);
    else
        free(stage->host);
    if (stage->mem)
        clReleaseMemObject(stage->mem);
    free(stage);
}

static struct ordo_stage *create(ordo_device *dev)
{
    cl_int             code = CL_SUCCESS;
    struct ordo_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return NULL;
    if (dev->facts.cpu)
        stage->host = ordo_large_pages(ORDO_STAGE_BYTES);
    else
        stage->mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, ORDO_STAGE_BYTES, NULL, &code);
    if (stage->mem)
        (void) ordo_pinned_create(dev, ORDO_STAGE_BYTES, &stage->pinned, &stage->host);
    if (!stage->host) {
        destroy(dev, stage);
        return NULL;
    }
    stage->next = dev->stages;
    dev->stages = stage;
    return stage;
}

void ordo_stages_forget(ordo_device *dev, uint64_t number)
{
    for (struct ordo_stage *stage = dev->stages; stage; stage = stage->next)
        if (!stage->in_use && stage->sent <= number)
            stage->sent = 0;
}

static struct ordo_stage *find(ordo_device *dev)
{
    struct ordo_stage *sent = NULL, *stage = dev->stages;
    int                n = 0;

    for (; stage && (stage->in_use || stage->sent); stage = stage->next, n++)
        sent = stage->in_use ? sent : stage;
    if (stage || n < STAGES_MAX)
        return stage ? stage : create(dev);
    if (sent && clFinish(dev->queue) == CL_SUCCESS)
        ordo_stages_forget(dev, dev->stage_number);
    return sent && !sent->sent ? sent : NULL;
}

struct ordo_stage *ordo_stage_take(struct ordo_call *call, size_t bytes)
{
    ordo_device       *dev = call->dev;
    struct ordo_stage *stage = dev->dry_run || bytes > dev->stage_most ? NULL : find(dev);

    if (stage)
        stage->in_use = true;
    return stage;
}

void ordo_stage_give(ordo_device *dev, struct ordo_stage *stage, bool idle)
{
    ordo_lock(dev);
    stage->in_use = false;
    if (idle)
        stage->sent = 0;
    if (!stage->pinned)
        ordo_buffer_leave(dev, &stage->mem);
    ordo_unlock(dev);
}

char *ordo_stage_host(const struct ordo_stage *stage)
{
    return stage->host;
}

cl_mem ordo_stage_buffer(const struct ordo_stage *stage)
{
    return stage->mem;
}

ordo_status ordo_stage_send(struct ordo_call *call, struct ordo_stage *stage, size_t bytes)
{
    if (!stage->pinned)
        stage->mem = ordo_buffer_over(call->dev, stage->host, ORDO_STAGE_BYTES);
    stage->sent = ++call->dev->stage_number;
    return stage->pinned ? ordo_call_send(call, stage->mem, 0, stage->host, bytes, NULL) : ORDO_OK;
}

ordo_status ordo_stage_fetch(struct ordo_call *call, struct ordo_stage *stage, size_t at, size_t bytes,
                             struct ordo_pending_transfers *pending)
{
    ORDO_TRY(ordo_call_fetch(call, stage->mem, at, stage->host + at, bytes, &pending->event[pending->n]));
    pending->n++;
    return ORDO_OK;
}

void ordo_stage_received(ordo_device *dev, const struct ordo_stage *stage)
{
    ordo_stages_forget(dev, stage->sent);
}

void ordo_stages_destroy(ordo_device *dev)
{
    for (struct ordo_stage **at = &dev->stages; *at;) {
        struct ordo_stage *stage = *at;
        if (stage->in_use || stage->sent) {
            at = &stage->next;
            continue;
        }
        *at = stage->next;
        destroy(dev, stage);
    }
}
