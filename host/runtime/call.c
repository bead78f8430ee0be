/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: a stretch of commands enqueued under the device's lock. */
#include "internal.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- begin and end ------------------------------------------------------------------------------------------- */

/* The call will be the object's last one, on another queue (ordo_call_remember). */
static ordo_status take_turn(struct ordo_call *call, const struct ordo_last_call *last)
{
    if (!last || last->queue == call->queue)
        return ORDO_OK;
    ORDO_TRY_CL(call->dev, clRetainCommandQueue(call->queue), "clRetainCommandQueue");
    call->turns = true;
    return ORDO_OK;
}

/* A marker that fails is made anew so often: a queue in which each fails is not waited for, for ever. */
#define ROUNDS_MOST 4

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
        ordo_pending_settle(dev);
        ordo_status status = ordo_order_take(call);
        if (status == ORDO_OK)
            status = ordo_order_follow(call, last, round < ROUNDS_MOST, &must_wait);
        must_wait = must_wait && call->n_wait > 0;
        if (status == ORDO_OK && !must_wait)
            status = take_turn(call, last);
        call->n_pending = call->n_wait;
        if (status == ORDO_OK && !must_wait)
            return ORDO_OK;
        ordo_unlock(dev);
        if (status == ORDO_OK)
            status = ordo_order_wait(call);
        ordo_order_drop(call);
        ORDO_TRY(status);
    }
}

ordo_status ordo_call_begin(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order)
{
    return ordo_call_begin_after(call, dev, order, NULL, false);
}

ordo_status ordo_call_settled(struct ordo_call *call)
{
    call->again = call->n_pending > 0;
    return call->again ? ORDO_OPENCL : ORDO_OK;
}

ordo_status ordo_call_changes(struct ordo_call *call)
{
    ORDO_TRY(ordo_call_settled(call));
    if (call->queue == call->dev->queue || call->begun)
        return ORDO_OK;
    ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(call->queue, 0, NULL, &call->begun),
                "clEnqueueMarkerWithWaitList");
    return ordo_order_add(call, call->begun);
}

/* After each command: on an out-of-order queue the next command comes after this one. A command cannot be taken back, so a
 * barrier that fails is tried again. */
static ordo_status enqueued(struct ordo_call *call)
{
    if (call->out_of_order && clEnqueueBarrierWithWaitList(call->queue, 0, NULL, NULL) != CL_SUCCESS)
        ORDO_TRY_CL(call->dev, clEnqueueBarrierWithWaitList(call->queue, 0, NULL, NULL),
                    "clEnqueueBarrierWithWaitList");
    return ORDO_OK;
}

/* All commands are enqueued by now, and what a call stores is stored: a marker that fails is tried again. */
static ordo_status mark(struct ordo_call *call, cl_uint n, const cl_event *wait, cl_event *out)
{
    if (clEnqueueMarkerWithWaitList(call->queue, n, wait, out) != CL_SUCCESS)
        ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(call->queue, n, wait, out), "clEnqueueMarkerWithWaitList");
    return ORDO_OK;
}

/* The event must fail if one of the wait list fails, so that list is the marker's. In an out-of-order queue a marker with a
 * wait list may wait for nothing else (Intel's runtime for CPUs, 2026.22). So a marker without a list, which waits for all
 * commands before it, joins the list. A barrier with a wait list is used nowhere: with it PoCL 3.1 forgets the barriers
 * before it. */
static ordo_status hand_out_event(struct ordo_call *call)
{
    if (!call->order || !call->order->done)
        return ORDO_OK;
    if (call->n_wait == 0)
        return mark(call, 0, NULL, call->order->done);
    ORDO_TRY(ordo_order_pass(call));
    ORDO_TRY(mark(call, 0, NULL, &call->wait[call->n_wait])); /* ordo_order_add left the room */
    call->n_wait++;
    return mark(call, call->n_wait, call->wait, call->order->done);
}

void ordo_call_release(struct ordo_call *call, int mark)
{
    while (call->n_scratch > mark)
        ordo_scratch_give(call->dev, call->scratch[--call->n_scratch]);
}

/* A call that stopped in the middle may have left counters that are not zero. */
void ordo_call_abandon(struct ordo_call *call, int mark)
{
    while (call->n_scratch > mark) {
        struct ordo_scratch *block = call->scratch[--call->n_scratch];
        ordo_scratch_give(call->dev, block);
        if (block->use != ORDO_SCRATCH_PLAIN)
            ordo_scratch_drop(call->dev, block);
    }
}

ordo_status ordo_call_end(struct ordo_call *call, ordo_status status)
{
    if (status == ORDO_OK)
        status = hand_out_event(call);
    /* The barrier that failed may be what kept later commands away from this call's memory. */
    if (status != ORDO_OK && call->out_of_order)
        clEnqueueBarrierWithWaitList(call->queue, 0, NULL, NULL);
    if (status == ORDO_OK)
        ordo_call_release(call, 0);
    else
        ordo_call_abandon(call, 0);
    if (call->begun)
        clReleaseEvent(call->begun);
    if (call->turns)
        clReleaseCommandQueue(call->queue);
    ordo_order_drop(call);
    ordo_unlock(call->dev);
    return status;
}

/* ---- calls in turn on several queues ------------------------------------------------------------------------- */

/* In the child of a fork the driver is not asked: a thread that is not there may have had its locks (NVIDIA's waited for ever). */
void ordo_last_call_forget(const ordo_device *dev, struct ordo_last_call *last)
{
    const bool forked = dev->pid != getpid();
    if (last->done && !forked)
        clReleaseEvent(last->done);
    if (last->begun && !forked)
        clReleaseEvent(last->begun);
    if (last->queue && !forked)
        clReleaseCommandQueue(last->queue);
    *last = (struct ordo_last_call) { .queue = NULL };
}

/* Notes whether the last call that changed the object was dropped, once that is known. */
static void look_at_begun(ordo_device *dev, struct ordo_last_call *last)
{
    const cl_int state = last->begun ? ordo_event_state(last->begun) : CL_QUEUED;
    if (state > CL_COMPLETE)
        return;
    if (state < 0) {
        ordo_scratch_drop_zeroed(dev, last->begun_on);
        last->dropped = true;
    }
    clReleaseEvent(last->begun);
    last->begun = NULL;
}

bool ordo_last_call_dropped(ordo_device *dev, struct ordo_last_call *last)
{
    look_at_begun(dev, last);
    const bool dropped = last->dropped;
    last->dropped = false;
    return dropped;
}

void ordo_last_call_trust(struct ordo_last_call *last)
{
    if (last->begun)
        clReleaseEvent(last->begun);
    last->begun = NULL;
    last->dropped = false;
}

/* A marker costs some microseconds; the device's own queue does without, as nobody else's commands are in it. One that
 * cannot be had is asked for again when it matters. */
void ordo_call_remember(struct ordo_call *call, struct ordo_last_call *last)
{
    if (call->n_pending > 0 && !call->passed) /* nothing is enqueued that comes after the last call */
        return;
    if (call->turns && last->queue)
        clReleaseCommandQueue(last->queue);
    last->queue = call->queue;
    call->turns = false;
    if (last->done)
        clReleaseEvent(last->done);
    last->done = NULL;
    if (call->queue != call->dev->queue && clEnqueueMarkerWithWaitList(call->queue, 0, NULL, &last->done) != CL_SUCCESS)
        last->done = NULL;
    if (!call->begun)
        return;
    look_at_begun(call->dev, last); /* one that is not complete fails with this call's, which is enqueued behind it */
    const bool dropped = last->dropped;
    ordo_last_call_trust(last);
    last->dropped = dropped;
    last->begun = call->begun;
    last->begun_on = call->queue;
    call->begun = NULL;
}

static ordo_status take_scratch(struct ordo_call *call, size_t bytes, enum ordo_scratch_use use, cl_mem *out,
                                bool *fresh)
{
    struct ordo_scratch *block = NULL;
    ORDO_REQUIRE(call->dev, call->n_scratch < ORDO_CALL_SCRATCH_MAX, ORDO_TOO_LARGE,
                 "the call takes more than %d blocks of scratch", ORDO_CALL_SCRATCH_MAX);
    ORDO_TRY(ordo_scratch_take(call->dev, call->queue, bytes, use, &block, fresh));
    call->scratch[call->n_scratch++] = block;
    *out = block->mem;
    return ORDO_OK;
}

ordo_status ordo_call_scratch(struct ordo_call *call, size_t bytes, cl_mem *out)
{
    bool fresh = false;
    return take_scratch(call, bytes, ORDO_SCRATCH_PLAIN, out, &fresh);
}

ordo_status ordo_call_zeroed(struct ordo_call *call, size_t bytes, cl_mem *out)
{
    bool fresh = false;
    ORDO_TRY(take_scratch(call, bytes, ORDO_SCRATCH_ZEROED, out, &fresh));
    if (fresh)
        ORDO_TRY(ordo_call_fill(call, *out, 0, call->scratch[call->n_scratch - 1]->bytes, 0));
    return ORDO_OK;
}

ordo_status ordo_call_stamped(struct ordo_call *call, size_t bytes, uint32_t most, cl_mem *out, cl_uint *stamp)
{
    bool fresh = false;
    ORDO_TRY(take_scratch(call, bytes, ORDO_SCRATCH_STAMPED, out, &fresh));
    struct ordo_scratch *block = call->scratch[call->n_scratch - 1];
    if (fresh || block->stamp >= most) {
        ORDO_TRY(ordo_call_fill(call, *out, 0, block->bytes, 0));
        block->stamp = 0;
    }
    *stamp = ++block->stamp;
    return ORDO_OK;
}

/* ---- on a stand-in --------------------------------------------------------------------------------------------- */

static ordo_status rehearse_launch(ordo_device *dev)
{
    ORDO_REQUIRE(dev, dev->rehearsal->launches > 0, ORDO_OPENCL, NULL);
    dev->rehearsal->launches--;
    return ORDO_OK;
}

static ordo_status rehearse_read(ordo_device *dev, void *to, size_t bytes)
{
    const uint32_t answer = dev->rehearsal->answer;
    memset(to, 0, bytes);
    for (size_t at = 0; at + sizeof answer <= bytes; at += sizeof answer)
        if (bytes != sizeof(uint64_t) || at == 0) /* two words: one number */
            memcpy((char *) to + at, &answer, sizeof answer);
    return ORDO_OK;
}

/* ---- commands ------------------------------------------------------------------------------------------------ */

ordo_status ordo_call_launch_kernel(struct ordo_call *call, struct ordo_kernel *kernel, size_t groups,
                                    size_t group_size, const struct ordo_arg *args, size_t n_args)
{
    ordo_device *dev = call->dev;
    if (groups == 0)
        return ORDO_OK;
    if (dev->rehearsal)
        return rehearse_launch(dev);
    if (group_size == 0 || (group_size > kernel->max_group && !kernel->limited))
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED, "kernel %s runs with at most %zu work-items a group here, not %zu",
                         kernel->name, kernel->max_group, group_size);
    for (size_t i = 0; i < n_args; i++)
        ORDO_TRY_CL(dev, clSetKernelArg(kernel->kernel, (cl_uint) i, args[i].bytes, args[i].value),
                    "clSetKernelArg of %s", kernel->name);

    ORDO_TRY(ordo_order_pass(call));
    const size_t global = groups * group_size;
    ORDO_TRY_CL(dev,
                clEnqueueNDRangeKernel(call->queue, kernel->kernel, 1, NULL, &global, &group_size, call->n_wait,
                                       call->wait, NULL),
                "clEnqueueNDRangeKernel of %s", kernel->name);
    ordo_log(dev, ORDO_LOG_DEBUG, "launch %s: %zu x %zu", kernel->name, groups, group_size);
    return enqueued(call);
}

ordo_status ordo_call_fill(struct ordo_call *call, cl_mem mem, size_t at, size_t bytes, uint32_t word)
{
    if (bytes == 0 || call->dev->rehearsal)
        return ORDO_OK;
    ORDO_TRY(ordo_order_pass(call));
    ORDO_TRY_CL(call->dev,
                clEnqueueFillBuffer(call->queue, mem, &word, sizeof word, at, bytes, call->n_wait, call->wait, NULL),
                "clEnqueueFillBuffer");
    return enqueued(call);
}

ordo_status ordo_call_copy(struct ordo_call *call, cl_mem from, size_t from_at, cl_mem to, size_t to_at, size_t bytes)
{
    if (bytes == 0 || call->dev->rehearsal)
        return ORDO_OK;
    ORDO_TRY(ordo_order_pass(call));
    ORDO_TRY_CL(call->dev,
                clEnqueueCopyBuffer(call->queue, from, to, from_at, to_at, bytes, call->n_wait, call->wait, NULL),
                "clEnqueueCopyBuffer");
    return enqueued(call);
}

static ordo_status write_buffer(struct ordo_call *call, bool blocks, cl_mem to, size_t at, const void *from,
                                size_t bytes, cl_event *done)
{
    if (bytes == 0 || call->dev->rehearsal)
        return ORDO_OK;
    if (blocks)
        ORDO_TRY(ordo_call_settled(call));
    ORDO_TRY(ordo_order_pass(call));
    ORDO_TRY_CL(call->dev,
                clEnqueueWriteBuffer(call->queue, to, blocks, at, bytes, from, call->n_wait, call->wait, done),
                "clEnqueueWriteBuffer");
    return enqueued(call);
}

ordo_status ordo_call_send(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes, cl_event *done)
{
    return write_buffer(call, false, to, at, from, bytes, done);
}

ordo_status ordo_call_write(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes)
{
    return write_buffer(call, true, to, at, from, bytes, NULL);
}

static ordo_status read_buffer(struct ordo_call *call, bool blocks, cl_mem from, size_t at, void *to, size_t bytes,
                               cl_event *done)
{
    if (bytes == 0)
        return ORDO_OK;
    if (call->dev->rehearsal)
        return rehearse_read(call->dev, to, bytes);
    ORDO_TRY(ordo_order_pass(call));
    ORDO_TRY_WAIT(call->dev,
                  clEnqueueReadBuffer(call->queue, from, blocks, at, bytes, to, call->n_wait, call->wait, done),
                  "clEnqueueReadBuffer");
    return enqueued(call);
}

ordo_status ordo_call_fetch(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes, cl_event *done)
{
    return read_buffer(call, false, from, at, to, bytes, done);
}

/* Who blocks is woken late where the processors have gone to sleep: on a virtual machine with PoCL half of what a call with one key takes. So for
 * what is small, on a CPU, in the device's own queue, the thread looks a while whether it is there before it blocks, and lets others run
 * meanwhile. (A find of one key: on two idle cores 24 to 30 us for 53 to 70, on two that have too much to do 50 to 57 for 35.)
 *
 * Such a read is on its way when its call goes on, and may still be if waiting for it fails: it goes to memory of the device, never to the
 * caller's. */
#define LOOKS_MOST 400
#define LOOKS_FOR  ((size_t) 1 << 16)

static bool looks_first(const struct ordo_call *call, size_t bytes)
{
    return call->dev->facts.cpu && !call->order && !call->out_of_order && !call->dev->rehearsal && bytes > 0 &&
           bytes <= LOOKS_FOR;
}

/* NULL: there is no memory for it. */
static char *landing_of(ordo_device *dev)
{
    if (!dev->landing)
        dev->landing = malloc(LOOKS_FOR);
    return dev->landing;
}

static void look_for(const struct ordo_call *call, cl_event done)
{
    cl_int state = CL_QUEUED;
    if (clFlush(call->queue) != CL_SUCCESS)
        return;
    for (int looks = 0; looks < LOOKS_MOST && state > CL_COMPLETE; looks++) {
        if (clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) != CL_SUCCESS)
            return;
        (void) sched_yield();
    }
}

/* How long a driver that cannot wait is looked at, in milliseconds. */
#define ENDS_WITHIN 1000.0

static bool has_ended(cl_event done)
{
    const double end = ordo_now_ms() + ENDS_WITHIN;
    while (ordo_event_state(done) > CL_COMPLETE) {
        if (ordo_now_ms() > end)
            return false;
        (void) sched_yield();
    }
    return true;
}

/* A landing that a read may still come to is left to it, for ever. */
static ordo_status read_looking(struct ordo_call *call, cl_mem from, size_t at, char *landing, size_t bytes)
{
    cl_event done = NULL;
    ORDO_TRY(read_buffer(call, false, from, at, landing, bytes, &done));
    look_for(call, done);
    const cl_int waited = clWaitForEvents(1, &done);
    if (waited != CL_SUCCESS && clFinish(call->queue) != CL_SUCCESS && !has_ended(done))
        call->dev->landing = NULL;
    clReleaseEvent(done);
    return ordo_waited(call->dev, waited, __FILE__, __LINE__, "clWaitForEvents");
}

ordo_status ordo_call_read(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes)
{
    ORDO_TRY(ordo_call_settled(call));
    char *landing = looks_first(call, bytes) ? landing_of(call->dev) : NULL;
    if (!landing)
        return read_buffer(call, true, from, at, to, bytes, NULL);
    ORDO_TRY(read_looking(call, from, at, landing, bytes));
    memcpy(to, landing, bytes);
    return ORDO_OK;
}

/* ---- checks of the caller's buffers -------------------------------------------------------------------------- */

ordo_status ordo_check_slice(ordo_device *dev, const char *name, struct ordo_slice slice, size_t count, size_t bytes)
{
    if (dev->rehearsal)
        return ORDO_OK;
    if (bytes == 0) {
        if (slice.mem)
            return ORDO_FAIL(dev, ORDO_INVALID, "%s is given, but its elements have 0 bytes", name);
        return ORDO_OK;
    }
    if (!slice.mem)
        return count == 0 ? ORDO_OK : ORDO_FAIL(dev, ORDO_INVALID, "%s is absent", name);

    cl_context         context = NULL;
    cl_mem_object_type type = 0;
    size_t             size = 0;
    const cl_int       code = clGetMemObjectInfo(slice.mem, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code != CL_SUCCESS && code != CL_INVALID_MEM_OBJECT)
        return ordo_fail_cl(dev, code, __FILE__, __LINE__, "clGetMemObjectInfo of %s", name);
    if (code != CL_SUCCESS || type != CL_MEM_OBJECT_BUFFER)
        return ordo_fail(dev, ORDO_INVALID, code, __FILE__, __LINE__, "%s is not a buffer", name);
    ORDO_TRY_CL(dev, clGetMemObjectInfo(slice.mem, CL_MEM_CONTEXT, sizeof context, &context, NULL),
                "clGetMemObjectInfo of %s", name);
    if (context != dev->context)
        return ORDO_FAIL(dev, ORDO_INVALID, "%s is a buffer of another context", name);
    ORDO_TRY_CL(dev, clGetMemObjectInfo(slice.mem, CL_MEM_SIZE, sizeof size, &size, NULL), "clGetMemObjectInfo of %s",
                name);

    const size_t room = size / bytes;
    if (slice.at > room || count > room - slice.at)
        return ORDO_FAIL(dev, ORDO_INVALID,
                         "%s has %zu elements of %zu bytes from element %zu on, but the buffer has %zu bytes", name,
                         count, bytes, slice.at, size);
    return ORDO_OK;
}

/* The buffer behind a sub-buffer, and where in it `mem` begins. */
static cl_mem base_of(cl_mem mem, size_t *origin)
{
    cl_mem parent = NULL;
    *origin = 0;
    clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (!parent)
        return mem;
    clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof *origin, origin, NULL);
    return parent;
}

bool ordo_slices_overlap(struct ordo_slice a, size_t a_count, size_t a_bytes, struct ordo_slice b, size_t b_count,
                         size_t b_bytes)
{
    const size_t a_size = a_count * a_bytes, b_size = b_count * b_bytes;
    if (!a.mem || !b.mem || a_size == 0 || b_size == 0)
        return false;
    size_t       a_origin = 0, b_origin = 0;
    const cl_mem a_base = base_of(a.mem, &a_origin), b_base = base_of(b.mem, &b_origin);
    if (a_base != b_base)
        return false;
    const size_t a_first = a_origin + a.at * a_bytes, b_first = b_origin + b.at * b_bytes;
    return a_first < b_first + b_size && b_first < a_first + a_size;
}
