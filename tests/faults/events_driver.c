/* SPDX-License-Identifier: Apache-2.0 */
/* See events_driver.h. */
#include "tests/faults/events_driver.h"

#include "tests/support/support.h"

#include <time.h>

const char *const manner_name[N_MANNERS] = { "listed", "behind", "refused" };

enum { WAIT_MAX = 16, CODE = -77 };

struct events_driver driver;

static bool is_doomed(cl_event event)
{
    for (size_t i = 0; i < driver.n_doomed; i++)
        if (driver.doomed[i] == event)
            return true;
    return false;
}

static bool has_doomed(cl_uint n, const cl_event *wait)
{
    for (cl_uint i = 0; i < n; i++)
        if (is_doomed(wait[i]))
            return true;
    return false;
}

static cl_event doom(cl_context context)
{
    cl_int code = CL_SUCCESS;

    cr_assert(driver.n_doomed < DOOMED);
    cl_event event = clCreateUserEvent(context, &code);
    cr_assert(code == CL_SUCCESS && clRetainEvent(event) == CL_SUCCESS);
    return driver.doomed[driver.n_doomed++] = event;
}

enum fate { DONE, DROPPED, NOT_TAKEN };

/* Decides about a command. A dropped command returns a doomed event. */
static enum fate fate_of(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
{
    if (!driver.active)
        return DONE;
    const bool listed = has_doomed(n, wait);
    driver.struck = driver.struck || ++driver.commands == driver.strike;
    if (listed && driver.struck && driver.manner == REFUSED)
        return NOT_TAKEN;
    if (!listed && (driver.manner == LISTED || driver.struck || driver.blocked != queue))
        return DONE;
    if (!driver.struck)
        driver.blocked = queue;
    driver.dropped++;
    if (done) {
        cl_context context = NULL;
        cr_assert(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, (void *) &context, NULL) ==
                  CL_SUCCESS);
        *done = doom(context);
    }
    return DROPPED;
}

/* A command that runs waits for the other events of its list. Doomed events have ended. */
static cl_uint keep_real(cl_uint n, const cl_event *wait, cl_event *real)
{
    cl_uint kept = 0;
    cr_assert(n <= WAIT_MAX);
    for (cl_uint i = 0; i < n; i++)
        if (!is_doomed(wait[i]))
            real[kept++] = wait[i];
    return kept;
}

#define COMMAND(name, waits, params, args)                                                                             \
    cl_int CL_API_CALL __real_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params                                                                            \
    {                                                                                                                  \
        const enum fate fate = fate_of(queue, n, wait, done);                                                          \
        if (driver.active && (waits)) /* until the event fails */                                                      \
            driver.struck = true;                                                                                      \
        if (fate == NOT_TAKEN || (fate == DROPPED && (waits)))                                                         \
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;                                                       \
        cl_event real[WAIT_MAX];                                                                                       \
        n = keep_real(n, wait, real);                                                                                  \
        wait = n ? real : NULL;                                                                                        \
        return fate == DROPPED ? CL_SUCCESS : __real_##name args;                                                      \
    }
#define WAITS_PARAMS cl_uint n, const cl_event *wait, cl_event *done
#define WAITS        n, wait, done

COMMAND(clEnqueueNDRangeKernel, false,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *from, const size_t *global,
         const size_t *local, WAITS_PARAMS),
        (queue, kernel, dims, from, global, local, WAITS))
COMMAND(clEnqueueReadBuffer, blocking,
        (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, void *to, WAITS_PARAMS),
        (queue, mem, blocking, at, size, to, WAITS))
COMMAND(clEnqueueWriteBuffer, blocking,
        (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, const void *from, WAITS_PARAMS),
        (queue, mem, blocking, at, size, from, WAITS))
COMMAND(clEnqueueFillBuffer, false,
        (cl_command_queue queue, cl_mem mem, const void *pattern, size_t bytes, size_t at, size_t size, WAITS_PARAMS),
        (queue, mem, pattern, bytes, at, size, WAITS))
COMMAND(clEnqueueCopyBuffer, false,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size, WAITS_PARAMS),
        (queue, from, to, from_at, to_at, size, WAITS))
COMMAND(clEnqueueMarkerWithWaitList, false, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))
COMMAND(clEnqueueBarrierWithWaitList, false, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))

cl_int CL_API_CALL __real_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have)
{
    const cl_int got = __real_clGetEventInfo(of, what, size, to, have);

    if (driver.active && got == CL_SUCCESS && what == CL_EVENT_COMMAND_EXECUTION_STATUS && driver.struck &&
        is_doomed(of))
        *(cl_int *) to = driver.complete ? CL_COMPLETE : CODE;
    return got;
}

/* While the host waits for a doomed event, it fails, as if another thread made it fail. */
cl_int CL_API_CALL __real_clWaitForEvents(cl_uint n, const cl_event *events);
cl_int CL_API_CALL __wrap_clWaitForEvents(cl_uint n, const cl_event *events);
cl_int CL_API_CALL __wrap_clWaitForEvents(cl_uint n, const cl_event *events)
{
    if (!driver.active || !has_doomed(n, events))
        return __real_clWaitForEvents(n, events);
    driver.waits++;
    driver.struck = true;
    return driver.complete ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

struct ordo_order events_begin(const struct test *t, enum manner manner, unsigned long strike)
{
    driver.active = true;
    driver.struck = driver.complete = false;
    driver.manner = manner;
    driver.strike = strike;
    driver.commands = driver.dropped = driver.waits = 0;
    driver.blocked = NULL;
    (void) doom(ordo_device_context(t->dev));
    return (struct ordo_order) { .n_wait = 1, .wait = &driver.doomed[driver.n_doomed - 1] };
}

/* The library keeps no event that failed. Completes the events, because NVIDIA's driver would
 * otherwise wait for them for ever when the process ends. */
void events_end(struct test *t)
{
    driver.struck = true;
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev)); /* checks pending events */
    (void) clReleaseEvent(driver.doomed[0]);
    for (size_t i = 0; i < driver.n_doomed; i++) {
        cl_uint references = 0;
        (void) clGetEventInfo(driver.doomed[i], CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
        test_true(t, references == 1);
        (void) clSetUserEventStatus(driver.doomed[i], CL_COMPLETE);
        (void) clReleaseEvent(driver.doomed[i]);
    }
    driver.n_doomed = 0;
    driver.active = false;
}

void *events_set_later(void *event)
{
    const struct timespec while_the_call_begins = { .tv_nsec = 10000000 };

    (void) nanosleep(&while_the_call_begins, NULL);
    (void) clSetUserEventStatus(event, CL_COMPLETE);
    return NULL;
}
