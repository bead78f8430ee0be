/* SPDX-License-Identifier: Apache-2.0 */
/* Refused barriers, failed devices and forks, and checks of the test itself, for the program `faults` (faults.c). */
#define _GNU_SOURCE
#include "fault_fixture.h"

#include "runtime/internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a refused barrier ------------------------------------------------------------------------------------------- */

/* Enqueues sums of 100 numbers. */
static ordo_status scan_on(ordo_device *dev, const struct test_array *on, cl_command_queue queue)
{
    const struct ordo_order order = { .queue = queue };
    return ordo_scan(dev, ordo_scan_params(.type = ORDO_U32), test_slice(on), test_slice(on), 100, &order);
}

/* The command before a refused barrier may still run when the next call begins, so that call begins with a barrier. */
DEVICE_TEST(faults, a_refused_barrier_is_made_up_for)
{
    cl_command_queue             queue = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    AUTO_ARRAY struct test_array on = test_upload(t, NULL, 100, 4, 0);
    if (!queue)
        return;
    test_ok(t, scan_on(t->dev, &on, queue));
    fault_opencl->only = "clEnqueueBarrier";
    fault_arm(fault_opencl, 1, 0, true);
    (void) scan_on(t->dev, &on, queue); /* ORDO_OK if only its last barrier is refused */
    test_true(t, fault_opencl->struck > 0);
    fault_opencl->only = "clEnqueue";
    fault_arm(fault_opencl, 0, 0, false);
    test_ok(t, scan_on(t->dev, &on, queue));
    fault_opencl->armed = false;
    fault_opencl->only = NULL;
    test_true(t, fault_opencl->calls > 0 && strcmp(fault_opencl->log[0], "clEnqueueBarrierWithWaitList") == 0);
    test_true(t, clFinish(queue) == CL_SUCCESS && clReleaseCommandQueue(queue) == CL_SUCCESS);
}

/* ---- a device that failed ---------------------------------------------------------------------------------------- */

enum { ILLEGAL_ACCESS = -9999 }; /* NVIDIA's */

/* All calls from `call` on return `code`. */
static ordo_status with_lasting(ordo_device *dev, unsigned long call, cl_int code, ordo_status (*run)(ordo_device *dev))
{
    fault_arm(fault_opencl, call, code, true);
    const ordo_status got = run(dev);
    fault_opencl->armed = false;
    return got;
}

static ordo_status scan_on_host(ordo_device *dev)
{
    uint32_t sums[100] = { 0 };
    return ordo_scan_host(dev, ordo_scan_params(.type = ORDO_U32), sums, sums, LENGTH(sums));
}

/* Whether the message of the last error has this text. */
static bool tells(ordo_device *dev, const char *want)
{
    char text[512] = "";
    (void) ordo_device_last_error(dev, text, sizeof text);
    return strstr(text, want) != NULL;
}

DEVICE_TEST(faults, a_kernel_that_failed_is_no_want_of_memory)
{
    ordo_device *dev = t->dev;

    /* The code means lack of memory until a wait fails, and again after a wait has succeeded. */
    test_ok(t, scan_on_host(dev));
    test_ok(t, ordo_device_trim(dev));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_NO_DEVICE_MEMORY);
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, ordo_device_finish), ORDO_DEVICE_FAILED);
    test_true(t, tells(dev, "clFinish failed: CL_OUT_OF_RESOURCES (-5)"));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_DEVICE_FAILED);
    test_status(t, with_lasting(dev, 1, CL_INVALID_COMMAND_QUEUE, ordo_device_finish), ORDO_DEVICE_FAILED);
    test_ok(t, ordo_device_finish(dev));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_NO_DEVICE_MEMORY);

    test_status(t, with_lasting(dev, 1, ILLEGAL_ACCESS, scan_on_host), ORDO_DEVICE_FAILED);
    test_true(t, tells(dev, "NVIDIA's code for a kernel") && tells(dev, "(-9999)"));
    test_true(t, ordo_device_last_cl_error(dev) == ILLEGAL_ACCESS);
    test_status(t, with_lasting(dev, 1, -4242, scan_on_host), ORDO_OPENCL);
    test_true(t, tells(dev, "unknown OpenCL code (-4242)"));
    test_ok(t, scan_on_host(dev));
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* Markers are slow on some drivers. Besides the marker for order->done, a batch needs none. */
MASK_TEST(faults, small_batches_in_a_queue_of_the_caller_enqueue_one_marker, "cpu=0")
{
    static const int kinds[] = { LSM, BLINK, HASH, HAMT };
    enum { HELD = 5000, N = 100 };
    cl_command_queue             queue = test_queue(t, 0);
    cl_event                     done = NULL;
    const struct ordo_order      order = { .queue = queue, .done = &done };
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, N, 4, 1);
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, kinds[i], 0, HELD);
        test_context(t, "%s", structures[kinds[i]].name);
        fault_opencl->only = "clEnqueueMarker";
        for (int batch = 0; batch < 2; batch++) {
            fault_arm(fault_opencl, 0, 0, false);
            test_ok(t, ordo_dict_upsert(dict, test_slice(&keys), test_slice(&keys), N, &order));
            fault_opencl->armed = false;
            test_true(t, clWaitForEvents(1, &done) == CL_SUCCESS && clReleaseEvent(done) == CL_SUCCESS);
        }
        fault_opencl->only = NULL;
        test_true(t, fault_opencl->calls <= 1);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    test_true(t, clReleaseCommandQueue(queue) == CL_SUCCESS);
}

/* The host reads a tree's state once, after the first launch. The keys lie in different leaves, so no operation gives
 * up. Without atomics of OpenCL 2, the host reads the state before the launch, too. */
DEVICE_TEST(faults, concurrent_batches_of_linked_trees_read_once)
{
    static const int kinds[] = { BLINK, SKIPLIST };
    enum { HELD = 5000, N = 100 };
    uint8_t  codes_here[N];
    uint32_t keys_here[N];
    for (uint32_t i = 0; i < N; i++) {
        codes_here[i] = ORDO_UPSERT;
        keys_here[i] = i * (UINT32_MAX / N);
    }
    AUTO_ARRAY struct test_array keys = test_upload(t, keys_here, N, 4, 1);
    AUTO_ARRAY struct test_array codes = test_upload(t, codes_here, N, 1, 1);
    const unsigned long          reads = t->facts->atomics == ORDO_ATOMICS_LEGACY ? 2 : 1;
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        AUTO_DICT ordo_dict               *dict = make_dict(t, t->dev, kinds[i], 0, HELD);
        const struct ordo_concurrent_batch batch = {
            .codes = test_slice(&codes), .keys = test_slice(&keys), .values = test_slice(&keys), .count = N
        };
        test_context(t, "%s", structures[kinds[i]].name);
        test_ok(t, ordo_dict_apply_concurrent(dict, &batch, NULL)); /* builds kernels */
        fault_opencl->only = "clEnqueueReadBuffer";
        fault_arm(fault_opencl, 0, 0, false);
        test_ok(t, ordo_dict_apply_concurrent(dict, &batch, NULL));
        fault_opencl->armed = false;
        fault_opencl->only = NULL;
        test_true(t, fault_opencl->calls == reads);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

/* In the child: calls end without using the driver, whose locks a missing thread may hold. */
static int child_of_fork(ordo_device *dev, ordo_dict *dict, ordo_index *index)
{
    struct ordo_memory memory;
    uint32_t           word = 0;

    fault_arm(fault_opencl, 0, 0, false);
    const bool refused = ordo_dict_upsert_host(dict, &word, &word, 1) == ORDO_FORKED &&
                         scan_on_host(dev) == ORDO_FORKED && ordo_device_memory(dev, &memory) == ORDO_FORKED &&
                         ordo_device_finish(dev) == ORDO_FORKED && ordo_device_trim(dev) == ORDO_FORKED;
    ordo_dict_destroy(&dict);
    ordo_index_destroy(&index);
    ordo_device_close(&dev);
    for (unsigned long i = 0; i < fault_opencl->calls; i++)
        fprintf(stderr, "in the child of a fork: %s\n", fault_opencl->log[i]);
    return refused ? fault_opencl->calls > 0 : 2;
}

static void fork_with(struct test *t, int structure)
{
    enum { COUNT = 100 };
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, COUNT, 4, 1), found = test_upload(t, NULL, COUNT, 1, 0);
    const cl_command_queue       queue = test_queue_of(ordo_device_context(t->dev), ordo_device_id(t->dev), 0);
    const struct ordo_order      order = { .queue = queue };
    ordo_dict                   *dict = make_dict(t, t->dev, structure, 0, COUNT);
    ordo_index                  *index = NULL;
    int                          status = 0;

    test_context(t, "a child of fork with a %s", structures[structure].name);
    test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&keys), COUNT, NULL, &index));
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys), COUNT, test_slice(&found), &order));
    const pid_t child = fork();
    if (child == 0)
        _exit(child_of_fork(t->dev, dict, index));
    test_true(t, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ordo_dict_destroy(&dict);
    ordo_index_destroy(&index);
    test_true(t, clFinish(queue) == CL_SUCCESS); /* A driver may still compile when the process exits. */
    (void) clReleaseCommandQueue(queue);
}

DEVICE_TEST(faults, a_child_of_fork_asks_the_driver_nothing)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        fork_with(t, s);
}

/* ---- checks of the test itself ----------------------------------------------------------------------------------- */

static struct ordo_slice slice_of(const struct fixture *s, size_t i)
{
    return test_slice(&s->array[i]);
}

static ordo_status scan_in(struct fixture *s)
{
    return ordo_scan(s->t->dev, ordo_scan_params(.type = ORDO_U32), slice_of(s, 0), slice_of(s, 1), FIXTURE_N, NULL);
}

static ordo_status pass_over_errors(struct fixture *s)
{
    (void) scan_in(s);
    return ORDO_OK;
}

static ordo_status tell_another_error(struct fixture *s)
{
    return scan_in(s) == ORDO_OK ? ORDO_OK : ORDO_INVALID;
}

static ordo_status leak_a_buffer(struct fixture *s)
{
    cl_mem mem = clCreateBuffer(ordo_device_context(s->t->dev), CL_MEM_READ_WRITE, 64, NULL, NULL);

    const ordo_status got = scan_in(s);
    if (got == ORDO_OK && mem)
        (void) clReleaseMemObject(mem);
    return got;
}

static ordo_status leak_a_block(struct fixture *s)
{
    static void *volatile block; /* volatile: else the compiler allocates nothing */

    block = malloc(64);
    const ordo_status got = scan_in(s);
    if (got == ORDO_OK)
        free(block);
    return got;
}

static ordo_status write_an_input(struct fixture *s)
{
    const ordo_status got = scan_in(s);
    const uint32_t    word = 7;

    if (got != ORDO_OK)
        (void) clEnqueueWriteBuffer(ordo_device_queue(s->t->dev), s->array[0].mem, CL_TRUE, 0, sizeof word, &word, 0,
                                    NULL, NULL);
    return got;
}

static ordo_status clear_after_an_error(struct fixture *s)
{
    size_t            count = 0;
    const ordo_status got =
        ordo_dict_export(s->dict, slice_of(s, 0), slice_of(s, 1), (size_t) 3 * FIXTURE_N, &count, NULL);

    if (got != ORDO_OK) {
        fault_opencl->armed = false;
        (void) ordo_dict_clear(s->dict);
    }
    return got;
}

static void expect_complaint(struct test *t, ordo_status (*wrong)(struct fixture *s), const char *array_call,
                             const char *want)
{
    const struct scenario is = { "a call that is wrong", call_named(array_call), .run = wrong,
                                 .structure = strncmp(array_call, "ordo_dict", 9) == 0 ? LSM : NO_DICT,
                                 .held = FIXTURE_HELD };
    struct expected       e = fixture_expected();
    struct complaint      c = { "" };

    test_context(t, "the complaint '%s'", want);
    fixture_run_without(t, &is, fault_opencl, &e); /* builds kernels */
    fixture_run_without(t, &is, fault_opencl, &e);
    (void) fixture_run_with(&c, t, &is, &e, fault_opencl,
                            &(struct fault) { .at = fault_last_of(fault_opencl, "clEnqueueNDRangeKernel") });
    test_true(t, fault_opencl->struck == 1);
    if (!strstr(c.text, want))
        test_fail(t, __FILE__, __LINE__, "the complaint is '%s'", c.text);
    fixture_forget(&e);
}

DEVICE_TEST(faults, what_is_wrong_is_noticed)
{
    expect_complaint(t, pass_over_errors, "ordo_scan", "out differs");
    expect_complaint(t, tell_another_error, "ordo_scan", "ended as");
    expect_complaint(t, leak_a_buffer, "ordo_scan", "buffers that are left: 1");
    expect_complaint(t, leak_a_block, "ordo_scan", "blocks of host memory that are left: 1");
    expect_complaint(t, write_an_input, "ordo_scan", "an input was written");
    expect_complaint(t, clear_after_an_error, "ordo_dict_export", "the dictionary holds something else than before");
}

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    char        *text = test_alloc(1 << 20);
    const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    text[bytes] = 0;
    return text;
}

/* Fails for an OpenCL function that a file calls and the text `known` lacks. Returns the number of functions. */
static size_t find_calls(const char *path, const char *known)
{
    AUTO_FREE char *text = text_of(path);
    size_t          n = 0;

    for (const char *at = text; (at = strstr(at, "cl")); at += 2) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        char         name[64];
        if ((at > text && (at[-1] == '_' || at[-1] == '"' || (at[-1] >= 'a' && at[-1] <= 'z'))) || at[2] < 'A' ||
            at[2] > 'Z' || at[length] != '(' || length >= sizeof name)
            continue;
        memcpy(name, at, length);
        name[length] = 0;
        const size_t begun = strncmp(name, "clRetain", 8) == 0 ? 8 : strncmp(name, "clRelease", 9) == 0 ? 9 : 0;
        cr_assert(strstr(known, name + begun) != NULL, "%s calls %s, which fault_opencl.c does not make fail", path,
                  name);
        n++;
    }
    return n;
}

/* Each OpenCL call in host/runtime, which has all of the library's, can fail. */
Test(faults, every_call_can_fail)
{
    char          *known = text_of(TEST_SOURCE_DIR "/faults/fault_opencl.c");
    DIR           *dir = opendir(TEST_SOURCE_DIR "/../host/runtime");
    size_t         n = 0;
    struct dirent *entry = NULL;

    cr_assert(dir != NULL);
    while ((entry = readdir(dir))) {
        char path[512];
        if (!strstr(entry->d_name, ".c"))
            continue;
        (void) snprintf(path, sizeof path, "%s/../host/runtime/%s", TEST_SOURCE_DIR, entry->d_name);
        n += find_calls(path, known);
    }
    closedir(dir);
    free(known);
    cr_assert(n > 60, "%zu calls found", n);
}
