/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: buffers that outlive a call, and the pool of scratch that calls take from. */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- accounting ---------------------------------------------------------------------------------------------- */

static void count_in(ordo_device *dev, size_t bytes)
{
    dev->memory.held_bytes += bytes;
    dev->memory.buffers++;
    if (dev->memory.held_bytes > dev->memory.held_peak_bytes)
        dev->memory.held_peak_bytes = dev->memory.held_bytes;
}

static void count_out(ordo_device *dev, size_t bytes)
{
    dev->memory.held_bytes -= bytes;
    dev->memory.buffers--;
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

/* On a CPU a large buffer lies in memory that asks for huge pages: of small ones each read at random waits for a table of
 * pages besides (2^24 keys and values found on two cores of an EPYC: 60 M/s, with small pages 47). */
#define HUGE_PAGE  ((size_t) 2 << 20)
#define HUGE_LEAST ((size_t) 16 << 20)

static void CL_CALLBACK free_memory(cl_mem mem, void *memory)
{
    (void) mem;
    free(memory);
}

/* NULL where there is no such memory, or the driver does not take it. */
static cl_mem create_huge(ordo_device *dev, size_t size)
{
#ifdef MADV_HUGEPAGE
    const size_t bytes = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    cl_int       code = CL_SUCCESS;

    if (!dev->facts.cpu || !dev->facts.unified_memory || size < HUGE_LEAST || dev->rehearsal)
        return NULL;
    void *memory = aligned_alloc(HUGE_PAGE, bytes);
    if (!memory)
        return NULL;
    (void) madvise(memory, bytes, MADV_HUGEPAGE); /* refused: small pages */
    const cl_mem mem = clCreateBuffer(dev->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, memory, &code);
    if (code == CL_SUCCESS && mem && clSetMemObjectDestructorCallback(mem, free_memory, memory) == CL_SUCCESS)
        return mem;
    if (code == CL_SUCCESS && mem)
        clReleaseMemObject(mem);
    free(memory);
#else
    (void) dev;
    (void) size;
#endif
    return NULL;
}

static cl_mem create_buffer(ordo_device *dev, size_t size, cl_int *code)
{
    const cl_mem huge = create_huge(dev, size);

    *code = CL_SUCCESS;
    return huge ? huge : clCreateBuffer(dev->context, CL_MEM_READ_WRITE, dev->rehearsal ? 1 : size, NULL, code);
}

static ordo_status create_counted(ordo_device *dev, size_t bytes, cl_mem *out)
{
    const size_t size = bytes ? bytes : 1;
    cl_int       code = CL_SUCCESS;

    *out = NULL;
    if (size > dev->facts.max_alloc_bytes)
        return ORDO_FAIL(dev, ORDO_TOO_LARGE,
                         "a buffer of %zu bytes is more than the device's largest allocation, %llu", size,
                         (unsigned long long) dev->facts.max_alloc_bytes);
    if (size > dev->memory_limit || dev->memory.held_bytes > dev->memory_limit - size)
        return ORDO_FAIL(dev, ORDO_NO_DEVICE_MEMORY,
                         "a buffer of %zu bytes beside %llu held is more than the limit, %llu", size,
                         (unsigned long long) dev->memory.held_bytes, (unsigned long long) dev->memory_limit);
    cl_mem mem = create_buffer(dev, size, &code);
    if (code != CL_SUCCESS || !mem)
        return ordo_fail_cl(dev, code, __FILE__, __LINE__, "clCreateBuffer");
    count_in(dev, size);
    *out = mem;
    return ORDO_OK;
}

static void release_counted(ordo_device *dev, cl_mem mem, size_t bytes)
{
    clReleaseMemObject(mem);
    count_out(dev, bytes ? bytes : 1);
}

static void destroy_block(ordo_device *dev, struct ordo_scratch *block)
{
    dev->memory.scratch_bytes -= block->bytes;
    release_counted(dev, block->mem, block->bytes);
    clReleaseCommandQueue(block->queue);
    free(block);
}

/* Gives free blocks back to the driver; those that `queue` (NULL: any) may reuse, no larger than `below`. */
static void release_free_blocks(ordo_device *dev, cl_command_queue queue, size_t below, int most)
{
    struct ordo_scratch **at = &dev->scratch;
    while (*at && most > 0) {
        struct ordo_scratch *block = *at;
        if (block->in_use || block->bytes > below ||
            (queue && (block->queue != queue || block->use != ORDO_SCRATCH_PLAIN))) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        destroy_block(dev, block);
        most--;
    }
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
    if (dev->pid != getpid()) /* in the child of a fork: see ordo_device_close */
        return;
    ordo_lock(dev);
    struct ordo_reserve **at = &dev->reserves;
    while (*at != reserve)
        at = &(*at)->next;
    *at = reserve->next;
    ordo_unlock(dev);
}

static void give_scratch(ordo_device *dev)
{
    release_free_blocks(dev, NULL, SIZE_MAX, INT32_MAX);
}

static void give_reserves(ordo_device *dev)
{
    for (struct ordo_reserve *r = dev->reserves; r; r = r->next)
        r->give(r);
}

/* As create_counted. When memory is short, pooled scratch is released first, then what dictionaries hold for later, and
 * the device's own queue is finished, so that its commands release theirs. Queues of the caller are not finished: their
 * commands may wait for an event that the caller sets later, and so may those of the own queue while an event is pending. */
static ordo_status create_or_reclaim(ordo_device *dev, size_t bytes, cl_mem *out)
{
    static void (*const gives[])(ordo_device *) = { give_scratch, give_reserves };

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

/* create_or_reclaim, and the size is remembered: to ask the driver for it later is a call that could fail. */
static ordo_status create_held(ordo_device *dev, size_t bytes, cl_mem *out)
{
    struct ordo_held *held = calloc(1, sizeof *held);
    *out = NULL;
    ORDO_REQUIRE_MEMORY(dev, held);
    const ordo_status got = create_or_reclaim(dev, bytes, out);
    if (got != ORDO_OK) {
        free(held);
        return got;
    }
    *held = (struct ordo_held) { dev->held, *out, bytes };
    dev->held = held;
    return ORDO_OK;
}

void ordo_held_forget(ordo_device *dev)
{
    while (dev->held) {
        struct ordo_held *held = dev->held;
        dev->held = held->next;
        free(held);
    }
}

ordo_status ordo_buffer_create(ordo_device *dev, size_t bytes, cl_mem *out)
{
    ordo_lock(dev);
    const ordo_status got = create_held(dev, bytes, out);
    ordo_unlock(dev);
    return got;
}

void ordo_buffer_destroy(ordo_device *dev, cl_mem *mem)
{
    if (!*mem || dev->pid != getpid()) /* in the child of a fork: see ordo_device_close */
        return;
    ordo_lock(dev);
    struct ordo_held **at = &dev->held;
    while ((*at)->mem != *mem)
        at = &(*at)->next;
    struct ordo_held *held = *at;
    *at = held->next;
    release_counted(dev, held->mem, held->bytes);
    free(held);
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

/* ---- scratch ------------------------------------------------------------------------------------------------- */

/* Sizes are rounded up a little, so that calls of nearly one size share a block. */
static size_t round_scratch(size_t bytes)
{
    const size_t grain = bytes < (1u << 20) ? 4096 : 65536;
    return bytes > SIZE_MAX - grain ? bytes : (bytes + grain - 1) / grain * grain + (bytes == 0 ? grain : 0);
}

/* The smallest free block of this queue that holds `bytes` and wastes no more than it holds. */
static struct ordo_scratch *find_block(ordo_device *dev, cl_command_queue queue, size_t bytes,
                                       enum ordo_scratch_use use)
{
    struct ordo_scratch *best = NULL;
    for (struct ordo_scratch *b = dev->scratch; b; b = b->next)
        if (!b->in_use && b->use == use && b->queue == queue && b->bytes >= bytes && b->bytes / 2 <= bytes + 65536 &&
            (!best || b->bytes < best->bytes))
            best = b;
    return best;
}

static ordo_status create_block(ordo_device *dev, cl_command_queue queue, size_t bytes, struct ordo_scratch **out)
{
    struct ordo_scratch *block = calloc(1, sizeof *block);
    ORDO_REQUIRE_MEMORY(dev, block);

    /* A call that outgrew its block gives the old one up, so the pool holds no more blocks than calls used at once. */
    release_free_blocks(dev, queue, bytes, 1);
    const ordo_status made = create_or_reclaim(dev, bytes, &block->mem);
    const cl_int      kept = made == ORDO_OK ? clRetainCommandQueue(queue) : CL_SUCCESS;
    if (made != ORDO_OK || kept != CL_SUCCESS) {
        if (made == ORDO_OK)
            release_counted(dev, block->mem, bytes);
        free(block);
        return made != ORDO_OK ? made : ordo_fail_cl(dev, kept, __FILE__, __LINE__, "clRetainCommandQueue");
    }
    block->bytes = bytes;
    block->queue = queue;
    block->next = dev->scratch;
    dev->scratch = block;
    dev->memory.scratch_bytes += bytes;
    *out = block;
    return ORDO_OK;
}

ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_scratch **out, bool *fresh)
{
    const size_t round = round_scratch(use != ORDO_SCRATCH_PLAIN && bytes < 65536 ? 65536 : bytes);
    const size_t size = round > dev->facts.max_alloc_bytes && bytes > 0 ? bytes : round;
    *out = find_block(dev, queue, size, use);
    *fresh = !*out;
    if (!*out)
        ORDO_TRY(create_block(dev, queue, size, out));
    (*out)->use = use;
    (*out)->in_use = true;
    dev->scratch_used += (*out)->bytes;
    if (dev->scratch_used > dev->memory.scratch_peak_bytes)
        dev->memory.scratch_peak_bytes = dev->scratch_used;
    return ORDO_OK;
}

void ordo_scratch_drop(ordo_device *dev, struct ordo_scratch *block)
{
    struct ordo_scratch **at = &dev->scratch;
    while (*at && *at != block)
        at = &(*at)->next;
    if (*at) {
        *at = block->next;
        destroy_block(dev, block);
    }
}

void ordo_scratch_drop_zeroed(ordo_device *dev, cl_command_queue queue)
{
    struct ordo_scratch *next = NULL;
    for (struct ordo_scratch *block = dev->scratch; block; block = next) {
        next = block->next;
        if (block->use != ORDO_SCRATCH_PLAIN && !block->in_use && block->queue == queue)
            ordo_scratch_drop(dev, block);
    }
}

void ordo_scratch_give(ordo_device *dev, struct ordo_scratch *block)
{
    block->in_use = false;
    dev->scratch_used -= block->bytes;
}

void ordo_scratch_destroy(ordo_device *dev)
{
    release_free_blocks(dev, NULL, SIZE_MAX, INT32_MAX);
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
