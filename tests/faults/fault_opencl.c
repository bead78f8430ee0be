/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps OpenCL for the library and the test. The functions count calls, make the chosen call fail without any effect,
 * and count live objects.
 *
 * A release that fails is done nevertheless, because no caller could repeat it, and the counts stay true. */
#define _GNU_SOURCE
#include "fault_run.h"

#include <pthread.h>

static struct fault opencl;
struct fault *const fault_opencl = &opencl;

/* ---- calls that return a code ------------------------------------------------------------------------------------ */

#define CODE(name, suits, params, args)                                                                                \
    cl_int CL_API_CALL __real_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params                                                                            \
    {                                                                                                                  \
        return fault_strikes(&opencl, #name, suits) ? (suits_code(suits)) : __real_##name args;                        \
    }

static cl_int suits_code(cl_int suits)
{
    return opencl.code ? opencl.code : suits;
}

CODE(clGetPlatformIDs, CL_OUT_OF_HOST_MEMORY, (cl_uint n, cl_platform_id *out, cl_uint *have), (n, out, have))
CODE(clGetPlatformInfo, CL_OUT_OF_HOST_MEMORY,
     (cl_platform_id of, cl_platform_info what, size_t size, void *to, size_t *have), (of, what, size, to, have))
CODE(clGetDeviceIDs, CL_OUT_OF_RESOURCES,
     (cl_platform_id of, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *have), (of, type, n, out, have))
CODE(clGetDeviceInfo, CL_OUT_OF_RESOURCES, (cl_device_id of, cl_device_info what, size_t size, void *to, size_t *have),
     (of, what, size, to, have))
CODE(clGetCommandQueueInfo, CL_OUT_OF_RESOURCES,
     (cl_command_queue of, cl_command_queue_info what, size_t size, void *to, size_t *have), (of, what, size, to, have))

/* Polls for the end of a transfer do not count, because their number is chance. */
cl_int CL_API_CALL __real_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have);
cl_int CL_API_CALL __wrap_clGetEventInfo(cl_event of, cl_event_info what, size_t size, void *to, size_t *have)
{
    cl_command_type command = 0;
    const bool      looks = what == CL_EVENT_COMMAND_EXECUTION_STATUS &&
                       __real_clGetEventInfo(of, CL_EVENT_COMMAND_TYPE, sizeof command, &command, NULL) == CL_SUCCESS &&
                       (command == CL_COMMAND_READ_BUFFER || command == CL_COMMAND_WRITE_BUFFER);
    if (!looks && fault_strikes(&opencl, "clGetEventInfo", CL_OUT_OF_RESOURCES))
        return suits_code(CL_OUT_OF_RESOURCES);
    return __real_clGetEventInfo(of, what, size, to, have);
}

CODE(clGetMemObjectInfo, CL_OUT_OF_RESOURCES, (cl_mem of, cl_mem_info what, size_t size, void *to, size_t *have),
     (of, what, size, to, have))
CODE(clGetProgramInfo, CL_OUT_OF_RESOURCES, (cl_program of, cl_program_info what, size_t size, void *to, size_t *have),
     (of, what, size, to, have))
CODE(clGetProgramBuildInfo, CL_OUT_OF_RESOURCES,
     (cl_program of, cl_device_id id, cl_program_build_info what, size_t size, void *to, size_t *have),
     (of, id, what, size, to, have))
CODE(clGetKernelWorkGroupInfo, CL_OUT_OF_RESOURCES,
     (cl_kernel of, cl_device_id id, cl_kernel_work_group_info what, size_t size, void *to, size_t *have),
     (of, id, what, size, to, have))
CODE(clBuildProgram, CL_BUILD_PROGRAM_FAILURE,
     (cl_program program, cl_uint n, const cl_device_id *ids, const char *options,
      void(CL_CALLBACK *done)(cl_program, void *), void *user),
     (program, n, ids, options, done, user))
CODE(clSetKernelArg, CL_OUT_OF_RESOURCES, (cl_kernel kernel, cl_uint i, size_t size, const void *value),
     (kernel, i, size, value))
CODE(clFlush, CL_OUT_OF_RESOURCES, (cl_command_queue queue), (queue))
CODE(clFinish, CL_OUT_OF_RESOURCES, (cl_command_queue queue), (queue))
CODE(clWaitForEvents, CL_OUT_OF_RESOURCES, (cl_uint n, const cl_event *events), (n, events))
CODE(clSetMemObjectDestructorCallback, CL_OUT_OF_RESOURCES,
     (cl_mem mem, void(CL_CALLBACK *gone)(cl_mem, void *), void *argument), (mem, gone, argument))
CODE(clSetUserEventStatus, CL_OUT_OF_RESOURCES, (cl_event event, cl_int status), (event, status))

/* ---- calls that make an object ----------------------------------------------------------------------------------- */

#define MAKE(type, name, object, suits, params, args)                                                                  \
    type CL_API_CALL __real_##name params;                                                                             \
    type CL_API_CALL __wrap_##name params;                                                                             \
    type CL_API_CALL __wrap_##name params                                                                              \
    {                                                                                                                  \
        type   made = NULL;                                                                                            \
        cl_int got = suits_code(suits);                                                                                \
        if (!fault_strikes(&opencl, #name, suits))                                                                     \
            made = __real_##name args;                                                                                 \
        opencl.live[object] += made != NULL;                                                                           \
        if (code)                                                                                                      \
            *code = got;                                                                                               \
        return made;                                                                                                   \
    }

MAKE(cl_context, clCreateContext, FAULT_CONTEXTS, CL_OUT_OF_HOST_MEMORY,
     (const cl_context_properties *properties, cl_uint n, const cl_device_id *ids,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *code),
     (properties, n, ids, notify, user, &got))
MAKE(cl_command_queue, clCreateCommandQueue, FAULT_QUEUES, CL_OUT_OF_RESOURCES,
     (cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *code),
     (context, id, properties, &got))
MAKE(cl_command_queue, clCreateCommandQueueWithProperties, FAULT_QUEUES, CL_OUT_OF_RESOURCES,
     (cl_context context, cl_device_id id, const cl_queue_properties *properties, cl_int *code),
     (context, id, properties, &got))
MAKE(cl_mem, clCreateBuffer, FAULT_BUFFERS, CL_MEM_OBJECT_ALLOCATION_FAILURE,
     (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
     (context, flags, size, host, &got))
MAKE(cl_program, clCreateProgramWithSource, FAULT_PROGRAMS, CL_OUT_OF_HOST_MEMORY,
     (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *code),
     (context, n, texts, lengths, &got))
MAKE(cl_program, clCreateProgramWithBinary, FAULT_PROGRAMS, CL_INVALID_BINARY,
     (cl_context context, cl_uint n, const cl_device_id *ids, const size_t *lengths, const unsigned char **binaries,
      cl_int *loaded, cl_int *code),
     (context, n, ids, lengths, binaries, loaded, &got))
MAKE(cl_kernel, clCreateKernel, FAULT_KERNELS, CL_OUT_OF_RESOURCES,
     (cl_program program, const char *name, cl_int *code), (program, name, &got))
MAKE(cl_event, clCreateUserEvent, FAULT_EVENTS, CL_OUT_OF_RESOURCES, (cl_context context, cl_int *code),
     (context, &got))

/* Fails by returning NULL. */
void *CL_API_CALL __real_clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char *name);
void *CL_API_CALL __wrap_clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char *name);
void *CL_API_CALL __wrap_clGetExtensionFunctionAddressForPlatform(cl_platform_id of, const char *name)
{
    if (fault_strikes(&opencl, "clGetExtensionFunctionAddressForPlatform", CL_SUCCESS))
        return NULL;
    return __real_clGetExtensionFunctionAddressForPlatform(of, name);
}

/* ---- references -------------------------------------------------------------------------------------------------- */

#define REFERENCES(type, kind, object)                                                                                 \
    cl_int CL_API_CALL __real_clRetain##kind(type it);                                                                 \
    cl_int CL_API_CALL __wrap_clRetain##kind(type it);                                                                 \
    cl_int CL_API_CALL __wrap_clRetain##kind(type it)                                                                  \
    {                                                                                                                  \
        if (fault_strikes(&opencl, "clRetain" #kind, CL_OUT_OF_RESOURCES))                                             \
            return suits_code(CL_OUT_OF_RESOURCES);                                                                    \
        const cl_int got = __real_clRetain##kind(it);                                                                  \
        opencl.live[object] += got == CL_SUCCESS;                                                                      \
        return got;                                                                                                    \
    }                                                                                                                  \
    cl_int CL_API_CALL __real_clRelease##kind(type it);                                                                \
    cl_int CL_API_CALL __wrap_clRelease##kind(type it);                                                                \
    cl_int CL_API_CALL __wrap_clRelease##kind(type it)                                                                 \
    {                                                                                                                  \
        const bool   fails = fault_strikes(&opencl, "clRelease" #kind, CL_OUT_OF_RESOURCES);                           \
        const cl_int got = __real_clRelease##kind(it);                                                                 \
        opencl.live[object] -= got == CL_SUCCESS;                                                                      \
        return fails ? suits_code(CL_OUT_OF_RESOURCES) : got;                                                          \
    }

REFERENCES(cl_context, Context, FAULT_CONTEXTS)
REFERENCES(cl_command_queue, CommandQueue, FAULT_QUEUES)
REFERENCES(cl_mem, MemObject, FAULT_BUFFERS)
REFERENCES(cl_program, Program, FAULT_PROGRAMS)
REFERENCES(cl_kernel, Kernel, FAULT_KERNELS)
REFERENCES(cl_event, Event, FAULT_EVENTS)

/* ---- commands ---------------------------------------------------------------------------------------------------- */

#define COMMAND_IF(holds, name, params, args)                                                                          \
    cl_int CL_API_CALL __real_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params;                                                                           \
    cl_int CL_API_CALL __wrap_##name params                                                                            \
    {                                                                                                                  \
        cr_assert(holds, #name " is called with what does not hold: " #holds);                                         \
        if (fault_strikes(&opencl, #name, CL_OUT_OF_RESOURCES))                                                        \
            return suits_code(CL_OUT_OF_RESOURCES);                                                                    \
        const cl_int got = __real_##name args;                                                                         \
        opencl.live[FAULT_EVENTS] += got == CL_SUCCESS && done;                                                        \
        return got;                                                                                                    \
    }
#define COMMAND(name, params, args) COMMAND_IF(true, name, params, args)
#define WAITS_PARAMS                cl_uint n, const cl_event *wait, cl_event *done
#define WAITS                       n, wait, done

COMMAND(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *from, const size_t *global,
         const size_t *local, WAITS_PARAMS),
        (queue, kernel, dims, from, global, local, WAITS))

/* Queried once a thread, because glibc reads /proc/self/maps for the first one. */
static bool is_on_stack(const void *at)
{
    static _Thread_local char  *stack;
    static _Thread_local size_t bytes;

    if (!stack) {
        pthread_attr_t attributes;
        void          *least = NULL;
        cr_assert(pthread_getattr_np(pthread_self(), &attributes) == 0);
        cr_assert(pthread_attr_getstack(&attributes, &least, &bytes) == 0);
        pthread_attr_destroy(&attributes);
        stack = least;
    }
    return (const char *) at >= stack && (const char *) at < stack + bytes;
}

/* A read that does not block writes to memory that lives as long as the queue, because a later call may fail to wait
 * for it. */
COMMAND_IF(blocking || !is_on_stack(to), clEnqueueReadBuffer,
           (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, void *to, WAITS_PARAMS),
           (queue, mem, blocking, at, size, to, WAITS))
COMMAND(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at, size_t size, const void *from, WAITS_PARAMS),
        (queue, mem, blocking, at, size, from, WAITS))
COMMAND(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem mem, const void *pattern, size_t bytes, size_t at, size_t size, WAITS_PARAMS),
        (queue, mem, pattern, bytes, at, size, WAITS))
COMMAND(clEnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size, WAITS_PARAMS),
        (queue, from, to, from_at, to_at, size, WAITS))
COMMAND(clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem mem, void *host, WAITS_PARAMS),
        (queue, mem, host, WAITS))
COMMAND(clEnqueueMarkerWithWaitList, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))
COMMAND(clEnqueueBarrierWithWaitList, (cl_command_queue queue, WAITS_PARAMS), (queue, WAITS))

void *CL_API_CALL __real_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                                            size_t at, size_t size, WAITS_PARAMS, cl_int *code);
void *CL_API_CALL __wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                                            size_t at, size_t size, WAITS_PARAMS, cl_int *code);
void *CL_API_CALL __wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                                            size_t at, size_t size, WAITS_PARAMS, cl_int *code)
{
    if (!fault_strikes(&opencl, "clEnqueueMapBuffer", CL_MAP_FAILURE))
        return __real_clEnqueueMapBuffer(queue, mem, blocking, flags, at, size, WAITS, code);
    *code = suits_code(CL_MAP_FAILURE);
    return NULL;
}
