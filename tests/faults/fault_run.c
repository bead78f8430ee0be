/* SPDX-License-Identifier: Apache-2.0 */
/* See fault_run.h. */
#define _GNU_SOURCE
#include "fault_run.h"

#include "runtime/internal.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- host memory ------------------------------------------------------------------------------------------------- */

struct fault fault_memory;
static long  blocks; /* allocated and not freed */

/* The linker's names (--wrap) of functions that the library and the tests call. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
FILE *__real_open_memstream(char **text, size_t *bytes);
void  __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
FILE *__wrap_open_memstream(char **text, size_t *bytes);
void  __wrap_free(void *block);

static void *counted(void *block)
{
    blocks += block != NULL;
    return block;
}

void *__wrap_malloc(size_t bytes)
{
    return fault_strikes(&fault_memory, "malloc", 0) ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fault_strikes(&fault_memory, "calloc", 0) ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fault_strikes(&fault_memory, "realloc", 0))
        return NULL;
    blocks -= old != NULL;
    return counted(__real_realloc(old, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fault_strikes(&fault_memory, "aligned_alloc", 0) ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

/* Counts the text, which the caller frees. */
FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
    return fault_strikes(&fault_memory, "open_memstream", 0) ? NULL : counted(__real_open_memstream(text, bytes));
}

void __wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

void fault_alone(void)
{
    cr_assert(setenv("ORDO_BUILD_THREADS", "0", 1) == 0);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

void complain(struct complaint *c, const char *format, ...)
{
    va_list list;

    if (c->text[0])
        return;
    va_start(list, format);
    (void) vsnprintf(c->text, sizeof c->text, format, list);
    va_end(list);
}

static bool waits(const char *call)
{
    return strcmp(call, "clEnqueueReadBuffer") == 0 || strcmp(call, "clFinish") == 0 ||
           strcmp(call, "clWaitForEvents") == 0;
}

bool fault_suits(const struct fault *f, ordo_status got)
{
    if (f == fault_opencl && f->lasting) /* the first failure may have had no effect */
        return got == ORDO_NO_HOST_MEMORY || got == ORDO_NO_DEVICE_MEMORY || got == ORDO_BUILD || got == ORDO_OPENCL ||
               got == ORDO_DEVICE_FAILED;
    if (f == &fault_memory || f->given == CL_OUT_OF_HOST_MEMORY)
        return got == ORDO_NO_HOST_MEMORY;
    if (f->given == CL_BUILD_PROGRAM_FAILURE)
        return got == ORDO_BUILD;
    if (strcmp(f->what, "clCreateKernel") == 0) /* some drivers compile only here */
        return got == ORDO_BUILD;
    if (f->given == CL_OUT_OF_RESOURCES && waits(f->what))
        return got == ORDO_DEVICE_FAILED;
    if (f->given == CL_MEM_OBJECT_ALLOCATION_FAILURE || f->given == CL_OUT_OF_RESOURCES)
        return got == ORDO_NO_DEVICE_MEMORY;
    return got == ORDO_OPENCL;
}

struct fault_holding fault_holding(struct test *t)
{
    struct fault_holding h;

    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    memcpy(h.objects, fault_opencl->live, sizeof h.objects);
    h.blocks = blocks - (t->dev->error != NULL);
    for (const struct ordo_program *p = t->dev->builds.programs; p; p = p->next) { /* kept until the device is closed */
        h.objects[FAULT_PROGRAMS] -= p->program != NULL;
        h.blocks -= 3 + (p->only != NULL);
        for (const struct ordo_kernel *k = p->kernels; k; k = k->next) {
            h.objects[FAULT_KERNELS]--;
            h.blocks -= 2;
        }
    }
    test_ok(t, ordo_device_memory(t->dev, &h.memory));
    return h;
}

void fault_check_leaks(struct complaint *c, const struct fault_holding *was, const struct fault_holding *is)
{
    static const char *const name[] = { "contexts", "queues", "buffers", "programs", "kernels", "events" };

    for (int i = 0; i < FAULT_N_OBJECTS; i++)
        if (is->objects[i] != was->objects[i])
            complain(c, "%s that are left: %ld", name[i], is->objects[i] - was->objects[i]);
    if (is->blocks != was->blocks)
        complain(c, "blocks of host memory that are left: %ld", is->blocks - was->blocks);
    if (is->memory.held_bytes != was->memory.held_bytes || is->memory.buffers != was->memory.buffers)
        complain(c, "the device counts %lld bytes and %lld buffers too many",
                 (long long) (is->memory.held_bytes - was->memory.held_bytes),
                 (long long) (is->memory.buffers - was->memory.buffers));
}

/* ---- which calls fail -------------------------------------------------------------------------------------------- */

/* Faults so far in this process. A test without any proves nothing. */
static unsigned long n_tried, n_struck, n_errors, n_complaints;

bool fault_every_call(void)
{
    return test_wants_all("ORDO_TEST_FAULTS");
}

bool fault_chosen(struct test *t, const struct fault *f, unsigned long n, unsigned long few)
{
    const bool          argument = n < FAULT_LOG && strcmp(f->log[n - 1], "clSetKernelArg") == 0;
    const unsigned long calls = f->calls;

    if (fault_every_call() || calls <= few || n == 1 || n == calls)
        return true;
    return test_below(t, calls) < (argument ? few / 3 : few);
}

/* Counts a run with a fault, and reports an error in it. */
void fault_note(struct test *t, const struct fault *f, const struct fault *plan, ordo_status got,
                const struct complaint *c)
{
    n_tried++;
    n_struck += f->struck;
    n_errors += got != ORDO_OK;
    if (c->text[0] && n_complaints++ < 300)
        fprintf(stderr, "%s: call %lu%s, %s%s%s: %s\n", t->context, plan->at, plan->lasting ? " and all after" : "",
                f->what ? f->what : "nothing", f->given ? " with " : "", f->given ? ordo_cl_error_string(f->given) : "",
                c->text);
}

/* Reports the runs since the last report. Ordo finds a way around many faults, but of a hundred runs at least ten
 * must end in an error. A smaller sample may contain none. */
void fault_show(struct test *t, const char *what)
{
    fprintf(stderr, "faults: %s: %lu runs with %lu calls that failed, %lu of them ended in an error\n", what, n_tried,
            n_struck, n_errors);
    test_context(t, "%s", what);
    test_true(t, n_complaints == 0);
    test_true(t, n_tried > 0);
    test_true(t, n_struck >= n_tried);
    test_true(t, n_tried < 100 || 10 * n_errors >= n_tried);
    n_tried = n_struck = n_errors = 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

void fault_empty(const char *path)
{
    DIR *dir = opendir(path);

    cr_assert(dir != NULL, "%s", path);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            cr_assert(unlinkat(dirfd(dir), entry->d_name, 0) == 0);
    closedir(dir);
}
