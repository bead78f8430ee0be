/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a large batch of queries in pieces. The device answers one piece while the next one is uploaded and results
 * of earlier ones are downloaded:
 *
 *    upload     0  1  2  3
 *    kernels       0  1  2  3
 *    download         0  1  2  3 */
#include "primitive/host_array.h"

#include <assert.h>

/* Maximum number of pieces in device memory. One piece may be late without delaying the three stages. */
#define SLOTS 4

/* Each array of a slot begins at a multiple of GRAIN bytes. */
#define GRAIN 64

/* Piece i uses slot i modulo SLOTS. */
struct slot {
    cl_mem                        mem;
    struct ordo_pending_transfers sent, received;
};

struct pieces {
    const struct ordo_host_queries *of;
    struct ordo_host_array         *arrays;
    size_t                          n;
    size_t                          piece; /* queries */
    struct ordo_call                call;
    struct ordo_overlap             overlap;
    struct slot                     slot[SLOTS];
};

/* ---- size -------------------------------------------------------------------------------------------------------- */

static const void *memory_of(const struct ordo_host_array *a)
{
    return a->upload ? a->from : a->to;
}

static bool are_pinned(ordo_device *dev, const struct ordo_host_array *arrays, size_t first, size_t n)
{
    for (size_t i = first; i < n; i++)
        if (arrays[i].bytes > 0 && !ordo_is_pinned(dev, memory_of(&arrays[i]), arrays[i].count * arrays[i].bytes))
            return false;
    return true;
}

/* Returns the number of queries of a piece, or the whole batch. A power of two keeps transfers aligned. */
static size_t choose_piece(ordo_device *dev, const struct ordo_host_queries *of, const struct ordo_host_array *arrays,
                           size_t n)
{
    const size_t most = ordo_piece_bytes(dev);
    size_t       up = 0, down = 0, piece = 1;

    for (size_t i = of->n_whole; i < n; i++) {
        up += arrays[i].upload ? arrays[i].bytes : 0;
        down += arrays[i].download ? arrays[i].bytes : 0;
    }
    if (most == 0 || up == 0 || down == 0)
        return of->count;
    while (2 * piece * (up + down) <= most)
        piece *= 2;
    return of->count > 2 * piece && are_pinned(dev, arrays, of->n_whole, n) ? piece : of->count;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static size_t first_of(const struct pieces *p, size_t i)
{
    return i * p->piece;
}

static size_t count_of(const struct pieces *p, size_t i)
{
    const size_t rest = p->of->count - first_of(p, i);
    return rest < p->piece ? rest : p->piece;
}

static size_t list_transfers(const struct pieces *p, size_t i, bool up, struct ordo_transfer *out)
{
    size_t n = 0;

    for (size_t k = p->of->n_whole; k < p->n; k++) {
        const struct ordo_host_array *a = &p->arrays[k];
        const size_t                  at = first_of(p, i) * a->bytes;
        if (a->bytes == 0 || !(up ? a->upload : a->download))
            continue;
        out[n] = (struct ordo_transfer) { .mem = p->slot[i % SLOTS].mem,
                                          .at = a->staged_at,
                                          .bytes = count_of(p, i) * a->bytes };
        if (up)
            out[n].from = (const char *) a->from + at;
        else
            out[n].to = (char *) a->to + at;
        n++;
    }
    return n;
}

static ordo_status send(struct pieces *p, size_t i)
{
    struct ordo_transfer transfer[ORDO_TRANSFERS_MAX];
    struct slot         *slot = &p->slot[i % SLOTS];

    ORDO_TRY(ordo_call_await(&p->overlap.down, &slot->received, false));
    return ordo_overlap_send(&p->overlap, transfer, list_transfers(p, i, true, transfer), &slot->sent);
}

/* Waits for the upload. If it failed after the kernels were enqueued, the driver might drop some of them. */
static ordo_status answer(struct pieces *p, size_t i)
{
    struct ordo_transfer    transfer[ORDO_TRANSFERS_MAX];
    struct slot            *slot = &p->slot[i % SLOTS];
    cl_event                done = NULL;
    const struct ordo_order order = { .done = &done };

    ORDO_TRY(ordo_call_await(&p->overlap.up, &slot->sent, false));
    for (size_t k = p->of->n_whole; k < p->n; k++)
        if (p->arrays[k].bytes > 0)
            p->arrays[k].slice = ordo_at(slot->mem, p->arrays[k].staged_at / p->arrays[k].bytes);
    ORDO_TRY(p->of->run(p->of->user, p->arrays, count_of(p, i), &order));
    return ordo_overlap_fetch(&p->overlap, done, transfer, list_transfers(p, i, false, transfer), &slot->received);
}

static ordo_status run_stages(struct pieces *p)
{
    for (size_t i = 0; first_of(p, i) < p->of->count; i++) {
        ORDO_TRY(send(p, i));
        if (i > 0)
            ORDO_TRY(answer(p, i - 1));
    }
    return answer(p, (p->of->count - 1) / p->piece);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static ordo_status take_slots(struct pieces *p)
{
    size_t bytes = 0;

    for (size_t k = p->of->n_whole; k < p->n; k++) {
        struct ordo_host_array *a = &p->arrays[k];
        assert(a->bytes == 0 || (a->count == p->of->count && GRAIN % a->bytes == 0));
        a->slice = ordo_none();
        a->staged_at = bytes;
        bytes += (p->piece * a->bytes + GRAIN - 1) / GRAIN * GRAIN;
    }
    for (size_t i = 0; i < SLOTS && first_of(p, i) < p->of->count; i++)
        ORDO_TRY(ordo_call_scratch(&p->call, bytes, &p->slot[i].mem));
    return ORDO_OK;
}

/* The caller may free its arrays after the call, so no transfer may still run then. */
static ordo_status drain(struct pieces *p, ordo_status status)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const ordo_status sent = ordo_call_await(&p->overlap.up, &p->slot[i].sent, true);
        const ordo_status received = ordo_call_await(&p->overlap.down, &p->slot[i].received, true);
        if (status == ORDO_OK)
            status = sent == ORDO_OK ? received : sent;
    }
    return status;
}

static ordo_status begin_and_run(struct pieces *p)
{
    ORDO_TRY(take_slots(p));
    ORDO_TRY(ordo_overlap_begin(&p->call, &p->overlap));
    return drain(p, run_stages(p));
}

static ordo_status run_pieces(ordo_device *dev, struct ordo_last_call *last, struct pieces *p)
{
    const size_t n_whole = p->of->n_whole;

    ORDO_TRY(ordo_host_check(dev, p->arrays, p->n));
    ORDO_TRY(ordo_host_begin(&p->call, dev, last, p->arrays, n_whole));
    return ordo_host_end(&p->call, p->arrays, n_whole, begin_and_run(p));
}

static ordo_status run_whole(ordo_device *dev, struct ordo_last_call *last, const struct ordo_host_queries *of,
                             struct ordo_host_array *arrays, size_t n)
{
    struct ordo_call call;

    ORDO_TRY(ordo_host_begin(&call, dev, last, arrays, n));
    return ordo_host_end(&call, arrays, n, of->run(of->user, arrays, of->count, NULL));
}

ordo_status ordo_host_query(ordo_device *dev, struct ordo_last_call *last, const struct ordo_host_queries *of,
                            struct ordo_host_array *arrays, size_t n)
{
    struct pieces p = { .of = of, .arrays = arrays, .n = n, .piece = choose_piece(dev, of, arrays, n) };

    return p.piece < of->count ? run_pieces(dev, last, &p) : run_whole(dev, last, of, arrays, n);
}
