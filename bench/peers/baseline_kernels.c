/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline_kernels.h"

#include "bench/common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ordo_status build(struct baseline_kernels *k, const struct baseline_source *source, char *why, size_t why_bytes)
{
    char        *text = text_of_lines(source->lines);
    const char  *texts[] = { text };
    cl_int       code = CL_OUT_OF_HOST_MEMORY;
    cl_device_id id = ordo_device_id(k->device);
    if (text)
        k->program = clCreateProgramWithSource(ordo_device_context(k->device), 1, texts, NULL, &code);
    free(text);
    if (code == CL_SUCCESS)
        code = clBuildProgram(k->program, 1, &id, source->options, NULL, NULL);
    if (code == CL_SUCCESS)
        return ORDO_OK;
    const size_t said =
        (size_t) snprintf(why, why_bytes, "the %s does not build: %s\n", source->name, ordo_cl_error_string(code));
    if (k->program && said < why_bytes)
        clGetProgramBuildInfo(k->program, id, CL_PROGRAM_BUILD_LOG, why_bytes - said, why + said, NULL);
    return ORDO_OPENCL;
}

static ordo_status take_kernels(struct baseline_kernels *k, const struct baseline_source *source)
{
    const cl_device_id id = ordo_device_id(k->device);
    cl_int             code = CL_SUCCESS;
    k->group = source->group;
    for (int i = 0; source->names[i]; i++) {
        size_t most = 0;
        k->kernels[i] = clCreateKernel(k->program, source->names[i], &code);
        BASELINE_TRY_CL(code);
        BASELINE_TRY_CL(
            clGetKernelWorkGroupInfo(k->kernels[i], id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
        k->group = most < k->group ? most : k->group;
    }
    return ORDO_OK;
}

ordo_status baseline_kernels_make(struct baseline_kernels *out, ordo_device *device,
                                  const struct baseline_source *source, char *why, size_t why_bytes)
{
    out->device = device;
    BASELINE_TRY(build(out, source, why, why_bytes));
    snprintf(why, why_bytes, "the %s has no kernels", source->name);
    BASELINE_TRY(take_kernels(out, source));
    *why = 0;
    return ORDO_OK;
}

void baseline_kernels_free(struct baseline_kernels *kernels)
{
    for (int i = 0; i < BASELINE_KERNELS_MOST; i++)
        if (kernels->kernels[i])
            clReleaseKernel(kernels->kernels[i]);
    if (kernels->program)
        clReleaseProgram(kernels->program);
    *kernels = (struct baseline_kernels) { .device = NULL };
}

ordo_status baseline_buffer(const struct baseline_kernels *kernels, size_t bytes, cl_mem *out)
{
    cl_int code = CL_SUCCESS;
    *out = clCreateBuffer(ordo_device_context(kernels->device), CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code == CL_SUCCESS ? ORDO_OK : ORDO_NO_DEVICE_MEMORY;
}

ordo_status baseline_enqueue(const struct baseline_kernels *kernels, int kernel,
                             const struct baseline_argument *arguments, size_t n, size_t first, size_t items,
                             cl_command_queue queue, cl_event *done)
{
    const size_t local = kernels->group, global = (items + local - 1) / local * local;
    for (size_t i = 0; i < n; i++)
        BASELINE_TRY_CL(clSetKernelArg(kernels->kernels[kernel], (cl_uint) i, arguments[i].bytes, arguments[i].at));
    BASELINE_TRY_CL(clEnqueueNDRangeKernel(queue, kernels->kernels[kernel], 1, &first, &global, &local, 0, NULL, done));
    return ORDO_OK;
}

ordo_status baseline_begin(const struct baseline_kernels *kernels, const struct ordo_order *order,
                           cl_command_queue *queue)
{
    *queue = order && order->queue ? order->queue : ordo_device_queue(kernels->device);
    if (order && order->n_wait)
        BASELINE_TRY_CL(clEnqueueBarrierWithWaitList(*queue, order->n_wait, order->wait, NULL));
    return ORDO_OK;
}
