/* SPDX-License-Identifier: Apache-2.0 */
/* Creates buffers that outlive calls, and manages the pool of scratch blocks (temporary buffers of calls). */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- buffers ------------------------------------------------------------------------------------------------- */

/* On a CPU, buffers of at least HUGE_MIN bytes use huge pages. Searches for random keys are then 1.3 times as fast. */
#define HUGE_PAGE ((size_t) 2 << 20)
#define HUGE_MIN  ((size_t) 16 << 20)
#define PAGE      ((size_t) 4096)
#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE (-1)
#endif

static void CL_CALLBACK free_memory(cl_mem mem, void *memory)
{
    (void) mem;
    free(memory);
}

void *ordo_large_pages(size_t size)
{
    const size_t page = size < HUGE_MIN || MADV_HUGEPAGE < 0 ? PAGE : HUGE_PAGE;
    const size_t bytes = (size + page - 1) / page * page;
    void        *memory = bytes >= size ? aligned_alloc(page, bytes) : NULL;

    if (memory && page == HUGE_PAGE)
        (void) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static cl_mem create_huge(ordo_device *dev, size_t size)
{
    cl_int code = CL_SUCCESS;

    if (MADV_HUGEPAGE < 0 || !dev->facts.cpu || !dev->facts.unified_memory || size < HUGE_MIN || dev->dry_run)
        return NULL;
    void *memory = ordo_large_pages(size);
    if (!memory)
        return NULL;
    const cl_mem mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, memory, &code);
    if (code == CL_SUCCESS && mem && clSetMemObjectDestructorCallback(mem, free_memory, memory) == CL_SUCCESS)
        return mem;
    if (code == CL_SUCCESS && mem)
        clReleaseMemObject(mem);
    free(memory);
    return NULL;
}

static ordo_status create_counted(ordo_device *dev, size_t size, cl_mem *out)
{
    cl_int code = CL_SUCCESS;

    *out = NULL;
    if (size > dev->facts.max_alloc_bytes)
        return ORDO_FAIL(dev, ORDO_TOO_LARGE, "a buffer of %zu bytes exceeds the device's largest allocation, %llu",
                         size, (unsigned long long) dev->facts.max_alloc_bytes);
    if (size > dev->memory_limit || dev->memory.held_bytes > dev->memory_limit - size)
        return ORDO_FAIL(dev, ORDO_NO_DEVICE_MEMORY,
                         "a buffer of %zu bytes in addition to %llu held exceeds the limit, %llu", size,
                         (unsigned long long) dev->memory.held_bytes, (unsigned long long) dev->memory_limit);
    cl_mem mem = create_huge(dev, size);
    if (!mem)
        mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE, dev->dry_run ? 1 : size, NULL, &code);
    if (code != CL_SUCCESS || !mem)
        return ordo_fail_cl(dev, code, __FILE__, __LINE__, "clCreateBuffer");
    dev->memory.held_bytes += size;
    dev->memory.buffers++;
    if (dev->memory.held_bytes > dev->memory.held_peak_bytes)
        dev->memory.held_peak_bytes = dev->memory.held_bytes;
    *out = mem;
    return ORDO_OK;
}

static void destroy_block(ordo_device *dev, struct ordo_block **at)
{
    struct ordo_block *block = *at;
    *at = block->next;
    clReleaseMemObject(block->mem);
    dev->memory.held_bytes -= block->bytes;
    dev->memory.buffers--;
    if (block->queue) {
        dev->memory.scratch_bytes -= block->bytes;
        clReleaseCommandQueue(block->queue);
    }
    free(block);
}

/* A block of `bytes` bytes serves the requests for which a smaller block was created, if that has more than half its
 * size. */
static bool is_replaced(const struct ordo_block *b, cl_command_queue queue, size_t bytes)
{
    return !b->in_use && b->queue == queue && b->use == ORDO_SCRATCH_PLAIN && b->bytes <= bytes && b->bytes > bytes / 2;
}

/* Releases a free block of the queue that a new block of `bytes` bytes replaces. Keeps smaller blocks, because the
 * first use of a new block takes 75 us or more (NVIDIA H200). */
static void release_replaced(ordo_device *dev, cl_command_queue queue, size_t bytes)
{
    for (struct ordo_block **at = &dev->scratch; *at; at = &(*at)->next)
        if (is_replaced(*at, queue, bytes)) {
            destroy_block(dev, at);
            return;
        }
}

void ordo_scratch_destroy(ordo_device *dev)
{
    for (struct ordo_block **at = &dev->scratch; *at;)
        if ((*at)->in_use)
            at = &(*at)->next;
        else
            destroy_block(dev, at);
}

/* ---- when memory is short ------------------------------------------------------------------------------------ */

void ordo_reserve_join(ordo_device *dev, struct ordo_reserve *reserve)
{
    ordo_lock(dev);
    reserve->next = dev->reserves;
    dev->reserves = reserve;
    ordo_unlock(dev);
}

void ordo_reserve_leave(ordo_device *dev, struct ordo_reserve *reserve)
{
    if (dev->pid != getpid())
        return;
    ordo_lock(dev);
    struct ordo_reserve **at = &dev->reserves;
    while (*at != reserve)
        at = &(*at)->next;
    *at = reserve->next;
    ordo_unlock(dev);
}

static void give_reserves(ordo_device *dev)
{
    for (struct ordo_reserve *r = dev->reserves; r; r = r->next)
        r->give(r);
}

/* If memory is lacking, frees cached memory and tries again. Never waits for a caller's queue or an incomplete event.
 * Such a wait would hang if the caller completes the event only after the call returns. */
static ordo_status create_or_reclaim(ordo_device *dev, size_t bytes, cl_mem *out)
{
    static void (*const gives[])(ordo_device *) = { ordo_scratch_destroy, give_reserves };

    ordo_status got = create_counted(dev, bytes, out);
    for (int i = 0; i < 2 && got == ORDO_NO_DEVICE_MEMORY; i++) {
        const uint64_t held = dev->memory.held_bytes;
        gives[i](dev);
        if (dev->memory.held_bytes == held)
            continue;
        if (!ordo_pending_in(dev, dev->queue))
            clFinish(dev->queue);
        got = create_counted(dev, bytes, out);
    }
    return got;
}

/* Takes over the caller's reference to `queue`, and releases it after an error. `queue` is NULL for a buffer that
 * outlives calls. */
static ordo_status create_block(ordo_device *dev, struct ordo_block **list, cl_command_queue queue, size_t bytes)
{
    struct ordo_block *block = calloc(1, sizeof *block);
    ordo_status        got = block ? ORDO_OK : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    if (got == ORDO_OK)
        got = create_or_reclaim(dev, bytes, &block->mem);
    if (got == ORDO_OK) {
        *block = (struct ordo_block) { .next = *list, .mem = block->mem, .bytes = bytes, .queue = queue };
        *list = block;
        return ORDO_OK;
    }
    if (queue)
        clReleaseCommandQueue(queue);
    free(block);
    return got;
}

void ordo_held_forget(ordo_device *dev)
{
    while (dev->held) {
        struct ordo_block *held = dev->held;
        dev->held = held->next;
        free(held);
    }
}

ordo_status ordo_buffer_create(ordo_device *dev, size_t bytes, cl_mem *out)
{
    ordo_lock(dev);
    const ordo_status got = create_block(dev, &dev->held, NULL, bytes ? bytes : 1);
    *out = got == ORDO_OK ? dev->held->mem : NULL;
    ordo_unlock(dev);
    return got;
}

void ordo_buffer_destroy(ordo_device *dev, cl_mem *mem)
{
    if (!*mem || dev->pid != getpid())
        return;
    ordo_lock(dev);
    struct ordo_block **at = &dev->held;
    while ((*at)->mem != *mem)
        at = &(*at)->next;
    destroy_block(dev, at);
    ordo_unlock(dev);
    *mem = NULL;
}

cl_mem ordo_buffer_over(ordo_device *dev, void *host, size_t bytes)
{
    cl_int code = CL_SUCCESS;

    if (!dev->facts.cpu || !host || bytes == 0 || bytes > dev->facts.max_alloc_bytes || dev->pid != getpid())
        return NULL;
    const cl_mem mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code);
    return code == CL_SUCCESS ? mem : NULL;
}

void ordo_buffer_leave(ordo_device *dev, cl_mem *mem)
{
    if (*mem && dev->pid == getpid())
        clReleaseMemObject(*mem);
    *mem = NULL;
}

cl_int ordo_pinned_create(ordo_device *dev, size_t bytes, cl_mem *mem, char **host)
{
    cl_int code = CL_SUCCESS;
    *host = NULL;
    *mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    if (*mem)
        *host =
            clEnqueueMapBuffer(dev->queue, *mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (*mem && !*host)
        ordo_pinned_destroy(dev, mem, NULL);
    return *host || code != CL_SUCCESS ? code : CL_OUT_OF_HOST_MEMORY;
}

void ordo_pinned_destroy(ordo_device *dev, cl_mem *mem, char *host)
{
    if (host)
        clEnqueueUnmapMemObject(dev->queue, *mem, host, 0, NULL, NULL);
    clReleaseMemObject(*mem);
    *mem = NULL;
}

/* ---- scratch ------------------------------------------------------------------------------------------------- */

static size_t round_scratch(size_t bytes)
{
    const size_t grain = bytes < (1u << 20) ? 4096 : 65536;
    return bytes > SIZE_MAX - grain ? bytes : (bytes + grain - 1) / grain * grain + (bytes == 0 ? grain : 0);
}

static struct ordo_block *find_block(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use)
{
    struct ordo_block *best = NULL;
    for (struct ordo_block *b = dev->scratch; b; b = b->next)
        if (!b->in_use && b->use == use && b->queue == queue && b->bytes >= bytes && b->bytes / 2 <= bytes + 65536 &&
            (!best || b->bytes < best->bytes))
            best = b;
    return best;
}

ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_block **out, bool *fresh)
{
    const size_t round = round_scratch(use != ORDO_SCRATCH_PLAIN && bytes < 65536 ? 65536 : bytes);
    const size_t size = round > dev->facts.max_alloc_bytes && bytes > 0 ? bytes : round;
    *out = find_block(dev, queue, size, use);
    *fresh = !*out;
    if (!*out) {
        release_replaced(dev, queue, size);
        ORDO_TRY_CL(dev, clRetainCommandQueue(queue), "clRetainCommandQueue");
        ORDO_TRY(create_block(dev, &dev->scratch, queue, size));
        dev->memory.scratch_bytes += size;
        *out = dev->scratch;
    }
    (*out)->use = use;
    (*out)->in_use = true;
    dev->scratch_used += (*out)->bytes;
    if (dev->scratch_used > dev->memory.scratch_peak_bytes)
        dev->memory.scratch_peak_bytes = dev->scratch_used;
    return ORDO_OK;
}

void ordo_scratch_distrust(ordo_device *dev)
{
    for (struct ordo_block *b = dev->scratch; b; b = b->next)
        if (!b->in_use)
            b->use = ORDO_SCRATCH_PLAIN;
}

void ordo_scratch_give(ordo_device *dev, struct ordo_block *block)
{
    block->in_use = false;
    dev->scratch_used -= block->bytes;
}

/* ---- blocks of ordo_host_alloc --------------------------------------------------------------------------------- */

size_t ordo_host_blocks_up_to(const ordo_device *dev, const void *memory)
{
    size_t first = 0, end = dev->n_host_blocks;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if ((uintptr_t) dev->host_blocks[middle].host <= (uintptr_t) memory)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

struct ordo_host_block *ordo_host_block_of(const ordo_device *dev, const void *memory, size_t *at)
{
    const size_t i = ordo_host_blocks_up_to(dev, memory);

    if (i == 0)
        return NULL;
    struct ordo_host_block *block = &dev->host_blocks[i - 1];
    *at = (uintptr_t) memory - (uintptr_t) block->host;
    return *at < block->bytes ? block : NULL;
}

bool ordo_is_pinned(ordo_device *dev, const void *memory, size_t bytes)
{
    size_t at = 0;

    ordo_lock(dev);
    const struct ordo_host_block *block = ordo_host_block_of(dev, memory, &at);
    const bool                    pinned = block && bytes <= block->bytes - at;
    ordo_unlock(dev);
    return pinned;
}

/* ---- public -------------------------------------------------------------------------------------------------- */

ordo_status ordo_device_memory(ordo_device *dev, struct ordo_memory *out)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    ORDO_REQUIRE_GIVEN(dev, out);
    ordo_lock(dev);
    *out = dev->memory;
    ordo_unlock(dev);
    return ORDO_OK;
}
