/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the driver for tests bad input. test_suite.py runs each case in an environment that makes it fail. Exit
 * status 0: the call failed as it should, and the calls after it returned correct results.
 *
 *   amd-misuse CASE
 *     works   nothing goes wrong
 *     wild    a kernel writes where no buffer is
 *     endless a kernel never ends
 *     killed  the same, and the process that runs it is killed
 *     trap    a kernel comes to what cannot go on
 *     wrong   a kernel fails, whatever it is: for what the environment breaks
 *     refused a program does not build, and the log has text of ORDO_AMD_EXPECTED
 *     binary  binaries that are none are refused */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void fail(const char *what, cl_int code)
{
    (void) fprintf(stderr, "amd-misuse: %s: %d\n", what, code);
    exit(1);
}

static void need(const char *what, cl_int got, cl_int want)
{
    if (got != want)
        fail(what, got);
}

static const char source[] =
    "kernel void works(global uint *a, ulong far) { a[get_global_id(0)] = get_global_id(0) + 1; }\n"
    "kernel void wild(global uint *a, ulong far) { a[far] = 1; }\n"
    "kernel void endless(global uint *a, ulong far)\n"
    "{ while (atomic_add(a, 0) != far) a[1 + get_global_id(0)]++; }\n"
    "kernel void trap(global uint *a, ulong far) { if (a[1] != far) __builtin_trap(); }\n";
enum { ITEMS = 64 };

struct fixture {
    cl_device_id     device;
    cl_context       context;
    cl_command_queue queue;
    cl_program       program;
    cl_mem           words;
};

static struct fixture open_fixture(void)
{
    struct fixture s;
    cl_platform_id platform = NULL;
    cl_int         code = clGetPlatformIDs(1, &platform, NULL);
    need("clGetPlatformIDs", code, CL_SUCCESS);
    need("clGetDeviceIDs", clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &s.device, NULL), CL_SUCCESS);
    s.context = clCreateContext(NULL, 1, &s.device, NULL, NULL, &code);
    need("clCreateContext", code, CL_SUCCESS);
    s.queue = clCreateCommandQueue(s.context, s.device, 0, &code);
    need("clCreateCommandQueue", code, CL_SUCCESS);
    s.words = clCreateBuffer(s.context, CL_MEM_READ_WRITE, (ITEMS + 1) * sizeof(cl_uint), NULL, &code);
    need("clCreateBuffer", code, CL_SUCCESS);
    const char *text = source;
    s.program = clCreateProgramWithSource(s.context, 1, &text, NULL, &code);
    need("clCreateProgramWithSource", code, CL_SUCCESS);
    return s;
}

static void build(const struct fixture *s, cl_int want)
{
    need("clBuildProgram", clBuildProgram(s->program, 1, &s->device, "", NULL, NULL), want);
}

/* Launches a kernel; its event. */
static cl_int try_launch(const struct fixture *s, const char *name, cl_event *event)
{
    const cl_ulong far = (cl_ulong) 1 << 40;
    const cl_uint  zero = 0;
    const size_t   items = ITEMS;
    cl_int         code = CL_SUCCESS;
    cl_kernel      kernel = clCreateKernel(s->program, name, &code);
    need("clCreateKernel", code, CL_SUCCESS);
    need("clSetKernelArg", clSetKernelArg(kernel, 0, sizeof s->words, &s->words), CL_SUCCESS);
    need("clSetKernelArg", clSetKernelArg(kernel, 1, sizeof far, &far), CL_SUCCESS);
    need("clEnqueueFillBuffer",
         clEnqueueFillBuffer(s->queue, s->words, &zero, sizeof zero, 0, (ITEMS + 1) * sizeof zero, 0, NULL, NULL),
         CL_SUCCESS);
    code = clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &items, NULL, 0, NULL, event);
    (void) clReleaseKernel(kernel);
    return code;
}

static cl_event launch(const struct fixture *s, const char *name)
{
    cl_event event = NULL;
    need("clEnqueueNDRangeKernel", try_launch(s, name, &event), CL_SUCCESS);
    return event;
}

static cl_int outcome_of(cl_event event)
{
    cl_int status = 1;
    (void) clWaitForEvents(1, &event);
    need("clGetEventInfo", clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
         CL_SUCCESS);
    (void) clReleaseEvent(event);
    return status;
}

/* Another queue goes on where one has failed. */
static void goes_on(struct fixture *s)
{
    cl_uint got[ITEMS];
    cl_int  code = CL_SUCCESS;
    s->queue = clCreateCommandQueue(s->context, s->device, 0, &code);
    need("a queue after a failure", code, CL_SUCCESS);
    need("a launch after a failure", outcome_of(launch(s, "works")), CL_COMPLETE);
    need("a read after a failure", clEnqueueReadBuffer(s->queue, s->words, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
         CL_SUCCESS);
    for (cl_uint i = 0; i < ITEMS; i++)
        if (got[i] != i + 1)
            fail("a wrong word after a failure", (cl_int) i);
    cl_uint *mapped = clEnqueueMapBuffer(s->queue, s->words, CL_TRUE, CL_MAP_READ, sizeof *mapped,
                                         (ITEMS - 1) * sizeof *mapped, 0, NULL, NULL, &code);
    need("clEnqueueMapBuffer", code, CL_SUCCESS);
    for (cl_uint i = 1; i < ITEMS; i++)
        if (mapped[i - 1] != i + 1)
            fail("a wrong word where it is mapped", (cl_int) i);
    need("clEnqueueUnmapMemObject", clEnqueueUnmapMemObject(s->queue, s->words, mapped, 0, NULL, NULL), CL_SUCCESS);
    need("clFinish after a failure", clFinish(s->queue), CL_SUCCESS);
}

/* A child of this process; there is one. */
static pid_t child(void)
{
    DIR  *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *d; proc && (d = readdir(proc));) {
        char  path[300], text[300] = "";
        FILE *file = NULL;
        (void) snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        if (!isdigit((unsigned char) d->d_name[0]) || !(file = fopen(path, "r")))
            continue;
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        (void) fclose(file);
        const char *rest = strrchr(text, ')');
        if (rest && strlen(rest) > 4 && strtol(rest + 4, NULL, 10) == getpid())
            found = (pid_t) strtol(d->d_name, NULL, 10);
    }
    if (proc)
        (void) closedir(proc);
    return found;
}

static void kill_while_it_runs(cl_event event)
{
    cl_int                status = CL_QUEUED;
    const struct timespec nap = { 0, 20000000 };
    for (int i = 0; i < 3000 && status != CL_RUNNING; i++) {
        need("clGetEventInfo", clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
             CL_SUCCESS);
        (void) nanosleep(&nap, NULL);
    }
    need("it never ran", status, CL_RUNNING);
    const pid_t runner = child();
    if (!runner || kill(runner, SIGKILL) != 0)
        fail("no process to kill", 0);
}

static void kernel_fails(const char *name, bool is_killed)
{
    struct fixture s = open_fixture();
    build(&s, CL_SUCCESS);
    cl_event event = launch(&s, name);
    (void) clFlush(s.queue);
    if (is_killed)
        kill_while_it_runs(event);
    need("the launch", outcome_of(event), CL_OUT_OF_RESOURCES);
    const cl_int left = clFinish(s.queue);
    if (left == CL_SUCCESS)
        fail("clFinish after a failure", left);
    goes_on(&s);
}

static void build_is_refused(void)
{
    const struct fixture s = open_fixture();
    const char *const    expected = getenv("ORDO_AMD_EXPECTED");
    char                 log[65536] = "";
    build(&s, CL_BUILD_PROGRAM_FAILURE);
    need("clGetProgramBuildInfo",
         clGetProgramBuildInfo(s.program, s.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL), CL_SUCCESS);
    (void) fprintf(stderr, "%s\n", log);
    if (!expected || !strstr(log, expected))
        fail("the log", 0);
}

static void binaries_are_refused(void)
{
    const struct fixture s = open_fixture();
    size_t               bytes = 0;
    unsigned char       *binary = NULL;
    build(&s, CL_SUCCESS);
    need("clGetProgramInfo", clGetProgramInfo(s.program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL),
         CL_SUCCESS);
    binary = calloc(1, bytes + 1);
    need("clGetProgramInfo", clGetProgramInfo(s.program, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &binary, NULL),
         CL_SUCCESS);
    for (size_t cut = 1; cut < bytes; cut += 1 + bytes / 97) {
        const unsigned char *part = binary;
        cl_int               one = CL_SUCCESS, code = CL_SUCCESS;
        cl_program           p = clCreateProgramWithBinary(s.context, 1, &s.device, &cut, &part, &one, &code);
        if (code == CL_SUCCESS && clBuildProgram(p, 1, &s.device, "", NULL, NULL) == CL_SUCCESS)
            fail("a binary that is cut off was taken", (cl_int) cut);
    }
    free(binary);
}

int main(int argc, char **argv)
{
    const char *const what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "works") == 0) {
        struct fixture s = open_fixture();
        build(&s, CL_SUCCESS);
        goes_on(&s);
    } else if (strcmp(what, "wild") == 0 || strcmp(what, "endless") == 0 || strcmp(what, "trap") == 0) {
        kernel_fails(what, false);
    } else if (strcmp(what, "killed") == 0) {
        kernel_fails("endless", true);
    } else if (strcmp(what, "wrong") == 0) {
        struct fixture s = open_fixture();
        cl_event       event = NULL;
        build(&s, CL_SUCCESS);
        const cl_int got = try_launch(&s, "works", &event);
        need("the launch", got == CL_SUCCESS ? outcome_of(event) : got, CL_OUT_OF_RESOURCES);
    } else if (strcmp(what, "refused") == 0) {
        build_is_refused();
    } else if (strcmp(what, "binary") == 0) {
        binaries_are_refused();
    } else {
        return 2;
    }
    return 0;
}
