/* SPDX-License-Identifier: Apache-2.0 */
/* Host arrays as arguments: see host_array.h. */
#include "primitive/host_array.h"

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
        if (arrays[i].slice.mem)
            ordo_buffer_destroy(dev, &arrays[i].slice.mem);
}

static ordo_status create_and_write(struct ordo_call *call, struct ordo_host_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ordo_host_array *a = &arrays[i];

        ORDO_TRY(check(call->dev, a));
        if (a->bytes)
            ORDO_TRY(ordo_buffer_create(call->dev, size_of(a), &a->slice.mem));
        if (a->upload)
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
    for (size_t i = 0; i < n; i++)
        arrays[i].slice = ordo_none();

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
    release(dev, arrays, n);
    return status;
}
