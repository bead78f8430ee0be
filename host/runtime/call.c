/* SPDX-License-Identifier: Apache-2.0 */
/* Ends calls, and enqueues their commands. order.c begins calls. */
#include "internal.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

/* ---- end and scratch ----------------------------------------------------------------------------------------- */

/* Markers are slow on some drivers, so this uses the object's event if there is one. If the driver refuses a marker,
 * tries once more: the call has changed its object. */
static ordo_status mark_end(struct ordo_call *call, cl_event *out)
{
    if (call->ended && clRetainEvent(call->ended) == CL_SUCCESS)
        *out = call->ended;
    else if (ordo_call_mark(call, out) != CL_SUCCESS)
        ORDO_TRY_CL(call->dev, ordo_call_mark(call, out), "clEnqueueMarkerWithWaitList");
    return ORDO_OK;
}

/* Creates order->done, an event that completes after all commands of the call. It fails if an event in the wait list
 * fails. A marker with a wait list waits only for the events in this list.
 *
 * Uses no barrier with a wait list. After such a barrier, PoCL 3.1 ignores other barriers. */
static ordo_status hand_out_event(struct ordo_call *call)
{
    if (!call->order || !call->order->done)
        return ORDO_OK;
    if (call->n_wait == 0)
        return mark_end(call, call->order->done);
    ORDO_TRY(ordo_call_pass_events(call));
    ORDO_TRY(mark_end(call, &call->wait[call->n_wait])); /* The list has space for one more event. */
    call->n_wait++;
    ORDO_TRY_CL(call->dev, clEnqueueMarkerWithWaitList(call->queue, call->n_wait, call->wait, call->order->done),
                "clEnqueueMarkerWithWaitList");
    return ORDO_OK;
}

void ordo_call_release(struct ordo_call *call, int mark)
{
    while (call->n_scratch > mark)
        ordo_scratch_give(call->dev, call->scratch[--call->n_scratch]);
}

void ordo_call_abandon(struct ordo_call *call, int mark)
{
    for (int i = mark; i < call->n_scratch; i++)
        call->scratch[i]->use = ORDO_SCRATCH_PLAIN;
    ordo_call_release(call, mark);
}

ordo_status ordo_call_lacks(struct ordo_call *call, int mark, ordo_status status, bool *lacked)
{
    *lacked = ordo_lacks_memory(status);
    if (*lacked)
        ordo_call_abandon(call, mark);
    return *lacked ? ORDO_OK : status;
}

ordo_status ordo_call_end(struct ordo_call *call, ordo_status status)
{
    if (call->lacks_barrier)
        call->lacks_barrier = !ordo_call_try_barrier(call);
    call->dev->barrier_lost |= call->lacks_barrier;
    if (status == ORDO_OK)
        status = hand_out_event(call);
    if (status == ORDO_OK)
        ordo_call_release(call, 0);
    else
        ordo_call_abandon(call, 0);
    if (call->begun)
        clReleaseEvent(call->begun);
    if (call->retained)
        clReleaseCommandQueue(call->retained);
    ordo_call_drop_events(call);
    ordo_unlock(call->dev);
    return status;
}

/* Waits on the host for the commands in the caller's queue, even if some fail. */
static ordo_status drain(ordo_device *dev, const struct ordo_order *order)
{
    const struct ordo_order quiet = { order->queue, order->n_wait, order->wait, NULL };
    struct ordo_call        call;
    cl_event                last = NULL;
    ORDO_TRY(ordo_call_begin_after(&call, dev, &quiet, NULL, true));
    const cl_int code = clEnqueueMarkerWithWaitList(call.queue, 0, NULL, &last);
    ORDO_TRY(ordo_call_end(&call, code == CL_SUCCESS ? ORDO_OK
                                                     : ordo_fail_cl(dev, code, __FILE__, __LINE__,
                                                                    "clEnqueueMarkerWithWaitList of order->queue")));
    const cl_int waited = clWaitForEvents(1, &last);
    const bool   ended = ordo_event_ended(last);
    clReleaseEvent(last);
    return ended ? ORDO_OK : ordo_waited(dev, waited, __FILE__, __LINE__, "clWaitForEvents");
}

ordo_status ordo_call_begin_alone(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order,
                                  struct ordo_last_call *last, bool waits)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    if (waits && order && order->queue && order->queue != dev->queue)
        ORDO_TRY(drain(dev, order));
    return ordo_call_begin_after(call, dev, order, last, waits);
}

static ordo_status take_scratch(struct ordo_call *call, size_t bytes, enum ordo_scratch_use use, cl_mem *out,
                                bool *fresh)
{
    struct ordo_block *block = NULL;
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

ordo_status ordo_call_stamped(struct ordo_call *call, size_t bytes, uint32_t max, cl_mem *out, cl_uint *stamp)
{
    bool fresh = false;
    ORDO_TRY(take_scratch(call, bytes, ORDO_SCRATCH_STAMPED, out, &fresh));
    struct ordo_block *block = call->scratch[call->n_scratch - 1];
    if (fresh || block->stamp >= max) {
        ORDO_TRY(ordo_call_fill(call, *out, 0, block->bytes, 0));
        block->stamp = 0;
    }
    *stamp = ++block->stamp;
    return ORDO_OK;
}

/* ---- commands ------------------------------------------------------------------------------------------------ */

/* Must be called before each command. Enqueues the previous command's barrier again if the driver refused it. */
static ordo_status before_command(struct ordo_call *call)
{
    if (call->lacks_barrier)
        ORDO_TRY(ordo_call_barrier(call));
    call->lacks_barrier = false;
    return ordo_call_pass_events(call);
}

/* Where the driver shall put the event of the first command that may change the object; NULL for other commands. If the
 * driver drops this command, because an earlier command of the caller's has failed, it drops all later ones too: they
 * wait for its event. */
static cl_event *event_of_change(struct ordo_call *call)
{
    return call->changes && !call->begun ? &call->begun : NULL;
}

/* The wait list of a command, as two arguments. */
#define WAIT_LIST(call) (call)->begun ? 1 : (call)->n_wait, (call)->begun ? &(call)->begun : (call)->wait

/* Must be called after each command. In an out-of-order queue, a barrier makes later commands wait for this command. */
static void enqueued(struct ordo_call *call)
{
    call->lacks_barrier = call->out_of_order && !ordo_call_try_barrier(call);
}

/* Fills `to` with copies of the dry run's 32-bit answer. A read of 8 bytes gets one 64-bit number, with high half 0. */
static ordo_status dry_run_read(ordo_device *dev, void *to, size_t bytes)
{
    const uint32_t answer = dev->dry_run->answer;
    memset(to, 0, bytes);
    for (size_t at = 0; at + sizeof answer <= bytes; at += sizeof answer)
        if (bytes != sizeof(uint64_t) || at == 0)
            memcpy((char *) to + at, &answer, sizeof answer);
    return ORDO_OK;
}

void ordo_args_add(struct ordo_args *args, const struct ordo_arg *more, size_t n)
{
    assert(args->n + n <= sizeof args->arg / sizeof args->arg[0]);
    for (size_t i = 0; i < n; i++)
        args->arg[args->n++] = more[i];
}

void ordo_args_slice(struct ordo_args *args, const struct ordo_slice *slice)
{
    assert(args->n_at < sizeof args->at / sizeof args->at[0]);
    cl_ulong *at = &args->at[args->n_at++];
    *at = slice->at;
    ORDO_ADD(args, ORDO_ARG(slice->mem), ORDO_ARG(*at));
}

void ordo_launch_define(struct ordo_launch *launch, const char *name, long value)
{
    size_t n = 0;
    while (launch->defines[n].name)
        n++;
    assert(n < ORDO_DEFINES_MAX);
    launch->defines[n] = (struct ordo_define) { name, value };
}

ordo_status ordo_call_launch_kernel(struct ordo_call *call, struct ordo_kernel *kernel, size_t groups,
                                    size_t group_size, const struct ordo_arg *args, size_t n_args)
{
    ordo_device *dev = call->dev;
    if (groups == 0)
        return ORDO_OK;
    if (dev->dry_run) {
        ORDO_REQUIRE(dev, dev->dry_run->launches > 0, ORDO_OPENCL, NULL);
        dev->dry_run->launches--;
        return ORDO_OK;
    }
    ORDO_REQUIRE(dev, group_size > 0 && (group_size <= kernel->max_group || kernel->limited), ORDO_UNSUPPORTED,
                 "kernel %s runs with at most %zu work-items a group here, not %zu", kernel->name, kernel->max_group,
                 group_size);
    for (size_t i = 0; i < n_args; i++)
        ORDO_TRY_CL(dev, clSetKernelArg(kernel->kernel, (cl_uint) i, args[i].bytes, args[i].value),
                    "clSetKernelArg of %s", kernel->name);

    ORDO_TRY(before_command(call));
    const size_t global = groups * group_size;
    ORDO_TRY_CL(dev,
                clEnqueueNDRangeKernel(call->queue, kernel->kernel, 1, NULL, &global, &group_size, WAIT_LIST(call),
                                       event_of_change(call)),
                "clEnqueueNDRangeKernel of %s", kernel->name);
    ordo_log(dev, ORDO_LOG_DEBUG, "launch %s: %zu x %zu", kernel->name, groups, group_size);
    enqueued(call);
    return ORDO_OK;
}

ordo_status ordo_call_launch(struct ordo_call *call, const struct ordo_launch *launch, const struct ordo_args *args)
{
    struct ordo_kernel *kernel = NULL;
    if (launch->groups == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_kernel(call, launch->file, launch->kernel, launch->defines, &kernel));
    return ordo_call_launch_kernel(call, kernel, launch->groups, launch->group, args->arg, args->n);
}

ordo_status ordo_call_fill(struct ordo_call *call, cl_mem mem, size_t at, size_t bytes, uint32_t word)
{
    if (bytes == 0 || call->dev->dry_run)
        return ORDO_OK;
    ORDO_TRY(before_command(call));
    ORDO_TRY_CL(
        call->dev,
        clEnqueueFillBuffer(call->queue, mem, &word, sizeof word, at, bytes, WAIT_LIST(call), event_of_change(call)),
        "clEnqueueFillBuffer");
    enqueued(call);
    return ORDO_OK;
}

ordo_status ordo_call_copy(struct ordo_call *call, cl_mem from, size_t from_at, cl_mem to, size_t to_at, size_t bytes)
{
    if (bytes == 0 || call->dev->dry_run)
        return ORDO_OK;
    ORDO_TRY(before_command(call));
    ORDO_TRY_CL(
        call->dev,
        clEnqueueCopyBuffer(call->queue, from, to, from_at, to_at, bytes, WAIT_LIST(call), event_of_change(call)),
        "clEnqueueCopyBuffer");
    enqueued(call);
    return ORDO_OK;
}

static ordo_status write_buffer(struct ordo_call *call, bool blocks, cl_mem to, size_t at, const void *from,
                                size_t bytes, cl_event *done)
{
    if (bytes == 0 || call->dev->dry_run)
        return ORDO_OK;
    if (blocks)
        ORDO_TRY(ordo_call_settled(call));
    ORDO_TRY(before_command(call));
    ORDO_TRY_CL(call->dev,
                clEnqueueWriteBuffer(call->queue, to, blocks, at, bytes, from, WAIT_LIST(call),
                                     done ? done : event_of_change(call)),
                "clEnqueueWriteBuffer");
    enqueued(call);
    return ORDO_OK;
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
    if (call->dev->dry_run)
        return dry_run_read(call->dev, to, bytes);
    ORDO_TRY(before_command(call));
    if (!done)
        done = event_of_change(call);
    ORDO_TRY_WAIT(call->dev, clEnqueueReadBuffer(call->queue, from, blocks, at, bytes, to, WAIT_LIST(call), done),
                  "clEnqueueReadBuffer");
    enqueued(call);
    return ORDO_OK;
}

ordo_status ordo_call_fetch(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes, cl_event *done)
{
    return read_buffer(call, false, from, at, to, bytes, done);
}

/* On a CPU, a small read polls its event, because a blocked thread wakes up late. Polling halves the time to find one
 * key. After a failed wait, the read may still run. It therefore writes to dev->bounce, not to the caller's memory. */
#define POLLS_MAX      400
#define POLL_BYTES_MAX ((size_t) 1 << 16)

static bool polls(const struct ordo_call *call, size_t bytes)
{
    return call->dev->facts.cpu && !call->order && !call->out_of_order && !call->dev->dry_run && bytes > 0 &&
           bytes <= POLL_BYTES_MAX;
}

static bool poll(cl_event done, int max)
{
    const double end = ordo_now_ms() + 1000;
    for (int i = 0; !ordo_event_ended(done); i++) {
        if (i == max || ordo_now_ms() > end)
            return false;
        (void) sched_yield();
    }
    return true;
}

static ordo_status read_polling(struct ordo_call *call, cl_mem from, size_t at, char *bounce, size_t bytes)
{
    cl_event done = NULL;
    ORDO_TRY(read_buffer(call, false, from, at, bounce, bytes, &done));
    if (clFlush(call->queue) == CL_SUCCESS)
        (void) poll(done, POLLS_MAX);
    const cl_int waited = clWaitForEvents(1, &done);
    if (waited != CL_SUCCESS && clFinish(call->queue) != CL_SUCCESS && !poll(done, INT_MAX))
        call->dev->bounce = NULL;
    clReleaseEvent(done);
    return ordo_waited(call->dev, waited, __FILE__, __LINE__, "clWaitForEvents");
}

ordo_status ordo_call_read(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes)
{
    ordo_device *dev = call->dev;
    ORDO_TRY(ordo_call_settled(call));
    if (polls(call, bytes) && !dev->bounce)
        dev->bounce = malloc(POLL_BYTES_MAX);
    if (!polls(call, bytes) || !dev->bounce)
        return read_buffer(call, true, from, at, to, bytes, NULL);
    char *bounce = dev->bounce;
    ORDO_TRY(read_polling(call, from, at, bounce, bytes));
    memcpy(to, bounce, bytes);
    return ORDO_OK;
}

ordo_status ordo_call_read_after_change(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes)
{
    const ordo_status status = ordo_call_read(call, from, at, to, bytes);
    return status == ORDO_OK || call->again ? status : ordo_call_read(call, from, at, to, bytes);
}

static cl_int wait_all(struct ordo_call *call, const struct ordo_pending_transfers *transfers)
{
    if (clFlush(call->queue) == CL_SUCCESS && call->dev->facts.cpu && !call->out_of_order)
        (void) poll(transfers->event[transfers->n - 1], POLLS_MAX);
    const cl_int waited = clWaitForEvents(transfers->n, transfers->event);
    if (waited != CL_SUCCESS && clFinish(call->queue) != CL_SUCCESS)
        for (cl_uint i = 0; i < transfers->n; i++)
            (void) poll(transfers->event[i], INT_MAX);
    return waited;
}

ordo_status ordo_call_await(struct ordo_call *call, struct ordo_pending_transfers *transfers, bool unlocked)
{
    ordo_device *dev = call->dev;
    if (transfers->n == 0)
        return ORDO_OK;
    if (unlocked)
        ordo_unlock(dev);
    const cl_int waited = wait_all(call, transfers);
    if (unlocked)
        ordo_lock(dev);
    for (cl_uint i = 0; i < transfers->n; i++)
        clReleaseEvent(transfers->event[i]);
    transfers->n = 0;
    return ordo_waited(dev, waited, __FILE__, __LINE__, "clWaitForEvents");
}

/* ---- checks of the caller's buffers -------------------------------------------------------------------------- */

ordo_status ordo_check_slice(ordo_device *dev, const char *name, struct ordo_slice slice, size_t count, size_t bytes)
{
    if (dev->dry_run)
        return ORDO_OK;
    ORDO_REQUIRE(dev, bytes > 0 || !slice.mem, ORDO_INVALID, "%s is given, but its elements have 0 bytes", name);
    if (bytes == 0)
        return ORDO_OK;
    if (!slice.mem)
        return count == 0 ? ORDO_OK : ORDO_FAIL(dev, ORDO_INVALID, "%s is absent", name);

#define GET(what, out)                                                                                                 \
    ORDO_TRY_CL(dev, clGetMemObjectInfo(slice.mem, (what), sizeof(out), &(out), NULL), "clGetMemObjectInfo of %s", name)
    cl_context         context = NULL;
    cl_mem_object_type type = 0;
    size_t             size = 0;
    const cl_int       code = clGetMemObjectInfo(slice.mem, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_INVALID_MEM_OBJECT || (code == CL_SUCCESS && type != CL_MEM_OBJECT_BUFFER))
        return ordo_fail(dev, ORDO_INVALID, code, __FILE__, __LINE__, "%s is not a buffer", name);
    ORDO_TRY_CL(dev, code, "clGetMemObjectInfo of %s", name);
    GET(CL_MEM_CONTEXT, context);
    GET(CL_MEM_SIZE, size);
#undef GET
    ORDO_REQUIRE(dev, context == dev->context, ORDO_INVALID, "%s is a buffer of another context", name);

    const size_t n = size / bytes;
    ORDO_REQUIRE(dev, slice.at <= n && count <= n - slice.at, ORDO_INVALID,
                 "%s has %zu elements of %zu bytes from element %zu on, but the buffer has %zu bytes", name, count,
                 bytes, slice.at, size);
    return ORDO_OK;
}

ordo_status ordo_check_aligned(ordo_device *dev, const char *name, cl_mem mem, size_t align)
{
    cl_mem_flags flags = 0;
    void        *host = NULL;
    if (dev->dry_run || clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL) != CL_SUCCESS ||
        !(flags & CL_MEM_USE_HOST_PTR))
        return ORDO_OK;
    ORDO_TRY_CL(dev, clGetMemObjectInfo(mem, CL_MEM_HOST_PTR, sizeof host, &host, NULL), "clGetMemObjectInfo of %s",
                name);
    ORDO_REQUIRE(dev, (uintptr_t) host % align == 0, ORDO_INVALID,
                 "%s lies in host memory whose address is no multiple of %zu", name, align);
    return ORDO_OK;
}

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
