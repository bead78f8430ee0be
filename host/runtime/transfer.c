/* SPDX-License-Identifier: Apache-2.0 */
/* Large arrays between host and device: in pieces, by a ring of pinned memory that the device keeps.
 *
 *     array  --helpers-->  ring  --commands-->  device        and the other way round
 *
 * Drivers copy what is not pinned by themselves, at 12 GB/s on an H200 whose link does 54: one thread copies there. Helpers copy
 * side by side, each a piece; this thread enqueues the commands, and waits for them. To pin the arrays themselves is no
 * faster (64 MiB: 3.3 ms and 1.6 ms to let go, beside 1.3 ms of copying).
 *
 * Piece i lies in slot i modulo SLOTS. Helpers take pieces in order, up to the `allowed`-th: of a download those that have come,
 * of an upload those whose slot is free. slot_done[s] is 1 more than the last piece of slot s that was copied. */
#include "internal.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define SLOTS 16
/* Commands on their way at a time. */
#define DEPTH 4
/* With fewer helpers the driver's own copies are as fast; more share one link. */
#define HELPERS_LEAST 3
#define HELPERS_MOST  8

struct pieces {
    const struct ordo_transfer *array;
    size_t                      n_arrays, n;
    size_t                      bytes; /* of each but an array's last */
    bool                        upload;
    char                       *ring;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t  changed;
    size_t          next, allowed;
    size_t          slot_done[SLOTS];
    bool            stop;
    pthread_t       helper[HELPERS_MOST];
    int             n_helpers;
};

struct piece {
    const struct ordo_transfer *of;
    size_t                      at, bytes;
};

static size_t pieces_of(const struct ordo_transfer *array, size_t bytes)
{
    return array->bytes / bytes + (array->bytes % bytes != 0);
}

static struct piece piece_of(const struct pieces *p, size_t i)
{
    const struct ordo_transfer *array = p->array;

    for (size_t n; i >= (n = pieces_of(array, p->bytes)); array++)
        i -= n;
    const size_t at = i * p->bytes, rest = array->bytes - at;
    return (struct piece) { array, at, rest < p->bytes ? rest : p->bytes };
}

static char *slot_of(const struct pieces *p, size_t i)
{
    return p->ring + i % SLOTS * p->bytes;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static void copy_piece(const struct pieces *p, size_t i)
{
    const struct piece piece = piece_of(p, i);

    if (p->upload)
        memcpy(slot_of(p, i), (const char *) piece.of->from + piece.at, piece.bytes);
    else
        memcpy((char *) piece.of->to + piece.at, slot_of(p, i), piece.bytes);
}

static void *help(void *argument)
{
    struct pieces *p = argument;

    pthread_mutex_lock(&p->lock);
    while (!p->stop && p->next < p->n) {
        if (p->next == p->allowed) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        const size_t i = p->next++;
        pthread_mutex_unlock(&p->lock);
        copy_piece(p, i);
        pthread_mutex_lock(&p->lock);
        p->slot_done[i % SLOTS] = i + 1;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void allow(struct pieces *p, size_t allowed)
{
    pthread_mutex_lock(&p->lock);
    p->allowed = allowed < p->n ? allowed : p->n;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void wait_copied(struct pieces *p, size_t i)
{
    pthread_mutex_lock(&p->lock);
    while (p->slot_done[i % SLOTS] != i + 1)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* Signals are the caller's threads'. */
static void start_helpers(struct pieces *p, int wanted)
{
    sigset_t all, before;

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (p->n_helpers < wanted && pthread_create(&p->helper[p->n_helpers], NULL, help, p) == 0)
        p->n_helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_helpers(struct pieces *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_helpers; i++)
        pthread_join(p->helper[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* Commands on their way; that of piece i is done[i modulo DEPTH]. */
struct commands {
    cl_event done[DEPTH];
};

static ordo_status enqueue(struct ordo_call *call, const struct pieces *p, struct commands *c, size_t i)
{
    const struct piece piece = piece_of(p, i);
    cl_event          *done = &c->done[i % DEPTH];

    if (p->upload)
        ORDO_TRY(ordo_call_send(call, piece.of->mem, piece.at, slot_of(p, i), piece.bytes, done));
    else
        ORDO_TRY(ordo_call_fetch(call, piece.of->mem, piece.at, slot_of(p, i), piece.bytes, done));
    ORDO_TRY_CL(call->dev, clFlush(call->queue), "clFlush");
    return ORDO_OK;
}

static ordo_status wait_done(struct ordo_call *call, struct commands *c, size_t i)
{
    cl_event *done = &c->done[i % DEPTH];

    ORDO_TRY_WAIT(call->dev, clWaitForEvents(1, done), "clWaitForEvents");
    clReleaseEvent(*done);
    *done = NULL;
    return ORDO_OK;
}

static ordo_status download(struct ordo_call *call, struct pieces *p, struct commands *c)
{
    for (size_t i = 0; i < p->n + DEPTH; i++) {
        if (i >= DEPTH) {
            ORDO_TRY(i - DEPTH < p->n ? wait_done(call, c, i - DEPTH) : ORDO_OK);
            allow(p, i - DEPTH + 1);
        }
        if (i < p->n && i >= SLOTS)
            wait_copied(p, i - SLOTS);
        if (i < p->n)
            ORDO_TRY(enqueue(call, p, c, i));
    }
    for (size_t i = p->n > SLOTS ? p->n - SLOTS : 0; i < p->n; i++)
        wait_copied(p, i);
    return ORDO_OK;
}

static ordo_status upload(struct ordo_call *call, struct pieces *p, struct commands *c)
{
    allow(p, SLOTS);
    for (size_t i = 0; i < p->n + DEPTH; i++) {
        if (i >= DEPTH && i - DEPTH < p->n) {
            ORDO_TRY(wait_done(call, c, i - DEPTH));
            allow(p, i - DEPTH + 1 + SLOTS);
        }
        if (i < p->n) {
            wait_copied(p, i);
            ORDO_TRY(enqueue(call, p, c, i));
        }
    }
    return ORDO_OK;
}

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

void ordo_ring_destroy(ordo_device *dev)
{
    if (dev->ring.host)
        clEnqueueUnmapMemObject(dev->queue, dev->ring.mem, dev->ring.host, 0, NULL, NULL);
    if (dev->ring.mem)
        clReleaseMemObject(dev->ring.mem);
    dev->ring.host = NULL;
    dev->ring.mem = NULL;
}

/* Without one, arrays go as the driver has it. */
static bool has_ring(ordo_device *dev)
{
    const size_t bytes = SLOTS * dev->ring.piece;
    cl_int       code = CL_SUCCESS;

    if (dev->ring.host)
        return true;
    dev->ring.mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    if (code == CL_SUCCESS && dev->ring.mem)
        dev->ring.host = clEnqueueMapBuffer(dev->queue, dev->ring.mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                            NULL, NULL, &code);
    if (!dev->ring.host)
        ordo_ring_destroy(dev);
    return dev->ring.host != NULL;
}

/* After an error commands may still be on their way to the ring, or from it. */
static void abandon(ordo_device *dev, struct commands *c)
{
    for (size_t i = 0; i < DEPTH; i++)
        if (c->done[i])
            clReleaseEvent(c->done[i]);
    if (clFinish(dev->queue) != CL_SUCCESS)
        ordo_ring_destroy(dev);
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

void ordo_ring_open(ordo_device *dev)
{
    const long units = sysconf(_SC_NPROCESSORS_ONLN) / 2;

    dev->stage_most = ORDO_STAGE_BYTES;
    dev->ring.piece = (size_t) 1 << 20;
    dev->ring.least = (size_t) 2 << 20;
    dev->ring.helpers = units < HELPERS_LEAST ? 0 : units > HELPERS_MOST ? HELPERS_MOST : (int) units;
}

static ordo_status transfer_plainly(struct ordo_call *call, bool up, const struct ordo_transfer *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (up)
            ORDO_TRY(ordo_call_write(call, arrays[i].mem, 0, arrays[i].from, arrays[i].bytes));
        else
            ORDO_TRY(ordo_call_read(call, arrays[i].mem, 0, arrays[i].to, arrays[i].bytes));
    return ORDO_OK;
}

ordo_status ordo_call_transfer(struct ordo_call *call, bool up, const struct ordo_transfer *arrays, size_t n)
{
    ordo_device    *dev = call->dev;
    struct pieces   p = { .array = arrays, .n_arrays = n, .bytes = dev->ring.piece, .upload = up };
    struct commands c = { { NULL } };
    size_t          all = 0;

    for (size_t i = 0; i < n; i++)
        all += arrays[i].bytes;
    if (dev->facts.cpu || dev->ring.helpers == 0 || all < dev->ring.least || !has_ring(dev))
        return transfer_plainly(call, up, arrays, n);
    for (size_t i = 0; i < n; i++)
        p.n += pieces_of(&arrays[i], p.bytes);
    p.ring = dev->ring.host;
    start_helpers(&p, dev->ring.helpers);
    ordo_status status = ORDO_OK;
    if (p.n_helpers == 0)
        status = transfer_plainly(call, up, arrays, n);
    else if (up)
        status = upload(call, &p, &c);
    else
        status = download(call, &p, &c);
    end_helpers(&p);
    if (status != ORDO_OK)
        abandon(dev, &c);
    return status;
}
