/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"

#include <stdlib.h>
#include <string.h>

void buffers_free(struct buffers *buffers)
{
    device_release(buffers->at, BUFFERS_MAX);
    for (int i = 0; i < BUFFERS_MAX; i++)
        if (buffers->pinned)
            (void) ordo_host_free(buffers->device, buffers->host[i]);
        else
            free(buffers->host[i]);
    *buffers = (struct buffers) { .device = buffers->device };
}

static ordo_status make_array(struct buffers *buffers, int i, const void *from)
{
    if (buffers->on_host) {
        if (buffers->pinned)
            TRY(ordo_host_alloc(buffers->device, buffers->bytes[i], &buffers->host[i]));
        else if (!(buffers->host[i] = malloc(buffers->bytes[i])))
            return ORDO_NO_HOST_MEMORY;
        if (from)
            memcpy(buffers->host[i], from, buffers->bytes[i]);
        return ORDO_OK;
    }
    TRY(device_buffer(buffers->device, buffers->bytes[i], &buffers->at[i]));
    return from ? device_write(buffers->device, buffers->at[i], from, buffers->bytes[i]) : ORDO_OK;
}

ordo_status buffers_make(struct buffers *buffers, const size_t *bytes, const void *const *from, char *why)
{
    for (int i = 0; i < buffers->n; i++) {
        const bool unused = buffers->on_host && !buffers->pinned && i < buffers->n_inputs;
        buffers->bytes[i] = unused ? 0 : bytes[i];
        const ordo_status got =
            buffers->bytes[i] ? make_array(buffers, i, i < buffers->n_inputs ? from[i] : NULL) : ORDO_OK;
        if (got == ORDO_OK)
            continue;
        because(why, "cannot place the workload's arrays: %s", ordo_status_string(got));
        return buffers->on_host ? ORDO_NO_HOST_MEMORY : ORDO_NO_DEVICE_MEMORY;
    }
    return ORDO_OK;
}

ordo_status buffers_poison(struct buffers *buffers)
{
    for (int i = buffers->n_inputs; i < buffers->n; i++) {
        if (buffers->host[i])
            fill_bytes(buffers->host[i], POISON_BYTE, buffers->bytes[i]);
        TRY(device_fill(buffers->device, buffers->at[i], POISON_BYTE, buffers->bytes[i]));
    }
    return ordo_device_finish(buffers->device);
}

void *buffers_read(const struct buffers *buffers, int i, char *why)
{
    void *got = malloc(buffers->bytes[i] + 1);
    if (got && buffers->host[i])
        return memcpy(got, buffers->host[i], buffers->bytes[i]);
    if (got && (!buffers->at[i] || device_read(buffers->device, buffers->at[i], got, buffers->bytes[i]) == ORDO_OK))
        return got;
    free(got);
    because(why, "cannot read the results");
    return NULL;
}

struct ordo_slice buffers_at(const struct buffers *buffers, int i, size_t at)
{
    return buffers->at[i] ? ordo_at(buffers->at[i], at) : ordo_none();
}
