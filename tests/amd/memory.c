/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: pages of one file. This process maps the file as a whole, and the runners map each buffer. No place in
 * the file is used twice, so an access to a released buffer fails. A buffer ends at most 15 bytes before its last
 * page does. */
#define _GNU_SOURCE
#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct buffer *driver_buffers;

/* ---- the file ------------------------------------------------------------------------------------------------ */

#define FILE_BYTES ((uint64_t) 1 << 40)
#define PAGE       ((uint64_t) 4096)

static struct {
    int      file;
    char    *at;
    uint64_t used, held; /* places ever used; bytes in use */
} memory = { .file = -1 };

int memory_file(void)
{
    if (memory.file >= 0)
        return memory.file;
    const int file = memfd_create("amd-device-memory", 0); /* runners inherit it */
    if (file < 0 || ftruncate(file, (off_t) FILE_BYTES) != 0) {
        if (file >= 0)
            close(file);
        return -1;
    }
    void *at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) {
        close(file);
        return -1;
    }
    memory.file = file;
    memory.at = at;
    return file;
}

char *buffer_bytes(const struct buffer *b)
{
    return memory.at + (b->parent ? b->parent->offset + b->origin : b->offset);
}

uint64_t buffer_address(const struct buffer *b)
{
    return AMD_BASE + (b->parent ? b->parent->offset + b->origin : b->offset);
}

/* Pages for a buffer, and one behind them that is never there. */
static bool take_pages(struct buffer *b)
{
    const uint64_t bytes = (b->bytes + PAGE - 1) & ~(PAGE - 1);
    if (memory_file() < 0 || bytes > GLOBAL_BYTES - memory.held || FILE_BYTES - memory.used < bytes + PAGE)
        return false;
    b->from = memory.used;
    b->to = b->from + bytes;
    b->offset = b->to - ((b->bytes + 15) & ~(uint64_t) 15);
    /* As much as the type that is aligned to most needs; sub-buffers may begin at multiples of 128. */
    if (b->bytes >= 128)
        b->offset = (b->to - b->bytes) & ~(uint64_t) 127;
    memory.used = b->to + PAGE;
    memory.held += bytes;
    b->next = driver_buffers;
    driver_buffers = b;
    link_map(b);
    return true;
}

static void give_pages(struct buffer *b)
{
    for (struct buffer **at = &driver_buffers; *at; at = &(*at)->next)
        if (*at == b) {
            *at = b->next;
            break;
        }
    link_unmap(b);
    memory.held -= b->to - b->from;
    (void) fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) b->from,
                     (off_t) (b->to - b->from));
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

void buffer_retain(struct buffer *b)
{
    b->object.references++;
}

void buffer_release(struct buffer *b)
{
    if (--b->object.references)
        return;
    b->object.kind = KIND_NONE;
    if (b->parent)
        buffer_release(b->parent);
    else if (b->to)
        give_pages(b);
    context_release(b->context);
    free(b);
}

#define ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define HOST   (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)

static bool flags_are_good(cl_mem_flags flags, const void *host, cl_int *code)
{
    const cl_mem_flags access = flags & ACCESS;
    const bool         wants_host = (flags & HOST) != 0;
    const cl_mem_flags known =
        ACCESS | HOST | CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    if ((flags & ~known) || (access & (access - 1)) || (flags & HOST) == HOST ||
        ((flags & CL_MEM_USE_HOST_PTR) && (flags & CL_MEM_ALLOC_HOST_PTR)))
        *code = CL_INVALID_VALUE;
    else if (wants_host != (host != NULL))
        *code = CL_INVALID_HOST_PTR;
    else
        return true;
    return false;
}

static cl_mem CL_API_CALL create_buffer(cl_context handle, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    struct context *c = AS(context, handle, KIND_CONTEXT);
    cl_int          ignored = CL_SUCCESS;
    code = code ? code : &ignored;
    if (!c)
        *code = CL_INVALID_CONTEXT;
    if (!c || !flags_are_good(flags, host, code))
        return NULL;
    *code = bytes == 0 || bytes > MAX_ALLOC_BYTES ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
    struct buffer *b = *code == CL_SUCCESS ? object_create(sizeof *b, KIND_BUFFER) : NULL;
    if (!b) {
        *code = *code == CL_SUCCESS ? CL_OUT_OF_HOST_MEMORY : *code;
        return NULL;
    }
    b->context = c;
    b->bytes = bytes;
    pthread_mutex_lock(&driver_lock);
    if (take_pages(b)) {
        context_retain(c);
        if (host)
            memcpy(buffer_bytes(b), host, bytes);
    } else {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        free(b);
        b = NULL;
    }
    pthread_mutex_unlock(&driver_lock);
    return (cl_mem) b;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                                            const void *info, cl_int *code)
{
    struct buffer   *parent = AS(buffer, handle, KIND_BUFFER), *b = NULL;
    cl_int           got = CL_SUCCESS;
    cl_buffer_region region = { 0, 0 };
    (void) flags;
    if (!parent || parent->parent)
        got = CL_INVALID_MEM_OBJECT;
    else if (type != CL_BUFFER_CREATE_TYPE_REGION || !info)
        got = CL_INVALID_VALUE;
    else
        memcpy(&region, info, sizeof region);
    if (got == CL_SUCCESS && (region.origin > parent->bytes || region.size > parent->bytes - region.origin))
        got = CL_INVALID_VALUE;
    else if (got == CL_SUCCESS && region.size == 0)
        got = CL_INVALID_BUFFER_SIZE;
    else if (got == CL_SUCCESS && region.origin % 128)
        got = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (got == CL_SUCCESS && !(b = object_create(sizeof *b, KIND_BUFFER)))
        got = CL_OUT_OF_HOST_MEMORY;
    if (code)
        *code = got;
    if (got != CL_SUCCESS)
        return NULL;
    pthread_mutex_lock(&driver_lock);
    b->context = parent->context;
    b->parent = parent;
    b->bytes = region.size;
    b->origin = region.origin;
    context_retain(b->context);
    buffer_retain(parent);
    pthread_mutex_unlock(&driver_lock);
    return (cl_mem) b;
}

RETAIN_AND_RELEASE(buffer, cl_mem, KIND_BUFFER, CL_INVALID_MEM_OBJECT)

static cl_int CL_API_CALL info(cl_mem handle, cl_mem_info what, size_t room, void *to, size_t *have)
{
    const struct buffer *b = AS(buffer, handle, KIND_BUFFER);
    if (!b)
        return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE:
        ANSWER(cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_SIZE:
        ANSWER(size_t, b->bytes);
    case CL_MEM_CONTEXT:
        ANSWER(cl_context, (cl_context) b->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        ANSWER(cl_mem, (cl_mem) b->parent);
    case CL_MEM_OFFSET:
        ANSWER(size_t, b->origin);
    default:
        return CL_INVALID_VALUE;
    }
}

void memory_fill_table(struct _cl_icd_dispatch *table);
void memory_fill_table(struct _cl_icd_dispatch *table)
{
    table->clCreateBuffer = create_buffer;
    table->clCreateSubBuffer = create_sub_buffer;
    table->clRetainMemObject = retain_buffer;
    table->clReleaseMemObject = release_buffer;
    table->clGetMemObjectInfo = info;
}
