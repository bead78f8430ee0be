/* SPDX-License-Identifier: Apache-2.0 */
/* Small arrays on their way to the device and back, in one command each way: a call of a few keys is as long as its commands
 * and waits, and a wait is 12 us or more. A CPU works in the stage itself, as a buffer that each call makes anew over it: such
 * a buffer begins with what lies there, and a read to where it is makes what kernels wrote seen there.
 *
 * A stage that cannot be had is no error: calls then work as they do with large arrays. It is in neither of the device's sums
 * of memory, as it is no larger than what a driver keeps for itself. */
#include "internal.h"

#include <stdint.h>
#include <stdlib.h>

/* As many calls may have sent something that was not yet copied; the next waits. */
#define STAGES_MAX 4

static void destroy(ordo_device *dev, struct ordo_stage *stage)
{
    if (stage->pinned && stage->host)
        clEnqueueUnmapMemObject(dev->queue, stage->pinned, stage->host, 0, NULL, NULL);
    if (stage->pinned)
        clReleaseMemObject(stage->pinned);
    if (stage->mem)
        clReleaseMemObject(stage->mem);
    free(stage->own);
    free(stage);
}

static bool create_buffers(ordo_device *dev, struct ordo_stage *stage)
{
    cl_int code = CL_SUCCESS;

    stage->mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, ORDO_STAGE_BYTES, NULL, &code);
    if (code != CL_SUCCESS || !stage->mem)
        return false;
    stage->pinned =
        clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, ORDO_STAGE_BYTES, NULL, &code);
    if (code != CL_SUCCESS || !stage->pinned)
        return false;
    stage->host = clEnqueueMapBuffer(dev->queue, stage->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     ORDO_STAGE_BYTES, 0, NULL, NULL, &code);
    return code == CL_SUCCESS && stage->host;
}

/* Drivers copy what is not aligned so. */
#define PAGE ((size_t) 4096)

/* Where the device works in the same memory. */
static bool create_memory(struct ordo_stage *stage)
{
    stage->own = malloc(ORDO_STAGE_BYTES + PAGE);
    if (stage->own)
        stage->host = (char *) stage->own + (PAGE - (uintptr_t) stage->own % PAGE);
    return stage->own != NULL;
}

static struct ordo_stage *create(ordo_device *dev)
{
    struct ordo_stage *stage = calloc(1, sizeof *stage);

    if (!stage || !(dev->facts.cpu ? create_memory(stage) : create_buffers(dev, stage))) {
        if (stage)
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

/* One that nothing uses, or NULL. */
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
    struct ordo_stage *stage = dev->rehearsal || bytes > dev->stage_most ? NULL : find(dev);

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

ordo_status ordo_stage_receive(struct ordo_call *call, struct ordo_stage *stage, size_t at, size_t bytes)
{
    ORDO_TRY(ordo_call_read(call, stage->mem, at, stage->host + at, bytes));
    ordo_stages_forget(call->dev, call->dev->stage_number);
    return ORDO_OK;
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
