/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates host memory for callers. */
#include "internal.h"

#include <stdlib.h>

static bool add_block(ordo_device *dev, struct ordo_host_block block)
{
    struct ordo_host_block *blocks = realloc(dev->host_blocks, (dev->n_host_blocks + 1) * sizeof *blocks);

    if (!blocks)
        return false;
    dev->host_blocks = blocks;
    const size_t at = ordo_host_blocks_up_to(dev, block.host);
    memmove(&blocks[at + 1], &blocks[at], (dev->n_host_blocks++ - at) * sizeof *blocks);
    blocks[at] = block;
    return true;
}

static void remove_block(ordo_device *dev, struct ordo_host_block *block)
{
    const struct ordo_host_block *end = &dev->host_blocks[dev->n_host_blocks--];

    memmove(block, block + 1, (size_t) (end - (block + 1)) * sizeof *block);
}

static ordo_status create(ordo_device *dev, size_t bytes, struct ordo_host_block *out)
{
    *out = (struct ordo_host_block) { .bytes = bytes };
    if (dev->facts.cpu) {
        out->host = ordo_large_pages(bytes);
        ORDO_REQUIRE(dev, out->host, ORDO_NO_HOST_MEMORY, "the system has no %zu bytes of host memory", bytes);
        return ORDO_OK;
    }
    ORDO_TRY_CL(dev, ordo_pinned_create(dev, bytes, &out->pinned, &out->host),
                "clCreateBuffer or clEnqueueMapBuffer of %zu bytes of host memory", bytes);
    return ORDO_OK;
}

/* In the child of a fork, does not call the driver. */
static void destroy(ordo_device *dev, struct ordo_host_block *block)
{
    if (!block->pinned)
        free(block->host);
    else if (dev->pid == getpid())
        ordo_pinned_destroy(dev, &block->pinned, block->host);
}

/* Does not hold the lock while it waits for the driver. */
ordo_status ordo_host_alloc(ordo_device *dev, size_t bytes, void **out)
{
    struct ordo_host_block block;

    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    ORDO_REQUIRE(dev, bytes > 0, ORDO_INVALID, "bytes is 0");
    ORDO_REQUIRE(dev, bytes <= dev->facts.max_alloc_bytes, ORDO_TOO_LARGE,
                 "%zu bytes of host memory exceed the device's largest allocation, %llu", bytes,
                 (unsigned long long) dev->facts.max_alloc_bytes);
    ORDO_TRY(create(dev, bytes, &block));
    ordo_lock(dev);
    const bool added = add_block(dev, block);
    ordo_unlock(dev);
    if (!added) {
        destroy(dev, &block);
        return ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    }
    ordo_device_hold(dev);
    *out = block.host;
    return ORDO_OK;
}

/* In the child of a fork, a thread that does not exist there may hold the lock. */
static bool enter(ordo_device *dev)
{
    return (dev->pid == getpid() ? pthread_mutex_lock(&dev->lock) : pthread_mutex_trylock(&dev->lock)) == 0;
}

ordo_status ordo_host_free(ordo_device *dev, void *memory)
{
    size_t                 at = 0;
    struct ordo_host_block block = { .bytes = 0 };

    ORDO_REQUIRE_GIVEN(dev, dev);
    if (!memory)
        return ORDO_OK;
    ORDO_REQUIRE(dev, enter(dev), ORDO_FORKED, NULL);
    struct ordo_host_block *found = ordo_host_block_of(dev, memory, &at);
    if (found && at == 0) {
        block = *found;
        remove_block(dev, found);
    }
    ordo_unlock(dev);
    ORDO_REQUIRE(dev, found, ORDO_INVALID, "memory is not from ordo_host_alloc on this device, or is already free");
    ORDO_REQUIRE(dev, at == 0, ORDO_INVALID, "memory lies %zu bytes after the address that ordo_host_alloc returned",
                 at);
    destroy(dev, &block);
    ordo_device_release(dev);
    return ORDO_OK;
}
