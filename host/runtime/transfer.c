/* SPDX-License-Identifier: Apache-2.0 */
/* Copies large arrays in pieces, through a ring of pinned memory. Helper threads copy between array and ring. The
 * calling thread enqueues commands and waits for them. Other arrays, and those in pinned memory, are copied by one
 * command each.
 *
 *    array  --helpers-->  ring  --commands-->  device        (upload; a download goes the other way) */
#include "internal.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define SLOTS 16
/* Maximum number of commands that are enqueued and have not ended. */
#define DEPTH 4
/* The driver copies with one thread, at 12 GB/s on an H200. Fewer than HELPERS_MIN helper threads are not faster. */
#define HELPERS_MIN 3
#define HELPERS_MAX 8

/* Piece i of the arrays uses slot i modulo SLOTS of the ring. Helper threads may copy the first `allowed` pieces.
 * slot_done[s] is 1 + the index of the last piece that was copied in slot s. */
struct pieces {
    const struct ordo_transfer *array;
    size_t                      n;
    size_t                      bytes;
    bool                        upload;
    char                       *ring;
    cl_event                    done[DEPTH];

    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t  changed;
    size_t          next, allowed;
    size_t          slot_done[SLOTS];
    bool            stop;
    pthread_t       helper[HELPERS_MAX];
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

/* Blocks all signals in the helpers, because only the application's threads may handle signals. */
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

/* Waits until the helper threads end. If `stop` is false, they copy all remaining pieces before they end. */
static void end_helpers(struct pieces *p, bool stop)
{
    pthread_mutex_lock(&p->lock);
    p->stop = stop;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_helpers; i++)
        pthread_join(p->helper[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static ordo_status enqueue(struct ordo_call *call, struct pieces *p, size_t i)
{
    const struct piece piece = piece_of(p, i);
    cl_event          *done = &p->done[i % DEPTH];

    if (p->upload)
        ORDO_TRY(ordo_call_send(call, piece.of->mem, piece.of->at + piece.at, slot_of(p, i), piece.bytes, done));
    else
        ORDO_TRY(ordo_call_fetch(call, piece.of->mem, piece.of->at + piece.at, slot_of(p, i), piece.bytes, done));
    ORDO_TRY_CL(call->dev, clFlush(call->queue), "clFlush");
    return ORDO_OK;
}

static ordo_status wait_done(struct ordo_call *call, struct pieces *p, size_t i)
{
    cl_event *done = &p->done[i % DEPTH];

    ORDO_TRY_WAIT(call->dev, clWaitForEvents(1, done), "clWaitForEvents");
    clReleaseEvent(*done);
    *done = NULL;
    return ORDO_OK;
}

static ordo_status transfer(struct ordo_call *call, struct pieces *p)
{
    const size_t ahead = p->upload ? SLOTS : 0;

    allow(p, ahead);
    for (size_t i = 0; i < p->n + DEPTH; i++) {
        if (i >= DEPTH && i - DEPTH < p->n) {
            ORDO_TRY(wait_done(call, p, i - DEPTH));
            allow(p, i - DEPTH + 1 + ahead);
        }
        if (i < p->n && i + ahead >= SLOTS)
            wait_copied(p, i + ahead - SLOTS);
        if (i < p->n)
            ORDO_TRY(enqueue(call, p, i));
    }
    return ORDO_OK;
}

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

void ordo_ring_destroy(ordo_device *dev)
{
    if (dev->ring.mem)
        ordo_pinned_destroy(dev, &dev->ring.mem, dev->ring.host);
    dev->ring.host = NULL;
}

static bool has_ring(ordo_device *dev)
{
    if (!dev->ring.host)
        (void) ordo_pinned_create(dev, SLOTS * dev->ring.piece, &dev->ring.mem, &dev->ring.host);
    return dev->ring.host != NULL;
}

static void abandon(const struct ordo_call *call, struct pieces *p)
{
    for (size_t i = 0; i < DEPTH; i++)
        if (p->done[i])
            clReleaseEvent(p->done[i]);
    if (clFinish(call->queue) != CL_SUCCESS)
        ordo_ring_destroy(call->dev);
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

void ordo_ring_open(ordo_device *dev)
{
    const long units = sysconf(_SC_NPROCESSORS_ONLN) / 2;

    dev->stage_most = ORDO_STAGE_BYTES;
    dev->ring.piece = (size_t) 1 << 20;
    dev->ring.least = (size_t) 2 << 20;
    dev->ring.helpers = units < HELPERS_MIN ? 0 : units > HELPERS_MAX ? HELPERS_MAX : (int) units;
}

/* Transfers an array. Waits for a download to ordinary memory, which may be the caller's stack: if a wait fails, no
 * command may write to it later. */
static ordo_status start(struct ordo_call *call, bool up, const struct ordo_transfer *array,
                         struct ordo_pending_transfers *pending)
{
    cl_event *const event = &pending->event[pending->n];

    *event = NULL;
    if (!up && !ordo_is_pinned(call->dev, array->to, array->bytes))
        return ordo_call_read(call, array->mem, array->at, array->to, array->bytes);
    if (up)
        ORDO_TRY(ordo_call_send(call, array->mem, array->at, array->from, array->bytes, event));
    else
        ORDO_TRY(ordo_call_fetch(call, array->mem, array->at, array->to, array->bytes, event));
    pending->n += *event != NULL;
    return ORDO_OK;
}

static ordo_status transfer_in_pieces(struct ordo_call *call, bool up, const struct ordo_transfer *arrays, size_t n,
                                      struct ordo_pending_transfers *pending)
{
    ordo_device  *dev = call->dev;
    struct pieces p = { .array = arrays, .bytes = dev->ring.piece, .upload = up, .ring = dev->ring.host };

    for (size_t i = 0; i < n; i++)
        p.n += pieces_of(&arrays[i], p.bytes);
    start_helpers(&p, dev->ring.helpers);
    ordo_status status = ORDO_OK;
    if (p.n_helpers)
        status = transfer(call, &p);
    for (size_t i = 0; i < n && p.n_helpers == 0 && status == ORDO_OK; i++)
        status = start(call, up, &arrays[i], pending);
    end_helpers(&p, status != ORDO_OK);
    if (status != ORDO_OK)
        abandon(call, &p);
    return status;
}

static const void *memory_of(const struct ordo_transfer *array, bool up)
{
    return up ? array->from : array->to;
}

static bool uses_ring(ordo_device *dev, bool up, const struct ordo_transfer *arrays, size_t n)
{
    size_t pageable = 0;

    if (dev->facts.cpu || dev->ring.helpers == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!ordo_is_pinned(dev, memory_of(&arrays[i], up), arrays[i].bytes))
            pageable += arrays[i].bytes;
    return pageable >= dev->ring.least && has_ring(dev);
}

ordo_status ordo_call_transfer(struct ordo_call *call, bool up, struct ordo_transfer *arrays, size_t n,
                               struct ordo_pending_transfers *pending)
{
    const bool ring = uses_ring(call->dev, up, arrays, n);
    size_t     n_pieces = 0;

    for (size_t i = 0; i < n; i++)
        if (ring && !ordo_is_pinned(call->dev, memory_of(&arrays[i], up), arrays[i].bytes))
            arrays[n_pieces++] = arrays[i];
        else
            ORDO_TRY(start(call, up, &arrays[i], pending));
    return n_pieces > 0 ? transfer_in_pieces(call, up, arrays, n_pieces, pending) : ORDO_OK;
}
