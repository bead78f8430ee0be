/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, commands and events. A thread looks for commands that may start: the first of an in-order queue, or any of
 * an out-of-order queue, whose wait list has completed. It executes commands on memory itself and sends kernels to
 * the runner, so other commands can start meanwhile. A command that fails breaks its queue: later commands fail with
 * the same code. */
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the dispatcher ------------------------------------------------------------------------------------------ */

static struct {
    bool           runs;
    int            wake[2]; /* a pipe */
    pthread_cond_t changed; /* an event did */
    struct queue  *queues;
} dispatcher = { .changed = PTHREAD_COND_INITIALIZER, .wake = { -1, -1 } };

uint64_t driver_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

void queue_forget(void)
{
    pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    dispatcher.changed = fresh;
    dispatcher.runs = false;
    dispatcher.queues = NULL;
    if (dispatcher.wake[0] >= 0) {
        close(dispatcher.wake[0]);
        close(dispatcher.wake[1]);
        dispatcher.wake[0] = dispatcher.wake[1] = -1;
    }
}

void queue_wake(void)
{
    if (dispatcher.runs && write(dispatcher.wake[1], "", 1) < 0)
        return; /* it is full: it will wake up anyway */
}

static bool move_on(void);

static void *dispatch(void *nothing)
{
    struct pollfd to[DEVICES_MAX + 1];
    char          drain[256];

    (void) nothing;
    pthread_mutex_lock(&driver_lock);
    for (;;) {
        link_receive();
        while (move_on())
            continue;
        to[0] = (struct pollfd) { .fd = dispatcher.wake[0], .events = POLLIN };
        const unsigned n = 1 + link_sockets(to + 1);
        pthread_mutex_unlock(&driver_lock);
        (void) poll(to, n, 1000);
        while (read(dispatcher.wake[0], drain, sizeof drain) > 0)
            continue;
        pthread_mutex_lock(&driver_lock);
    }
    return NULL;
}

static bool start_dispatcher(void)
{
    pthread_t      thread;
    pthread_attr_t detached;
    if (dispatcher.runs)
        return true;
    if (pipe2(dispatcher.wake, O_NONBLOCK | O_CLOEXEC) != 0)
        return false;
    (void) pthread_attr_init(&detached);
    (void) pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    dispatcher.runs = pthread_create(&thread, &detached, dispatch, NULL) == 0;
    (void) pthread_attr_destroy(&detached);
    return dispatcher.runs;
}

/* ---- events -------------------------------------------------------------------------------------------------- */

static struct event *event_create(struct context *c, struct queue *q)
{
    struct event *e = object_create(sizeof *e, KIND_EVENT);
    if (!e)
        return NULL;
    e->context = c;
    e->queue = q;
    e->status = q ? CL_QUEUED : CL_SUBMITTED;
    context_retain(c);
    return e;
}

static void event_release(struct event *e)
{
    if (--e->object.references)
        return;
    e->object.kind = KIND_NONE;
    context_release(e->context);
    free(e);
}

static void set_status(struct event *e, cl_int status)
{
    e->status = status;
    pthread_cond_broadcast(&dispatcher.changed);
}

/* ---- commands ------------------------------------------------------------------------------------------------ */

static void queue_release(struct queue *q)
{
    if (--q->object.references)
        return;
    for (struct queue **at = &dispatcher.queues; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    q->object.kind = KIND_NONE;
    context_release(q->context);
    free(q);
}

static void command_free(struct command *c)
{
    for (cl_uint i = 0; i < c->n_wait; i++)
        event_release(c->wait[i]);
    for (unsigned i = 0; i < c->n_used; i++)
        buffer_release(c->used[i]);
    if (c->from)
        buffer_release(c->from);
    if (c->to)
        buffer_release(c->to);
    if (c->program)
        program_release(c->program);
    if (c->event)
        event_release(c->event);
    if (c->queue)
        queue_release(c->queue);
    free(c->wait);
    free(c->arguments);
    free(c);
}

void command_done(struct command *c, cl_int status)
{
    struct queue *q = c->queue;
    for (struct command **at = &q->first; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    for (q->last = &q->first; *q->last;)
        q->last = &(*q->last)->next;
    if (status < 0 && !q->broken)
        q->broken = status;
    set_status(c->event, status);
    command_free(c);
    queue_wake();
}

/* The state of a command's wait list: CL_COMPLETE, still waiting, or an error. */
static cl_int state_of_waits(const struct command *c)
{
    cl_int state = CL_COMPLETE;
    for (cl_uint i = 0; i < c->n_wait; i++) {
        if (c->wait[i]->status < 0)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        if (c->wait[i]->status != CL_COMPLETE)
            state = CL_SUBMITTED;
    }
    return state;
}

static void do_fill(const struct command *c)
{
    char *to = buffer_bytes(c->to) + c->at_to;
    for (size_t i = 0; i < c->bytes; i += c->pattern_bytes)
        memcpy(to + i, c->pattern, c->pattern_bytes);
}

static void begin(struct command *c)
{
    char why[400] = "";
    switch (c->kind) {
    case COMMAND_READ:
        memcpy(c->host, buffer_bytes(c->from) + c->at, c->bytes);
        break;
    case COMMAND_WRITE:
        memcpy(buffer_bytes(c->to) + c->at_to, c->host, c->bytes);
        break;
    case COMMAND_COPY:
        memmove(buffer_bytes(c->to) + c->at_to, buffer_bytes(c->from) + c->at, c->bytes);
        break;
    case COMMAND_FILL:
        do_fill(c);
        break;
    case COMMAND_MARKER:
    case COMMAND_BARRIER:
        break;
    case COMMAND_LAUNCH:
        c->running = true;
        set_status(c->event, CL_RUNNING);
        if (link_launch(c->queue->device, c, why, sizeof why))
            return;
        (void) fprintf(stderr, "AMD's machine code: kernel %s: %s\n", c->launch.name, why);
        command_done(c, CL_OUT_OF_RESOURCES);
        return;
    }
    command_done(c, CL_COMPLETE);
}

/* Whether a command need not wait for those before it in its queue. */
static bool may_overtake(const struct command *c)
{
    const bool free_order = (c->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    /* A marker or barrier without a list is for all that came before. */
    return free_order && !((c->kind == COMMAND_MARKER || c->kind == COMMAND_BARRIER) && c->n_wait == 0);
}

/* Does one thing, if there is one to do. */
static bool move_on(void)
{
    for (struct queue *q = dispatcher.queues; q; q = q->next)
        for (struct command *c = q->first; c; c = c->next) {
            if (c->running && !(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
                break;
            if (c->running || (c != q->first && !may_overtake(c))) {
                if (!c->running && c->kind == COMMAND_BARRIER)
                    break;
                continue;
            }
            const cl_int waits = q->broken ? q->broken : state_of_waits(c);
            if (waits == CL_COMPLETE) {
                begin(c);
                return true;
            }
            if (waits < 0) {
                command_done(c, waits);
                return true;
            }
            if (!(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) || c->kind == COMMAND_BARRIER)
                break; /* nothing overtakes this one */
        }
    return false;
}

static cl_int check_waits(const struct queue *q, cl_uint n, const cl_event *wait)
{
    if ((n == 0) != (wait == NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < n; i++) {
        const struct event *e = AS(event, wait[i], KIND_EVENT);
        if (!e)
            return CL_INVALID_EVENT_WAIT_LIST;
        if (e->context != q->context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

/* Appends a command without a wait list yet to its queue, and waits for its end if it blocks. Owns the command, also
 * after an error. */
static cl_int enqueue(struct queue *q, struct command *c, cl_uint n, const cl_event *wait, cl_event *done, bool blocks)
{
    const cl_int good = check_waits(q, n, wait);
    c->wait = good == CL_SUCCESS ? calloc((size_t) n + 1, sizeof *c->wait) : NULL;
    c->event = c->wait ? event_create(q->context, q) : NULL;
    if (!c->event || !start_dispatcher()) {
        command_free(c);
        return good != CL_SUCCESS ? good : CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < n; i++) {
        c->wait[i] = (struct event *) wait[i];
        c->wait[i]->object.references++;
    }
    c->n_wait = n;
    c->queue = q;
    q->object.references++;
    *q->last = c;
    q->last = &c->next;

    struct event *e = c->event;
    e->object.references += (done != NULL) + blocks;
    if (done)
        *done = (cl_event) e;
    queue_wake();
    if (!blocks)
        return CL_SUCCESS;
    while (e->status > CL_COMPLETE)
        pthread_cond_wait(&dispatcher.changed, &driver_lock);
    const cl_int got = e->status;
    event_release(e);
    return got;
}

/* A fresh command of a queue's; NULL, and the code, if the queue is none. Holds the lock then. */
static struct command *command_create(cl_command_queue handle, enum command_kind kind, struct queue **q, cl_int *code)
{
    *q = AS(queue, handle, KIND_QUEUE);
    struct command *c = *q ? calloc(1, sizeof *c) : NULL;
    *code = !*q ? CL_INVALID_COMMAND_QUEUE : !c ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (!c)
        return NULL;
    c->kind = kind;
    pthread_mutex_lock(&driver_lock);
    return c;
}

static cl_int give_up(struct command *c, cl_int code)
{
    command_free(c);
    pthread_mutex_unlock(&driver_lock);
    return code;
}

static cl_int finish(struct queue *q, struct command *c, cl_uint n, const cl_event *wait, cl_event *done, bool blocks)
{
    const cl_int got = enqueue(q, c, n, wait, done, blocks);
    pthread_mutex_unlock(&driver_lock);
    return got;
}

/* ---- commands on memory -------------------------------------------------------------------------------------- */

/* Keeps a buffer for a command, if it is one of the queue's context and has these bytes. */
static cl_int take_buffer(const struct queue *q, cl_mem handle, size_t at, size_t bytes, struct buffer **to)
{
    struct buffer *b = AS(buffer, handle, KIND_BUFFER);
    if (!b)
        return CL_INVALID_MEM_OBJECT;
    if (b->context != q->context)
        return CL_INVALID_CONTEXT;
    if (bytes == 0 || at > b->bytes || bytes > b->bytes - at)
        return CL_INVALID_VALUE;
    buffer_retain(b);
    *to = b;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocks, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_READ, &q, &code);
    if (!c)
        return code;
    code = to ? take_buffer(q, mem, at, bytes, &c->from) : CL_INVALID_VALUE;
    if (code != CL_SUCCESS)
        return give_up(c, code);
    c->at = at;
    c->bytes = bytes;
    c->host = to;
    return finish(q, c, n, wait, done, blocks);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocks, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_WRITE, &q, &code);
    if (!c)
        return code;
    code = from ? take_buffer(q, mem, at, bytes, &c->to) : CL_INVALID_VALUE;
    if (code != CL_SUCCESS)
        return give_up(c, code);
    c->at_to = at;
    c->bytes = bytes;
    c->host = (void *) from;
    return finish(q, c, n, wait, done, blocks);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_bytes,
                                      size_t at, size_t bytes, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_FILL, &q, &code);
    if (!c)
        return code;
    const bool good = pattern && pattern_bytes && pattern_bytes <= sizeof c->pattern &&
                      (pattern_bytes & (pattern_bytes - 1)) == 0 && at % pattern_bytes == 0 &&
                      bytes % pattern_bytes == 0;
    code = good ? take_buffer(q, mem, at, bytes, &c->to) : CL_INVALID_VALUE;
    if (code != CL_SUCCESS)
        return give_up(c, code);
    c->at_to = at;
    c->bytes = bytes;
    c->pattern_bytes = pattern_bytes;
    memcpy(c->pattern, pattern, pattern_bytes);
    return finish(q, c, n, wait, done, false);
}

static bool overlap(const struct command *c)
{
    const char *from = buffer_bytes(c->from) + c->at, *to = buffer_bytes(c->to) + c->at_to;
    return from < to + c->bytes && to < from + c->bytes;
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                                      size_t bytes, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_COPY, &q, &code);
    if (!c)
        return code;
    code = take_buffer(q, from, from_at, bytes, &c->from);
    if (code == CL_SUCCESS)
        code = take_buffer(q, to, to_at, bytes, &c->to);
    c->at = from_at;
    c->at_to = to_at;
    c->bytes = bytes;
    if (code == CL_SUCCESS && overlap(c))
        code = CL_MEM_COPY_OVERLAP;
    if (code != CL_SUCCESS)
        return give_up(c, code);
    return finish(q, c, n, wait, done, false);
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_MARKER, &q, &code);
    return c ? finish(q, c, n, wait, done, false) : code;
}

static cl_int CL_API_CALL barrier(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
{
    cl_int          code;
    struct queue   *q;
    struct command *c = command_create(queue, COMMAND_BARRIER, &q, &code);
    return c ? finish(q, c, n, wait, done, false) : code;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

/* Largest power of two that fits, where the caller leaves it to the driver. */
static size_t own_size(size_t global, size_t room)
{
    size_t size = room;
    while (size > 1 && global % size)
        size /= 2;
    return size;
}

static cl_int take_sizes(struct command *c, const struct kernel_info *k, cl_uint dimensions, const size_t *global,
                         const size_t *local)
{
    size_t items = 1;
    if (dimensions < 1 || dimensions > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (!global)
        return CL_INVALID_GLOBAL_WORK_SIZE;
    for (cl_uint d = 0; d < 3; d++) {
        const size_t all = d < dimensions ? global[d] : 1;
        const size_t size = d >= dimensions ? 1
                            : local         ? local[d]
                            : k->fixed[0]   ? k->fixed[d]
                                            : own_size(all, d ? 1 : 64);
        if (all == 0 || all > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (size == 0 || all % size || size > 1024 || (k->fixed[0] && size != k->fixed[d]))
            return CL_INVALID_WORK_GROUP_SIZE;
        c->launch.group_size[d] = (uint32_t) size;
        c->launch.groups[d] = (uint32_t) (all / size);
        items *= size;
    }
    return items <= k->max_group ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

static uint64_t hidden_value(const struct command *c, const char *name, cl_uint dimensions, const size_t *offset)
{
    const char    d = name[strlen(name) - 1]; /* ..._x, _y, _z */
    const cl_uint i = d == 'y' ? 1 : d == 'z' ? 2 : 0;
    if (strncmp(name, "hidden_global_offset_", 21) == 0)
        return offset && i < dimensions ? offset[i] : 0;
    if (strncmp(name, "hidden_block_count_", 19) == 0)
        return c->launch.groups[i];
    if (strncmp(name, "hidden_group_size_", 18) == 0)
        return c->launch.group_size[i];
    if (strcmp(name, "hidden_grid_dims") == 0)
        return dimensions;
    return 0;
}

static cl_int take_arguments(struct command *c, const struct kernel *k, const struct kernel_info *info,
                             cl_uint dimensions, const size_t *offset)
{
    uint32_t local = 0;
    c->launch.argument_bytes = info->argument_bytes;
    c->arguments = calloc(1, info->argument_bytes + 1);
    if (!c->arguments)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < info->n; i++) {
        const struct argument *a = &info->arguments[i];
        uint64_t               word = 0;
        if (a->offset > info->argument_bytes || a->bytes > info->argument_bytes - a->offset)
            return CL_INVALID_KERNEL;
        if (a->kind != ARGUMENT_HIDDEN && !k->args[i].is_set)
            return CL_INVALID_KERNEL_ARGS;
        if (a->kind == ARGUMENT_VALUE) {
            memcpy(c->arguments + a->offset, k->args[i].value, a->bytes);
            continue;
        }
        if (a->kind == ARGUMENT_HIDDEN)
            word = hidden_value(c, a->hidden, dimensions, offset);
        if (a->kind == ARGUMENT_LOCAL) {
            local = (local + 127) & ~127u;
            word = ((info->local_bytes + 127) & ~127u) + local;
            local += (uint32_t) k->args[i].local;
            c->launch.local_bytes = ((info->local_bytes + 127) & ~127u) - info->local_bytes + local;
        }
        if (a->kind == ARGUMENT_BUFFER && k->args[i].buffer) {
            struct buffer *b = AS(buffer, k->args[i].buffer, KIND_BUFFER);
            if (!b || b->context != c->program->context)
                return CL_INVALID_MEM_OBJECT;
            buffer_retain(b);
            c->used[c->n_used++] = b;
            word = buffer_address(b);
        }
        memcpy(c->arguments + a->offset, &word, a->bytes < 8 ? a->bytes : 8);
    }
    return c->launch.local_bytes + info->local_bytes <= LOCAL_BYTES ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static cl_int take_kernel(struct queue *q, struct command *c, cl_kernel handle, const struct kernel_info **info)
{
    struct kernel *k = AS(kernel, handle, KIND_KERNEL);
    char           why[400] = "";
    if (!k)
        return CL_INVALID_KERNEL;
    if (k->program->context != q->context)
        return CL_INVALID_CONTEXT;
    *info = kernel_for(k, q->device, &c->built);
    if (!*info)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    program_retain(k->program);
    c->program = k->program;
    c->launch.descriptor = (*info)->descriptor;
    (void) snprintf(c->launch.name, sizeof c->launch.name, "%s", (*info)->name);
    if (program_translate(c->built, why, sizeof why))
        return CL_SUCCESS;
    (void) fprintf(stderr, "AMD's machine code: translating the program of %s: %s\n", (*info)->name, why);
    return CL_OUT_OF_RESOURCES;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *done)
{
    cl_int                    code;
    struct queue             *q;
    const struct kernel_info *info = NULL;
    struct command           *c = command_create(queue, COMMAND_LAUNCH, &q, &code);
    if (!c)
        return code;
    code = take_kernel(q, c, kernel, &info);
    if (code == CL_SUCCESS)
        code = take_sizes(c, info, dimensions, global, local);
    if (code == CL_SUCCESS)
        code = take_arguments(c, (const struct kernel *) kernel, info, dimensions, offset);
    if (code != CL_SUCCESS)
        return give_up(c, code);
    return finish(q, c, n, wait, done, false);
}

/* ---- queues -------------------------------------------------------------------------------------------------- */

static cl_command_queue make_queue(cl_context context, cl_device_id id, cl_command_queue_properties properties,
                                   cl_int *code)
{
    struct context *c = AS(context, context, KIND_CONTEXT);
    struct device  *d = AS(device, id, KIND_DEVICE);
    bool            has = false;
    for (cl_uint i = 0; c && i < c->n; i++)
        has = has || c->devices[i] == d;
    cl_int got = !c ? CL_INVALID_CONTEXT : !d || !has ? CL_INVALID_DEVICE : CL_SUCCESS;
    if (got == CL_SUCCESS && (properties & ~(cl_command_queue_properties) (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                                           CL_QUEUE_PROFILING_ENABLE)))
        got = CL_INVALID_QUEUE_PROPERTIES;
    struct queue *q = got == CL_SUCCESS ? object_create(sizeof *q, KIND_QUEUE) : NULL;
    if (got == CL_SUCCESS && !q)
        got = CL_OUT_OF_HOST_MEMORY;
    if (code)
        *code = got;
    if (!q)
        return NULL;
    pthread_mutex_lock(&driver_lock);
    q->context = c;
    q->device = d;
    q->properties = properties;
    q->last = &q->first;
    context_retain(c);
    q->next = dispatcher.queues;
    dispatcher.queues = q;
    pthread_mutex_unlock(&driver_lock);
    return (cl_command_queue) q;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id id,
                                                 cl_command_queue_properties properties, cl_int *code)
{
    return make_queue(context, id, properties, code);
}

static cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id id,
                                                      const cl_queue_properties *given, cl_int *code)
{
    cl_command_queue_properties properties = 0;
    for (; given && given[0]; given += 2) {
        if (given[0] != CL_QUEUE_PROPERTIES) {
            if (code)
                *code = CL_INVALID_QUEUE_PROPERTIES;
            return NULL;
        }
        properties = given[1];
    }
    return make_queue(context, id, properties, code);
}

RETAIN_AND_RELEASE(queue, cl_command_queue, KIND_QUEUE, CL_INVALID_COMMAND_QUEUE)

static cl_int CL_API_CALL queue_info(cl_command_queue handle, cl_command_queue_info what, size_t room, void *to,
                                     size_t *have)
{
    const struct queue *q = AS(queue, handle, KIND_QUEUE);
    if (!q)
        return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT:
        ANSWER(cl_context, (cl_context) q->context);
    case CL_QUEUE_DEVICE:
        ANSWER(cl_device_id, (cl_device_id) q->device);
    case CL_QUEUE_PROPERTIES:
        ANSWER(cl_command_queue_properties, q->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL flush(cl_command_queue handle)
{
    return object_as(handle, KIND_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL finish_queue(cl_command_queue handle)
{
    struct queue *q = AS(queue, handle, KIND_QUEUE);
    if (!q)
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&driver_lock);
    q->object.references++;
    while (q->first)
        pthread_cond_wait(&dispatcher.changed, &driver_lock);
    const cl_int got = q->broken;
    queue_release(q);
    pthread_mutex_unlock(&driver_lock);
    return got;
}

/* ---- events, from outside ------------------------------------------------------------------------------------ */

static cl_event CL_API_CALL create_user_event(cl_context handle, cl_int *code)
{
    struct context *c = AS(context, handle, KIND_CONTEXT);
    struct event   *e = NULL;
    if (c) {
        pthread_mutex_lock(&driver_lock);
        e = event_create(c, NULL);
        pthread_mutex_unlock(&driver_lock);
    }
    if (code)
        *code = !c ? CL_INVALID_CONTEXT : !e ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    return (cl_event) e;
}

static cl_int CL_API_CALL set_user_event(cl_event handle, cl_int status)
{
    struct event *e = AS(event, handle, KIND_EVENT);
    if (!e || e->queue)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    const bool again = e->status <= CL_COMPLETE;
    if (!again)
        set_status(e, status);
    queue_wake();
    pthread_mutex_unlock(&driver_lock);
    return again ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    cl_int got = CL_SUCCESS;
    if (n == 0 || !events)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (!object_as(events[i], KIND_EVENT))
            return CL_INVALID_EVENT;
    pthread_mutex_lock(&driver_lock);
    for (cl_uint i = 0; i < n; i++) {
        const struct event *e = (const struct event *) events[i];
        while (e->status > CL_COMPLETE)
            pthread_cond_wait(&dispatcher.changed, &driver_lock);
        if (e->status < 0)
            got = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    pthread_mutex_unlock(&driver_lock);
    return got;
}

RETAIN_AND_RELEASE(event, cl_event, KIND_EVENT, CL_INVALID_EVENT)

static cl_int CL_API_CALL event_info(cl_event handle, cl_event_info what, size_t room, void *to, size_t *have)
{
    const struct event *e = AS(event, handle, KIND_EVENT);
    if (!e)
        return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_CONTEXT:
        ANSWER(cl_context, (cl_context) e->context);
    case CL_EVENT_COMMAND_EXECUTION_STATUS: {
        pthread_mutex_lock(&driver_lock);
        const cl_int status = e->status;
        pthread_mutex_unlock(&driver_lock);
        return answer(&status, sizeof status, room, to, have);
    }
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- mapping ------------------------------------------------------------------------------------------------- */

/* Memory of the device is the host's too: where it lies, once all before is done, whether the caller waits or not. */
static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags, size_t at,
                                    size_t bytes, cl_uint n, const cl_event *wait, cl_event *done, cl_int *code)
{
    const struct buffer *b = AS(buffer, mem, KIND_BUFFER);
    cl_event             event = NULL;
    cl_int               got = CL_SUCCESS;
    (void) blocking;
    (void) flags;
    if (!b)
        got = CL_INVALID_MEM_OBJECT;
    else if (bytes == 0 || at > b->bytes || bytes > b->bytes - at)
        got = CL_INVALID_VALUE;
    if (got == CL_SUCCESS)
        got = marker(queue, n, wait, &event);
    if (got == CL_SUCCESS)
        got = wait_for(1, &event);
    if (event && done && got == CL_SUCCESS)
        *done = event;
    else if (event)
        (void) release_event(event);
    if (code)
        *code = got;
    return got == CL_SUCCESS ? buffer_bytes(b) + at : NULL;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem mem, void *mapped, cl_uint n, const cl_event *wait,
                                cl_event *done)
{
    if (!object_as(mem, KIND_BUFFER))
        return CL_INVALID_MEM_OBJECT;
    return mapped ? marker(queue, n, wait, done) : CL_INVALID_VALUE;
}

void queue_fill_table(struct _cl_icd_dispatch *table);
void queue_fill_table(struct _cl_icd_dispatch *table)
{
    table->clCreateCommandQueue = create_queue;
    table->clCreateCommandQueueWithProperties = create_queue_with;
    table->clRetainCommandQueue = retain_queue;
    table->clReleaseCommandQueue = release_queue;
    table->clGetCommandQueueInfo = queue_info;
    table->clFlush = flush;
    table->clFinish = finish_queue;
    table->clEnqueueReadBuffer = read_buffer;
    table->clEnqueueWriteBuffer = write_buffer;
    table->clEnqueueFillBuffer = fill_buffer;
    table->clEnqueueCopyBuffer = copy_buffer;
    table->clEnqueueMapBuffer = map_buffer;
    table->clEnqueueUnmapMemObject = unmap;
    table->clEnqueueMarkerWithWaitList = marker;
    table->clEnqueueBarrierWithWaitList = barrier;
    table->clEnqueueNDRangeKernel = launch;
    table->clCreateUserEvent = create_user_event;
    table->clSetUserEventStatus = set_user_event;
    table->clWaitForEvents = wait_for;
    table->clRetainEvent = retain_event;
    table->clReleaseEvent = release_event;
    table->clGetEventInfo = event_info;
}
