/* SPDX-License-Identifier: Apache-2.0 */
/* Host arrays as arguments: see host_array.h. */
#include "primitive/host_array.h"

#include <stdint.h>

/* Of the whole array. */
static size_t size_of(const struct ordo_host_array *a)
{
    return a->count * a->bytes;
}

static ordo_status check(ordo_device *dev, const struct ordo_host_array *a)
{
    const void *host = a->upload ? a->from : a->to;
    const char *member = strrchr(a->name, '>'), *name = member ? member + 1 : a->name; /* "b->keys": keys */

    ORDO_REQUIRE(dev, a->count <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "%s has %zu elements: " ORDO_AT_MOST, name, a->count,
                 ORDO_MAX_COUNT);
    ORDO_REQUIRE(dev, host || a->count == 0 || a->bytes == 0, ORDO_INVALID, "%s is NULL", name);
    ORDO_REQUIRE(dev, !host || a->bytes > 0, ORDO_INVALID, "%s is given, but its elements have 0 bytes", name);
    return ORDO_OK;
}

static void release(ordo_device *dev, struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].shared)
            ordo_buffer_leave(dev, &arrays[i].slice.mem);
        else if (arrays[i].slice.mem)
            ordo_buffer_destroy(dev, &arrays[i].slice.mem);
}

/* ---- arrays as they are -------------------------------------------------------------------------------------- */

static const char *memory_of(const struct ordo_host_array *a)
{
    return a->download ? a->to : a->from;
}

/* Whether an array shares a byte with another one: two buffers over one memory are not allowed. */
static bool overlaps(const struct ordo_host_array *arrays, size_t n, size_t i)
{
    const char *const begin = memory_of(&arrays[i]), *const end = begin + size_of(&arrays[i]);

    for (size_t k = 0; k < n; k++) {
        const char *const other = memory_of(&arrays[k]);
        if (k != i && other && other < end && begin < other + size_of(&arrays[k]))
            return true;
    }
    return false;
}

/* Kernels take elements to lie as the compiler lays them: at a multiple of the largest power of two in their size, up to 8. */
static bool is_aligned(const struct ordo_host_array *a)
{
    const size_t power = a->bytes & (~a->bytes + 1);

    return (uintptr_t) memory_of(a) % (power < 8 ? power : 8) == 0;
}

/* The array as a buffer, where the device works in the same memory. What is read and written is not: a call that fails
 * half-way must leave it as it was. */
static void share(ordo_device *dev, struct ordo_host_array *arrays, size_t n, size_t i)
{
    struct ordo_host_array *a = &arrays[i];

    if (a->copied || size_of(a) == 0 || (a->upload && a->download) || !is_aligned(a) || overlaps(arrays, n, i))
        return;
    union { /* what is only read is not written there, either */
        const void *of_caller;
        void       *of_device;
    } memory = { memory_of(a) };
    a->slice.mem = ordo_buffer_over(dev, memory.of_device, size_of(a));
    a->shared = a->slice.mem != NULL;
}

/* Commands that still run may work in the caller's memory. */
static ordo_status wait_if_shared(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].shared)
            return ordo_device_finish(dev);
    return ORDO_OK;
}

/* ---- to the device and back ---------------------------------------------------------------------------------- */

static ordo_status create_and_write(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ORDO_TRY(check(call->dev, &arrays[i]));
    for (size_t i = 0; i < n; i++) {
        struct ordo_host_array *a = &arrays[i];

        share(call->dev, arrays, n, i);
        if (a->bytes && !a->shared)
            ORDO_TRY(ordo_buffer_create(call->dev, size_of(a), &a->slice.mem));
        if (a->upload && !a->shared)
            ORDO_TRY(ordo_call_write(call, a->slice.mem, 0, a->from, size_of(a)));
    }
    return ORDO_OK;
}

/* What is received of the array. */
static size_t wanted_of(const struct ordo_host_array *a)
{
    const size_t count = a->limit && *a->limit < a->count ? *a->limit : a->count;
    return count * a->bytes;
}

static ordo_status read_all(struct ordo_call *call, const struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (arrays[i].download)
            ORDO_TRY(ordo_call_read(call, arrays[i].slice.mem, 0, arrays[i].to, wanted_of(&arrays[i])));
    return ORDO_OK;
}

ordo_status ordo_host_receive(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    ORDO_TRY(read_all(call, arrays, n));
    for (size_t i = 0; i < n; i++)
        arrays[i].download = false;
    return ORDO_OK;
}

static ordo_status upload(ordo_device *dev, struct ordo_host_array *arrays, size_t n)
{
    struct ordo_call call;

    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    return ordo_call_end(&call, create_and_write(&call, arrays, n));
}

static ordo_status download(ordo_device *dev, const struct ordo_host_array *arrays, size_t n)
{
    struct ordo_call call;

    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    return ordo_call_end(&call, read_all(&call, arrays, n));
}

ordo_status ordo_host_upload(ordo_device *dev, struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        arrays[i].slice = ordo_none();
        arrays[i].shared = false;
    }

    const ordo_status status = upload(dev, arrays, n);
    if (status != ORDO_OK)
        release(dev, arrays, n);
    return status;
}

ordo_status ordo_host_read(ordo_device *dev, const struct ordo_host_array *array, ordo_status status)
{
    return status == ORDO_OK ? download(dev, array, 1) : status;
}

ordo_status ordo_host_finish(ordo_device *dev, struct ordo_host_array *arrays, size_t n, ordo_status status)
{
    if (status == ORDO_OK)
        status = download(dev, arrays, n);
    const ordo_status waited = wait_if_shared(dev, arrays, n);
    release(dev, arrays, n);
    return status == ORDO_OK ? waited : status;
}
