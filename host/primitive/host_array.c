/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/host_array.h"

#include <assert.h>
#include <stdint.h>

static size_t size_of(const struct ordo_host_array *a)
{
    return a->count * a->bytes;
}

static const char *name_of(const struct ordo_host_array *a)
{
    const char *member = strrchr(a->name, '>');
    return member ? member + 1 : a->name;
}

static ordo_status check(ordo_device *dev, const struct ordo_host_array *a)
{
    const void *host = a->upload ? a->from : a->to;
    const char *name = name_of(a);
    ORDO_REQUIRE(dev, a->count <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "%s has %zu elements: " ORDO_AT_MOST, name, a->count,
                 ORDO_MAX_COUNT);
    ORDO_REQUIRE(dev, host || a->count == 0 || a->bytes == 0, ORDO_INVALID, "%s is NULL", name);
    ORDO_REQUIRE(dev, !host || a->bytes > 0, ORDO_INVALID, "%s is given, but its elements have 0 bytes", name);
    return ORDO_OK;
}

static const char *memory_of(const struct ordo_host_array *a)
{
    return a->download ? a->to : a->from;
}

static bool share_a_byte(const struct ordo_host_array *a, const struct ordo_host_array *b)
{
    const uintptr_t at = (uintptr_t) memory_of(a), other = (uintptr_t) memory_of(b);
    return size_of(a) > 0 && size_of(b) > 0 && at < other + size_of(b) && other < at + size_of(a);
}

static ordo_status check_apart(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            ORDO_REQUIRE(dev, !(arrays[i].download || arrays[k].download) || !share_a_byte(&arrays[i], &arrays[k]),
                         ORDO_INVALID, "%s and %s overlap", name_of(&arrays[k]), name_of(&arrays[i]));
    return ORDO_OK;
}

ordo_status ordo_host_check(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ORDO_TRY(check(dev, &arrays[i]));
    return check_apart(dev, arrays, n);
}

static void release(ordo_device *dev, struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].shared)
            ordo_buffer_leave(dev, &arrays[i].slice.mem);
        else if (arrays[i].slice.mem)
            ordo_buffer_destroy(dev, &arrays[i].slice.mem);
}

/* ---- large arrays -------------------------------------------------------------------------------------------- */

/* OpenCL forbids buffers over overlapping memory. */
static bool overlaps(const struct ordo_host_array *arrays, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (k != i && share_a_byte(&arrays[i], &arrays[k]))
            return true;
    return false;
}

/* Kernels load up to 16 bytes at once, at aligned addresses. */
static bool is_aligned(const struct ordo_host_array *a)
{
    const size_t power = a->bytes & (~a->bytes + 1);
    return (uintptr_t) memory_of(a) % (power < 16 ? power : 16) == 0;
}

/* Lets kernels use the caller's memory, if the device supports this. Skips arrays that are both input and output,
 * because a failed call must not change them. */
static void share(ordo_device *dev, struct ordo_host_array *arrays, size_t n, size_t i)
{
    struct ordo_host_array *a = &arrays[i];
    if (a->copied || size_of(a) == 0 || (a->upload && a->download) || !is_aligned(a) || overlaps(arrays, n, i))
        return;
    union { /* Removes const. Kernels only read inputs. */
        const void *of_caller;
        void       *of_device;
    } memory = { memory_of(a) };
    a->slice.mem = ordo_buffer_over(dev, memory.of_device, size_of(a));
    a->shared = a->slice.mem != NULL;
}

/* The caller may free its memory after the call, so no command may still use it. */
static ordo_status wait_if_shared(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].shared)
            return ordo_device_finish(dev);
    return ORDO_OK;
}

/* ---- small arrays -------------------------------------------------------------------------------------------- */

static size_t wanted_of(const struct ordo_host_array *a)
{
    const size_t count = a->limit && *a->limit < a->count ? *a->limit : a->count;
    return count * a->bytes;
}

/* Small arrays of a call share one buffer. Each begins at a multiple of STAGE_GRAIN bytes. */
#define STAGE_GRAIN 64

static size_t round_up(size_t at, size_t grain)
{
    return (at + grain - 1) / grain * grain;
}

/* For each array with upload == `up` and download == `down`, sets staged_at, its byte offset in the shared buffer. The
 * first array begins at offset `used` or later. Returns the offset after the last array. */
static size_t lay_out(struct ordo_host_array *arrays, size_t n, bool up, bool down, size_t used)
{
    for (size_t i = 0; i < n; i++) {
        struct ordo_host_array *a = &arrays[i];
        if (a->bytes == 0 || a->upload != up || a->download != down)
            continue;
        a->staged_at = round_up(round_up(used, STAGE_GRAIN), a->bytes);
        used = a->staged_at + size_of(a);
    }
    return used;
}

static bool are_small(const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].bytes > ORDO_STAGE_BYTES / 64 || arrays[i].count > ORDO_STAGE_BYTES)
            return false;
    return n > 0;
}

static ordo_status send_staged(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    if (!are_small(arrays, n))
        return ORDO_OK;
    const size_t       sent = lay_out(arrays, n, true, true, lay_out(arrays, n, true, false, 0));
    struct ordo_stage *stage = ordo_stage_take(call, lay_out(arrays, n, false, true, sent));
    if (!stage)
        return ORDO_OK;
    for (size_t i = 0; i < n; i++)
        if (arrays[i].upload && size_of(&arrays[i]) > 0)
            memcpy(ordo_stage_host(stage) + arrays[i].staged_at, arrays[i].from, size_of(&arrays[i]));
    const ordo_status status = ordo_stage_send(call, stage, sent);
    if (status != ORDO_OK || !ordo_stage_buffer(stage)) {
        ordo_stage_give(call->dev, stage, false);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        arrays[i].stage = stage;
        if (arrays[i].bytes)
            arrays[i].slice = ordo_at(ordo_stage_buffer(stage), arrays[i].staged_at / arrays[i].bytes);
    }
    return ORDO_OK;
}

static bool receives(const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].download && wanted_of(&arrays[i]) > 0)
            return true;
    return false;
}

static ordo_status fetch_staged(struct ordo_call *call, const struct ordo_host_array *arrays, size_t n,
                                struct ordo_pending_transfers *pending)
{
    size_t first = ORDO_STAGE_BYTES, end = 0;
    for (size_t i = 0; i < n; i++)
        if (arrays[i].download && wanted_of(&arrays[i]) > 0) {
            first = arrays[i].staged_at < first ? arrays[i].staged_at : first;
            end = arrays[i].staged_at + wanted_of(&arrays[i]) > end ? arrays[i].staged_at + wanted_of(&arrays[i]) : end;
        }
    return ordo_stage_fetch(call, arrays[0].stage, first, end - first, pending);
}

static void copy_staged(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    const struct ordo_stage *stage = arrays[0].stage;
    ordo_stage_received(dev, stage);
    for (size_t i = 0; i < n; i++)
        if (arrays[i].download && wanted_of(&arrays[i]) > 0)
            memcpy(arrays[i].to, ordo_stage_host(stage) + arrays[i].staged_at, wanted_of(&arrays[i]));
}

/* ---- transfers ----------------------------------------------------------------------------------------------- */

#define ARRAYS_MAX ORDO_TRANSFERS_MAX

static ordo_status write_all(struct ordo_call *call, const struct ordo_host_array *arrays, size_t n)
{
    struct ordo_transfer transfer[ARRAYS_MAX];
    size_t               n_transfers = 0;
    for (size_t i = 0; i < n; i++)
        if (arrays[i].upload && !arrays[i].shared)
            transfer[n_transfers++] = (struct ordo_transfer) { .mem = arrays[i].slice.mem,
                                                               .from = arrays[i].from,
                                                               .bytes = size_of(&arrays[i]) };
    struct ordo_pending_transfers pending = { .n = 0 };
    const ordo_status             status = ordo_call_transfer(call, true, transfer, n_transfers, &pending);
    const ordo_status             waited = ordo_call_await(call, &pending, false);
    return status == ORDO_OK ? waited : status;
}

static ordo_status create_and_write(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    assert(n <= ARRAYS_MAX);
    ORDO_TRY(ordo_host_check(call->dev, arrays, n));
    ORDO_TRY(send_staged(call, arrays, n));
    if (n == 0 || arrays[0].stage)
        return ORDO_OK;
    for (size_t i = 0; i < n; i++) {
        struct ordo_host_array *a = &arrays[i];
        share(call->dev, arrays, n, i);
        if (a->bytes && !a->shared)
            ORDO_TRY(ordo_buffer_create(call->dev, size_of(a), &a->slice.mem));
    }
    return write_all(call, arrays, n);
}

static ordo_status fetch_all(struct ordo_call *call, const struct ordo_host_array *arrays, size_t n,
                             struct ordo_pending_transfers *pending)
{
    struct ordo_transfer transfer[ARRAYS_MAX];
    size_t               n_transfers = 0;
    if (arrays[0].stage)
        return fetch_staged(call, arrays, n, pending);
    for (size_t i = 0; i < n; i++)
        if (arrays[i].download)
            transfer[n_transfers++] = (struct ordo_transfer) { .mem = arrays[i].slice.mem,
                                                               .to = arrays[i].to,
                                                               .bytes = wanted_of(&arrays[i]) };
    return ordo_call_transfer(call, false, transfer, n_transfers, pending);
}

static ordo_status read_all(struct ordo_call *call, const struct ordo_host_array *arrays, size_t n, bool unlocked)
{
    struct ordo_pending_transfers pending = { .n = 0 };
    if (!receives(arrays, n))
        return ORDO_OK;
    ordo_status       status = fetch_all(call, arrays, n, &pending);
    const ordo_status waited = ordo_call_await(call, &pending, unlocked);
    if (status == ORDO_OK)
        status = waited;
    if (status == ORDO_OK && arrays[0].stage)
        copy_staged(call->dev, arrays, n);
    return status;
}

ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    ORDO_TRY(read_all(call, arrays, n, false));
    for (size_t i = 0; i < n; i++)
        arrays[i].download = false;
    return ORDO_OK;
}

static void leave(ordo_device *dev, struct ordo_host_array *arrays, size_t n, bool idle)
{
    if (n > 0 && arrays[0].stage)
        ordo_stage_give(dev, arrays[0].stage, idle);
    else
        release(dev, arrays, n);
}

ordo_status ordo_host_begin(struct ordo_call *call, ordo_device *dev, struct ordo_last_call *last,
                            struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        arrays[i].slice = ordo_none();
        arrays[i].shared = false;
        arrays[i].stage = NULL;
    }
    ORDO_TRY(ordo_call_begin_after(call, dev, NULL, last, true));
    const ordo_status status = create_and_write(call, arrays, n);
    if (status == ORDO_OK)
        return ORDO_OK;
    leave(dev, arrays, n, false);
    return ordo_call_end(call, status);
}

ordo_status ordo_host_read(struct ordo_call *call, const struct ordo_host_array *array, ordo_status status)
{
    return status == ORDO_OK ? read_all(call, array, 1, false) : status;
}

ordo_status ordo_host_end(struct ordo_call *call, struct ordo_host_array *arrays, size_t n, ordo_status status)
{
    ordo_device *dev = call->dev;
    const bool   waits = receives(arrays, n);
    if (status == ORDO_OK)
        status = read_all(call, arrays, n, true);
    const ordo_status waited = waits && status == ORDO_OK ? ORDO_OK : wait_if_shared(dev, arrays, n);
    leave(dev, arrays, n, waits && status == ORDO_OK);
    return ordo_call_end(call, status == ORDO_OK ? waited : status);
}
