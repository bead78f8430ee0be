/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing devices, their facts and errors; threads and forks. */
#include "device_case.h"
#include "runtime/internal.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(device, .init = test_host_code);

/* ---- opening by name --------------------------------------------------------------------------------------------- */

static ordo_status open_by(const char *select, char *message, size_t bytes, ordo_device **dev)
{
    const struct ordo_device_config config = {
        .select = select, .message = message, .message_bytes = bytes, .no_self_test = true
    };
    return ordo_device_open(&config, dev);
}

/* Opens by `select` through the configuration and through the environment. Expects a device of this name. */
static void expect_named(const char *select, const char *name)
{
    char                     message[2048] = "";
    AUTO_DEVICE ordo_device *dev = NULL;
    cr_assert(open_by(select, message, sizeof message, &dev) == ORDO_OK, "%s: %s", select, message);
    cr_assert(!name || strcmp(ordo_device_facts(dev)->name, name) == 0, "%s", select);
    ordo_device_close(&dev);

    cr_assert(setenv("ORDO_DEVICE", select, 1) == 0);
    cr_assert(open_by(NULL, message, sizeof message, &dev) == ORDO_OK, "ORDO_DEVICE=%s: %s", select, message);
    cr_assert(!name || strcmp(ordo_device_facts(dev)->name, name) == 0, "ORDO_DEVICE=%s", select);
}

Test(device, opens_by_number_kind_and_part_of_a_name)
{
    char         part[9] = "";
    ordo_device *dev = NULL;
    cr_assert(unsetenv("ORDO_DEVICE") == 0);
    cr_assert(ordo_device_open(NULL, &dev) == ORDO_OK);
    const struct ordo_facts facts = *ordo_device_facts(dev);
    ordo_device_close(&dev);

    expect_named(facts.name, facts.name);
    for (size_t i = 0; i < sizeof part - 1 && facts.name[i]; i++) /* in the other case */
        part[i] = facts.name[i] >= 'a' && facts.name[i] <= 'z'
                      ? (char) (facts.name[i] - 32)
                      : (char) (facts.name[i] | (facts.name[i] >= 'A' ? 32 : 0));
    expect_named(part, NULL);
    expect_named(facts.platform, NULL);
    expect_named(facts.cpu ? "CPU" : "GPU", facts.name);
    expect_named("", facts.name); /* as if it were not set */
}

DEVICE_TEST(device, opens_every_device_by_its_numbers)
{
    char           select[32], message[256];
    cl_platform_id platforms[16];
    cl_device_id   ids[64];
    cl_uint        n_platforms = 0, n = 0;
    ordo_device   *dev = NULL;

    test_true(t, clGetPlatformIDs(16, platforms, &n_platforms) == CL_SUCCESS);
    for (cl_uint p = 0; p < n_platforms; p++)
        for (cl_uint d = 0; clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, ids, &n) == CL_SUCCESS && d < n; d++) {
            snprintf(select, sizeof select, "%u:%u", p, d);
            test_context(t, "%s", select);
            test_ok(t, open_by(select, message, sizeof message, &dev));
            test_true(t, ordo_device_id(dev) == ids[d]);
            ordo_device_close(&dev);
        }
}

Test(device, lists_the_choices_for_a_wrong_name)
{
    static const char *const wrong[] = { "no such device", "99:0", "0:99", "0:",           ":",
                                         "0:0:0",          "-1:0", "+0:0", "4294967296:0", "cpux" };
    char                     message[4096], name[128];
    ordo_device             *dev = NULL;
    cr_assert(unsetenv("ORDO_DEVICE") == 0);
    cr_assert(ordo_device_open(NULL, &dev) == ORDO_OK);
    memcpy(name, ordo_device_facts(dev)->name, sizeof name);
    ordo_device_close(&dev);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dev = (ordo_device *) message;
        cr_assert(open_by(wrong[i], message, sizeof message, &dev) == ORDO_NO_DEVICE, "%s", wrong[i]);
        cr_assert(dev == NULL);
        cr_assert(strstr(message, wrong[i]) && strstr(message, "0:0") && strstr(message, name), "%s", message);
    }
    size_t                          needs = 1;
    const struct ordo_device_config asks = { .select = wrong[0], .message_needs = &needs };
    cr_assert(ordo_device_open(&asks, &dev) == ORDO_NO_DEVICE);
    cr_assert(open_by(wrong[0], message, sizeof message, &dev) == ORDO_NO_DEVICE);
    cr_assert(needs == strlen(message) + 1, "%zu bytes for: %s", needs, message);
    cr_assert(message[0] == '"', "the fact comes first: %s", message);
    const struct ordo_device_config succeeds = { .message_needs = &needs, .no_self_test = true };
    cr_assert(ordo_device_open(&succeeds, &dev) == ORDO_OK && needs == 0);
    ordo_device_close(&dev);

    char small[12];
    memset(small, 'x', sizeof small);
    cr_assert(open_by(wrong[0], small, 10, &dev) == ORDO_NO_DEVICE);
    cr_assert(strlen(small) == 9 && small[10] == 'x', "the message is cut to fit");
    cr_assert(open_by(wrong[0], NULL, 0, &dev) == ORDO_NO_DEVICE);
}

/* A directory without drivers. Both OpenCL loaders read its name from the environment. */
Test(device, says_what_to_install_without_any_device)
{
    char         message[2048] = "", empty[] = "/tmp/ordo-no-drivers-XXXXXX";
    cl_uint      n_platforms = 0;
    ordo_device *dev = NULL;
    cr_assert(mkdtemp(empty) != NULL);
    cr_assert(setenv("OCL_ICD_VENDORS", empty, 1) == 0);
    cr_assert(setenv("OPENCL_VENDOR_PATH", empty, 1) == 0);
    cr_assert(unsetenv("OCL_ICD_FILENAMES") == 0);
    const cl_int code = clGetPlatformIDs(0, NULL, &n_platforms);
    cr_assert(rmdir(empty) == 0);
    if (code == CL_SUCCESS && n_platforms > 0)
        test_skip("libOpenCL is no loader here but a driver itself");

    cr_assert(open_by(NULL, message, sizeof message, &dev) == ORDO_NO_DEVICE, "%s", message);
    cr_assert(dev == NULL && strstr(message, "pocl-opencl-icd"), "%s", message);
}

/* PoCL shows no device if it cannot write, as in a container without a home. The message must not say that PoCL is
 * missing. */
Test(device, says_why_a_platform_has_no_device)
{
    static const char icd[] = "/etc/OpenCL/vendors/pocl.icd";
    char              message[2048] = "";
    cl_platform_id    platform = NULL;
    cl_uint           n_platforms = 0;
    cl_device_id      id = NULL;
    ordo_device      *dev = NULL;
    if (access(icd, R_OK) != 0)
        test_skip("PoCL is not registered here");
    cr_assert(setenv("OCL_ICD_VENDORS", icd, 1) == 0 && setenv("HOME", "/proc/1/nowhere", 1) == 0);
    cr_assert(unsetenv("ORDO_DEVICE") == 0 && unsetenv("XDG_CACHE_HOME") == 0 && unsetenv("POCL_CACHE_DIR") == 0);
    cr_assert(unsetenv("OCL_ICD_FILENAMES") == 0);
    if (clGetPlatformIDs(1, &platform, &n_platforms) != CL_SUCCESS || n_platforms != 1 ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) == CL_SUCCESS)
        test_skip("this PoCL shows a device without a place to write, or it is not alone");

    cr_assert(open_by(NULL, message, sizeof message, &dev) == ORDO_NO_DEVICE && dev == NULL);
    cr_assert(strstr(message, "PoCL is there") == message, "%s", message);
    cr_assert(strstr(message, "/proc/1/nowhere") && strstr(message, "set POCL_CACHE_DIR"), "%s", message);
    cr_assert(!strstr(message, "install"), "%s", message);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

/* Counts warnings with this text. */
struct heard {
    const char *text;
    int         times;
};

static void hear(void *user, ordo_log_level level, const char *message)
{
    struct heard *h = user;
    h->times += level == ORDO_LOG_WARNING && strstr(message, h->text) != NULL;
}

static ordo_status open_and_hear(struct heard *h, char *message, size_t bytes)
{
    const struct ordo_device_config config = {
        .log = hear, .user = h, .message = message, .message_bytes = bytes, .no_self_test = true
    };
    AUTO_DEVICE ordo_device *dev = NULL;
    const ordo_status        got = ordo_device_open(&config, &dev);
    return got;
}

Test(device, says_which_settings_name_nothing)
{
    char         message[1024] = "";
    struct heard level = { "ORDO_LOG=bogus", 0 }, profile = { "ORDO_PROFILE=/no/such/profile", 0 },
                 none = { "ORDO_", 0 };

    cr_assert(setenv("ORDO_LOG", "bogus", 1) == 0);
    cr_assert(open_and_hear(&level, NULL, 0) == ORDO_OK && level.times == 1);
    cr_assert(setenv("ORDO_LOG", "warning", 1) == 0);

    cr_assert(setenv("ORDO_PROFILE", "/no/such/profile", 1) == 0);
    cr_assert(open_and_hear(&profile, NULL, 0) == ORDO_OK && profile.times == 1, "%d times", profile.times);
    cr_assert(setenv("ORDO_PROFILE", "off", 1) == 0);

    cr_assert(setenv("ORDO_CL_DIR", "/no/such/kernels", 1) == 0);
    cr_assert(open_and_hear(&none, message, sizeof message) == ORDO_IO);
    cr_assert(strstr(message, "ORDO_CL_DIR=/no/such/kernels is not a directory") == message, "%s", message);
    cr_assert(setenv("ORDO_CL_DIR", "", 1) == 0);

    cr_assert(open_and_hear(&none, NULL, 0) == ORDO_OK && none.times == 0, "settings that are right");
}

/* ---- adopting ---------------------------------------------------------------------------------------------------- */

/* Sorts a few keys. Returns the status. */
ordo_status sort_few(ordo_device *dev)
{
    uint32_t          keys[] = { 5, 3, 9, 1, 3 }, values[] = { 0, 1, 2, 3, 4 };
    const uint32_t    want_keys[] = { 1, 3, 3, 5, 9 }, want_values[] = { 3, 1, 4, 0, 2 };
    const ordo_status got = ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4), keys, values, 5);
    cr_assert(got != ORDO_OK ||
              (memcmp(keys, want_keys, sizeof keys) == 0 && memcmp(values, want_values, sizeof values) == 0));
    return got;
}

static cl_uint references(cl_context context)
{
    cl_uint n = 0;
    (void) clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL);
    return n;
}

/* Whether a context soon has n references. A driver's threads may release finished commands a little later. */
static bool comes_to_have(cl_context context, cl_uint n)
{
    for (int ms = 0; ms < 10000 && references(context) != n; ms++)
        (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
    return references(context) == n;
}

/* Adopts and uses a queue of the caller's, and releases everything. */
static void check_adopted(struct test *t, cl_context context, cl_command_queue queue)
{
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = { .mask = t->mask };
    const cl_uint                   before = references(context);

    test_ok(t, ordo_device_adopt(context, ordo_device_id(t->dev), queue, &config, &dev));
    test_true(t, ordo_device_context(dev) == context && ordo_device_id(dev) == ordo_device_id(t->dev));
    test_true(t, !queue || ordo_device_queue(dev) == queue);
    test_ok(t, sort_few(dev));
    test_ok(t, ordo_device_self_test(dev));
    ordo_device_close(&dev);
    test_true(t, comes_to_have(context, before));
    test_true(t, !queue || clFinish(queue) == CL_SUCCESS);
}

DEVICE_TEST(device, adopts_the_callers_objects)
{
    const cl_device_id id = ordo_device_id(t->dev);
    cl_int             code = CL_SUCCESS;
    cl_context         context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_context         other = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_command_queue   queue = test_queue_of(context, id, 0), foreign = test_queue_of(other, id, 0);
    cl_command_queue   loose = test_queue_of(context, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ordo_device       *dev = NULL;

    test_context(t, "no queue");
    check_adopted(t, context, NULL);
    test_context(t, "an in-order queue");
    check_adopted(t, context, queue);
    test_context(t, "an out-of-order queue");
    if (loose)
        check_adopted(t, context, loose);

    test_context(t, "what cannot be adopted");
    char                            message[512] = "";
    const struct ordo_device_config config = { .message = message, .message_bytes = sizeof message };
    const cl_uint                   before = references(context);
    test_status(t, ordo_device_adopt(context, id, foreign, &config, &dev), ORDO_INVALID);
    test_true(t, dev == NULL && strstr(message, "queue") != NULL);
    test_true(t, comes_to_have(context, before));

    if (loose)
        clReleaseCommandQueue(loose);
    clReleaseCommandQueue(queue);
    clReleaseCommandQueue(foreign);
    clReleaseContext(context);
    clReleaseContext(other);
}

/* Everything is released: only the test has references to the context. */
DEVICE_TEST(device, closing_gives_everything_back)
{
    const cl_device_id              id = ordo_device_id(t->dev);
    const struct ordo_device_config config = { .mask = t->mask };
    cl_int                          code = CL_SUCCESS;
    cl_context                      context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    ordo_device                    *dev = NULL;
    ordo_index                     *index = NULL;
    uint32_t                        keys[1000] = { 0 };
    const cl_uint                   before = references(context);
    cl_mem mem = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE, sizeof keys, keys, &code);

    test_ok(t, ordo_device_adopt(context, id, NULL, &config, &dev));
    test_ok(t, sort_few(dev));
    test_ok(t, ordo_index_build(dev, ORDO_U32, ordo_at(mem, 0), 1000, NULL, &index));
    test_ok(t, ordo_device_finish(dev));
    ordo_index_destroy(&index);
    test_true(t, index == NULL);
    test_ok(t, ordo_device_trim(dev));
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(dev, &memory));
    test_true(t, memory.held_bytes == 0 && memory.buffers == 0);
    ordo_device_close(&dev);
    test_true(t, dev == NULL);
    clReleaseMemObject(mem);
    test_true(t, comes_to_have(context, before));
    clReleaseContext(context);
}

/* ---- masks and facts --------------------------------------------------------------------------------------------- */

DEVICE_TEST(device, masks_lower_facts_and_bad_ones_are_refused)
{
    static const char *const bad[] = {
        "lanes",         "lanes=two",       "lanes=",   "local=12",      "local=many",
        "local=16384k",  "progress=2",      "progress", "atomics=c11",   "int64_atomics=1",
        "int64_atomics", "int64_atomics=x", "cpu=1",    "nonsense=1",    "alloc=1",
        "group=0",       "group=-1",        "=",        "lanes=one,cpu", "local=-1"
    };
    char                     message[1024];
    AUTO_DEVICE ordo_device *dev = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct ordo_device_config config = {
            .mask = bad[i], .message = message, .message_bytes = sizeof message, .no_self_test = true
        };
        test_context(t, "mask %s", bad[i]);
        message[0] = 0;
        test_status(t, ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev),
                    ORDO_INVALID);
        test_true(t, dev == NULL && strstr(message, "mask") && strstr(message, "progress=0|1"));
    }

    const struct ordo_device_config config = {
        .mask = "lanes=one,local=8192 group=32,int64_atomics=0,progress=0,atomics=legacy,alloc=1048576,cpu=0"
    };
    test_context(t, "a mask of everything");
    test_ok(t, ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev));
    const struct ordo_facts *f = ordo_device_facts(dev);
    test_true(t, f->lanes == ORDO_LANES_ONE && f->sub_group == 1 && f->local_bytes <= 8192 && f->max_group <= 32);
    test_true(t, !f->int64_atomics && !f->groups_progress && f->atomics == ORDO_ATOMICS_LEGACY && !f->cpu);
    test_true(t, f->max_alloc_bytes <= 1048576);
    test_ok(t, sort_few(dev));

    const struct ordo_sort_params u64 = { .key = ORDO_U64 };
    AUTO_FREE uint64_t           *many = test_alloc(200000 * sizeof *many);
    test_random_bytes(t, many, 200000 * sizeof *many);
    test_status(t, ordo_sort_host(dev, &u64, many, NULL, 200000), ORDO_TOO_LARGE);
}

EVERY_MASK_TEST(device, facts_are_sane)
{
    const struct ordo_facts *f = t->facts;
    test_true(t, f->name[0] && f->vendor[0] && f->platform[0] && f->driver[0] && f->version[0]);
    test_true(t, f->compute_units > 0 && f->max_group > 0 && f->local_bytes >= 1024);
    test_true(t, f->global_bytes > 0 && f->max_alloc_bytes > 0 && f->max_alloc_bytes <= f->global_bytes);
    test_true(t, f->sub_group >= 1 && f->sub_group <= 64 && (f->sub_group & (f->sub_group - 1)) == 0);
    test_true(t, (f->lanes == ORDO_LANES_ONE) == (f->sub_group == 1));
    test_true(t, f->open_ms > 0);
    test_true(t, memchr(f->dropped, 0, sizeof f->dropped) != NULL);
    if (!strstr(t->mask, "progress=1")) /* on a CPU this depends on its load */
        test_ok(t, ordo_device_self_test(t->dev));

    test_ok(t, ordo_device_finish(t->dev));
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

DEVICE_TEST(device, last_error_fits_any_room)
{
    char                     text[64];
    char                     whole[1024];
    AUTO_DEVICE ordo_device *dev = test_open_again(t);

    memset(text, 'x', sizeof text);
    test_true(t, ordo_device_last_error(dev, NULL, 0) == 1);
    test_true(t, ordo_device_last_error(dev, text, sizeof text) == 1 && text[0] == 0);
    test_true(t, ordo_device_last_cl_error(dev) == CL_SUCCESS);

    test_status(t, ordo_device_set_tunable(dev, "no.such.name", 1), ORDO_INVALID);
    const size_t need = ordo_device_last_error(dev, NULL, 0);
    test_true(t, need > 20 && need < sizeof whole);
    test_true(t, ordo_device_last_error(dev, whole, sizeof whole) == need && strlen(whole) + 1 == need);
    test_true(t, strstr(whole, "there is no tunable \"no.such.name\" [") == whole);
    test_true(t, strstr(whole, t->facts->name) && !strstr(whole, ordo_status_string(ORDO_INVALID)));
    memset(text, 'x', sizeof text);
    test_true(t, ordo_device_last_error(dev, text, 8) == need);
    test_true(t, strlen(text) == 7 && memcmp(text, whole, 7) == 0 && text[8] == 'x');
    test_true(t, ordo_device_last_error(dev, text, 0) == need && memcmp(text, whole, 7) == 0);
    test_true(t, ordo_device_last_error(NULL, text, sizeof text) == 0 && ordo_device_last_cl_error(NULL) == 0);

    test_status(t, ordo_device_set_tunable(dev, "scan.group", 3), ORDO_INVALID);
    test_true(t, ordo_device_last_error(dev, whole, sizeof whole) > 1);
    test_true(t, strstr(whole, "scan.group may not be 3: it is one of 1, 64, 128, 256, 512 [") == whole);

    test_true(t, strcmp(ordo_status_string((ordo_status) -999), "unknown status") == 0);
    test_true(t, strcmp(ordo_cl_error_string(-5), "CL_OUT_OF_RESOURCES") == 0);
    test_true(t, strcmp(ordo_cl_error_string(12345), "unknown OpenCL code") == 0);
    test_true(t, strcmp(ordo_version(), ORDO_VERSION) == 0);
}

/* ---- threads and forks ------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 12, THREAD_COUNT = 20011 };

struct worker {
    ordo_device *dev;
    uint32_t     seed;
    ordo_status  status;
    int          wrong;
};

static void *sort_much(void *argument)
{
    struct worker      *w = argument;
    AUTO_FREE uint32_t *keys = test_alloc(THREAD_COUNT * sizeof *keys);
    for (uint32_t round = 0; round < ROUNDS && w->status == ORDO_OK; round++) {
        uint32_t sum = 0, sum_after = 0;
        for (uint32_t i = 0; i < THREAD_COUNT; i++)
            sum += keys[i] = (i + w->seed) * 2654435761u ^ round;
        w->status = ordo_sort_host(w->dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, THREAD_COUNT);
        for (uint32_t i = 0; i < THREAD_COUNT; i++) {
            sum_after += keys[i];
            w->wrong += i > 0 && keys[i - 1] > keys[i];
        }
        w->wrong += sum != sum_after;
    }
    return NULL;
}

static void run_workers(struct test *t, ordo_device *const devices[THREADS])
{
    pthread_t     threads[THREADS];
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker) { devices[i], 1000 * i, ORDO_OK, 0 };
        test_true(t, pthread_create(&threads[i], NULL, sort_much, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        test_true(t, pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        test_ok(t, workers[i].status);
        test_true(t, workers[i].wrong == 0);
    }
}

DEVICE_TEST(device, threads_share_it)
{
    AUTO_DEVICE ordo_device *other = test_open_again(t);
    test_context(t, "%d threads on one device", THREADS);
    run_workers(t, (ordo_device *[]) { t->dev, t->dev, t->dev, t->dev });
    test_context(t, "%d threads on two devices", THREADS);
    run_workers(t, (ordo_device *[]) { t->dev, other, t->dev, other });
}

/* In the child. The exit status is the number of the failed expectation. */
static int child_of_fork(ordo_device *dev, cl_mem mem, ordo_index *index)
{
    const struct ordo_slice       s = ordo_at(mem, 0);
    struct ordo_memory            memory;
    struct ordo_tunable_info      info;
    ordo_index                   *fresh = NULL;
    ordo_dict                    *dict = NULL;
    uint32_t                      keys[] = { 3, 1, 2 };
    const struct ordo_dict_config kind = { ORDO_U32, 4 };
    const ordo_status             got[] = {
                    ordo_sort(dev, ordo_sort_params(.key = ORDO_U32), s, ordo_none(), s, ordo_none(), 100, NULL),
                    ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, 3),
                    ordo_scan_host(dev, ordo_scan_params(.type = ORDO_U32), keys, keys, 3),
                    ordo_index_build(dev, ORDO_U32, s, 100, NULL, &fresh),
                    ordo_device_finish(dev),
                    ordo_device_trim(dev),
                    ordo_device_self_test(dev),
                    ordo_device_memory(dev, &memory),
                    ordo_device_tunable(dev, 0, &info),
                    ordo_device_set_tunable(dev, "scan.group", 64),
                    ordo_device_save_profile(dev, NULL, 0),
                    ordo_sorted_array_create(dev, &(struct ordo_sorted_array_config) { .dict = kind }, &dict),
                    ordo_lsm_create(dev, &(struct ordo_lsm_config) { .dict = kind }, &dict),
                    ordo_hamt_create(dev, &(struct ordo_hamt_config) { .dict = kind }, &dict),
    };
    for (int i = 0; i < (int) (sizeof got / sizeof *got); i++)
        if (got[i] != ORDO_FORKED)
            return 1 + i;
    if (keys[0] != 3 || keys[1] != 1 || fresh || dict)
        return 20;
    if (ordo_device_last_error(dev, NULL, 0) < 2)
        return 21;
    ordo_index_destroy(&index);
    ordo_device_close(&dev);
    return dev ? 22 : 0;
}

DEVICE_TEST(device, a_forked_child_is_refused_and_may_close)
{
    uint32_t                             keys[100] = { 0 };
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    AUTO_ARRAY struct test_array         a = test_upload(t, keys, 100, 4, 0);
    int                                  status = -1;

    test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&a), 100, NULL, &index));
    test_ok(t, ordo_device_finish(t->dev));
    const pid_t child = fork();
    test_true(t, child >= 0);
    if (child == 0)
        _exit(child_of_fork(t->dev, a.mem, index));
    test_true(t, waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        test_fail(t, __FILE__, __LINE__, "the child ended with %d (%s)",
                  WIFEXITED(status) ? WEXITSTATUS(status) : status, WIFEXITED(status) ? "its check" : "a signal");
    test_ok(t, sort_few(t->dev));
}

/* ---- order by addresses ------------------------------------------------------------------------------------------ */

static void goes_by_fences(struct test *t)
{
    if (t->facts->atomics == ORDO_ATOMICS_LEGACY)
        return;
    test_true(t, !t->facts->address_order);
    test_true(t, strstr(t->facts->dropped, "order by addresses: replaced by fences") != NULL);
}

/* Reads that seem whole and are torn, if addresses are expected to give order. */
Test(device, goes_by_fences_where_addresses_give_no_order)
{
    static const char look[] = "    const uint again = ordo_load_relaxed(header + ordo_after(seen, never));\n";

    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "primitive/self_test_atomics.cl", look, "    const uint again = was;\n    wrong += was > 0;\n");
    overlay_use(&o);
    test_each_device_with("address_order=1", goes_by_fences);
}

MASK_TEST(device, goes_by_addresses_where_they_give_order, "address_order=1")
{
    if (!t->facts->cpu && t->facts->atomics != ORDO_ATOMICS_NVIDIA)
        return; /* these do not report it */
    test_true(t, t->facts->address_order && strcmp(t->facts->dropped, "") == 0);
}
