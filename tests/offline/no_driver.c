/* SPDX-License-Identifier: Apache-2.0 */
#include "no_driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct no_driver no_driver;

/* Any OpenCL object. Commands that write are executed immediately. */
struct object {
    size_t bytes; /* of a buffer; of a program: its number */
    size_t kept;
    char  *data; /* of a buffer: its first `kept` bytes, which are all that is read; of a program: its text */
};

static void *object_create(size_t bytes, size_t kept)
{
    struct object *o = calloc(1, sizeof *o);
    if (o)
        *o = (struct object) { bytes, kept, calloc(1, kept) };
    if (!o || !o->data)
        abort(); /* a tool of tests has no caller to report to */
    return o;
}

static void *buffer_create(size_t bytes)
{
    return object_create(bytes, bytes < 4096 ? bytes : 4096);
}

/* The number of `bytes` from `at` on that are kept. */
static size_t kept_of(const void *object, size_t at, size_t bytes)
{
    const struct object *o = object;
    return at >= o->kept ? 0 : bytes < o->kept - at ? bytes : o->kept - at;
}

static cl_int object_release(void *object)
{
    struct object *o = object;
    free(o->data);
    free(o);
    return CL_SUCCESS;
}

static char *data_of(void *object)
{
    return ((struct object *) object)->data;
}

/* The driver looks at few parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,misc-unused-parameters): OpenCL names them. */

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

cl_mem no_driver_buffer(size_t bytes)
{
    return buffer_create(bytes);
}

/* Made-up results make hash tables of 2^28 partitions, whose bounds the library reads for each seed that it tries.
 * All other calls need smaller buffers. */
#define BUFFER_BYTES_MAX ((size_t) 1 << 29)

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    *code = bytes <= BUFFER_BYTES_MAX ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return *code == CL_SUCCESS ? buffer_create(bytes) : NULL;
}

cl_int clReleaseMemObject(cl_mem mem)
{
    return object_release(mem);
}

cl_int clGetMemObjectInfo(cl_mem mem, cl_mem_info what, size_t room, void *out, size_t *bytes)
{
    memset(out, 0, room); /* no context, no parent, offset 0 */
    if (what == CL_MEM_TYPE)
        *(cl_mem_object_type *) out = CL_MEM_OBJECT_BUFFER;
    if (what == CL_MEM_SIZE)
        *(size_t *) out = ((struct object *) mem)->bytes;
    return CL_SUCCESS;
}

/* ---- programs and kernels ---------------------------------------------------------------------------------------- */

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *bytes,
                                     cl_int *code)
{
    const size_t length = strlen(texts[0]) + 1;
    cl_program   program = object_create(0, length);
    memcpy(data_of(program), texts[0], length);
    *code = CL_SUCCESS;
    return program;
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    ((struct object *) program)->bytes = no_driver.built(data_of(program), options);
    return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id id, cl_program_build_info what, size_t room, void *out,
                             size_t *bytes)
{
    if (bytes)
        *bytes = 0;
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program program)
{
    return object_release(program);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    no_driver.created(((struct object *) program)->bytes, name);
    *code = CL_SUCCESS;
    return object_create(0, 1);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return object_release(kernel);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info what, size_t room,
                                void *out, size_t *bytes)
{
    memset(out, 0, room);
    if (what == CL_KERNEL_WORK_GROUP_SIZE)
        *(size_t *) out = no_driver.max_group;
    return CL_SUCCESS;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                              cl_event *done)
{
    if (no_driver.launches == 0)
        return CL_INVALID_OPERATION;
    no_driver.launches--;
    return CL_SUCCESS;
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_bytes, size_t at,
                           size_t bytes, cl_uint n, const cl_event *wait, cl_event *done)
{
    const size_t kept = kept_of(mem, at, bytes);
    for (size_t i = 0; i + pattern_bytes <= kept; i += pattern_bytes)
        memcpy(data_of(mem) + at + i, pattern, pattern_bytes);
    return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool block, size_t at, size_t bytes, const void *from,
                            cl_uint n, const cl_event *wait, cl_event *done)
{
    memcpy(data_of(to) + at, from, kept_of(to, at, bytes));
    return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool block, size_t at, size_t bytes, void *to,
                           cl_uint n, const cl_event *wait, cl_event *done)
{
    memset(to, 0, bytes);
    memcpy(to, data_of(from) + at, kept_of(from, at, bytes));
    no_driver.read(to, bytes / sizeof(cl_uint));
    return CL_SUCCESS;
}

/* ---- queues and events ------------------------------------------------------------------------------------------- */

/* Commands are executed immediately, so there are no events. */
#define DOES_NOTHING(name, ...)                                                                                        \
    cl_int name(__VA_ARGS__)                                                                                           \
    {                                                                                                                  \
        return CL_SUCCESS;                                                                                             \
    }
DOES_NOTHING(clEnqueueMarkerWithWaitList, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
DOES_NOTHING(clEnqueueBarrierWithWaitList, cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *done)
DOES_NOTHING(clFlush, cl_command_queue queue)
DOES_NOTHING(clFinish, cl_command_queue queue)
DOES_NOTHING(clRetainCommandQueue, cl_command_queue queue)
DOES_NOTHING(clReleaseCommandQueue, cl_command_queue queue)
DOES_NOTHING(clWaitForEvents, cl_uint n, const cl_event *events)
DOES_NOTHING(clReleaseEvent, cl_event event)
DOES_NOTHING(clSetKernelArg, cl_kernel kernel, cl_uint i, size_t bytes, const void *value)
/* No caller reads copied bytes. */
DOES_NOTHING(clEnqueueCopyBuffer, cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
             size_t bytes, cl_uint n, const cl_event *wait, cl_event *done)

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *out, size_t *need)
{
    const cl_int done = CL_COMPLETE;

    if (what != CL_EVENT_COMMAND_EXECUTION_STATUS || bytes < sizeof done || !out || need)
        return CL_INVALID_VALUE;
    memcpy(out, &done, sizeof done);
    return CL_SUCCESS;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name,misc-unused-parameters) */
