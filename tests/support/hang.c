/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that hang on purpose. hangs.c runs this program and expects the watchdog to end it. */
#include "support.h"

#include <time.h>
#include <unistd.h>

MASK_TEST(hang, on_the_host, "local=16384")
{
    t->seed = 77;
    test_context(t, "a lock that is never released");
    for (;;)
        (void) pause();
}

/* Hangs before it reports progress. */
Test(hang, at_once)
{
    for (;;)
        (void) pause();
}

static const char kernel_text[] = "__kernel void spin(volatile __global uint *p) { while (*p == 0) ; }\n";

/* Hangs in clFinish after a kernel that waits for an event that never comes. */
DEVICE_TEST(hang, on_the_device)
{
    const char   *text = kernel_text;
    const size_t  one = 1;
    cl_int        code = CL_SUCCESS;
    cl_device_id  id = ordo_device_id(t->dev);
    const cl_uint zero = 0;
    test_context(t, "to build a kernel"); /* reports progress, because opening may have taken long */
    struct test_array word = test_upload(t, &zero, 1, sizeof zero, 0);
    cl_program        program = clCreateProgramWithSource(ordo_device_context(t->dev), 1, &text, NULL, &code);

    test_true(t, code == CL_SUCCESS && clBuildProgram(program, 1, &id, "", NULL, NULL) == CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(program, "spin", &code);
    test_true(t, code == CL_SUCCESS && clSetKernelArg(kernel, 0, sizeof word.mem, &word.mem) == CL_SUCCESS);
    test_context(t, "a word that stays 0");
    code = clEnqueueNDRangeKernel(ordo_device_queue(t->dev), kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    test_true(t, code == CL_SUCCESS);
    test_ok(t, ordo_device_finish(t->dev));
}

/* Reports progress for longer than the watchdog's timeout, and is not ended. */
DEVICE_TEST(hang, not_at_all)
{
    for (int i = 0; i < 6; i++) {
        test_context(t, "step %d", i);
        (void) nanosleep(&(struct timespec) { .tv_nsec = 500000000 }, NULL);
    }
}
